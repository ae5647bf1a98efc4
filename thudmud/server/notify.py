"""What the service manager is told, by the protocol of sd_notify(3). Where there is none, nothing.

Each message is a datagram to the socket that the environment names: no library is needed for that.
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

    Args:
        environment: names its socket, and how often it wants to hear of us. That is taken out, so
            that the programs of bots do not speak for the server.

    Attributes:
        status: returns how things are, for whoever asks the manager.
    """

    def __init__(self, environment: MutableMapping[str, str] = os.environ) -> None:
        self.status: Callable[[], str] = lambda: "Starting"
        # A name that begins with @ is in the abstract namespace of Linux.
        self._address = environment.pop("NOTIFY_SOCKET", "").replace("@", "\0", 1)
        is_for_us = environment.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        limit = int(environment.pop("WATCHDOG_USEC", "0")) / _MICROSECONDS
        self._limit = limit if is_for_us else 0.0

    def ready(self) -> None:
        """Say that people can come in, for the first time or with other settings."""
        self._tell(f"READY=1\nSTATUS={self.status()}")

    def reloading(self) -> None:
        """Say that the settings are being read again."""
        self._tell(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self, why: str) -> None:
        """Say that the server ends."""
        self._tell(f"STOPPING=1\nSTATUS=Stopping: {why}")

    async def watch(self) -> None:
        """Say again and again that the event loop is alive, if that is wanted, and how things are.

        A server that hangs says nothing, and is started again.
        """
        while self._address and self._limit:
            self._tell(f"WATCHDOG=1\nSTATUS={self.status()}")
            await asyncio.sleep(self._limit / 2)

    def _tell(self, message: str) -> None:
        if self._address:
            with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
                # Rather unheard than late for the players.
                end.sendto(message.encode(), socket.MSG_DONTWAIT, self._address)
