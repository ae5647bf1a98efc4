"""Find puzzles: positions in which one move is far better than all others and tempting ones fail.

``python -m tests.search.puzzles find RULES FIRST LAST`` plays the battles with these seeds and
prints the puzzles that it finds in them. A battle takes a few seconds, and the same seeds give the
same puzzles. ``again FILE...`` checks the positions of a file again, after a change to the search.
``choose FILE...`` prints the puzzles of the files from easy to hard, in the format of
``thudmud/features/exercises/puzzles.txt``, which `thudmud.features.exercises.model` explains.

The conditions for a puzzle:

- The solution is the best move of a search to `DEPTH` plies, and of one two plies deeper. In the
  latter it scores `MARGIN` more than the best move to any other square, at the last two depths:
  two, since a search favours the side that plays its last ply.
- The line after it gains at least `GAIN` points, or wins. Each ply of the line is searched, until
  nothing more is captured.
- At least one move captures as much or more at once but is worse, as the line after it shows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import NamedTuple

from thudmud.bots.referee import random_opening
from thudmud.features.exercises.model import Puzzle, read_puzzle
from thudmud.rules import RULESETS, Game, Move, Ruleset, Side, read_position, write_position
from thudmud.search.levels import LEVELS
from thudmud.search.player import Player
from thudmud.search.search import WIN_SCORE, Blunders, Limit, PruningOptions, Search

DEPTH = 4
"""The search depth in plies. A search two plies deeper confirms the solution."""

MARGIN = 150
"""Centidwarfs by which the solution is better than anything else."""

GAIN = 1
"""The minimum gain, in points, of the line after the solution."""

STEADY = replace(LEVELS[4], nodes=300, depth=60)
"""A level that makes no mistakes; half of the battles use it."""

SHOWN = 2
"""The minimum lead, in points, of the solution's line over that of any tempting move. The other
moves shown also gain less."""

_LONGEST_LINE = 5
_MOST_TRIES = 16
_QUIET_TRIES = 4
_LINE_DEPTH = 4

WIDE = PruningOptions(root_beam=120, beam=20, troll_beam=64)


class Candidate(NamedTuple):
    """A move with its score at each depth, and its lead over the best move to another square."""

    move: Move
    scores: tuple[int, ...]
    margins: tuple[int, ...]
    found_at: int
    """The depth from which on the move is the best."""


def candidate(game: Game, depth: int, width: PruningOptions | None = None) -> Candidate:
    """Search for the best move and for the best move to any other square."""
    best, found_at = _by_depth(game, depth, width)
    move = best[-1][0]
    others = Blunders(overlooks=lambda each: is_like(each, move))
    second, _ = _by_depth(game, depth, width, others)
    scores = tuple(score for _, score in best)
    last = len(second) - 1
    margins = tuple(score - second[min(n, last)][1] for n, score in enumerate(scores))
    return Candidate(move, scores, margins, found_at)


def _by_depth(
    game: Game, depth: int, width: PruningOptions | None, blunders: Blunders | None = None
) -> tuple[list[tuple[Move, int]], int]:
    """Return the best move and score by depth, and the depth from which on that move is best."""
    found: list[tuple[Move, int]] = []
    search = Search(game.ruleset, None, width)
    thought = search.think(
        game, Limit(depth=depth), lambda each: found.append((each.move, each.score)), blunders
    )
    found = found or [(thought.move, thought.score)]
    since = len(found)
    while since > 1 and is_like(found[since - 2][0], thought.move):
        since -= 1
    return found, since


def is_like(move: Move, other: Move) -> bool:
    """Whether two moves go to the same square with the same piece."""
    return (move.origin, move.target) == (other.origin, other.target)


def is_sure(found: Candidate) -> bool:
    """Whether a move leads all others by `MARGIN` at the last two depths."""
    return min(found.margins[-2:]) >= MARGIN


def line_with(game: Game, move: Move, *, proves: bool = False) -> tuple[Move, ...]:
    """Return a move and its continuation, until a side's best ply is not a capture.

    The line ends with a capture or with the reply to one.

    Args:
        game: the battle.
        move: the move.
        proves: whether to continue with the opponent's best capture even if it is a mistake.
    """
    side, line, then = game.turn, [move], game.play(move)
    while not then.outcome and len(line) < _LONGEST_LINE:
        best = Search(game.ruleset).think(then, Limit(depth=_LINE_DEPTH)).move
        if then.turn is side and not (best.captures or game.ruleset.goals):
            break
        if then.turn is not side and any(each.captures for each in line) and not best.captures:
            if len(line) > 1:
                break
            capture = _best_capture(then) if proves else None
            if capture is None:
                answered = () if proves else (best,)
                return (move, *answered)
            best = capture
        line.append(best)
        then = then.play(best)
    if not (then.outcome and game.ruleset.goals):
        while len(line) > 1 and not line[-1].captures:
            line.pop()
    return tuple(line)


def _best_capture(game: Game) -> Move | None:
    """Return the best capture, or None."""
    if not any(move.captures for move in game.legal_moves()):
        return None
    quiet = Blunders(overlooks=lambda move: not move.captures)
    return Search(game.ruleset).think(game, Limit(depth=_LINE_DEPTH), None, quiet).move


def gained(game: Game, line: tuple[Move, ...]) -> int:
    """Return the points that the side to move gains by a line; a win counts as very many."""
    side, then = game.turn, game
    for move in line:
        then = then.play(move)
    if then.outcome and game.ruleset.goals:
        return WIN_SCORE if then.outcome.winner is side else -WIN_SCORE
    return _lead(then, side) - _lead(game, side)


def _lead(game: Game, side: Side) -> int:
    score = game.ruleset.score(game.position)
    return (score.dwarf - score.troll) * (1 if side is Side.DWARF else -1)


def puzzle(game: Game) -> str | None:
    """Return the puzzle at a position as a line of the file, or None."""
    moves = game.legal_moves()
    captures = {(move.origin, move.target) for move in moves if move.captures}
    if not captures:
        return None
    glance = candidate(game, DEPTH - 2)
    if max(glance.margins) < MARGIN // 2:
        return None
    found = candidate(game, DEPTH)
    if not is_sure(found) or not tempting(game, found.move):
        return None
    sure = candidate(game, DEPTH + 2, WIDE)
    if not (is_sure(sure) and is_like(found.move, sure.move)):
        return None
    best = sure.move
    ways = [move for move in moves if is_like(move, best)]
    most = max(len(move.captures) for move in ways)
    if len(best.captures) < most or sum(len(move.captures) == most for move in ways) > 1:
        return None
    line = line_with(game, best, proves=True)
    gain = gained(game, line)
    if gain < GAIN:
        return None
    tries, tempts = [], tempting(game, best)
    if not tempts:
        return None
    for move in _tries(game, best):
        tried = line_with(game, move)
        less = gain - gained(game, tried)
        if less >= SHOWN - (move not in tempts):
            tries.append(tried)
        elif move.captures:
            return None
    _, found_at = _by_depth(game, DEPTH + 2, None)
    lost = sum(len(move.captures) for move in line[1::2])
    difficulty = 3 * found_at + len(line) + 2 * bool(lost) + 3 * (not best.captures)
    difficulty += min(len(tempts), 4) + (len(moves) > 200)
    return "; ".join(
        [
            game.ruleset.name,
            write_position(game.position),
            str(difficulty),
            _written(line),
            ", ".join(map(_written, tries)),
        ]
    )


def tempting(game: Game, best: Move) -> list[Move]:
    """Return the captures to other squares that take at least as many pieces as the best move."""
    least = max(1, len(best.captures))
    return [move for move in _captures(game, best) if len(move.captures) >= least]


def _captures(game: Game, best: Move) -> list[Move]:
    """Return a capture to each square except that of the best move, the largest captures first."""
    by_way: dict[object, Move] = {}
    for move in game.legal_moves():
        if move.captures and not is_like(move, best):
            way = move.origin, move.target
            known = by_way.get(way, move)
            by_way[way] = max(known, move, key=lambda each: len(each.captures))
    return sorted(by_way.values(), key=lambda move: (-len(move.captures), str(move)))


def _tries(game: Game, best: Move) -> list[Move]:
    """Return the moves that a player is likely to try: captures, and others that look good."""
    tries = _captures(game, best)[: _MOST_TRIES - _QUIET_TRIES]
    passed = {(move.origin, move.target) for move in (best, *tries)}

    def overlooks(move: Move) -> bool:
        return bool(move.captures) or (move.origin, move.target) in passed

    for _ in range(_QUIET_TRIES):
        limit, blunders = Limit(depth=2), Blunders(overlooks)
        quiet = Search(game.ruleset).think(game, limit, None, blunders).move
        if overlooks(quiet):
            break
        passed.add((quiet.origin, quiet.target))
        tries.append(quiet)
    return tries


def _written(line: tuple[Move, ...]) -> str:
    return " ".join(map(str, line))


def found(ruleset: Ruleset, seed: int) -> Iterator[str]:
    """Yield the puzzles in a battle; its players make mistakes if the seed is odd."""
    chance = Random(f"{ruleset.name} {seed}")  # noqa: S311  (a game, no secret)
    levels = [chance.choice(LEVELS[:4]) if seed % 2 else STEADY for _ in Side]
    players = [Player(ruleset, level, seed) for level in levels]
    game, last = random_opening(ruleset, 4, f"puzzles {seed}"), 0
    while not game.outcome and game.quiet_plies < 20 and len(game.moves) < 120:
        alone = Game.start(ruleset, game.position)  # without the moves before, as in the puzzle
        if len(game.moves) >= last + 8 and (line := puzzle(alone)):
            last = len(game.moves)
            yield line
        game = game.play(players[len(game.moves) % 2].think(game).move)


def chosen(lines: list[str]) -> list[str]:
    """Return puzzles in the order of the file: from easy to hard, the sides alternating."""
    by_side: dict[Side, dict[int, tuple[int, str]]] = {side: {} for side in Side}
    for line in lines:
        puzzle = read_puzzle(1, line)
        by_side[puzzle.game.turn][puzzle.key] = order(puzzle), line
    ordered = [sorted(known.values()) for known in by_side.values()]
    return [line for pair in zip_longest(*ordered) for _, line in filter(None, pair)]


def order(puzzle: Puzzle) -> int:
    """Return the sort key of a puzzle among those for its side.

    The rulesets that most players learn first come first.
    """
    return puzzle.difficulty + 4 * list(RULESETS).index(puzzle.game.ruleset.name)


def main(task: str, *words: str) -> None:
    """Find, recheck or sort puzzles."""
    if task == "find":
        rules, first, last = words
        for seed in range(int(first), int(last) + 1):
            for line in found(RULESETS[rules], seed):
                print(line, flush=True)
        return
    lines = [line for file in words for line in Path(file).read_text("utf-8").splitlines()]
    if task == "choose":
        print("\n".join(chosen(lines)))
        return
    for line in lines:
        rules, position, *_ = line.split("; ")
        ruleset = RULESETS[rules]
        if made := puzzle(Game.start(ruleset, read_position(position, ruleset))):
            print(made, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
