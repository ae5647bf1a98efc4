"""Battles, tallies and ratings always equal a fold of the events, in every kind of store."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from tests.conftest import SOAKING
from tests.game.annals import CAPTURE, DRAW, DWARFS, LONGER, NOON, RECORD, TROLLS, plies
from tests.store.deeds import OAK, PINE, Taken, started
from tests.store.model import Model
from thudmud.game.archive import PAGE, BattleLookup, HistoryLookup, State
from thudmud.game.clocks import TimeControl
from thudmud.game.events import (
    NO_BOTS,
    Adjourned,
    BattleEnded,
    BattleId,
    BattleStarted,
    BoardClosed,
    BoardOpened,
    BoardRenamed,
    Cleared,
    Event,
    Imported,
    Levels,
    Moved,
    Resumed,
    SavedMatch,
)
from thudmud.game.match import fold_game
from thudmud.game.projections import HALL, PROJECTION, Strength, match_stream, rate, realm_of
from thudmud.rules import RULESETS, Game, Move, Side
from thudmud.store import (
    ConflictError,
    KeptName,
    OpenBoard,
    Store,
    StoreError,
    accounts,
    battles,
    hall,
    nodes,
    scores,
)
from thudmud.store.checking import check_backend, check_file
from thudmud.store.database import Database
from thudmud.store.files import OnDisk, Sqlite
from thudmud.store.interface import Upgrade
from thudmud.values import replace

BOARDS = (OAK, PINE, "realm/oak")
PLAYERS = ("Anna", "Bert", "Carla", "Dora")


def put_away(began: BattleId, dwarf: str, troll: str, moves: tuple[Move, ...]) -> SavedMatch:
    return SavedMatch(
        began, 1, "discworld", (0, 0), dwarf, troll, rated=True, moves=moves, outcome=None
    )


class Life:
    """Random but valid histories of some boards, whose battles can be folded."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)  # noqa: S311  (it has to come again the same)
        self._begun: list[BattleId] = [BattleId("nowhere", 1)]
        self._games: dict[str, Game] = {}
        self.versions: dict[str, int] = {}

    def next(self) -> tuple[str, list[Event]]:
        dice = self._dice
        board = dice.choice(BOARDS)
        version = self.versions.get(board, 0) + 1
        dwarf, troll = dice.sample(PLAYERS, 2)
        rules = dice.choice(list(RULESETS))
        saved = put_away(dice.choice(self._begun), dwarf, troll, CAPTURE)
        happens = dice.choice("sseeeepcarimm")
        event: Event
        before: list[Event] = []
        number, time = dice.choice((1, 2)), dice.choice((None, TimeControl(5)))
        begun = BattleStarted(NOON, dwarf, number, rules, dwarf, troll, rated=True, time=time)
        game = self._games.get(board)
        if happens == "s" or (happens in "ep" and (game is None or game.outcome)):
            game = Game.start(RULESETS[rules])
            self._begun.append(BattleId(board, version))
            before = [begun] if happens != "s" else []
        if happens == "s":
            event = begun
        elif happens == "e":
            outcome, points = dice.choice((DRAW, DWARFS, TROLLS)), dice.choice((None, (3, 5)))
            rated = dice.random() < 0.8
            levels = dice.choice((NO_BOTS, NO_BOTS, Levels(None, 3), Levels(0, None), Levels(3, 5)))
            assert game
            plies = len(game.moves)
            event = BattleEnded(NOON, dwarf, outcome, plies, dwarf, troll, rated, points, levels)
            game = None
        elif happens == "m":
            begun, rated, game = replace(begun, number=1), dice.random() < 0.8, None
            end = BattleEnded(NOON, dwarf, DRAW, 0, dwarf, troll, rated)
            again = replace(begun, number=2, dwarf=troll, troll=dwarf)
            before = [begun, end, again]
            self._begun += [BattleId(board, version), BattleId(board, version + 2)]
            points = dice.choice(((3, 5), (5, 3), (4, 4)))
            event = replace(end, dwarf=troll, troll=dwarf, rated=True, points=points)
        elif happens == "p":
            assert game
            side, move = game.turn, next(iter(game.ruleset.legal_moves(game.position)))
            event = Moved(NOON, dwarf, side, move, len(game.moves) + 1)
            game = game.play(move)
        elif happens == "c":
            event, game = Cleared(NOON, dwarf), None
        elif happens == "i":
            board = "imports"
            event = Imported(NOON, "", "discworld", dwarf, "", RECORD, 2, dice.choice((None, DRAW)))
        else:
            event = (Adjourned if happens == "a" else Resumed)(NOON, dwarf, saved)
            game = None if happens == "a" else fold_game([event])
        self._games.pop(board, None)
        if game:
            self._games[board] = game
        happened = [*before, event]
        self.versions[board] = self.versions.get(board, 0) + len(happened)
        return board, happened


