"""The state of one board, folded from its events: seats, match and offers.

A table is a frozen value. `thudmud.game.tables` decides its next events; the hall keeps track of
the observers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from types import MappingProxyType
from typing import NamedTuple, TypeVar, assert_never

from thudmud.errors import InvalidValueError
from thudmud.game import events
from thudmud.game.clocks import DAY, LONGEST_GRACE, MOST_DAYS, Clock, TimeControl
from thudmud.game.match import Match, Unrated
from thudmud.game.options import Style
from thudmud.immutable import immutable
from thudmud.rules import (
    DEFAULT_RULES,
    RULESETS,
    Game,
    IllegalMoveError,
    Move,
    Position,
    Ruleset,
    Side,
)
from thudmud.values import Value, replace


@immutable
@dataclass(frozen=True, slots=True)
class BoardSpec:
    """The configuration of a board.

    Attributes:
        name: the board's name, with the noun last.
        rules: the name of the ruleset, case-insensitive.
        style: the display style for newcomers.
        key: the key under which the board's events are stored; it never changes. "" for the name.
        description: what players see when they look at the board; "" for the usual description.

    Raises:
        InvalidValueError: there is no such ruleset, or the style isn't a `Style`.
    """

    name: str
    rules: str = DEFAULT_RULES.name
    style: Style = Style.FULL
    key: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        rules = str(self.rules).lower()
        if rules not in RULESETS:
            known = ", ".join(RULESETS)
            raise InvalidValueError(f"unknown rules {self.rules!r}; expected one of {known}")
        if not isinstance(self.style, Style):
            styles = ", ".join(map(str, Style))
            raise InvalidValueError(f"expected one of {styles}, got {self.style!r}")
        object.__setattr__(self, "rules", rules)
        object.__setattr__(self, "key", self.key or self.name)


class Seat(Value):
    """One seat of a board, taken or free.

    Attributes:
        side: dwarf or troll.
        player: the holder; None if the seat is free.
        away_since: when the holder went away, in seconds since the epoch; None if present.
        reserved_for: for a free seat in a match under way, the player who left it; others need an
            invitation.
    """

    side: Side
    player: str | None = None
    away_since: float | None = None
    reserved_for: str | None = None


class TimedMove(NamedTuple):
    """A ply as far as a table depends on it.

    Attributes:
        at: its time, in seconds since the epoch.
        move: the move.
    """

    at: float
    move: Move


SIDES = tuple(Side)  # faster to iterate over than the enum, and every line does

Key = TypeVar("Key")
ItemT = TypeVar("ItemT")

NO_SEATS: Mapping[Side, str] = MappingProxyType({})
NO_OFFERS: Mapping[events.Offer, Side] = MappingProxyType({})
NO_TIMES: Mapping[Side, float] = MappingProxyType({})


@immutable
@dataclass(frozen=True, slots=True)
class Table:
    """The state of one board.

    Attributes:
        name: the board's name, with the noun last.
        key: the key under which the board's events are stored.
        own_rules: the ruleset that the board returns to when reset.
        ruleset: the ruleset of the next match; the match on the board has its own.
        opening: the initial position of the next match, if it was set up; else None.
        quiet_limit: plies without a capture after which one player may end the battle alone; 0 for
            never.
        seat_grace: seconds of absence after which others need not wait for a player.
        idle_limit: seconds without a ply after which the opponent may claim a battle without a
            clock; 0 for never.
        seats: the players by side; free seats are left out.
        away: by side, when a seated player went away, in seconds since the epoch.
        match: the match on the board, running or over; None before the first.
        offers: the open offers, each with the side that made it.
        version: the number of events folded.
        levels: the levels of seated bots.
        time: the time control of the next match; None for no clock.
        waiting_since: when the current turn began, or the last battle ended, in seconds since the
            epoch.
        excused_seconds: seconds of absence since then that do not count as idle.
        warned_at: when the players were warned, in this turn, that the battle can soon be claimed;
            None if they weren't.
        taken_back: the number of plies taken back since the battle began or was resumed.
        undo_moves: the number of own moves that the last request to take back was about.
        asked_to_begin: between two battles, when each side first offered to begin the second,
            unless it has declined the opponent's offer since.
    """

    name: str
    key: str
    own_rules: Ruleset
    ruleset: Ruleset
    quiet_limit: int = 200
    seat_grace: float = 300.0
    idle_limit: float = 600.0
    seats: Mapping[Side, str] = field(default_factory=lambda: NO_SEATS)
    match: Match | None = None
    offers: Mapping[events.Offer, Side] = field(default_factory=lambda: NO_OFFERS)
    away: Mapping[Side, float] = field(default_factory=lambda: NO_TIMES)
    version: int = 0
    opening: Position | None = None
    levels: events.Levels = events.NO_BOTS
    time: TimeControl | None = None
    waiting_since: float = 0.0
    excused_seconds: float = 0.0
    warned_at: float | None = None
    taken_back: int = 0
    undo_moves: int = 1
    asked_to_begin: Mapping[Side, float] = field(default_factory=lambda: NO_TIMES)

    # Derived from the other fields, and stored because they are read far more often than tables
    # are made.

    game: Game | None = field(init=False, compare=False, repr=False)
    """The battle on the board, running or ended; None before the first."""
    is_running: bool = field(init=False, compare=False, repr=False)
    """Whether a battle is being played."""
    is_full: bool = field(init=False, compare=False, repr=False)
    """Whether both seats are taken."""
    clock: Clock | None = field(init=False, compare=False, repr=False)
    """The running clock, as of the last event; None if no clock runs.

    No clock runs while a seat is free.
    """

    def __post_init__(self) -> None:
        match, full = self.match, len(self.seats) == len(SIDES)
        running = match is not None and match.is_running
        object.__setattr__(self, "game", match and match.game)
        object.__setattr__(self, "is_running", running)
        object.__setattr__(self, "is_full", full)
        object.__setattr__(self, "clock", match.clock if match and running and full else None)

    @classmethod
    def set_up(
        cls,
        spec: BoardSpec,
        quiet_limit: int = 200,
        seat_grace: float = 300.0,
        idle_limit: float = 600.0,
    ) -> Table:
        """Return an empty table for a configured board; the limits are as in the attributes."""
        rules = RULESETS[spec.rules]
        return cls(spec.name, spec.key, rules, rules, quiet_limit, seat_grace, idle_limit)

    def apply(self, event: events.TableEvent, battle: int | None = None) -> Table:
        """Return the table after an event.

        Args:
            event: the event.
            battle: the number of the battle that the event begins or resumes, if known.
        """
        match = self.match
        before = self
        if match and match.clock and match.is_running and not self.is_full:
            clock = replace(match.clock, at=event.at)  # no time runs against a free seat
            before = replace(self, match=match.with_game(match.game, clock))
        table = _apply_event(event, before, battle)
        if table is before:
            table = replace(before)
        object.__setattr__(table, "version", self.version + 1)  # safe: nobody else has it yet
        return _update_waiting(event, before, table) if table.is_running else table

    def apply_plies(self, plies: Sequence[TimedMove]) -> Table:
        """Return the table after some plies in a row, at least one; both seats have to be taken.

        The result is that of `apply` for each, in a fraction of the time.
        """
        match = _require_match(self)
        clock, last = match.clock, plies[-1].at
        if clock:
            for ply in plies:
                clock = clock.pressed(ply.at)
        game = match.game.play_all([ply.move for ply in plies])
        table = replace(
            self,
            match=match.with_game(game, clock),
            waiting_since=last,
            excused_seconds=0.0,
            warned_at=None,
        )
        object.__setattr__(table, "version", self.version + len(plies))  # nobody else has it yet
        return table

    @property
    def is_new(self) -> bool:
        """Whether nothing but the seats has changed since the board was opened or reset."""
        chosen = self.opening or self.time
        is_as_set_up = self.ruleset == self.own_rules and not chosen
        return self.match is None and is_as_set_up

    @property
    def half_played(self) -> bool:
        """Whether the first battle of a match has ended and the second has not begun."""
        return self.match is not None and not self.match.is_running and not self.match.is_over

    @property
    def needs_consent_to_go_on(self) -> bool:
        """Whether both players have to agree before the second battle of their match begins.

        A bot always agrees. Tournaments have deadlines, and correspondence gives days to notice.
        """
        match = self.match
        if match is None or not self.half_played or self.levels != events.NO_BOTS:
            return False
        return not (match.tournament or self.is_by_correspondence)

    @property
    def has_match_under_way(self) -> bool:
        """Whether a match has begun and is not over."""
        return self.match is not None and not self.match.is_over

    @property
    def seating(self) -> tuple[Seat, ...]:
        """Both seats, the dwarfs' first."""
        return tuple(
            [
                Seat(side, self.seats[side], self.away.get(side))
                if side in self.seats
                else Seat(side, reserved_for=self.reserved_for(side))
                for side in SIDES
            ]
        )

    def reserved_for(self, side: Side) -> str | None:
        """Return the player who left a free seat in a match under way; else None."""
        if side in self.seats or self.match is None or self.match.is_over:
            return None
        return self.match.dwarf if side is Side.DWARF else self.match.troll

    @property
    def is_practice(self) -> bool:
        """Whether one player has both seats."""
        return self.is_full and self.seats[Side.DWARF] == self.seats[Side.TROLL]

    @property
    def is_quiet(self) -> bool:
        """Whether the last capture is so long ago that either player may end the battle."""
        game = self.game
        return bool(game and self.quiet_limit and game.quiet_plies >= self.quiet_limit)

    def as_of(self, at: float) -> Table:
        """Return the table with its clock advanced to a time."""
        if self.clock is None or self.match is None or at <= self.clock.at:
            return self
        return replace(self, match=replace(self.match, clock=self.clock.advanced_to(at)))

    @property
    def idle_warning(self) -> float:
        """Seconds between the warning of both players and the claim of an idle battle."""
        return min(60.0, self.idle_limit / 2)

    @property
    def idle_since(self) -> float:
        """When the player to move began to be idle, in seconds since the epoch."""
        return self.waiting_since + self.excused_seconds

    @property
    def claimable_at(self) -> float | None:
        """When an idle player's battle can be claimed; None before the players are warned."""
        if self.warned_at is None:
            return None
        return max(self.idle_since + self.idle_limit, self.warned_at + self.idle_warning)

    @property
    def is_by_correspondence(self) -> bool:
        """Whether a correspondence match is under way."""
        time = self.match.time if self.match and self.has_match_under_way else None
        return time is not None and time.is_correspondence

    @property
    def is_in_use(self) -> bool:
        """Whether a match can begin or go on: it isn't over, and a person is here to play.

        Nobody has to be here for a correspondence match.
        """
        if self.match and self.match.is_over:
            return False
        here = (side for side in self.seats if side not in self.away)
        return self.is_by_correspondence or any(self.levels.of(side) is None for side in here)

    @property
    def is_serious(self) -> bool:
        """Whether a battle is running that is rated or has a clock."""
        if self.match is None or not self.is_running:
            return False
        return self.match.rated or self.match.clock is not None

    @property
    def has_live_clock(self) -> bool:
        """Whether a clock runs, other than for correspondence."""
        return self.clock is not None and not self.is_by_correspondence

    @property
    def grace(self) -> float | None:
        """Seconds for which an absent player's seat is kept; None while a clock decides."""
        if not self.is_by_correspondence:
            return self.seat_grace
        return None if self.is_running else self.seat_grace + MOST_DAYS * DAY

    def is_long_away(self, side: Side, now: float) -> bool:
        """Whether the holder of a seat has been away for the whole grace period."""
        since, grace = self.away.get(side), self.grace
        return since is not None and grace is not None and now - since >= grace

    def side_of(self, player: str) -> Side | None:
        """Return the side of a player, if any; for both sides, the side to move."""
        if self.seats.get(Side.DWARF) != player:
            return Side.TROLL if self.seats.get(Side.TROLL) == player else None
        if self.game and self.seats.get(Side.TROLL) == player:
            return self.game.turn
        return Side.DWARF

    def is_turn_of(self, player: str) -> bool:
        """Whether a player is to move in a running battle."""
        game = self.game if self.is_running else None
        return game is not None and self.seats.get(game.turn) == player

    def sides_of(self, player: str) -> tuple[Side, ...]:
        """Return the sides of a player: none, one or both."""
        return tuple([side for side in SIDES if self.seats.get(side) == player])


