"""Ports that are free, and stay so."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def free_ports() -> Iterator[Callable[[], int]]:
    """Yield what finds a port that is free, and is given to nobody who does not ask for it.

    It is bound, and nobody listens on it: whoever asks for it by its number can, as servers do who
    set SO_REUSEADDR. A number that is only looked up can be another program's a moment later, and
    one that is free on 127.0.0.1 alone can belong to a connection from another address: a server
    that listens on all of them cannot have it.
    """
    with ExitStack() as stack:

        def find() -> int:
            holder = stack.enter_context(socket.socket())
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("0.0.0.0", 0))  # noqa: S104  (nobody listens)
            return int(holder.getsockname()[1])

        yield find
