"""The bus: tells the parts of a service, and its features, what has happened.

Whoever reacts to something is called after it has been stored, applied and told, and when whoever
caused it holds no lock. So a handler may submit commands and store events: it waits for nobody who
waits for it. Happenings wait here meanwhile, and are handed out

- when a player's line, or their coming or going, is done, whoever else is busy then;
- when what a timer has stored is done, or another node's events have been applied, unless some
  player's line is under way, whose end hands them out.
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
    """Tells handlers what has happened.

    Attributes:
        names: the locks of the players' names.
        tables: the locks of the boards, by name, and of the hall.
        handlers: by the type of an event, whom it is told, in order. Nobody is told of others.
        waiting: what is to be called once no lock is held.
    """

    def __init__(self) -> None:
        self.waiting: deque[Callable[[], None]] = deque()
        self.names = Turns(self._hand_out, self.waiting)
        self.tables = Turns(self.hand_out, self.waiting)
        self.handlers: dict[type[Any], list[Handler]] = {}
        self._is_busy = False

    def on(self, kinds: type[Any] | tuple[type[Any], ...], handler: Handler) -> None:
        """Call a handler for each happening whose event is of one of these very types.

        Of several handlers, those that were added first are called first.
        """
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            self.handlers.setdefault(kind, []).append(handler)

    def defer(self, call: Callable[[], None]) -> None:
        """Call a function when a handler would be called: once no lock is held."""
        self.waiting.append(call)

    def hand_out(self) -> None:
        """Hand out what waits, unless whoever holds a lock will do it."""
        if self.waiting and not (self.names.held or self.tables.held):
            self._hand_out()

    def _hand_out(self) -> None:
        """Call the handlers of what waits, and of what happens meanwhile.

        One that fails is logged, and hinders no other.
        """
        if not self.waiting or self._is_busy:
            return
        self._is_busy = True
        while self.waiting:
            call = self.waiting.popleft()
            try:
                call()
            except Exception:  # noqa: BLE001  (play goes on in spite of our bugs)
                _log.exception("what has happened was not taken note of")
        self._is_busy = False
