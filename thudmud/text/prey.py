"""The straight lines of a board from which a piece can be hurled or shoved.

Owns how they are told. Must never decide what is legal: each way to go is put to the ruleset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from thudmud.play.commands import Captures
from thudmud.play.meaning import listed
from thudmud.rules import EVERY, Attempt, Game, IllegalMove, Move, Piece, Position, Side, Verb
from thudmud.rules.board import Square, direction_to, line_length
from thudmud.rules.english import capitalised, counted
from thudmud.text.phrases import COMPASS

MOST_LINES = 12
"""How many lines of a side are told, the longest first."""

LINE_VERBS = {Side.DWARF: Verb.HURL, Side.TROLL: Verb.SHOVE}
WAYS = {direction: name for name, direction in COMPASS.items()}
GONE = {Verb.HURL: "hurled", Verb.SHOVE: "shoved"}


@dataclass(frozen=True, slots=True)
class _PieceLine:
    """A line of pieces whose front one can go on along it.

    A piece alone is told once, for all its ways.

    Attributes:
        front: where the front piece stands.
        way: in which direction it goes; empty for a piece alone.
        length: how long the line is, and so how far the piece can go.
        moves: what it can do.
    """

    front: Square
    way: str
    length: int
    moves: tuple[Move, ...]


def lines(game: Game, side: Side | None) -> list[str]:
    """Return the lines of a side, or of both, a sentence for each."""
    if game.outcome:
        return ["The battle is over."]
    if not game.ruleset.verbs & set(LINE_VERBS.values()):
        return _instead(game)
    facts = []
    for each in Side if side is None else (side,):
        facts += _of(game, each)
    return facts


def _of(game: Game, side: Side) -> list[str]:
    verb = LINE_VERBS[side]
    found = list(_found(game, side, verb))
    if not found:
        return [f"No {side.value} can be {GONE[verb]} now."]
    found.sort(key=lambda line: -line.length)
    facts = [_told(line, side, verb) for line in found[:MOST_LINES]]
    if game.position.turn is not side:
        facts.insert(0, f"If it were the {side.plural}' turn:")
    if len(found) > MOST_LINES:
        facts.append(f"And {counted(len(found) - MOST_LINES, 'more line')} of {side.plural}.")
    return facts


def _found(game: Game, side: Side, verb: Verb) -> Iterator[_PieceLine]:
    position = replace(game.position, turn=side)
    pieces = position.bits(Piece.of(side))
    for front in position.squares(Piece.of(side)):
        found: dict[tuple[str, int], list[Move]] = {}
        for move in _granted(game, position, front, verb):
            direction = direction_to(front, move.target)
            if direction:
                length = line_length(pieces, front, direction)
                way = "" if length == 1 else WAYS[direction]
                found.setdefault((way, length), []).append(move)
        for (way, length), moves in found.items():
            yield _PieceLine(front, way, length, tuple(moves))


def _granted(game: Game, position: Position, front: Square, verb: Verb) -> Iterator[Move]:
    """Yield how a piece can go by a verb to where it captures, all that it can.

    What is listed as a move may be had by the verb, too, and only the rules tell.
    """
    moves = game.ruleset.moves_from(position, front)
    for target in dict.fromkeys(move.target for move in moves if move.captures):
        try:
            yield game.ruleset.resolve(position, Attempt(verb, front, target, EVERY), position.turn)
        except IllegalMove:
            continue


def _told(line: _PieceLine, side: Side, verb: Verb) -> str:
    length = line.length
    which = f"line of {length} going {line.way}, reach {length}" if line.way else "alone, reach 1"
    ways: dict[str, list[Square]] = {}
    for move in line.moves:
        ways.setdefault(_prey(move), []).append(move.target)
    goes = "; ".join(f"to {listed(sorted(targets), 'or')}{prey}" for prey, targets in ways.items())
    return f"{capitalised(side.value)} {line.front}, {which}: {verb.value} {goes}."


def _prey(move: Move) -> str:
    """Return what can be captured by a move; nothing for a hurl, which captures where it lands."""
    prey = [square for square in move.captures if square is not move.target]
    if not prey:
        return ""
    return f" capturing {'any of ' if len(prey) > 1 else ''}{listed(prey)}"


def _instead(game: Game) -> list[str]:
    """Return what there is by rules that know no lines."""
    facts = [
        f"By the {game.ruleset.name} rules nobody is hurled or shoved.",
        "Dwarfs trap a troll between two of them; trolls trample a dwarf next to them.",
        f'"{Captures()}" lists what can be captured.',
    ]
    position = replace(game.position, turn=Side.DWARF)
    for square in position.squares(Piece.ROCK):
        targets = [move.target for move in game.ruleset.moves_from(position, square)]
        can = f"could go to {listed(targets, 'or')}" if targets else "cannot go anywhere now"
        facts.append(f"The Rock on {square} {can}.")
    return facts