def ply_seconds_of(stream: Iterable[events.Event]) -> tuple[float, ...]:
    """Return the seconds spent on each ply of a battle; () without a clock.

    Args:
        stream: the events of the battle's stream, from its ``source`` on, as for `fold_game`.
    """
    return ply_seconds_at(replay_clock(stream))


def ply_seconds_at(table: Table | None) -> tuple[float, ...]:
    """Return the seconds spent on each ply of the battle at a table; () without a clock."""
    return table.match.clock.spent if table and table.match and table.match.clock else ()


def replay_clock(stream: Iterable[events.Event], table: Table | None = None) -> Table | None:
    """Fold a table with the clock of a battle, from the same events as `fold_game`.

    Args:
        stream: the events of the battle's stream, from its ``source`` on.
        table: the table before these events, if they begin later than the source.

    Returns:
        The table at the end of the battle or of the events; None if the battle doesn't begin.
    """
    for event in stream:
        match event:
            case events.BattleStarted(rules=rules) if table is None:
                table = Table.set_up(BoardSpec("board", rules)).apply(replace(event, number=1))
            case events.Resumed(match=saved) if table is None:
                table = Table.set_up(BoardSpec("board", saved.rules)).apply(event)
            case (
                events.BattleEnded()
                | events.BattleStarted()
                | events.Adjourned()
                | events.Resumed()
                | events.Cleared()
            ):
                break
            case _ if table and isinstance(event, events.TableEvent):
                table = table.apply(event)
    return table


