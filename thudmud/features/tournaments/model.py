"""The state of tournaments, folded from their events.

`thudmud.features.tournaments.directing` decides what happens in a tournament, and when.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple, assert_never

from msgspec import field

from thudmud.errors import InvalidValueError
from thudmud.features.tournaments.pairing import (
    Entrant,
    MatchResult,
    Pairing,
    field_size,
    rounds_of,
)
from thudmud.game import events
from thudmud.game.archive import MIDDLE, Lookup
from thudmud.game.delivery import Delivery
from thudmud.game.events import BattleScore, HallEvent, TournamentKind
from thudmud.game.hall import Hall, HallPart, handles
from thudmud.game.table import Table
from thudmud.values import Value, replace


class TournamentRefusal(Enum):
    """Reasons for refusing a command about tournaments. The values are a stable interface."""

    NO_TOURNAMENTS = "no_tournaments"
    NO_SUCH_TOURNAMENT = "no_such_tournament"
    TOURNAMENT_OVER = "tournament_over"
    TOURNAMENTS_TOO_MANY = "tournaments_too_many"
    TOURNAMENTS_BY_DAYS_TOO_MANY = "tournaments_by_days_too_many"
    TOURNAMENT_OF_YOURS = "tournament_of_yours"
    TOURNAMENTS_BY_MEMBERS = "tournaments_by_members"
    TOURNAMENTS_BY_OPERATORS = "tournaments_by_operators"
    TOURNAMENT_HAS_NO_ROUNDS = "tournament_has_no_rounds"
    TOURNAMENT_HAS_NO_LENGTH = "tournament_has_no_length"
    TOURNAMENT_HAS_NO_LIMIT = "tournament_has_no_limit"
    TOURNAMENT_ROUNDS = "tournament_rounds"
    TOURNAMENT_TOO_LONG = "tournament_too_long"
    TOURNAMENT_TITLE_TOO_LONG = "tournament_title_too_long"
    TOURNAMENT_IN_THE_PAST = "tournament_in_the_past"
    TOURNAMENT_TOO_LATE = "tournament_too_late"
    ARENA_BY_DAYS = "arena_by_days"
    TOURNAMENT_BEGUN = "tournament_begun"
    TOURNAMENT_FULL = "tournament_full"
    TOURNAMENT_FOR_MEMBERS = "tournament_for_members"
    IN_TOURNAMENT_ALREADY = "in_tournament_already"
    LEFT_TOURNAMENT = "left_tournament"
    REMOVED_FROM_TOURNAMENT = "removed_from_tournament"
    NOT_IN_TOURNAMENT = "not_in_tournament"
    ENTERS_BOTS_ONLY = "enters_bots_only"
    NOT_YOUR_TOURNAMENT = "not_your_tournament"
    TOURNAMENT_PAUSED = "tournament_paused"
    TOURNAMENT_NOT_PAUSED = "tournament_not_paused"


class TournamentLimits(NamedTuple):
    """The limits of tournaments, as in the settings.

    Attributes:
        most: the most tournaments that aren't over.
        players: the most players of a tournament.
        players_per_address: the most of these from one address.
        by: who may announce tournaments: "everybody", "members" or "operators".
        grace: seconds within which a player must come to a match.
        rest: seconds between the battles of a match, and between rounds.
    """

    most: int = 5
    players: int = 128
    players_per_address: int = 16
    by: str = "everybody"
    grace: float = 300.0
    rest: float = 60.0


class TournamentState(Enum):
    """The state of a tournament."""

    OPEN = "open"
    """Open for entries; the first round isn't paired yet."""
    RUNNING = "running"
    PAUSED = "paused"
    OVER = "over"
    CANCELLED = "cancelled"


class OpenMatch(Value):
    """A match of a round that isn't over.

    Attributes:
        round: the number of the round.
        index: the place in the round, from 0.
        first: the player with the dwarfs in the first battle.
        second: the player with the trolls in the first battle.
        key: the key of the board; "" until the match begins.
        battles: the scores of the battles so far.
        numbers: the numbers of the battles in the archive, if known.
    """

    round: int
    index: int
    first: str
    second: str
    key: str = ""
    battles: tuple[BattleScore, ...] = ()
    numbers: tuple[int | None, ...] = ()

    @property
    def players(self) -> tuple[str, str]:
        """Both players."""
        return self.first, self.second


