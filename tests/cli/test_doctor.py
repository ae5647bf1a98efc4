"""`thudmud doctor`, on machines with one thing wrong each."""

from __future__ import annotations

import asyncio
import ctypes
import os
import resource
import socket
import sqlite3
import ssl
import sys
import threading
import time
from collections import namedtuple
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
import trustme

from tests.conftest import FreePort, RunServer
from tests.server.relays import Handler, relaying
from tests.store.clusters import Cluster
from thudmud.cli import doctor
from thudmud.cli.doctor import CheckContext, run_check
from thudmud.cli.main import main
from thudmud.errors import StartError
from thudmud.features.notifications import diagnosis
from thudmud.features.notifications.serving import outside
from thudmud.game.feature import CheckResult, Severity
from thudmud.game.projections import PROJECTION
from thudmud.server.certificates import Certificate
from thudmud.server.config import Settings, load_settings
from thudmud.store import Store, accounts, files, inspecting, rows
from thudmud.store.files import beside
from thudmud.store.postgres import OURS
from thudmud.store.rows import current_schema

Shown = pytest.CaptureFixture[str]
Results = Sequence[CheckResult]
FILE = Path("thudmud.db")
AUTHORITY = trustme.CA()

OK, UNKNOWN, WARNING, ERROR = Severity.OK, Severity.UNKNOWN, Severity.WARNING, Severity.ERROR


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def at(text: str = "") -> CheckContext:
    """Return the context of checks for a server with a configuration in this folder."""
    path = Path("config.toml")
    path.write_text(text, "utf-8")
    return CheckContext(load_settings(path), path)


def results(check: doctor.Check, text: str = "") -> Results:
    return run_check(check, at(text))


def only(found: Results) -> CheckResult:
    [result] = found
    return result


def contents() -> dict[str, tuple[bytes, int]]:
    """Return the files of this folder, apart from those that SQLite keeps while reading."""
    paths = [each for each in Path().iterdir() if each.name[-4:] not in {"-wal", "-shm"}]
    return {each.name: (each.read_bytes(), each.stat().st_mode) for each in paths}


def make_store() -> None:
    async def make() -> None:
        store = await Store.open(FILE, serving=True)
        await store.close()

    asyncio.run(make())


# The command.


def test_sound_machine_is_ok_and_unchanged(capsys: Shown, free_port: FreePort) -> None:
    make_store()
    at(f"[server]\nport = {free_port()}\n[web]\nport = {free_port()}\n")
    before = contents()
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 9
    for line in lines:
        word, _, rest = line.partition(" ")
        assert word in {"ok", "warning", "unknown"}, line
        assert ": " in rest
    assert f"ok store: {FILE.absolute()} can be read, schema {current_schema()}" in lines
    assert contents() == before


def test_error_is_status_1_and_has_a_remedy(capsys: Shown) -> None:
    FILE.write_text("no database", "utf-8")
    assert main(["doctor"]) == 1
    errors = [each for each in capsys.readouterr().out.splitlines() if each.startswith("error")]
    assert any("is not a store of thudmud" in each for each in errors)
    assert all(each.count(". ") >= 1 for each in errors)


