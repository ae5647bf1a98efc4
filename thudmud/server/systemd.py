"""State notifications to the service manager by the sd_notify(3) protocol.

Each message is one datagram to the socket named in the environment, so no library is needed.
Without such a socket, all methods do nothing.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, MutableMapping
from contextlib import suppress

_MICROSECONDS = 1_000_000
_MORE_TIME = 600
"""Seconds until a start has to report its progress again: a copy of a large file takes minutes."""


class ServiceManager:
    """The service manager that started this process, such as systemd.

    The constructor removes its variables from the environment. Otherwise bot programs would
    inherit them and could send notifications on the server's behalf.

    Attributes:
        status: returns a sentence for the manager's status display.
    """

    def __init__(self, environment: MutableMapping[str, str] = os.environ) -> None:
        self.status: Callable[[], str] = lambda: "Starting"
        # A leading @ stands for NUL: an address in Linux's abstract socket namespace.
        self._address = environment.pop("NOTIFY_SOCKET", "").replace("@", "\0", 1)
        is_for_us = environment.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        limit = int(environment.pop("WATCHDOG_USEC", "0")) / _MICROSECONDS
        self._limit = limit if is_for_us else 0.0

    def starting(self, status: str) -> None:
        """Report the progress of a long start, and ask for more time to finish it."""
        self.status = lambda: status
        self._tell(f"STATUS={status}\nEXTEND_TIMEOUT_USEC={_MORE_TIME * _MICROSECONDS}")

    def ready(self) -> None:
        """Report that the server accepts players, after startup or a reload."""
        self._tell(f"READY=1\nSTATUS={self.status()}")

    def reloading(self) -> None:
        """Report that the server is reloading its settings."""
        self._tell(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self, why: str) -> None:
        """Report that the server is stopping."""
        self._tell(f"STOPPING=1\nSTATUS=Stopping: {why}")

    async def watch(self) -> None:
        """Send watchdog keep-alives and the status, at half the manager's interval.

        If the event loop hangs, the keep-alives stop and the manager restarts the server. Returns
        at once if the manager has set no watchdog.
        """
        while self._address and self._limit:
            self._tell(f"WATCHDOG=1\nSTATUS={self.status()}")
            await asyncio.sleep(self._limit / 2)

    def _tell(self, message: str) -> None:
        if self._address:
            with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
                # Never block: losing a message is better than delaying the players.
                end.sendto(message.encode(), socket.MSG_DONTWAIT, self._address)
