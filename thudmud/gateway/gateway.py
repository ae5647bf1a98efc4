"""Manages the sessions of all clients, and answers their requests."""

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
from thudmud.gateway.bots import GatewayBots
from thudmud.gateway.requests import Answer, Code, Hello, Request, RequestError
from thudmud.gateway.session import ClientLink, ClientSession, GatewayPolicy
from thudmud.service import OutcomeUnknownError
from thudmud.store import Store, StoreError

NOT_STORED = "That could not be stored, so nothing has changed. Please try again in a while."
INTERNAL = "An internal error closed the board. Open it again."
CLOSING = "The gateway is shutting down."

FREE_WRONG = 3
"""The number of wrong secrets from one address that are answered without delay."""

BETWEEN_WRONG = 5.0
"""Seconds between the answers to further wrong secrets from the same address."""

LOG_WHILE = 60.0
"""Seconds during which further wrong secrets from one address are counted in one log line."""

_MOST_COUNTED = 100  # the maximum number of addresses to count; others share one counter

_log = logging.getLogger(__name__)
_of_strangers = logging.getLogger("thudmud.strangers")


class Gateway:
    """The sessions of all clients, and the boards that they play on."""

    def __init__(
        self,
        store: Store,
        policy: GatewayPolicy,
        *,
        bots: GatewayBots | None = None,
        clock: Callable[[], float] = time.time,
        token: Callable[[], str] = secrets.token_urlsafe,
    ) -> None:
        self.policy = policy
        self._boards = BoardRegistry(store, policy, clock, bots)
        self._token = token
        self._sessions: dict[str, ClientSession] = {}
        self._timers: dict[ClientSession, asyncio.TimerHandle] = {}
        """The timers that end sessions without a link, unless they're resumed in time."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._slowing = RateLimiter(1 / BETWEEN_WRONG, FREE_WRONG)
        self._wrong: Counter[str] = Counter()
        self._closing = False

    async def open(self) -> None:
        """Load the registrations of boards.

        Raises:
            StoreError: the store can't be read.
        """
        await self._boards.open()

    async def close(self) -> None:
        """End all links and sessions; return when all requests and boards are finished."""
        self._closing = True
        for session in list(self._sessions.values()):
            if session.link:
                session.link.drop(RequestError(Code.CLOSING, CLOSING))
            self.end(session)
        while self._tasks:
            await asyncio.wait(self._tasks)

    # Sessions.

    async def greet(
        self, hello: Hello, link: ClientLink, *, trusted: bool
    ) -> tuple[ClientSession, bool]:
        """Authenticate a client, and start or resume its session.

        Args:
            hello: the first message of the client.
            link: the client's connection.
            trusted: whether to skip the check of the secret.

        Returns:
            The session, and whether it was resumed.

        Raises:
            RequestError: the client is refused.
            ConnectionError: a client with a wrong secret didn't wait for its answer.
        """
        if self._closing:
            raise RequestError(Code.CLOSING, CLOSING)
        if not trusted and not _is_same_secret(hello.secret, self.policy.secret):
            await self._slow_down(hello.client, link)
            raise RequestError(
                Code.WRONG_SECRET, "Wrong secret: expected the gateway.secret of the configuration."
            )
        before = self._sessions.get(hello.client)
        if before and hello.session and _is_same_secret(hello.session, before.token):
            before.outbox.acknowledge(hello.seen)
            if before.link:
                before.link.drop(
                    RequestError(Code.REPLACED, "Another link has taken over the session.")
                )
            before.link = link
            self._stop_timer(before)
            return before, True
        if before and before.link:
            text = f'A client called "{hello.client}" is already connected.'
            raise RequestError(Code.CLIENT_TAKEN, text)
        if before:
            self.end(before)
        if len(self._sessions) >= self.policy.links:
            raise RequestError(Code.FULL, f"The limit of {len(self._sessions)} clients is reached.")
        session = self._sessions[hello.client] = ClientSession(hello.client, self._token())
        session.link = link
        return session, False

    async def _slow_down(self, client: str, link: ClientLink) -> None:
        """Count and log a wrong secret, and wait if there were too many from that address."""
        loop, address = asyncio.get_running_loop(), link.address
        known = address in self._wrong or len(self._wrong) < _MOST_COUNTED
        counted_as = address if known else "others"
        self._wrong[counted_as] += 1
        if self._wrong[counted_as] == 1:
            _of_strangers.warning("wrong secret", extra={"client": client, "address": counted_as})
            loop.call_later(LOG_WHILE, self._log_more_wrong, counted_as)
        # Several links of an address may wait for the same moment, when only one gets its answer.
        # So each must ask again after its wait.
        while wait := self._slowing.bucket_for(address).take(loop.time()):
            await link.wait(wait)

    def _log_more_wrong(self, address: str) -> None:
        if more := self._wrong.pop(address) - 1:
            _of_strangers.warning("more wrong secrets", extra={"address": address, "count": more})

    def release(self, session: ClientSession, link: ClientLink) -> None:
        """Detach a link that has ended, and keep its session for ``resume_grace`` seconds."""
        if session.link is link:
            session.link = None
            if not session.is_over:
                loop = asyncio.get_running_loop()
                self._timers[session] = loop.call_later(self.policy.resume_grace, self.end, session)

    def end(self, session: ClientSession) -> None:
        """End a session and close its boards. The players' seats are kept."""
        self._stop_timer(session)
        if not session.is_over:
            session.is_over = True
            del self._sessions[session.client]
            self._start(self._boards.close(session))

    def _stop_timer(self, session: ClientSession) -> None:
        if timer := self._timers.pop(session, None):
            timer.cancel()

    # Requests.

    def begin(
        self, session: ClientSession, number: int, request: Request | RequestError
    ) -> asyncio.Task[None]:
        """Start a task that carries out and answers a request.

        Args:
            session: the session of the client.
            number: the number of the request.
            request: the request, or the fault to answer if the request was malformed.
        """
        return self._start(self._answer(session, number, request))

    async def _answer(
        self, session: ClientSession, number: int, request: Request | RequestError
    ) -> None:
        if isinstance(request, RequestError):
            session.answer(Answer(number, fault=request))
            return
        try:
            answer = Answer(number, await self._boards.execute(session, request))
        except RequestError as fault:
            answer = Answer(number, fault=fault)
        except Exception as error:  # noqa: BLE001  (a bug ends one board, not the gateway)
            who = {"client": session.client, "request": number, "board": request.board}
            if isinstance(error, StoreError) and not isinstance(error, OutcomeUnknownError):
                _log.error("could not store a request: %s", error, extra=who)
                answer = Answer(number, fault=RequestError(Code.NOT_STORED, NOT_STORED))
            else:
                _log.exception("a request failed", extra=who)
                answer = Answer(number, fault=RequestError(Code.INTERNAL, INTERNAL))
        session.answer(answer)

    def _start(self, doing: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        # These tasks belong to the gateway and outlive the link: a request that was started is also
        # finished, and its answer waits in the outbox for the client to resume.
        task = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _is_same_secret(given: str, kept: str) -> bool:
    """Whether two secrets are equal, in a time that doesn't reveal where they differ."""
    return hmac.compare_digest(given.encode(), kept.encode())