def test_unusable_configuration_is_status_2(capsys: Shown) -> None:
    Path("config.toml").write_text("[server]\nprot = 1\n", "utf-8")
    assert main(["doctor"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert 'did you mean "port"?' in told.err
    assert main(["doctor", "--config", "none.toml"]) == 2


def test_running_server_is_recognised(run_server: RunServer, free_port: FreePort) -> None:
    issued(AUTHORITY.issue_cert("thud.example.org"))
    names = ("port", "tls_port", "web", "metrics")
    ports = {name: free_port() for name in names}
    text = (
        f"[server]\nport = {ports['port']}\ntls_port = {ports['tls_port']}\n"
        f'tls_certificate = "tls.pem"\n[web]\nport = {ports["web"]}\n'
        f'tls_certificate = "tls.pem"\n[metrics]\nenabled = true\nport = {ports["metrics"]}\n'
    )
    context = at(text)
    words = ("-m", "thudmud.cli.main", "serve", "--config", "config.toml")
    with run_server([sys.executable, *words]):
        found = run_check(doctor.check_ports, context)
        assert [each.severity for each in found] == [OK] * 4
        assert {each.text.partition(" ")[2].split(" ", 3)[-1] for each in found} == {
            "answers as thudmud"
        }
        server = run_check(doctor.check_store, at(text))[1]
        assert server.severity is OK
        assert "one runs, process " in server.text
    server = run_check(doctor.check_store, at(text))[1]
    assert (server.severity, server.text) == (OK, "none runs on the store")


@pytest.mark.parametrize("ending", ["raise", "hang"])
def test_check_that_fails_or_hangs_is_unknown(ending: str) -> None:
    going_on = threading.Event()

    def check_oddity(_: CheckContext) -> Iterator[CheckResult]:
        yield CheckResult(OK, "first", "done")
        if ending == "raise":
            raise ZeroDivisionError
        going_on.wait()

    found = run_check(check_oddity, at(), 0.2)
    going_on.set()
    assert found[0] == CheckResult(OK, "first", "done") or ending == "raise"
    assert (found[-1].severity, found[-1].subject) == (UNKNOWN, "oddity")


# Packages.


@pytest.mark.parametrize(
    ("requirement", "extra", "problem"),
    [
        ("pytest<1000,>=9.0", "", ""),
        ("pytest>=9.0; sys_platform != 'win32' and extra == 'fast'", "fast", ""),
        ("no-such-package<2,>=1; extra == 'metrics'", "metrics", "no-such-package is missing"),
        ("pytest>=1000.1", "", "pytest has version"),
        ("pytest<1.5,>=1", "", "expected <1.5,>=1"),
        ("psycopg[binary]<4,>=3.3; extra == 'postgres'", "postgres", ""),
    ],
)
def test_package_is_compared_with_its_requirement(
    requirement: str, extra: str, problem: str
) -> None:
    found = doctor._package_problem(requirement)
    assert found[0] == extra
    assert problem in found[1]
    assert bool(problem) == bool(found[1])


def test_packages_of_needed_extras_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = ["pytest>=9", "no-such-package>=1; extra == 'metrics'"]
    monkeypatch.setattr("importlib.metadata.requires", lambda _: needs)
    assert [each.severity for each in results(doctor.check_packages)] == [OK, OK]
    missing = results(doctor.check_packages, "[metrics]\nenabled = true\n")[1]
    assert missing.severity is ERROR
    assert missing.remedy == 'To add it: pip install "thudmud[metrics]"'


# The network.


def test_port_of_another_program_is_an_error(
    free_port: FreePort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_CONNECT_PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        found = results(doctor.check_ports, f"[server]\nport = {port}\n[web]\nenabled = false\n")
        assert only(found).severity is ERROR
        assert f"port {port} of 127.0.0.1 is in use by another program" in str(found[0])


def test_address_of_another_machine_is_an_error() -> None:
    text = '[server]\nhost = "203.0.113.9"\n[web]\nenabled = false\n'
    found = only(results(doctor.check_ports, text))
    assert found.severity is ERROR
    assert "'203.0.113.9': this machine has no such address" in found.text


def test_port_without_the_right_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object) -> None:
        raise StartError("server.port: no") from PermissionError(13, "Permission denied")

    monkeypatch.setattr(doctor, "bound_sockets", refuse)
    found = only(results(doctor.check_ports, "[server]\nport = 23\n[web]\nenabled = false\n"))
    assert found.severity is WARNING
    assert "CAP_NET_BIND_SERVICE" in found.remedy


def test_low_limit_on_open_files_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    assert only(results(doctor.check_open_files)).severity is OK
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 512))
    found = only(results(doctor.check_open_files))
    assert found.severity is WARNING
    assert "LimitNOFILE=" in found.remedy


# Files.


