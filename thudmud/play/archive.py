"""The battles that were played: what is known of each, its number, and where its plies are.

An archive is the fold of the few events of a battle that `thudmud.play.events.LANDMARKS` names; the
plies stay in the journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

from thudmud.play.events import (
    LANDMARKS,
    Adjourned,
    BattleEnded,
    BattleId,
    BattleStarted,
    Cleared,
    Event,
    Imported,
    Resumed,
    SavedMatch,
)
from thudmud.rules import RULESETS, Outcome, Side

NONE: Mapping[Any, Any] = MappingProxyType({})


class State(Enum):
    """How far a battle has come."""

    RUNNING = "running"
    ENDED = "ended"
    ADJOURNED = "adjourned"
    UNFINISHED = "unfinished"
    """Given up without an end: both left, or began another one."""


class Battle(NamedTuple):
    """What is known of a battle without its plies. A tuple, since there are many.

    Attributes:
        number: as players ask for it: 1 for the first that began or was imported.
        id: where it began.
        at: when, in seconds since the epoch.
        rules: its ruleset's name.
        dwarf: who played the dwarfs, in the end; "" if that is not known.
        troll: the same for the trolls.
        source: from where on its plies are read: the event that it began, was resumed or was
            imported with.
        until: the version of its last event in the stream of ``source``; None while it is running.
        state: how far it has come.
        part: 1 or 2, which of the two battles of its match.
        before: the points of the match before it, of who has the dwarfs and of who has the trolls.
        plies: how many were played; None where only its events tell that.
        outcome: how it ended; None if it has not, or if it was imported and that is not known.
        rated: whether it counts for ratings.
        points: if its match was over with it, the points of who has the dwarfs and of who has the
            trolls.
        imported: whether it was brought in from elsewhere.
    """

    number: int
    id: BattleId
    at: float
    rules: str
    dwarf: str
    troll: str
    source: BattleId
    until: int | None = None
    state: State = State.RUNNING
    part: int = 1
    before: tuple[int, int] = (0, 0)
    plies: int | None = None
    outcome: Outcome | None = None
    rated: bool = False
    points: tuple[int, int] | None = None
    imported: bool = False

    @property
    def players(self) -> tuple[str, str]:
        """Who played the dwarfs and who played the trolls; "" if that is not known."""
        return self.dwarf, self.troll

    def player(self, side: Side) -> str:
        """Return who played a side; "" if that is not known."""
        return self.dwarf if side is Side.DWARF else self.troll

    @property
    def length(self) -> int | None:
        """How many events have to be read for it from its source on; None for all that follow."""
        return None if self.until is None else self.until - self.source.version + 1


class Archive:
    """All battles. Names are the same in any case.

    Args:
        battles: those there are already, in the order of their numbers.
        ended: the numbers of those that have ended here, in the order in which they did.
        boards: the last battle at each board that is not as new.
        adjourned: see the property of that name.
        former: who else has played, see the property of that name.
    """

    def __init__(
        self,
        battles: Iterable[Battle] = (),
        ended: Iterable[int] = (),
        boards: Mapping[str, int] = NONE,
        adjourned: Mapping[int, SavedMatch] = NONE,
        former: Iterable[tuple[str, int]] = (),
    ) -> None:
        self._battles: list[Battle] = []
        self._numbers: dict[BattleId, int] = {}
        self._players: dict[str, dict[int, None]] = {}
        for battle in battles:
            self._add(battle)
        for player, number in former:
            self._players.setdefault(player, {})[number] = None
        self._ended = [self._battles[number - 1] for number in ended]
        self._boards = dict(boards)
        self._adjourned = dict(adjourned)

    @property
    def battles(self) -> Sequence[Battle]:
        """All of them, in the order of their numbers."""
        return self._battles

    @property
    def ended(self) -> Sequence[Battle]:
        """Those that were played to an end here, in the order in which they ended."""
        return self._ended

    @property
    def adjourned(self) -> Mapping[int, SavedMatch]:
        """The matches that are put away, each by the number of the battle it has come to."""
        return MappingProxyType(self._adjourned)

    @property
    def boards(self) -> Mapping[str, int]:
        """The number of the last battle at each board that is not as new."""
        return MappingProxyType(self._boards)

    @property
    def former(self) -> Sequence[tuple[str, int]]:
        """Who, in lower case, played in which battle until somebody else sat down."""
        return sorted(
            (player, number)
            for player, numbers in self._players.items()
            for number in numbers
            if player not in map(str.lower, self._battles[number - 1].players)
        )

    def battle(self, number: int) -> Battle | None:
        """Return the battle with a number, if there is one."""
        return self._battles[number - 1] if 1 <= number <= len(self._battles) else None

    def number_of(self, battle: BattleId) -> int | None:
        """Return the number of the battle that began there, if one did."""
        return self._numbers.get(battle)

    def of(self, player: str) -> list[Battle]:
        """Return the battles that a player began or ended, in the order of their numbers."""
        numbers = self._players.get(player.lower(), {})
        return [self._battles[number - 1] for number in sorted(numbers)]

    def apply(self, stream: str, version: int, event: Event) -> None:
        """Take note of an event; all of them have to come in the common order of the journal."""
        if not isinstance(event, LANDMARKS):
            return
        place = BattleId(stream, version)
        match event:
            case BattleStarted():
                self._begin(place, event)
            case BattleEnded():
                self._end(place, event)
            case Adjourned():
                self._put_away(place, event.match)
            case Resumed():
                self._resume(place, event.match)
            case Cleared():
                self._give_up(place)
            case Imported():
                self._bring_in(place, event)

    def _begin(self, place: BattleId, event: BattleStarted) -> None:
        self._leave_off(place)
        before = (0, 0)
        if event.number > 1:
            first = self._on_board(place.board)
            # They have swapped seats.
            before = _points(first)[::-1] if first else before
        battle = self._new(place, event)._replace(part=event.number, before=before)
        self._add(battle)
        self._boards[place.board] = battle.number

    def _end(self, place: BattleId, event: BattleEnded) -> None:
        battle = self._on_board(place.board)
        if battle is None or battle.state is not State.RUNNING:
            return  # it has ended already, and counts once
        ended = battle._replace(
            state=State.ENDED,
            until=place.version,
            dwarf=event.dwarf,
            troll=event.troll,
            plies=event.plies,
            outcome=event.outcome,
            rated=event.rated,
            points=event.points,
        )
        self._change(ended)
        self._ended.append(ended)

    def _put_away(self, place: BattleId, match: SavedMatch) -> None:
        battle = self._on_board(place.board)
        if battle is None or battle.id != match.began:
            self._give_up(place)
            return
        del self._boards[place.board]
        self._adjourned[battle.number] = match
        if battle.state is State.RUNNING:
            away = battle._replace(state=State.ADJOURNED, until=place.version)
            plies = len(match.moves)
            self._change(away._replace(dwarf=match.dwarf, troll=match.troll, plies=plies))

    def _resume(self, place: BattleId, match: SavedMatch) -> None:
        self._give_up(place)
        number = self._numbers.get(match.began)
        if number is None or self._adjourned.pop(number, None) is None:
            return  # it goes on at another board already, and what comes of it there counts
        self._boards[place.board] = number
        battle = self._battles[number - 1]
        if battle.state is State.ADJOURNED:
            going_on = battle._replace(state=State.RUNNING, source=place, until=None, plies=None)
            self._change(going_on)

    def _give_up(self, place: BattleId) -> None:
        """Take note that a board is as new."""
        self._leave_off(place)
        self._boards.pop(place.board, None)

    def _leave_off(self, place: BattleId) -> None:
        """Take note that nobody plays on the battle at a board, if one is running."""
        battle = self._on_board(place.board)
        if battle and battle.state is State.RUNNING:
            self._change(battle._replace(state=State.UNFINISHED, until=place.version))

    def _bring_in(self, place: BattleId, event: Imported) -> None:
        self._add(
            self._new(place, event)._replace(
                until=place.version,
                state=State.ENDED,
                plies=event.plies,
                outcome=event.outcome,
                imported=True,
            )
        )

    def _new(self, place: BattleId, event: BattleStarted | Imported) -> Battle:
        number, rules = len(self._battles) + 1, RULESETS[event.rules].name  # one string for all
        return Battle(number, place, event.at, rules, event.dwarf, event.troll, place)

    def _on_board(self, board: str) -> Battle | None:
        number = self._boards.get(board)
        return None if number is None else self._battles[number - 1]

    def _add(self, battle: Battle) -> None:
        self._battles.append(battle)
        self._numbers[battle.id] = battle.number
        self._note_players(battle)

    def _change(self, battle: Battle) -> None:
        was = self._battles[battle.number - 1]
        self._battles[battle.number - 1] = battle
        if battle.dwarf != was.dwarf or battle.troll != was.troll:
            self._note_players(battle)

    def _note_players(self, battle: Battle) -> None:
        for player in battle.players:
            if player:
                self._players.setdefault(player.lower(), {})[battle.number] = None


def _points(battle: Battle) -> tuple[int, int]:
    """Return the points after a battle, of who had the dwarfs and of who had the trolls."""
    if battle.outcome is None:
        return battle.before
    score = battle.outcome.score
    return battle.before[0] + score.dwarf, battle.before[1] + score.troll