def _apply_event(event: events.TableEvent, table: Table, battle: int | None) -> Table:
    """Return the table after an event, apart from its version. Frequent events come first."""
    # Long: one case for each event, where mypy checks that none is missing.
    match event:
        case events.Moved(move=move):
            match = _require_match(table)
            clock = match.clock and match.clock.pressed(event.at)
            played = match.with_game(match.game.play(move), clock)
            return replace(
                table, match=played, waiting_since=event.at, excused_seconds=0.0, warned_at=None
            )
        case events.OfferLapsed() | events.Declined() | events.Offered():
            return _apply_offer(event, table)
        case events.TakenBack(moves=moves):
            match = _require_match(table)
            game = reduce(lambda game, _: game.undo(), moves, match.game)
            clock = match.clock and match.clock.taken_back(len(moves), event.at)
            back = table.taken_back + len(moves)
            played = match.with_game(game, clock)
            return replace(table, match=played, offers=NO_OFFERS, taken_back=back)
        case events.Absent(since=since, side=side):
            return replace(table, away=MappingProxyType({**table.away, side: since}))
        case events.Returned(side=side):
            return replace(table, away=_without(table.away, side))
        case events.Joined():
            return _apply_joined(event, table)
        case events.Left(side=side):
            seats, away = _without(table.seats, side), _without(table.away, side)
            levels = table.levels.with_level(side, None)
            return replace(table, seats=seats, away=away, levels=levels)
        case events.BattleStarted():
            return _seat_players(table, _begin_match(event, table, battle))
        case events.BattleEnded(outcome=outcome):
            match = _require_match(table)
            ended = replace(match.game, outcome=outcome)
            clock = match.clock and match.clock.advanced_to(event.at)
            match = match.with_game(ended, clock)
            if not event.rated:
                # After a first battle that was too short, the second does not count either.
                match = match.as_unrated(Unrated.TOO_SHORT)
            return replace(table, match=match, offers=NO_OFFERS, waiting_since=event.at)
        case events.ClockHeld(seconds=seconds):
            match = _require_match(table)
            clock = match.clock and match.clock.with_outage(event.at, seconds)
            return replace(table, match=match.with_game(match.game, clock))
        case events.IdleWarned(at=at):
            return replace(table, warned_at=at)
        case events.RulesSet(rules=rules):
            return replace(table, ruleset=RULESETS[rules], match=None, opening=None)
        case events.PositionSet(rules=rules, opening=opening):
            return replace(table, ruleset=RULESETS[rules], match=None, opening=opening)
        case events.TimeSet(time=time):
            return replace(table, time=time)
        case events.Resumed(match=saved):
            restored = _seat_players(table, Match.restored(saved, battle, event.at))
            # Also between two battles: a resumed match is folded from here, without the end of the
            # first battle.
            return replace(restored, waiting_since=event.at, excused_seconds=0.0, warned_at=None)
        case events.Cleared() | events.Adjourned():
            own = table.own_rules
            return Table(
                table.name,
                table.key,
                own,
                own,
                table.quiet_limit,
                table.seat_grace,
                table.idle_limit,
                version=table.version,
            )
        case _:
            assert_never(event)


