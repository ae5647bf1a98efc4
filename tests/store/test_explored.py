"""Explorer statistics equal a plain count over all battles."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import SOAKING
from tests.rules.test_random_play import LEFT_TO_RIGHT, SYMMETRIES, Turning, turn_position
from tests.store.deeds import NOON, is_in_order
from thudmud.features.explorer import storage
from thudmud.features.explorer.model import (
    COUNTED_PLIES,
    MOST_TOLD,
    ExploreLookup,
    PositionStatistics,
    is_better,
)
from thudmud.features.explorer.storage import explored_rows
from thudmud.game.archive import Battle, BattleLookup, State
from thudmud.game.events import (
    Adjourned,
    BattleEnded,
    BattleId,
    BattleStarted,
    Cleared,
    Event,
    Imported,
    Moved,
    Resumed,
    SavedMatch,
    TakenBack,
)
from thudmud.game.projections import PROJECTION
from thudmud.rules import RULESETS, Ending, Game, Move, Outcome, Position, Score, Side, write_record
from thudmud.store import Store, Upgrade, hooks, upkeep
from thudmud.store import battles as battle_rows
from thudmud.store.checking import check_file
from thudmud.store.database import Database
from thudmud.values import replace

Groups = dict[frozenset[Move], list[tuple[Battle, Move]]]
"""Battles by played ply; plies that lead to the same position share an entry."""

PLAYERS = ("Anna", "Bert", "Carla", "Dora")
SIDES = (Side.DWARF, Side.TROLL)

TABLES = ["played", "reached"]


class Life:
    """Random battles, with frequently repeated plies, at boards of two realms."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311  (it has to come again the same)
        self.versions: dict[str, int] = {}

    async def battle(self, store: Store) -> None:
        """Play a battle, import one, resign one, or adjourn and resume one."""
        dice = self.dice
        rules = RULESETS[dice.choice(("discworld", "discworld", "koom valley"))]
        dwarf, troll = dice.choice(PLAYERS), dice.choice(PLAYERS)
        if dice.random() < 0.25:
            game = self._played(Game.start(rules), 8)
            outcome = dice.choice((None, game.agree(Ending.AGREEMENT).outcome))
            record = write_record(game)
            event = Imported(NOON, "", rules.name, "Zoe", "", record, len(game.moves), outcome)
            await self._store(store, "imports", [event])
            return
        board = dice.choice(("oak board", "pine board", "realm/oak"))
        opening = None
        if dice.random() < 0.2:  # as if set up from that position
            opening = self._played(Game.start(rules), 2).position
        began = BattleId(board, self.versions.get(board, 0) + 2)
        game = Game.start(rules, opening)
        events: list[Event] = [
            Cleared(NOON, dwarf),
            BattleStarted(NOON, dwarf, 1, rules.name, dwarf, troll, opening=opening),
        ]
        for _ in range(dice.choice((1, 1, 2, 4))):
            then = self._played(game, dice.choice((1, 3, 8, 20)))
            events += _moved(game, then)
            game = then
            if dice.random() < 0.3 and len(game.moves) > 2:
                events.append(TakenBack(NOON, dwarf, game.turn, game.moves[-2:]))
                game = game.undo().undo()
        if dice.random() < 0.2:
            saved = SavedMatch(
                began,
                1,
                rules.name,
                (0, 0),
                dwarf,
                troll,
                rated=False,
                moves=game.moves,
                outcome=None,
                opening=opening,
            )
            events += [Adjourned(NOON, dwarf, saved), Resumed(NOON, dwarf, saved)]
            then = self._played(game, 3)
            events += _moved(game, then)
            game = then
        if dice.random() < 0.85:
            ended = game if game.outcome else game.resign(dice.choice(SIDES))
            if not ended.outcome:
                raise AssertionError
            events.append(BattleEnded(NOON, dwarf, ended.outcome, len(game.moves), dwarf, troll))
        await self._store(store, board, events)

    def _played(self, game: Game, plies: int) -> Game:
        for _ in range(plies):
            moves = game.listed_moves()[0]
            if not moves:
                break
            first = moves[:: max(1, len(moves) // 4)]
            game = game.play(self.dice.choice(first))
        return game

    async def _store(self, store: Store, board: str, events: Sequence[Event]) -> None:
        """Append the events, either in one batch or one at a time."""
        while events:
            most = self.dice.choice((1, 3, len(events)))
            some, events = events[:most], events[most:]
            version = self.versions.get(board, 0)
            self.versions[board] = version + len(some)
            await store.append({board: (version, some)})


def _moved(before: Game, after: Game) -> list[Event]:
    first = len(before.moves)
    moves: list[Event] = []
    for ply, move in enumerate(after.moves[first:], first + 1):
        side = move.piece.side or Side.DWARF
        moves.append(Moved(NOON, "Anna", side, move, ply))
    return moves


Counted = dict[tuple[str, Position], list[tuple[Battle, Move]]]
"""By ruleset and position: the battles that reached it, with their next plies."""


async def count(store: Store, realm: str = "") -> Counted:
    counted: Counted = {}
    for battle in await store.read(battle_rows.battles, realm=realm):
        found = await store.look_up(BattleLookup(battle.number), realm=realm)
        if battle.state is not State.ENDED or found is None or found.game is None:
            continue
        then = found.game.after(0)
        for move in found.game.moves[:COUNTED_PLIES]:
            images = {turn_position(then.position, each): each for each in turnings(battle.rules)}
            for image, turning in images.items():
                played = found.battle, turned(move, turning)
                counted.setdefault((battle.rules, image), []).append(played)
            then = then.play(move)
    return counted


def turnings(rules: str) -> list[Turning]:
    return [SYMMETRIES[0], LEFT_TO_RIGHT] if rules == "koom valley" else SYMMETRIES


def turned(move: Move, turning: Turning) -> Move:
    captures = tuple(map(turning, move.captures))
    captures = captures if move.is_trample else tuple(sorted(captures))
    return replace(
        move, origin=turning(move.origin), target=turning(move.target), captures=captures
    )


def from_here(counted: Counted, rules: str, position: Position) -> Groups:
    """Return the plies played from a position, grouped by resulting position."""
    own = [each for each in turnings(rules) if turn_position(position, each) == position]
    groups: dict[frozenset[Move], dict[int, tuple[Battle, Move]]] = {}
    for battle, move in counted[rules, position]:
        same = frozenset(turned(move, each) for each in own)
        groups.setdefault(same, {})[battle.number] = battle, move
    return {same: list(each.values()) for same, each in groups.items()}


def require_same(found: PositionStatistics, of_plies: Groups) -> None:
    groups = list(of_plies.values())
    assert found.times == sum(map(len, groups))
    assert len(found.plies) + found.others == len(groups)
    assert len(found.plies) == min(len(groups), MOST_TOLD)
    assert [each.tried.times for each in found.plies] == sorted(map(len, groups), reverse=True)[
        :MOST_TOLD
    ]
    for each in found.plies:
        [group] = [group for same, group in of_plies.items() if each.move in same]
        battles = [battle for battle, _ in group]
        outcomes = [battle.outcome for battle in battles if battle.outcome]
        winners = [outcome.winner for outcome in outcomes]
        assert each.tried.times == len(group)
        assert (each.tried.dwarf, each.tried.troll, each.tried.drawn) == (
            winners.count(Side.DWARF),
            winners.count(Side.TROLL),
            winners.count(None),
        )
        leads = [outcome.score.dwarf - outcome.score.troll for outcome in outcomes]
        assert each.lead == (sum(leads) / len(leads) if leads else None)
        assert not any(is_better(battle, each.best) for battle in battles)
        assert each.best in battles
    everything = [battle for group in groups for battle, _ in group]
    assert found.best in everything
    assert not any(found.best and is_better(battle, found.best) for battle in everything)


async def require_counted(store: Store, seed: int, most: int = 60) -> None:
    """Assert that lookups match the counts, from every orientation of the board."""
    dice = random.Random(seed)  # noqa: S311  (as above)
    for realm in ("", "realm"):
        counted = await count(store, realm)
        assert counted
        often = sorted(counted, key=lambda place: len(counted[place]))[-most // 2 :]
        for rules, position in [*often, *dice.sample(list(counted), min(most, len(counted)))]:
            found = await store.look_up(ExploreLookup(rules, position), realm=realm)
            assert found.left == 0
            require_same(found, from_here(counted, rules, position))


@pytest.mark.parametrize("seed", range(12) if SOAKING else [2])
async def test_explored_statistics_match_a_recount(store: Store, seed: int) -> None:
    life = Life(seed)
    for _ in range(40):
        await life.battle(store)
    await require_counted(store, seed)
    await is_in_order(store)


async def test_unvisited_position_has_empty_statistics(store: Store) -> None:
    await Life(1).battle(store)
    position = RULESETS["classic"].initial_position
    assert await store.look_up(ExploreLookup("classic", position)) == PositionStatistics()


async def test_explored_counts_are_rebuilt_in_the_background(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, life = await Store.open(path), Life(3)
    for _ in range(30):
        await life.battle(store)
    await store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("delete from reached")
    monkeypatch.setattr("thudmud.store.database.PROJECTION", PROJECTION + 1)
    monkeypatch.setattr("thudmud.store.rows.PROJECTION", PROJECTION + 1)
    monkeypatch.setattr("thudmud.store.files.PROJECTION", PROJECTION + 1)
    monkeypatch.setattr("thudmud.store.checking.PROJECTION", PROJECTION + 1)
    store = await Store.open(path, upgrade=Upgrade())
    assert rows_of(path) == {"played": [], "reached": []}  # opening does not wait for them
    opening = ExploreLookup("discworld", RULESETS["discworld"].initial_position)
    found = await store.look_up(opening)
    in_all = await store.read(battle_rows.count)
    assert (found.times, found.left, found.seconds_left) == (0, in_all, None)
    check_file(path)
    times = iter([100.0, 107.0])
    monkeypatch.setattr(storage, "monotonic", lambda: next(times, 200.0))
    assert await store.write(lambda database: explored_rows(database).count_next_batch(7))
    found = await store.look_up(opening)
    assert (found.left, found.seconds_left) == (in_all - 7, in_all - 7)
    for _ in range(5):  # while the rebuild runs
        await life.battle(store)
    check_file(path)
    await upkeep.finish(store)
    assert await store.check() is None
    await require_counted(store, 3)
    await store.close()


@pytest.mark.parametrize(("is_played", "pauses"), [(False, 1), (True, 9)])
async def test_upkeep_pauses_longer_while_people_play(
    path: Path, monkeypatch: pytest.MonkeyPatch, *, is_played: bool, pauses: int
) -> None:
    """Each of the three parts of the work takes a second; people play after the first."""
    store, life = await Store.open(path), Life(3)
    now, slept, parts = 0.0, list[float](), iter([True, True, True, False])

    def work(_: Database) -> bool:
        nonlocal now
        now += 1.0
        return next(parts)

    async def pause(seconds: float) -> None:
        slept.append(seconds)
        if is_played and len(slept) == 1:
            await life.battle(store)

    monkeypatch.setattr(hooks, "unfinished", [work])
    monkeypatch.setattr(upkeep, "monotonic", lambda: now)
    monkeypatch.setattr(store, "pause", pause)
    await upkeep.finish(store)
    assert slept == [1.0, pauses, pauses]
    await store.close()


def test_copied_battles_are_counted_without_a_lookup(path: Path) -> None:
    """The counting process has imported no feature."""

    async def play() -> None:
        store, life = await Store.open(path), Life(5)
        for _ in range(3):
            await life.battle(store)
        await store.close()

    asyncio.run(play())
    program = "import sys; from thudmud.store.copying import copy; copy(*sys.argv[1:])"
    target = path.with_name("copy.db")
    subprocess.run([sys.executable, "-c", program, path, target], check=True)
    with closing(sqlite3.connect(target)) as connection:
        assert list(connection.execute("select upto from explored")) == [(0,)]


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as connection:
        return {name: list(connection.execute(f"select * from {name}")) for name in TABLES}  # noqa: S608  (ours)


@pytest.mark.parametrize("name", TABLES)
async def test_missing_explored_row_is_detected(path: Path, name: str) -> None:
    store, life = await Store.open(path), Life(4)
    for _ in range(12):
        await life.battle(store)
    assert await store.check() is None
    await store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"delete from {name} where place = (select min(place) from {name})")  # noqa: S608  (ours)
    store = await Store.open(path)
    found = await store.check()
    assert found
    assert f"a row of {name} does not match the events" in found
    await store.close()


async def test_best_known_battle_is_by_rating_then_date(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thudmud.game.archive.PROVISIONAL", 1)
    outcome = Outcome(Ending.RESIGNATION, Side.DWARF, Score(32, 0))
    [first, *_] = RULESETS["discworld"].legal_moves(RULESETS["discworld"].initial_position)
    version = 0
    for dwarf, troll in (
        ("Carla", "Dora"),
        ("Anna", "Bert"),
        ("Anna", "Bert"),
        ("Carla", "Dora"),
        ("Bert", "Bert"),
    ):
        events: list[Event] = [
            BattleStarted(NOON, dwarf, 1, "discworld", dwarf, troll, rated=dwarf == "Anna"),
            Moved(NOON, dwarf, Side.DWARF, first, 1),
            BattleEnded(
                NOON, dwarf, outcome, 1, dwarf, troll, rated=dwarf == "Anna", points=(32, 0)
            ),
        ]
        await store.append({"oak board": (version, events)})
        version += 3
    found = await store.look_up(ExploreLookup("discworld", RULESETS["discworld"].initial_position))
    [ply] = found.plies
    assert (ply.tried.times, ply.best.number) == (5, 3)
    assert found.best == ply.best
    anna, bert = ply.best.ratings
    assert anna
    assert bert
    assert anna > 1500 > bert
