"""Invariants of tournaments under all faults, checked against the stored events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import inf
from random import Random

from tests.features.tournaments.tournaments import can_be_paired
from thudmud.features.tournaments.model import Tournament
from thudmud.game.events import (
    Absent,
    BattleEnded,
    BattleStarted,
    BoardOpened,
    Moved,
    PairingBegun,
    PairingScored,
    Returned,
    RoundPaired,
    TournamentEnded,
    TournamentEvent,
    TournamentKind,
    TournamentMade,
    TournamentRound,
)
from thudmud.game.projections import HALL
from thudmud.rules import Side
from thudmud.store import Entry

Stored = Mapping[str, Sequence[Entry]]

FIRST = 310
"""The first seed whose world may have tournaments; earlier worlds stay unchanged."""

KEEN, LASTING = 0.15, 20.0
"""Share of these worlds that have tournaments, and the minimum seconds they last."""


def has_tournaments(seed: int) -> bool:
    """Return whether the world of a seed has tournaments."""
    dice = Random(f"the tournaments of {seed}")  # noqa: S311  (what to try, no secret)
    return seed >= FIRST and dice.random() < KEEN


SOON = 1.0
"""Seconds within which two departures count as simultaneous."""

LINES = [
    "tournament new round robin 1+0 starts in 1 second",
    "tournament new knock-out 1+0 classic starts in 2 seconds",
    'tournament new swiss 2 rounds 1+0 "Sunday" starts in 2 seconds',
    "tournament new arena for 20 seconds 1+0 starts in 1 second with bot",
    *["enter {last}"] * 20, *["tournament {last}"] * 3, "tournaments", "tournament {number}",
    "withdraw from {last}", "pause tournament {last}", "resume tournament {last}",
    "resume tournament {last}", "cancel tournament {number}",
]  # fmt: skip
"""Tournament lines that players type; ``{last}`` is the number of the latest tournament."""


def wrong_with_tournaments(stored: Stored) -> Iterable[str]:
    """Yield tournament events that are invalid or duplicated."""
    known: dict[int, Tournament] = {}
    opened: set[str] = set()
    for entry in stored.get(HALL, ()):
        event = entry.event
        if isinstance(event, BoardOpened):
            if event.key in opened and event.version == 0:
                yield f"{event.key} was opened twice as a new board"
            opened.add(event.key)
        if not isinstance(event, TournamentEvent):
            continue
        before = known.get(event.number)
        if isinstance(event, TournamentMade):
            if event.number != len(known) + 1:
                yield f"tournament {event.number} is the {len(known) + 1}th"
            known[event.number] = Tournament(event, changed=event.at)
            continue
        if before is None or before.end:
            yield f"{event} happened in a tournament that is not under way"
            continue
        yield from _out_of_order(before, event)
        known[event.number] = before.apply(event)
        if isinstance(event, PairingBegun):
            yield from _not_at_board(event, stored)
    for each in known.values():
        yield from _met_twice(each)
    yield from _scored_otherwise(stored)
    yield from _lost_alone(stored)


def _out_of_order(before: Tournament, event: TournamentEvent) -> Iterable[str]:
    """Yield events that cannot come next in their tournament."""
    match event:
        case RoundPaired(round=number):
            if number != len(before.rounds) + 1:
                yield f"round {number} of {before.number} was paired after {len(before.rounds)}"
            if before.open and not before.is_arena:
                yield f"round {number} of {before.number} was paired before the last was over"
            if before.paused:
                yield f"round {number} of {before.number} was paired in a pause"
            if event.missing and (before.rounds or not {*event.missing} <= {*before.playing}):
                yield f"{event} leaves out others than entrants who missed the start"
        case PairingBegun() | PairingScored():
            match_then = before.open.get((event.round, event.index))
            if match_then is None or match_then.players != (event.first, event.second):
                yield f"{event} is about no match that is open"
            elif isinstance(event, PairingBegun) and match_then.key:
                yield f"{event} began a match that had begun at {match_then.key}"
            elif isinstance(event, PairingScored):
                so_far = match_then.battles
                if event.battles[: len(so_far)] != so_far:
                    yield f"{event} has forgotten {so_far}"


def _not_at_board(event: PairingBegun, stored: Stored) -> Iterable[str]:
    """Yield pairings whose battle did not start, or was another one's."""
    first = next((each.event for each in stored.get(event.key, ())), None)
    of = TournamentRound(event.number, event.round)
    if not isinstance(first, BattleStarted) or first.tournament != of:
        yield f"{event}, but there {first} is first"
    elif (first.dwarf, first.troll) != (event.first, event.second):
        yield f"{event}, but {first.dwarf} and {first.troll} play"


