"""Answers lookups, the questions about stored data that commands ask.

`FoldedGames` answers those about battles, and keeps the latest games folded; `answer` all others.
Features register the answers to theirs by `answers`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

from thudmud.game.archive import (
    PLAN,
    AdjournedLookup,
    AdjournedMatch,
    Battle,
    FoundBattle,
    HistoryLookup,
    Lookup,
    MemberLookup,
    PlayerScore,
    ScoreLookup,
    ScoresLookup,
    SeenMember,
    StandingsLookup,
)
from thudmud.game.events import BattleId, Event, Imported
from thudmud.game.match import game_of, imported_in_steps
from thudmud.game.table import Table, clocked, spent_at
from thudmud.rules import Game
from thudmud.store import accounts, battles, scores
from thudmud.store.database import Database
from thudmud.store.interface import Entry

GAMES_KEPT = 100
"""How many games are kept folded."""

EVENTS_AT_ONCE = 250
"""Of a battle: reading and folding them takes some milliseconds."""


T = TypeVar("T")
LookupT = TypeVar("LookupT", bound=Lookup[Any])
Answerer = Callable[[Database, LookupT, str], Any]

_ANSWERERS: dict[type[Lookup[Any]], Answerer[Any]] = {}


def answers(kind: type[LookupT]) -> Callable[[Answerer[LookupT]], Answerer[LookupT]]:
    """Register a function that answers lookups of a type.

    It gets the database, the lookup, and the realm of the players, see
    `thudmud.game.projections.realm_of`; it returns what the lookup declares.
    """

    def register(answerer: Answerer[LookupT]) -> Answerer[LookupT]:
        _ANSWERERS[kind] = answerer
        return answerer

    return register


def answer(database: Database, lookup: Lookup[Any], realm: str) -> Any:
    """Return the answer to a lookup, of the type that the lookup declares.

    Raises:
        LookupError: nobody answers such lookups.
    """
    return _ANSWERERS[type(lookup)](database, lookup, realm)


answers(HistoryLookup)(battles.history_page)
answers(StandingsLookup)(scores.ranking)


@answers(AdjournedLookup)
def _adjourned(
    database: Database, asked: AdjournedLookup, realm: str
) -> tuple[AdjournedMatch, ...]:
    return tuple(battles.adjourned(database, asked.player, realm=realm))


@answers(ScoreLookup)
def _score(database: Database, asked: ScoreLookup, realm: str) -> PlayerScore | None:
    return scores.score(database, asked.player, curves=asked.curves, realm=realm)


@answers(ScoresLookup)
def _scores(database: Database, asked: ScoresLookup, realm: str) -> dict[str, PlayerScore | None]:
    return {each: scores.score(database, each, realm=realm) for each in asked.players}


@answers(MemberLookup)
def _member(database: Database, asked: MemberLookup, realm: str) -> SeenMember | None:
    account = None if realm else accounts.find(database, asked.name)
    if account is None or account.banned:
        return None
    return SeenMember(account.name, account.seen, str(account.preferences.get(PLAN, "")))


class _Folded(NamedTuple):
    """A battle's game, folded from its events from ``source`` on."""

    source: BattleId
    version: int
    """That of the last event."""
    game: Game | None = None
    table: Table | None = None
    """With its clock, if it has one."""


class _Page(NamedTuple):
    """Some events of a battle.

    Attributes:
        entries: the events.
        upto: the version up to which there are no others.
        last: the version of the last event of the battle.
    """

    entries: Sequence[Entry]
    upto: int
    last: int


class _Read(NamedTuple):
    """A battle without its game; that, as far as it is known; and the first events after it."""

    found: FoundBattle
    folded: _Folded
    page: _Page


_Reader = Callable[[Callable[[Database], Any]], Awaitable[Any]]
"""Runs work that only reads in the store's thread."""


class FoldedGames:
    """The games that were looked up last: folding a long one takes 10 ms or more.

    It is used in the loop; only the reading is done in the store's thread. A battle is read and
    folded `EVENTS_AT_ONCE`, and neither the loop nor the thread is kept from others for longer.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Folded] = {}
        """By battle number, the least recently used first."""

    async def find(
        self,
        read: _Reader,
        number: int,
        realm: str,
    ) -> FoundBattle | None:
        """Return a battle and its game; of a running one, only new events are read."""
        known = self._known.get(number)
        there: _Read | None = await read(partial(_read, number=number, realm=realm, known=known))
        if there is None:
            return None
        found, folded, page = there
        while page.entries or page.upto < page.last:
            if page.entries:
                folded = await self._fold(read, folded, page, has_clock=bool(found.battle.time))
            if page.upto >= page.last:
                break
            rest = partial(_page, battle=found.battle, after=page.upto, last=page.last)
            page = await read(rest)
        game = folded.game
        if game is None:
            return found
        self._known.pop(number, None)
        self._known[number] = folded
        while len(self._known) > GAMES_KEPT:
            del self._known[next(iter(self._known))]
        # A resumed match may have lost plies that were commented on.
        plies = len(game.moves)
        comments = tuple(each for each in found.comments if each.ply <= plies)
        spent = spent_at(folded.table)[:plies]
        return found._replace(game=game, comments=comments, spent=spent)

    async def _fold(
        self, read: _Reader, folded: _Folded, page: _Page, *, has_clock: bool
    ) -> _Folded:
        """Return a battle with further events."""
        events = [cast("Event", each.event) for each in page.entries]
        game, table = folded.game, folded.table
        if isinstance(events[0], Imported):
            for step in imported_in_steps(events[0], EVENTS_AT_ONCE):
                game = step
                await read(lambda _: None)  # it is the others' turn
        else:
            game = game_of(events, game)
            table = clocked(events, table) if has_clock else None
        return _Folded(folded.source, page.upto, game, table)


def _read(database: Database, number: int, realm: str, known: _Folded | None) -> _Read | None:
    """Return a battle without its game; that, as far as it is known; and the first events after."""
    battle = battles.battle(database, number, realm=realm)
    if battle is None:
        return None
    players = battles.still_called(database, battle, realm=realm)
    found = FoundBattle(battle, None, battles.comments(database, number), players)
    if known is None or known.source != battle.source:
        known = _Folded(battle.source, battle.source.version - 1)
    last = battles.last_version(database, battle)
    return _Read(found, known, _page(database, battle, known.version, last))


def _page(database: Database, battle: Battle, after: int, last: int) -> _Page:
    """Return the first events of a battle after a version, which may have been pruned."""
    upto = min(after + EVENTS_AT_ONCE, last)
    most = max(0, upto - after)
    return _Page(database.read_stream(battle.source.board, after + 1, most), upto, last)
