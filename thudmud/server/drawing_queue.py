"""Drawings that wait for a studio: a share for each address, served in round robin.

This is fair queueing (J. Nagle, RFC 970): each address has a queue of its own, and the first
drawing of each is drawn in turn. So a drawing waits for the one under way and for at most one of
each other address, however many those ask for. When there is no room left, the longest queue loses
its last drawing to an address that has fewer (longest queue drop).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from itertools import chain

from thudmud.errors import ThudmudError
from thudmud.server.drawing import Studio

MOST_WAITING = 64
"""The most drawings that wait, of all addresses together."""


class QueueFullError(ThudmudError):
    """There is no room for another drawing, or for this one any longer."""


class ShareError(ThudmudError):
    """The address has as many drawings waiting as it may have."""


Work = Callable[[Studio], Awaitable[bytes]]
"""Reads the battle and draws it; called once it is the drawing's turn."""

IsGone = Callable[[], bool]
"""Returns whether the client has hung up."""


class _Drawing:
    """A drawing that waits, or is under way.

    Attributes:
        tag: identifies it among all drawings.
        network: the network that it counts for: that of the first client that asked.
        work: draws it.
        outcome: the bytes of the picture, or the exception.
        askers: the requests that wait for it.
    """

    def __init__(self, tag: str, network: str, work: Work) -> None:
        self.tag, self.network, self.work = tag, network, work
        self.outcome: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.askers: list[IsGone] = []

    @property
    def is_wanted(self) -> bool:
        """Whether a client that has not hung up waits for it."""
        return not all(is_gone() for is_gone in self.askers)


class DrawingQueue:
    """A studio, and the drawings that wait for it.

    Args:
        share: how many drawings an address may have here at once, the one under way included.
    """

    def __init__(self, share: int) -> None:
        self._studio, self._share = Studio(), share
        self._drawings: dict[str, _Drawing] = {}
        """All drawings by their tags, the one under way included."""
        self._waiting: dict[str, deque[_Drawing]] = {}
        """Those that wait, by network; the network whose turn is next comes first."""
        self._current: _Drawing | None = None
        self._task: asyncio.Task[None] | None = None

    async def draw(self, tag: str, network: str, is_gone: IsGone, work: Work) -> bytes:
        """Return a drawing; what several ask for at once is drawn once.

        Raises:
            ShareError: the network has its share of drawings here already.
            QueueFullError: there is no room.
            NotDrawnError, InvalidValueError, StoreError: as the work does.
        """
        drawing = self._drawings.get(tag) or self._add(_Drawing(tag, network, work))
        drawing.askers.append(is_gone)
        try:
            return await asyncio.shield(drawing.outcome)
        finally:
            drawing.askers.remove(is_gone)
            if not drawing.askers:
                self._drop(drawing)

    async def close(self) -> None:
        """Draw nothing more."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for drawing in list(self._drawings.values()):
            drawing.outcome.cancel()
        await self._studio.close()

    def _add(self, drawing: _Drawing) -> _Drawing:
        if self._count(drawing.network) >= self._share:
            self._drop_unwanted()
        if self._count(drawing.network) >= self._share:
            raise ShareError
        if self._current and sum(map(len, self._waiting.values())) >= MOST_WAITING:
            self._make_room(drawing.network)
        self._drawings[drawing.tag] = drawing
        self._waiting.setdefault(drawing.network, deque()).append(drawing)
        if self._current is None:
            self._begin_next()
        return drawing

    def _count(self, network: str) -> int:
        is_current = self._current is not None and self._current.network == network
        return len(self._waiting.get(network, ())) + is_current

    def _make_room(self, network: str) -> None:
        longest = max(self._waiting.values(), key=len, default=deque())
        if len(longest) <= self._count(network) + 1:
            raise QueueFullError
        self._drop(longest[-1])

    def _drop_unwanted(self) -> None:
        for drawing in list(chain.from_iterable(self._waiting.values())):
            if not drawing.is_wanted:
                self._drop(drawing)

    def _drop(self, drawing: _Drawing) -> None:
        """Take a drawing out of the queue, unless it is under way: then it is kept for others."""
        queue = self._waiting.get(drawing.network)
        if queue and drawing in queue:
            queue.remove(drawing)
            if not queue:
                del self._waiting[drawing.network]
            del self._drawings[drawing.tag]
            if not drawing.outcome.done():
                drawing.outcome.set_exception(QueueFullError())
                drawing.outcome.exception()  # mark it as retrieved: perhaps no client is left

    def _begin_next(self) -> None:
        """Begin the first drawing of the network whose turn is next."""
        self._current = None
        if self._waiting:
            network, queue = next(iter(self._waiting.items()))
            self._current = queue.popleft()
            if not queue:
                del self._waiting[network]
            self._task = asyncio.create_task(self._carry_out(self._current))

    async def _carry_out(self, drawing: _Drawing) -> None:
        try:
            body = await drawing.work(self._studio)
        except Exception as error:  # noqa: BLE001  (raised again where it is awaited)
            drawing.outcome.set_exception(error)
            drawing.outcome.exception()  # mark it as retrieved: perhaps no client is left
        else:
            drawing.outcome.set_result(body)
        del self._drawings[drawing.tag]
        # The network goes to the end only now, behind those that came while this was drawn: a
        # newcomer waits for the drawing under way, and for no further one of the same network.
        if queue := self._waiting.pop(drawing.network, None):
            self._waiting[drawing.network] = queue
        self._drop_unwanted()
        self._begin_next()
