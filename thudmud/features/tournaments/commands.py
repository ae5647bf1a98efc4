"""Commands about tournaments: announcing, entering, leaving and directing them.

Events without a command are decided in `thudmud.features.tournaments.directing`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from thudmud.english import capitalised, typed_duration
from thudmud.errors import RefusedError
from thudmud.features.tournaments.model import (
    Tournament,
    TournamentLimits,
    TournamentLookup,
    TournamentRefusal,
    TournamentRegister,
    TournamentsLookup,
    TournamentState,
)
from thudmud.features.tournaments.pairing import USUAL_ROUNDS
from thudmud.game import events, hooks
from thudmud.game.archive import Pool, ScoreLookup
from thudmud.game.clocks import DAY, TimeControl, time_class
from thudmud.game.command import PARTS, TERMINALS, Command, CommandContext, ValueTerminal, verb
from thudmud.game.days import TODAY, day_begins
from thudmud.game.events import TournamentKind
from thudmud.game.hall import Decision, Hall
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import resolve_player
from thudmud.rules import DEFAULT_RULES

USUAL_TIME = TimeControl(10, 5)
USUAL_ARENA, USUAL_WAIT = 3600, 900
"""The defaults of a tournament; the length of an arena and the wait before the start in seconds."""

MOST_ROUNDS = 20
"""The most rounds of a Swiss."""

LONGEST_ARENA = 86_400
LATEST_START = 14 * DAY
LATEST_START_BY_OPERATORS = 60 * DAY
"""The longest arena, and the latest start from now on, of members and of operators, in seconds."""

LONGEST_BY_CLOCK, LONGEST_BY_DAYS = 14 * DAY, 365 * DAY
"""The longest tournaments of members, from the start, in seconds: with a clock and by
correspondence. Without a limit, players who rarely move, or pause again and again, could block all
places for ever."""

PAUSE_LASTS = DAY
"""Seconds after which a pause ends by itself, except an operator's."""

MOST_FROM_ADDRESS = 2
"""The most open tournaments announced by players from one address. More than 1, since
strangers may share an address; operators are exempt."""

ALL_PLAY_ALL = 32
"""The most players of a round robin."""

TERMINALS.update(
    ROUNDS=ValueTerminal(lambda words: {"rounds": int(words.partition(" ")[0])}),
    TITLE=ValueTerminal(lambda words: {"title": words[1:-1].strip()}),
)
PARTS.update(
    tournament_bot=lambda: {"uses_bot_filler": True},
    tournament_length=lambda seconds: {"seconds": seconds},
    tournament_limit=lambda seconds: {"limit": seconds},
    tournament_start=lambda day, at: {"day": day and day.lower(), "at": at.zfill(5), "wait": None},
    tournament_wait=lambda seconds: {"day": None, "at": None, "wait": seconds},
)


@verb("tournaments")
class Tournaments(Command):
    """List the open tournaments, and a page of the ended ones."""

    page: int = 1
    is_question = True

    def decide(self, context: CommandContext) -> Decision:
        return context.decide_answer(self, answer=context.found[TournamentsLookup(self.page)])


@verb("tournament")
class ViewTournament(Command):
    """Show a tournament: a page of the standings with the crosstable, and the matches under way."""

    number: int
    page: int = 1
    is_question = is_public = True

    def decide(self, context: CommandContext) -> Decision:
        return context.decide_answer(self, answer=_resolve_tournament(context, self.number))


