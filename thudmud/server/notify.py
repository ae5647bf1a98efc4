"""Tells the service manager how the server is, by sd_notify(3); nothing where there is none.

Each message is a datagram to the socket that the environment names: that needs no library.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, MutableMapping
from contextlib import suppress

_MICROSECONDS = 1_000_000


class ServiceManager:
    """The service manager, such as systemd, that has started this process.

    The socket's name and the watchdog's interval are taken out of the environment, so that the
    programs of bots do not speak for the server.

    Attributes:
        status: returns a sentence for the manager's status display.
    """

    def __init__(self, environment: MutableMapping[str, str] = os.environ) -> None:
        self.status: Callable[[], str] = lambda: "Starting"
        # A name that begins with @ is in the abstract namespace of Linux.
        self._address = environment.pop("NOTIFY_SOCKET", "").replace("@", "\0", 1)
        is_for_us = environment.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        limit = int(environment.pop("WATCHDOG_USEC", "0")) / _MICROSECONDS
        self._limit = limit if is_for_us else 0.0

    def ready(self) -> None:
        """Report that people can come in, after the start or a reload."""
        self._tell(f"READY=1\nSTATUS={self.status()}")

    def reloading(self) -> None:
        """Report that the settings are being reloaded."""
        self._tell(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self, why: str) -> None:
        """Report that the server is stopping."""
        self._tell(f"STOPPING=1\nSTATUS=Stopping: {why}")

    async def watch(self) -> None:
        """Report regularly that the event loop is alive, if the manager wants that, and the status.

        A server that hangs does not report, and is restarted.
        """
        while self._address and self._limit:
            self._tell(f"WATCHDOG=1\nSTATUS={self.status()}")
            await asyncio.sleep(self._limit / 2)

    def _tell(self, message: str) -> None:
        if self._address:
            with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
                # Losing a message is better than delaying the players.
                end.sendto(message.encode(), socket.MSG_DONTWAIT, self._address)
