"""Appends to PostgreSQL, prepared without the writers' lock and stored in one round trip."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress

import psycopg
import pytest

from tests.service.place import until
from tests.store.clusters import Cluster
from tests.store.deeds import OAK, PINE, Clock, Taken, joined
from tests.store.proxies import Proxy, commits
from thudmud.game.events import StoredEvent
from thudmud.store import (
    ConflictError,
    Entry,
    FeedEntry,
    NotWrittenError,
    Store,
    UncertainError,
)
from thudmud.store.backend import Lock
from thudmud.store.database import Append, Database, Work
from thudmud.store.postgres import Postgres
from thudmud.values import replace

LOCK = b"pg_advisory_xact_lock"


@pytest.fixture
def proxy(cluster: Cluster) -> Iterator[Proxy]:
    with closing(Proxy(cluster.port)) as proxy:
        yield proxy


@pytest.fixture
def other(dsn: str) -> Iterator[Database]:
    """Return another node's database, in which two boards have a first event."""
    with closing(Database(Postgres(dsn), Clock())) as other:
        write(other, append(OAK, 0, joined(1)))
        write(other, append(PINE, 0, joined(1)))
        yield other


@pytest.fixture
def ours(other: Database, dsn: str, cluster: Cluster, proxy: Proxy) -> Iterator[Database]:
    """Return a database that is followed, connected through the proxy."""
    through = dsn.replace(f"port={cluster.port}", f"port={proxy.port}")
    with closing(Database(Postgres(through), Clock())) as ours:
        ours.read(lambda database: database.entries_for_subscriber(0))
        yield ours


