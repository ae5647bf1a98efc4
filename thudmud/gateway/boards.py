"""The boards of all clients: their registrations, and the requests carried out at them.

Each open board is a `Service` with a hall of one board. Requests for the same board are carried out
one at a time, in order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from weakref import WeakValueDictionary

from thudmud.errors import InvalidValueError, RefusedError
from thudmud.features.options.preferences import preferences_of_person, profile_of
from thudmud.features.playing.queries import ViewGame
from thudmud.game.command import Asked
from thudmud.game.delivery import Delivery
from thudmud.game.events import BoardOpened, Parting, require_name
from thudmud.game.hall import Hall, conflicting_spelling
from thudmud.game.options import UNKNOWN, Profile
from thudmud.game.people import Person
from thudmud.game.projections import HALL
from thudmud.game.refusals import Mistake
from thudmud.game.table import BoardSpec, Table
from thudmud.gateway import requests
from thudmud.gateway.bots import BoardBots, GatewayBots
from thudmud.gateway.requests import Code, Data, Notice, RequestError
from thudmud.gateway.session import ClientSession, GatewayPolicy
from thudmud.language.parsing import board_problem
from thudmud.language.vocabulary import Vocabulary
from thudmud.service import JoinRequest, OutcomeUnknownError, Policy, Service, Visit
from thudmud.service.boards import update_open_boards
from thudmud.store import ConflictError, Store, StoreError, accounts
from thudmud.store import hall as hall_rows
from thudmud.values import Value, replace
from thudmud.views import Message
from thudmud.views.boards import draw
from thudmud.views.facts import refusal_fact
from thudmud.views.telling import delivery_facts
from thudmud.views.view import Display, Terminal

PACKAGES = frozenset({"thud"})
"""The packages of facts for players who enter with ``data``."""

LEFT_OUT = frozenset(
    {"tournaments", "letters", "moderation", "notifications", "tv"}
    | {"register", "password", "logout", "news", "seek", "seeks", "match", "new"}
)
"""The features and verbs that can't work here: there are no accounts and operators, and only one
board at a time. Teaching is the MUD's, see `BoardRegistry._serve`."""

_REFUSED = ("code", "squares")
"""The keys of a refusal in the answer to a line. The ``data`` of a player has the rest."""

_log = logging.getLogger(__name__)


class Registration(Value):
    """The permanent registration of a board.

    Attributes:
        client: the client that owns the board.
        called: the name of the board for players.
    """

    client: str
    called: str


class _Board(Value):
    """An open board, and the session that opened it."""

    session: ClientSession
    service: Service
    bots: BoardBots

    @property
    def players(self) -> list[str]:
        """The players at the board, without bots."""
        hall = self.service.hall
        return [name for name in hall.people if name not in hall.bots]

    @property
    def table(self) -> Table:
        [table] = self.service.hall.tables.values()
        return table

    def visit(self, player: str) -> Visit:
        """Return the visit of a player; raise RequestError if no such player is at the board."""
        if visit := self.service.visit(player):
            return visit
        text = f'No player "{player:.40}" at this board; send "enter" first.'
        raise RequestError(Code.UNKNOWN_PLAYER, text)


