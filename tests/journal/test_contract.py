"""What every journal does, wherever it stores events: see `thudmud.journal.Journal`."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.codec.generated import some_events
from tests.journal.deeds import (
    OAK,
    PINE,
    cleared,
    ended,
    events_of,
    everything,
    joined,
    moved,
    second,
    soon,
    started,
    taken,
)
from thudmud.journal import Conflict, Entry, Journal, JournalError, NotWritten
from thudmud.journal.following import MOST_WAITING
from thudmud.play.events import LANDMARKS, Event


class TestAppending:
    async def test_a_journal_begins_empty(self, journal: Journal) -> None:
        assert await journal.list() == {}
        assert await journal.position() == 0
        assert list(await journal.landmarks()) == []
        assert list(await journal.read(OAK)) == []

    async def test_events_are_numbered_in_their_stream_and_in_all(self, journal: Journal) -> None:
        await journal.append(OAK, 0, [joined(1), started(2)])
        await journal.append(PINE, 0, [joined(3)])
        await journal.append(OAK, 2, [joined(4)])
        oak, pine = await journal.read(OAK), await journal.read(PINE)
        assert [(each.stream, each.version) for each in oak] == [(OAK, 1), (OAK, 2), (OAK, 3)]
        assert events_of(oak) == [joined(1), started(2), joined(4)]
        assert [(each.stream, each.version) for each in pine] == [(PINE, 1)]
        assert events_of(await everything(journal)) == [joined(1), started(2), joined(3), joined(4)]
        positions = [each.position for each in await everything(journal)]
        assert positions == sorted(set(positions))
        assert await journal.position() == positions[-1]
        assert await journal.list() == {OAK: 3, PINE: 1}

    @pytest.mark.parametrize("expected", [-1, 0, 1, 3])
    async def test_another_version_is_a_conflict_and_changes_nothing(
        self, journal: Journal, expected: int
    ) -> None:
        await journal.append(OAK, 0, [joined(1), joined(2)])
        with pytest.raises(Conflict) as caught:
            await journal.append(OAK, expected, [joined(3)])
        assert (caught.value.stream, caught.value.expected, caught.value.found) == (
            OAK,
            expected,
            2,
        )
        assert events_of(await everything(journal)) == [joined(1), joined(2)]

    async def test_a_stream_begins_at_nothing(self, journal: Journal) -> None:
        with pytest.raises(Conflict):
            await journal.append(OAK, 1, [joined(1)])
        assert await journal.list() == {}

    async def test_no_events_are_stored_as_none(self, journal: Journal) -> None:
        await journal.append(OAK, 0, [])
        assert await journal.list() == {}
        with pytest.raises(Conflict):
            await journal.append(OAK, 1, [])

    async def test_of_those_who_race_one_wins_each_version(self, journal: Journal) -> None:
        outcomes = await asyncio.gather(
            *(journal.append(OAK, 0, [joined(number), moved(number)]) for number in range(20)),
            return_exceptions=True,
        )
        winners = [number for number, outcome in enumerate(outcomes) if outcome is None]
        assert len(winners) == 1
        assert all(isinstance(each, Conflict) for each in outcomes if each is not None)
        assert events_of(await journal.read(OAK)) == [joined(winners[0]), moved(winners[0])]

    async def test_all_tables_append_at_once(self, journal: Journal) -> None:
        async def play(stream: str) -> None:
            for ply in range(30):
                await journal.append(stream, ply, [moved(ply)])

        streams = [f"board {number}" for number in range(20)]
        await asyncio.gather(*map(play, streams))
        assert await journal.list() == dict.fromkeys(streams, 30)
        for stream in streams:
            assert events_of(await journal.read(stream)) == [moved(ply) for ply in range(30)]

    async def test_who_loses_a_race_can_decide_again(self, journal: Journal) -> None:
        async def insist(number: int) -> None:
            while True:
                version = (await journal.list()).get(OAK, 0)
                with suppress(Conflict):
                    return await journal.append(OAK, version, [joined(number)])

        await asyncio.gather(*map(insist, range(10)))
        assert set(events_of(await journal.read(OAK))) == {joined(number) for number in range(10)}

    async def test_a_cancelled_append_is_stored_whole_or_not_at_all(self, journal: Journal) -> None:
        task = asyncio.create_task(journal.append(OAK, 0, [joined(1), joined(2)]))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        version = (await journal.list()).get(OAK, 0)
        assert version in {0, 2}
        await journal.append(OAK, version, [joined(3)])
        assert events_of(await journal.read(OAK))[-1] == joined(3)

    @settings(
        max_examples=10,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(events=st.lists(some_events, max_size=30))
    async def test_every_event_is_read_as_it_was(
        self, journal: Journal, events: list[Event]
    ) -> None:
        version = (await journal.list()).get(OAK, 0)
        await journal.append(OAK, version, events)
        assert repr(events_of(await journal.read(OAK, version + 1))) == repr(events)
        assert list(await journal.landmarks()) == [
            entry for entry in await everything(journal) if isinstance(entry.event, LANDMARKS)
        ]


class TestReading:
    @pytest.mark.parametrize(
        ("first", "most", "numbers"),
        [
            (1, None, [1, 2, 3, 4]),
            (0, None, [1, 2, 3, 4]),
            (3, None, [3, 4]),
            (5, None, []),
            (1, 2, [1, 2]),
            (3, 10, [3, 4]),
            (2, 0, []),
        ],
    )
    async def test_a_part_can_be_read(
        self, journal: Journal, first: int, most: int | None, numbers: list[int]
    ) -> None:
        await journal.append(OAK, 0, [joined(number) for number in (1, 2, 3, 4)])
        await journal.append(PINE, 0, [joined(5)])
        assert [each.version for each in await journal.read(OAK, first, most)] == numbers

    async def test_a_fold_begins_at_the_last_event_that_needs_none_before_it(
        self, journal: Journal
    ) -> None:
        assert await journal.beginning(OAK) == 1
        await journal.append(OAK, 0, [joined(1), joined(2)])
        assert await journal.beginning(OAK) == 1
        await journal.append(OAK, 2, [started(2), moved(1), second(3), moved(1)])
        assert await journal.beginning(OAK) == 3
        await journal.append(PINE, 0, [cleared(4), joined(5), cleared(6)])
        assert await journal.beginning(OAK) == 3
        assert await journal.beginning(PINE) == 3

    async def test_landmarks_are_read_by_themselves(self, journal: Journal) -> None:
        await journal.append(OAK, 0, [joined(1), started(2), moved(1)])
        await journal.append(PINE, 0, [started(3)])
        await journal.append(OAK, 3, [moved(2), cleared(4)])
        landmarks = list(await journal.landmarks())
        assert [(each.stream, each.version, each.event) for each in landmarks] == [
            (OAK, 2, started(2)),
            (PINE, 1, started(3)),
            (OAK, 5, cleared(4)),
        ]
        assert landmarks == [
            entry for entry in await everything(journal) if isinstance(entry.event, LANDMARKS)
        ]


class TestFollowing:
    async def test_what_is_appended_comes(self, journal: Journal) -> None:
        following = journal.follow()
        await journal.append(OAK, 0, [joined(1), joined(2)])
        assert list(await soon(following)) == await everything(journal)

    async def test_what_is_appended_is_there_at_once(self, journal: Journal) -> None:
        following = journal.follow()
        await journal.append(OAK, 0, [joined(1)])
        step = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0)
        assert events_of(step.result()) == [joined(1)], "it had to be waited for"

    async def test_who_waits_is_woken(self, journal: Journal) -> None:
        step = asyncio.ensure_future(soon(journal.follow()))
        await asyncio.sleep(0)
        assert not step.done()
        await journal.append(OAK, 0, [joined(1)])
        assert events_of(await step) == [joined(1)]

    async def test_a_late_follower_is_given_all_from_where_it_wants(self, journal: Journal) -> None:
        await journal.append(OAK, 0, [joined(1), joined(2)])
        between = await journal.position()
        await journal.append(PINE, 0, [joined(3)])
        await journal.append(OAK, 2, [joined(4)])
        assert events_of(await taken(journal.follow(), 4)) == [
            joined(each) for each in (1, 2, 3, 4)
        ]
        assert events_of(await taken(journal.follow(between), 2)) == [joined(3), joined(4)]

    async def test_a_follower_of_the_future_waits_for_it(self, journal: Journal) -> None:
        await journal.append(OAK, 0, [joined(1)])
        following = journal.follow(await journal.position() + 1)
        await journal.append(OAK, 1, [joined(2)])
        await journal.append(OAK, 2, [joined(3)])
        assert events_of(await taken(following, 1)) == [joined(3)]

    async def test_following_begins_with_the_call(self, journal: Journal) -> None:
        following = journal.follow(await journal.position())
        await journal.append(OAK, 0, [joined(1)])
        await journal.append(OAK, 1, [joined(2)])
        assert events_of(await taken(following, 2)) == [joined(1), joined(2)]

    async def test_everybody_sees_the_same_order_without_a_gap(self, journal: Journal) -> None:
        async def play(stream: str) -> None:
            for version in range(0, 40, 2):
                await journal.append(stream, version, [moved(version), moved(version + 1)])

        async def watch(late: int) -> list[Entry]:
            for _ in range(late):
                await asyncio.sleep(0)
            return await taken(journal.follow(), 200)

        streams = [f"board {number}" for number in range(5)]
        *seen, _ = await asyncio.gather(
            *(watch(late) for late in (0, 1, 10, 100)), asyncio.gather(*map(play, streams))
        )
        all_of_it = await everything(journal)
        assert len(all_of_it) == 200
        assert all(each == all_of_it for each in seen)

    async def test_the_events_of_one_append_come_together(self, journal: Journal) -> None:
        sizes = [1, 700, 2, 900, 700, 1]
        following = journal.follow()
        for number, size in enumerate(sizes):
            await journal.append(f"board {number}", 0, [moved(ply) for ply in range(size)])
        for each in (following, journal.follow(), journal.follow(1)):
            found = 0
            while found < sum(sizes[1:]):
                batch = await soon(each)
                found += len(batch)
                streams = [entry.stream for entry in batch]
                assert all(
                    streams.count(f"board {number}") in {0, size}
                    for number, size in enumerate(sizes)
                )

    async def test_a_slow_follower_misses_nothing(self, journal: Journal) -> None:
        slow = journal.follow()
        for version in range(MOST_WAITING + 10):
            await journal.append(OAK, version, [moved(version)])
        assert await taken(slow, MOST_WAITING + 10) == await everything(journal)
        await journal.append(PINE, 0, [joined(1)])
        assert events_of(await soon(slow)) == [joined(1)]

    async def test_a_cancelled_step_loses_nothing(self, journal: Journal) -> None:
        following = journal.follow()
        found: list[Entry] = []
        for version in range(20):
            step = asyncio.ensure_future(anext(following))
            for _ in range(version % 4):
                await asyncio.sleep(0)
            await journal.append(OAK, version, [joined(version)])
            step.cancel()
            await asyncio.wait([step])
            found += [] if step.cancelled() else step.result()
        found += await taken(following, 20 - len(found))
        assert found == await everything(journal)

    async def test_a_conflict_is_not_followed(self, journal: Journal) -> None:
        following = journal.follow()
        with pytest.raises(Conflict):
            await journal.append(OAK, 7, [joined(1)])
        await journal.append(OAK, 0, [joined(2)])
        assert events_of(await soon(following)) == [joined(2)]

    async def test_who_is_forgotten_is_not_kept(self, journal: Journal) -> None:
        following = journal.follow()
        await journal.append(OAK, 0, [joined(1)])
        del following
        gc.collect()
        assert not [each for each in gc.get_objects() if type(each).__name__ == "Follower"]


class TestClosing:
    async def test_following_ends(self, journal: Journal) -> None:
        step = asyncio.ensure_future(ended(journal.follow()))
        await asyncio.sleep(0)
        await journal.close()
        assert await step
        assert await ended(journal.follow())

    async def test_what_was_handed_over_is_still_taken(self, journal: Journal) -> None:
        following = journal.follow()
        await journal.append(OAK, 0, [joined(1)])
        await journal.append(OAK, 1, [joined(2)])
        await journal.close()
        assert events_of(await taken(following, 2)) == [joined(1), joined(2)]
        assert await ended(following)

    async def test_what_waits_to_be_stored_is_stored(self, journal: Journal) -> None:
        following = journal.follow()
        appends = [
            asyncio.create_task(journal.append(f"board {number}", 0, [joined(number)]))
            for number in range(30)
        ]
        await asyncio.sleep(0)
        await journal.close()
        await asyncio.gather(*appends)
        assert len(await taken(following, 30)) == 30
        assert await ended(following)

    async def test_a_follower_that_reads_meanwhile_ends_too(self, journal: Journal) -> None:
        await journal.append(OAK, 0, [moved(ply) for ply in range(50)])
        followers = [journal.follow() for _ in range(20)]
        steps = [asyncio.ensure_future(soon(each)) for each in followers]
        await asyncio.gather(journal.close(), journal.close())
        outcomes = await asyncio.gather(*steps, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                assert isinstance(outcome, StopAsyncIteration)
            else:
                assert len(outcome) == 50
        assert all([await ended(each) for each in followers])

    async def test_nothing_is_stored_afterwards(self, journal: Journal) -> None:
        await journal.close()
        with pytest.raises(NotWritten, match="closed"):
            await journal.append(OAK, 0, [joined(1)])
        await journal.close()

    async def test_nobody_waits_for_ever(self, journal: Journal) -> None:
        await journal.close()
        for read in (journal.list, journal.landmarks, journal.position):
            with suppress(JournalError):
                await asyncio.wait_for(read(), 10)