@pytest.fixture
def meanwhile(ours: Database, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function whose argument is called once after the next append has been prepared."""

    def call_once(do: Callable[[], object]) -> None:
        todo, store = [do], ours.backend.append

        def store_later(*prepared: object) -> object:
            if todo:
                todo.pop()()
            return store(*prepared)  # type: ignore[arg-type]

        monkeypatch.setattr(ours.backend, "append", store_later)

    return call_once


def append(stream: str, version: int, *events: StoredEvent, mark: object = None) -> Append:
    return Append({stream: (version, events)}, None, mark)


def write(database: Database, *works: Work) -> tuple[list[object], list[Entry]]:
    """Run works in one transaction; return the positions of what they stored, and the entries."""
    outcomes, entries = database.write(works)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome
    positions = [stored.position for each in outcomes for stored in each.values()]
    return positions, whole(entries)


def whole(entries: Sequence[FeedEntry]) -> list[Entry]:
    """Return entries none of which is a ply without its player."""
    found = [each for each in entries if isinstance(each, Entry)]
    assert len(found) == len(entries)
    return found


def places(entries: Sequence[FeedEntry]) -> list[tuple[int, str, int, object]]:
    return [(each.position, each.stream, each.version, each.mark) for each in whole(entries)]


class TestRoundTrips:
    @pytest.mark.parametrize(("others", "most"), [(0, 2), (1, 4)])
    def test_append_holds_the_lock_for_one_round_trip(
        self, ours: Database, other: Database, proxy: Proxy, *, others: int, most: int
    ) -> None:
        write(ours, append(PINE, 1, joined(2)))
        for number in range(others):
            write(other, append(OAK, 1 + number, joined(2)))
        proxy.round_trips.clear()
        write(ours, append(PINE, 2, joined(3)))
        [locked] = [each for each in proxy.round_trips if LOCK in each]
        assert commits(locked)
        assert locked.index(LOCK) < locked.index(b"\0commit\0")
        assert len(proxy.round_trips) == most

    def test_events_share_a_round_trip(self, ours: Database, proxy: Proxy) -> None:
        write(ours, append(PINE, 1, joined(2)), append(OAK, 1, joined(2)))
        proxy.round_trips.clear()
        before = ours.table.changes
        positions, _ = write(ours, append(PINE, 2, joined(3), joined(4)), append(OAK, 2, joined(3)))
        assert positions == [6, 7]
        assert len(proxy.round_trips) == 2
        assert ours.table.changes == before + 6  # three events, two streams, head


class TestOtherWriters:
    def test_entries_of_others_come_first(
        self, ours: Database, other: Database, meanwhile: Callable[..., None]
    ) -> None:
        other.backend.connection.execute("update head set at = at + 100")
        meanwhile(lambda: write(other, append(OAK, 1, joined(2))))
        positions, entries = write(ours, append(PINE, 1, joined(2), joined(3), mark="ours"))
        assert positions == [5]
        assert places(entries) == [
            (3, OAK, 2, None),
            (4, PINE, 2, "ours"),
            (5, PINE, 3, "ours"),
        ]
        assert entries == [
            each._replace(mark=mine.mark)
            for each, mine in zip(whole(other.entries_after(2)), entries, strict=True)
        ]
        assert ours.others_wrote
        assert ours.is_caught_up
        assert ours.read_news() in (None, [])
        assert write(ours, append(OAK, 2, joined(3)))[0] == [6]

    def test_conflict_stores_nothing(
        self, ours: Database, other: Database, meanwhile: Callable[..., None], proxy: Proxy
    ) -> None:
        """The other append of the same transaction is stored."""
        meanwhile(lambda: write(other, append(OAK, 1, joined(2))))
        [conflict, stored], entries = ours.write(
            [append(OAK, 1, joined(3)), append(PINE, 1, joined(2))]
        )
        assert isinstance(conflict, ConflictError)
        assert (conflict.stream, conflict.expected, conflict.found) == (OAK, 1, 2)
        assert stored[PINE].position == 4
        assert places(entries) == [(3, OAK, 2, None), (4, PINE, 2, None)]
        proxy.cuts_before = lambda _: True  # over a new link, our last commit is looked up
        assert write(ours, append(PINE, 2, joined(3)))[0] == [5]
        assert proxy.cuts == 1

    def test_name_freed_meanwhile_is_a_new_player(
        self, ours: Database, other: Database, meanwhile: Callable[..., None]
    ) -> None:
        assert len(list(other.table.rows("player"))) == 1
        free = "update player set key = null, name = '(erased 1)'"
        meanwhile(lambda: other.backend.connection.execute(free))
        write(ours, append(OAK, 1, joined(2)))
        assert [row[3] for row in other.table.rows("player", "order by id")] == [
            "(erased 1)",
            "Anna",
        ]
        [entry] = whole(other.entries_after(2))
        assert entry.event == replace(joined(2), at=entry.event.at)

    def test_events_of_others_that_cannot_be_read_make_the_outcome_uncertain(
        self,
        ours: Database,
        other: Database,
        meanwhile: Callable[..., None],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Subscribers then get everything later, in order."""
        meanwhile(lambda: write(other, append(OAK, 1, joined(2))))

        def lose(*_: object) -> None:
            raise psycopg.OperationalError("lost")

        with monkeypatch.context() as patch:
            patch.setattr(ours.feed, "unread_entries", lose)
            with pytest.raises(UncertainError):
                write(ours, append(PINE, 1, joined(2)))
        news = ours.read_news()
        assert news
        assert places(news) == [(3, OAK, 2, None), (4, PINE, 2, None)]


class TestLostLinks:
    def test_link_cut_within_the_transaction_stores_it_once(
        self, ours: Database, other: Database, proxy: Proxy
    ) -> None:
        proxy.cuts_within = b"update stream"
        positions, entries = write(ours, append(PINE, 1, joined(2), mark="ours"))
        assert proxy.cuts == 1
        assert positions == [3]
        assert places(entries) == [(3, PINE, 2, "ours")]
        assert other.position() == 3

    def test_link_cut_after_the_commit_stores_it_once(
        self, ours: Database, other: Database, meanwhile: Callable[..., None], proxy: Proxy
    ) -> None:
        """The events have other positions than those prepared, and the answer with them is lost."""
        meanwhile(lambda: write(other, append(OAK, 1, joined(2))))
        proxy.cuts_after = commits
        positions, entries = write(ours, append(PINE, 1, joined(2), joined(3), mark="ours"))
        assert proxy.cuts == 1
        assert positions == [5]
        assert places(entries) == [
            (3, OAK, 2, None),
            (4, PINE, 2, "ours"),
            (5, PINE, 3, "ours"),
        ]
        assert other.position() == 5

    def test_conflict_whose_answer_is_lost_stays_a_conflict(
        self, ours: Database, other: Database, meanwhile: Callable[..., None], proxy: Proxy
    ) -> None:
        meanwhile(lambda: write(other, append(OAK, 1, joined(2))))
        proxy.cuts_after = commits
        with pytest.raises(ConflictError):
            write(ours, append(OAK, 1, joined(3)))
        assert proxy.cuts == 1
        assert other.position() == 3


class TestDelays:
    def test_fence_is_asked_again_under_the_lock_near_the_end_of_a_lease(
        self, ours: Database
    ) -> None:
        asked: list[float] = []

        def fence(ahead: float) -> None:
            asked.append(ahead)
            if ahead:
                raise NotWrittenError("The lease may end before that.")

        write(ours, Append({OAK: (1, [joined(2)])}, None, None, fence=fence))
        assert asked == [1.0, 0.0]

    def test_append_sent_too_late_is_decided_under_the_lock(
        self, ours: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its process was suspended in between: by now another node may have reaped it."""
        look, asked = ours.backend.head_and_time, list[float]()
        monkeypatch.setattr(ours.backend, "head_and_time", lambda: (look()[0], look()[1] - 10.0))

        def fence(ahead: float) -> None:
            asked.append(ahead)
            if len(asked) > 1:
                raise NotWrittenError("The lease has ended.")

        with pytest.raises(NotWrittenError, match="The lease has ended"):
            write(ours, Append({OAK: (1, [joined(2)])}, None, None, fence=fence))
        assert asked == [1.0, 0.0]
        assert ours.position() == 2

    async def test_append_waits_for_a_lock_that_is_held_for_long(self, dsn: str) -> None:
        store, taken = await Store.connect(dsn), Taken()
        await store.append({OAK: (0, [joined(1)])})
        await store.subscribe(None, 0, taken.take, taken.failed)
        with psycopg.connect(dsn, autocommit=True) as session:
            session.execute(f"select pg_advisory_lock({Lock.WRITING:d})".encode())
            appending = asyncio.ensure_future(store.append({OAK: (1, [joined(2)])}))
            waits = b"select from pg_stat_activity where query like 'begin; %' and"
            waits += b" wait_event_type = 'Lock'"
            await until(lambda: bool(session.execute(waits).fetchall()))
        await appending
        assert [each.version for each in taken.entries] == [1, 2]
        with suppress(NotWrittenError):
            await store.close()
