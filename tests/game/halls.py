"""A hall for tests, and helpers for arrivals, commands and departures."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TypeVar, cast

import pytest

from tests.game.conftest import GRACE, NOW
from thudmud.errors import RefusedError
from thudmud.game.archive import (
    AdjournedLookup,
    Battle,
    BattleLookup,
    Lookup,
    LookupNeededError,
    LookupResults,
)
from thudmud.game.command import Command
from thudmud.game.decisions import decide, decide_arrival, decide_departure
from thudmud.game.delivery import Delivery
from thudmud.game.events import Parting, SavedMatch, TableEvent, is_complete
from thudmud.game.hall import Decision, Hall
from thudmud.game.options import Profile, Style
from thudmud.game.projections import HALL
from thudmud.game.table import BoardSpec
from thudmud.rules import Game
from thudmud.store import Store, run_synchronously
from thudmud.store import battles as battle_rows
from thudmud.values import replace

AnswerT = TypeVar("AnswerT")

BOARDS = (
    BoardSpec("oak board"),
    BoardSpec("pine board", style=Style.BRIEF),
    BoardSpec("elm table", "koom valley"),
)


class StoredHall(Hall):
    """A hall that keeps its events in a store in memory."""

    def __init__(self, grace: float = GRACE) -> None:
        super().__init__(BOARDS, 200, grace, idle_limit=grace)
        self._now = 0.0
        self.store = Store.in_memory(clock=lambda: self._now)
        self.version = 0

    def decided(self, player: str, command: Command, now: float) -> list[Decision]:
        """Return the decisions of a command, answering the lookups that it needs."""
        found = LookupResults()
        while True:
            try:
                return decide(self, player, command, now, found)
            except LookupNeededError as unread:
                found.store(unread.lookup, run_synchronously(self.store.look_up(unread.lookup)))

    def commit(self, decision: Decision) -> list[Delivery]:
        """Store the events of a decision, and apply it."""
        if decision.events and not decision.hall:
            self._now = decision.events[0].at
            key, version = self.tables[str(decision.board)].key, decision.version
            run_synchronously(self.store.append_to_board(key, version, decision.events))
            stored = run_synchronously(self.store.read_stream(key, version + 1))
            events = tuple(cast("TableEvent", entry.event) for entry in stored)
            battle = next((entry.battle for entry in stored if entry.battle), None)
            decision = replace(decision, events=events, battle=battle)
        if decision.hall:
            version = decision.hall_version
            run_synchronously(self.store.append({HALL: (version, decision.hall)}))
            self.version = version + len(decision.hall)
        return super().commit(decision)

    def found(self, lookup: Lookup[AnswerT]) -> AnswerT:
        """Return the answer to a lookup."""
        return cast("AnswerT", run_synchronously(self.store.look_up(lookup)))

    @property
    def battles(self) -> list[Battle]:
        """All battles, by number."""
        return list(
            reversed(run_synchronously(self.store.read(battle_rows.history, None, most=10**6)))
        )

    def away(self, player: str = "Anna") -> dict[int, SavedMatch]:
        """Return the adjourned matches of a player by battle number."""
        found = self.found(AdjournedLookup(player))
        return {each.battle.number: each.match for each in found}

    def game(self, number: int) -> Game:
        """Return the game of a battle, up to its latest ply."""
        found = self.found(BattleLookup(number))
        assert found
        assert found.game
        return found.game


def hall_of(*players: str, grace: float = GRACE) -> StoredHall:
    """Return a hall with some guests in it."""
    hall = StoredHall(grace)
    for player in players:
        enter(hall, player)
    return hall


def reopened(hall: StoredHall, *players: str) -> StoredHall:
    """Return a hall restored from the store, from the last complete event of each board."""
    again = StoredHall(hall.seat_grace)
    again.store = hall.store
    for spec in BOARDS:
        stored = run_synchronously(hall.store.read_stream(spec.key))
        events = [(cast("TableEvent", each.event), each.battle) for each in stored]
        complete = [at for at, (event, _) in enumerate(events) if is_complete(event)]
        first = max(complete, default=0)
        again.restore(spec.name, first, events[first:])
    for player in players:
        enter(again, player)
    return again


def commit(hall: Hall, decisions: Iterable[Decision]) -> list[Delivery]:
    return [told for made in decisions for told in hall.commit(made)]


def enter(
    hall: Hall,
    player: str,
    now: float = NOW,
    styles: dict[str, Style] | None = None,
    *,
    member: bool = False,
) -> list[Delivery]:
    return commit(hall, decide_arrival(hall, player, now, Profile(styles or {}), member=member))


def do(hall: StoredHall, player: str, command: Command, now: float = NOW) -> list[Delivery]:
    return commit(hall, hall.decided(player, command, now))


def lose(
    hall: Hall, player: str, now: float = NOW, parting: Parting = Parting.LOST
) -> list[Delivery]:
    return commit(hall, decide_departure(hall, player, parting, now))


def refusal(hall: StoredHall, player: str, command: Command, now: float = NOW) -> Enum:
    with pytest.raises(RefusedError) as refused:
        hall.decided(player, command, now)
    return refused.value.code
