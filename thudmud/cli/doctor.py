"""`thudmud doctor`: check what a server needs of its machine, and say how to mend it.

Each check is a function that yields results. It changes nothing, and has to end by itself: whatever
it waits for has a time limit. Should one hang all the same, such as in a look-up of a name, it is
left behind after `PATIENCE` seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import errno
import os
import platform
import re
import socket
import ssl
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from functools import cached_property
from importlib import metadata
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from thudmud import features
from thudmud.bots.workers import worker_count
from thudmud.cli.configured import config_option, reports_errors
from thudmud.english import rounded_duration
from thudmud.errors import StartError, ThudmudError
from thudmud.game.clocks import DAY
from thudmud.game.feature import CheckResult, Severity
from thudmud.server.acceptor import needed_file_descriptors
from thudmud.server.bots import require_programs
from thudmud.server.certificates import Certificate, load_certificate
from thudmud.server.config import Settings, config_folder, load_settings, named_or_default
from thudmud.server.runtime import read_news
from thudmud.server.shared_store import NEEDS_PSYCOPG
from thudmud.server.sockets import bound_sockets
from thudmud.store import StoreError, last_backup
from thudmud.store.files import (
    HEAD,
    beside,
    companions,
    free_bytes,
    has_free_inodes,
    megabytes,
    resolve_symlink,
    store_size,
)
from thudmud.store.inspecting import StoreFacts, inspect_database, inspect_file
from thudmud.store.rows import current_schema
from thudmud.version import VERSION, install_hint

PATIENCE = 20.0
"""Seconds after which a check is given up."""

_CONNECT_PATIENCE = 2.0  # seconds for a server on this machine to answer
_LOW_DISK, _FULL_DISK = 1_000_000_000, 20_000_000  # free bytes, for a warning or an error
_RENEW_BEFORE = 14 * DAY  # certbot renews 30 days before the end
_OLD_BACKUP = 2 * DAY

_MARKERS = (b"thudmud", b"gmcp.mudstandards.org")
"""What telnet's greeting, /health and the page contain, one of them."""

Results = Iterator[CheckResult]


class CheckContext:
    """The configuration to check, and where it is.

    Attributes:
        settings: all settings.
        path: the configuration; None for the defaults.
        folder: the base folder of relative file names.
    """

    def __init__(self, settings: Settings, path: Path | None) -> None:
        self.settings, self.path, self.folder = settings, path, config_folder(path)

    @property
    def file(self) -> Path | None:
        """The file of the store; None if it isn't a file."""
        storage = self.settings.storage
        if storage.backend != "sqlite":
            return None
        return resolve_symlink((self.folder / storage.file).absolute())

    @cached_property
    def facts(self) -> StoreFacts | None:
        """What the store says; None if there is none yet, or if it is in memory.

        Raises:
            ImportError: psycopg isn't installed.
            StoreError: it can't be read.
        """
        storage = self.settings.storage
        if storage.backend == "postgresql":
            return inspect_database(storage.dsn)
        if self.file and (self.file.exists() or beside(self.file, HEAD).exists()):
            return inspect_file(self.file)
        return None

    @property
    def has_server(self) -> bool:
        """Whether a server on this machine has stored something lately, as far as is known."""
        with suppress(ImportError, StoreError):
            return bool(self.file and self.facts and self.facts.is_served)
        return False


