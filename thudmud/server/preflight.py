"""Preflight check: the reasons why `serve` would refuse a configuration, found without serving."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from thudmud import features
from thudmud.errors import StartError, system_reason
from thudmud.server.acceptor import Acceptor
from thudmud.server.bots import require_programs
from thudmud.server.config import Settings
from thudmud.server.runtime import read_news, require_metrics
from thudmud.server.shared_store import require_dsn
from thudmud.server.sockets import bound_sockets
from thudmud.store import StoreError
from thudmud.store.inspecting import inspect_file


class Preflight(NamedTuple):
    """The result of a check.

    Attributes:
        problems: the reasons why a server couldn't start, a line each.
        served: ports in use, presumably by the server that runs on the same store.
    """

    problems: list[str]
    served: list[int]


async def find_problems(settings: Settings, folder: Path) -> Preflight:
    """Find the reasons why a server couldn't start; nothing is changed.

    A port in use is no problem while a server runs on the same store: it is taken for that
    server's. With a database, or a store in memory, one is assumed to run.

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
        partial(module.serve, settings, folder, is_dry_run=True)
        for module in features.modules("serving", settings.features.off)
    ]
    if settings.storage.backend == "postgresql":
        checks.append(partial(require_dsn, settings.storage))
    problems: list[str] = []
    for check in checks:
        try:
            check()
        except StartError as error:
            problems.append(str(error))
    is_served = settings.storage.backend != "sqlite"
    if not is_served:
        try:
            is_served = _is_served("storage.file", folder / settings.storage.file)
        except StartError as error:
            problems.append(str(error))
    found = Preflight(problems, [])
    await _try_ports(settings, server, found, is_served=is_served)
    return found


async def _try_ports(
    settings: Settings, server: Acceptor, found: Preflight, *, is_served: bool
) -> None:
    """Add the problems of the ports, and the ports that the running server seems to have."""
    bound: list[socket.socket] = []
    for setting, hosts, port, _ in settings.ports:
        may_move = setting == "web.port" and settings.web.may_move
        try:
            sockets = await bound_sockets(hosts, setting, port)
        except StartError as error:
            why = error.__cause__
            is_in_use = isinstance(why, OSError) and why.errno == errno.EADDRINUSE
            if is_in_use and is_served:
                found.served.append(port)
            elif not (is_in_use and may_move):
                found.problems.append(str(error))
            continue
        try:
            server.claim_ports(setting, sockets)
        except StartError as error:
            if not may_move:
                found.problems.append(str(error))
        else:
            bound += sockets
    for each in bound:
        each.close()


def _is_served(setting: str, path: Path) -> bool:
    """Return whether a server has lately written to a store.

    Raises:
        StartError: the file isn't a store that this version can use.
    """
    _require_writable(setting, path)
    try:
        return path.exists() and inspect_file(path).is_served
    except StoreError as error:
        raise StartError(f"{setting}: {error}") from error


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
