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
from thudmud.server.drawing import DrawingProcess

MOST_WAITING = 64
"""Limit on waiting drawings, over all addresses."""


class QueueFullError(ThudmudError):
    """The queue rejected a new drawing, or dropped this one to make room."""


class ShareError(ThudmudError):
    """The address has reached its share of drawings."""


Work = Callable[[DrawingProcess], Awaitable[bytes]]
"""Coroutine function that loads the battle and draws it; called at the drawing's turn."""

IsGone = Callable[[], bool]
"""Returns whether the client has hung up."""


class _Drawing:
    """A drawing that is queued or under way.

    Attributes:
        tag: identifies it among all drawings.
        network: the network whose share it uses: the first requester's.
        work: draws it.
        outcome: the bytes of the picture, or the exception.
        askers: one hang-up check per waiting request.
    """

    def __init__(self, tag: str, network: str, work: Work) -> None:
        self.tag, self.network, self.work = tag, network, work
        self.outcome: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.askers: list[IsGone] = []

    @property
    def is_wanted(self) -> bool:
        """Whether any waiting client is still connected."""
        return not all(is_gone() for is_gone in self.askers)


class DrawingQueue:
    """A fair queue of drawings for one `DrawingProcess`.

    Args:
        share: limit on the drawings of a network, including the one under way.
    """

    def __init__(self, share: int) -> None:
        self._studio, self._share = DrawingProcess(), share
        self._drawings: dict[str, _Drawing] = {}
        """All drawings by their tags, the one under way included."""
        self._waiting: dict[str, deque[_Drawing]] = {}
        """Queued drawings by network, in the order of the networks' turns."""
        self._current: _Drawing | None = None
        self._task: asyncio.Task[None] | None = None

    async def draw(self, tag: str, network: str, is_gone: IsGone, work: Work) -> bytes:
        """Queue a drawing and wait for the result; concurrent requests for the same tag share one.

        Raises:
            ShareError: the network has reached its share.
            QueueFullError: the queue is full, or dropped the drawing to make room.
            NotDrawnError, InvalidValueError, StoreError: raised by ``work``.
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
        """Cancel all drawings and stop the worker process."""
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
        """Remove a drawing from the queue; one under way continues, for the cache's sake."""
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
        """Start the first drawing of the next network in rotation."""
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
        # The network goes to the end only now, after those that came while this was drawn: a
        # newcomer waits for the drawing under way, and for no further one of the same network.
        if queue := self._waiting.pop(drawing.network, None):
            self._waiting[drawing.network] = queue
        self._drop_unwanted()
        self._begin_next()
