"""`thudmud gateway`: serve boards to other MUDs."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import suppress
from pathlib import Path

from thudmud.bots.workers import Workers
from thudmud.cli.common import port
from thudmud.cli.configured import config_option, reports_errors
from thudmud.errors import CommandError
from thudmud.gateway.bots import GatewayBots
from thudmud.gateway.gateway import Gateway
from thudmud.gateway.listening import GatewayAcceptor, serve_standard_streams
from thudmud.gateway.session import GatewayPolicy
from thudmud.server import runtime
from thudmud.server.bots import require_programs
from thudmud.server.config import (
    Settings,
    StorageSettings,
    config_folder,
    load_settings,
    named_or_default,
)
from thudmud.server.runtime import (
    check_store,
    install_signal_handlers,
    open_serving_store,
    run_in_background,
    tune_for_latency,
)
from thudmud.server.sockets import bound_sockets, log_places


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Provide boards to other MUDs. They connect to the configured port or Unix socket, and "
        "exchange lines of JSON; see docs/gateway.md."
    )
    config_option(parser)
    parser.add_argument(
        "--port", type=port, help="the port, instead of gateway.port or gateway.socket"
    )
    parser.add_argument(
        "--stdio", action="store_true", help="use standard input and output instead"
    )
    parser.set_defaults(run=run, is_output_needed=False)


SECRETLESS = (
    "gateway.secret: a port needs a secret, because anybody who can connect to it could play as "
    "anybody; or set a Unix socket (gateway.socket), or use --stdio"
)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Serve other MUDs until a signal arrives, or until the end of standard input."""
    path = named_or_default(options.config)
    settings = load_settings(path)
    if options.port is not None:
        changed = {"port": options.port, "socket": ""}
        gateway = settings.gateway.model_copy(update=changed)
        settings = settings.model_copy(update={"gateway": gateway})
    if not (options.stdio or settings.gateway.socket or settings.gateway.secret):
        raise CommandError(SECRETLESS)
    folder = config_folder(path)
    require_programs(settings.bot, folder)
    runtime.set_up_logging(settings, folder)
    runtime.run_in_loop(_serve(settings, folder, stdio=options.stdio))
    return 0


async def _serve(settings: Settings, folder: Path, *, stdio: bool) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP arrives, or until the end of standard input.

    Raises:
        StartError: the port, the socket or the file is not available.
        StoreError: the store cannot be used.
    """
    stopped = install_signal_handlers()
    # The gateway always uses a file of its own, even if the server's store is a database.
    is_kept = settings.storage.backend != "memory"
    storage = StorageSettings(backend="sqlite" if is_kept else "memory", file=settings.gateway.file)
    async with open_serving_store(storage, folder, "gateway") as (store, _):
        workers = Workers(settings.server.workers, folder)
        bots = GatewayBots(settings.bot, workers, folder, settings.game.seat_grace)
        gateway = Gateway(store, _policy(settings), bots=bots)
        await gateway.open()
        async with run_in_background(check_store(store)):
            if stdio:
                await serve_standard_streams(gateway, stopped)
            else:
                await _listen(gateway, settings, folder, stopped)
        await gateway.close()
        await workers.close()


async def _listen(
    gateway: Gateway, settings: Settings, folder: Path, stopped: asyncio.Event
) -> None:
    listener = GatewayAcceptor(gateway)
    own = settings.gateway
    if own.socket:
        place = str(folder / own.socket)
        servers = [await listener.listen_on_path(folder / own.socket)]
    else:
        ends = await bound_sockets(own.host, "gateway.port", own.port)
        servers = await listener.listen_on_sockets(ends)
        place = " and ".join(f"{host} {port}" for host, port in log_places("gateway.port", ends))
    tune_for_latency()
    print(f"thudmud gateway is ready: {place}", flush=True)
    try:
        await stopped.wait()
    finally:
        for server in servers:
            server.close()
        listener.close()
        await gateway.close()
        await listener.wait_closed()
        if own.socket:
            with suppress(FileNotFoundError):
                (folder / own.socket).unlink()


def _policy(settings: Settings) -> GatewayPolicy:
    own = settings.gateway
    return GatewayPolicy(
        secret=own.secret,
        max_line=own.max_line,
        outbox_bytes=own.outbox_bytes,
        links=own.clients,
        boards=own.boards,
        heartbeat=own.heartbeat,
        resume_grace=own.resume_grace,
        close_grace=settings.server.shutdown_grace,
        **settings.game.limits,
    )