def _update_waiting(event: events.TableEvent, before: Table, table: Table) -> Table:
    """Update the clock and the idle time of a table with a running battle after an event.

    A player who comes back in their own turn is excused for the absence, up to `LONGEST_GRACE`.
    Without that limit, a player could avoid all claims by coming and going.
    """
    match event:
        case events.TakenBack() | events.ClockHeld():
            return replace(table, waiting_since=event.at, excused_seconds=0.0, warned_at=None)
        case events.BattleStarted() | events.Resumed():
            table = replace(table, waiting_since=event.at, excused_seconds=0.0, warned_at=None)
            if not table.away:
                return table
        case events.Absent() | events.Returned() | events.Joined() | events.Left():
            pass
        case _:
            return table
    match = _require_match(table)
    clock = match.clock and _clock_after_presence_change(match.clock, event, table)
    timed = replace(table, match=match.with_game(match.game, clock))
    if isinstance(event, events.Joined | events.Left):
        # Getting up and sitting down again in one's own turn gains no time.
        if event.side is match.game.turn and before.match and event.player in before.match.players:
            return timed
        return replace(timed, waiting_since=event.at, excused_seconds=0.0, warned_at=None)
    if (
        isinstance(event, events.Returned)
        and event.side is match.game.turn
        and event.side in before.away
    ):
        away = max(0.0, event.at - before.away[event.side])
        return replace(timed, excused_seconds=min(LONGEST_GRACE, table.excused_seconds + away))
    return timed