class BoardRegistry:
    """All boards of a gateway: those that are open, and the registrations of all others."""

    def __init__(
        self,
        store: Store,
        policy: GatewayPolicy,
        clock: Callable[[], float],
        bots: GatewayBots | None = None,
    ) -> None:
        self._store, self._policy, self._clock = store, policy, clock
        self._bots = bots
        self._registered: dict[str, Registration] = {}
        self._boards: dict[str, _Board] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._registering = asyncio.Lock()
        self._learned = 0
        """The version of the hall's stream up to which registrations have been read."""

    async def open(self) -> None:
        """Load the registrations of all boards.

        Raises:
            StoreError: the store can't be read.
        """
        self._learned = await self._store.version(HALL)
        for board in await self._store.read(
            hall_rows.open_boards
        ):  # perhaps later than that version; learning a board twice is harmless
            self._add_registration(board.key, board.name)

    async def execute(self, session: ClientSession, request: requests.Request) -> Data:
        """Carry out a request, after all earlier requests for the same board.

        Returns:
            The data of the answer. Notices to players have been sent before.

        Raises:
            RequestError: the request was refused, and had no effect.
            StoreError: the request could not be stored, and had no effect. `OutcomeUnknownError` is
                different: like any other exception it is a bug, and closes the board.
        """
        await self._wait_for_bots(request)
        async with self._lock(request.board):
            _check_session(session)
            if isinstance(request, requests.OpenRequest):
                return await self._open(session, request)
            board = self._require_open(session, request)
            try:
                return await self._execute(board, request)
            except Exception as error:
                if isinstance(error, OutcomeUnknownError) or not isinstance(
                    error, RequestError | StoreError
                ):
                    # The state in memory may differ from the store: don't let anybody play on.
                    await self._stop(request.board)
                raise

    async def close(self, session: ClientSession) -> None:
        """Close all boards of a session. Departures of their players are stored if possible."""
        theirs = [each for each, board in self._boards.items() if board.session is session]
        for name in theirs:
            async with self._lock(name):
                board = self._boards.get(name)
                if board and board.session is session:
                    try:
                        await self._close(name, board)
                    except Exception:  # noqa: BLE001  (a bug ends one board only)
                        _log.exception("could not close a board", extra={"board": name})

    # One board.

    async def _wait_for_bots(self, request: requests.Request) -> None:
        """Delay a line until a bot has answered the player's invitation.

        Other players' lines don't wait: a bot's program may take a while to start.
        """
        if isinstance(request, requests.LineRequest) and (board := self._boards.get(request.board)):
            await board.bots.wait_for_answer(request.player)

    async def _open(self, session: ClientSession, request: requests.OpenRequest) -> Data:
        self._check_claim(session, request)
        vocabulary = _vocabulary(request.without)
        board = self._boards.get(request.board)
        if board and board.session is not session:
            # The board's session has ended, but has not closed this board yet.
            await self._close(request.board, board)
            board = None
        if board is None:
            if len(self._boards) >= self._policy.boards:
                raise RequestError(
                    Code.TOO_MANY, f"The limit of {len(self._boards)} open boards is reached."
                )
            key = f"{session.client}/{request.board}"
            spec = BoardSpec(request.name, request.rules, request.style, key)
            await self._register(spec, request.board)
            self._check_claim(session, request)  # another process may have registered it first
            board = await self._serve(session, request.board, spec, vocabulary)
            self._boards[request.board] = board
        table = board.table
        here = {"name": table.name, "players": board.players}
        return {"board": request.board, "version": table.version, **here}

    async def _serve(
        self, session: ClientSession, name: str, spec: BoardSpec, vocabulary: Vocabulary
    ) -> _Board:
        """Start the service of a board, where the holders of seats are away."""
        # Long: one line for each argument of the hall and the service.

        def send_notices(messages: Sequence[Message], cause: object) -> None:
            number = cause if isinstance(cause, int) else None
            for message in messages:
                if hall.bots.keys().isdisjoint(message.to):
                    session.tell(Notice(name, message, number))
                elif to := tuple(each for each in message.to if each not in hall.bots):
                    session.tell(Notice(name, replace(message, to=to), number))

        policy = self._policy
        hall = Hall(
            [spec],
            policy.quiet_plies,
            policy.seat_grace,
            idle_limit=policy.idle_limit,
            first_move=policy.first_move,
            opens_boards=False,
        )
        hall.use_verbs(vocabulary.own, vocabulary.without)
        bots = None if "bots" in vocabulary.without else self._bots
        if bots:
            bots.introduce(hall)
        service = Service(
            hall,
            self._store,
            clock=self._clock,
            told=send_notices,
            later=asyncio.get_running_loop().call_later,
            policy=Policy(
                read=vocabulary.parse,
                check_available=vocabulary.check_available,
                keep=partial(self._keep_preferences, session.client, hall),
            ),
            adviser=self._bots.adviser if self._bots else None,
            is_alone=True,
            # The MUD explains its own commands.
            without=(*vocabulary.features_left_out, "teaching"),
        )
        await service.open()
        try:
            await service.finish_start(must_store=True)
            _check_session(session)
        except BaseException:
            await service.close()
            raise
        return _Board(session, service, BoardBots(service, bots))

    async def _keep_preferences(self, client: str, hall: Hall, person: Person) -> None:
        """Store what a member has chosen; other names may be somebody else's the next time."""
        if person.name in hall.people.members:
            kept = preferences_of_person(person)
            name = _visitor_name(client, person.name)
            await self._store.write(accounts.keep_visitor_preferences, name, kept)

    async def _profile(self, client: str, board: str, request: requests.EnterRequest) -> Profile:
        """Return what a player has chosen earlier, and the style that the client asks for."""
        profile = UNKNOWN
        if request.member:
            name = _visitor_name(client, request.player)
            if kept := await self._store.read(accounts.guest_preferences, name):
                profile = profile_of(kept)
        if request.style:
            profile = replace(profile, styles={**profile.styles, board: request.style})
        return profile

    async def _register(self, spec: BoardSpec, name: str) -> None:
        """Store the registration of a board, unless it is known.

        Another process on the same store may register the board first. So registrations are always
        read back from the hall's stream.
        """
        async with self._registering:
            if name not in self._registered:
                await update_open_boards(self._store, [Table.set_up(spec)], self._clock())
                for entry in await self._store.read_stream(HALL, self._learned + 1):
                    self._learned = entry.version
                    if isinstance(entry.event, BoardOpened):
                        self._add_registration(entry.event.key, entry.event.name)

    def _add_registration(self, key: str, called: str) -> None:
        """Record a registration, unless the board has one: the first one counts."""
        client, _, name = key.partition("/")
        self._registered.setdefault(name, Registration(client, called))

    def _check_claim(self, session: ClientSession, request: requests.OpenRequest) -> None:
        """Raise RequestError if the client can't open this board, or not under this name."""
        if problem := board_problem(request.name):
            raise RequestError(Code.BAD_NAME, f"A board's name {problem}.")
        known = self._registered.get(request.board)
        if known and known.client != session.client:
            raise RequestError(Code.NOT_YOURS, "Another client owns a board of that name.")
        if known and known.called != request.name:
            raise RequestError(
                Code.DIFFERS,
                f'This board is already called "{known.called}", and cannot be renamed.',
            )

    async def _execute(self, board: _Board, request: requests.Request) -> Data:
        more: Data = {}
        match request:
            case requests.EnterRequest():
                await self._enter(board, request)
            case requests.LeaveRequest(player=player, parting=parting):
                visit = board.visit(player)
                await board.service.leave(visit, Parting(parting), cause=request.id)
            case requests.LineRequest():
                more = await self._obey(board, request)
            case requests.ShowRequest(width=width, utf8=utf8):
                more = _board_data(board, self._clock(), width, utf8=utf8)
            case requests.CloseRequest():
                await self._close(request.board, board, request.id)
        return {"board": request.board, "version": board.table.version, **more}

    async def _enter(self, board: _Board, request: requests.EnterRequest) -> None:
        """Let a player in, and back to their seat if they have one."""
        service, table, name = board.service, board.table, request.player
        _require_player_name(service.hall, name)
        await board.bots.start()
        if here := service.hall.people.names.get(name.lower()):
            raise RequestError(Code.HERE_ALREADY, f"{here} is at this board already.")
        if kept := conflicting_spelling(service.hall, name, await service.adjourned(name)):
            text = f"{kept} has a seat or a match here, and the names differ only in capitals."
            raise RequestError(Code.BAD_NAME, text)
        if len(board.players) >= self._policy.players:
            text = f"The limit of {self._policy.players} players is reached."
            raise RequestError(Code.TOO_MANY, text)
        packages = PACKAGES if request.data else frozenset[str]()
        terminal = Terminal(
            request.width,
            request.utf8,
            request.colours,
            request.reader,
            packages,
            request.height,
        )
        arrival = JoinRequest(
            name,
            terminal,
            is_member=request.member,
            profile=await self._profile(board.session.client, table.name, request),
            room=table.name if request.room == "board" else None,
            should_look=request.room != "board",
            must_store=True,
            cause=request.id,
        )
        await service.join(arrival)

    async def _obey(self, board: _Board, request: requests.LineRequest) -> Data:
        """Submit a player's line; return the data of the answer."""
        player, at = request.player, request.at_version
        visit = board.visit(player)
        try:
            result = await board.service.submit(
                visit,
                request.line,
                cause=request.id,
                expected_version=at,
                key=request.key,
                quiet=request.quiet,
            )
        except ConflictError as conflict:
            text = f"Expected version {at} of the board, but it has version {conflict.found}."
            raise RequestError(Code.CHANGED, text) from None
        if result.before is not None:
            known = {"understood": True, "here": not visit.is_over, "done": True}
            return known | {"done_before": result.before}
        told = {"understood": result.command is not None, "here": not visit.is_over}
        if result.is_done:
            return told | {"done": True}
        refused = refusal_fact(result.refusal or RefusedError(Mistake.EMPTY_LINE), player).data
        return told | {"done": False, "refused": {key: refused[key] for key in _REFUSED}}

    async def _close(self, name: str, board: _Board, cause: int | None = None) -> None:
        """Close a board, even if the departures of its players can't be stored."""
        try:
            with suppress(StoreError):  # reopening the board stores the departures
                for player in board.players:
                    await board.service.leave(board.visit(player), cause=cause)
        finally:
            await self._stop(name)

    async def _stop(self, name: str) -> None:
        """Stop the service of a board, without touching the stored board."""
        if board := self._boards.pop(name, None):
            await board.bots.close()
            await board.service.close()

    def _require_open(self, session: ClientSession, request: requests.Request) -> _Board:
        board = self._boards.get(request.board)
        known = self._registered.get(request.board)
        if known and known.client != session.client:
            raise RequestError(Code.NOT_YOURS, "That board belongs to another client.")
        if board is None or board.session is not session:
            raise RequestError(Code.UNKNOWN_BOARD, 'No such board; send "open" first.')
        return board

    def _lock(self, board: str) -> asyncio.Lock:
        return self._locks.setdefault(board, asyncio.Lock())


