"""Fail-over from the primary to its standby, with each hazard provoked deliberately."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import psycopg
import pytest

from tests.conftest import SOAKING
from tests.features.moderation.reports import report, reports
from tests.simulation.alone import DrivingLoop, simulated
from tests.simulation.database import Database
from tests.store.clusters import FAST, Cluster
from tests.store.deeds import OAK, PATIENCE, Taken, joined, players
from tests.store.proxies import Proxy, commits
from thudmud.store import (
    NotWrittenError,
    Store,
    StoreError,
    UncertainError,
    accounts,
    nodes,
    postgres,
)

Done = Callable[[Store], Awaitable[object]]


class Replicated(NamedTuple):
    """A primary with a synchronous standby, and a store on it."""

    primary: Cluster
    standby: Cluster
    link: Proxy
    """The proxy between the store and the primary."""
    store: Store


@pytest.fixture
async def replicated() -> AsyncIterator[Replicated]:
    with ExitStack() as ending:
        primary = Cluster(**FAST)
        ending.callback(primary.remove)
        await asyncio.to_thread(primary.start)
        standby = await asyncio.to_thread(primary.standby)
        ending.callback(standby.remove)
        link = ending.enter_context(closing(Proxy(primary.port)))
        store = await Store.connect(primary.dsn().replace(f"{primary.port}", f"{link.port}"))
        yield Replicated(primary, standby, link, store)
        await store.close()


WRITTEN: Mapping[str, tuple[Done, Done]] = {
    "events": (lambda store: store.append({OAK: (1, [joined(2, "Bert")])}), players),
    "account": (
        lambda store: store.write(accounts.enrol, "Bert", "hash"),
        lambda store: store.read(accounts.find, "Bert"),
    ),
    "report": (
        lambda store: report(store, "Anna", "Bert", "Rude."),
        reports,
    ),
    "claim": (
        lambda store: store.write(nodes.claim, "Bert", "node", "session"),
        lambda store: store.read(nodes.all_claims),
    ),
}
"""Writes by kind and the reads that verify them; all use the same kind of commit."""


class TestStandby:
    """Commits are acknowledged only once the standby has them."""

    @pytest.mark.parametrize("is_ended", [False, True])
    async def test_unreplicated_commit_is_not_acknowledged(
        self, replicated: Replicated, monkeypatch: pytest.MonkeyPatch, *, is_ended: bool
    ) -> None:
        """A wait for the standby that is ended still leaves the commit in effect."""
        primary, standby, link, store = replicated
        monkeypatch.setattr(postgres, "PATIENCE", 1.0)
        await store.append({OAK: (0, [joined(1, "Anna")])})
        await asyncio.to_thread(standby.stop)
        link.cuts_after = commits
        link.refuses = True
        appending = asyncio.ensure_future(store.append({OAK: (1, [joined(2, "Bert")])}))
        with psycopg.connect(primary.dsn(), autocommit=True) as session:
            [waiting] = await sessions_that_wait(session)
            if is_ended:
                session.execute("select pg_terminate_backend(%s, 20000)", [waiting])
        link.refuses = False
        with pytest.raises(UncertainError):
            await appending
        await store.close()
        await asyncio.to_thread(primary.kill)
        await asyncio.to_thread(standby.start)
        standby.promote()
        after = await Store.connect(standby.dsn())
        assert await players(after) == ["Anna"]
        await after.close()

    async def test_append_waits_for_a_stalled_standby(
        self, replicated: Replicated, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        primary, standby, link, store = replicated
        monkeypatch.setattr(postgres, "PATIENCE", 3 * PATIENCE)
        await store.append({OAK: (0, [joined(1, "Anna")])})
        standby.signal(signal.SIGSTOP)
        link.cuts_after = commits
        appending = asyncio.ensure_future(store.append({OAK: (1, [joined(2, "Bert")])}))
        with psycopg.connect(primary.dsn(), autocommit=True) as session:
            assert len(await sessions_that_wait(session)) == 1
        assert not appending.done()
        standby.signal(signal.SIGCONT)
        await appending
        assert await players(store) == ["Anna", "Bert"]

    @pytest.mark.parametrize("what", WRITTEN if SOAKING else list(WRITTEN)[:1])
    async def test_commit_check_after_promotion_ignores_reused_xids(
        self,
        replicated: Replicated,
        monkeypatch: pytest.MonkeyPatch,
        what: str,
    ) -> None:
        """A promoted server reuses transaction ids that it has not seen.

        The link is lost after a commit was sent, and the commit never reaches the standby. Only
        after another transaction has taken its id there does the store ask about it.
        """
        primary, standby, link, store = replicated
        write, read = WRITTEN[what]
        await store.append({OAK: (0, [joined(1, "Anna")])})
        await store.write(nodes.renew_lease, "node", 1000.0)
        may_connect, connect = Event(), postgres.open_connection

        def connected_later(dsn: str) -> psycopg.Connection[Any]:
            may_connect.wait()
            return connect(dsn)

        monkeypatch.setattr(postgres, "open_connection", connected_later)
        await asyncio.to_thread(standby.stop)
        link.cuts_after = commits
        writing = asyncio.ensure_future(write(store))
        with psycopg.connect(primary.dsn(), autocommit=True) as session:
            [waiting] = await sessions_that_wait(session)
            query = "select backend_xid::text::bigint from pg_stat_activity where pid = %s"
            ((number,),) = session.execute(query, [waiting]).fetchall()
        await asyncio.to_thread(primary.kill)
        await asyncio.to_thread(standby.start)
        await asyncio.to_thread(standby.promote)
        link.lead_to(standby.port)
        with psycopg.connect(standby.dsn(), autocommit=True) as session:
            given_out = 0
            while given_out <= number:
                query = "select pg_current_xact_id()::text::bigint"
                ((given_out,),) = session.execute(query).fetchall()
            status = session.execute("select pg_xact_status(%s::text::xid8)", [number]).fetchall()
        assert status == [("committed",)]
        assert not writing.done()
        may_connect.set()
        await writing
        after = await Store.connect(standby.dsn())
        assert await read(after) == await read(store)
        assert await read(after)
        assert await players(after) in (["Anna"], ["Anna", "Bert"])
        assert await after.check() is None
        await after.close()


async def sessions_that_wait(session: psycopg.Connection[Any]) -> list[int]:
    """Wait until sessions wait for a standby and return their process ids."""
    async with asyncio.timeout(PATIENCE):
        while True:
            query = "select pid from pg_stat_activity where wait_event = 'SyncRep'"
            if found := [pid for (pid,) in session.execute(query)]:
                return found
            await asyncio.sleep(0.01)


class TestCrash:
    """The primary restarts without having consulted its standby."""

    async def test_unreplicated_events_are_not_delivered_after_a_crash(
        self, replicated: Replicated
    ) -> None:
        primary, standby, link, store = replicated
        await store.append({OAK: (0, [joined(1, "Anna")])})
        other, taken = await Store.connect(primary.dsn()), Taken()
        await other.subscribe(None, 0, taken.take, taken.failed)
        await asyncio.to_thread(standby.stop)
        appending = asyncio.ensure_future(store.append({OAK: (1, [joined(2, "Bert")])}))
        with psycopg.connect(primary.dsn(), autocommit=True) as session:
            await sessions_that_wait(session)
        link.refuses = True
        await asyncio.to_thread(primary.kill)
        await asyncio.to_thread(primary.start)
        reading = asyncio.ensure_future(players(other))
        with psycopg.connect(primary.dsn(), autocommit=True) as session:
            assert session.execute("select count(*) from event").fetchall() == [(2,)]
            await sessions_that_wait(session)
        assert not reading.done()
        assert len(taken.entries) == 1
        link.refuses = False
        await asyncio.to_thread(standby.start)
        assert await reading == ["Anna", "Bert"]
        await taken.until(lambda: len(taken.entries) == 2)
        with suppress(UncertainError):  # the wait may time out before the standby is back
            await appending
        await other.close()


class TestBeginning:
    """A server starts on a primary that has just restarted."""

    def test_unreplicated_events_are_not_read_at_start(self, tmp_path: Path) -> None:
        """Such events may be lost with the primary, and the server would have to restart."""
        with closing(DrivingLoop()) as loop, simulated(loop, tmp_path / "thud.store") as base:
            loop.run_until_complete(self.begun_after_a_crash(base))

    async def begun_after_a_crash(self, base: Database) -> None:
        store = await Store.connect("dbname=world")
        await store.append({OAK: (0, [joined(1, "Anna")])})
        crashed = asyncio.Event()

        def crash(_: object) -> None:
            base.crash(pause=0.1, lag=PATIENCE)
            crashed.set()

        base.on_commit = False, crash
        appending = asyncio.ensure_future(store.append({OAK: (1, [joined(2, "Bert")])}))
        await crashed.wait()
        await self.serves(base)
        assert base.behind
        reader = await Store.connect("dbname=world")
        assert await players(reader) == ["Anna", "Bert"]
        beginning = asyncio.ensure_future(Store.connect("dbname=world", serving=True))
        await asyncio.sleep(2.0)
        assert not beginning.done()
        base.fail_over(pause=0.1)
        with pytest.raises(StoreError, match="could not be used"):
            await beginning
        await self.serves(base)
        server = await Store.connect("dbname=world", serving=True)
        assert await players(server) == ["Anna"]
        await server.close()
        with pytest.raises(StoreError):
            await appending

    async def serves(self, base: Database) -> None:
        """Advance the simulated time until every process can reach the database again."""
        await asyncio.sleep(0.2)
        assert base.is_up
        base.cuts.clear()


class TestForgotten:
    """An asynchronous standby that lagged behind was promoted."""

    @pytest.fixture
    async def behind(self, replicated: Replicated) -> Replicated:
        primary, standby, _, store = replicated
        await store.append({OAK: (0, [joined(1, "Anna")])})
        await asyncio.to_thread(standby.stop)
        with psycopg.connect(primary.dsn(), autocommit=True) as session:
            session.execute("alter system reset synchronous_standby_names")
            session.execute("select pg_reload_conf()")
        return replicated

    async def fail_over(self, replicated: Replicated) -> Store:
        """Promote the standby and return another store on it.

        The old store cannot reach the standby yet.
        """
        primary, standby, link, _ = replicated
        link.refuses = True
        await asyncio.to_thread(primary.kill)
        await asyncio.to_thread(standby.start)
        await asyncio.to_thread(standby.promote)
        link.lead_to(standby.port)
        return await Store.connect(standby.dsn())

    async def written(self, behind: Replicated) -> Taken:
        """Append through another store and return the entries once ours has received them."""
        taken = Taken()
        await behind.store.subscribe(None, 0, taken.take, taken.failed)
        other = await Store.connect(behind.primary.dsn())
        await other.append({OAK: (1, [joined(2, "Bert")])})
        await other.close()
        await taken.until(lambda: len(taken.entries) == 2)
        return taken

    async def test_lost_events_replaced_by_others_stop_the_store(self, behind: Replicated) -> None:
        """Other events take the same positions."""
        store, taken = behind.store, await self.written(behind)
        ended = asyncio.ensure_future(store.wait_stopped())
        other = await self.fail_over(behind)
        await other.append({OAK: (1, [joined(2, "Carla")])})
        assert len(await other.read_stream(OAK)) == len(taken.entries)
        behind.link.refuses = False
        with pytest.raises(StoreError, match=r"lost data .*: event 2 differs from the one seen"):
            async with asyncio.timeout(PATIENCE):
                await ended
        with pytest.raises(NotWrittenError, match="has lost data"):
            await store.append({OAK: (2, [joined(3, "Dora")])})
        assert await players(other) == ["Anna", "Carla"]
        await other.close()

    @pytest.mark.parametrize("appends", [False, True] if SOAKING else [True])
    async def test_lost_events_at_the_end_stop_the_store(
        self, behind: Replicated, *, appends: bool
    ) -> None:
        store = behind.store
        await self.written(behind)
        ended = asyncio.ensure_future(store.wait_stopped())
        other = await self.fail_over(behind)
        behind.link.refuses = False
        if appends:
            with pytest.raises(StoreError, match="has lost data"):
                await until_refused_for_good(store)
        with pytest.raises(StoreError, match="it ends at event 1, but 2 was seen"):
            async with asyncio.timeout(PATIENCE):
                await ended
        assert await players(other) == ["Anna"]
        assert await other.check() is None
        await other.close()

    async def test_lost_claim_stops_the_store(self, behind: Replicated) -> None:
        """No event is missing, but two nodes would own the same name."""
        store = behind.store
        await store.write(nodes.renew_lease, "one", 1000.0)
        await store.write(nodes.claim, "Bert", "one", "session")
        ended = asyncio.ensure_future(store.wait_stopped())
        other = await self.fail_over(behind)
        await other.write(nodes.renew_lease, "two", 1000.0)
        for _ in range(5):  # at least as many commits as before
            assert await other.write(nodes.claim, "Bert", "two", "session") is None
        behind.link.refuses = False
        with pytest.raises(StoreError, match=r"lost data .*: the last write is missing"):
            async with asyncio.timeout(PATIENCE):
                await ended
        await other.close()

    async def test_respelled_name_is_not_a_loss(self, replicated: Replicated) -> None:
        store, taken = replicated.store, Taken()
        await store.write(accounts.enrol, "Bert", "hash")
        await store.append({OAK: (0, [joined(1, "Bert")])})
        await store.subscribe(None, 0, taken.take, taken.failed)
        await asyncio.to_thread(replicated.standby.stop)
        other = await self.fail_over(replicated)
        with psycopg.connect(replicated.standby.dsn(), autocommit=True) as session:
            session.execute("alter system reset synchronous_standby_names")
            session.execute("select pg_reload_conf()")
        await other.write(accounts.rename, "Bert", "Bertha")
        replicated.link.refuses = False
        await other.append({OAK: (1, [joined(2, "Carla")])})
        await taken.until(lambda: len(taken.entries) == 2)
        assert await players(store) == ["Bertha", "Carla"]
        await other.close()


async def until_refused_for_good(store: Store) -> None:
    """Append until the store reports that acknowledged events are gone."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await store.append({OAK: (2, [joined(3, "Carla")])})
            except StoreError as error:
                if "has lost data" in str(error):
                    raise
