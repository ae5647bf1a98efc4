"""Tournaments by themselves: rounds, boards, absences, pauses; restarts, and several nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest

from tests.service.place import until
from tests.service.stores import SlowStore
from tests.service.test_timing import TimedPlace
from thudmud.play.events import (
    BattleStarted,
    PairingBegun,
    PairingScored,
    RoundPaired,
    TournamentEnd,
)
from thudmud.play.projections import HALL
from thudmud.play.tournaments import Tournament, TournamentState
from thudmud.service import Node

NAMES = ("Anna", "Bert", "Carl", "Dora")
SOON = "starts in 1 minute"


class Cup(TimedPlace):
    """A place with tournaments, in which somebody always resigns."""

    def __init__(self, store: SlowStore, node: Node | None = None) -> None:
        super().__init__(store, node)
        self.hall.caps = replace(self.hall.caps, rest=60.0, grace=300.0)

    @property
    def one(self) -> Tournament:
        """The last tournament."""
        return self.hall.tournaments[self.hall.last_tournament]

    async def announce(self, terms: str, *names: str, by: str = "Anna") -> None:
        """Announce a tournament, and let players enter it."""
        await self.type(by, f"tournament new {terms}")
        for name in names:
            await self.type(name, f"enter {self.hall.last_tournament}")

    async def settled(self) -> None:
        """Wait until nothing is left to do at once."""
        await until(lambda: not (self.service.director.due or self.service.director.is_working))

    async def pass_by(self, seconds: float) -> None:
        """Let time pass, and what is due meanwhile be done."""
        self.wait(seconds)
        await self.settled()

    async def begin_round(self) -> None:
        """Let the next round begin."""
        await self.pass_by(61.0)
        await until(lambda: all(each.key for each in self.one.open.values()))
        await self.settled()

    async def resigns(self, *losers: str) -> None:
        """Let players resign both battles of their matches."""
        for loser in losers:
            match = self.one.match_of(loser)
            assert match
            table = self.hall.tables.with_key(match.key)
            assert table
            assert table.running
            for _ in range(2):
                await self.type(loser, f"resign on {table.name}")
        await self.settled()

    async def play_round(self) -> None:
        """Play all matches of a round: whoever comes first in the alphabet wins."""
        await self.begin_round()
        await self.resigns(*(max(each.players) for each in self.one.open.values()))

    async def of_hall(self, kind: type) -> list[object]:
        """Return the events of a kind of the hall."""
        return [each.event for each in await self.store.read(HALL) if type(each.event) is kind]


@pytest.fixture
async def cup(store: SlowStore) -> Cup:
    place = Cup(store)
    await place.open()
    await place.enter(*NAMES, member=True)
    return place


def met(rounds: list[object]) -> Counter[frozenset[str]]:
    """Return how often each two were paired."""
    return Counter(
        frozenset(pair)
        for each in rounds
        if isinstance(each, RoundPaired)
        for pair in each.pairs
        if pair[1]
    )


async def test_a_round_robin_goes_by_itself_from_its_start_to_its_end(cup: Cup) -> None:
    await cup.announce(f'round robin 10+5 classic "Thursday" {SOON}', *NAMES)
    assert cup.one.state is TournamentState.OPEN
    for _ in range(3):
        await cup.play_round()
    await cup.pass_by(61.0)
    end = cup.one.end
    assert end
    assert (end.why, end.players, end.places) == (TournamentEnd.OVER, NAMES, (1, 2, 3, 4))
    pairs = met(await cup.of_hall(RoundPaired))
    assert pairs == {frozenset(pair): 1 for pair in combinations(NAMES, 2)}
    kinds = [BattleStarted, PairingBegun, PairingScored]
    assert [len(await cup.of_hall(kind)) for kind in kinds] == [0, 6, 12]
    battles = await cup.store.history(None, most=100)
    assert len(battles) == 12
    assert {each.event for each in battles} == {"Thursday"}
    assert Counter(each.tournament.round for each in battles if each.tournament) == {
        1: 4, 2: 4, 3: 4
    }  # fmt: skip