Check = Callable[[CheckContext], Results]


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Check what a server needs: packages, ports, open files, disk, clock, certificates, "
        'store, database, mail relay. Prints one line for each, which begins with "ok", '
        '"warning", "error" or "unknown", and says what to do. Changes nothing and sends no mail. '
        "Run it as the user of the server, while that runs or not. The exit status is 0 if there "
        "is no error, 1 if there is one, and 2 if the configuration can't be read."
    )
    config_option(parser)
    parser.set_defaults(run=run)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Run all checks and print their results."""
    path = named_or_default(options.config)
    context = CheckContext(load_settings(path), path)
    has_errors = False
    for check in CHECKS:
        for result in run_check(check, context):
            print(result, flush=True)
            has_errors |= result.severity is Severity.ERROR
    return int(has_errors)


def run_check(
    check: Check, context: CheckContext, patience: float = PATIENCE
) -> Sequence[CheckResult]:
    """Return the results of a check, within some seconds and whatever it raises."""
    results: list[CheckResult] = []
    subject = check.__name__.removeprefix("check_").replace("_", " ")

    def collect() -> None:
        try:
            results.extend(check(context))
        except (OSError, ThudmudError) as error:
            results.append(CheckResult(Severity.ERROR, subject, str(error).rstrip(".")))
        except Exception as error:  # noqa: BLE001  (a bug in one check must not hide the others)
            text = f"this check failed: {error!r}"
            results.append(CheckResult(Severity.UNKNOWN, subject, text, "Please report that."))

    worker = Thread(target=collect, daemon=True)
    worker.start()
    worker.join(patience)
    if worker.is_alive():
        text = f"no answer within {rounded_duration(patience)}"
        return [*results, CheckResult(Severity.UNKNOWN, subject, text)]
    return results


# Python and packages.

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?([^;]*)(?:;(.*))?")
_EXTRA = re.compile(r"""extra == ["']([a-z]+)["']""")
_VERSION_CLAUSE = re.compile(r"(>=|<)\s*([0-9.]+)")


def check_packages(context: CheckContext) -> Results:
    """Check Python, and the packages that the configuration needs, with their versions."""
    python = platform.python_version()
    yield CheckResult(Severity.OK, "python", f"Python {python}, thudmud {VERSION}")
    try:
        requirements = metadata.requires("thudmud") or []
    except metadata.PackageNotFoundError:
        yield CheckResult(Severity.UNKNOWN, "packages", "thudmud isn't installed as a package")
        return
    settings = context.settings
    wanted = {"", "server"}
    wanted |= {"metrics"} if settings.metrics.enabled else set()
    wanted |= {"postgres"} if settings.storage.backend == "postgresql" else set()
    problems: dict[str, list[str]] = {}
    for requirement in requirements:
        extra, problem = _package_problem(requirement)
        problems.setdefault(extra, []).extend([problem] if problem else [])
    for extra in sorted(wanted):
        for problem in problems.get(extra, []):
            remedy = install_hint(extra or "server")
            yield CheckResult(Severity.ERROR, "packages", problem, remedy)
    if not any(problems.get(extra) for extra in wanted):
        complete = sorted(extra for extra, missing in problems.items() if extra and not missing)
        text = f"all that are needed are there; extras: {', '.join(complete) or 'none'}"
        yield CheckResult(Severity.OK, "packages", text)


def _package_problem(requirement: str) -> tuple[str, str]:
    """Return the extra that a requirement is for, and what is wrong with the package, if anything.

    Args:
        requirement: a requirement as in a package's metadata, such as ``lark<2,>=1.1.9``. Of the
            operators, only those that thudmud uses are understood.
    """
    match = _REQUIREMENT.fullmatch(requirement.strip())
    if match is None:
        return "", ""
    name, clauses, marker = match.group(1, 2, 3)
    extra = _EXTRA.search(marker or "")
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        problem = f"{name} is missing"
    else:
        fits = all(
            (_numbers(version) >= _numbers(bound)) == (operator == ">=")
            for operator, bound in _VERSION_CLAUSE.findall(clauses)
        )
        problem = "" if fits else f"{name} has version {version}, expected {clauses.strip()}"
    return extra[1] if extra else "", problem


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))[:4]


# The network.


def check_ports(context: CheckContext) -> Results:
    """Check that each port is free, or has this server."""
    for setting, hosts, port, has_tls in context.settings.ports:
        if port:
            yield _check_port(context, setting, hosts, port, has_tls=has_tls)
        else:
            yield CheckResult(Severity.OK, setting, "any free port")


