"""All boards of all clients: whose they are, and what is done at them.

Owns the keys that they are stored under, and that things happen one at a time at each.
Must never know a link.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from weakref import WeakValueDictionary

from thudmud.gateway import requests
from thudmud.gateway.board import Board
from thudmud.gateway.faults import Code, Fault
from thudmud.gateway.policy import GatewayPolicy
from thudmud.gateway.replies import Data
from thudmud.gateway.session import ClientSession
from thudmud.language.names import board_problem
from thudmud.play.commands import Style
from thudmud.play.events import BoardOpened, Parting
from thudmud.play.projections import HALL
from thudmud.play.table import BoardSpec
from thudmud.store import Conflict, Store, StoreError
from thudmud.text import Message

Done = tuple[Data, Sequence[Message]]
"""What a request is answered with, and what players are told."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a board is, and what it is called, which never changes."""

    client: str
    name: str


@dataclass(slots=True)
class _Opened:
    session: ClientSession
    board: Board


class BoardRegistry:
    """All boards of a gateway: those that are open, and those that have been.

    Args:
        store: where what happens at them is stored.
        policy: what holds at all of them.
        clock: returns the seconds since the epoch.
    """

    def __init__(self, store: Store, policy: GatewayPolicy, clock: Callable[[], float]) -> None:
        self._store, self._policy, self._clock = store, policy, clock
        self._owners: dict[str, Owner] = {}
        self._open: dict[str, _Opened] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._putting_up = asyncio.Lock()
        self._learned = 0
        """The version of the hall up to which it is known whose boards there are."""

    async def open(self) -> None:
        """Learn whose boards there are.

        Raises:
            StoreError: the store cannot be read.
        """
        self._learned = await self._store.version(HALL)
        for board in await self._store.open_boards():  # those at that version, or more
            self._learn(board.key, board.name)

    async def do(self, session: ClientSession, request: requests.Request) -> Done:
        """Do what a client asks for, after all that was asked for at that board before.

        Raises:
            Fault: it is not done.
            StoreError: it is not done, since it cannot be stored.
        """
        async with self._lock(request.board):
            _check_session(session)
            if isinstance(request, requests.OpenRequest):
                return await self._set_up(session, request)
            opened = self._opened(session, request)
            try:
                return await self._do(opened.board, request)
            except (Fault, StoreError):
                raise
            except Exception:
                # Nobody may play on at a board that is maybe not as it is stored.
                self._forget(request.board)
                raise

    async def close(self, session: ClientSession) -> None:
        """Put all boards of a session away. They are stored as far as that can be done."""
        theirs = [each for each, opened in self._open.items() if opened.session is session]
        for name in theirs:
            async with self._lock(name):
                opened = self._open.get(name)
                if opened and opened.session is session:
                    try:
                        await self._put_away(name, opened.board)
                    except Exception:  # noqa: BLE001  (a mistake of ours ends one board only)
                        _log.exception("a board cannot be put away", extra={"board": name})

    # At one board.

    async def _set_up(self, session: ClientSession, request: requests.OpenRequest) -> Done:
        self._check_claim(session, request)
        opened = self._open.get(request.board)
        if opened and opened.session is not session:
            # Its session has ended, and this one was quicker than its last words.
            await self._put_away(request.board, opened.board)
            opened = None
        if opened is None:
            if len(self._open) >= self._policy.boards:
                raise Fault(Code.TOO_MANY, f"There are {len(self._open)} boards open already.")
            key = f"{session.client}/{request.board}"
            spec = BoardSpec(request.name, request.rules, Style(request.style), key)
            await self._put_up(spec, request.board)
            self._check_claim(session, request)  # another process may have set it up meanwhile
            board = Board(self._store, spec, self._policy, self._clock)
            await board.open()
            if session.over:
                board.close()
            _check_session(session)
            opened = self._open[request.board] = _Opened(session, board)
        board = opened.board
        here = {"name": board.spec.name, "players": board.players}
        return {"board": request.board, "version": board.version, **here}, ()

    async def _put_up(self, spec: BoardSpec, name: str) -> None:
        """Store whose a new board is, unless it is another's by now."""
        async with self._putting_up:
            while name not in self._owners:
                version = await self._store.version(HALL)
                for entry in await self._store.read(HALL, self._learned + 1):
                    if isinstance(entry.event, BoardOpened):
                        self._learn(entry.event.key, entry.event.name)
                self._learned = version  # or more: what came later is read once more
                if name not in self._owners:
                    opened = BoardOpened(self._clock(), "", spec.key, spec.name, spec.rules)
                    with suppress(Conflict):
                        await self._store.append({HALL: (version, [opened])})

    def _learn(self, key: str, called: str) -> None:
        """Take note of whose a board is, unless that is known."""
        client, _, name = key.partition("/")
        self._owners.setdefault(name, Owner(client, called))

    def _check_claim(self, session: ClientSession, request: requests.OpenRequest) -> None:
        """Raise Fault if a board cannot be opened so by a client."""
        if problem := board_problem(request.name):
            raise Fault(Code.BAD_NAME, f"A board's name {problem}.")
        owner = self._owners.get(request.board)
        if owner and owner.client != session.client:
            raise Fault(Code.NOT_YOURS, "Another client has a board of that name.")
        if owner and owner.name != request.name:
            raise Fault(Code.DIFFERS, f'This board is called "{owner.name}", and stays so.')

    async def _do(self, board: Board, request: requests.Request) -> Done:
        told: Sequence[Message] = ()
        more: Data = {}
        match request:
            case requests.EnterRequest():
                told = await board.enter(request)
            case requests.LeaveRequest(player=player, parting=parting):
                _check_presence(board, player)
                told = await board.leave(player, Parting(parting))
            case requests.LineRequest(player=player, line=line, at_version=at_version):
                _check_presence(board, player)
                told, plan = await board.obey(player, line, at_version)
                more = {"understood": plan.command is not None, "here": board.is_here(player)}
            case requests.ShowRequest(width=width, utf8=utf8):
                more = board.shown(width, utf8=utf8)
            case requests.CloseRequest():
                told = await self._put_away(request.board, board)
        return {"board": request.board, "version": board.version, **more}, told

    async def _put_away(self, name: str, board: Board) -> list[Message]:
        """Close a board, whether or not it can be stored that its players are away."""
        told = []
        try:
            with suppress(StoreError):  # the next to open it stores that
                for player in board.players:
                    told += await board.leave(player, Parting.LOST)
        finally:
            self._forget(name)
        return told

    def _forget(self, name: str) -> None:
        """Let nothing more happen at a board, until it is opened again."""
        if opened := self._open.pop(name, None):
            opened.board.close()

    def _opened(self, session: ClientSession, request: requests.Request) -> _Opened:
        opened = self._open.get(request.board)
        owner = self._owners.get(request.board)
        if owner and owner.client != session.client:
            raise Fault(Code.NOT_YOURS, "That board is another client's.")
        if opened is None or opened.session is not session:
            raise Fault(Code.UNKNOWN_BOARD, 'There is no such board; "open" sets one up.')
        return opened

    def _lock(self, board: str) -> asyncio.Lock:
        return self._locks.setdefault(board, asyncio.Lock())


def _check_session(session: ClientSession) -> None:
    if session.over:
        raise Fault(Code.UNKNOWN_BOARD, "The session has ended, and its boards are closed.")


def _check_presence(board: Board, player: str) -> None:
    if not board.is_here(player):
        text = f'Nobody called "{player:.40}" is at this board; "enter" lets them in.'
        raise Fault(Code.UNKNOWN_PLAYER, text)
