"""The running server: thudmud's house behind a listening socket, until a signal comes.

Owns the signals, and is the one place where the server meets the game.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from thudmud.commands import Style
from thudmud.server.listening import Server
from thudmud.server.settings import Settings
from thudmud.tables import BoardSpec
from thudmud.text import House


def furnish(settings: Settings) -> House:
    """Return the house that the settings describe."""
    boards = [BoardSpec(each.name, each.rules, Style(each.style)) for each in settings.board]
    return House(boards, settings.game.quiet_plies)


async def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM comes.

    Args:
        settings: All of them.
        announce: Called with one line once connections are accepted.

    Raises:
        CannotListenError: The port is in use, or the host isn't ours.
    """
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    server = Server(settings.server, furnish(settings))
    places = await server.start()
    announce("thudmud is ready: " + " or ".join(f"telnet {host} {port}" for host, port in places))
    await stopped.wait()
    await server.stop()