@lru_cache(maxsize=256)
def _vocabulary(without: str) -> Vocabulary:
    """Return the vocabulary without these words, separated by blanks, and those of `LEFT_OUT`."""
    try:
        return Vocabulary(without=LEFT_OUT | set(without.split()))
    except InvalidValueError as error:
        expected = "expected features and verbs, separated by blanks"
        raise RequestError(Code.BAD_REQUEST, f'"without": {expected}; {error}.') from None


def _require_player_name(hall: Hall, name: str) -> None:
    """Raise RequestError unless a player can have the name."""
    try:
        require_name(name)
    except InvalidValueError as error:
        raise RequestError(Code.BAD_NAME, f'"player": {error}.') from None
    if bot := {each.lower(): each for each in hall.bots}.get(name.lower()):
        raise RequestError(Code.BAD_NAME, f"{bot} is a bot. Choose another name.")


def _visitor_name(client: str, player: str) -> str:
    """Return the name under which a client's player is known to the store."""
    return f"{client}/{player}"


def _check_session(session: ClientSession) -> None:
    if session.is_over:
        raise RequestError(Code.UNKNOWN_BOARD, "The session has ended, and its boards are closed.")


def _board_data(board: _Board, now: float, width: int, *, utf8: bool) -> Data:
    """Return a board's state at ``now`` as text and as facts."""
    hall, table = board.service.hall, board.table.as_of(now)
    seen = Delivery(Asked("", ViewGame(), table.name), (), table)
    known = {fact.package: fact.data for fact in delivery_facts(hall, seen)}
    return {
        "text": "\n".join(draw(table, Display(width, utf8))),
        "table": known["Thud.Table"],
        "position": known["Thud.Board"],
    }
