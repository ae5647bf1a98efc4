"""`thudmud export`: writes battles to files, a record each; and how those files are named.

The headers of a record tell its rules, who played it and when, and how it ended. The name of its
file tells that once more, for people who look through a folder, and for bare records:
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
from thudmud.cli.configured import config_option, open_store, tells_errors
from thudmud.cli.configured import day as day_option
from thudmud.english import counted
from thudmud.errors import ThudmudError
from thudmud.game.archive import Battle, State, unless_erased
from thudmud.game.days import day_begins
from thudmud.game.events import Event
from thudmud.game.match import game_of
from thudmud.game.table import spent_on
from thudmud.rules import RULESETS, Comment, Ending, Game, Outcome, Record, Side, write_record
from thudmud.rules.records import outcome_told
from thudmud.store import Store, battles
from thudmud.values import Value, replace
from thudmud.views.words import day


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Write past battles to files, one record each. The headers of a record, "
        "and the name of its file, say when the battle was played, by which rules and by whom, "
        "and how it ended; comments stand below their plies. Battles that are running or "
        "adjourned are left out, and so are those without a ply. The server can be running."
    )
    parser.set_defaults(run=run)
    parser.add_argument("--player", metavar="NAME", help="only the battles of this player")
    parser.add_argument(
        "--since",
        type=day_option,
        default=float("-inf"),
        metavar="DATE",
        help="only battles begun on that day or later, such as 2026-11-20",
    )
    parser.add_argument(
        "--to",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the folder; it is made if it does not exist; default: this one",
    )
    parser.add_argument(
        "--bare",
        action="store_true",
        help="leave the headers out, for programs that cannot read them",
    )
    config_option(parser)


GOING_ON = frozenset({State.RUNNING, State.ADJOURNED})
"""The states of battles that are left out: their records would not be whole."""
PAGE = 1000
"""How many battles are read at once."""
NOTHING = 1
"""The exit status if there is no battle of the player."""


class Written(Value):
    """How many records were written, and how many battles were left out as they may go on."""

    records: int
    going_on: int


class StrangerError(ThudmudError):
    """There is no battle of the player who is wanted; ``str()`` is the name."""


@tells_errors
def run(options: argparse.Namespace) -> int:
    """Write the records; print how many."""
    try:
        written = asyncio.run(_run(options))
    except StrangerError as stranger:
        print(f"thudmud: there is no battle of a player called {stranger}", file=sys.stderr)
        return NOTHING
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}")
    print(f"{counted(written.records, 'record')} written to {options.to}")
    if written.going_on:
        print(f"{counted(written.going_on, 'battle')} left out, still running or adjourned")
    return 0


async def _run(options: argparse.Namespace) -> Written:
    wanted = options.player, options.since
    async with open_store(options.config) as store:
        with Progress("battles") as told:
            return await export(store, options.to, *wanted, bare=options.bare, told=told)


async def export(
    store: Store,
    folder: Path,
    player: str | None = None,
    since: float = float("-inf"),
    *,
    bare: bool = False,
    told: Callable[[int, int], None] = lambda _done, _in_all: None,
) -> Written:
    """Write records of battles to a folder, which is made if it is not there.

    Only battles of the player are written, if one is named, and only those that began at ``since``
    or later. ``told`` is called with the number of each battle, and that of the last there is.

    Raises:
        StrangerError: there is no battle of the player who is wanted.
        StoreError: the store cannot be read.
        OSError: a file cannot be written.
    """
    if player is not None and not await store.read(battles.battles, player, most=1):
        raise StrangerError(repr(player))
    records = going_on = 0
    in_all = await store.read(battles.count)
    async for battle in _among(store, player, since):
        told(battle.number, in_all)
        if battle.state in GOING_ON:
            going_on += 1
            continue
        events = cast("Sequence[Event]", await store.read(battles.plies, battle))
        game = game_of(events)
        if game.moves:
            shown = _without_the_erased(battle)
            comments = await store.read(battles.comments, battle.number)
            spent = spent_on(events) if battle.time else ()
            text = write_record(game) if bare else str(_record(shown, game, comments, spent))
            _write(folder / file_name(shown), text)
            records += 1
    return Written(records, going_on)


async def _among(store: Store, player: str | None, since: float) -> AsyncIterator[Battle]:
    """Yield battles by number. Only a page is in memory at a time."""
    last = 0
    while page := await store.read(battles.battles, player, last, PAGE, since=since):
        for battle in page:
            yield battle
        last = page[-1].number


def _without_the_erased(battle: Battle) -> Battle:
    """Return a battle with nobody in the place of a player whose name was erased."""
    dwarf, troll = map(unless_erased, battle.players)
    return battle._replace(dwarf=dwarf, troll=troll)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())


def _record(
    battle: Battle, game: Game, comments: Iterable[Comment], spent: tuple[float, ...]
) -> Record:
    ended = replace(game, outcome=battle.outcome or game.outcome)
    kept = tuple(
        replace(each, player=unless_erased(each.player))
        for each in comments
        if each.ply <= len(game.moves)
    )
    time = str(battle.time) if battle.time else ""
    known = Record(ended, battle.dwarf, battle.troll, day(battle.at), kept, time, spent)
    return replace(known, event=battle.event, round=battle.round)


NOBODY = "nobody"
"""Stands in the name of a file for a player who is not known; no player is called that."""

_NAME = re.compile(
    r"\d+_(?P<day>\d{4}-\d\d-\d\d)_(?P<rules>[a-z-]+)_(?P<dwarf>[A-Za-z]{2,20})"
    r"_(?P<troll>[A-Za-z]{2,20})"
    r"(?:_(?P<ending>[a-z-]+)_(?P<winner>[a-z]+))?\.thud",
    re.ASCII,
)
_ENDINGS = {each.value.replace(" ", "-"): each for each in Ending}
_WINNERS = {"draw": None} | {each.value: each for each in Side}


class BattleDetails(Value):
    """What is known of a battle besides its record; "" or None is what is not.

    Without a winner it may be a draw.
    """

    at: float | None = None
    rules: str | None = None
    dwarf: str = ""
    troll: str = ""
    ending: Ending | None = None
    winner: Side | None = None

    def outcome(self, game: Game) -> Outcome | None:
        """Return how a battle ended: by its plies, or else as is told; None if it is not known."""
        if game.outcome or self.ending is None:
            return game.outcome
        return outcome_told(game, self.ending, self.winner)


def file_name(battle: Battle) -> str:
    """Return the name of the file for a battle's record."""
    dwarf, troll = battle.dwarf or NOBODY, battle.troll or NOBODY
    rules = battle.rules.replace(" ", "-")
    ended = ""
    if battle.outcome:
        ending = battle.outcome.ending.value.replace(" ", "-")
        ended = f"_{ending}_{battle.outcome.winner.value if battle.outcome.winner else 'draw'}"
    return f"{battle.number:06}_{day(battle.at)}_{rules}_{dwarf}_{troll}{ended}.thud"


def details_in(name: str) -> BattleDetails:
    """Return what the name of a file tells; nothing if it is not one that `file_name` makes."""
    match = _NAME.fullmatch(name)
    at = day_begins(match["day"]) if match else None
    rules = match["rules"].replace("-", " ") if match else ""
    if match is None or at is None or rules not in RULESETS:
        return BattleDetails()
    dwarf, troll = ("" if name == NOBODY else name for name in (match["dwarf"], match["troll"]))
    ending, winner = _ENDINGS.get(match["ending"]), _WINNERS.get(match["winner"])
    return BattleDetails(at, rules, dwarf, troll, ending, winner)
