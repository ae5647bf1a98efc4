"""Who is handed what is stored, as it is stored."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Sequence

from thudmud.store.interface import Entry, StoreError

Take = Callable[[Sequence[Entry]], None]
Failed = Callable[[StoreError], None]

_log = logging.getLogger(__name__)


class Subscription:
    """One who follows, until `close`."""

    def __init__(
        self,
        everybody: Followers,
        streams: Collection[str] | None,
        after: int,
        take: Take,
        failed: Failed,
    ) -> None:
        self._everybody = everybody
        self.streams = None if streams is None else frozenset(streams)
        self.position = after
        """Of the last entry that was handed over, or passed over."""
        self.failed = failed
        self._take = take
        self._waiting: list[Sequence[Entry]] | None = []
        """What was stored while earlier entries were still being read; None after that."""

    def close(self) -> None:
        """Be handed nothing more."""
        self._everybody.remove(self)

    def catch_up(self, entries: Sequence[Entry]) -> None:
        """Be handed entries that were read."""
        if self.streams is not None:
            entries = [entry for entry in entries if entry.stream in self.streams]
        self._hand_over(entries)

    def go_on(self) -> None:
        """Be handed what came meanwhile, and from now on what comes."""
        waiting, self._waiting = self._waiting or [], None
        for entries in waiting:
            self._hand_over(entries)

    def deliver(self, entries: Sequence[Entry]) -> None:
        """Be handed entries of our streams, or be handed them later."""
        if self._waiting is None:
            self._hand_over(entries)
        else:
            self._waiting.append(entries)

    def _hand_over(self, entries: Sequence[Entry]) -> None:
        if entries and entries[0].position <= self.position:
            entries = [entry for entry in entries if entry.position > self.position]
        if not entries:
            return
        self.position = entries[-1].position
        try:
            self._take(entries)
        except Exception:  # noqa: BLE001 - one who follows must not keep it from the others
            _log.exception("what was stored could not be taken note of")


class Followers:
    """Everybody who follows, found by stream: most follow few."""

    def __init__(self) -> None:
        self._of_all: dict[Subscription, None] = {}
        self._of: dict[str, dict[Subscription, None]] = {}
        self._coming: deque[Sequence[Entry]] = deque()
        self._busy = False

    def add(self, subscription: Subscription) -> None:
        """Let somebody follow."""
        if subscription.streams is None:
            self._of_all[subscription] = None
        else:
            for stream in subscription.streams:
                self._of.setdefault(stream, {})[subscription] = None

    def remove(self, subscription: Subscription) -> None:
        """Let somebody follow no more."""
        self._of_all.pop(subscription, None)
        for stream in subscription.streams or ():
            found = self._of.get(stream, {})
            found.pop(subscription, None)
            if not found:
                self._of.pop(stream, None)

    def deliver(self, entries: Sequence[Entry]) -> None:
        """Hand entries to all whom they concern.

        Who takes them may append: at once, in memory. That waits until everybody has these.
        """
        self._coming.append(entries)
        if self._busy:
            return
        self._busy = True
        try:
            while self._coming:
                self._deliver(self._coming.popleft())
        finally:
            self._busy = False

    def fail(self, error: StoreError) -> None:
        """Tell everybody that what comes next cannot be read."""
        everybody = dict(self._of_all)
        for some in self._of.values():
            everybody |= some
        for subscription in everybody:
            subscription.failed(error)

    def _deliver(self, entries: Sequence[Entry]) -> None:
        for subscription in list(self._of_all):
            subscription.deliver(entries)
        if not self._of:
            return
        parts: dict[Subscription, list[Entry]] = {}
        for entry in entries:
            for subscription in self._of.get(entry.stream, ()):
                parts.setdefault(subscription, []).append(entry)
        for subscription, part in parts.items():
            subscription.deliver(part)
