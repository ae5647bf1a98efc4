"""A hall made again of its state, whole or not at all.

Whatever was kept may have been damaged, or written by somebody else, so it is checked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType

from thudmud.play.archive import Archive, State
from thudmud.play.asides import Replayed
from thudmud.play.commands import Style
from thudmud.play.events import BATTLES, Offer, SavedMatch, require_name, require_time
from thudmud.play.hall import Hall, Person
from thudmud.play.lines import ReadLines, require_playable
from thudmud.play.match import Match
from thudmud.play.standings import Standings
from thudmud.play.state import (
    ArchiveState,
    GameState,
    HallState,
    LineState,
    MatchState,
    MissedState,
    PersonState,
    Styles,
    TableState,
)
from thudmud.play.table import Table
from thudmud.rules import RULESETS, Side


def hall_of(state: HallState) -> Hall:
    """Return the hall whose state this is.

    Raises:
        ValueError: no hall has such a state; it says why.
    """
    names = [spec.name for spec in state.boards]
    _require(names and len(set(names)) == len(names), "boards need names of their own")
    _require(len(state.tables) == len(names), "there are other boards than tables")
    _require(min(state.quiet_plies, state.seat_grace, state.most_games) >= 0, "a limit is below 0")
    return _Restorer(state).hall


class _Restorer:
    """Makes a hall of a state, part by part."""

    def __init__(self, state: HallState) -> None:
        self._lines = ReadLines(state.lines, _games(state))
        hall = self.hall = Hall(state.boards, state.quiet_plies, state.seat_grace, state.most_games)
        hall.archive = _archive(state.archive)
        for name, table in zip(list(hall.tables), state.tables, strict=True):
            hall.put(name, self._table(hall.tables[name], table))
        _require_different((person.name.lower() for person in state.people), "players")
        _require_different((person.name for person in state.left), "players who are gone")
        for person in state.people:
            hall.take_in(self._person(person))
        for left in state.left:
            require_name(left.name)
            _require(left.name not in hall.people, f"{left.name} is here and is not")
            if not hall.seats_of(left.name):
                continue  # states were written once that still held who had lost the seat
            styles, options = _styles(left.styles), left.options
            hall.left[left.name] = Person(left.name, styles=styles, options=options)
        for missed in state.missed:
            self._take_missed(missed)
        self._require_agreement()
        hall.standings = Standings(hall.archive)
        while hall.standings.rate():
            pass
        self._take_games(state.games)

    def _table(self, table: Table, state: TableState) -> Table:
        _require(state.rules in RULESETS, f"there are no {state.rules!r:.50} rules")
        seats, away, offers = dict(state.seats), dict(state.away), dict(state.offers)
        _require(len(seats) == len(state.seats), f"a seat of the {table.name} is taken twice")
        _require_different(seats.values(), f"players at the {table.name}")
        for holder in seats.values():
            require_name(holder)
        for since in away.values():
            require_time(since)
        _require(len(away) == len(state.away) and away.keys() <= seats.keys(), "who is away?")
        _require(len(offers) == len(state.offers), "an offer stands twice")
        _require(set(offers.values()) <= seats.keys(), "nobody has made an offer")
        match = self._match(state.match) if state.match else None
        if match:
            _require(match.game.ruleset is RULESETS[state.rules], "a match is by other rules")
        if Offer.UNDO in offers:
            _require(match and _last_ply(match, offers[Offer.UNDO]), "no ply can be taken back")
        return replace(
            table,
            version=_natural(state.version),
            ruleset=RULESETS[state.rules],
            seats=MappingProxyType(seats),
            away=MappingProxyType(away),
            offers=MappingProxyType(offers),
            match=match,
        )

    def _match(self, state: MatchState) -> Match:
        for player in (state.dwarf, state.troll):
            require_name(player)
        return Match(
            self._lines.game(state.game),
            state.began,
            state.dwarf,
            state.troll,
            state.rated,
            state.battle,
            state.before,
        )

    def _person(self, state: PersonState) -> Person:
        require_name(state.name)
        for place in (state.room, state.used):
            _require(place is None or place in self.hall.tables, f"there is no {place!r:.50}")
        replay = None
        if state.replay:
            game = self._lines.game(state.replay.game)
            last = len(game.moves) - state.replay.playing  # what is over does not go on by itself
            _require(0 <= state.replay.ply <= last, "there is no such ply to be seen")
            number = state.replay.number
            _require(self.hall.archive.battle(number), f"there was no battle {number}")
            replay = Replayed(state.name, number, game, state.replay.ply, state.replay.playing)
        return Person(
            state.name,
            state.member,
            state.room,
            state.used,
            _styles(state.styles),
            state.options,
            replay,
        )

    def _take_missed(self, state: MissedState) -> None:
        table = self.hall.tables.get(state.board)
        place = (state.board, state.side)
        if table is None or state.side not in table.away:
            raise ValueError("nobody is away who has missed something")
        _require(place not in self.hall.missed, "somebody has missed the same twice")
        events = [(event, self._table(table, after)) for event, after in state.events]
        versions = [after.version for _, after in events]
        in_order = sorted(set(versions)) == versions and versions[-1:] <= [table.version]
        _require(in_order, "what somebody has missed is out of order")
        self.hall.missed[place] = events

    def _require_agreement(self) -> None:
        """Refuse a board where something else goes on than in the archive."""
        archive = self.hall.archive
        for table in self.hall.tables.values():
            number = archive.boards.get(table.name)
            known = archive.battles[number - 1].id if number else None
            began = table.match.began if table.match else None
            if known or (began and archive.number_of(began)):
                _require(known == began, f"the battle at the {table.name} is another one")
        for place in (place for each in archive.battles for place in (each.id, each.source)):
            at = self.hall.tables.get(place.board)
            _require(at is None or place.version <= at.version, f"{place} has not been yet")

    def _take_games(self, games: Iterable[tuple[int, GameState]]) -> None:
        for number, state in games:
            battle = self.hall.archive.battle(number)
            if battle is None or number in self.hall.games:
                raise ValueError(f"a battle {number} is kept that was none")
            game = self.hall.games[number] = self._lines.game(state)
            fits = game.ruleset.name == battle.rules and battle.plies in (None, len(game.moves))
            _require(fits, f"battle {number} is kept as another one")
        _require(len(self.hall.games) <= self.hall.most_games, "too many battles are kept")


def _games(state: HallState) -> Iterator[GameState]:
    """Yield all battles of a state."""
    tables = [*state.tables, *(table for each in state.missed for _, table in each.events)]
    yield from (table.match.game for table in tables if table.match)
    yield from (person.replay.game for person in state.people if person.replay)
    yield from (game for _, game in state.games)


def _last_ply(match: Match, side: Side) -> bool:
    """Whether a side has played a ply that is on the board."""
    return len(match.game.moves) > (match.game.position.turn is side)


def _archive(state: ArchiveState) -> Archive:
    numbers = range(1, len(state.battles) + 1)
    _require([each.number for each in state.battles] == [*numbers], "battles are out of order")
    _require_different((each.id for each in state.battles), "battles")
    _require(all(each.rules in RULESETS for each in state.battles), "a battle has unknown rules")
    _require_different(state.ended, "battles that ended")
    _require_different((board for board, _ in state.boards), "boards with a battle")
    _require_different((number for number, _ in state.adjourned), "matches put away")
    for battle in state.battles:
        require_time(battle.at)
        _require(1 <= battle.part <= BATTLES, "a match has two battles")
    mentioned = [number for pairs in (state.boards, state.former) for _, number in pairs]
    mentioned += [*state.ended, *(number for number, _ in state.adjourned)]
    _require(set(mentioned) <= set(numbers), "a battle is missing")
    for number in state.ended:
        _require(state.battles[number - 1].state is State.ENDED, f"battle {number} has not ended")
    for number, match in state.adjourned:
        _require(match.began == state.battles[number - 1].id, f"battle {number} is another one")
        _require_saved(match)
    boards, adjourned = dict(state.boards), dict(state.adjourned)
    return Archive(state.battles, state.ended, boards, adjourned, state.former)


def _require_saved(match: SavedMatch) -> None:
    """Refuse a match that cannot be gone on with."""
    require_playable(LineState(match.rules, match.moves))


def _styles(pairs: Styles) -> dict[str, Style]:
    _require_different((board for board, _ in pairs), "styles")
    return dict(pairs)


def _natural(number: int) -> int:
    _require(number >= 0, f"{number} is below 0")
    return number


def _require_different(values: Iterable[object], what: str) -> None:
    found = list(values)
    _require(len(set(found)) == len(found), f"two {what} are the same")


def _require(fact: object, sentence: str) -> None:
    if not fact:
        raise ValueError(sentence)