def _clock_after_presence_change(clock: Clock, event: events.TableEvent, table: Table) -> Clock:
    """Return a clock after a player went away or came back.

    Args:
        clock: the clock before.
        event: the event.
        table: the table after the event.
    """
    away = {side for side in clock.away if side in table.away}
    match event:
        case events.Absent(side=side, parting=parting) if not parting.is_by_server:
            away.add(side)
        case events.BattleStarted() | events.Resumed():
            away.update(table.away)
    at = event.since if isinstance(event, events.Absent) else event.at
    return clock.with_absences(at, away, cut_off=len(away) < len(table.away))


def _apply_offer(
    event: events.Offered | events.OfferLapsed | events.Declined, table: Table
) -> Table:
    offer = event.offer
    if isinstance(event, events.Offered):
        side = table.side_of(event.player)
        if side is None:
            return table  # the player's name has been erased since: the offer is void
        offers = MappingProxyType({**table.offers, offer: side})
        if offer is events.Offer.UNDO:
            return replace(table, offers=offers, undo_moves=event.moves)
        if offer is not events.Offer.BEGIN or side in table.asked_to_begin:
            return replace(table, offers=offers)
        first = MappingProxyType({**table.asked_to_begin, side: event.at})
        return replace(table, offers=offers, asked_to_begin=first)
    left = _without(table.offers, offer)
    if offer is not events.Offer.BEGIN or offer not in table.offers:
        return replace(table, offers=left)
    by = table.offers[offer]  # whoever declines or withdraws it puts the battle off
    puts_off = by.other if isinstance(event, events.Declined) else by
    asked = _without(table.asked_to_begin, puts_off)
    return replace(table, offers=left, asked_to_begin=asked)


def _apply_joined(event: events.Joined, table: Table) -> Table:
    side, player, level = event.side, event.player, event.level
    seats = MappingProxyType({**table.seats, side: player})
    levels = table.levels.with_level(side, level)
    match = table.match.with_player(side, player, level) if table.match else None
    # A newcomer has not waited for an absent opponent yet, so the absence counts from now.
    away = MappingProxyType(
        dict.fromkeys(table.away, event.at) if table.has_match_under_way else dict(table.away)
    )
    return replace(
        table, seats=seats, match=match, away=away, levels=levels, asked_to_begin=NO_TIMES
    )


def _begin_match(event: events.BattleStarted, table: Table, number: int | None) -> Match:
    before, spoilt = (0, 0), None
    if event.number > 1:
        first = _require_match(table)
        spoilt = first.unrated_reason
        before = first.points(Side.TROLL), first.points(Side.DWARF)  # they have swapped seats
    game = Game.start(RULESETS[event.rules], event.opening)
    return Match(
        game,
        events.BattleId(table.key, table.version + 1),
        event.dwarf,
        event.troll,
        event.rated,
        event.number,
        before,
        number=number,
        levels=event.levels,
        clock=(
            Clock(event.time, event.at, game.turn, first_move=event.first_move)
            if event.time
            else None
        ),
        tournament=event.tournament,
        unrated_reason=spoilt,
    )