async def live(store: Store, seed: int, length: int = 150) -> Model:
    """Store a random history and return its model."""
    life, taken = Life(seed), Taken()
    following = await store.subscribe(None, await store.position(), taken.take, taken.failed)
    for _ in range(length):
        board, events = life.next()
        await store.append({board: (life.versions[board] - len(events), events)})
    following.close()
    return Model(taken.entries)


async def played(store: Store, number: int) -> Game:
    """Return the game that results from a battle's plies."""
    battle = await store.read(battles.battle, number)
    assert battle
    return fold_game(cast("Sequence[Event]", await store.read(battles.battle_events, battle)))


@pytest.mark.parametrize("seed", range(12 if SOAKING else 1))
async def test_battle_rows_equal_a_fold_of_all_events(store: Store, seed: int) -> None:
    model = await live(store, seed)
    # Players of one name in two realms are distinct, so leave out the other realm.
    of_realm = {each.number for each in model.battles if realm_of(each.id.board)}
    assert len(model.battles) > 20
    for battle in model.battles:
        realm = realm_of(battle.id.board)
        assert await store.read(battles.battle, battle.number, realm=realm) == battle
        assert await store.read(battles.battle, battle.number, realm="another") is None
    assert await store.read(battles.battle, len(model.battles) + 1) is None
    for player in PLAYERS:
        found = await store.read(battles.history, player, most=1000)
        elsewhere = await store.read(battles.history, player, most=1000, realm="realm")
        numbers = [each.number for each in found] + [each.number for each in elsewhere]
        assert sorted(numbers) == [each.number for each in model.of(player)]
        assert {each.number for each in elsewhere} <= of_realm


