"""All clients of a gateway: who has which session, and what becomes of what they ask for.

A session is kept for a while after its link has dropped. There are no sockets here.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from thudmud.gateway import requests
from thudmud.gateway.boards import BoardRegistry
from thudmud.gateway.requests import (
    Answer,
    Code,
    Fault,
)
from thudmud.gateway.session import ClientSession, GatewayPolicy
from thudmud.service import Unfollowed
from thudmud.store import Store, StoreError

NOT_STORED = "That cannot be stored just now, so it has not happened. Try again in a while."
INTERNAL = "This has gone wrong here, and the board is closed. Open it again."
CLOSING = "The gateway stops."

_log = logging.getLogger(__name__)


class Holder(Protocol):
    """What the gateway asks of a link."""

    def drop(self, fault: Fault) -> None:
        """Tell the client why, and end the link."""


class Gateway:
    """Boards for other MUDs.

    Args:
        store: where what happens is stored.
        policy: what holds for all clients.
        clock: returns the seconds since the epoch.
        token: returns a word for a session that nobody can guess.
    """

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
        self._holders: dict[ClientSession, Holder] = {}
        self._ends: dict[ClientSession, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    async def open(self) -> None:
        """Learn what is stored.

        Raises:
            StoreError: the store cannot be read.
        """
        await self._boards.open()

    async def close(self) -> None:
        """End all links and all sessions, once what has been begun is done."""
        self._closing = True
        for holder in list(self._holders.values()):
            holder.drop(Fault(Code.CLOSING, CLOSING))
        for session in list(self._sessions.values()):
            self.end(session)
        while self._tasks:
            await asyncio.wait(self._tasks)

    # Links.

    def greet(
        self, hello: requests.Hello, holder: Holder, *, trusted: bool
    ) -> tuple[ClientSession, bool]:
        """Return the session that a link is for, and whether it goes on with one.

        Args:
            hello: what the client has said.
            holder: the link.
            trusted: whether the client need not know the secret.

        Raises:
            Fault: it cannot have a session.
        """
        if self._closing:
            raise Fault(Code.CLOSING, CLOSING)
        if not trusted and not _same(hello.secret, self.policy.secret):
            _log.warning("a wrong secret", extra={"client": hello.client})
            raise Fault(Code.WRONG_SECRET, "The secret is not the one in the configuration.")
        before = self._sessions.get(hello.client)
        if before and hello.session and _same(hello.session, before.token):
            before.acknowledge(hello.seen)
            if old := self._holders.get(before):
                old.drop(Fault(Code.REPLACED, "The session goes on over another link."))
            self._hold(before, holder)
            return before, True
        if before in self._holders:
            text = f'A client called "{hello.client}" is connected already.'
            raise Fault(Code.CLIENT_TAKEN, text)
        if before:
            self.end(before)
        if len(self._sessions) >= self.policy.links:
            raise Fault(Code.FULL, f"There are {len(self._sessions)} clients already.")
        session = self._sessions[hello.client] = ClientSession(hello.client, self._token())
        self._hold(session, holder)
        return session, False

    def release(self, session: ClientSession, holder: Holder) -> None:
        """Take note that a link has ended; its session is kept for a while."""
        if self._holders.get(session) is holder:
            del self._holders[session]
            session.news = None
            if not session.over:
                loop = asyncio.get_running_loop()
                self._ends[session] = loop.call_later(self.policy.resume_grace, self.end, session)

    def end(self, session: ClientSession) -> None:
        """Forget a session; its players are gone, and their seats are kept."""
        if handle := self._ends.pop(session, None):
            handle.cancel()
        if not session.over:
            session.over = True
            del self._sessions[session.client]
            self._begin(self._boards.close(session))

    def _hold(self, session: ClientSession, holder: Holder) -> None:
        self._holders[session] = holder
        if handle := self._ends.pop(session, None):
            handle.cancel()

    # Requests.

    def begin(self, session: ClientSession, request: requests.Request) -> asyncio.Task[None]:
        """Carry out a request that is new, and answer it."""
        return self._begin(self._answer(session, request))

    def refuse(self, session: ClientSession, number: int, fault: Fault) -> asyncio.Task[None]:
        """Answer a request that has begun, but cannot be read, in its turn."""

        async def refuse() -> None:
            session.answer(Answer(number, fault=fault))

        return self._begin(refuse())

    async def _answer(self, session: ClientSession, request: requests.Request) -> None:
        try:
            answer = Answer(request.id, await self._boards.do(session, request))
        except Fault as fault:
            answer = Answer(request.id, fault=fault)
        except Exception as error:  # noqa: BLE001  (a mistake of ours ends one board, not the gateway)
            who = {"client": session.client, "request": request.id, "board": request.board}
            if isinstance(error, StoreError) and not isinstance(error, Unfollowed):
                _log.error("a request cannot be stored: %s", error, extra=who)
                answer = Answer(request.id, fault=Fault(Code.NOT_STORED, NOT_STORED))
            else:
                _log.exception("a request has failed", extra=who)
                answer = Answer(request.id, fault=Fault(Code.INTERNAL, INTERNAL))
        session.answer(answer)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _same(given: str, kept: str) -> bool:
    """Whether two secrets are the same; the time that takes does not tell where they differ."""
    return hmac.compare_digest(given.encode(), kept.encode())
