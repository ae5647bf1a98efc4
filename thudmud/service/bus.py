"""The event bus: publishes applied events to the parts of the service and to features.

An event is published after it has been stored, applied and delivered. Its handlers run once the
code that caused it has released its locks, so a handler may run commands and append events: nothing
that it waits for waits for it. Until then events are queued. The queue is drained

- at the end of each player's line, join or leave;
- at the end of an append by a timer, or by anything else that isn't a player's line;
- after a batch of another node's events.

Lines of other players may be in progress then: they never delay handlers.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from thudmud.game.feature import Handler
from thudmud.service.coroutines import KeyedLock

_log = logging.getLogger(__name__)


class EventBus:
    """Publishes applied events to handlers.

    Attributes:
        names: the locks of players' names.
        locks: the locks of boards, by name, and of the hall.
        handlers: the handlers in order of subscription, by type of event.
        pending: queued handler calls.
    """

    def __init__(self) -> None:
        self.pending: deque[Callable[[], None]] = deque()
        self.names = KeyedLock(self._drain, self.pending)
        self.locks = KeyedLock()
        self.handlers: dict[type[Any], list[Handler]] = {}
        self._is_draining = False

    def subscribe(self, kinds: type[Any] | tuple[type[Any], ...], handler: Handler) -> None:
        """Subscribe a handler to events of exactly these types; subclasses don't match."""
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            self.handlers.setdefault(kind, []).append(handler)

    def defer(self, call: Callable[[], None]) -> None:
        """Queue a call after the handlers that are queued now."""
        self.pending.append(call)

    def dispatch(self, player: str = "") -> None:
        """Drain the queue, unless ``player`` has a line in progress, whose end drains the queue."""
        if self.pending and player not in self.names.held:
            self._drain()

    def _drain(self) -> None:
        """Run queued calls, and any that they queue. Exceptions are logged and swallowed."""
        if not self.pending or self._is_draining:
            return
        self._is_draining = True
        try:
            while self.pending:
                call = self.pending.popleft()
                try:
                    call()
                except Exception:  # noqa: BLE001  (play goes on in spite of our bugs)
                    _log.exception("an event handler failed")
        finally:
            self._is_draining = False
