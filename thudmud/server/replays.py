"""Battles that are shown again, ply after ply, to whoever has said ``play``.

Owns the pauses between the plies. Must never know what is shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from thudmud.text import Message
from thudmud.text.premises import Premises


class Replays:
    """All that go on by themselves.

    Args:
        house: where they are seen.
        deliver: takes what people are told.
        pause: seconds between two plies; with 0 some of them are shown at once.
    """

    def __init__(
        self, house: Premises, deliver: Callable[[Iterable[Message]], None], pause: float
    ) -> None:
        self._house, self._deliver, self._pause = house, deliver, pause
        self._going: dict[str, asyncio.TimerHandle] = {}

    def go_on(self, name: str) -> None:
        """Show a player what comes next of a battle, if they have asked for it."""
        self._cancel(name)
        if not self._pause:
            self._deliver(self._house.play_at_once(name))
        if self._house.is_playing(name):
            loop = asyncio.get_running_loop()
            self._going[name] = loop.call_later(self._pause, self._next, name)

    def stop(self, name: str) -> None:
        """Stop at the ply that a player is shown."""
        if self._cancel(name):
            self._house.stop_playing(name)

    def close(self) -> None:
        """Stop all."""
        for name in list(self._going):
            self.stop(name)

    def _next(self, name: str) -> None:
        # A ply of their own battle may have ended it meanwhile.
        if self._house.is_playing(name):
            self._deliver(self._house.play_on(name))
        self.go_on(name)

    def _cancel(self, name: str) -> bool:
        handle = self._going.pop(name, None)
        if handle is not None:
            handle.cancel()
        return handle is not None