_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Tournament(Value):
    """The state of a tournament.

    Attributes:
        made: the announcement, with all terms.
        entrants: all players, including those who have left, in order of entry.
        entries: their entries, by name.
        rounds: the pairings of all rounds so far.
        open: the matches that aren't over, by round and place in it.
        missed: the number of consecutive matches missed, by name; players without any are left
            out.
        waiting: since when a player has had no match, by name.
        paired: when the last round was paired, in seconds since the epoch.
        changed: when the last match ended, or the tournament was continued after a pause.
        paused: whether the tournament is paused.
        resumes: when a pause ends by itself; None for never.
        removed: players removed, who can't enter again, with the player who did it.
        end: the end; None if the tournament hasn't ended.
    """

    made: events.TournamentMade
    entrants: tuple[Entrant, ...] = ()
    entries: Mapping[str, events.TournamentEntered] = field(default_factory=lambda: _NOTHING)
    rounds: tuple[tuple[Pairing, ...], ...] = ()
    open: Mapping[tuple[int, int], OpenMatch] = field(default_factory=lambda: _NOTHING)
    missed: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    waiting: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    paired: float = 0.0
    changed: float = 0.0
    paused: bool = False
    resumes: float | None = None
    removed: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    end: events.TournamentEnded | None = None

    @property
    def number(self) -> int:
        """The number of the tournament."""
        return self.made.number

    @property
    def kind(self) -> TournamentKind:
        """The pairing system."""
        return self.made.kind

    @property
    def name(self) -> str:
        """The title, or the number if there is no title, as text."""
        return events.tournament_name(self.number, self.made.title)

    @property
    def state(self) -> TournamentState:
        """The state of the tournament."""
        if self.end:
            is_over = self.end.why is events.TournamentEnd.OVER
            return TournamentState.OVER if is_over else TournamentState.CANCELLED
        if self.paused:
            return TournamentState.PAUSED
        return TournamentState.RUNNING if self.rounds else TournamentState.OPEN

    @property
    def is_by_days(self) -> bool:
        """Whether matches are by correspondence, so that nobody has to be online."""
        return self.made.time.is_correspondence

    @property
    def is_arena(self) -> bool:
        """Whether the tournament is an arena."""
        return self.kind is TournamentKind.ARENA

    @property
    def rounds_in_all(self) -> int | None:
        """The number of rounds, which depends on the entrants so far; None for an arena.

        Late entrants don't count: once the first round is paired, the number is fixed.
        """
        return rounds_of(self.kind, field_size(self.entrants), self.made.rounds or None)

    @property
    def ends(self) -> float | None:
        """When an arena ends, and pairs no more, in seconds since the epoch; else None."""
        return self.made.starts + self.made.seconds if self.is_arena else None

    @property
    def playing(self) -> tuple[str, ...]:
        """The players who take part in the next round, in order of entry."""
        following = len(self.rounds) + 1
        return tuple(each.player for each in self.entrants if each.plays(following))

    def entrant(self, name: str) -> Entrant | None:
        """Return the entrant called ``name``, ignoring case; None if there is none."""
        lower = name.lower()
        return next((each for each in self.entrants if each.player.lower() == lower), None)

    def match_of(self, player: str) -> OpenMatch | None:
        """Return the open match of a player, if there is one."""
        return next((each for each in self.open.values() if player in each.players), None)

    def match_at(self, key: str) -> OpenMatch | None:
        """Return the open match at the board with the given key; None if there is none."""
        return next((each for each in self.open.values() if each.key == key), None)

    def apply(self, event: events.TournamentEvent) -> Tournament:
        """Return the tournament after an event."""
        match event:
            case events.TournamentMade():
                return self
            case events.TournamentEntered(player=player, at=at):
                rating = MIDDLE if event.rating is None else event.rating
                entrant = Entrant(player, float(rating), len(self.rounds) + 1)
                return replace(
                    self,
                    entrants=(*self.entrants, entrant),
                    entries=_with(self.entries, player, event),
                    waiting=_with(self.waiting, player, at),
                )
            case events.TournamentLeft(player=player, why=events.TournamentLeaving.REMOVED, by=by):
                return replace(self._left(player), removed=_with(self.removed, player, by))
            case events.TournamentLeft(player=player):
                return self._left(player)
            case events.RoundPaired():
                return self._paired(event)
            case events.PairingBegun(round=number, index=index, key=key):
                match = self.open.get((number, index))
                if match is None:
                    return self
                return replace(
                    self, open=_with(self.open, (number, index), replace(match, key=key))
                )
            case events.PairingScored():
                return self._with_score(event)
            case events.TournamentPaused(until=until):
                return replace(self, paused=True, resumes=until)
            case events.TournamentContinued(at=at):
                return replace(self, paused=False, resumes=None, changed=at)
            case events.TournamentEnded():
                return replace(self, end=event, paused=False, resumes=None)
            case _:
                assert_never(event)

    def _left(self, player: str) -> Tournament:
        """Return the tournament after a player has left; a match under way goes on."""
        if not self.rounds:
            return self._without_entrants({player})
        gone = len(self.rounds) + 1
        return replace(
            self,
            entrants=tuple(
                replace(each, left=gone) if each.player == player else each
                for each in self.entrants
            ),
        )

    def _without_entrants(self, players: Collection[str]) -> Tournament:
        """Return the tournament as if some players had never entered."""
        entrants = tuple(each for each in self.entrants if each.player not in players)
        entries = {name: each for name, each in self.entries.items() if name not in players}
        return replace(self, entrants=entrants, entries=MappingProxyType(entries))

    def _paired(self, event: events.RoundPaired) -> Tournament:
        """Return the tournament after a round was paired, without entrants who missed the start."""
        if event.missing:
            return self._without_entrants(event.missing).apply(replace(event, missing=()))
        pairings = tuple(Pairing(first, second or None) for first, second in event.pairs)
        opened = {
            (event.round, index): OpenMatch(event.round, index, first, second)
            for index, (first, second) in enumerate(event.pairs)
            if second
        }
        byes = {first: event.at for first, second in event.pairs if not second}
        return replace(
            self,
            rounds=(*self.rounds, pairings),
            open=MappingProxyType({**self.open, **opened}),
            waiting=MappingProxyType({**self.waiting, **byes}),
            paired=event.at,
            changed=event.at,
        )

    def _with_score(self, event: events.PairingScored) -> Tournament:
        """Return the tournament after the score of a battle, which may end the match."""
        place = event.round, event.index
        match = self.open.get(place)
        if match is None:
            return self
        if not event.is_over:
            scored = replace(match, battles=event.battles, numbers=event.numbers)
            return replace(self, open=_with(self.open, place, scored))
        absent = tuple(each for each, away in zip(match.players, event.absent, strict=True) if away)
        result = MatchResult(event.battles, absent, event.numbers)
        over = Pairing(match.first, match.second, result)
        pairings = self.rounds[event.round - 1]
        pairings = (*pairings[: event.index], over, *pairings[event.index + 1 :])
        before, after = self.rounds[: event.round - 1], self.rounds[event.round :]
        missed = {each: self.missed.get(each, 0) + 1 for each in absent}
        others = {each: count for each, count in self.missed.items() if each not in match.players}
        return replace(
            self,
            rounds=(*before, pairings, *after),
            open=_without(self.open, place),
            missed=MappingProxyType({**others, **missed}),
            waiting=MappingProxyType({**self.waiting, **dict.fromkeys(match.players, event.at)}),
            changed=event.at,
        )