@verb(tournament_new="of")
class NewTournament(Command):
    """Announce a tournament.

    Attributes:
        kind: the pairing system.
        rounds: the number of rounds of a Swiss; None for the default, which depends on the field.
        time: the time control of the battles; None for the default.
        rules: the name of the ruleset; None for the default.
        rated: whether the matches are to count for ratings.
        uses_bot_filler: whether a bot joins if the number of entrants is odd.
        seconds: the length of an arena, in seconds; 0 for the default.
        limit: the time limit of a round, in seconds; 0 for none.
        title: the title; "" for none.
        day: the day of the start: ``today``, ``tomorrow`` or a date such as 2026-11-20.
        at: the time of the start on that day, such as ``20:00``, in UTC.
        wait: the seconds from now to the start, in place of ``day`` and ``at``.
    """

    kind: TournamentKind
    rounds: int | None = None
    time: TimeControl | None = None
    rules: str | None = None
    rated: bool = True
    uses_bot_filler: bool = False
    seconds: int = 0
    limit: int = 0
    title: str = ""
    day: str | None = None
    at: str | None = None
    wait: int | None = None
    words = "tournament new"
    speaks = True

    @classmethod
    def of(cls, kind: TournamentKind, terms: Mapping[str, Any] | None) -> NewTournament:
        return cls(kind, **(terms or {}))

    def __str__(self) -> str:
        parts = [
            "" if self.rounds is None else f"{self.rounds} rounds",
            str(self.time) if self.time else "",
            self.rules or "",
            "" if self.rated else "unrated",
            "with bot" if self.uses_bot_filler else "",
            f"for {typed_duration(self.seconds)}" if self.seconds else "",
            f"rounds of {typed_duration(self.limit)}" if self.limit else "",
            f'"{self.title}"' if self.title else "",
            " ".join(filter(None, ("starts", self.day, self.at))) if self.at else "",
            f"starts in {typed_duration(self.wait)}" if self.wait else "",
        ]
        return " ".join([f"{self.words} {self.kind.value}", *filter(None, parts)])

    def decide(self, context: CommandContext) -> Decision:
        hall, time = context.hall, self.time or USUAL_TIME
        _require_tournaments(hall)
        _require_maker(context)
        is_operator = hall.is_operator(context.me)
        open_ = hall.part(TournamentRegister).going_on
        own = next((each for each in open_ if each.made.player == context.me), None)
        if own and not is_operator:
            raise RefusedError(TournamentRefusal.TOURNAMENT_OF_YOURS, number=own.number)
        going_on = [each.number for each in open_]
        if len(going_on) >= (most := hall.limits(TournamentLimits).most):
            raise RefusedError(
                TournamentRefusal.TOURNAMENTS_TOO_MANY, most=most, numbers=tuple(going_on)
            )
        if time.is_correspondence and not is_operator:
            _require_correspondence_quota_left(hall, open_)
        self._require_valid_terms(time)
        starts = self._starts(
            context.now, LATEST_START_BY_OPERATORS if is_operator else LATEST_START
        )
        longest = LONGEST_BY_DAYS if time.is_correspondence else LONGEST_BY_CLOCK
        made = events.TournamentMade(
            context.now,
            context.me,
            hall.part(TournamentRegister).last + 1,
            self.title,
            self.kind,
            self.rules or DEFAULT_RULES.name,
            time,
            starts,
            self.rounds or 0,
            (self.seconds or USUAL_ARENA) if self.kind is TournamentKind.ARENA else self.limit,
            self.rated,
            self.uses_bot_filler,
            None if is_operator else starts + longest,
        )
        return context.hall.hall_decision(context.me, made)

    def _require_valid_terms(self, time: TimeControl) -> None:
        """Refuse terms that are out of range, or don't fit the kind of tournament."""
        is_arena = self.kind is TournamentKind.ARENA
        if self.rounds is not None and self.kind is not TournamentKind.SWISS:
            raise RefusedError(TournamentRefusal.TOURNAMENT_HAS_NO_ROUNDS)
        if self.rounds is not None and not 1 <= self.rounds <= MOST_ROUNDS:
            raise RefusedError(
                TournamentRefusal.TOURNAMENT_ROUNDS, most=MOST_ROUNDS, usual=USUAL_ROUNDS
            )
        if self.seconds and not is_arena:
            raise RefusedError(TournamentRefusal.TOURNAMENT_HAS_NO_LENGTH)
        if self.seconds > LONGEST_ARENA:
            raise RefusedError(TournamentRefusal.TOURNAMENT_TOO_LONG, seconds=float(LONGEST_ARENA))
        if is_arena and time.is_correspondence:
            raise RefusedError(TournamentRefusal.ARENA_BY_DAYS)
        if self.limit and (is_arena or not time.is_correspondence):
            raise RefusedError(TournamentRefusal.TOURNAMENT_HAS_NO_LIMIT)
        if len(self.title) > events.LONGEST_TITLE:
            raise RefusedError(
                TournamentRefusal.TOURNAMENT_TITLE_TOO_LONG, most=events.LONGEST_TITLE
            )

    def _starts(self, now: float, latest: float) -> float:
        """Return the start, in seconds since the epoch.

        Args:
            now: the current time.
            latest: the latest start, in seconds from now.

        Raises:
            RefusedError: the start is in the past or too late.
        """
        if self.at is None:
            starts = now + (self.wait or USUAL_WAIT)
        else:
            hours, minutes = map(int, self.at.split(":"))
            begins = day_begins(self.day or TODAY, now) or 0.0
            starts = begins + 3600.0 * hours + 60.0 * minutes
            if self.day is None and starts <= now:
                starts += DAY
        if starts <= now:
            raise RefusedError(TournamentRefusal.TOURNAMENT_IN_THE_PAST)
        if starts > now + latest:
            raise RefusedError(TournamentRefusal.TOURNAMENT_TOO_LATE, seconds=latest)
        return starts


