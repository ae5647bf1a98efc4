"""Answers to lookups: questions about stored data that commands ask.

`FoldedGames` answers those about battles, and caches the games looked up last; `answer` handles all
others. Features register answers to their own lookups by `answers`.
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
from thudmud.game.match import fold_game, replay_imported
from thudmud.game.table import Table, ply_seconds_at, replay_clock
from thudmud.rules import Game
from thudmud.store import accounts, battles, scores
from thudmud.store.database import Database
from thudmud.store.interface import Entry

GAMES_KEPT = 100
"""The number of cached games."""

EVENTS_AT_ONCE = 250
"""Events of a battle read and folded at a time, which takes some milliseconds."""


T = TypeVar("T")
LookupT = TypeVar("LookupT", bound=Lookup[Any])
Answerer = Callable[[Database, LookupT, str], Any]

_ANSWERERS: dict[type[Lookup[Any]], Answerer[Any]] = {}


def answers(kind: type[LookupT]) -> Callable[[Answerer[LookupT]], Answerer[LookupT]]:
    """Register a function that answers lookups of a type; used as a decorator.

    The function gets the database, the lookup, and the players' realm, see
    `thudmud.game.projections.realm_of`. It returns a value of the type that the lookup declares.
    """

    def register(answerer: Answerer[LookupT]) -> Answerer[LookupT]:
        _ANSWERERS[kind] = answerer
        return answerer

    return register


def answer(database: Database, lookup: Lookup[Any], realm: str) -> Any:
    """Answer a lookup, with a value of the type that it declares.

    Raises:
        LookupError: no function is registered for such lookups.
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
    return scores.score(database, asked.player, curves=asked.with_curves, realm=realm)


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
    """The version of the last event folded."""
    game: Game | None = None
    table: Table | None = None
    """The table with its clock, if the battle has one."""


class _Page(NamedTuple):
    """Some consecutive events of a battle.

    Attributes:
        entries: the events; some may have been pruned.
        upto: the version up to which this page goes.
        last: the version of the last event of the battle.
    """

    entries: Sequence[Entry]
    upto: int
    last: int


class _Read(NamedTuple):
    """The result of the first read for a lookup.

    Attributes:
        found: the battle, without its game.
        folded: the cached part of the game.
        page: the first events after that.
    """

    found: FoundBattle
    folded: _Folded
    page: _Page


_Reader = Callable[[Callable[[Database], Any]], Awaitable[Any]]
"""Runs work that only reads in the store's thread."""


class FoldedGames:
    """A cache of the games looked up last: folding a long one takes 10 ms or more.

    It runs in the event loop, and only reads in the store's thread. A battle is read and folded
    `EVENTS_AT_ONCE`, so neither the loop nor the thread is blocked for longer.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Folded] = {}
        """Games by battle number, the least recently used first."""

    async def find(
        self,
        read: _Reader,
        number: int,
        realm: str,
    ) -> FoundBattle | None:
        """Return a battle and its game; only events that are not cached are read."""
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
        # A resumed match may have lost plies that have comments.
        plies = len(game.moves)
        comments = tuple(each for each in found.comments if each.ply <= plies)
        spent = ply_seconds_at(folded.table)[:plies]
        return found._replace(game=game, comments=comments, spent=spent)

    async def _fold(
        self, read: _Reader, folded: _Folded, page: _Page, *, has_clock: bool
    ) -> _Folded:
        """Fold a page of further events into a battle's game."""
        events = [cast("Event", each.event) for each in page.entries]
        game, table = folded.game, folded.table
        if isinstance(events[0], Imported):
            for step in replay_imported(events[0], EVENTS_AT_ONCE):
                game = step
                await read(lambda _: None)  # let other work in the store's thread go first
        else:
            game = fold_game(events, game)
            table = replay_clock(events, table) if has_clock else None
        return _Folded(folded.source, page.upto, game, table)


def _read(database: Database, number: int, realm: str, known: _Folded | None) -> _Read | None:
    """Read a battle without its game, and the first events that are not cached."""
    battle = battles.battle(database, number, realm=realm)
    if battle is None:
        return None
    players = battles.current_name_owners(database, battle, realm=realm)
    found = FoundBattle(battle, None, battles.comments(database, number), players)
    if known is None or known.source != battle.source:
        known = _Folded(battle.source, battle.source.version - 1)
    last = battles.last_version(database, battle)
    return _Read(found, known, _page(database, battle, known.version, last))


def _page(database: Database, battle: Battle, after: int, last: int) -> _Page:
    """Read the first events of a battle after a version; some may have been pruned."""
    upto = min(after + EVENTS_AT_ONCE, last)
    most = max(0, upto - after)
    return _Page(database.read_stream(battle.source.board, after + 1, most), upto, last)
