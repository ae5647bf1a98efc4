"""Preflight check: whatever `serve` would refuse about a configuration, found without serving."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

from thudmud import features
from thudmud.errors import StartError, system_reason
from thudmud.server.acceptor import Acceptor
from thudmud.server.bots import require_programs
from thudmud.server.config import Settings
from thudmud.server.runtime import read_news, require_metrics
from thudmud.server.sockets import bound_sockets
from thudmud.store import LEASE, StoreError
from thudmud.store.checking import last_stored

SERVED = "Ports in use, presumably by the server that runs now: {}."


async def find_problems(settings: Settings, folder: Path) -> tuple[list[str], list[str]]:
    """Return what a server couldn't start with, and remarks; nothing is changed.

    Ports in use are no problem while a server runs on the same store: it will have them.

    Args:
        settings: all settings.
        folder: the base folder of relative file names.
    """
    server = Acceptor(settings, folder)
    checks: list[Callable[[], object]] = [
        partial(require_programs, settings.bot, folder),
        partial(read_news, settings, folder),
        partial(server.contexts, settings),
    ]
    if settings.server.log_file:
        log = folder / settings.server.log_file
        checks.append(partial(_require_writable, "server.log_file", log))
    if settings.metrics.enabled:
        checks.append(require_metrics)
    checks += [
        partial(module.serve, settings, folder, is_trial=True)
        for module in features.modules("serving", settings.features.off)
    ]
    problems: list[str] = []
    for check in checks:
        try:
            check()
        except StartError as error:
            problems.append(str(error))
    is_running = settings.storage.backend == "postgresql"  # perhaps, on this machine or another
    if settings.storage.backend == "sqlite":
        try:
            is_running = _is_served("storage.file", folder / settings.storage.file)
        except StartError as error:
            problems.append(str(error))
    unusable, served = await _try_ports(settings, server, is_running=is_running)
    remarks = [SERVED.format(", ".join(served))] if served else []
    return problems + unusable, remarks


async def _try_ports(
    settings: Settings, server: Acceptor, *, is_running: bool
) -> tuple[list[str], list[str]]:
    """Return problems of the ports, and those that the running server seems to have."""
    own, web, metrics = settings.server, settings.web, settings.metrics
    wanted = [("server.port", own.host, own.port)]
    if own.tls_port:
        wanted.append(("server.tls_port", own.host, own.tls_port))
    if web.enabled:
        wanted.append(("web.port", web.host, web.port))
    if metrics.enabled:
        wanted.append(("metrics.port", metrics.host, metrics.port))
    problems: list[str] = []
    served: list[str] = []
    bound: list[socket.socket] = []
    for setting, hosts, port in wanted:
        try:
            ends = await bound_sockets(hosts, setting, port)
            server.claim_ports(setting, ends)
            bound += ends
        except StartError as error:
            why = error.__cause__
            is_in_use = isinstance(why, OSError) and why.errno == errno.EADDRINUSE
            if is_in_use and setting == "web.port" and web.may_move:
                continue
            if is_in_use and is_running:
                served.append(str(port))
            else:
                problems.append(str(error))
    for each in bound:
        each.close()
    return problems, served


def _is_served(setting: str, path: Path) -> bool:
    """Return whether a server has lately written to a store.

    Raises:
        StartError: the file isn't a store, or can't be used.
    """
    _require_writable(setting, path)
    try:
        seconds = last_stored(path) if path.exists() else None
    except StoreError as error:
        raise StartError(f"{setting}: {error}") from error
    return seconds is not None and seconds <= LEASE


def _require_writable(setting: str, path: Path) -> None:
    """Check that a file can be written or made.

    Raises:
        StartError: it can't.
    """
    try:
        known = path if path.exists() else path.parent
        if not known.exists():
            raise StartError(f"{setting}: {path}: no folder {known}")
    except OSError as error:  # a folder that can't be searched
        raise StartError(f"{setting}: {path}: {system_reason(error)}") from error
    if not os.access(known, os.W_OK):
        raise StartError(f"{setting}: {path}: {os.strerror(errno.EACCES)}")