def _check_port(
    context: CheckContext, setting: str, hosts: Sequence[str], port: int, *, has_tls: bool
) -> CheckResult:
    """Bind a port without listening, which no client notices."""
    place = f"port {port} of {' and '.join(hosts)}"
    try:
        for end in asyncio.run(bound_sockets(hosts, setting, port)):
            end.close()
    except StartError as error:
        number = getattr(error.__cause__, "errno", None)
        text = str(error).removeprefix(f"{setting}: ")
    else:
        return CheckResult(Severity.OK, setting, f"{place} is free")
    if number == errno.EACCES:
        remedy = "The service needs CAP_NET_BIND_SERVICE for it: see docs/operating.md."
        return CheckResult(Severity.WARNING, setting, text, remedy)
    if number != errno.EADDRINUSE:
        remedy = 'Correct that setting; "::" stands for all addresses.'
        return CheckResult(Severity.ERROR, setting, text, remedy)
    if any(_is_thudmud(setting, host, port, has_tls=has_tls) for host in hosts):
        return CheckResult(Severity.OK, setting, f"{place} answers as thudmud")
    if context.has_server:
        text = f"{place} is in use, presumably by the server that runs"
        return CheckResult(Severity.OK, setting, text)
    if setting == "web.port" and context.settings.web.may_move:
        remedy = "The page will have another one. Choose a free one in [web]."
        return CheckResult(Severity.WARNING, setting, text, remedy)
    return CheckResult(Severity.ERROR, setting, text, "Stop that, or choose another port.")


def _is_thudmud(setting: str, host: str, port: int, *, has_tls: bool) -> bool:
    """Return whether a program on this machine answers as thudmud does."""
    address = {"0.0.0.0": "127.0.0.1", "::": "127.0.0.1"}.get(host, host)  # noqa: S104
    is_telnet = setting.startswith("server.")
    told = b""
    with suppress(OSError), ExitStack() as stack:
        end = socket.create_connection((address, port), _CONNECT_PATIENCE)
        stack.callback(end.close)
        if has_tls:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
            end = stack.enter_context(closing(tls.wrap_socket(end)))
        path = "/health" if setting == "metrics.port" else "/"
        if not is_telnet:
            end.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        while len(told) < 65_536 and (more := end.recv(4096)):
            told += more
            if any(marker in told for marker in _MARKERS):
                return True
    return False


def check_open_files(context: CheckContext) -> Results:
    """Compare the limit on open files with what the settings allow."""
    try:
        import resource  # noqa: PLC0415  (Windows has none)
    except ImportError:
        yield CheckResult(Severity.UNKNOWN, "open files", "this system has no such limit")
        return
    settings = context.settings
    programs = [each for each in settings.bot if each.command]
    needed = needed_file_descriptors(
        settings.server.connections, len(programs) + worker_count(settings.server.workers)
    )
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard >= needed:
        allowed = "any number" if hard == resource.RLIM_INFINITY else f"{hard:,}"
        text = f"{allowed} allowed, at most {needed:,} needed"
        yield CheckResult(Severity.OK, "open files", text)
        return
    text = f"{hard:,} allowed here, but {settings.server.connections:,} connections need {needed:,}"
    remedy = f"Set LimitNOFILE={needed} in the unit, or lower server.connections."
    yield CheckResult(Severity.WARNING, "open files", text, remedy)


# Files.


def check_disk(context: CheckContext) -> Results:
    """Check the room on the store's disk."""
    file = context.file
    if file is None:
        return
    free = free_bytes(file)
    text = f"{megabytes(free)} are free in {file.parent}"
    if free < _FULL_DISK or not has_free_inodes(file):
        yield CheckResult(Severity.ERROR, "disk", text, "Make room: nothing can be stored soon.")
    elif free < _LOW_DISK or (file.exists() and free < store_size(file)):
        remedy = 'Make room for backups and growth; "thudmud store prune" shrinks the store.'
        yield CheckResult(Severity.WARNING, "disk", text, remedy)
    else:
        yield CheckResult(Severity.OK, "disk", text)


def check_file_modes(context: CheckContext) -> Results:
    """Check who owns the store's files and the configuration, and who may read them."""
    file = context.file
    if file:
        yield from _check_store_modes(file)
    path = context.path
    has_secrets = context.settings.gateway.secret or context.settings.storage.dsn
    if path and has_secrets and path.stat().st_mode & stat.S_IROTH:
        text = f"everybody can read {path}, which contains a secret or a connection string"
        yield CheckResult(Severity.WARNING, "configuration", text, f"chmod 0640 {path}")
    log = context.settings.server.log_file
    if log:
        place = context.folder / log
        known = place if place.exists() else place.parent
        if os.access(known, os.W_OK):
            yield CheckResult(Severity.OK, "log file", f"{place} can be written")
        else:
            remedy = "Run this as the user of the server, or correct server.log_file."
            text = f"this user can't write {place}"
            yield CheckResult(Severity.ERROR, "log file", text, remedy)


