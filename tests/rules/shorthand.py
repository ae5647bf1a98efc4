"""Shorthand for the engine tests: positions, attempts and moves from short strings.

Also converts the engine's values to those of ``reference_rules``, which shares no types with it.
"""

from __future__ import annotations

from itertools import cycle, islice
from random import Random

from tests.rules import reference_rules
from thudmud.rules import (
    EVERY,
    SQUARES,
    Attempt,
    Game,
    Move,
    Piece,
    Position,
    Ruleset,
    Side,
    Square,
    Verb,
)

D, T = Side.DWARF, Side.TROLL


def squares(names: str) -> tuple[Square, ...]:
    """Parse squares such as ``"A6 B7"`` or ``"A6, B7"``."""
    return tuple(Square.parse(name) for name in names.replace(",", " ").split())


def board(pieces: str, turn: Side = D) -> Position:
    """Parse a position such as ``"d A6 B6 T G7 X H8"``: a piece's letter, then its squares."""
    standing: dict[Square, Piece] = {}
    piece = Piece.DWARF
    for word in pieces.split():
        if len(word) == 1:
            piece = Piece(word)
        else:
            standing[Square.parse(word)] = piece
    return Position.of(standing, turn)


def ask(words: str) -> Attempt:
    """Parse an attempt such as ``"shove C5 C7 capturing D8 E8"``, also with ``all`` or ``none``."""
    asked, _, said = words.partition(" capturing ")
    verb, origin, target = asked.split()
    special = {"": None, "all": EVERY, "none": ()}
    captures = special[said] if said in special else squares(said)
    return Attempt(Verb(verb), Square.parse(origin), Square.parse(target), captures)


def reference_state(position: Position) -> reference_rules.State:
    """Convert a position for the reference rules."""
    places = {
        piece: frozenset((each.column, each.row) for each in position.squares(piece))
        for piece in Piece
    }
    return reference_rules.State(
        places[Piece.DWARF],
        places[Piece.TROLL],
        places[Piece.STONE] | places[Piece.ROCK],
        "d" if position.turn is D else "T",
    )


def reference_outcome(move: Move) -> reference_rules.Outcome:
    """Convert a move for the reference rules."""
    captures = tuple((each.column, each.row) for each in move.captures)
    origin, target = move.origin, move.target
    return (origin.column, origin.row), (target.column, target.row), captures


def seeded(seed: int | str) -> Random:
    """Return a random generator that gives the same sequence in every run."""
    return Random(seed)  # noqa: S311  (not used for secrets)


def random_positions(ruleset: Ruleset, random: Random, plies: int) -> list[Position]:
    """Return the positions of a random battle of at most ``plies`` plies, from the opening on."""
    positions = [ruleset.initial_position]
    while len(positions) <= plies and ruleset.outcome(positions[-1]) is None:
        move = random.choice(ruleset.legal_moves(positions[-1]))
        positions.append(positions[-1].after(move))
    return positions


def scattered(ruleset: Ruleset, random: Random) -> Position:
    """Return an artificial position, anything from bare to crowded, with pieces anywhere.

    In koom valley the number of dwarfs is that of the opening, as each one multiplies tramples.
    """
    most_dwarfs = ruleset.initial_position.count(Piece.DWARF) if ruleset.goals else 70
    dwarfs = random.randint(0, random.choice((4, most_dwarfs)))
    trolls = random.randint(0, random.choice((3, 60)))
    centre = Piece.ROCK if ruleset.initial_position.rock else Piece.STONE
    kinds = [Piece.DWARF] * dwarfs + [Piece.TROLL] * trolls + [centre]
    places = random.sample(SQUARES, len(kinds))
    return Position.of(dict(zip(places, kinds, strict=True)), random.choice((D, T)))


def to_and_fro(ruleset: Ruleset, plies: int) -> Game:
    """Return a battle in which both sides move a piece back and forth."""
    game, there = Game.start(ruleset), []
    for _ in Side:
        quiet = (move for move in game.legal_moves() if not move.captures)
        there.append(next(quiet))
        game = game.play(there[-1])
    back = [Move(move.piece, move.target, move.origin) for move in there]
    return Game.start(ruleset).play_all(tuple(islice(cycle([*there, *back]), plies)))
