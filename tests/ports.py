"""Reservation of free ports."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def free_ports() -> Iterator[Callable[[], int]]:
    """Yield a function that reserves a free port until the end of the context.

    The port is bound without listening, so the kernel assigns it to no one else, but a server that
    sets SO_REUSEADDR can bind it by number. A number that is only looked up may be taken a moment
    later, and one that is free on 127.0.0.1 alone may be in use for a connection on another
    address, so that a server could not listen on all addresses.
    """
    with ExitStack() as stack:

        def find() -> int:
            holder = stack.enter_context(socket.socket())
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("0.0.0.0", 0))  # noqa: S104  (no listener)
            return int(holder.getsockname()[1])

        yield find