def _met_twice(tournament: Tournament) -> Iterable[str]:
    """Yield pairs that met twice although that was avoidable.

    In a Swiss tournament, players may meet again if their match was a forfeit, or if nobody else
    was left to pair them with: see `thudmud.features.tournaments.swiss`.
    """
    if tournament.kind in {TournamentKind.ARENA, TournamentKind.DOUBLE_ROUND_ROBIN}:
        return
    met: set[frozenset[str]] = set()
    for number, pairings in enumerate(tournament.rounds, 1):
        matches = [each for each in pairings if not each.is_bye]
        again = [each for each in matches if frozenset(each.players) in met]
        is_swiss = tournament.kind is TournamentKind.SWISS
        names = [player for each in pairings for player in each.players]
        if again and not (is_swiss and not can_be_paired(names, met)):
            yield f"{again} met before round {number} of tournament {tournament.number}"
        met |= {frozenset(each.players) for each in matches if each.was_played or not is_swiss}
    if tournament.kind is TournamentKind.ROUND_ROBIN and tournament.end and tournament.end.players:
        names = [each.player for each in tournament.entrants if each.left is None]
        missing = [each for each in combinations(names, 2) if frozenset(each) not in met]
        if missing:
            yield f"tournament {tournament.number} is over, and {missing} have not met"


def _scored_otherwise(stored: Stored) -> Iterable[str]:
    """Yield matches whose scores differ from those of their battles, if complete."""
    happened = [(each.position, each.event) for each in stored.get(HALL, ())]
    ends = {event.number: at for at, event in happened if isinstance(event, TournamentEnded)}
    scores: dict[tuple[int, int, int], list[tuple[int, PairingScored]]] = defaultdict(list)
    for at, event in happened:
        if isinstance(event, PairingScored):
            scores[event.number, event.round, event.index].append((at, event))
    for begun in (event for _, event in happened if isinstance(event, PairingBegun)):
        scored = scores[begun.number, begun.round, begun.index]
        counted = scored[-1][1].battles if scored else ()
        over = [at for at, event in scored if event.is_over]
        until = min([*over, ends.get(begun.number, inf)])
        told = [
            (*_of_first(begun, each.event), each.event.plies)
            for each in stored.get(begun.key, ())
            if isinstance(each.event, BattleEnded) and each.position < until
        ]
        if told != [*counted]:
            yield f"{begun} was scored {counted}, and {told} was played"


def _lost_alone(stored: Stored) -> Iterable[str]:
    """Yield matches forfeited to a winner who was absent as well."""
    keys: dict[tuple[int, int, int], str] = {}
    for entry in stored.get(HALL, ()):
        event = entry.event
        if isinstance(event, PairingBegun):
            keys[event.number, event.round, event.index] = event.key
        if not isinstance(event, PairingScored) or sum(event.absent) != 1 or event.battles:
            continue
        board = stored.get(keys.get((event.number, event.round, event.index), ""), ())
        before = [each.event for each in board if each.position < entry.position]
        away: dict[Side, float] = {}
        for each in before:
            match each:
                case Absent(since=since, side=side):
                    away[side] = since
                case Returned(side=side):
                    away.pop(side, None)
        have_played = any(isinstance(each, Moved) for each in before)
        if (
            len(away) == len(Side)
            and not have_played
            and max(away.values()) - min(away.values()) < SOON
        ):
            yield f"{event}, and neither was there: {away}"


def _of_first(match: PairingBegun, ended: BattleEnded) -> tuple[int, int]:
    """Return a battle's score with the first player of the match first."""
    score = ended.outcome.score
    if ended.dwarf == match.first:
        return score.dwarf, score.troll
    return score.troll, score.dwarf