def rest_in(tournament: Tournament, hall: Hall) -> float:
    """Return the seconds between battles, and between rounds; 0 by correspondence."""
    return 0.0 if tournament.is_by_days else hall.limits(TournamentLimits).rest


def second_battle_due(table: Table, tournament: Tournament, hall: Hall) -> float | None:
    """Return when the second battle of a match begins by itself; None if none is to begin."""
    if not table.half_played or tournament.paused:
        return None
    clock = table.match.clock if table.match else None
    ended = clock.at if clock else table.waiting_since
    return ended + rest_in(tournament, hall)


def folded(stream: Iterable[events.TournamentEvent]) -> Tournament:
    """Fold a tournament from its events.

    Raises:
        InvalidValueError: the first event isn't an announcement.
    """
    following = iter(stream)
    made = next(following, None)
    if not isinstance(made, events.TournamentMade):
        raise InvalidValueError(f"no tournament begins with {made}")
    tournament = Tournament(made, changed=made.at)
    for event in following:
        tournament = tournament.apply(event)
    return tournament


def _with(mapping: Mapping[Any, Any], key: object, value: object) -> Mapping[Any, Any]:
    return MappingProxyType({**mapping, key: value})


def _without(mapping: Mapping[Any, Any], key: object) -> Mapping[Any, Any]:
    return MappingProxyType({each: value for each, value in mapping.items() if each != key})


