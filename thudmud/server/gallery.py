"""Pictures and records of battles and boards for the web page, drawn fairly and cached.

A picture's ETag is a hash of its subject, so a client with a current copy is answered without
drawing anything. Pictures don't show players' names, so erasing a player doesn't change them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from functools import cache, partial
from hashlib import sha256
from http import HTTPStatus

from thudmud.accounts.limiters import network
from thudmud.english import capitalised
from thudmud.errors import InvalidValueError, RefusedError
from thudmud.game.archive import Battle, BattleLookup, FoundBattle, State, name_or_empty
from thudmud.game.hall import Hall
from thudmud.game.people import Person
from thudmud.game.resolution import resolve_hall_board
from thudmud.game.table import Table
from thudmud.pictures import frame
from thudmud.pictures.pixels import can_draw_pixels
from thudmud.rules import RULESETS, Comment, Game, Side
from thudmud.server.drawing import DrawingProcess, Job, NotDrawnError, require_short
from thudmud.server.drawing_queue import DrawingQueue, QueueFullError, ShareError
from thudmud.store import Store, StoreError, battles
from thudmud.values import Value, replace
from thudmud.views.words import day
from thudmud.web.http import HttpRequest, has_current
from thudmud.web.pictures import GIF, NO_BATTLE, RECORD, Absence, Picture, PictureRequest

GIFS_EACH = 2
"""Queued GIFs per address; each takes up to four seconds of CPU time."""
OTHERS_EACH = 48
"""Queued records, SVGs and PNGs per address; each takes 2 to 40 ms, and a page may show several."""
MOST_KEPT = 8 * 1024 * 1024
"""Size of the picture cache in bytes; the least recently used pictures are evicted."""

NO_BOARD = Absence(HTTPStatus.NOT_FOUND, "There is no such board.")
NO_PLIES = Absence(HTTPStatus.NOT_FOUND, "The moves of that battle are no longer stored.")
NO_PIXELS = Absence(HTTPStatus.NOT_FOUND, "PNG and GIF are not available on this server, only SVG.")
BUSY = Absence(
    HTTPStatus.SERVICE_UNAVAILABLE, "Too many pictures are being drawn at the moment.", 5
)
OVER_SHARE = Absence(
    HTTPStatus.TOO_MANY_REQUESTS,
    "Your last pictures are still being drawn. Please try again in a moment.",
    5,
)
BROKEN = Absence(HTTPStatus.SERVICE_UNAVAILABLE, "That picture can't be drawn at the moment.", 5)

_OVER = {State.ENDED, State.UNFINISHED}
_log = logging.getLogger(__name__)


@cache
def _style() -> str:
    """Return a fingerprint of the drawing style, which differs between versions of thudmud."""
    drawings = [frame(Game.start(rules)) for rules in RULESETS.values()]
    return sha256("".join(drawings).encode()).hexdigest()


class _Subject(Value):
    """The subject of a picture: a battle that is over, or a current position.

    Attributes:
        key: a unique key.
        battle: the battle, or the game in its current state.
        record: further arguments of the subject's `Record`.
    """

    key: tuple[object, ...]
    battle: Battle | Game
    record: tuple[object, ...] = ()


class PictureCache:
    """All pictures of a server: a `web.pictures.Pictures` with a cache and drawing queues."""

    def __init__(self, hall: Hall, store: Store) -> None:
        self._hall, self._store = hall, store
        # GIFs have a queue of their own, so that small pictures never wait for one.
        self._gifs, self._others = DrawingQueue(GIFS_EACH), DrawingQueue(OTHERS_EACH)
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    async def find(self, wanted: PictureRequest, request: HttpRequest) -> Picture | Absence:
        """Return the requested picture; without a body if the client's copy is current."""
        if wanted.kind in {"png", "gif"} and not can_draw_pixels():
            return NO_PIXELS
        try:
            subject = await self._subject(wanted)
            if isinstance(subject, Absence):
                return subject
            return await self._picture(wanted, subject, request)
        except InvalidValueError as error:
            return Absence(HTTPStatus.NOT_FOUND, f"{capitalised(str(error))}.")
        except ShareError:
            return OVER_SHARE
        except QueueFullError:
            return BUSY
        except (StoreError, NotDrawnError) as error:
            _log.warning("could not draw a picture: %s", error)
            return BROKEN

    async def close(self) -> None:
        """Stop drawing."""
        await asyncio.gather(self._gifs.close(), self._others.close())

    async def _picture(
        self, wanted: PictureRequest, subject: _Subject, request: HttpRequest
    ) -> Picture:
        how = wanted.kind, wanted.ply, wanted.side, wanted.colours
        record = subject.record if wanted.kind == RECORD else ()
        told = repr((_style(), how, subject.key, record))
        tag = f'"{sha256(told.encode()).hexdigest()[:16]}"'
        # After the end of a battle only its record can change, by new comments.
        lasting = isinstance(subject.battle, Battle) and wanted.kind != RECORD
        if has_current(request, tag):
            return Picture(wanted.kind, tag, lasting, None)
        body = self._kept.get(tag)
        if body is not None:
            self._kept.move_to_end(tag)
        else:
            queue = self._gifs if wanted.kind == GIF else self._others
            make = partial(self._make, tag, wanted, subject)
            body = await queue.draw(tag, network(request.address), request.is_gone, make)
        return Picture(wanted.kind, tag, lasting, body)

    async def _make(
        self, tag: str, wanted: PictureRequest, subject: _Subject, studio: DrawingProcess
    ) -> bytes:
        game, spent = await self._game(subject.battle, wanted)
        how = wanted.ply, wanted.side, wanted.colours
        job = Job.of(wanted.kind, game, *how, record=subject.record, spent=spent)
        body = await studio.draw(job)
        self._kept[tag] = body
        self._bytes += len(body)
        while self._bytes > MOST_KEPT:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest)
        return body

    async def _game(
        self, battle: Battle | Game, wanted: PictureRequest
    ) -> tuple[Game, tuple[float, ...]]:
        """Return the game to draw, and the seconds that each ply took.

        Raises:
            InvalidValueError: the game is too long for a GIF, or its plies are no longer stored.
        """
        if isinstance(battle, Game):
            return battle, ()
        if wanted.kind == "gif":
            plies = battle.plies if wanted.ply is None else wanted.ply
            require_short(plies or 0)
        found: FoundBattle | None = await self._store.look_up(BattleLookup(battle.number))
        if found is None or found.game is None:
            raise InvalidValueError("the plies of that battle are no longer stored")
        return found.game, found.spent

    async def _subject(self, wanted: PictureRequest) -> _Subject | Absence:
        if wanted.battle is None:
            try:
                table = resolve_hall_board(self._hall, Person(""), wanted.board)
            except RefusedError:
                return NO_BOARD
            return _board_subject(table)
        battle: Battle | None = await self._store.read(battles.battle, wanted.battle)
        if battle is None:
            return NO_BATTLE
        if battle.state in _OVER:
            key = battle.source, battle.until, battle.plies
            is_record = wanted.kind == RECORD
            comments = await self._store.read(battles.comments, battle.number) if is_record else ()
            return _Subject(key, battle, _headers(battle, comments))
        found: FoundBattle | None = await self._store.look_up(BattleLookup(battle.number))
        if found is None or found.game is None:
            return NO_PLIES
        return _running_subject(found.game, _headers(battle, found.comments))


def _running_subject(game: Game, record: tuple[object, ...] = ()) -> _Subject:
    """Return the current position of a game as a subject."""
    key = game.ruleset.name, game.initial_position, tuple(map(str, game.moves)), game.outcome
    return _Subject(key, game, record)


def _board_subject(table: Table) -> _Subject:
    """Return the current position of a board, with its players, as a subject."""
    game = table.game or Game.start(table.ruleset, table.opening)
    players = (name_or_empty(table.seats.get(side, "")) for side in (Side.DWARF, Side.TROLL))
    clock = str(table.time) if table.time else ""
    return _running_subject(game, (*players, "", (), clock, "", ""))


def _headers(battle: Battle, comments: tuple[Comment, ...]) -> tuple[object, ...]:
    """Return a battle's further arguments for `Record`: players, date, comments and clock."""
    kept = tuple(replace(each, player=name_or_empty(each.player)) for each in comments)
    clock = str(battle.time) if battle.time else ""
    players = map(name_or_empty, battle.players)
    return *players, day(battle.at), kept, clock, battle.event, battle.round