@verb("enter")
class Enter(Command):
    """Enter a tournament; operators can enter bots."""

    number: int
    bot: str | None = None

    def __str__(self) -> str:
        return f"enter {self.number}" + (f" with {self.bot}" if self.bot else "")

    def decide(self, context: CommandContext) -> Decision:
        hall, name = context.hall, context.me
        tournament = _resolve_open_tournament(context, self.number)
        if self.bot is not None:
            name = resolve_player(hall, self.bot)
            if name != context.me:
                _require_bot(context, name)
        member = name in hall.people.members
        _require_enterable(tournament, hall, name, member=member)
        rating = _rating(context, tournament, name)
        entered = events.TournamentEntered(context.now, name, self.number, rating, member)
        return context.hall.hall_decision(context.me, entered)


@verb(leave_tournament="of")
class LeaveTournament(Command):
    """Withdraw from a tournament; its announcer and operators can also remove other players."""

    number: int
    player: str | None = None
    words = "withdraw"

    @classmethod
    def of(cls, player: str | None, number: int) -> LeaveTournament:
        return cls(number, player)

    def __str__(self) -> str:
        return f"withdraw {f'{self.player} ' if self.player else ''}from {self.number}"

    def decide(self, context: CommandContext) -> Decision:
        tournament = _resolve_open_tournament(context, self.number)
        entrant = tournament.entrant(self.player or context.me)
        is_own = self.player is None or self.player.lower() in {context.me.lower(), "me", "myself"}
        if is_own:
            entrant = tournament.entrant(context.me)
        else:
            _require_director(context, tournament)
        if entrant is None or entrant.left is not None:
            player = context.me if is_own else capitalised(str(self.player))
            raise RefusedError(
                TournamentRefusal.NOT_IN_TOURNAMENT, number=tournament.number, player=player
            )
        why = events.TournamentLeaving.WITHDRAWN if is_own else events.TournamentLeaving.REMOVED
        by = "" if is_own else context.me
        left = events.TournamentLeft(context.now, entrant.player, self.number, why, by)
        return context.hall.hall_decision(context.me, left)


