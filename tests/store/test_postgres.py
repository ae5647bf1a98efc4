"""Features of a PostgreSQL store that no other has: lost links, and other nodes."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, closing, suppress
from itertools import count
from pathlib import Path
from threading import Event
from threading import Lock as Mutex
from typing import Any

import psycopg
import pytest

from tests.conftest import SOAKING
from tests.service.place import until
from tests.store.clusters import FAST, Cluster
from tests.store.deeds import (
    NOON,
    OAK,
    PATIENCE,
    PINE,
    Clock,
    Taken,
    events_of,
    joined,
    moved,
    players,
    same,
)
from tests.store.proxies import Proxy, commits
from tests.store.test_projections import live
from thudmud.cli.main import main
from thudmud.errors import StartError
from thudmud.game.events import BoardClosed, BoardOpened
from thudmud.game.projections import HALL, PROJECTION
from thudmud.server.config import StorageSettings
from thudmud.server.shared_store import serving_lock
from thudmud.service import Node
from thudmud.store import (
    DamagedStoreError,
    NoteTooLongError,
    NotWrittenError,
    Store,
    StoredPly,
    StoreError,
    StoreInUseError,
    UncertainError,
    UnknownFormatError,
    accounts,
    battles,
    hall,
    nodes,
    postgres,
    running,
    scores,
)
from thudmud.store.backend import Holder, Lock
from thudmud.store.checking import check_database
from thudmud.store.codec import Form
from thudmud.store.copying import copy
from thudmud.store.database import Append, Database
from thudmud.store.hall import open_boards
from thudmud.store.interface import Upgrade
from thudmud.store.postgres import LONGEST_NOTE, MOST_PARTS, OURS, Parts, Postgres, split_note
from thudmud.store.rows import FORMAT, SqlTable
from thudmud.values import replace


@pytest.fixture
async def store(dsn: str, clock: Clock) -> AsyncIterator[Store]:
    store = await Store.connect(dsn, clock=clock)
    yield store
    await store.close()


@pytest.fixture
def proxy(cluster: Cluster) -> Iterator[Proxy]:
    proxy = Proxy(cluster.port)
    yield proxy
    proxy.close()


@pytest.fixture
async def through(dsn: str, cluster: Cluster, proxy: Proxy) -> AsyncIterator[Store]:
    """Return a store connected through the proxy."""
    store = await Store.connect(dsn.replace(f"port={cluster.port}", f"port={proxy.port}"))
    yield store
    await store.close()


DEFAULTS = {
    "client_encoding": "SQL_ASCII",
    "default_transaction_isolation": "'repeatable read'",
    "extra_float_digits": "0",
    "idle_session_timeout": "'1h'",
    "statement_timeout": "'1h'",
}
"""Role defaults that the store must override."""


class TestDefaults:
    async def test_role_defaults_are_overridden(self, cluster: Cluster) -> None:
        dsn = cluster.schema().replace("user=postgres", "user=odd")
        with psycopg.connect(cluster.dsn(), autocommit=True) as session:
            session.execute("create role odd superuser login")
            for name, given in DEFAULTS.items():
                session.execute(f"alter role odd set {name} = {given}".encode())
        with closing(postgres.open_connection(dsn)) as session:
            for name in ("idle_session_timeout", "statement_timeout"):
                assert session.execute(f"show {name}".encode()).fetchall() == [("0",)]
        at_once = [Postgres(dsn) for _ in range(2)]
        waiting = Event()

        def wait_for_the_lock() -> None:
            waiting.set()
            at_once[1].begin()
            at_once[1].connection.execute("update head set commits = commits where id = 1")
            at_once[1].commit()

        store = await Store.connect(dsn, clock=lambda: NOON + 0.1234567)
        at_once[0].begin()
        later = asyncio.create_task(asyncio.to_thread(wait_for_the_lock))
        await asyncio.to_thread(waiting.wait)
        with psycopg.connect(dsn, autocommit=True) as session:
            blocked = b"select from pg_locks where locktype = 'advisory' and not granted"
            await until(lambda: bool(session.execute(blocked).fetchall()))
        at_once[0].connection.execute("update head set commits = commits where id = 1")
        at_once[0].commit()
        await later
        for each in at_once:
            each.close()
        await store.append({OAK: (0, [joined(1)])})
        assert await store.check() is None
        await store.close()

    @pytest.mark.parametrize(
        ("encoding", "will_do"), [("SQL_ASCII", True), ("LATIN1", False), ("EUC_JP", False)]
    )
    async def test_encoding_without_full_unicode_is_refused(
        self, cluster: Cluster, encoding: str, *, will_do: bool
    ) -> None:
        name = f"in_{encoding.lower()}"
        with psycopg.connect(cluster.dsn(), autocommit=True) as session:
            how = f"encoding '{encoding}' lc_collate 'C' lc_ctype 'C' template template0"
            session.execute(f"create database {name} {how}".encode())
        if not will_do:
            with pytest.raises(StoreError, match=f"has the encoding {encoding}, which lacks"):
                await Store.connect(cluster.dsn(name))
            return
        store = await Store.connect(cluster.dsn(name))
        for version in range(2):
            await store.append({OAK: (version, [joined(1, "Zo\xeb \U0001f600")])})
        assert await players(store) == ["Zo\xeb \U0001f600"] * 2
        text = "h\xe4sh \U0001f600"
        await store.write(accounts.enrol, "Anna", text)
        account = await store.read(accounts.find, "Anna")
        assert account
        assert account.password == text
        assert await store.check() is None
        await store.close()


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://thud:se%zzcret@127.0.0.1:1/thud",
        "postgresql://thud:se cret@127.0.0.1:1/thud",
        "postgresql://thud:se@cret@127.0.0.1:1/thud",
        "postgresql://thud:se/cret@127.0.0.1:1/thud",
        "host=127.0.0.1 port=1 user=thud password=se cret",
        "host=127.0.0.1 port=1 password='secret",
        "host=127.0.0.1 port=1 pasword=secret",
    ],
)
async def test_password_in_a_malformed_connection_string_is_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dsn: str
) -> None:
    storage = StorageSettings.model_validate({"backend": "postgresql", "dsn": dsn})
    with pytest.raises(
        StartError, match=r"^storage.dsn: Could not parse the connection string"
    ) as refused:
        async with serving_lock(storage, asyncio.Event(), print, print):
            pass
    config = tmp_path / "config.toml"
    config.write_text(f'[storage]\nbackend = "postgresql"\ndsn = "{dsn}"\n', "utf-8")
    assert await asyncio.to_thread(main, ["store", "check", "--config", str(config)]) != 0
    assert await asyncio.to_thread(main, ["user", "list", "--config", str(config)]) == 2
    said = capsys.readouterr()
    assert "cret" not in f"{refused.value}{said}"
    assert said.err.count("Could not parse the connection string of the database.") == 2


class TestLostLinks:
    async def test_commit_done_before_a_link_loss_is_not_repeated(
        self, through: Store, proxy: Proxy
    ) -> None:
        await through.append({OAK: (0, [joined(1, "Anna")])})
        proxy.cuts_after = commits
        stored = await through.append({OAK: (1, [joined(2, "Bert")])})
        assert proxy.cuts == 1
        assert stored[OAK].version == 2
        await through.append({OAK: (2, [joined(3, "Carla")])})
        assert await players(through) == ["Anna", "Bert", "Carla"]

    async def test_commit_lost_with_the_link_is_retried(self, through: Store, proxy: Proxy) -> None:
        await through.append({OAK: (0, [joined(1, "Anna")])})
        proxy.cuts_before = commits
        await through.append({OAK: (1, [joined(2, "Bert")])})
        assert proxy.cuts == 1
        assert await players(through) == ["Anna", "Bert"]

    async def test_unknown_commit_outcome_is_reported_as_uncertain(
        self, store: Store, dsn: str, cluster: Cluster, proxy: Proxy
    ) -> None:
        through = dsn.replace(f"port={cluster.port}", f"port={proxy.port}")
        lonely = Postgres(through, patience=0.1)
        lonely.begin()
        lonely.connection.execute("update head set commits = commits where id = 1")
        proxy.cuts_after = commits
        proxy.refuses = True
        with pytest.raises(UncertainError, match="which may or may not be stored"):
            await asyncio.to_thread(lonely.commit)
        lonely.close()
        await store.append({OAK: (0, [joined(1)])})

    async def test_commit_without_its_writer_row_is_reported_as_uncertain(
        self, through: Store, dsn: str, proxy: Proxy
    ) -> None:
        """A missing row proves nothing, though an earlier commit had written one."""
        await through.append({OAK: (0, [joined(1, "Anna")])})
        proxy.cuts_after = commits
        proxy.refuses = True
        appending = asyncio.ensure_future(through.append({OAK: (1, [joined(2, "Bert")])}))
        with psycopg.connect(dsn, autocommit=True) as session:
            await until(lambda: len(session.execute("select from event").fetchall()) == 2)
            session.execute("update writer set commits = commits - 1000001")
        await (await Store.connect(dsn)).close()
        proxy.refuses = False
        with pytest.raises(UncertainError):
            await appending

    async def test_commit_check_ends_a_session_on_the_same_server_only(self, dsn: str) -> None:
        """On another server, a session with the same process id belongs to somebody else."""
        asked = Postgres(dsn)
        with psycopg.connect(dsn, autocommit=True, application_name="thudmud") as session:
            assert not asked._was_committed(session.info.backend_pid, "another")
            session.execute("select 1")
            assert not asked._was_committed(session.info.backend_pid, asked.connection.server)
            with pytest.raises(psycopg.errors.AdminShutdown):
                session.execute("select 1")
        asked.close()

    async def test_transaction_lost_at_its_start_is_retried(
        self, through: Store, proxy: Proxy
    ) -> None:
        await through.append({OAK: (0, [joined(1, "Anna")])})
        proxy.cuts_before = lambda data: b"begin" in data
        await through.append({OAK: (1, [joined(2, "Bert")])})
        proxy.cuts_before = lambda data: b"from event" in data
        assert await players(through) == ["Anna", "Bert"]
        assert proxy.cuts == 2

    async def test_time_query_lost_at_start_is_retried(
        self, dsn: str, cluster: Cluster, proxy: Proxy
    ) -> None:
        proxy.cuts_before = lambda data: b"clock_timestamp" in data
        await (
            await Store.connect(dsn.replace(f"port={cluster.port}", f"port={proxy.port}"))
        ).close()
        assert proxy.cuts == 1

    async def test_stopped_server_is_given_up_after_a_timeout(
        self, store: Store, cluster: Cluster
    ) -> None:
        """Requests fail after some seconds, then at once; none is applied twice."""
        await store.append({OAK: (0, [joined(1, "Anna")])})
        cluster.signal(signal.SIGSTOP)
        try:
            for _ in range(10):
                with pytest.raises(NotWrittenError):
                    await store.append({OAK: (1, [joined(2, "Bert")])})
        finally:
            cluster.signal(signal.SIGCONT)
        while True:
            assert await until_read(store, OAK) == 1
            with suppress(NotWrittenError):
                await store.append({OAK: (1, [joined(2, "Bert")])})
                break
        assert await players(store) == ["Anna", "Bert"]

    async def test_slow_server_that_responds_is_waited_for(
        self, store: Store, dsn: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(postgres, "SILENCE", 0.1)
        looks: list[bool] = []
        is_there = postgres.LinkWatch._is_there

        def look(watch: postgres.LinkWatch) -> bool:
            looks.append(is_there(watch))
            return looks[-1]

        monkeypatch.setattr(postgres.LinkWatch, "_is_there", look)
        patient = await Store.connect(dsn)
        with psycopg.connect(dsn) as session:
            session.execute(f"select pg_advisory_lock({Lock.WRITING:d})".encode())
            appending = asyncio.ensure_future(patient.append({OAK: (0, [joined(1)])}))
            await until(lambda: len(looks) >= 3)
            assert not appending.done()
        await appending
        assert set(looks) == {True}
        await patient.close()

    @pytest.mark.parametrize(
        ("said", "is_there"),
        [
            ("host=255.255.255.255", False),  # unreachable on any network
            ("host=127.0.0.1 port=1", True),  # refused
            ("{dsn} dbname=none", True),
            ("{dsn}", True),
        ],
    )
    def test_link_watch_tells_responsive_servers_from_dead_ones(
        self, dsn: str, said: str, *, is_there: bool
    ) -> None:
        watch = postgres.LinkWatch()
        watch._beside = said.format(dsn=dsn)
        assert watch._is_there() == is_there
        watch.close()

    async def test_import_interrupted_by_a_link_loss_is_not_retried(
        self, through: Store, proxy: Proxy
    ) -> None:
        """The events come one by one from elsewhere and cannot be requested again."""
        proxy.cuts_before = commits
        with pytest.raises(NotWrittenError, match="was interrupted"):
            await through.import_events(((OAK, each) for each in [joined(1)]), lambda _: None)
        assert await through.version(OAK) == 0


class TestHangs:
    """The server is suspended as soon as a connection to it exists."""

    @pytest.fixture
    def stopped(
        self, cluster: Cluster, dsn: str, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[Event]:
        stopped, is_over, one_at_a_time = Event(), Event(), Mutex()
        connect = psycopg.connect

        def stopping(*words: Any, **more: Any) -> psycopg.Connection[Any]:
            session = connect(*words, **more)
            with one_at_a_time:
                if not is_over.is_set():  # a leftover thread may connect later
                    cluster.signal(signal.SIGSTOP)
                    stopped.set()
            return session

        with monkeypatch.context() as patch:
            patch.setattr(psycopg, "connect", stopping)
            patch.setattr(postgres, "PATIENCE", 1.0)
            yield stopped
        with one_at_a_time:
            is_over.set()
            cluster.signal(signal.SIGCONT)

    @pytest.mark.parametrize(
        "begin",
        [
            lambda dsn: postgres.AdvisoryLock(dsn, Lock.SERVING, lambda _: None),
            lambda dsn: postgres.Listener(dsn, '"thudmud"', "token", lambda _: None),
        ],
        ids=["lock", "listener"],
    )
    async def test_closing_does_not_wait_for_a_hanging_server(
        self,
        dsn: str,
        stopped: Event,
        begin: Callable[[str], postgres.AdvisoryLock | postgres.Listener],
    ) -> None:
        async with asyncio.timeout(PATIENCE):
            begun = await asyncio.to_thread(begin, dsn)
            assert await asyncio.to_thread(stopped.wait, PATIENCE)
            await asyncio.to_thread(begun.close)

    @pytest.mark.usefixtures("stopped")
    async def test_connecting_to_a_hanging_server_times_out(self, dsn: str) -> None:
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(psycopg.errors.ConnectionTimeout):
                await asyncio.to_thread(postgres.open_connection, dsn)

    async def test_store_start_waits_for_a_hanging_server(
        self, cluster: Cluster, dsn: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        connect, given_up, told = postgres.open_connection, [], list[object]()

        def noted(dsn: str) -> psycopg.Connection[Any]:
            try:
                return connect(dsn)
            except psycopg.errors.ConnectionTimeout:
                given_up.append(dsn)
                raise

        monkeypatch.setattr(postgres, "open_connection", noted)
        brief = f"{dsn} connect_timeout=2"
        cluster.signal(signal.SIGSTOP)
        try:
            lock = postgres.AdvisoryLock(brief, Lock.SERVING, told.append)
            opening = asyncio.ensure_future(Store.connect(brief))
            await until(lambda: len(given_up) >= 2)
        finally:
            cluster.signal(signal.SIGCONT)
        await (await opening).close()
        await until(lambda: bool(told))
        assert told == [Holder.OURS]
        lock.close()


async def test_server_side_keepalives_are_configured(dsn: str) -> None:
    with postgres.open_connection(dsn) as session:
        shown = [
            session.execute(f"show {name}".encode()).fetchall()[0][0]
            for name in (
                "tcp_keepalives_idle",
                "tcp_keepalives_interval",
                "tcp_keepalives_count",
                "tcp_user_timeout",
            )
        ]
    assert shown == ["5", "2", "3", "10000"]


async def test_server_on_a_unix_socket_is_supported() -> None:
    cluster = Cluster(**FAST)
    cluster.settings["unix_socket_directories"] = str(cluster.folder)
    try:
        await asyncio.to_thread(cluster.start)
        store = await Store.connect(cluster.dsn().replace("127.0.0.1", str(cluster.folder)))
        await store.append({OAK: (0, [joined(1, "Anna")])})
        assert await players(store) == ["Anna"]
        await store.close()
        assert "WARNING" not in (cluster.folder / "log").read_text("utf-8")
        assert "could not set" not in (cluster.folder / "log").read_text("utf-8")
    finally:
        cluster.remove()


async def test_acknowledged_appends_survive_a_server_kill() -> None:
    """The server is killed during concurrent appends, and restarts."""
    cluster = Cluster()
    async with AsyncExitStack() as ending:
        ending.callback(cluster.remove)
        cluster.start()
        store = await Store.connect(cluster.dsn())
        ending.push_async_callback(store.close)
        told: dict[str, int] = {}
        refused: list[Exception] = []
        ended = asyncio.Event()

        async def append(stream: str) -> None:
            for number in count(1):
                if ended.is_set():
                    return
                expected = await until_read(store, stream)
                try:
                    stored = await store.append({stream: (expected, [joined(number)])})
                except StoreError as error:
                    refused.append(error)
                else:
                    told[stream] = stored[stream].version

        async with asyncio.TaskGroup() as group:
            for number in range(10):
                group.create_task(append(f"board {number}"))
            for _ in range(3 if SOAKING else 1):
                await enough(told, at_least=5)
                await asyncio.to_thread(cluster.kill)
                told.clear()
                await asyncio.to_thread(cluster.start)
            await enough(told, at_least=5)
            ended.set()
        for stream, version in told.items():
            assert await store.version(stream) == version
            assert len(await store.read_stream(stream)) == version
        assert await store.check() is None


def test_note_parts_of_an_interrupted_sender_are_dropped() -> None:
    parts, cut_off = Parts(), [*split_note("x" * 3 * LONGEST_NOTE)][:2]
    assert not [each for each in cut_off if parts.add_part("one", *each)]
    assert parts.add_part("two", "", "hello") == "hello"
    assert parts.add_part("one", "3/4", "x") is None
    whole = [parts.add_part("one", *each) for each in split_note("y" * 2 * LONGEST_NOTE)]
    assert whole == [None, "y" * 2 * LONGEST_NOTE]
    assert parts.add_part("one", "", "bye") == "bye"


async def until_read(store: Store, stream: str) -> int:
    while True:
        try:
            return await store.version(stream)
        except StoreError:
            await asyncio.sleep(0)


async def enough(told: dict[str, int], *, at_least: int) -> None:
    """Wait until that many streams have been reported."""
    await until(lambda: len(told) >= at_least)


class TestTwo:
    async def test_appends_reach_another_store_at_once(self, store: Store, dsn: str) -> None:
        other = await Store.connect(dsn)
        taken = Taken()
        await other.subscribe(None, 0, taken.take, taken.failed)
        for number in range(3):
            await store.append({OAK: (number, [joined(number)]), PINE: (number, [joined(number)])})
        await taken.until(lambda: len(taken.entries) == 6)
        assert [each.position for each in taken.entries] == [1, 2, 3, 4, 5, 6]
        await other.close()

    async def test_subscriber_with_may_wait_gets_plies_without_players(
        self, store: Store, dsn: str
    ) -> None:
        other = await Store.connect(dsn)
        bare, whole = Taken(), Taken()
        await other.subscribe(None, 0, bare.take, bare.failed, may_wait=lambda _: False)
        ply = moved(0)
        await store.append({OAK: (0, [joined(0), ply])})
        await bare.until(lambda: len(bare.entries) == 2)
        first, second = bare.entries
        expected = StoredPly(2, OAK, 2, first.event.at, ply.side, ply.move, ply.ply)
        assert repr(second) == repr(expected)
        # From now on somebody needs all of it.
        await other.subscribe(None, 0, whole.take, whole.failed)
        await store.append({OAK: (2, [moved(1)])})
        await whole.until(lambda: len(whole.entries) == 3)
        assert events_of(whole.entries) == same(joined(0), ply, moved(1))
        await bare.until(lambda: len(bare.entries) == 3)
        assert bare.entries[2].event == whole.entries[2].event
        await other.close()

    async def test_plies_that_may_wait_keep_their_order(
        self, store: Store, dsn: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(running, "POLL_DELAY", 1e6)
        await store.append({OAK: (0, [joined(0)]), PINE: (0, [joined(0)])})
        other = await Store.connect(dsn, poll=1e6)  # a note of older events would fetch plies, too
        taken = Taken()
        asked: list[str] = []

        def may_wait(stream: str) -> bool:
            asked.append(stream)
            return stream == OAK

        await other.subscribe(None, 0, taken.take, taken.failed, may_wait=may_wait)
        await store.append({OAK: (1, [moved(0)])})
        await until(lambda: asked == [OAK])
        await store.append({OAK: (2, [moved(1)])})  # waits with the first, without asking
        assert len(taken.entries) == 2
        await store.append({PINE: (1, [moved(0)])})
        await taken.until(lambda: len(taken.entries) == 5)
        assert [each.position for each in taken.entries] == [1, 2, 3, 4, 5]
        assert asked == [OAK, PINE]
        await store.append({OAK: (3, [moved(2)])})
        await until(lambda: asked == [OAK, PINE, OAK])
        await store.append({OAK: (4, [joined(1)])})  # no ply: it never waits
        await taken.until(lambda: len(taken.entries) == 7)
        await other.close()

    async def test_plies_that_may_wait_come_without_another_commit(
        self, store: Store, dsn: str
    ) -> None:
        other = await Store.connect(dsn, poll=1e6)
        taken = Taken()
        await store.append({OAK: (0, [joined(0)])})
        await other.subscribe(None, 0, taken.take, taken.failed, may_wait=lambda _: True)
        for number in range(1, 4):
            await store.append({OAK: (number, [moved(number - 1)])})
        await taken.until(lambda: len(taken.entries) == 4)
        await other.close()

    async def test_plies_of_too_many_boards_for_a_note_are_read_at_once(
        self, store: Store, dsn: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(running, "POLL_DELAY", 1e6)
        other = await Store.connect(dsn, poll=1e6)
        taken = Taken()
        keys = [f"{number} {'x' * 500}" for number in range(20)]
        await store.append({key: (0, [joined(0)]) for key in keys})
        await other.subscribe(None, 0, taken.take, taken.failed, may_wait=lambda _: True)
        await store.append({key: (1, [moved(0)]) for key in keys})
        await taken.until(lambda: len(taken.entries) == 40)
        await other.close()

    async def test_notes_reach_another_store(self, store: Store, dsn: str) -> None:
        other = await Store.connect(dsn)
        heard = {store: list[object](), other: list[object]()}
        for each, notes in heard.items():
            each.subscribe_notes(notes.append, lambda: Form(tuple[str, int]))
        await other.publish_note(("one", 1), lambda: Form(tuple[str, int]))
        await store.publish_note(("two", 2), lambda: Form(tuple[str, int]))
        await until(lambda: all(len(each) == 2 for each in heard.values()))
        assert set(heard[store]) == set(heard[other]) == {("one", 1), ("two", 2)}
        await other.close()

    async def test_notes_sent_while_the_listener_starts_are_received(
        self, store: Store, dsn: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begun = postgres.open_connection

        def slowly(dsn: str) -> psycopg.Connection[Any]:
            time.sleep(0.1)
            return begun(dsn)

        monkeypatch.setattr(postgres, "open_connection", slowly)
        other = await Store.connect(dsn)
        heard: list[object] = []
        other.subscribe_notes(heard.append, lambda: Form(int))
        for number in range(100):
            await store.publish_note(number, lambda: Form(int))
        await until(lambda: len(heard) == 100)
        assert heard == list(range(100))
        await other.close()

    @pytest.mark.parametrize("table", ["stream", "open_board"])
    @pytest.mark.parametrize("closes", [False, True])
    def test_board_list_is_consistent_while_boards_change(
        self, dsn: str, monkeypatch: pytest.MonkeyPatch, table: str, *, closes: bool
    ) -> None:
        one, other = (Database(Postgres(dsn), time.time) for _ in range(2))
        opened = BoardOpened(1.0, "", OAK, OAK, "discworld")
        if closes:
            one.write([Append({HALL: (0, [opened])}, None, None)])
        change = BoardClosed(2.0, "", OAK) if closes else opened
        append = Append({HALL: (int(closes), [change])}, None, None)
        rows = SqlTable.rows

        def meanwhile(asked: SqlTable, name: str, *more: Any) -> Iterator[Sequence[object]]:
            found = list(rows(asked, name, *more))
            if asked is one.table and name == table:
                other.write([append])
            return iter(found)

        monkeypatch.setattr(SqlTable, "rows", meanwhile)
        assert {each.key for each in open_boards(one)} <= {OAK}
        monkeypatch.undo()
        assert [each.key for each in open_boards(one)] == ([] if closes else [OAK])
        one.close()
        other.close()

    async def test_long_note_arrives_complete_and_in_order(self, store: Store, dsn: str) -> None:
        other = await Store.connect(dsn)
        heard: list[object] = []
        store.subscribe_notes(heard.append, lambda: Form(str))
        emoji = "\N{GRINNING FACE}"
        notes = ["short", emoji * 3_000, "xy" * LONGEST_NOTE, emoji * 700, "short"]
        for note in notes:
            await other.publish_note(note, lambda: Form(str))
        await until(lambda: len(heard) == len(notes))
        assert heard == notes
        await other.close()

    async def test_oversized_note_is_refused_without_quoting_it(self, store: Store) -> None:
        note = "secret " * (LONGEST_NOTE * MOST_PARTS // 7 + 1)
        with pytest.raises(NoteTooLongError) as refused:
            await store.publish_note(note, lambda: Form(str))
        assert "secret" not in str(refused.value)
        await store.publish_note(note[:-20], lambda: Form(str))

    async def test_unreadable_note_is_logged_without_quoting_it(
        self, store: Store, dsn: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        other = await Store.connect(dsn)
        heard: list[object] = []
        store.subscribe_notes(heard.append, lambda: Form(int))
        await other.publish_note("of another version", lambda: Form(str))
        await other.publish_note(7, lambda: Form(int))
        await until(lambda: heard == [7])
        assert "could not read a note from another node" in caplog.text
        assert "version" not in caplog.text
        await other.close()

    async def test_writer_idle_in_transaction_blocks_others_briefly(
        self, store: Store, dsn: str
    ) -> None:
        stopped = Postgres(dsn)
        stopped.connection.execute("set idle_in_transaction_session_timeout = '100ms'")
        stopped.begin()
        await store.append({OAK: (0, [joined(1)])})
        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
            stopped.connection.execute("select 1")
        stopped.close()

    async def test_append_succeeds_after_a_lock_timeout(
        self, store: Store, dsn: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(postgres, "SETTINGS", (*postgres.SETTINGS, "set lock_timeout = '50ms'"))
        late = await Store.connect(dsn)
        with psycopg.connect(dsn) as session:
            session.execute(f"select pg_advisory_lock({Lock.WRITING:d})".encode())
            holder = (
                f"another session is writing .process {session.info.backend_pid}, .*in transaction"
            )
            with pytest.raises(NotWrittenError, match=f"lock timeout: {holder}"):
                await late.append({OAK: (0, [joined(1)])})
            assert await late.version(OAK) == 0
        await late.append({OAK: (0, [joined(1)])})
        assert await store.version(OAK) == 1
        await late.close()

    async def test_session_idle_in_transaction_is_terminated(
        self, store: Store, dsn: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """PostgreSQL considers a session active until it sends the end of a batch."""
        monkeypatch.setattr(postgres, "SETTINGS", (*postgres.SETTINGS, "set lock_timeout = '50ms'"))
        at_once = postgres.END_SUSPENDED.replace("'5s'", "'0s'")
        monkeypatch.setattr(postgres, "END_SUSPENDED", at_once)
        awake, asleep = await Store.connect(dsn), Postgres(dsn)
        asleep.begin()
        with suppress(psycopg.OperationalError), asleep.pipelined():
            asleep.connection.execute("update head set commits = commits where id = 1")
            await awake.append({OAK: (0, [joined(1)])})
        assert asleep.connection.is_lost
        asleep.close()
        await awake.close()
        assert await players(store) == ["Anna"]

    async def test_check_does_not_wait_for_the_writer_lock(self, store: Store, dsn: str) -> None:
        """The check has the lowest priority; it would block writers while waiting for a CPU."""
        await store.append({OAK: (0, [joined(1)])})
        with psycopg.connect(dsn) as session:
            session.execute(f"select pg_advisory_lock({Lock.WRITING:d})".encode())
            assert (await asyncio.to_thread(check_database, dsn)).events == 1

    async def test_serving_lock_is_held_by_one_process_at_a_time(self, dsn: str) -> None:
        told: list[list[object]] = [[], []]
        first = postgres.AdvisoryLock(dsn, Lock.SERVING, told[0].append)
        await until(lambda: Holder.OURS in told[0])
        second = postgres.AdvisoryLock(dsn, Lock.SERVING, told[1].append)
        await until(lambda: Holder.OTHERS in told[1])
        assert Holder.OURS not in told[1]
        await asyncio.to_thread(first.close)
        await until(lambda: Holder.OURS in told[1])
        second.close()

    async def test_return_of_the_database_is_logged(
        self, dsn: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        connect, told, failures = postgres.open_connection, list[object](), iter([True])

        def failing_once(dsn: str) -> psycopg.Connection[Any]:
            if next(failures, False):
                raise psycopg.OperationalError("away")
            return connect(dsn)

        monkeypatch.setattr(postgres, "open_connection", failing_once)
        lock = postgres.AdvisoryLock(dsn, Lock.SERVING, told.append)
        await until(lambda: Holder.OURS in told)
        lock.close()
        assert caplog.messages == ["waiting for a lock: away", "connected to the database again"]

    async def test_serving_lock_can_be_closed_while_being_acquired(self, dsn: str) -> None:
        with_it = postgres.AdvisoryLock(dsn, Lock.SERVING, lambda _: None)
        for _ in range(20):
            await asyncio.to_thread(postgres.AdvisoryLock(dsn, Lock.SERVING, lambda _: None).close)
        with_it.close()

    @pytest.mark.parametrize("ahead", [-5000.0, 0.0, 5000.0])
    async def test_nodes_share_one_time_despite_server_clock_jumps(
        self, dsn: str, monkeypatch: pytest.MonkeyPatch, ahead: float
    ) -> None:
        """A standby may have taken over, with another clock, since one of the nodes started."""
        one = await Store.connect(dsn)
        node = Node(one, lease=PATIENCE)
        await node.open()
        await one.write(nodes.claim, "Anna", node.name, "session")
        told = Postgres.now
        monkeypatch.setattr(Postgres, "now", lambda postgres: told(postgres) + ahead)
        other = await Store.connect(dsn)
        second = Node(other, lease=PATIENCE)
        opening = asyncio.ensure_future(second.open())
        while not opening.done():
            await node.renew()
        await opening
        assert abs(one.clock() - other.clock()) < PATIENCE / 2
        assert await other.write(nodes.reap, second.name) == []
        assert [each.node for each in await other.read(nodes.all_claims)] == [node.name]
        assert not await other.read(hall.interruptions, 0.0)
        for each, store in ((node, one), (second, other)):
            await each.close()
            await store.close()

    async def test_cluster_time_ignores_dead_nodes(
        self, dsn: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one = await Store.connect(dsn)
        await one.write(nodes.renew_lease, "one", 0.2)
        await one.close()
        told = Postgres.now
        monkeypatch.setattr(Postgres, "now", lambda postgres: told(postgres) + 5000.0)
        other = await Store.connect(dsn)
        node = Node(other)
        await node.open()
        [(since, until_then)] = await other.read(hall.interruptions, 0.0)
        assert 4900.0 < until_then - since < 5100.0
        await node.close()
        await other.close()


class TestWhatIsThere:
    async def test_foreign_tables_are_refused(self, cluster: Cluster) -> None:
        dsn = cluster.schema()
        with psycopg.connect(dsn) as session:
            session.execute("create table account (name text)")
        with pytest.raises(
            UnknownFormatError, match="tables of another program with the same names as ours"
        ):
            await Store.connect(dsn)

    async def test_newer_schema_is_refused(self, store: Store, dsn: str) -> None:
        await store.append({OAK: (0, [joined(1)])})
        with psycopg.connect(dsn) as session:
            session.execute(f"comment on table head is '{OURS}{FORMAT + 1}'".encode())
        try:
            with pytest.raises(
                UnknownFormatError, match=f"it has schema {FORMAT + 1}, and this version"
            ):
                await Store.connect(dsn)
        finally:
            with psycopg.connect(dsn) as session:
                session.execute(f"comment on table head is '{OURS}{FORMAT}'".encode())

    async def test_altered_event_row_is_detected(self, store: Store, dsn: str) -> None:
        await store.append({OAK: (0, [joined(1), joined(2)])})
        with psycopg.connect(dsn) as session:
            session.execute("update event set body = replace(body, 'joined', 'moved')")
        found = await store.check()
        assert found
        assert "is damaged: Not an event: [" in found
        with pytest.raises(NotWrittenError, match="Writing is disabled"):
            await store.append({OAK: (2, [joined(3)])})
        with pytest.raises(DamagedStoreError):
            await store.read_stream(OAK)

    async def test_row_edited_by_an_operator_is_not_damage(self, store: Store, dsn: str) -> None:
        await store.write(accounts.enrol, "Anna", "hash")
        account = await store.read(accounts.find, "Anna")
        assert account
        with psycopg.connect(dsn) as session:
            session.execute("update account set seen = seen + 1")
        assert await store.check() is None
        assert await store.read(accounts.find, "Anna") == replace(account, seen=account.seen + 1)

    async def test_amcheck_is_used_or_reported_as_missing(self, cluster: Cluster) -> None:
        dsn = cluster.schema()
        store = await Store.connect(dsn)
        await store.append({OAK: (0, [joined(1)])})
        await store.close()
        with psycopg.connect(dsn, autocommit=True) as session:
            missing = session.execute("show data_checksums").fetchone() != ("on",)
            told = " ".join(check_database(dsn).unchecked)
            assert ("initdb --data-checksums" in told) is missing
            assert "the extension amcheck" in told
            session.execute("create extension amcheck")
            try:
                assert "the extension amcheck" not in " ".join(check_database(dsn).unchecked)
                ready = (
                    "update pg_index set indisready = %s where indexrelid = 'player_name'::regclass"
                )
                session.execute(ready, (False,))
                session.execute("insert into player values (7, '', 'carl', 'Carl')")
                session.execute(ready, (True,))
                with pytest.raises(
                    DamagedStoreError, match=r'lacks matching index tuple .* "player_name"'
                ):
                    check_database(dsn)
            finally:
                session.execute("drop extension amcheck")

    async def test_unreachable_server_is_reported_without_the_password(self) -> None:
        with pytest.raises(
            StoreError, match=r"The database thud on 127\.0\.0\.1 could not be used: "
        ):
            await Store.connect("host=127.0.0.1 port=1 dbname=thud password=secret")


class TestCopying:
    async def test_copy_to_postgres_and_back_preserves_all_rows(
        self, dsn: str, tmp_path: Path, clock: Clock
    ) -> None:
        """Events, battles, ratings, accounts and analyses all survive."""
        paths = tmp_path / "here.db", tmp_path / "back.db"
        first = await Store.open(paths[0], clock=clock)
        await live(first, 1)
        await first.write(accounts.enrol, "Zoe", "hash")
        await first.write(accounts.record_last_seen, {"Zoe": 5.0}, [("Zoe", "192.0.2.1")])
        before = await told_of(first)
        await first.close()
        steps: list[tuple[int, int]] = []
        events = await asyncio.to_thread(copy, str(paths[0]), dsn, lambda *each: steps.append(each))
        assert steps[-1] == (events, events)
        there = await Store.connect(dsn, clock=clock)
        assert await told_of(there) == before
        await there.close()
        await asyncio.to_thread(copy, dsn, str(paths[1]))
        back = await Store.open(paths[1], clock=clock)
        assert await told_of(back) == before
        assert await back.check() is None
        await back.close()

    async def test_copy_into_a_nonempty_store_is_refused(self, dsn: str, tmp_path: Path) -> None:
        store = await Store.connect(dsn)
        await store.append({OAK: (0, [joined(1)])})
        await store.close()
        await (await Store.open(tmp_path / "new.db")).close()
        with pytest.raises(StoreError, match="The destination is not empty"):
            await asyncio.to_thread(copy, str(tmp_path / "new.db"), dsn)

    async def test_copy_of_a_store_in_use_is_refused(self, dsn: str, tmp_path: Path) -> None:
        store = await Store.connect(dsn)
        node = Node(store)
        await node.open()
        with pytest.raises(StoreInUseError):
            await asyncio.to_thread(copy, dsn, str(tmp_path / "new.db"))
        await node.close()
        await store.close()

    async def test_copy_of_a_missing_store_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="no such file"):
            copy(str(tmp_path / "none.db"), str(tmp_path / "new.db"))
        assert not (tmp_path / "new.db").exists()


async def told_of(store: Store) -> list[object]:
    """Return everything that a store reports about its content."""
    streams = await store.read(Database.stream_versions)
    return [
        streams,
        [await store.read_stream(stream) for stream in sorted(streams)],
        await store.read(battles.battles, most=1_000_000),
        await store.read(scores.standings),
        [await store.read(scores.score, each.name) for each in await store.read(scores.standings)],
        await store.read(accounts.all_accounts),
        await store.read(accounts.addresses, "Zoe"),
        await store.position(),
    ]


@pytest.mark.parametrize(
    ("ago", "status", "told"),
    [
        (0.0, 0, "thudmud is healthy: it last wrote to the database "),
        (100.0, 1, "The server on the database has stored nothing for "),
    ],
)
async def test_health_command_reports_the_state_of_the_server(
    tmp_path: Path,
    dsn: str,
    capsys: pytest.CaptureFixture[str],
    *,
    ago: float,
    status: int,
    told: str,
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[storage]\nbackend = "postgresql"\ndsn = "{dsn}"\n', "utf-8")
    asked = "health", "--config", str(config)
    store = await Store.connect(dsn, clock=lambda: time.time() - ago)
    node = Node(store)
    await node.open()
    assert await asyncio.to_thread(main, asked) == status
    assert "".join(capsys.readouterr()).startswith(told)
    await node.close()
    await store.close()
    assert await asyncio.to_thread(main, asked) == 1
    assert capsys.readouterr().err == "No server is running on the database.\n"


async def test_rebuild_waits_for_servers_of_another_version(
    store: Store, dsn: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old servers would keep writing the old form, and a later one would find the new."""
    clock.now = time.time() - 1000  # advances by a second on each reading
    await live(store, 1, 20)
    before = await store.read(battles.battles)
    await store.write(nodes.renew_lease, "one", 10_000)

    def update() -> None:
        monkeypatch.setattr("thudmud.store.database.PROJECTION", PROJECTION + 1)
        monkeypatch.setattr("thudmud.store.rows.PROJECTION", PROJECTION + 1)
        monkeypatch.setattr("thudmud.store.checking.PROJECTION", PROJECTION + 1)

    update()
    with pytest.raises(StoreError, match="Servers of another version"):
        await Store.connect(dsn, upgrade=Upgrade())
    monkeypatch.undo()
    await store.write(nodes.renew_lease, "one", 0)
    update()
    new = await Store.connect(dsn, upgrade=Upgrade())
    assert await new.read(battles.battles) == before
    assert check_database(dsn)
    await new.close()


