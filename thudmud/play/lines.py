"""The plies of many battles, each line of play once, for a state that is kept.

What a board has come to, what somebody has missed at it and what is seen again are nearly always
one battle at several plies. A line that was kept somewhere is played again by the rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from thudmud.play.state import GameState, LineState
from thudmud.rules import RULESETS, Game, IllegalMove, Move, read_record, write_record


class WrittenLines:
    """Takes battles, and finds the lines that they are part of."""

    def __init__(self) -> None:
        self._longest: list[Game] = []

    def all(self) -> tuple[LineState, ...]:
        """Return the lines of the battles so far."""
        return tuple(map(_line, self._longest))

    def game(self, game: Game) -> GameState:
        """Return where a battle is found."""
        for number, other in enumerate(self._longest):
            if _is_one_line(game, other):
                self._longest[number] = max(other, game, key=lambda each: len(each.moves))
                break
        else:
            number = len(self._longest)
            self._longest.append(game)
        return GameState(number, len(game.moves), game.outcome)


class ReadLines:
    """Lines that were kept, played again as far as battles are wanted of them.

    Args:
        lines: the lines.
        games: the battles that will be asked for.

    Raises:
        ValueError: a line is against the rules.
    """

    def __init__(self, lines: Sequence[LineState], games: Iterable[GameState]) -> None:
        wanted: defaultdict[int, set[int]] = defaultdict(set)
        for each in games:
            wanted[each.line].add(each.plies)
        self._games = {
            (number, len(game.moves)): game
            for number, line in enumerate(lines)
            for game in _played(line)
            if len(game.moves) in wanted[number]
        }

    def game(self, state: GameState) -> Game:
        """Return a battle; ValueError if there is no such line, or it is shorter."""
        game = self._games.get((state.line, state.plies))
        if game is None:
            raise ValueError("the plies of a battle are missing")
        return replace(game, outcome=state.outcome)


def require_playable(line: LineState) -> None:
    """Raise ValueError if a line is against the rules."""
    for _ in _played(line):
        pass


def _is_one_line(one: Game, other: Game) -> bool:
    if one.ruleset is not other.ruleset or one.opening != other.opening:
        return False
    return all(map(_is_same, one.moves, other.moves))


def _is_same(one: Move, other: Move) -> bool:
    """Whether two moves are the same, and were asked for by the same verb."""
    return one is other or (one == other and one.verb is other.verb)


def _line(game: Game) -> LineState:
    if game.opening == game.ruleset.opening:
        return LineState(game.ruleset.name, game.moves)
    return LineState(game.ruleset.name, record=write_record(game))


def _played(line: LineState) -> Iterator[Game]:
    """Return a line's battle at each of its plies, from its opening on."""
    if line.rules not in RULESETS:
        raise ValueError(f"there are no {line.rules!r:.50} rules")
    rules = RULESETS[line.rules]
    if line.record is None:
        return _replayed(Game.start(rules), line.moves)
    if line.moves:
        raise ValueError("a battle has both a record and plies")
    whole = read_record(line.record, rules).game
    return _replayed(Game.start(rules, whole.opening), whole.moves)


def _replayed(game: Game, moves: Sequence[Move]) -> Iterator[Game]:
    yield game
    for move in moves:
        try:
            legal = game.resolve(move.attempt(), game.position.turn)
        except IllegalMove as error:
            raise ValueError(f"a ply is against the rules: {error}") from error
        if legal != move or legal.verb is not move.verb:
            raise ValueError("a ply is against the rules")
        game = game.play(move)
        yield game
