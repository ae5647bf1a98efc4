"""The contract of every store, whatever its backend: see `thudmud.store.Store`.

Nothing here knows about files. To test another database, add it to the kinds of the fixture
``opening``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.store.conftest import Opening
from tests.store.deeds import (
    NOON,
    OAK,
    PINE,
    Clock,
    Taken,
    events_of,
    everything,
    is_in_order,
    joined,
    moved,
    same,
    started,
    timeless,
)
from tests.store.generated import some_events
from thudmud.features.analysis.model import Analysis, KeptAnalysisLookup
from thudmud.features.analysis.storage import keep_analysis
from thudmud.game.archive import BattleLookup
from thudmud.game.evaluation import WIN_SCORE
from thudmud.game.events import Adjourned, BattleId, Commented, Event, Imported, Resumed, SavedMatch
from thudmud.game.projections import HALL, match_stream
from thudmud.rules import DISCWORLD, KOOM_VALLEY, Comment, Game
from thudmud.store import (
    ConflictError,
    Entry,
    KeptName,
    NotWrittenError,
    Store,
    StoreError,
    accounts,
    battles,
    hall,
)
from thudmud.store.database import Database
from thudmud.values import replace


def said(ply: int, text: str, player: str = "Anna", version: int = 2) -> Commented:
    """Return a comment on the battle whose start is the second event at the oak board."""
    return Commented(5.0, player, OAK, version, ply, text)


class TestComments:
    @pytest.fixture
    async def kept(self, store: Store) -> Store:
        """Return a store with a battle that was resigned after two plies."""
        await store.append({OAK: (0, [joined(1), started(2), moved(0)])})
        return store

    async def test_comments_are_ordered_by_ply_then_time(self, kept: Store) -> None:
        comments = [said(1, "b"), said(1, "a", "Bert"), said(0, "c")]
        await kept.append({HALL: (0, comments)})
        assert await kept.read(battles.comments, 1) == (
            Comment(0, "Anna", "c"),
            Comment(1, "Anna", "b"),
            Comment(1, "Bert", "a"),
        )
        assert [each.event.text for each in await kept.read_stream(HALL)] == ["b", "a", "c"]  # type: ignore[union-attr]
        assert await kept.read(battles.comments, 2) == ()
        await is_in_order(kept)

    async def test_comment_is_one_per_player_and_ply_and_can_be_removed(self, kept: Store) -> None:
        await kept.append({HALL: (0, [said(1, "one"), said(1, "two"), said(0, "three")])})
        assert await kept.read(battles.comments, 1) == (
            Comment(0, "Anna", "three"),
            Comment(1, "Anna", "two"),
        )
        await kept.append({HALL: (3, [said(0, "")])})
        assert await kept.read(battles.comments, 1) == (Comment(1, "Anna", "two"),)

    async def test_comments_on_unknown_battles_are_ignored(self, kept: Store) -> None:
        await kept.append({HALL: (0, [said(1, "one", version=7)])})
        assert await kept.read(battles.comments, 1) == ()

    async def test_comments_follow_a_rename(self, kept: Store) -> None:
        await kept.write(accounts.enrol, "Anna", "hash")
        await kept.append({HALL: (0, [said(1, "one")])})
        await kept.write(accounts.rename, "Anna", "Hanna")
        assert await kept.read(battles.comments, 1) == (Comment(1, "Hanna", "one"),)

    async def test_battle_lookup_includes_comments(self, kept: Store) -> None:
        await kept.append({HALL: (0, [said(0, "one"), said(9, "on a ply that was taken back")])})
        found = await kept.look_up(BattleLookup(1))
        assert found.comments == (Comment(0, "Anna", "one"),)
        assert found.players == {"Anna", "Bert"}

    async def test_battle_lookup_tells_guests_of_one_name_apart(self, kept: Store) -> None:
        await kept.write(accounts.reserve_guest_name, KeptName("Anna", b"1" * 32, 5.0))
        await kept.write(accounts.free_guest_names, ["Anna"])
        await kept.write(accounts.reserve_guest_name, KeptName("Anna", b"2" * 32, 5.0))
        found = await kept.look_up(BattleLookup(1))
        assert found.battle.dwarf == "Anna"
        assert found.players == {"Bert"}


DISCWORLD_LINE = Game.start(DISCWORLD).push("dF1-F6").push("TG7-F7xF6").moves
KOOM_VALLEY_LINE = tuple(Game.start(KOOM_VALLEY).legal_moves()[:1])


class TestAppending:
    async def test_new_store_is_empty(self, store: Store) -> None:
        assert await store.read(Database.stream_versions) == {}
        assert await store.position() == 0
        assert list(await store.read_stream(OAK)) == []
        assert list(await store.read(hall.open_boards)) == []

    async def test_events_have_a_version_and_a_global_position(self, store: Store) -> None:
        await store.append({OAK: (0, [joined(1), started(2)])})
        await store.append({PINE: (0, [joined(3)])})
        stored = await store.append({OAK: (2, [joined(4)])})
        assert stored == {OAK: (4, 3)}
        oak, pine = await store.read_stream(OAK), await store.read_stream(PINE)
        assert [(each.stream, each.version) for each in oak] == [(OAK, 1), (OAK, 2), (OAK, 3)]
        assert events_of(oak) == same(joined(1), started(2), joined(4))
        assert [(each.stream, each.version) for each in pine] == [(PINE, 1)]
        assert [entry.position for entry in await everything(store)] == [1, 2, 3, 4]
        assert await store.position() == 4
        assert await store.read(Database.stream_versions) == {OAK: 3, PINE: 1}

    @pytest.mark.parametrize("expected", [-1, 0, 1, 3])
    async def test_append_at_a_wrong_version_is_a_conflict(
        self, store: Store, expected: int
    ) -> None:
        await store.append({OAK: (0, [joined(1), joined(2)])})
        with pytest.raises(ConflictError) as caught:
            await store.append({OAK: (expected, [joined(3)])})
        error = caught.value
        assert (error.stream, error.expected, error.found) == (OAK, expected, 2)
        assert events_of(await everything(store)) == same(joined(1), joined(2))

    async def test_append_to_several_streams_is_atomic(self, store: Store) -> None:
        await store.append({OAK: (0, [joined(1)])})
        with pytest.raises(ConflictError):
            await store.append({PINE: (0, [joined(2)]), OAK: (0, [joined(3)])})
        assert await store.read(Database.stream_versions) == {OAK: 1}
        stored = await store.append({PINE: (0, [joined(2), joined(3)]), OAK: (1, [joined(4)])})
        assert stored == {PINE: (3, 2), OAK: (4, 2)}
        assert [(each.stream, each.version) for each in await everything(store)] == [
            (OAK, 1),
            (PINE, 1),
            (PINE, 2),
            (OAK, 2),
        ]

    async def test_append_can_require_an_unchanged_stream(self, store: Store) -> None:
        await store.append({OAK: (0, [joined(1)])})
        assert await store.append({OAK: (1, []), PINE: (0, [joined(2)])}) == {PINE: (2, 1)}
        with pytest.raises(ConflictError):
            await store.append({OAK: (0, []), PINE: (1, [joined(3)])})
        assert await store.append({OAK: (1, [])}) == {}
        assert await store.read(Database.stream_versions) == {OAK: 1, PINE: 1}

    async def test_racing_appends_have_one_winner_per_version(self, store: Store) -> None:
        outcomes = await asyncio.gather(
            *(store.append({OAK: (0, [joined(number), moved(number)])}) for number in range(20)),
            return_exceptions=True,
        )
        winners = [number for number, each in enumerate(outcomes) if isinstance(each, dict)]
        assert len(winners) == 1
        assert sum(isinstance(each, ConflictError) for each in outcomes) == 19
        assert events_of(await store.read_stream(OAK)) == same(
            joined(winners[0]), moved(winners[0])
        )

    async def test_concurrent_appends_to_many_streams_are_all_stored(self, store: Store) -> None:
        async def play(stream: str) -> None:
            for ply in range(30):
                await store.append({stream: (ply, [moved(ply)])})

        streams = [f"board {number}" for number in range(20)]
        await asyncio.gather(*map(play, streams))
        assert await store.read(Database.stream_versions) == dict.fromkeys(streams, 30)
        for stream in streams:
            assert events_of(await store.read_stream(stream)) == same(*map(moved, range(30)))

    async def test_append_failure_spares_others_in_its_transaction(self, store: Store) -> None:
        bad = Imported(1.0, "", "classic", "Anna", "Bert", "dF1\n", 2**70, None)
        outcomes = await asyncio.gather(
            store.append({"a": (0, [joined(1)])}),
            store.append({"b": (0, [moved(2), bad])}),
            store.append({"c": (0, [joined(3)])}),
            return_exceptions=True,
        )
        assert isinstance(outcomes[1], NotWrittenError)
        assert await store.read(Database.stream_versions) == {"a": 1, "c": 1}
        assert await store.read(battles.battle, 1) is None
        assert [each.position for each in await everything(store)] == [1, 2]

    async def test_cancelled_append_is_atomic(self, store: Store) -> None:
        task = asyncio.create_task(store.append({OAK: (0, [joined(1), joined(2)])}))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        version = (await store.read(Database.stream_versions)).get(OAK, 0)
        assert version in {0, 2}
        await store.append({OAK: (version, [joined(3)])})
        assert events_of(await store.read_stream(OAK))[-1:] == same(joined(3))

    @settings(
        max_examples=15,
        deadline=None,
        # The fixture is created once per kind of store, as if parametrized.
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(events=st.lists(some_events, max_size=20))
    async def test_events_read_back_equal_those_appended(
        self, store: Store, events: list[Event]
    ) -> None:
        taken = Taken()
        following = await store.subscribe(None, await store.position(), taken.take, taken.failed)
        version = (await store.read(Database.stream_versions)).get(OAK, 0)
        await store.append({OAK: (version, events)})
        following.close()
        found = await store.read_stream(OAK, version + 1)
        assert [repr(timeless(each.event)).lower() for each in found] == [
            repr(timeless(event)).lower() for event in events
        ]
        assert [entry.position for entry in taken.entries] == [entry.position for entry in found]


class TestRequests:
    async def test_request_key_is_applied_once(self, store: Store) -> None:
        first = await store.append({OAK: (0, [joined(1), joined(2)])}, "k")
        await store.append({OAK: (2, [joined(3)])})
        assert await store.append({OAK: (0, [joined(1), joined(2)])}, "k") == first == {OAK: (2, 2)}
        assert await store.read(Database.stream_versions) == {OAK: 3}
        assert await store.read(Database.request_result, OAK, "k") == first[OAK]
        assert (
            await store.read(Database.request_result, OAK, "other")
            is await store.read(Database.request_result, PINE, "k")
            is None
        )

    async def test_request_key_known_to_one_of_two_streams_is_new(self, store: Store) -> None:
        """An adjourned match knows the request keys of the boards at which it was played."""
        await store.append({OAK: (0, [joined(1)]), "match": (0, [joined(1)])}, "k")
        await store.append({PINE: (0, [joined(2)]), "match": (1, [joined(2)])}, "k")
        assert await store.read(Database.stream_versions) == {OAK: 1, "match": 2, PINE: 1}

    async def test_request_keys_are_scoped_to_a_stream(self, store: Store) -> None:
        await store.append({OAK: (0, [joined(1)])}, "k")
        await store.append({PINE: (0, [joined(1)])}, "k")
        assert await store.read(Database.stream_versions) == {OAK: 1, PINE: 1}

    async def test_request_to_several_streams_is_recognized_by_any(self, store: Store) -> None:
        first = await store.append({OAK: (0, [joined(1)]), PINE: (0, [joined(2)])}, "k")
        assert await store.append({PINE: (7, [joined(2)]), OAK: (9, [joined(1)])}, "k") == first

    async def test_refused_request_can_be_repeated(self, store: Store) -> None:
        with pytest.raises(ConflictError):
            await store.append({OAK: (1, [joined(1)])}, "k")
        assert await store.append({OAK: (0, [joined(1)])}, "k") == {OAK: (1, 1)}

    async def test_request_key_expires_after_days(self, opening: object, clock: Clock) -> None:
        store = await opening()  # type: ignore[operator]
        await store.append({OAK: (0, [joined(1)])}, "old")
        clock.now += 10 * 86_400.0
        # Expired keys are looked for hourly, and when a store opens.
        await store.append({OAK: (1, [joined(2)])}, "new")
        assert await store.append({OAK: (7, [joined(2)])}, "new") == {OAK: (2, 2)}


class TestTime:
    async def test_event_time_is_set_by_the_store(self, store: Store, clock: Clock) -> None:
        await store.append({OAK: (0, [joined(1), joined(2)])})
        first, second = await store.read_stream(OAK)
        assert NOON < first.event.at == second.event.at <= clock.now

    async def test_event_time_never_goes_back(self, store: Store, clock: Clock) -> None:
        await store.append({OAK: (0, [joined(1)])})
        clock.now -= 1000
        before = await store.read(Database.now)
        await store.append({OAK: (1, [joined(2)])})
        first, second = await store.read_stream(OAK)
        assert first.event.at <= before <= second.event.at

    async def test_imported_battle_keeps_its_time(self, store: Store) -> None:
        imported = Imported(-5.0, "", "classic", "Anna", "", "dF1,TG7,RH8\n", 0, None)
        await store.append({"imports": (0, [imported])})
        assert [each.event for each in await store.read_stream("imports")] == [imported]


class TestBringingIn:
    async def test_imported_events_keep_their_times_in_order(self, store: Store) -> None:
        events: list[Event] = [started(5), moved(7), moved(6), joined(8)]
        taken: list[Entry] = []
        boards = [OAK, OAK, PINE, OAK]
        await store.import_events(zip(boards, events, strict=True), taken.append)
        assert [each.event.at for each in taken] == [5.0, 7.0, 7.0, 8.0]
        assert [each.stream for each in taken] == boards
        assert [each.position for each in taken] == [1, 2, 3, 4]
        assert [each.version for each in taken] == [1, 2, 1, 3]
        assert [each.battle for each in taken] == [1, None, None, None]
        assert await everything(store) == taken
        assert await store.append({OAK: (3, [joined(9)])}) == {OAK: (5, 4)}

    async def test_imported_events_are_stored_one_by_one(self, store: Store) -> None:
        seen, taken = [], list[Entry]()

        def events() -> Iterator[tuple[str, Event]]:
            for number in range(1, 4):
                yield OAK, joined(number)
                seen.append(len(taken))

        await store.import_events(events(), taken.append)
        assert seen == [1, 2, 3]

    async def test_imported_events_reach_subscribers(self, store: Store) -> None:
        entries, taken = list[Entry](), list[Entry]()
        await store.subscribe(None, 0, entries.extend, print)
        await store.import_events([(OAK, started(1)), (PINE, joined(2))], taken.append)
        assert entries == taken

    async def test_failed_import_stores_nothing(self, store: Store) -> None:
        def events() -> Iterator[tuple[str, Event]]:
            yield OAK, started(1)
            raise LookupError("that is all")

        with pytest.raises(LookupError, match="that is all"):
            await store.import_events(events(), list[Entry]().append)
        assert await store.read(Database.stream_versions) == {}
        assert await store.read(battles.battle, 1) is None
        await store.import_events([(OAK, joined(1))], list[Entry]().append)
        assert await store.read(Database.stream_versions) == {OAK: 1}

    async def test_imported_match_resumes_once_as_adjourned(self, store: Store) -> None:
        began, rules = BattleId(OAK, 1), "discworld"
        saved = SavedMatch(
            began, 1, rules, (0, 0), "Anna", "Bert", rated=True, moves=(), outcome=None
        )
        away, back = Adjourned(2.0, "Anna", saved), Resumed(3.0, "Anna", saved)
        taken: list[Entry] = []
        with pytest.raises(ConflictError):
            await store.import_events([(OAK, started(1)), (PINE, back)], taken.append)
        twice: list[tuple[str, Event]] = [
            (OAK, started(1)), (OAK, away), (PINE, back), (OAK, back)
        ]  # fmt: skip
        with pytest.raises(ConflictError):
            await store.import_events(twice, taken.append)
        assert await store.read(Database.stream_versions) == {}
        taken.clear()
        await store.import_events([(OAK, started(1)), (OAK, away)], taken.append)
        assert len(await store.read(battles.adjourned, "Anna")) == 1
        # It was adjourned in a separate call.
        await store.import_events([(PINE, back)], taken.append)
        match = match_stream(began)
        assert [each.stream for each in taken] == [OAK, OAK, match, PINE, match]
        assert [each.battle for each in taken] == [1, None, None, 1, 1]
        assert await everything(store) == taken
        assert list(await store.read(battles.adjourned, "Anna")) == []
        with pytest.raises(ConflictError):
            await store.import_events([(OAK, back)], taken.append)

    async def test_import_of_no_events_changes_nothing(self, store: Store) -> None:
        await store.import_events([], list[Entry]().append)
        assert await store.position() == 0


class TestReading:
    @pytest.mark.parametrize(
        ("first", "most", "numbers"),
        [
            (1, None, [1, 2, 3, 4]),
            (0, None, [1, 2, 3, 4]),
            (3, None, [3, 4]),
            (5, None, []),
            (9, 2, []),
            (1, 2, [1, 2]),
            (3, 10, [3, 4]),
            (2, 0, []),
        ],
    )
    async def test_stream_range_can_be_read(
        self, store: Store, first: int, most: int | None, numbers: list[int]
    ) -> None:
        await store.append({OAK: (0, [joined(number) for number in (1, 2, 3, 4)])})
        await store.append({PINE: (0, [joined(5)])})
        assert [each.version for each in await store.read_stream(OAK, first, most)] == numbers


class TestSubscribing:
    async def test_subscriber_receives_all_events_in_order(self, store: Store) -> None:
        await store.append({OAK: (0, [joined(1), joined(2)])})
        taken, late = Taken(), Taken()
        await store.subscribe(None, 0, taken.take, taken.failed)
        assert events_of(taken.entries) == same(joined(1), joined(2))
        await store.append({PINE: (0, [joined(3)])})
        await store.append({OAK: (2, [joined(4)]), PINE: (1, [joined(5)])})
        await store.subscribe(None, 2, late.take, late.failed)
        assert taken.entries == await everything(store)
        assert late.entries == taken.entries[2:]

    async def test_subscriber_that_catches_up_has_all_stored_events(self, store: Store) -> None:
        taken = Taken()
        await store.subscribe(None, 0, taken.take, taken.failed)
        await store.append({OAK: (0, [joined(1)])})
        await store.catch_up()
        assert taken.entries == await everything(store)

    async def test_append_is_delivered_in_one_batch(self, store: Store) -> None:
        early, late = Taken(), Taken()
        await store.subscribe(None, 0, early.take, early.failed)
        sizes = [1, 700, 2, 900, 700, 1]
        for number, size in enumerate(sizes):
            await store.append({f"board {number}": (0, [moved(ply) for ply in range(size)])})
        await store.subscribe(None, 0, late.take, late.failed)
        for taken in (early, late):
            assert taken.entries == await everything(store)
            for batch in taken.batches:
                streams = [entry.stream for entry in batch]
                for number, size in enumerate(sizes):
                    assert streams.count(f"board {number}") in {0, size}

    async def test_subscription_to_some_streams_skips_others(self, store: Store) -> None:
        await store.append({OAK: (0, [joined(1)]), PINE: (0, [joined(2)])})
        taken = Taken()
        following = await store.subscribe({OAK}, 0, taken.take, taken.failed)
        await store.append({PINE: (1, [joined(3)]), OAK: (1, [joined(4)])})
        await store.append({PINE: (2, [joined(5)])})
        assert taken.entries == list(await store.read_stream(OAK))
        following.close()
        await store.append({OAK: (2, [joined(6)])})
        assert len(taken.entries) == 2

    async def test_subscription_from_a_future_position_waits_for_it(self, store: Store) -> None:
        taken = Taken()
        await store.append({OAK: (0, [joined(1)])})
        await store.subscribe(None, 2, taken.take, taken.failed)
        await store.append({OAK: (1, [joined(2)])})
        await store.append({OAK: (2, [joined(3)])})
        assert events_of(taken.entries) == same(joined(3))

    async def test_append_returns_after_local_delivery(self, store: Store) -> None:
        taken = Taken()
        await store.subscribe(None, 0, taken.take, taken.failed)
        await store.append({OAK: (0, [joined(1)])}, mark=taken)
        assert [entry.mark for entry in taken.entries] == [taken]
        assert [entry.mark for entry in await store.read_stream(OAK)] == [None]

    async def test_subscribers_receive_the_same_events_without_gaps(self, store: Store) -> None:
        async def play(stream: str) -> None:
            for version in range(0, 40, 2):
                await store.append({stream: (version, [moved(version), moved(version + 1)])})

        async def watch(late: int) -> Taken:
            taken = Taken()
            for _ in range(late):
                await asyncio.sleep(0)
            await store.subscribe(None, 0, taken.take, taken.failed)
            await taken.until(lambda: len(taken.entries) == 200)
            return taken

        streams = [f"board {number}" for number in range(5)]
        *seen, _ = await asyncio.gather(
            *(watch(late) for late in (0, 1, 10, 100)), asyncio.gather(*map(play, streams))
        )
        all_of_it = await everything(store)
        for taken in seen:
            assert isinstance(taken, Taken)
            assert taken.entries == all_of_it

    async def test_append_from_a_subscriber_keeps_delivery_order(self, store: Store) -> None:
        first, second = Taken(), Taken()
        tasks: list[asyncio.Task[object]] = []

        def answer(entries: list[Entry]) -> None:
            first.take(entries)
            if len(first.entries) < 5:
                version = entries[-1].version
                more = store.append({OAK: (version, [joined(version)])})
                tasks.append(asyncio.ensure_future(more))

        await store.subscribe(None, 0, answer, first.failed)  # type: ignore[arg-type]
        await store.subscribe(None, 0, second.take, second.failed)
        await store.append({OAK: (0, [joined(0)])})
        await second.until(lambda: len(second.entries) == 5)
        assert second.entries == first.entries == await everything(store)
        await asyncio.gather(*tasks)

    async def test_conflicting_append_is_not_delivered(self, store: Store) -> None:
        taken = Taken()
        await store.subscribe(None, 0, taken.take, taken.failed)
        with pytest.raises(ConflictError):
            await store.append({OAK: (7, [joined(1)])})
        await store.append({OAK: (0, [joined(2)])})
        assert events_of(taken.entries) == same(joined(2))

    async def test_failing_subscriber_does_not_affect_others(self, store: Store) -> None:
        def fail(_: object) -> None:
            raise RuntimeError("no")

        taken = Taken()
        await store.subscribe(None, 0, fail, taken.failed)
        await store.subscribe(None, 0, taken.take, taken.failed)
        await store.append({OAK: (0, [joined(1)])})
        assert events_of(taken.entries) == same(joined(1))


class TestAnalyses:
    BEGAN = BattleId(OAK, 2)
    ANALYSIS = Analysis(
        6000,
        (0, -130, 300, WIN_SCORE),
        (0, 430, 60),
        ((), DISCWORLD_LINE, KOOM_VALLEY_LINE),
    )

    async def found(self, store: Store, began: BattleId, plies: int) -> Analysis | None:
        found = await store.look_up(KeptAnalysisLookup(began, plies))
        assert found is None or isinstance(found, Analysis)
        return found

    async def test_analysis_is_stored(self, opening: Opening) -> None:
        store = await opening()
        await store.append({OAK: (0, [joined(1), started(2)])})
        assert await self.found(store, self.BEGAN, 3) is None
        await store.write(partial(keep_analysis, began=self.BEGAN, analysis=self.ANALYSIS))
        assert await self.found(store, self.BEGAN, 3) == self.ANALYSIS
        await is_in_order(store)

    async def test_analysis_belongs_to_one_battle_and_length(self, store: Store) -> None:
        await store.append({OAK: (0, [joined(1), started(2)])})
        await store.write(partial(keep_analysis, began=self.BEGAN, analysis=self.ANALYSIS))
        for board, version, plies in ((OAK, 1, 3), (PINE, 2, 3), (OAK, 2, 4)):
            assert await self.found(store, BattleId(board, version), plies) is None

    async def test_analysis_is_replaced_by_a_later_one(self, store: Store) -> None:
        await store.append({OAK: (0, [joined(1), started(2)])})
        better = replace(self.ANALYSIS, nodes=100_000)
        for each in (self.ANALYSIS, better):
            await store.write(partial(keep_analysis, began=self.BEGAN, analysis=each))
        assert await self.found(store, self.BEGAN, 3) == better
        await is_in_order(store)


class TestClosing:
    async def test_close_stores_pending_appends(self, store: Store) -> None:
        taken = Taken()
        await store.subscribe(None, 0, taken.take, taken.failed)
        appends = [
            asyncio.create_task(store.append({f"board {number}": (0, [joined(number)])}))
            for number in range(30)
        ]
        await asyncio.sleep(0)
        await store.close()
        await asyncio.gather(*appends)
        assert len(taken.entries) == 30

    async def test_append_after_close_is_refused(self, store: Store) -> None:
        await store.close()
        with pytest.raises(NotWrittenError, match="closed"):
            await store.append({OAK: (0, [joined(1)])})
        await store.close()

    async def test_read_after_close_does_not_hang(self, store: Store) -> None:
        await store.close()
        for read in (Database.stream_versions, Database.position, accounts.all_accounts):
            with suppress(StoreError):
                await asyncio.wait_for(store.read(read), 10)


def test_memory_store_works_without_an_event_loop() -> None:
    """Embedders may drive the store without an event loop."""
    store, taken = Store.in_memory(), Taken()

    async def play() -> None:
        await store.subscribe(None, 0, taken.take, taken.failed)
        await store.append({OAK: (0, [joined(1)])})
        await store.write(accounts.enrol, "Anna", "hash")
        await is_in_order(store)
        await store.close()

    with pytest.raises(StopIteration):
        play().send(None)
    assert events_of(taken.entries) == same(joined(1))