async def test_suspended_server_cannot_write_after_an_upgrade(
    store: Store, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This holds even if no newer server is left, as battles would be stored in two forms."""
    await store.append({OAK: (0, [joined(1)])})
    with monkeypatch.context() as update:
        update.setattr("thudmud.store.database.PROJECTION", PROJECTION + 1)
        update.setattr("thudmud.store.rows.PROJECTION", PROJECTION + 1)
        await (await Store.connect(dsn, upgrade=Upgrade())).close()
    ended = asyncio.ensure_future(store.wait_stopped())
    with pytest.raises(StoreError, match="another version of thudmud have taken over"):
        await store.append({OAK: (1, [joined(2)])})
    with pytest.raises(StoreError, match="another version of thudmud have taken over"):
        await ended


def test_read_after_a_position_sees_all_earlier_events(dsn: str, clock: Clock) -> None:
    """Otherwise a subscription from that position would miss events stored by others."""
    one, two = (Database(Postgres(dsn), clock) for _ in range(2))
    two.write([Append({OAK: (0, [joined(1)])}, None, None)])
    assert one.streams.version(OAK) == 1  # cached, as is the hall's
    two.write([Append({OAK: (1, [joined(2)])}, None, None)])
    position = one.position()
    assert [each.position for each in one.read_stream(OAK)] == list(range(1, position + 1))
    one.close()
    two.close()
