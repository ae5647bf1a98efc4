"""Battles for tests: stored events, and the battles and scores derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from thudmud.game.archive import (
    PROVISIONAL,
    AdjournedLookup,
    Battle,
    Lookup,
    PlayerScore,
    Pool,
    Rating,
    ScoreLookup,
    State,
)
from thudmud.game.clocks import TimeControl
from thudmud.game.events import (
    NO_BOTS,
    Adjourned,
    BattleEnded,
    BattleId,
    BattleStarted,
    Cleared,
    Event,
    Imported,
    Levels,
    Moved,
    Resumed,
    SavedMatch,
)
from thudmud.rules import (
    DISCWORLD,
    EVERY,
    Attempt,
    Ending,
    Game,
    Move,
    Outcome,
    Score,
    Side,
    Square,
    Verb,
)
from thudmud.store import Store, run_synchronously, scores
from thudmud.store import battles as battle_rows

AnswerT = TypeVar("AnswerT")

DRAW = Outcome(Ending.AGREEMENT, None, Score(32, 32))
DWARFS = Outcome(Ending.AGREEMENT, Side.DWARF, Score(30, 20))
TROLLS = Outcome(Ending.RESIGNATION, Side.TROLL, Score(0, 32))
STANDARD = Pool("discworld")
NOON = 1_795_262_400.0  # 2026-11-21 12:00 UTC
DAY = 86_400.0


def plies(*said: str) -> tuple[Move, ...]:
    """Return plies from the initial position, each given as verb, origin and target."""
    game = Game.start(DISCWORLD)
    for each in said:
        verb, origin, target = each.split()
        captures = EVERY if verb == "shove" else None
        attempt = Attempt(Verb(verb), Square.parse(origin), Square.parse(target), captures)
        game = game.play(game.resolve(attempt, game.position.turn))
    return game.moves


CAPTURE = plies("move f15 f8", "shove g7 e7")
LONGER = plies("move f15 f8", "shove g7 e7", "move g15 g10", "move h7 g7")


class Annals:
    """A recorder of table events: in order, by board, and in a store in memory."""

    def __init__(self) -> None:
        self.log: list[tuple[str, Event]] = []
        self.events: dict[str, list[Event]] = {}
        self._now = 0.0
        self.store = Store.in_memory(clock=lambda: self._now)

    def happen(self, board: str, event: Event) -> BattleId:
        """Append an event, consistent or not; return its board and version."""
        events = self.events.setdefault(board, [])
        self._now = event.at
        run_synchronously(self.store.append({board: (len(events), [event])}))
        events.append(event)
        self.log.append((board, event))
        return BattleId(board, len(events))

    def begin(
        self,
        board: str = "oak board",
        *,
        dwarf: str = "Anna",
        troll: str = "Bert",
        number: int = 1,
        rules: str = "discworld",
        at: float = NOON,
        time: TimeControl | None = None,
        rated: bool = True,
    ) -> BattleId:
        started = BattleStarted(at, dwarf, number, rules, dwarf, troll, rated, time=time)
        return self.happen(board, started)

    def play(self, moves: tuple[Move, ...], board: str = "oak board", first: int = 1) -> None:
        for ply, move in enumerate(moves, first):
            side = Side.DWARF if ply % 2 else Side.TROLL
            self.happen(board, Moved(NOON, "Anna", side, move, ply))

    def end(
        self,
        outcome: Outcome = DWARFS,
        board: str = "oak board",
        players: tuple[str, str] = ("Anna", "Bert"),
        count: int = 80,
        *,
        rated: bool = True,
        points: tuple[int, int] | None = None,
        levels: Levels = NO_BOTS,
    ) -> BattleId:
        ended = BattleEnded(NOON, players[0], outcome, count, *players, rated, points, levels)
        return self.happen(board, ended)

    def whole(
        self,
        outcome: Outcome = DWARFS,
        dwarf: str = "Anna",
        troll: str = "Bert",
        *,
        rated: bool = True,
        rules: str = "discworld",
        levels: Levels = NO_BOTS,
    ) -> None:
        """Record the start and the end of a battle."""
        self.begin(dwarf=dwarf, troll=troll, rules=rules)
        self.end(outcome, players=(dwarf, troll), rated=rated, levels=levels)

    def match(
        self,
        winner: str = "Anna",
        loser: str = "Bert",
        *,
        drawn: bool = False,
        rules: str = "discworld",
        time: TimeControl | None = None,
        first: bool = True,
        second: bool = True,
    ) -> None:
        """Record both battles of a match; ``first`` and ``second`` tell which are rated."""
        self.begin(dwarf=winner, troll=loser, rules=rules, time=time)
        self.end(DRAW, players=(winner, loser), rated=first)
        self.begin(dwarf=loser, troll=winner, number=2, rules=rules, time=time)
        points = (60, 60) if drawn else (55, 65)
        self.end(DRAW, players=(loser, winner), rated=second, points=points)

    def season(
        self,
        *names: str,
        rounds: int = PROVISIONAL,
        rules: str = "discworld",
        time: TimeControl | None = None,
    ) -> None:
        """Record rounds of drawn matches between an even number of players."""
        first, *others = names
        for number in range(rounds):
            turned = [first, *others[number % len(others) :], *others[: number % len(others)]]
            for one, other in zip(turned, reversed(turned[len(turned) // 2 :]), strict=False):
                self.match(one, other, drawn=True, rules=rules, time=time)

    def clear(self, board: str = "oak board") -> None:
        self.happen(board, Cleared(NOON, "Anna"))

    def adjourn(self, match: SavedMatch, board: str = "oak board") -> None:
        self.happen(board, Adjourned(NOON, "Anna", match))

    def resume(self, match: SavedMatch, board: str = "pine board") -> BattleId:
        return self.happen(board, Resumed(NOON, "Anna", match))

    def bring_in(self, outcome: Outcome | None = None, dwarf: str = "Zoe") -> BattleId:
        """Record the import of a battle."""
        imported = Imported(NOON, "", "discworld", dwarf, "", RECORD, 2, outcome)
        return self.happen("(imports)", imported)

    def found(self, lookup: Lookup[AnswerT]) -> AnswerT:
        """Return the answer to a lookup."""
        return cast("AnswerT", run_synchronously(self.store.look_up(lookup)))

    def battle(self, number: int) -> Battle:
        battle = run_synchronously(self.store.read(battle_rows.battle, number))
        assert battle is not None
        return battle

    @property
    def battles(self) -> list[Battle]:
        """All battles, by number."""
        return self.of(None)

    def of(self, player: str | None) -> list[Battle]:
        """Return the battles of a player, or of everybody for ``None``, by number."""
        return list(
            reversed(run_synchronously(self.store.read(battle_rows.history, player, most=10**6)))
        )

    @property
    def ended(self) -> list[Battle]:
        """Battles that ended, by number, without imported ones."""
        ended = [battle for battle in self.battles if battle.state is State.ENDED]
        return [battle for battle in ended if not battle.imported]

    def away(self, player: str = "Anna") -> dict[int, SavedMatch]:
        """Return the adjourned matches of a player by battle number."""
        found = self.found(AdjournedLookup(player))
        return {each.battle.number: each.match for each in found}

    def score(self, player: str) -> PlayerScore | None:
        return self.found(ScoreLookup(player))

    def rating(self, player: str, pool: Pool = STANDARD) -> Rating | None:
        score = self.score(player)
        return score.people.ratings.get(pool) if score else None

    def ranked(self, pool: Pool = STANDARD) -> Sequence[str]:
        """Return the names in the standings, best first."""
        return [
            each.name
            for each in run_synchronously(self.store.read(scores.standings, pool, most=10**6))
        ]


def saved(
    began: BattleId, moves: tuple[Move, ...] = CAPTURE, outcome: Outcome | None = None
) -> SavedMatch:
    return SavedMatch(
        began, 1, "discworld", (0, 0), "Anna", "Bert", rated=True, moves=moves, outcome=outcome
    )


RECORD = """\
dF1,dG1,dJ1,dK1,TG7,TH7,RH8
dF1-F6
TG7-G6xF6
"""
