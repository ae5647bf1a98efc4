"""The decisions of the tournament director: the next step of a tournament, without a command.

A decision depends on the hall and the time alone. So all nodes decide alike, and the version of the
hall's stream lets only one of them succeed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import inf
from typing import NamedTuple

from thudmud.errors import InvalidValueError
from thudmud.features.playing.moves import battle_begun
from thudmud.features.playing.opening import board_opened_event
from thudmud.features.tournaments.model import (
    OpenMatch,
    Tournament,
    TournamentLimits,
    TournamentRegister,
    rest_in,
    second_battle_due,
)
from thudmud.features.tournaments.pairing import Pairing, pair, pair_free
from thudmud.features.tournaments.standings import standings
from thudmud.game import events, hooks, tables
from thudmud.game.events import BattleScore, PairingScored, TournamentEnd
from thudmud.game.hall import Decision, Hall
from thudmud.game.match import Match
from thudmud.game.seeks import end_seeks_of_players
from thudmud.game.table import Table
from thudmud.game.tables import Context
from thudmud.rules import Ending, Side
from thudmud.values import replace

LEAST = 2
"""The fewest players of a tournament."""

MISSED = 2
"""Consecutive missed matches after which a player is removed."""

WAVE = 10.0
"""Seconds between two pairings in an arena, so that several players become free in between. Also
the rest of a player after a match."""

TOGETHER = 5.0
"""Seconds within which two players count as having left together: each absence is a separate
event."""

LATE = 30.0
"""Seconds for which the start waits for entrants who aren't here."""

COME_BACK = 120.0
"""Seconds for which the start waits after a restart of the server, which disconnects players."""


class NextStep(NamedTuple):
    """The next step of a tournament.

    Attributes:
        decision: the events to store now, if any.
        needs_pairing: whether the next round is to be paired now.
        at: when to check again if no event comes first; None for never.
    """

    decision: Decision | None = None
    needs_pairing: bool = False
    at: float | None = None


NOTHING = NextStep()
"""Nothing is due before the next event."""


def next_step(hall: Hall, tournament: Tournament, now: float) -> NextStep:
    """Return the next step of a tournament."""
    if tournament.end or hall.version is None:
        return NOTHING
    until = tournament.made.until
    if until is not None and until <= now:
        for match in tournament.open.values():  # scored by the battles so far
            return NextStep(hall.hall_decision("", _score_event(tournament, match, now)))
        return NextStep(end_tournament(hall, tournament, now))
    later = [] if until is None else [until]
    for match in tournament.open.values():
        step = _next_match_step(hall, tournament, match, now)
        if step.decision:
            return step
        if step.at is not None:
            later.append(step.at)
    if tournament.paused:
        resumes = tournament.resumes
        if resumes is not None and resumes <= now:
            continued = events.TournamentContinued(now, "", tournament.number)
            return NextStep(hall.hall_decision("", continued))
        return NextStep(at=min([*later, *([] if resumes is None else [resumes])], default=None))
    due = _round_due(hall, tournament, now)
    if due is not None and due <= now:
        return _next_round(hall, tournament, now)
    return NextStep(at=min([*later, *([] if due is None else [due])], default=None))


def _round_due(hall: Hall, tournament: Tournament, now: float) -> float | None:
    """Return when to pair the next round, or end the tournament.

    None while open matches must end first.
    """
    starts, ends = tournament.made.starts, tournament.ends
    if ends is None:
        if tournament.open:
            return None
        if not tournament.rounds:
            return _start_due(hall, tournament)
        return tournament.changed + rest_in(tournament, hall)
    if now >= ends:
        return None if tournament.open else now
    starts = starts if tournament.rounds else _start_due(hall, tournament)
    some = now if len(free_players(hall, tournament, now)) >= LEAST else now + WAVE
    return min(max(starts, tournament.paired + WAVE, some), ends)


