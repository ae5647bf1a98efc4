"""`thudmud export`: write battles to files, one record per file, and the scheme of file names.

The headers of a record contain its rules, players, day and outcome. The file name repeats them, for
people who browse a folder and for bare records. For example,
``000012_2026-11-20_discworld_Anna_Bert_resignation_troll.thud`` was won by the trolls.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from typing import cast

from thudmud.cli.common import Progress, refuse, write_whole
from thudmud.cli.configured import config_option, open_store, reports_errors
from thudmud.cli.configured import day as day_option
from thudmud.english import pluralize
from thudmud.errors import CommandError, ThudmudError, system_reason
from thudmud.game.archive import Battle, State, name_or_empty
from thudmud.game.days import day_begins
from thudmud.game.events import Event
from thudmud.game.match import fold_game
from thudmud.game.table import ply_seconds_of
from thudmud.rules import RULESETS, Comment, Ending, Game, Outcome, Record, Side, write_record
from thudmud.rules.records import reported_outcome
from thudmud.store import Store, battles
from thudmud.values import Value, replace
from thudmud.views.words import day


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Write past battles to files, one record each. The headers of a record and the name of "
        "its file give the day, the rules, the players and the result; comments follow their "
        "plies. Battles in progress, adjourned battles and battles without plies are left out. "
        "The server may be running."
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "battle",
        type=_number,
        nargs="?",
        metavar="BATTLE",
        help="the number of the only battle; without --to, its record is printed",
    )
    parser.add_argument("--player", metavar="NAME", help="only this player's battles")
    parser.add_argument(
        "--since",
        type=day_option,
        default=float("-inf"),
        metavar="DATE",
        help="only battles begun on or after this day, such as 2026-11-20",
    )
    parser.add_argument(
        "--to",
        type=Path,
        metavar="DIR",
        help='the folder, created if it doesn\'t exist; "-" prints the records instead',
    )
    parser.add_argument(
        "--bare",
        action="store_true",
        help="omit the headers, for programs that can't read them",
    )
    config_option(parser)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise argparse.ArgumentTypeError(f"expected the number of a battle, got {text!r}")
    return int(text)


_DIGITS = 12
_PRINTED = Path("-")
"""The folder that stands for standard output."""

GOING_ON = frozenset({State.RUNNING, State.ADJOURNED})
"""States of battles to leave out, because their records would be incomplete."""
PAGE = 1000
"""Number of battles read at a time."""
NOTHING = 1
"""Exit status if there is no battle of the player."""


class Written(Value):
    """Number of records written, and of unfinished battles left out."""

    records: int
    going_on: int


class StrangerError(ThudmudError):
    """There is no battle of the requested player; ``str()`` is the name."""


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Write the records and print their number; or print the records."""
    if options.to is None and options.battle is None:
        return refuse(
            "--to: expected a folder for the records, such as --to records; --to - prints them"
        )
    folder = None if options.to in {None, _PRINTED} else options.to
    try:
        written = asyncio.run(_run(options, folder))
    except StrangerError as stranger:
        print(f"thudmud: no battles of a player called {stranger}", file=sys.stderr)
        return NOTHING
    except FileExistsError as error:
        return refuse(f"--to: expected a folder, but {error.filename} is a file")
    except OSError as error:
        return refuse(f"{error.filename}: {system_reason(error)}")
    where = sys.stdout if folder else sys.stderr
    if folder:
        print(f"wrote {pluralize(written.records, 'record')} to {folder}")
    if written.going_on:
        left_out = pluralize(written.going_on, "battle")
        print(f"left out {left_out} in progress or adjourned", file=where)
    return 0


async def _run(options: argparse.Namespace, folder: Path | None) -> Written:
    wanted = options.player, options.since, options.battle
    async with open_store(options.config, reading=True) as store:
        if folder is None:
            return await export(store, None, *wanted, bare=options.bare)
        with Progress("battles") as told:
            return await export(store, folder, *wanted, bare=options.bare, told=told)


