"""Answers lookups, the questions about stored data that commands ask.

`FoldedGames` answers those about battles, and keeps the latest games folded; `answer` all others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, cast

from thudmud.play.analysis import KeptAnalysisLookup
from thudmud.play.archive import (
    PLAN,
    AdjournedLookup,
    FoundBattle,
    HistoryLookup,
    Lookup,
    MemberLookup,
    ScoreLookup,
    ScoresLookup,
    SeenMember,
    StandingsLookup,
    StudiesLookup,
)
from thudmud.play.events import BattleId, Event
from thudmud.play.exploring import ExploreLookup
from thudmud.play.letters import (
    MOST_REPORTS,
    LetterCountLookup,
    LettersLookup,
    ReportedLookup,
    ReportsLookup,
)
from thudmud.play.match import game_of
from thudmud.play.notifications import AskedLookup, ContactLookup
from thudmud.play.table import spent_on
from thudmud.play.tournaments import PastTournaments, TournamentLookup, TournamentsLookup
from thudmud.rules import Game
from thudmud.store import accounts, battles, hall, letters, notifications, scores
from thudmud.store.database import Database
from thudmud.store.interface import Entry

GAMES_KEPT = 100
"""How many games are kept folded."""


def answer(database: Database, lookup: Lookup[Any], realm: str) -> Any:
    """Return the answer to a lookup, of the type that the lookup declares."""
    match lookup:
        case AdjournedLookup(player):
            return tuple(battles.adjourned(database, player, realm=realm))
        case HistoryLookup():
            return battles.history_page(database, lookup, realm)
        case ScoreLookup(player, curves):
            return scores.score(database, player, curves=curves, realm=realm)
        case ScoresLookup(players):
            return {each: scores.score(database, each, realm=realm) for each in players}
        case KeptAnalysisLookup(began, plies):
            return battles.analysis(database, began, plies)
        case StudiesLookup(player):
            return scores.studies(database, player, realm=realm)
        case StandingsLookup():
            return scores.ranking(database, lookup, realm)
        case MemberLookup(name):
            account = None if realm else accounts.find(database, name)
            if account is None or account.banned:
                return None
            plan = str(account.preferences.get(PLAN, ""))
            return SeenMember(account.name, account.seen, plan)
        case ExploreLookup():
            return database.explored.found(lookup, realm, database.players)
        case LettersLookup(player):
            return letters.letters(database, player)
        case LetterCountLookup(player):
            return letters.count(database, player)
        case ReportsLookup():
            return tuple(letters.reports(database, most=MOST_REPORTS))
        case ReportedLookup(name, by):
            return letters.reported(database, name, by)
        case ContactLookup(player):
            return notifications.contact(database, player)
        case AskedLookup(address):
            return notifications.asked(database, address)
        case TournamentLookup(number):
            return None if realm else hall.tournament(database, number)
        case TournamentsLookup():
            return PastTournaments((), 0) if realm else hall.past_tournaments(database, lookup)
    raise ValueError(f"{lookup} cannot be looked up here")


class _Folded(NamedTuple):
    """A battle's game, folded from its events from ``source`` on."""

    source: BattleId
    version: int
    """That of the last event."""
    game: Game
    spent: tuple[float, ...]


_Read = tuple[FoundBattle, _Folded | None, Sequence[Entry]]
"""A battle without its game, the game as far as it was folded, and the events after that."""


class FoldedGames:
    """The games that were looked up last: folding one takes 10 ms or more.

    It is used in the loop; only the reading is done in the store's thread.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Folded] = {}
        """By battle number, the least recently used first."""

    async def find(
        self,
        read: Callable[[Callable[[Database], _Read | None]], Awaitable[_Read | None]],
        number: int,
        realm: str,
    ) -> FoundBattle | None:
        """Return a battle and its game; of a running one, only new events are read."""
        known = self._known.get(number)
        there = await read(lambda database: _read(database, number, realm, known))
        if there is None:
            return None
        found, before, entries = there
        folded = before
        if entries:
            events = [cast("Event", each.event) for each in entries]
            spent = spent_on(events) if found.battle.time else ()
            game = game_of(events, before and before.game)
            folded = _Folded(found.battle.source, entries[-1].version, game, spent)
        if folded is None:
            return found
        _, _, game, spent = folded
        self._known.pop(number, None)
        self._known[number] = folded
        while len(self._known) > GAMES_KEPT:
            del self._known[next(iter(self._known))]
        # A resumed match may have lost plies that were commented on.
        plies = len(game.moves)
        comments = tuple(each for each in found.comments if each.ply <= plies)
        return found._replace(game=game, comments=comments, spent=spent[:plies])


def _read(database: Database, number: int, realm: str, known: _Folded | None) -> _Read | None:
    battle = battles.battle(database, number, realm=realm)
    if battle is None:
        return None
    before = known if known and known.source == battle.source else None
    players = battles.still_called(database, battle, realm=realm)
    found = FoundBattle(battle, None, battles.comments(database, number), players)
    entries = battles.entries_of(database, battle, before.version if before else 0)
    if battle.time and before and entries:  # clocks have to be folded from the start
        return found, None, battles.entries_of(database, battle)
    return found, before, entries
