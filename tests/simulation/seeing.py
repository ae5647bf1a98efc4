"""Invariants of tvs and the explorer, checked against messages and stored events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import inf
from typing import NamedTuple

from tests.simulation.clockwork import BEGINNING
from tests.simulation.history import KNOWN, SURE, Fact, Stored, keys_of
from tests.simulation.players import Player, Told
from thudmud.features.explorer.model import COUNTED_PLIES, place_of, placed_plies
from thudmud.features.tv.commands import watchable_battles
from thudmud.features.tv.model import tv_board
from thudmud.game.events import (
    NO_BOTS,
    Adjourned,
    BattleEnded,
    BattleStarted,
    Cleared,
    Left,
    Moved,
    Resumed,
    TakenBack,
)
from thudmud.game.projections import is_of_a_match
from thudmud.rules import RULESETS, Move

# Tvs.


def wrong_with_tvs(told: Told) -> Iterator[str]:
    """Yield tv messages that contradict the other messages on the same connection."""
    board: str | None = None
    for place, (fact, at) in enumerate(zip(told.facts, told.times, strict=True)):
        match fact["type"]:
            case "tv":
                board = fact["board"]
                if board and not fact["on"]:
                    yield f"{told.player} at {told.server} has no tv, and was told {fact}"
                if board and at + SURE < told.ended and not _is_shown(board, told, place):
                    yield f"{told.player} at {told.server} was not shown {board}: {fact}"
            case "closed" | "renamed" if board and board in fact.values():
                board = None
            case "observe" if board and board not in fact["boards"]:
                yield f"{told.player} at {told.server} has {board} on the tv, and observes {fact}"


def _is_shown(board: str, told: Told, since: int) -> bool:
    """Whether a board is shown with a fact or right after it."""
    until = told.times[since] + SURE
    return any(
        fact["type"] == "board" and fact["board"] == board
        for fact, at in zip(told.facts[since:], told.times[since:], strict=True)
        if at <= until
    )


def tv_at_rest(player: Player) -> Iterator[str]:
    """Yield faults of a player's tv once the world is at rest.

    It must show a battle unless every running one is visible to the player anyway or began earlier.
    """
    if not (player.link and player.link.is_in and player.link.server.service):
        return
    told, hall = player.link.told, player.link.server.service.hall
    person = hall.people.get(player.name)
    if person is None:
        return
    known = [place for place, fact in enumerate(told.facts) if fact["type"] == "tv"]
    last: Fact = told.facts[known[-1]] if known else {"on": False, "board": None}
    board = tv_board(person)
    if (last["on"], last["board"]) != (board is not None, board or None):
        yield f"{player.name} was told {last}, and their tv has {board!r}"
    shown = hall.tables.get(board) if board else None
    is_running = shown is not None and shown.is_running
    # The end of a battle of others stays until another one can be shown.
    is_end = shown is not None and shown.match and player.name not in shown.seats.values()
    if board and not (is_running or is_end):
        yield f"{player.name} has {board} on the tv, where nothing was played"
    if board is not None and not is_running and known and _stays(told, known[-1]):
        for table in watchable_battles(hall, person):
            yield f"{player.name} has nothing on the tv, and at the {table.name} a battle is played"


def _stays(told: Told, since: int) -> bool:
    """Whether a player has neither moved nor reduced their observed boards since a message."""
    later = [each["type"] for each in told.facts[since:]]
    return "here" not in later and later.count("observe") <= 1


# The explorer.


class _End(NamedTuple):
    """An ended battle.

    Attributes:
        rules: the name of its ruleset.
        times: how many plies it has played from the initial position.
        at: when it ended.
        told: when anybody was first told about its end.
    """

    rules: str
    times: int
    at: float
    told: float


def wrong_with_exploring(everything: Sequence[Told], stored: Stored) -> Iterator[str]:
    """Yield explorer answers that contradict the battles played."""
    ends = [*_ends(everything, stored)]
    rated = [*_rated(stored)]
    for told in everything:
        for place, (fact, at) in enumerate(zip(told.facts, told.times, strict=True)):
            if fact["type"] != "explored":
                continue
            who = f"{told.player} at {told.server}"
            sums = sum(each["times"] for each in fact["plies"])
            if sums > fact["times"] or (sums < fact["times"] and not fact["others"]):
                yield f"{who} was told of {sums} plies in all: {fact}"
            for each in fact["plies"]:
                if each["times"] != each["dwarf"] + each["drawn"] + each["troll"]:
                    yield f"{who} was told how battles have ended, but not all: {each}"
            asked = max((line.at for line in told.lines if line.first <= place), default=-inf)
            if not fact["ply"]:
                yield from _counted_otherwise(who, fact, asked, at, ends)
            for player, begun, ended in rated:
                if player == told.player and begun + KNOWN < asked and at + SURE < ended:
                    yield f"{who} is in a battle that counts, and was told {fact}"


def _counted_otherwise(
    who: str, fact: Fact, asked: float, at: float, ends: Iterable[_End]
) -> Iterator[str]:
    """Yield counts at an initial position that are too high or too low."""
    own = [each for each in ends if each.rules == fact["rules"]]
    most = sum(each.times for each in own if each.at < at + SURE)
    least = 0 if fact["left"] else sum(each.times for each in own if each.told < asked)
    if not least <= fact["times"] <= most:
        yield f"{who} was told of {fact['times']} plies, not of {least} to {most}: {fact}"


def _ends(everything: Iterable[Told], stored: Stored) -> Iterator[_End]:
    known: dict[tuple[str, int], float] = {}
    names = keys_of(stored)
    for told in everything:
        for fact, at in zip(told.facts, told.times, strict=True):
            if fact["type"] == "end" and fact["board"] in names:
                place = names[fact["board"]], fact["version"]
                known[place] = min(at, known.get(place, inf))
    for key, entries in stored.items():
        rules, moves = "", list[Move]()
        for entry in entries:
            match entry.event:
                case BattleStarted(rules=rules):
                    moves = []
                case Resumed(match=saved):
                    rules, moves = saved.rules, [*saved.moves]
                case Moved(move=move):
                    moves.append(move)
                case TakenBack(moves=back):
                    del moves[len(moves) - len(back) :]
                case BattleEnded(at=at):
                    counted = placed_plies(rules, None, moves[:COUNTED_PLIES])
                    times = sum(each.place == _opening_of(rules) for each in counted)
                    told_at = known.get((key, entry.version), inf)
                    yield _End(rules, times, at - BEGINNING, told_at)


@cache
def _opening_of(rules: str) -> int:
    return place_of(rules, RULESETS[rules].initial_position)[0]


def _rated(stored: Stored) -> Iterator[tuple[str, float, float]]:
    """Yield the players of rated battles between members, with start and end times."""
    for key, entries in stored.items():
        if is_of_a_match(key):
            continue
        playing, begun = list[str](), 0.0
        for entry in entries:
            match entry.event:
                case BattleStarted() | Resumed() | BattleEnded() | Adjourned() | Cleared() | Left():
                    at = entry.event.at - BEGINNING
                    yield from ((player, begun, at) for player in playing)
                    playing, begun = [*_playing(entry.event)], at
        yield from ((player, begun, inf) for player in playing)


def _playing(event: object) -> Iterable[str]:
    """Return the players of a rated battle after an event that begins or ends one."""
    match event:
        case BattleStarted(dwarf=dwarf, troll=troll, rated=True, levels=levels):
            return (dwarf, troll) if levels == NO_BOTS else ()
        case Resumed(match=saved) if saved.rated and saved.levels == NO_BOTS and not saved.outcome:
            return saved.dwarf, saved.troll
    return ()