async def export(
    store: Store,
    folder: Path | None,
    player: str | None = None,
    since: float = float("-inf"),
    number: int | None = None,
    *,
    bare: bool = False,
    told: Callable[[int, int], None] = lambda _done, _in_all: None,
) -> Written:
    """Write records of battles to a folder, or print them.

    Args:
        store: the store.
        folder: the folder, which is created if it doesn't exist; None to print the records, with
            an empty line between two.
        player: only export battles of this player; None for all.
        since: only export battles begun at this time or later, in seconds since the epoch.
        number: only export the battle with this number; None for all.
        bare: whether to leave out the headers.
        told: progress callback; called with a battle's number and the number of all battles.

    Raises:
        StrangerError: there is no battle of the requested player.
        CommandError: there is no battle with the requested number, or no finished one.
        StoreError: the store cannot be read.
        OSError: a file cannot be written.
    """
    if player is not None and not await store.read(battles.battles, player, most=1):
        raise StrangerError(repr(player))
    records = going_on = 0
    in_all = await store.read(battles.count)
    async for battle in _matching_battles(store, player, since, number):
        told(battle.number, in_all)
        if battle.state in GOING_ON:
            going_on += 1
            continue
        events = cast("Sequence[Event]", await store.read(battles.battle_events, battle))
        game = fold_game(events)
        if game.moves:
            shown = _without_the_erased(battle)
            comments = await store.read(battles.comments, battle.number)
            spent = ply_seconds_of(events) if battle.time else ()
            text = write_record(game) if bare else str(_record(shown, game, comments, spent))
            if folder is None:
                print(*["\n"] * bool(records), text, sep="", end="")
            else:
                _write(folder / file_name(shown), text)
            records += 1
    if number is not None and not records:
        raise CommandError(f"no finished battle {number}")
    return Written(records, going_on)


async def _matching_battles(
    store: Store, player: str | None, since: float, number: int | None
) -> AsyncIterator[Battle]:
    """Yield battles by number, with only one page of them in memory."""
    if number is not None:
        for battle in await store.read(battles.battles, player, number - 1, 1, since=since):
            if battle.number == number:
                yield battle
        return
    last = 0
    while page := await store.read(battles.battles, player, last, PAGE, since=since):
        for battle in page:
            yield battle
        last = page[-1].number


def _without_the_erased(battle: Battle) -> Battle:
    """Return a battle without the names of players that have been erased."""
    dwarf, troll = map(name_or_empty, battle.players)
    return battle._replace(dwarf=dwarf, troll=troll)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())


def _record(
    battle: Battle, game: Game, comments: Iterable[Comment], spent: tuple[float, ...]
) -> Record:
    ended = replace(game, outcome=battle.outcome or game.outcome)
    kept = tuple(
        replace(each, player=name_or_empty(each.player))
        for each in comments
        if each.ply <= len(game.moves)
    )
    time = str(battle.time) if battle.time else ""
    known = Record(ended, battle.dwarf, battle.troll, day(battle.at), kept, time, spent)
    return replace(known, event=battle.event, round=battle.round)


NOBODY = "nobody"
"""Placeholder in file names for an unknown player; no player can have that name."""

_NAME = re.compile(
    r"\d+_(?P<day>\d{4}-\d\d-\d\d)_(?P<rules>[a-z-]+)_(?P<dwarf>[A-Za-z]{2,20})"
    r"_(?P<troll>[A-Za-z]{2,20})"
    r"(?:_(?P<ending>[a-z-]+)_(?P<winner>[a-z]+))?\.thud",
    re.ASCII,
)
_ENDINGS = {each.value.replace(" ", "-"): each for each in Ending}
_WINNERS = {"draw": None} | {each.value: each for each in Side}


class BattleDetails(Value):
    """Details of a battle from outside its record; "" or None if unknown.

    If `ending` is known, a `winner` of None means a draw.
    """

    at: float | None = None
    rules: str | None = None
    dwarf: str = ""
    troll: str = ""
    ending: Ending | None = None
    winner: Side | None = None

    def outcome(self, game: Game) -> Outcome | None:
        """Return the outcome by the plies, or else by the details; None if unknown."""
        if game.outcome or self.ending is None:
            return game.outcome
        return reported_outcome(game, self.ending, self.winner)


def file_name(battle: Battle) -> str:
    """Return the file name for a battle's record."""
    dwarf, troll = battle.dwarf or NOBODY, battle.troll or NOBODY
    rules = battle.rules.replace(" ", "-")
    ended = ""
    if battle.outcome:
        ending = battle.outcome.ending.value.replace(" ", "-")
        ended = f"_{ending}_{battle.outcome.winner.value if battle.outcome.winner else 'draw'}"
    return f"{battle.number:06}_{day(battle.at)}_{rules}_{dwarf}_{troll}{ended}.thud"


def parse_file_name(name: str) -> BattleDetails:
    """Parse a file name made by `file_name`; for any other, return empty details."""
    match = _NAME.fullmatch(name)
    at = day_begins(match["day"]) if match else None
    rules = match["rules"].replace("-", " ") if match else ""
    if match is None or at is None or rules not in RULESETS:
        return BattleDetails()
    dwarf, troll = ("" if name == NOBODY else name for name in (match["dwarf"], match["troll"]))
    ending, winner = _ENDINGS.get(match["ending"]), _WINNERS.get(match["winner"])
    return BattleDetails(at, rules, dwarf, troll, ending, winner)