# Tournaments that are over.


class PastTournament(NamedTuple):
    """The summary of a tournament that is over.

    Attributes:
        number: the number of the tournament.
        title: the title; "" for none.
        kind: the kind.
        rules: the name of the ruleset.
        time: the time control, as text.
        ended: when the tournament ended, in seconds since the epoch.
        why: why it ended.
        entrants: the number of players.
        winner: the first player in the standings; "" for none.
    """

    number: int
    title: str
    kind: TournamentKind
    rules: str
    time: str
    ended: float
    why: events.TournamentEnd
    entrants: int
    winner: str


class PastTournaments(NamedTuple):
    """A page of the ended tournaments, latest first, and their total number."""

    tournaments: tuple[PastTournament, ...]
    in_all: int


class TournamentLookup(Lookup["Tournament | None"]):
    """Look up the tournament with the given number; None if there is none."""

    number: int


class TournamentsLookup(Lookup[PastTournaments]):
    """Look up a page, from 1, of the tournaments that are over."""

    page: int = 1


ENDED_KEPT = 10
"""The most tournaments that stay in memory after their end."""


@handles(*events.TOURNAMENTS)
class TournamentRegister(HallPart):
    """The tournaments of a hall.

    Args:
        going_on: the tournaments that aren't over.
        last: as the attribute.

    Attributes:
        known: the tournaments that aren't over, and the last to end, by number.
        last: the number of the last tournament that was announced; 0 for none.
    """

    WHY_KEPT = "has entered or announced a tournament that is not over"

    def __init__(self, going_on: Iterable[Tournament] = (), last: int = 0) -> None:
        self.known = {each.number: each for each in going_on}
        self.last = last

    @property
    def going_on(self) -> list[Tournament]:
        """The tournaments that aren't over."""
        return [each for each in self.known.values() if not each.end]

    def of(self, name: str) -> list[Tournament]:
        """Return the tournaments that aren't over in which a player takes part."""
        if not self.known:
            return []
        return [each for each in self.going_on if name in each.playing]

    def players(self) -> Iterable[str]:
        for each in self.going_on:
            yield from (each.made.player, *each.playing)

    def protected_players(self) -> Iterable[str]:
        for each in self.going_on:
            yield from (each.made.player, *(entrant.player for entrant in each.entrants))

    def past_players(self) -> Iterable[str]:
        return {each.made.player for each in self.known.values() if each.end}

    def forget(self, player: str) -> None:
        """Drop ended tournaments of a player whose titles were erased.

        When needed again, they are read from the store, without titles.
        """
        for each in [each for each in self.known.values() if each.end]:
            if each.made.player == player:
                del self.known[each.number]

    def apply(self, event: HallEvent, hall: Hall) -> list[Delivery]:
        """Apply an event of a tournament; address it to the hall and to the players concerned."""
        assert isinstance(event, events.TOURNAMENTS)  # noqa: S101  (as registered)
        number, before = event.number, self.known.get(event.number)
        if isinstance(event, events.TournamentMade):
            self.last = max(self.last, number)
            after = Tournament(event, changed=event.at)
        elif before is None or before.end:
            return []
        else:
            after = before.apply(event)
        if after.end:  # to the end of the dict: the earliest ended are dropped first
            del self.known[number]
        self.known[number] = after
        ended = [each.number for each in self.known.values() if each.end]
        for each in ended[:-ENDED_KEPT]:
            del self.known[each]
        match event:
            case events.TournamentMade(player=player):
                return [Delivery(event, hall.seek_recipients(player, ""))]
            case events.PairingBegun() | events.PairingScored():
                concerned: tuple[str, ...] = event.first, event.second
            case events.TournamentEntered() | events.TournamentLeft():
                concerned = event.player, after.made.player
            case _:
                concerned = *after.entries, after.made.player, event.player
        here = (*hall.people_in(None), *(each for each in concerned if each in hall.people))
        return [Delivery(event, tuple(dict.fromkeys(here)))]