def _start_due(hall: Hall, tournament: Tournament) -> float:
    """Return when to pair the first round: at the start, or later if an entrant isn't here."""
    made = tournament.made
    if len(present_entrants(hall, tournament)) == len(tournament.playing):
        return made.starts
    cut_off_until = hall.started_at + COME_BACK if made.at < hall.started_at else 0.0
    return max(made.starts + LATE, cut_off_until)


def present_entrants(hall: Hall, tournament: Tournament) -> tuple[str, ...]:
    """Return the entrants of the next round.

    Absent entrants are left out of the first round of a tournament with a clock. Otherwise somebody
    could fill it with players who never come.
    """
    if tournament.rounds or tournament.is_by_days:
        return tournament.playing
    return tuple(each for each in tournament.playing if each in hall.people)


def _next_round(hall: Hall, tournament: Tournament, now: float) -> NextStep:
    """Return the step that pairs the next round, ends the tournament, or enters a bot."""
    rounds, playing = len(tournament.rounds), present_entrants(hall, tournament)
    in_all, ends = tournament.rounds_in_all, tournament.ends
    if ends is not None:
        return (
            NextStep(end_tournament(hall, tournament, now))
            if now >= ends
            else NextStep(needs_pairing=True)
        )
    is_odd = not rounds and len(playing) % 2 == 1
    if is_odd and tournament.made.uses_bot_filler and (bot := _bot(hall, playing)):
        entered = events.TournamentEntered(now, bot, tournament.number)
        return NextStep(hall.hall_decision("", entered))
    if len(playing) < LEAST or (rounds and in_all is not None and rounds >= in_all):
        return NextStep(end_tournament(hall, tournament, now))
    return NextStep(needs_pairing=True)


