"""A hall restored from the store equals the hall in which the events happened."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import get_args

import pytest

from tests.game.conftest import GRACE
from tests.game.halls import BOARDS, StoredHall, reopened
from thudmud.errors import RefusedError
from thudmud.features.matchmaking.commands import No
from thudmud.features.playing.moves import Adjourn, Claim, End, Play, Resign, Start, Undo
from thudmud.features.playing.resuming import Resume
from thudmud.features.playing.seats import Join, Leave
from thudmud.features.playing.setup import SetClock, SetRules, SetUpLess
from thudmud.features.rooms.commands import Go
from thudmud.game.archive import State
from thudmud.game.clocks import TimeControl
from thudmud.game.command import Command
from thudmud.game.decisions import decide_arrival, decide_departure
from thudmud.game.events import Parting, Resumed, TableEvent
from thudmud.game.hall import Decision
from thudmud.game.match import fold_game
from thudmud.game.more import Quit
from thudmud.game.options import UNKNOWN
from thudmud.game.tables import overdue_events, stop_clock_for_outage
from thudmud.rules import Side, Square

PLAYERS = ("Anna", "Bert", "Carla")
OAK, PINE, _ = (spec.name for spec in BOARDS)
STEPS: dict[str, tuple[tuple[str, Command], ...]] = {
    "sit": (("Anna", Join(Side.DWARF, OAK)), ("Bert", Join(Side.TROLL, OAK))),
    "swap": (("Bert", Join(Side.DWARF, PINE)), ("Carla", Join(Side.TROLL, PINE))),
    "begin": (("Anna", Start(OAK)),),
    "begin there": (("Carla", Start(PINE)),),
    "begin anew": (("Anna", Start(OAK)), ("Bert", Start(OAK))),
    "undo": (("Anna", Undo(OAK)), ("Bert", Undo(OAK))),
    "decline": (("Anna", Undo(OAK)), ("Bert", No(OAK))),
    "end": (("Anna", End(OAK)), ("Bert", End(OAK))),
    "resign": (("Anna", Resign(OAK)),),
    "claim": (("Anna", Claim(OAK)), ("Bert", Claim(OAK))),
    "adjourn": (("Anna", Adjourn(OAK)), ("Bert", Adjourn(OAK))),
    "adjourn there": (("Bert", Adjourn(PINE)), ("Carla", Adjourn(PINE))),
    "meet": (("Anna", Go(PINE)), ("Bert", Go(PINE)), ("Carla", Go(PINE))),
    "meet again": (("Anna", Go(OAK)), ("Bert", Go(OAK)), ("Carla", Go(OAK))),
    "resume": (("Anna", Resume()), ("Bert", Resume()), ("Bert", Resume(1)), ("Bert", Resume(2))),
    "push in": (("Carla", Join(Side.DWARF, OAK)), ("Carla", Join(Side.TROLL, OAK))),
    "leave": (("Anna", Leave(OAK)), ("Bert", Leave(OAK))),
    "leave there": (("Carla", Leave(PINE)),),
    "rules": (
        ("Anna", SetRules("classic", OAK)),
        ("Anna", SetUpLess((Square.parse("G7"),), Side.TROLL, OAK)),
    ),
    "play by a clock": (
        ("Bert", Join(Side.DWARF, PINE)),
        ("Carla", Join(Side.TROLL, PINE)),
        ("Bert", SetClock(TimeControl(2, 1), PINE)),
        ("Bert", Start(PINE)),
    ),
    "quit": (("Bert", Quit()),),
}
DEEDS = [
    *STEPS,
    *(f"{player} is lost" for player in PLAYERS),
    *["all come"] * 3,
    *["move"] * 6,
    *["time", "restart", "undo", "decline"] * 2,
]
WAITS = [0.0, 0.0, 0.0, 1.0, GRACE]
SEEDS = 40


class Witness:
    """A hall, and the events of all its boards in order."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)  # noqa: S311 (no secret)
        self.hall = StoredHall()
        self.events: list[tuple[str, int, TableEvent]] = []
        self.now = 0.0
        self.do("all come")

    def do(self, deed: str) -> None:
        self.now += 1.0
        if deed == "all come":
            for player in PLAYERS:
                if player not in self.hall.people:
                    self.commit(decide_arrival(self.hall, player, self.now, UNKNOWN, member=False))
        elif deed == "move":
            self.move()
        elif deed in {"time", "restart"}:
            self.wait(deed)
        elif deed in STEPS:
            for player, command in STEPS[deed]:
                self.obey(player, command)
        elif (player := deed.partition(" ")[0]) in self.hall.people:
            self.commit(decide_departure(self.hall, player, Parting.LOST, self.now))

    def move(self) -> None:
        """Play a random legal ply at one of the boards."""
        table = self.hall.tables[self.chance.choice([OAK, OAK, PINE])]
        if table.game and table.is_running:
            move = self.chance.choice(table.game.legal_moves())
            player = table.seats.get(table.game.position.turn, "nobody")
            self.obey(player, Play(move.attempt(), table.name))

    def wait(self, deed: str) -> None:
        """Apply the events due by now, or hold the clocks for a short outage."""
        for name in (OAK, PINE):
            table = self.hall.tables[name]
            gone = [(self.now - 1.0, self.now)]
            events = (
                overdue_events(table, self.now)
                if deed == "time"
                else stop_clock_for_outage(table, gone, self.now)
            )
            self.commit([Decision("", name, table.version, events)])

    def obey(self, player: str, command: Command) -> None:
        if player in self.hall.people:
            try:
                decisions = self.hall.decided(player, command, self.now)
            except RefusedError:
                return
            self.commit(decisions)

    def commit(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            for told in self.hall.commit(decision):
                if isinstance(told.event, TableEvent) and told.table:
                    self.events.append((str(decision.board), told.table.version, told.event))


def happens(seed: int) -> Iterator[Witness]:
    """Perform random deeds, and yield the hall after each."""
    witness = Witness(seed)
    for deed in ("sit", "begin"):
        witness.do(deed)
    for _ in range(SEEDS):
        witness.now += witness.chance.choice(WAITS)
        witness.do(witness.chance.choice(DEEDS))
        yield witness


seeds = pytest.mark.parametrize("seed", range(SEEDS))


@seeds
def test_reopened_hall_equals_the_original(seed: int) -> None:
    for witness in happens(seed):
        hall, again = witness.hall, reopened(witness.hall)
        assert again.tables == hall.tables
        assert again.missed == hall.missed


@seeds
def test_battles_are_all_restored_from_the_store(seed: int) -> None:
    """Includes battles that were adjourned, resumed or taken back in between."""
    *_, witness = happens(seed)
    assert witness.hall.battles
    for battle in witness.hall.battles:
        stored = [
            event
            for board, version, event in witness.events
            if board == battle.source.board and version >= battle.source.version
        ]
        game = fold_game(stored[: battle.length])
        assert (game.outcome is not None) is (battle.state is State.ENDED)
        assert battle.plies in {None, len(game.moves)}
        assert witness.hall.game(battle.number) == game
    for table in witness.hall.tables.values():
        if table.match and table.match.number:
            assert witness.hall.game(table.match.number) == table.match.game


@seeds
def test_battle_is_at_one_table_or_adjourned_but_never_both(seed: int) -> None:
    for witness in happens(seed):
        matches = [table.match for table in witness.hall.tables.values() if table.match]
        away = {
            match.battle_id for player in PLAYERS for match in witness.hall.away(player).values()
        }
        began = [match.battle_id for match in matches]
        assert len({*began, *away}) == len(began) + len(away)
        battles = {battle.number: battle for battle in witness.hall.battles}
        running = [each.id for each in battles.values() if each.state is State.RUNNING]
        assert sorted(running) == sorted(match.battle_id for match in matches if match.is_running)
        for match in matches:
            assert match.number
            assert battles[match.number].id == match.battle_id


def test_scenarios_cover_every_event_type() -> None:
    """Guards the properties above against scenarios that miss an event type."""
    seen: set[tuple[type, str]] = set()
    for seed in range(SEEDS):
        *_, witness = happens(seed)
        seen.update((type(event), board) for board, _, event in witness.events)
    assert {event for event, _ in seen} == set(get_args(TableEvent))
    assert {board for event, board in seen if event is Resumed} == {OAK, PINE}