@pytest.mark.parametrize(("free", "severity"), [(10**10, OK), (5 * 10**8, WARNING), (10**6, ERROR)])
def test_free_disk_space_is_judged(
    free: int, severity: Severity, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = namedtuple("disk", "f_bavail f_frsize f_files f_favail")
    monkeypatch.setattr(os, "statvfs", lambda _: disk(free, 1, 100, 50))
    assert only(results(doctor.check_disk)).severity is severity
    monkeypatch.setattr(os, "statvfs", lambda _: disk(free, 1, 100, 0))  # no free inodes
    assert only(results(doctor.check_disk)).severity is ERROR


def test_readable_store_is_a_warning() -> None:
    make_store()
    assert only(results(doctor.check_file_modes)).severity is OK
    FILE.chmod(0o644)
    found = only(results(doctor.check_file_modes))
    assert (found.severity, found.remedy) == (WARNING, f"chmod 600 {FILE.absolute()}")


def test_store_of_another_user_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    make_store()
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    status = os.stat_result

    def of_another(path: Path, **_: object) -> os.stat_result:
        found = os.stat(path)  # noqa: PTH116
        return status([*found[:4], own + 1 if path.suffix == ".db" else own, *found[5:10]])

    monkeypatch.setattr(Path, "stat", of_another)
    found = only(list(doctor._check_store_modes(FILE.absolute())))
    assert (found.severity, found.remedy) == (ERROR, f"chown {own} {FILE.absolute()}")


def test_readable_secret_is_a_warning() -> None:
    context = at(f'[gateway]\nsecret = "{"x" * 20}"\n')
    Path("config.toml").chmod(0o644)
    assert only(run_check(doctor.check_file_modes, context)[1:]).severity is WARNING
    Path("config.toml").chmod(0o640)
    assert run_check(doctor.check_file_modes, context)[1:] == []


def test_missing_named_files_are_errors() -> None:
    text = '[players]\nnews = "none.txt"\n[[bot]]\nname = "Grog"\ncommand = ["./no-such-bot"]\n'
    assert [each.severity for each in results(doctor.check_named_files, text)] == [ERROR, ERROR]
    assert results(doctor.check_named_files) == []


def test_unwritable_log_file_is_an_error() -> None:
    found = results(doctor.check_file_modes, '[server]\nlog_file = "none/log"\n')
    assert found[-1].severity is ERROR
    assert results(doctor.check_file_modes, '[server]\nlog_file = "log"\n')[-1].severity is OK
    assert not Path("log").exists()


# The clock.


@pytest.mark.parametrize(
    ("state", "severity"), [(0, OK), (2, OK), (5, WARNING), (-1, UNKNOWN), (None, UNKNOWN)]
)
def test_clock_is_judged_by_the_kernel(
    state: int | None, severity: Severity, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Library:
        if state is not None:
            adjtimex = staticmethod(lambda _: state)

    monkeypatch.setattr(ctypes, "CDLL", lambda _: Library())
    assert only(results(doctor.check_clock)).severity is severity


def test_clock_check_runs_on_this_machine() -> None:
    assert only(results(doctor.check_clock)).severity in {OK, WARNING, UNKNOWN}


# Certificates.


def issued(certificate: trustme.LeafCert) -> None:
    certificate.private_key_and_cert_chain_pem.write_to_path("tls.pem")


TLS = '[server]\ntls_port = 8992\ntls_certificate = "tls.pem"\n'
NAMED = TLS + '[web]\npublic_url = "https://thud.example.org"\n'
NOW = datetime.now(UTC)


@pytest.mark.parametrize(
    ("names", "days", "severity", "text"),
    [
        (["thud.example.org"], 400, OK, "for thud.example.org"),
        (["*.example.org"], 400, OK, r"for *.example.org"),
        (["other.example.org"], 400, WARNING, "not for thud.example.org"),
        (["thud.example.org"], 10, WARNING, "it expires on "),
        (["thud.example.org"], -1, ERROR, "it expired on "),
    ],
)
def test_certificate_is_judged(names: list[str], days: int, severity: Severity, text: str) -> None:
    issued(AUTHORITY.issue_cert(*names, not_after=NOW + timedelta(days=days)))
    found = only(results(doctor.check_certificates, NAMED))
    assert found.severity is severity
    assert text in found.text


def test_certificate_of_the_future_is_an_error() -> None:
    certificate = Certificate(time.time() + 1000, time.time() + 10**8, ("a",))
    found = doctor._judge_certificate("x", certificate, ())
    assert (found.severity, found.text) == (ERROR, "it isn't valid yet")


def test_unusable_certificate_files_are_errors() -> None:
    assert "no such file" in only(results(doctor.check_certificates, TLS)).text
    issued(AUTHORITY.issue_cert("thud.example.org"))
    AUTHORITY.issue_cert("thud.example.org").private_key_pem.write_to_path("other.pem")
    found = only(results(doctor.check_certificates, TLS + 'tls_key = "other.pem"\n'))
    assert found.severity is ERROR
    assert "does not match that certificate" in found.text


def test_certificate_of_the_page_counts_while_the_page_is_on() -> None:
    issued(AUTHORITY.issue_cert("192.0.2.1"))
    page = '[web]\ntls_certificate = "tls.pem"\npublic_url = "https://192.0.2.1"\n'
    assert only(results(doctor.check_certificates, page)).severity is OK
    assert results(doctor.check_certificates, page + "enabled = false\n") == []


# The store.


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("thudmud.db", b"", "it is empty"),
        ("thudmud.db-head", b"x", "is gone, but thudmud.db-head is still there"),
    ],
)
def test_unusable_store_is_an_error(name: str, content: bytes, text: str) -> None:
    Path(name).write_bytes(content)
    found = only(results(doctor.check_store))
    assert found.severity is ERROR
    assert text in found.text