def _bot(hall: Hall, playing: Sequence[str]) -> str | None:
    """Return a bot to even an odd number of players: of the idle ones, one of medium strength."""
    idle = [each for each in hall.bots_here() if hall.bots[each] and each not in playing]
    idle.sort(key=lambda each: hall.level(each) or 0)
    return idle[len(idle) // 2] if idle else None


def free_players(hall: Hall, tournament: Tournament, now: float) -> list[str]:
    """Return the players who can be paired in an arena, longest wait first.

    Free players are here, in no match of this tournament, at no live clock elsewhere, and have
    rested for `WAVE` seconds since the last match.
    """
    since = tournament.waiting
    busy = {player for match in tournament.open.values() for player in match.players}
    names = [
        each
        for each in tournament.playing
        if each in hall.people and each not in busy and since.get(each, now) + WAVE <= now
        if not hall.has_live_clock(each)
    ]
    return sorted(names, key=since.__getitem__)


def pairings(tournament: Tournament, names: Sequence[str]) -> tuple[Pairing, ...]:
    """Return the pairings of the next round; () if there are none.

    This may take a second for 500 players, and can run in a thread: nothing but the arguments is
    used.

    Args:
        tournament: the tournament.
        names: for an arena, the free players; otherwise the entrants of the round.
    """
    if tournament.is_arena:
        so_far = [each for pairs in tournament.rounds for each in pairs]
        return pair_free(tournament.entrants, so_far, names)
    entrants = tournament.entrants
    if not tournament.rounds:
        entrants = tuple(each for each in entrants if each.player in names)
    return pair(tournament.kind, entrants, tournament.rounds, tournament.made.rounds or None)


def pair_round(
    hall: Hall, tournament: Tournament, pairs: Sequence[Pairing], now: float
) -> Decision | None:
    """Return the decision that pairs the next round; None if an arena has no pairs at the moment.

    Another kind of tournament with nothing left to pair is ended.
    """
    ends = tournament.ends
    if not pairs or (ends is not None and now >= ends):
        return end_tournament(hall, tournament, now) if ends is None else None
    number, round_ = tournament.number, len(tournament.rounds) + 1
    players = tuple(name for each in pairs for name in (each.first, each.second or ""))
    given_up = [
        PairingScored(now, "", number, round_, index, each.first, each.second, absent=_absent(each))
        for index, each in enumerate(pairs)
        if each.second and each.is_over
    ]
    missing = () if tournament.rounds else _missing_entrants(hall, tournament, players)
    round_paired = events.RoundPaired(now, "", number, round_, players, missing)
    return hall.hall_decision("", round_paired, *given_up)


def _missing_entrants(
    hall: Hall, tournament: Tournament, paired: Collection[str]
) -> tuple[str, ...]:
    """Return the entrants who are left out as the first round is paired.

    A player who came while the pairing was computed is left out too, except from an arena.
    """
    left_over = [each for each in tournament.playing if each not in paired]
    if tournament.is_arena:
        left_over = [each for each in left_over if each not in hall.people]
    return tuple(left_over)


def _absent(pairing: Pairing) -> tuple[bool, bool]:
    absent = pairing.result.absent if pairing.result else ()
    return pairing.first in absent, pairing.second in absent


def end_tournament(hall: Hall, tournament: Tournament, now: float) -> Decision:
    """Return the decision that ends a tournament, with standings, or for lack of players."""
    number = tournament.number
    if not tournament.rounds:
        return hall.hall_decision(
            "", events.TournamentEnded(now, "", number, TournamentEnd.TOO_FEW)
        )
    rows = standings(tournament.kind, tournament.entrants, tournament.rounds)
    names, places = tuple(row.player for row in rows), tuple(row.place for row in rows)
    over = events.TournamentEnded(now, "", number, TournamentEnd.OVER, names, places)
    return hall.hall_decision("", over)


def score_pairing(
    hall: Hall, table: Table, happened: tables.Events, now: float
) -> tuple[PairingScored, ...]:
    """Return the score of a tournament battle that these events end; () if they end none."""
    of = table.match.tournament if table.match else None
    tournament = hall.part(TournamentRegister).known.get(of.number) if of else None
    match = tournament.match_at(table.key) if tournament and not tournament.end else None
    # Further events may follow the end, as when a player leaves or comes back after an overdue fall
    # of a flag.
    ends = [place for place, each in enumerate(happened) if isinstance(each, events.BattleEnded)]
    after = tables.fold_events(table, happened[: ends[0] + 1]).match if ends else None
    if tournament is None or match is None or after is None:
        return ()
    match = replace(
        match,
        battles=(*match.battles, _score(match, after)),
        numbers=(*match.numbers, after.number),
    )
    return (_score_event(tournament, match, now, over=after.is_over),)


hooks.consequences.append(score_pairing)


def _score(match: OpenMatch, after: Match) -> BattleScore:
    """Return the score of the battle that has ended at the board of a match."""
    if after.game.outcome is None:
        raise InvalidValueError(f"expected a finished battle of {match}")
    side = Side.DWARF if match.first == after.dwarf else Side.TROLL
    score = after.game.outcome.score
    return BattleScore(score.of(side), score.of(side.other), len(after.game.moves))


# A match of a round.


def _next_match_step(hall: Hall, tournament: Tournament, match: OpenMatch, now: float) -> NextStep:
    """Return the next step of an open match."""
    made = tournament.made
    if not match.key:
        return (
            NOTHING if tournament.paused else NextStep(_begin_match(hall, tournament, match, now))
        )
    table = hall.tables.with_key(match.key)
    of = events.TournamentRound(tournament.number, match.round)
    if table is None or table.match is None or table.match.tournament != of:
        # An operator has closed the board: score the match by the battles so far.
        return NextStep(hall.hall_decision("", _score_event(tournament, match, now)))
    if tournament.paused:
        return NOTHING
    if made.seconds and not tournament.is_arena and now >= tournament.paired + made.seconds:
        return NextStep(hall.hall_decision("", _score_event(tournament, match, now)))
    later = [tournament.paired + made.seconds] if made.seconds and not tournament.is_arena else []
    second_at = second_battle_due(table, tournament, hall)
    if second_at is not None:
        away = {table.seats[side] for side in table.away}
        absent = _never_moved(table.match)
        if absent and (absent in away or tournament.is_by_days):
            return NextStep(_forfeit_match(hall, tournament, table, {absent}, now))
        if second_at <= now:
            inputs = Context(now, first_move=hall.first_move)
            second = Decision("", table.name, table.version, (battle_begun(table, "", inputs),))
            return NextStep(end_seeks_of_players(hall, second, now))
        later.append(second_at)
    elif table.is_running and not tournament.is_by_days:
        due = dict(_no_shows(hall, tournament, table))
        if min(due.values(), default=inf) <= now:
            absents = {each for each, at in due.items() if at <= now + TOGETHER}
            return NextStep(_forfeit_match(hall, tournament, table, absents, now))
        later += due.values()
    return NextStep(at=min(later, default=None))


def _begin_match(hall: Hall, tournament: Tournament, match: OpenMatch, now: float) -> Decision:
    """Return the decision that opens a board for a match and begins the first battle."""
    made, of = tournament.made, events.TournamentRound(tournament.number, match.round)
    board = board_opened_event(hall, "", made.rules, now, 0)
    begun = events.PairingBegun(
        now, "", of.number, of.round, match.index, *match.players, board.key
    )
    levels = events.Levels(*(hall.level(each) for each in match.players))
    are_members = all(tournament.entries[each].is_member for each in match.players)
    rated = made.rated and (levels != events.NO_BOTS or are_members)
    terms = now, "", 1, made.rules, *match.players, rated, levels
    started = events.BattleStarted(*terms, tournament=of).with_time(made.time, hall.first_move)
    opens = replace(hall.hall_decision("", board, begun), board=board.name, events=(started,))
    return end_seeks_of_players(hall, opens, now)


def _no_shows(hall: Hall, tournament: Tournament, table: Table) -> Iterator[tuple[str, float]]:
    """Yield absent players who haven't moved yet, and when they forfeit the match."""
    grace = hall.limits(TournamentLimits).grace
    for side, since in table.away.items():
        if table.match and table.match.battle == 1 and not _has_moved(table.match, side):
            yield table.seats[side], max(since, tournament.changed) + grace


def _never_moved(match: Match) -> str | None:
    """Return the player who lost the first battle on time without a single move, if any."""
    outcome = match.game.outcome
    if outcome is None or outcome.ending is not Ending.TIME or outcome.winner is None:
        return None
    loser = outcome.winner.other
    if _has_moved(match, loser):
        return None
    return match.dwarf if loser is Side.DWARF else match.troll


def _has_moved(match: Match, side: Side) -> bool:
    """Whether a side has made a move: with one ply, only the side that began has."""
    return len(match.game.moves) > (side is not match.game.initial_position.turn)


def _forfeit_match(
    hall: Hall, tournament: Tournament, table: Table, absent: Iterable[str], now: float
) -> Decision:
    """Return the decision by which absent players forfeit the match at a board.

    The decision also closes the board, and removes players who have missed `MISSED` matches in a
    row.
    """
    away, match = frozenset(absent), tournament.match_at(table.key)
    if match is None:
        raise InvalidValueError(
            f"expected a match of {tournament.name} at the {table.name}, got none"
        )
    first, second = (each in away for each in match.players)
    lost = _score_event(tournament, match, now, absent=(first, second))
    out = [
        events.TournamentLeft(now, each, tournament.number, events.TournamentLeaving.ABSENT)
        for each in match.players
        if each in away and tournament.missed.get(each, 0) + 1 >= MISSED
        if each in tournament.playing
    ]
    decision = hall.hall_decision("", lost, *out, events.BoardClosed(now, "", table.key))
    cleared = (events.Cleared(now, ""),)
    return replace(decision, board=table.name, version=table.version, events=cleared)


def _score_event(
    tournament: Tournament,
    match: OpenMatch,
    now: float,
    *,
    absent: tuple[bool, bool] = (False, False),
    over: bool = True,
) -> PairingScored:
    """Return the event that scores a match; if not ``over``, only its battles so far."""
    place = tournament.number, match.round, match.index
    return PairingScored(
        now, "", *place, *match.players, match.battles, absent, over, match.numbers
    )