def _check_store_modes(file: Path) -> Results:
    """Check the owner and the mode of a store's files."""
    owner, user = file.parent.stat().st_uid, os.geteuid()
    there = [path for path in (file, *companions(file)) if path.exists()]
    foreign = [path for path in there if path.stat().st_uid not in {owner, user}]
    if user == 0:  # root may do all, but the server may not
        foreign = [path for path in there if path.stat().st_uid != owner]
    shared = [path for path in there if path.stat().st_mode & 0o077]
    if foreign:
        names = " ".join(map(str, foreign))
        text = f"another user owns {names}, so the server can't use the store"
        yield CheckResult(Severity.ERROR, "store files", text, f"chown {owner} {names}")
    if not os.access(file.parent, os.W_OK):
        remedy = "Run this as the user of the server, or give it the folder."
        text = f"this user can't write in {file.parent}"
        yield CheckResult(Severity.ERROR, "store files", text, remedy)
    if shared:
        names = " ".join(map(str, shared))
        text = f"other users may read {names}, which contain password hashes"
        yield CheckResult(Severity.WARNING, "store files", text, f"chmod 600 {names}")
    if not (foreign or shared) and os.access(file.parent, os.W_OK):
        yield CheckResult(Severity.OK, "store files", "private, and with the right owner")


def check_named_files(context: CheckContext) -> Results:
    """Check the news, and the programs of bots."""
    settings, folder = context.settings, context.folder
    checks: dict[str, Callable[[], object]] = {
        "bots": lambda: require_programs(settings.bot, folder),
        "news": lambda: read_news(settings, folder),
    }
    for subject, check in checks.items():
        try:
            check()
        except StartError as error:
            remedy = "Correct that setting, or the file."
            yield CheckResult(Severity.ERROR, subject, str(error), remedy)


# The clock.

_UNSYNCHRONISED = 5
"""TIME_ERROR of adjtimex(2): the clock isn't synchronised."""

_SIZE_OF_TIMEX = 512  # bytes: more than any system's struct timex has


def check_clock(_: CheckContext) -> Results:
    """Check that the system clock is kept right by a time server."""
    try:
        library: Any = ctypes.CDLL(None)
        state = library.adjtimex(ctypes.create_string_buffer(_SIZE_OF_TIMEX))  # zeros: only asks
    except (AttributeError, OSError):
        state = -1
    if state < 0:
        text = "this system doesn't tell whether its clock is synchronised"
        yield CheckResult(Severity.UNKNOWN, "clock", text)
    elif state == _UNSYNCHRONISED:
        remedy = "Install a time service: apt install systemd-timesyncd (or chrony)"
        text = "no time server keeps it right, as far as the kernel knows"
        yield CheckResult(Severity.WARNING, "clock", text, remedy)
    else:
        yield CheckResult(Severity.OK, "clock", "synchronised with a time server")


# Certificates.


def check_certificates(context: CheckContext) -> Results:
    """Check the certificates of the server's own TLS ports."""
    settings = context.settings
    names = {settings.listing.hostname, urlsplit(settings.web.public_url).hostname or ""} - {""}
    for section, given in (("server", settings.server), ("web", settings.web)):
        if not given.tls_certificate or (section == "web" and not settings.web.enabled):
            continue
        file = context.folder / given.tls_certificate
        key = context.folder / given.tls_key if given.tls_key else None
        subject = f"{section}.tls_certificate"
        try:
            certificate = load_certificate(file, key, section)
        except StartError as error:
            remedy = "Correct the files, or run this as the user of the server."
            yield CheckResult(Severity.ERROR, subject, str(error), remedy)
            continue
        if certificate is None:
            remedy = "Use one that is issued for servers."
            yield CheckResult(Severity.WARNING, subject, f"{file} can't be verified", remedy)
        else:
            yield _judge_certificate(subject, certificate, names)


