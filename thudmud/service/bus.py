"""The event bus: publishes applied events to the parts of the service and to features.

An event is published after it has been stored, applied and delivered. Its handlers run once the
code that caused it has released its locks, so a handler may run commands and append events: nothing
that it waits for waits for it. Until then events are queued. The queue is drained

- at the end of each player's line, join or leave, even if other players' lines are in progress;
- when a timer's append, or a batch of another node's events, has been applied; but if a player's
  line is in progress, then at the end of that line.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from thudmud.play.feature import Handler
from thudmud.service.driving import Turns

_log = logging.getLogger(__name__)


class EventBus:
    """Publishes applied events to handlers.

    Attributes:
        names: the locks of players' names.
        tables: the locks of boards, by name, and of the hall.
        handlers: the handlers in order of subscription, by type of event.
        pending: queued handler calls.
    """

    def __init__(self) -> None:
        self.pending: deque[Callable[[], None]] = deque()
        self.names = Turns(self._drain, self.pending)
        self.tables = Turns(self.dispatch, self.pending)
        self.handlers: dict[type[Any], list[Handler]] = {}
        self._is_draining = False

    def on(self, kinds: type[Any] | tuple[type[Any], ...], handler: Handler) -> None:
        """Subscribe a handler to events of exactly these types; subclasses don't match."""
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            self.handlers.setdefault(kind, []).append(handler)

    def defer(self, call: Callable[[], None]) -> None:
        """Queue a call for when no lock is held."""
        self.pending.append(call)

    def dispatch(self) -> None:
        """Drain the queue, unless a lock is held, whose release will do so."""
        if self.pending and not (self.names.held or self.tables.held):
            self._drain()

    def _drain(self) -> None:
        """Run queued calls, and those that they queue. Exceptions are logged and swallowed."""
        if not self.pending or self._is_draining:
            return
        self._is_draining = True
        while self.pending:
            call = self.pending.popleft()
            try:
                call()
            except Exception:  # noqa: BLE001  (play goes on in spite of our bugs)
                _log.exception("an event handler failed")
        self._is_draining = False
