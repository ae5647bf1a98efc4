"""`thudmud export`: the battles of a journal, as files of records. The journal stays as it is."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from thudmud.errors import ThudmudError
from thudmud.journal import Journal, JournalError
from thudmud.play.battles import Archive, Battle, State
from thudmud.play.match import game_of
from thudmud.rules import Game, Record, write_record
from thudmud.rules.english import counted
from thudmud.server import config_file
from thudmud.server.cli.options import refuse
from thudmud.server.cli.records import file_name, folded, journal_file, open_journal
from thudmud.text.dates import day


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which battles are to be written: those of a player, if one is named, from a time on."""

    player: str | None = None
    since: float = float("-inf")

    def among(self, archive: Archive) -> list[Battle]:
        """Return them, in the order of their numbers."""
        battles = archive.battles if self.player is None else archive.of(self.player)
        return [battle for battle in battles if battle.at >= self.since]


GOING_ON = frozenset({State.RUNNING, State.ADJOURNED})
"""The states of battles that are left out: their records would not be whole."""
NOTHING = 1
"""The exit status if there is no battle of a player."""


@dataclass(frozen=True, slots=True)
class Written:
    """How many records were written, and how many battles were left out since they may go on."""

    records: int
    going_on: int


class StrangerError(ThudmudError):
    """There is no battle of the player who is wanted; ``str()`` is the name."""


def run(options: argparse.Namespace) -> int:
    """Write the records; print how many."""
    since = float("-inf") if options.since is None else options.since
    try:
        file, wanted = journal_file(options.config), Wanted(options.player, since)
        written = asyncio.run(_run(file, options.to, wanted, bare=options.bare))
    except StrangerError as stranger:
        print(f"thudmud: there is no battle of a player called {stranger}", file=sys.stderr)
        return NOTHING
    except config_file.ConfigError as error:
        return refuse(*error.problems)
    except JournalError as error:
        return refuse(error)
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}")
    print(f"{counted(written.records, 'record')} written to {options.to}")
    if written.going_on:
        print(f"{counted(written.going_on, 'battle')} left out, still running or adjourned")
    return 0


async def _run(file: Path, folder: Path, wanted: Wanted, *, bare: bool) -> Written:
    async with open_journal(file) as journal:
        return await export(journal, folder, wanted, bare=bare)


async def export(journal: Journal, folder: Path, wanted: Wanted, *, bare: bool = False) -> Written:
    """Write the records of the battles that are wanted to a folder, which is made if need be.

    Args:
        journal: where the battles are.
        folder: where the files go.
        wanted: which battles.
        bare: whether the records have no headers, so that only the files' names tell the rest.

    Raises:
        StrangerError: there is no battle of the player who is wanted.
        JournalError: the journal cannot be read.
        OSError: a file cannot be written.
    """
    archive = folded(await journal.landmarks())
    if wanted.player is not None and not archive.of(wanted.player):
        raise StrangerError(repr(wanted.player))
    battles = wanted.among(archive)
    over = [battle for battle in battles if battle.state not in GOING_ON]
    records = 0
    for battle in over:
        source = battle.source
        entries = await journal.read(source.board, source.version, battle.length)
        game = game_of(entry.event for entry in entries)
        if game.moves:
            text = write_record(game) if bare else str(_record(battle, game))
            _write(folder / file_name(battle), text)
            records += 1
    return Written(records, len(battles) - len(over))


def _record(battle: Battle, game: Game) -> Record:
    ended = replace(game, outcome=battle.outcome or game.outcome)
    return Record(ended, battle.dwarf, battle.troll, day(battle.at))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