def _seat_players(table: Table, match: Match) -> Table:
    """Return the table with the players of a match seated; absent players stay absent."""
    seats = {Side.DWARF: match.dwarf, Side.TROLL: match.troll}
    since = {table.seats[side]: at for side, at in table.away.items()}
    away = {side: since[player] for side, player in seats.items() if player in since}
    return replace(
        table,
        ruleset=match.game.ruleset,
        opening=match.opening,
        match=match,
        seats=MappingProxyType(seats),
        offers=NO_OFFERS,
        away=MappingProxyType(away),
        levels=match.levels,
        time=match.time,
        taken_back=0,
        asked_to_begin=NO_TIMES,
    )


def _without(mapping: Mapping[Key, ItemT], key: Key) -> Mapping[Key, ItemT]:
    return MappingProxyType({each: value for each, value in mapping.items() if each is not key})


def _require_match(table: Table) -> Match:
    if table.match is None:
        raise InvalidValueError(f"inconsistent events at the {table.name}: there is no match")
    return table.match


# Checks whether an event can be the next at a table. A host may keep events as lines of text, some
# of which may be lost or changed. Events in a store need no check.


def require_applicable(table: Table, event: events.TableEvent) -> None:
    """Raise InvalidValueError if an event cannot be the next at a table."""
    if problem := _event_problem(table, event):
        raise InvalidValueError(problem)


def require_ply(game: Game | None, event: events.Moved) -> None:
    """Raise InvalidValueError if a ply cannot be the next in a battle."""
    if problem := _ply_problem(game, event):
        raise InvalidValueError(problem)


def _event_problem(table: Table, event: events.TableEvent) -> str | None:
    match event:
        case events.Moved():
            return _ply_problem(table.game, event)
        case events.Joined(player=player, side=side):
            taken = side in table.seats or table.side_of(player)
            return f"{player} has a seat, or the {side.value} seat is taken" if taken else None
        case events.Left() | events.Absent() | events.Returned():
            has_it = table.seats.get(event.side) == event.player
            return None if has_it else f"{event.player} doesn't have the {event.side.value} seat"
        case events.Offered(player=player):
            return None if table.side_of(player) else f"{player} has no seat"
        case events.BattleStarted():
            return _start_problem(table, event)
        case events.BattleEnded(outcome=outcome, plies=plies):
            game = table.game
            ends = game and len(game.moves) == plies and game.outcome in {None, outcome}
            return None if ends else "the end doesn't fit the battle"
        case events.TakenBack(moves=moves):
            game = table.game if table.is_running else None
            last = game.moves[-len(moves) :] if game else ()
            return None if moves == last else "the moves taken back aren't the last ones"
        case events.RulesSet() | events.PositionSet() | events.TimeSet() | events.Resumed():
            return "a match is under way" if table.has_match_under_way else None
        case events.Adjourned(match=saved):
            there = table.match and table.match.saved(saved.clock.at if saved.clock else 0.0)
            return None if saved == there else "the adjourned match isn't the one at the board"
        case events.ClockHeld() | events.IdleWarned():
            return None if table.is_running else "no battle is running"
        case events.OfferLapsed() | events.Declined() | events.Cleared():
            return None
        case _:
            assert_never(event)


def _start_problem(table: Table, event: events.BattleStarted) -> str | None:
    sit = event.dwarf, event.troll
    swapped = event.number > 1
    if (
        event.dwarf == event.troll and not table.has_match_under_way
    ):  # starting a practice takes any free seats
        is_free = set(table.seats.values()) <= {event.dwarf}
        return None if is_free and not swapped else "the seats are taken by others"
    seats = tuple(table.seats.get(side) for side in Side)
    if table.half_played is not swapped:
        return f"battle {event.number} of a match can't begin now"
    if event.rules == table.ruleset.name and event.opening != table.opening:
        return "the opening isn't the one that was set up"
    return (
        None
        if sit == (seats[::-1] if swapped else seats)
        else "the players aren't those in the seats"
    )


def _ply_problem(game: Game | None, event: events.Moved) -> str | None:
    if game is None:
        return "no battle has begun"
    if event.ply != len(game.moves) + 1:
        return f"expected ply {len(game.moves) + 1}, got ply {event.ply}"
    try:
        legal = game.resolve(event.move.attempt(), event.side)
    except IllegalMoveError as refusal:
        return str(refusal)
    return None if legal == event.move else f"expected {legal}, got {event.move}"