class DirectTournament(Command):
    """Base class of commands for the announcer of a tournament, and for operators."""

    @property
    def number(self) -> int:
        """The number of the tournament; a field of each of these commands."""
        raise NotImplementedError

    def decide(self, context: CommandContext) -> Decision:
        tournament = _resolve_open_tournament(context, self.number)
        _require_director(context, tournament)
        return context.hall.hall_decision(context.me, self.event(context, tournament))

    def event(self, context: CommandContext, tournament: Tournament) -> events.HallEvent:
        """Return the event of the command.

        Raises:
            RefusedError: the tournament is in the wrong state.
        """
        raise NotImplementedError


@verb("pause_tournament")
class PauseTournament(DirectTournament):
    """Pause a tournament: no further match begins. Only operators can pause for over a day."""

    number: int

    def event(self, context: CommandContext, tournament: Tournament) -> events.HallEvent:
        if tournament.state is TournamentState.PAUSED:
            raise RefusedError(TournamentRefusal.TOURNAMENT_PAUSED, number=self.number)
        until = None if context.hall.is_operator(context.me) else context.now + PAUSE_LASTS
        return events.TournamentPaused(context.now, context.me, self.number, until)


@verb("resume_tournament")
class ResumeTournament(DirectTournament):
    """Resume a paused tournament."""

    number: int

    def event(self, context: CommandContext, tournament: Tournament) -> events.HallEvent:
        if tournament.state is not TournamentState.PAUSED:
            raise RefusedError(TournamentRefusal.TOURNAMENT_NOT_PAUSED, number=tournament.number)
        return events.TournamentContinued(context.now, context.me, self.number)


@verb("cancel_tournament")
class CancelTournament(DirectTournament):
    """Cancel a tournament. Matches under way go on, but count for ratings only."""

    number: int

    def event(self, context: CommandContext, tournament: Tournament) -> events.HallEvent:
        why = events.TournamentEnd.CANCELLED
        return events.TournamentEnded(context.now, context.me, self.number, why)


def _require_maker(context: CommandContext) -> None:
    """Refuse a player who may not announce tournaments."""
    hall = context.hall
    if hall.is_operator(context.me):
        return
    by = hall.limits(TournamentLimits).by
    if by == "operators":
        raise RefusedError(TournamentRefusal.TOURNAMENTS_BY_OPERATORS)
    if by == "members" and not context.person.is_member:
        raise RefusedError(TournamentRefusal.TOURNAMENTS_BY_MEMBERS)