def test_store_restored_beside_a_newer_watermark_is_an_error() -> None:
    make_store()
    old = FILE.read_bytes()

    async def enrol() -> None:
        store = await Store.open(FILE)
        await store.write(accounts.enrol, "Anna", "hash")
        await store.close()

    asyncio.run(enrol())
    FILE.write_bytes(old)
    found = only(results(doctor.check_store))
    assert found.severity is ERROR
    assert "delete thudmud.db-head" in found.text


def test_older_schema_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    make_store()
    monkeypatch.setattr(rows, "FORMAT", 2)
    found = results(doctor.check_store)[0]
    assert found.severity is WARNING
    assert "has schema 1." in found.text
    assert "Back it up" in found.remedy


@pytest.mark.parametrize("change", [-1, 1])
def test_computed_rows_of_another_version_are_a_warning(change: int) -> None:
    make_store()
    found = PROJECTION + change
    with closing(sqlite3.connect(FILE, isolation_level=None)) as connection:
        connection.execute("update head set projection = ?", (found,))
    result = results(doctor.check_store)[0]
    assert result.severity is WARNING
    assert result.text.endswith(
        f"has schema {rows.FORMAT}.{found}, and this version uses {current_schema()}"
    )


def test_backup_is_judged_by_its_age() -> None:
    make_store()
    assert results(doctor.check_store)[-1].severity is UNKNOWN
    note = beside(FILE, files.BACKUP_NOTE)
    note.write_text(f"{time.time()}", "ascii")
    assert results(doctor.check_store)[-1].severity is OK
    note.write_text(f"{time.time() - 3 * 86_400}", "ascii")
    found = results(doctor.check_store)[-1]
    assert (found.severity, found.text) == (WARNING, "the last one is 3 days old")


def test_server_that_stores_nothing_is_an_error() -> None:
    found = doctor._judge_heartbeat(inspecting.StoreFacts(current_schema(), 60.0, 4711))
    assert found.severity is ERROR
    assert "process 4711" in found.text


def test_store_in_memory_is_a_warning() -> None:
    assert only(results(doctor.check_store, '[storage]\nbackend = "memory"\n')).severity is WARNING


DATABASE = '[storage]\nbackend = "postgresql"\ndsn = "{}"\n'


async def test_database_is_inspected(dsn: str) -> None:
    store = await Store.connect(dsn)
    await store.close()
    found = results(doctor.check_store, DATABASE.format(dsn))
    assert [str(each) for each in found] == [
        f"ok store: the database can be read, schema {current_schema()}",
        "ok server: none runs on the store",
    ]


async def test_database_of_another_version_is_judged(cluster: Cluster) -> None:
    dsn = cluster.schema()
    store = await Store.connect(dsn)
    await store.close()
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute("update head set projection = projection - 1")
        assert results(doctor.check_store, DATABASE.format(dsn))[0].severity is WARNING
        session.execute("update head set projection = projection + 1")
        for number, why in ((rows.FORMAT + 1, "a later version"), (0, "is older than what")):
            session.execute(f"comment on table head is '{OURS}{number}'".encode())
            found = only(results(doctor.check_store, DATABASE.format(dsn)))
            assert found.severity is ERROR
            assert why in found.text