def _judge_certificate(subject: str, certificate: Certificate, names: Iterable[str]) -> CheckResult:
    """Check the period and the names of a certificate."""
    now, end = time.time(), time.strftime("%Y-%m-%d", time.gmtime(certificate.end))
    renew = 'Renew it ("certbot renew"), and reload the server.'
    missing = [name for name in names if not _covers(certificate.names, name)]
    if certificate.end <= now:
        return CheckResult(Severity.ERROR, subject, f"it expired on {end}", renew)
    if certificate.begin > now:
        text = "it isn't valid yet"
        return CheckResult(Severity.ERROR, subject, text, "See whether the clock is right.")
    if certificate.end < now + _RENEW_BEFORE:
        text = f"it expires on {end}, in {rounded_duration(certificate.end - now)}"
        return CheckResult(Severity.WARNING, subject, text, renew)
    known = ", ".join(certificate.names) or "no name"
    if missing:
        text = f"it is for {known}, but not for {' and '.join(missing)}"
        remedy = "Have one issued for that name, or correct web.public_url and listing.hostname."
        return CheckResult(Severity.WARNING, subject, text, remedy)
    return CheckResult(Severity.OK, subject, f"valid until {end}, for {known}")


def _covers(names: Iterable[str], wanted: str) -> bool:
    """Return whether one of a certificate's names stands for a host (RFC 9525, section 6.3)."""
    _, _, parent = wanted.partition(".")
    with suppress(ValueError):
        ip_address(wanted)
        parent = ""
    fitting = {wanted.lower(), f"*.{parent.lower()}" if parent else wanted.lower()}
    return any(name.lower() in fitting for name in names)


# The store.


def check_store(context: CheckContext) -> Results:
    """Check that the store can be read, its schema, who has it, and when it was backed up."""
    storage = context.settings.storage
    if storage.backend == "memory":
        remedy = 'Set storage.backend to "sqlite" to keep accounts and battles.'
        yield CheckResult(Severity.WARNING, "store", "in memory: nothing is kept", remedy)
        return
    try:
        facts = context.facts
    except ImportError:
        yield CheckResult(Severity.ERROR, "store", NEEDS_PSYCOPG)
        return
    except StoreError as error:
        remedy = "docs/reliability.md has the remedy for each message."
        if storage.backend == "postgresql":
            remedy = "See that the database runs, and check storage.dsn."
        yield CheckResult(Severity.ERROR, "store", str(error).rstrip("."), remedy)
        return
    where = str(context.file or "the database")
    if facts is None:
        text = f"there is none yet; the server makes {where} at its first start"
        yield CheckResult(Severity.OK, "store", text)
        return
    if facts.is_outdated:
        text = f"{where} has schema {facts.schema}, and this version uses {current_schema()}"
        remedy = "The next start upgrades it. Back it up first."
        yield CheckResult(Severity.WARNING, "store", text, remedy)
    else:
        yield CheckResult(Severity.OK, "store", f"{where} can be read, schema {facts.schema}")
    yield _judge_heartbeat(facts)
    if context.file:
        yield _judge_backup(last_backup(context.file))


def _judge_heartbeat(facts: StoreFacts) -> CheckResult:
    """Return whether a server runs on the store."""
    holder = f", process {facts.holder}" if facts.holder else ""
    if facts.heartbeat is None:
        return CheckResult(Severity.OK, "server", f"none runs on the store{holder}")
    ago = rounded_duration(facts.heartbeat)
    if not facts.is_served:
        remedy = "It hangs, was killed, or can't write. See its log, and restart it."
        text = f"the last one{holder} has stored nothing for {ago}"
        return CheckResult(Severity.ERROR, "server", text, remedy)
    return CheckResult(Severity.OK, "server", f"one runs{holder}; it last wrote {ago} ago")


def _judge_backup(made: float | None) -> CheckResult:
    """Return whether the last known backup is recent."""
    remedy = "Make backups regularly: see docs/operating.md."
    if made is None:
        return CheckResult(Severity.UNKNOWN, "backup", "none is known", remedy)
    age = max(0.0, time.time() - made)
    text = f"the last one is {rounded_duration(age)} old"
    if age > _OLD_BACKUP:
        return CheckResult(Severity.WARNING, "backup", text, remedy)
    return CheckResult(Severity.OK, "backup", text)


# Features.


def check_features(context: CheckContext) -> Results:
    """Run the checks of features, such as of the mail relay."""
    settings = context.settings
    for module in features.modules("diagnosis", settings.features.off):
        yield from asyncio.run(module.diagnose(settings, context.folder))


CHECKS: Sequence[Check] = (
    check_packages,
    check_ports,
    check_open_files,
    check_disk,
    check_file_modes,
    check_named_files,
    check_clock,
    check_certificates,
    check_store,
    check_features,
)