@pytest.mark.parametrize("seed", range(12 if SOAKING else 1))
async def test_scores_equal_a_fold_of_all_events(
    store: Store, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(f"{__name__}.BOARDS", (OAK, PINE))
    monkeypatch.setattr("thudmud.game.archive.PROVISIONAL", 2)
    model = await live(store, seed, 300)
    assert any(map(model.standings, model.pools()))
    assert any(filter(None, (each.ratings[0] for each in model.battles)))
    assert await store.read(battles.battles) == model.battles
    for pool in model.pools():
        assert list(await store.read(scores.standings, pool)) == model.standings(pool)
        assert list(await store.read(scores.standings, pool, most=2)) == model.standings(pool)[:2]
    for player in PLAYERS:
        assert await store.read(scores.score, player) == model.score(player)
    assert await store.read(scores.score, "Nobody") is None


def test_draw_between_equals_keeps_ratings_equal() -> None:
    a, b = rate(Strength(), Strength(), None)
    assert a == b
    better, worse = rate(Strength(), Strength(), Side.DWARF)
    assert better.rating.proven > worse.rating.proven
    assert better.results == worse.results == 1


class TestBattles:
    async def test_battle_plies_are_read_from_the_board_stream(self, store: Store) -> None:
        moves = plies("move f15 f8", "shove g7 e7")
        moved = [
            Moved(1.0, "Anna", (Side.DWARF, Side.TROLL)[number], move, number + 1)
            for number, move in enumerate(moves)
        ]
        ended = BattleEnded(1.0, "Anna", TROLLS, 2, "Anna", "Bert")
        await store.append({OAK: (0, [Cleared(1.0, "Anna"), started(1), *moved, ended])})
        await store.append({OAK: (5, [started(2)])})
        game = await played(store, 1)
        assert game.moves == moves
        assert game.outcome == TROLLS
        assert (await played(store, 2)).moves == ()
        assert await store.read(battles.battle, 3) is None

    async def test_history_is_paged_backwards(self, store: Store) -> None:
        await store.append({OAK: (0, [started(number) for number in range(10)])})
        page = await store.read(battles.history, "anna", most=4)
        assert [battle.number for battle in page] == [10, 9, 8, 7]
        page = await store.read(battles.history, "ANNA", page[-1].number, 4)
        assert [battle.number for battle in page] == [6, 5, 4, 3]
        assert await store.read(battles.history, "Anna", 1) == []
        assert await store.read(battles.history, "Zoe") == []

    async def test_history_page_includes_the_total_count(self, store: Store) -> None:
        count = 2 * PAGE + 3
        others = [started(number, "Carla", "Dora") for number in range(2)]
        await store.append(
            {OAK: (0, [started(number) for number in range(count)]), PINE: (0, others)}
        )
        for whose, in_all in (("ANNA", count), ("dora", 2), (None, count + 2), ("Zoe", 0)):
            last = {"dora": count + 2}.get(str(whose), count if whose else in_all)
            for page in (1, 2, 3, 4, 10**30):
                found = await store.look_up(HistoryLookup(whose, page))
                skipped = (page - 1) * PAGE
                first, end = last - skipped, max(last - in_all, last - skipped - PAGE)
                assert [each.number for each in found.battles] == list(range(first, end, -1))
                assert found.in_all == in_all

    async def test_battles_are_listed_in_pages(self, store: Store) -> None:
        await store.append({OAK: (0, [started(1), started(2, "Carla")])})
        await store.append({PINE: (0, [started(3), started(4, "Carla"), started(5)])})
        page = await store.read(battles.battles, most=3)
        assert page == [await store.read(battles.battle, number) for number in (1, 2, 3)]
        assert [each.number for each in await store.read(battles.battles, after=3)] == [4, 5]
        assert await store.read(battles.battles, after=5) == []
        assert [each.number for each in await store.read(battles.battles, "CARLA")] == [2, 4]
        assert [each.number for each in await store.read(battles.battles, "Bert", 1, 2)] == [2, 3]
        assert [each.number for each in await store.read(battles.battles, since=page[2].at)] == [
            3,
            4,
            5,
        ]
        assert [
            each.number for each in await store.read(battles.battles, "carla", since=page[2].at)
        ] == [4]
        assert await store.read(battles.battles, "Zoe") == []
        assert await store.read(battles.battles, "Anna", realm="elsewhere") == []

    async def test_battles_of_former_guests_are_found_by_name(self, store: Store) -> None:
        for number in range(2):
            await store.write(accounts.reserve_guest_name, KeptName("Zoe", b"1" * 32, 5.0))
            await store.append({OAK: (number, [started(1, "Zoe", "Bert")])})
            await store.write(accounts.free_guest_names, ["Zoe"])
        assert await store.read(battles.history, "Zoe") == []
        both = await store.read(battles.battles)
        assert await store.read(battles.battles, "zoe") == both
        assert await store.read(battles.battles, "zoe", most=1) == both[:1]
        assert await store.read(battles.battles_between, "Zoe", "Bert", 0, 2**40) == both

    async def test_battles_between_two_players_are_found_by_time(self, store: Store) -> None:
        others = [started(2, "Bert", "Anna"), started(3, "Anna", "Carla")]
        await store.append({OAK: (0, [started(1), *others])})
        await store.append({PINE: (0, [started(4)])})
        first, *_, last = await store.read(battles.battles)
        assert await store.read(battles.battles_between, "anna", "BERT", first.at, last.at) == [
            first
        ]
        assert await store.read(battles.battles_between, "Anna", "Bert", first.at, last.at + 1) == [
            first,
            last,
        ]
        assert (
            await store.read(battles.battles_between, "Anna", "Bert", last.at + 1, last.at + 2)
            == []
        )
        assert await store.read(battles.battles_between, "Anna", "Zoe", 0, 2**40) == []

    async def test_battle_number_is_found_by_its_start(self, store: Store) -> None:
        await store.append({OAK: (0, [started(1), Cleared(1.0, "Anna"), started(2)])})
        assert await store.read(battles.number_of, BattleId(OAK, 3)) == 2
        assert await store.read(battles.number_of, BattleId(OAK, 2)) is None
        assert await store.read(battles.number_of, BattleId("nowhere", 1)) is None


class TestAdjourned:
    async def test_adjourned_match_is_resumed_once(self, store: Store) -> None:
        began = BattleId(OAK, 1)
        saved = put_away(began, "Anna", "Carla", LONGER)
        await store.append({OAK: (0, [started(1)])})
        away, back = Adjourned(1.0, "Anna", saved), Resumed(1.0, "Anna", saved)
        match = match_stream(began)
        await store.append({OAK: (1, [away]), match: (0, [away])})
        for player in ("Anna", "Carla"):
            ((battle, found),) = await store.read(battles.adjourned, player)
            assert found == saved
            assert (battle.number, battle.state, battle.plies) == (1, State.ADJOURNED, 4)
        assert await store.read(battles.adjourned, "Bert") == []
        # Two boards resume it concurrently, each at its own version; one must lose.
        outcomes = await asyncio.gather(
            store.append({PINE: (0, [back]), match: (1, [back])}),
            store.append({OAK: (2, [back]), match: (1, [back])}),
            return_exceptions=True,
        )
        assert {type(each) for each in outcomes} == {ConflictError, dict}
        assert await store.read(battles.adjourned, "Anna") == []
        resumed = await store.read(battles.battle, 1)
        assert resumed
        assert resumed.state is State.RUNNING
        assert resumed.source.board in {OAK, PINE}
        assert (await played(store, 1)).moves == LONGER

    async def test_match_cannot_be_resumed_at_two_boards(self, store: Store) -> None:
        saved = put_away(BattleId(OAK, 1), "Anna", "Carla", LONGER)
        away, back = Adjourned(1.0, "Anna", saved), Resumed(1.0, "Anna", saved)
        await store.append_to_board(OAK, 0, [started(1), away])
        outcomes = await asyncio.gather(
            store.append_to_board(PINE, 0, [back]),
            store.append_to_board(OAK, 2, [back]),
            return_exceptions=True,
        )
        assert {type(each) for each in outcomes} == {ConflictError, dict}
        assert await store.read(battles.adjourned, "Anna") == []
        taken_up = BattleId(OAK, 3) if await store.version(OAK) == 3 else BattleId(PINE, 1)
        assert await store.version(PINE) + await store.version(OAK) == 3
        battle = await store.read(battles.battle, 1)
        assert battle
        assert battle.source == taken_up

    async def test_match_cannot_be_resumed_from_an_earlier_adjournment(self, store: Store) -> None:
        began = BattleId(OAK, 1)
        before, after = (put_away(began, "Anna", "Carla", moves) for moves in (CAPTURE, LONGER))
        await store.append_to_board(OAK, 0, [started(1), Adjourned(1.0, "Anna", before)])
        await store.append_to_board(PINE, 0, [Resumed(1.0, "Anna", before)])
        await store.append_to_board(PINE, 1, [Adjourned(1.0, "Anna", after)])
        with pytest.raises(ConflictError):
            await store.append_to_board(OAK, 2, [Resumed(1.0, "Anna", before)])
        assert await store.version(OAK) == 2
        ((_, found),) = await store.read(battles.adjourned, "Anna")
        assert found == after
        await store.append_to_board(OAK, 2, [Resumed(1.0, "Anna", after)])
        assert await store.read(battles.adjourned, "Anna") == []

    async def test_match_never_adjourned_cannot_be_resumed(self, store: Store) -> None:
        saved = put_away(BattleId(OAK, 1), "Anna", "Carla", LONGER)
        await store.append_to_board(OAK, 0, [started(1)])
        with pytest.raises(ConflictError):
            await store.append_to_board(PINE, 0, [Resumed(1.0, "Anna", saved)])
        assert await store.version(PINE) == 0


class TestBoards:
    async def test_boards_are_opened_renamed_and_closed(self, store: Store) -> None:
        opened = [
            BoardOpened(1.0, "", "b1", "oak board", "discworld"),
            BoardOpened(1.0, "Anna", "b2", "pine board", "classic"),
        ]
        await store.append({HALL: (0, opened)})
        await store.append({"b1": (0, [started(1), started(2), Cleared(1.0, "Anna"), started(3)])})
        await store.append({HALL: (2, [BoardRenamed(1.0, "", "b1", "elm board")])})
        assert await store.read(hall.open_boards) == [
            OpenBoard("b1", "elm board", 4, 4, "discworld"),
            OpenBoard("b2", "pine board", 0, 1, "classic"),
        ]
        await store.append({HALL: (3, [BoardClosed(1.0, "", "b1")])})
        assert [board.key for board in await store.read(hall.open_boards)] == ["b2"]
        assert len(await store.read_stream("b1")) == 4
        battle = await store.read(battles.battle, 1)
        assert battle
        assert battle.id.board == "b1"


async def test_rows_are_rebuilt_by_another_version(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await Store.open(path)
    model = await live(store, 1)
    before = [await store.read(scores.score, player) for player in PLAYERS]
    assert model.pools()
    await store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("drop table rating")
        connection.execute("create table rating (what there was before)")
        connection.execute("delete from battle")
        connection.execute("update adjourned set dwarf = 17")
    monkeypatch.setattr("thudmud.store.database.PROJECTION", PROJECTION + 1)
    monkeypatch.setattr("thudmud.store.rows.PROJECTION", PROJECTION + 1)
    monkeypatch.setattr("thudmud.store.files.PROJECTION", PROJECTION + 1)
    store = await Store.open(path, upgrade=Upgrade())
    assert [await store.read(scores.score, player) for player in PLAYERS] == before
    assert [
        await store.read(battles.battle, each.number, realm=realm_of(each.id.board))
        for each in model.battles
    ] == model.battles
    check_file(path)
    await store.close()


async def test_rows_are_not_rebuilt_while_another_version_serves(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The running server would keep writing rows in its own form."""
    store = await Store.open(path, serving=True)
    model = await live(store, 1, 20)
    await store.write(nodes.renew_lease, "one", 1000)
    monkeypatch.setattr("thudmud.store.database.PROJECTION", PROJECTION + 1)
    monkeypatch.setattr("thudmud.store.rows.PROJECTION", PROJECTION + 1)
    monkeypatch.setattr("thudmud.store.files.PROJECTION", PROJECTION + 1)
    with pytest.raises(StoreError, match="Servers of another version"):
        await Store.open(path, upgrade=Upgrade())
    await store.close()
    with pytest.raises(StoreError, match="Servers of another version"):
        await Store.open(path, upgrade=Upgrade())  # it may be dead or alive
    store = await Store.open(path, serving=True, upgrade=Upgrade())
    assert len(await store.read(battles.battles)) == len(model.battles) - sum(
        bool(realm_of(each.id.board)) for each in model.battles
    )
    await store.close()


async def test_rows_rebuilt_by_another_process_are_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = Database(OnDisk(path, serving=False, lock_timeout=5.0), lambda: 1.0)
    other = await Store.open(path)
    model = await live(other, 1, 20)
    late.rebuild(Upgrade())  # its cached view of the file is outdated
    assert late.head.position == await other.position()
    check_file(path)
    assert len(await other.read(battles.battles)) == len(model.battles) - sum(
        bool(realm_of(each.id.board)) for each in model.battles
    )
    late.close()
    await other.close()


async def test_check_skips_rows_of_another_version(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await Store.open(path)
    await live(store, 1, 20)
    await store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("delete from battle")
        assert check_backend(Sqlite(connection))
        monkeypatch.setattr("thudmud.store.checking.PROJECTION", PROJECTION + 1)
        assert check_backend(Sqlite(connection)) is None


async def test_concurrent_battle_lookups_exceeding_the_cache_succeed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache holds fewer games than are requested."""
    monkeypatch.setattr("thudmud.store.lookups.GAMES_KEPT", 1)
    model = await live(store, 1)
    ended = [each.number for each in model.battles if each.state is State.ENDED][:3]
    lookups = [store.look_up(BattleLookup(number)) for number in ended * 5]
    for found in await asyncio.gather(*lookups):
        assert found is None or found.game