def test_database_before_the_first_start_is_ok(cluster: Cluster) -> None:
    found = only(results(doctor.check_store, DATABASE.format(cluster.schema())))
    assert found.severity is OK
    assert "there is none yet" in found.text


def test_database_of_another_program_is_an_error(cluster: Cluster) -> None:
    dsn = cluster.schema()
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute("create table head (name text)")
    found = only(results(doctor.check_store, DATABASE.format(dsn)))
    assert found.severity is ERROR
    assert "of another program" in found.text


def test_unreachable_database_is_an_error(free_port: FreePort) -> None:
    text = DATABASE.format(f"host=127.0.0.1 port={free_port()} dbname=thud password=secret")
    found = only(results(doctor.check_store, text))
    assert found.severity is ERROR
    assert "refused" in found.text
    assert "secret" not in str(found)


# Mail and push messages.


def mailing(port: int, **changed: object) -> Settings:
    mail = {"relay": "127.0.0.1", "port": port, "tls": "none", "sender": "thud@example.org"}
    page = {"public_url": "https://thud.example.org"}
    return Settings.model_validate({"web": page, "mail": mail | changed})


async def test_relay_is_greeted_and_gets_no_mail(tmp_path: Path) -> None:
    relay = Handler()
    async with relaying(relay) as port:
        found = only(await diagnosis.diagnose(mailing(port), tmp_path))
        assert found.severity is OK
        missing = only(await diagnosis.diagnose(mailing(port, tls="starttls"), tmp_path))
    assert missing.severity is ERROR
    assert "STARTTLS" in missing.text
    assert relay.tried == 0


async def test_absent_relay_is_an_error(tmp_path: Path, free_port: FreePort) -> None:
    found = only(await diagnosis.diagnose(mailing(free_port()), tmp_path))
    assert found.severity is ERROR
    assert "127.0.0.1" in found.text


async def test_silent_relay_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "_PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        found = only(await diagnosis.diagnose(mailing(silent.getsockname()[1]), tmp_path))
    assert found.severity is ERROR


async def test_wrong_password_of_the_relay_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    relay = Handler()
    relay.login = ("thud", "right")
    (tmp_path / "password").write_text("wrong\n", "utf-8")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    AUTHORITY.issue_cert("127.0.0.1").configure_cert(context)
    AUTHORITY.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    own = {"user": "thud", "password_file": "password", "certificates": "ca.pem"}
    async with relaying(relay, context) as port:
        settings = mailing(port, tls="starttls", **own)
        found = only(await diagnosis.diagnose(settings, tmp_path))
        assert "rejects mail.user or the password" in found.text
        (tmp_path / "password").write_text("right\n", "utf-8")
        assert only(await diagnosis.diagnose(settings, tmp_path)).severity is OK
        (tmp_path / "password").unlink()
        unread = only(await diagnosis.diagnose(settings, tmp_path))
    assert "mail.password_file" in unread.text
    assert relay.tried == 0


async def test_push_key_is_read_and_never_made(tmp_path: Path) -> None:
    page = {"public_url": "https://thud.example.org"}
    settings = Settings.model_validate({"web": page, "push": {"enabled": True}})
    key = tmp_path / "push.pem"

    async def severity() -> Severity:
        return only(await diagnosis.diagnose(settings, tmp_path)).severity

    assert await severity() is WARNING
    assert not key.exists()
    outside(settings, tmp_path)  # as a server does
    assert await severity() is OK
    key.chmod(0o644)
    assert await severity() is WARNING
    key.write_text("none", "ascii")
    assert await severity() is ERROR


def test_feature_checks_run_from_the_command(free_port: FreePort) -> None:
    text = (
        '[web]\npublic_url = "https://thud.example.org"\n[mail]\nrelay = "127.0.0.1"\n'
        f'port = {free_port()}\ntls = "none"\nsender = "thud@example.org"\n'
    )
    assert only(results(doctor.check_features, text)).severity is ERROR
    assert results(doctor.check_features) == []
