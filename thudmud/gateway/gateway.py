"""All clients of a gateway: their sessions, and what becomes of their requests."""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

from thudmud.accounts.limiters import RateLimiter
from thudmud.gateway.boards import BoardRegistry
from thudmud.gateway.requests import Answer, Code, Fault, Hello, Request
from thudmud.gateway.session import ClientLink, ClientSession, GatewayPolicy
from thudmud.service import Unfollowed
from thudmud.store import Store, StoreError

NOT_STORED = "That cannot be stored just now, so it has not happened. Try again in a while."
INTERNAL = "This has gone wrong here, and the board is closed. Open it again."
CLOSING = "The gateway stops."

FREE_WRONG = 3
"""How many wrong secrets from one address are answered at once."""

BETWEEN_WRONG = 5.0
"""Seconds between those that follow."""

LOG_WHILE = 60.0
"""Seconds for which the wrong secrets from one address are told of in one line of the log."""

_MOST_COUNTED = 100  # addresses; further ones are counted as one

_log = logging.getLogger(__name__)
_of_strangers = logging.getLogger("thudmud.strangers")


class Gateway:
    """Boards for other MUDs."""

    def __init__(
        self,
        store: Store,
        policy: GatewayPolicy,
        *,
        clock: Callable[[], float] = time.time,
        token: Callable[[], str] = secrets.token_urlsafe,
    ) -> None:
        self.policy = policy
        self._boards = BoardRegistry(store, policy, clock)
        self._token = token
        self._sessions: dict[str, ClientSession] = {}
        self._timers: dict[ClientSession, asyncio.TimerHandle] = {}
        """For sessions without a link: what ends each when it is not resumed in time."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._slowing = RateLimiter(1 / BETWEEN_WRONG, FREE_WRONG)
        self._wrong: Counter[str] = Counter()
        self._closing = False

    async def open(self) -> None:
        """Read which boards there are.

        Raises:
            StoreError: the store cannot be read.
        """
        await self._boards.open()

    async def close(self) -> None:
        """End all links and sessions, once what has begun is done."""
        self._closing = True
        for session in list(self._sessions.values()):
            if session.link:
                session.link.drop(Fault(Code.CLOSING, CLOSING))
            self.end(session)
        while self._tasks:
            await asyncio.wait(self._tasks)

    # Sessions.

    async def greet(
        self, hello: Hello, link: ClientLink, *, trusted: bool
    ) -> tuple[ClientSession, bool]:
        """Return the session for a link, and whether it is one that is resumed.

        A client that is trusted need not know the secret.

        Raises:
            Fault: it cannot have a session.
            ConnectionError: the client has not waited to be told that its secret is wrong.
        """
        if self._closing:
            raise Fault(Code.CLOSING, CLOSING)
        if not trusted and not _same(hello.secret, self.policy.secret):
            await self._slow_down(hello.client, link)
            raise Fault(Code.WRONG_SECRET, "The secret is not the one in the configuration.")
        before = self._sessions.get(hello.client)
        if before and hello.session and _same(hello.session, before.token):
            before.outbox.acknowledge(hello.seen)
            if before.link:
                before.link.drop(Fault(Code.REPLACED, "The session goes on over another link."))
            before.link = link
            self._stop_timer(before)
            return before, True
        if before and before.link:
            text = f'A client called "{hello.client}" is connected already.'
            raise Fault(Code.CLIENT_TAKEN, text)
        if before:
            self.end(before)
        if len(self._sessions) >= self.policy.links:
            raise Fault(Code.FULL, f"There are {len(self._sessions)} clients already.")
        session = self._sessions[hello.client] = ClientSession(hello.client, self._token())
        session.link = link
        return session, False

    async def _slow_down(self, client: str, link: ClientLink) -> None:
        """Count a wrong secret, and wait if there have been too many from that address."""
        loop, address = asyncio.get_running_loop(), link.address
        known = address in self._wrong or len(self._wrong) < _MOST_COUNTED
        counted_as = address if known else "others"
        self._wrong[counted_as] += 1
        if self._wrong[counted_as] == 1:
            _of_strangers.warning("a wrong secret", extra={"client": client, "address": counted_as})
            loop.call_later(LOG_WHILE, self._log_more_wrong, counted_as)
        # Whoever waits has no turn yet: of those who wait at once one has the next.
        while wait := self._slowing.of(address).take(loop.time()):
            await link.wait(wait)

    def _log_more_wrong(self, address: str) -> None:
        if more := self._wrong.pop(address) - 1:
            _of_strangers.warning("more wrong secrets", extra={"address": address, "count": more})

    def release(self, session: ClientSession, link: ClientLink) -> None:
        """Take note that a link has ended; its session is kept for a while."""
        if session.link is link:
            session.link = None
            if not session.over:
                loop = asyncio.get_running_loop()
                self._timers[session] = loop.call_later(self.policy.resume_grace, self.end, session)

    def end(self, session: ClientSession) -> None:
        """End a session: its players are gone, and their seats are kept."""
        self._stop_timer(session)
        if not session.over:
            session.over = True
            del self._sessions[session.client]
            self._start(self._boards.close(session))

    def _stop_timer(self, session: ClientSession) -> None:
        if timer := self._timers.pop(session, None):
            timer.cancel()

    # Requests.

    def begin(
        self, session: ClientSession, number: int, request: Request | Fault
    ) -> asyncio.Task[None]:
        """Carry a request out and answer it, or answer one that could not be read, in its turn."""
        return self._start(self._answer(session, number, request))

    async def _answer(self, session: ClientSession, number: int, request: Request | Fault) -> None:
        if isinstance(request, Fault):
            session.answer(Answer(number, fault=request))
            return
        try:
            answer = Answer(number, await self._boards.do(session, request))
        except Fault as fault:
            answer = Answer(number, fault=fault)
        except Exception as error:  # noqa: BLE001  (a bug ends one board, not the gateway)
            who = {"client": session.client, "request": number, "board": request.board}
            if isinstance(error, StoreError) and not isinstance(error, Unfollowed):
                _log.error("a request cannot be stored: %s", error, extra=who)
                answer = Answer(number, fault=Fault(Code.NOT_STORED, NOT_STORED))
            else:
                _log.exception("a request has failed", extra=who)
                answer = Answer(number, fault=Fault(Code.INTERNAL, INTERNAL))
        session.answer(answer)

    def _start(self, doing: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _same(given: str, kept: str) -> bool:
    """Whether two secrets are the same; how long that takes does not tell where they differ."""
    return hmac.compare_digest(given.encode(), kept.encode())
