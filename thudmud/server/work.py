"""What a session waits for: a command that is not done yet, or a dialogue with its player.

Owns which of them is under way, and that nothing comes of it once the session has ended. Must never
know what it is about.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from thudmud.server.guests import Done

_log = logging.getLogger(__name__)


class Work:
    """At most one thing at a time.

    Args:
        done: called with what has come of it.
        failed: called with what went wrong with it.
        wake: called after either.
    """

    def __init__(
        self,
        done: Callable[[Done], None],
        failed: Callable[[BaseException], None],
        wake: Callable[[], None],
    ) -> None:
        self._done, self._failed, self._wake = done, failed, wake
        self._work: asyncio.Future[Done] | None = None
        self._dialogue: asyncio.Task[Done] | None = None

    @property
    def is_going(self) -> bool:
        """Whether something is under way."""
        return self._work is not None

    @property
    def is_dialogue(self) -> bool:
        """Whether a dialogue is."""
        return self._dialogue is not None

    def begin(self, dialogue: Coroutine[Any, Any, Done]) -> None:
        """Begin a dialogue."""
        self._dialogue = asyncio.get_running_loop().create_task(dialogue)
        self.wait_for(self._dialogue)

    def wait_for(self, work: asyncio.Future[Done]) -> None:
        """Wait for something that has begun."""
        self._work = work
        work.add_done_callback(self._finished)

    def stop(self, *, to_its_end: bool) -> None:
        """Wait no longer, and end a dialogue, unless that is to go to its end."""
        self._work = None
        if self._dialogue is not None and not to_its_end:
            self._dialogue.cancel()

    def _finished(self, work: asyncio.Future[Done]) -> None:
        if work is self._dialogue:
            self._dialogue = None
        error = asyncio.CancelledError() if work.cancelled() else work.exception()
        if self._work is not work:  # the session has ended meanwhile
            if error and not work.cancelled():
                _log.error("failed behind a connection's end", exc_info=error)
            return
        self._work = None
        if error:
            self._failed(error)
        else:
            self._done(work.result())
        self._wake()
