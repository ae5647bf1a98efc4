"""`thudmud export`: the battles that are stored, as files of records."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from thudmud.errors import ThudmudError
from thudmud.play.battles import Battle, State
from thudmud.play.events import Event
from thudmud.play.match import game_of
from thudmud.rules import Game, Record, write_record
from thudmud.rules.english import counted
from thudmud.server import config_file
from thudmud.server.cli.options import CommandError, refuse
from thudmud.server.cli.reading import is_player
from thudmud.server.cli.records import file_name
from thudmud.server.cli.store_file import open_store
from thudmud.store import Store, StoreError
from thudmud.text.dates import day


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which battles are to be written: those of a player, if one is named, from a time on."""

    player: str | None = None
    since: float = float("-inf")

    async def among(self, store: Store) -> AsyncIterator[Battle]:
        """Yield them, in the order of their numbers. There may be more than memory holds."""
        last = 0
        while page := await store.battles(self.player, last, PAGE, since=self.since):
            for battle in page:
                yield battle
            last = page[-1].number


GOING_ON = frozenset({State.RUNNING, State.ADJOURNED})
"""The states of battles that are left out: their records would not be whole."""
PAGE = 1000
"""Battles that are looked up at once."""
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
    wanted = Wanted(options.player, since)
    try:
        written = asyncio.run(_run(options.config, options.to, wanted, bare=options.bare))
    except StrangerError as stranger:
        print(f"thudmud: there is no battle of a player called {stranger}", file=sys.stderr)
        return NOTHING
    except config_file.ConfigError as error:
        return refuse(*error.problems)
    except (StoreError, CommandError) as error:
        return refuse(error)
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}")
    print(f"{counted(written.records, 'record')} written to {options.to}")
    if written.going_on:
        print(f"{counted(written.going_on, 'battle')} left out, still running or adjourned")
    return 0


async def _run(config: Path | None, folder: Path, wanted: Wanted, *, bare: bool) -> Written:
    async with open_store(config) as store:
        return await export(store, folder, wanted, bare=bare)


async def export(store: Store, folder: Path, wanted: Wanted, *, bare: bool = False) -> Written:
    """Write the records of the battles that are wanted to a folder, which is made if need be.

    Args:
        store: where the battles are. It stays as it is.
        folder: where the files go.
        wanted: which battles.
        bare: whether the records have no headers, so that only the files' names tell the rest.

    Raises:
        StrangerError: there is no battle of the player who is wanted.
        StoreError: the store cannot be read.
        OSError: a file cannot be written.
    """
    if wanted.player is not None and not await store.battles(wanted.player, most=1):
        raise StrangerError(repr(wanted.player))
    records = going_on = 0
    async for battle in wanted.among(store):
        if battle.state in GOING_ON:
            going_on += 1
            continue
        game = game_of(cast("Iterable[Event]", await store.plies(battle)))
        if game.moves:
            shown = _without_the_erased(battle)
            text = write_record(game) if bare else str(_record(shown, game))
            _write(folder / file_name(shown), text)
            records += 1
    return Written(records, going_on)


def _without_the_erased(battle: Battle) -> Battle:
    """Return a battle with nobody in the place of a player whose name was erased."""
    dwarf, troll = (name if is_player(name) else "" for name in battle.players)
    return battle._replace(dwarf=dwarf, troll=troll)


def _record(battle: Battle, game: Game) -> Record:
    ended = replace(game, outcome=battle.outcome or game.outcome)
    return Record(ended, battle.dwarf, battle.troll, day(battle.at))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
