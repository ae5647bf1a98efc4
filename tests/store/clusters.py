"""PostgreSQL clusters, one per test: files in a temporary folder, a port on loopback.

The server refuses to run as root, so it runs as the user that Debian's package creates.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path

import psycopg

from tests.ports import free_ports
from thudmud.store.backend import POSTGRESQL

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1:]
"""The programs of the newest version installed by Debian."""

FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""Settings for a cluster that need not survive a crash of its machine."""

_schemas = count(1)

_running: list[Cluster] = []
"""Clusters started and not yet removed."""

_SESSIONS = """
select pid, application_name, state, wait_event_type, wait_event, pg_blocking_pids(pid),
    (select array_agg(concat_ws(' ', locktype, mode, relation::regclass, objid)) from pg_locks
     where pg_locks.pid = pg_stat_activity.pid and granted and locktype <> 'virtualxid'),
    clock_timestamp() - xact_start, clock_timestamp() - state_change, query
from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
"""

_fresh: list[Path] = []
"""A pristine data directory, once one exists: copying it takes a tenth of the time of initdb."""


def program(name: str) -> str:
    """Return the path of one of PostgreSQL's programs."""
    folder = PROGRAMS[0] if PROGRAMS else Path()
    found = shutil.which(name, path=f"{folder}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        raise FileNotFoundError(f"{name} of PostgreSQL is missing; `make clients` installs it")
    return found


def either(*clusters: Cluster) -> str:
    """Return a connection string for whichever of the given clusters accepts writes."""
    hosts = ",".join("127.0.0.1" for _ in clusters)
    ports = ",".join(str(each.port) for each in clusters)
    return f"host={hosts} port={ports} user=postgres dbname=postgres"


def empty(dsn: str) -> None:
    """Delete all rows of our tables; faster than truncating them."""
    with psycopg.connect(dsn) as session:
        there = [name for (name,) in session.execute(POSTGRESQL.tables.encode())]
        session.execute("; ".join(f"delete from {table}" for table in there).encode())  # noqa: S608  (ours)


def sessions() -> str:
    """Return the state, locks and blockers of all server sessions."""
    told = []
    for each in _running:
        told.append(f"On port {each.port}:")
        try:
            with psycopg.connect(each.dsn(), connect_timeout=2) as session:
                told += [", ".join(map(str, row)) for row in session.execute(_SESSIONS)]
        except psycopg.Error as error:
            told.append(f"{error}")
    return "\n".join(told)


class Cluster:
    """A PostgreSQL server and its files, created on first start.

    Args:
        settings: server settings in addition to those every test needs.
    """

    def __init__(self, **settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="thudmud-postgresql-"))
        self.user = "postgres" if os.geteuid() == 0 else None
        self._place = ExitStack()
        self.port = self._place.enter_context(free_ports())()
        self.settings = settings
        self._server: subprocess.Popen[bytes] | None = None
        if self.user:
            shutil.chown(self.folder, self.user, self.user)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def dsn(self, database: str = "postgres") -> str:
        return f"host=127.0.0.1 port={self.port} user=postgres dbname={database}"

    def run(self, name: str, *words: str) -> None:
        """Run a program to completion as the server's user."""
        subprocess.run(
            [program(name), *words],
            user=self.user,
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def make(self) -> None:
        if not _fresh:
            fresh = Path(tempfile.mkdtemp(prefix="thudmud-postgresql-"))
            atexit.register(shutil.rmtree, fresh, ignore_errors=True)
            if self.user:
                shutil.chown(fresh, self.user, self.user)
            # Every cluster and every standby holds at least one log segment.
            how = "-U", "postgres", "-A", "trust", "--no-sync", "--wal-segsize=1"
            self.run("initdb", "-D", str(fresh / "data"), *how)
            _fresh.append(fresh / "data")
        self.run("cp", "-a", str(_fresh[0]), str(self.data))

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        if not self.data.exists():
            self.make()
        fixed = {
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "max_connections": "100",
            "dynamic_shared_memory_type": "mmap",  # elsewhere, nothing remains of it
        }
        if self not in _running:
            _running.append(self)
        given = [f"--{name}={value}" for name, value in {**fixed, **self.settings}.items()]
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [program("postgres"), "-D", str(self.data), *given],
                user=self.user,
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        while True:
            with suppress(psycopg.OperationalError), psycopg.connect(self.dsn()) as session:
                if session.execute("show data_directory").fetchall() == [(str(self.data),)]:
                    return
            if self._server.poll() is not None:
                raise RuntimeError((self.folder / "log").read_text(encoding="utf-8"))
            with suppress(subprocess.TimeoutExpired):
                self._server.wait(0.05)

    def standby(self, instead_of: Cluster | None = None) -> Cluster:
        """Return a standby without which this server acknowledges no commit.

        Args:
            instead_of: a killed server whose port the standby takes over.
        """
        standby = Cluster(**self.settings)
        if instead_of:
            standby._place.close()
            standby.port, standby._place = instead_of.port, instead_of._place.pop_all()
        copying = "-R", "-X", "stream", "--checkpoint=fast", "--no-sync"
        self.run("pg_basebackup", "-d", self.dsn(), "-D", str(standby.data), *copying)
        standby.start()
        with psycopg.connect(self.dsn(), autocommit=True) as session:
            session.execute("alter system set synchronous_standby_names = '*'")
            session.execute("select pg_reload_conf()")
            follows = "select from pg_stat_replication where sync_state = 'sync'"
            while not session.execute(follows).fetchall():
                time.sleep(0.01)
        return standby

    def promote(self) -> None:
        """Promote a standby and wait until it accepts writes.

        Done from outside, as replaying WAL may cancel a statement that waits for the promotion.
        """
        self.run("pg_ctl", "promote", "-D", str(self.data))

    def signal(self, number: int) -> None:
        """Send a signal to all processes of the server.

        The postmaster is stopped first, so that it neither forks nor reacts to dead children.
        """
        assert self._server
        self._server.send_signal(signal.SIGSTOP)
        first = self._server.pid
        os.waitid(os.P_PID, first, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        for each in Path(f"/proc/{first}/task/{first}/children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(each), number)
        self._server.send_signal(number)

    def kill(self) -> None:
        """Kill the server with all its processes, as a machine failure would."""
        if self._server:
            self.signal(signal.SIGKILL)
            self._server.wait(60)
        self._server = None

    def stop(self) -> None:
        """Shut the server down, disconnecting its clients."""
        self._end(signal.SIGINT)

    def remove(self) -> None:
        """Stop the server and remove its files and its orphaned shared memory."""
        self.kill()
        self._place.close()
        if self in _running:
            _running.remove(self)
        with suppress(FileNotFoundError):  # already stopped
            shared = (self.data / "postmaster.pid").read_text().splitlines()[6].split()[1]
            subprocess.run(["/usr/bin/ipcrm", "-m", shared], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def schema(self) -> str:
        """Create an empty schema and return its connection string; a database would take longer."""
        name = f"thud{next(_schemas)}"
        with psycopg.connect(self.dsn(), autocommit=True) as session:
            session.execute(f"create schema {name}".encode())
        return f"{self.dsn()} options=-csearch_path={name}"

    def _end(self, number: int) -> None:
        if self._server and self._server.poll() is None:
            self._server.send_signal(number)
            self._server.wait(60)
        self._server = None
