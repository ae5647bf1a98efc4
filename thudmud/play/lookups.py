"""What a decision needs to know of what was played before, which no hall keeps.

A decision asks `Found` for it. What was not looked up yet is `Unread`: whoever wanted the decision
looks it up where it is stored, and decides once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar, cast

from thudmud.errors import ThudmudError
from thudmud.play.battles import Battle
from thudmud.play.events import SavedMatch
from thudmud.play.standings import PlayerScore
from thudmud.rules import Game

PAGE = 20
"""Battles on a page of the history, and players in the standings."""

AnswerT = TypeVar("AnswerT")


class FoundBattle(NamedTuple):
    """A battle, and the game as far as it has come; None if its plies are no longer kept."""

    battle: Battle
    game: Game | None


class AdjournedMatch(NamedTuple):
    """A match that is put away, and the battle that it has come to."""

    battle: Battle
    match: SavedMatch


class AdjournedMatches(NamedTuple):
    """The matches of somebody that are put away."""

    matches: tuple[AdjournedMatch, ...] = ()


class HistoryPage(NamedTuple):
    """Some battles, the last one first, and how many there are in all."""

    battles: tuple[Battle, ...]
    in_all: int


class RankedPlayer(NamedTuple):
    """A player and their place, from 1."""

    place: int
    score: PlayerScore


class Ranking(NamedTuple):
    """The best players, whoever asked, if they have a rating, and how many have one in all."""

    players: tuple[RankedPlayer, ...]
    in_all: int


LookupAnswer = FoundBattle | AdjournedMatches | HistoryPage | PlayerScore | Ranking


class Lookup(Generic[AnswerT]):
    """Something to be looked up, and what kind of answer it has."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class BattleLookup(Lookup["FoundBattle | None"]):
    """The battle with a number; None if there is none."""

    number: int


@dataclass(frozen=True, slots=True)
class AdjournedLookup(Lookup[AdjournedMatches]):
    """The matches of a player, named in any case, that are put away."""

    player: str


@dataclass(frozen=True, slots=True)
class HistoryLookup(Lookup[HistoryPage]):
    """A page, from 1, of the battles of a player, named in any case, or of everybody."""

    player: str | None
    page: int = 1


@dataclass(frozen=True, slots=True)
class ScoreLookup(Lookup["PlayerScore | None"]):
    """What a player, named in any case, has won and lost; None if they have ended no battle."""

    player: str


@dataclass(frozen=True, slots=True)
class StandingsLookup(Lookup[Ranking]):
    """The best players, and the one who asks."""

    player: str


class Unread(ThudmudError):
    """Something has to be looked up before it can be decided what a command brings about."""

    def __init__(self, lookup: Lookup[Any]) -> None:
        super().__init__(lookup)
        self.lookup = lookup

    def __str__(self) -> str:
        return f"{self.lookup} has not been looked up"


class Found:
    """What has been looked up for one decision.

    It is as old as the decision: what was found for one may be otherwise for the next.
    """

    def __init__(self, answers: Mapping[Lookup[Any], Any] | None = None) -> None:
        self._answers: dict[Lookup[Any], Any] = dict(answers or {})

    def take(self, lookup: Lookup[AnswerT], answer: AnswerT) -> None:
        """Take note of an answer."""
        self._answers[lookup] = answer

    def __getitem__(self, lookup: Lookup[AnswerT]) -> AnswerT:
        """Return an answer; Unread if there is none yet."""
        try:
            return cast("AnswerT", self._answers[lookup])
        except KeyError:
            raise Unread(lookup) from None