def _require_correspondence_quota_left(hall: Hall, open_: Collection[Tournament]) -> None:
    """Refuse a correspondence tournament if half of the places are taken by such tournaments.

    They last for months, and could otherwise take up all places.
    """
    numbers = tuple(each.number for each in open_ if each.is_by_days)
    most = max(1, hall.limits(TournamentLimits).most // 2)
    if len(numbers) >= most:
        raise RefusedError(
            TournamentRefusal.TOURNAMENTS_BY_DAYS_TOO_MANY, most=most, numbers=numbers
        )


def _resolve_tournament(context: CommandContext, number: int) -> Tournament:
    """Return the tournament with the given number, looked up if necessary.

    Raises:
        RefusedError: there is no such tournament.
        LookupNeededError: the tournament has to be looked up first.
    """
    known = context.hall.part(TournamentRegister).known.get(number)
    found = known or context.found[TournamentLookup(number)]
    if found is None:
        raise RefusedError(TournamentRefusal.NO_SUCH_TOURNAMENT, number=number)
    return found


def _resolve_open_tournament(context: CommandContext, number: int) -> Tournament:
    """Return the tournament with the given number, which must not be over.

    Raises:
        RefusedError: there is no such tournament, or it is over.
        LookupNeededError: the tournament has to be looked up first.
    """
    tournament = _resolve_tournament(context, number)
    if tournament.end:
        raise RefusedError(TournamentRefusal.TOURNAMENT_OVER, number=number)
    return tournament


def _require_director(context: CommandContext, tournament: Tournament) -> None:
    """Refuse a player who neither announced the tournament nor is an operator."""
    made_by = tournament.made.player
    if context.me != made_by and not context.hall.is_operator(context.me):
        raise RefusedError(
            TournamentRefusal.NOT_YOUR_TOURNAMENT, number=tournament.number, player=made_by
        )


def _require_bot(context: CommandContext, name: str) -> None:
    """Refuse a player who may not enter others, or a name that isn't a bot's."""
    if not context.hall.is_operator(context.me):
        raise RefusedError(Refusal.OPERATORS_ONLY)
    if name not in context.hall.bots:
        raise RefusedError(TournamentRefusal.ENTERS_BOTS_ONLY, player=name)


def _require_enterable(tournament: Tournament, hall: Hall, name: str, *, member: bool) -> None:
    """Raise RefusedError if a player can't enter a tournament: too late, not again, or full."""
    known, number = tournament.entrant(name), tournament.number
    if known and known.left is None:
        raise RefusedError(
            TournamentRefusal.IN_TOURNAMENT_ALREADY, player=name, number=tournament.number
        )
    if name in tournament.removed:
        by = tournament.removed[name] or tournament.made.player
        raise RefusedError(TournamentRefusal.REMOVED_FROM_TOURNAMENT, number=number, player=by)
    if known:
        raise RefusedError(TournamentRefusal.LEFT_TOURNAMENT, player=name, number=tournament.number)
    rounds, in_all = len(tournament.rounds), tournament.rounds_in_all
    is_late = in_all is not None and 2 * rounds > in_all
    if rounds and (is_late or not tournament.kind.allows_late_entry):
        raise RefusedError(TournamentRefusal.TOURNAMENT_BEGUN, number=number)
    most = hall.limits(TournamentLimits).players
    if tournament.kind.is_round_robin:
        most = min(most, ALL_PLAY_ALL)
    if len(tournament.playing) >= most:
        raise RefusedError(TournamentRefusal.TOURNAMENT_FULL, number=tournament.number, most=most)
    if tournament.is_by_days and not member and name not in hall.bots:
        raise RefusedError(TournamentRefusal.TOURNAMENT_FOR_MEMBERS, number=tournament.number)


def require_tournament_quota_left(hall: Hall, decision: Decision, names: Collection[str]) -> None:
    """Refuse a decision that exceeds the share of an address in tournaments.

    Bots, which operators enter, don't count, and operators are exempt.
    """
    if hall.is_operator(decision.player):
        return
    for event in decision.hall:
        match event:
            case events.TournamentMade():
                open_ = hall.part(TournamentRegister).going_on
                theirs = sum(each.made.player in names for each in open_)
                most, what = MOST_FROM_ADDRESS, "open tournaments"
            case events.TournamentEntered(number=number):
                entered = hall.part(TournamentRegister).known[number]
                theirs = sum(each in names for each in entered.playing)
                most = hall.limits(TournamentLimits).players_per_address
                what = f"places in tournament {number}"
            case _:
                continue
        if theirs >= most:
            raise RefusedError(Refusal.TOO_MUCH_FROM_ADDRESS, what=what, most=most)


hooks.shares.append(require_tournament_quota_left)


def _rating(context: CommandContext, tournament: Tournament, name: str) -> int | None:
    """Return the rating by which to seed a player; None without one."""
    made, score = tournament.made, context.found[ScoreLookup(name)]
    if score is None:
        return None
    level = context.hall.level(name)
    if level is None:
        known = score.people.ratings.get(Pool(made.rules, time_class(made.time)))
    else:
        known = score.levels[level].ratings.get(Pool(made.rules)) if level in score.levels else None
    return known.points if known else None


def _require_tournaments(hall: Hall) -> None:
    """Raise RefusedError if this hall doesn't offer tournaments."""
    most = hall.limits(TournamentLimits).most
    if hall.version is None or not hall.opens_boards or not most:
        raise RefusedError(TournamentRefusal.NO_TOURNAMENTS)
