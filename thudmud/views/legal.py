"""Legal moves and captures in compact sentences, with ranges of squares.

Also the lines from which pieces can be hurled or shoved. Legality is left to the ruleset.

An answer takes a millisecond or more, and anybody may ask at any time. So answers are cached by
position.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from math import comb

from thudmud.english import capitalised, join_words, pluralize
from thudmud.rules import (
    EVERY,
    Attempt,
    Capturing,
    Game,
    IllegalMoveError,
    Move,
    Piece,
    Position,
    Ruleset,
    Side,
    Square,
    Verb,
)
from thudmud.rules.board import (
    Direction,
    direction_to,
    distance,
    line_length,
    square_at,
    squares_in,
)
from thudmud.values import replace
from thudmud.views.view import Display
from thudmud.views.words import wrap, wrap_each

COMPASS = {
    "north": Direction(0, -1),
    "northeast": Direction(1, -1),
    "east": Direction(1, 0),
    "southeast": Direction(1, 1),
    "south": Direction(0, 1),
    "southwest": Direction(-1, 1),
    "west": Direction(-1, 0),
    "northwest": Direction(-1, -1),
}
"""Directions by name, clockwise. North is towards row 1, whichever way the board is drawn."""

MOST_PATHS = 12
"""The maximum number of a piece's tramples to spell out."""

MOST_PIECES, MOST_KINDS = 12, 4
"""The maximum number of pieces to list, and of kinds of captures for each, for all captures."""


_KEPT = 256
"""The number of cached answers for each kind of question. An answer has up to some kilobytes."""


def range_word(display: Display) -> str:
    """Return the text between the ends of a range: a word for a screen reader, else dots."""
    return " through " if display.is_for_reader else ".."


def moves_by_piece(game: Game, origin: Square | None, width: int, between: str = "..") -> list[str]:
    """List the legal moves of the side to move, or of the piece on `origin`.

    Moves are grouped by piece and kind, in the words of the commands. For a piece of the other
    side, that side is taken to be on move.

    Args:
        game: the battle.
        origin: the square of the piece; None for all pieces.
        width: the width of the screen, in columns.
        between: the text between the ends of a range.
    """
    position, heading = as_moving(game, origin)
    pieces = _moves(game.ruleset, position, origin, between)
    if not pieces:
        return wrap(f"{heading}{_none(position, origin, _CANNOT_MOVE)}", width)
    rows = [_could(heading, *piece) if heading else ": ".join(piece) for piece in pieces]
    return wrap_each(rows, width, "    ")


@lru_cache(maxsize=_KEPT)
def _moves(
    ruleset: Ruleset, position: Position, origin: Square | None, between: str
) -> tuple[tuple[str, str], ...]:
    """Return each piece with moves, or the one on `origin`, and its moves in words."""
    return tuple(
        (_piece(moves), "; ".join(_kinds(moves, between)))
        for moves in _by_piece(ruleset, position, origin)
    )


def captures_by_piece(
    game: Game, origin: Square | None, between: str = "..", side: Side | None = None
) -> list[str]:
    """Return a sentence on the captures of each piece.

    The arguments are as in `moves_by_piece`; ``side`` is the side to list, None for the side to
    move or that of the piece.
    """
    if game.outcome:
        return ["The battle is over."]
    position, heading = as_moving(game, origin, side)
    pieces, more = _captures(game.ruleset, position, origin, between)
    if not pieces:
        return [f"{heading}{_none(position, origin, _CANNOT_CAPTURE)}"]
    facts = [
        f"{_could(heading, *piece)}." if heading else f"{capitalised(': '.join(piece))}."
        for piece in pieces
    ]
    return [*facts, *more]


@lru_cache(maxsize=_KEPT)
def _captures(
    ruleset: Ruleset, position: Position, origin: Square | None, between: str
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return each piece with captures, or the one on `origin`, and its captures in words.

    Further pieces are named in a sentence of their own.
    """
    most = MOST_KINDS if origin is None else None
    facts: list[tuple[str, str]] = []
    further: list[Square] = []
    for moves in _by_piece(ruleset, position, origin):
        captures = [move for move in moves if move.captures]
        if captures and len(facts) == MOST_PIECES:
            further.append(captures[0].origin)
        elif captures:
            kinds = _kinds(captures, between)
            more = ["and more"] if most and len(kinds) > most else []
            facts.append((_piece(captures), "; ".join([*kinds[:most], *more])))
    if not further:
        return tuple(facts), ()
    how = f'"captures {further[0]}" shows how.'
    return tuple(facts), (f"{join_words(further)} can capture, too: {how}",)


@lru_cache(maxsize=_KEPT)
def moves_of(ruleset: Ruleset, position: Position, origin: Square) -> tuple[Move, ...]:
    """Return the moves of a piece, with up to one trample more than is spelt out."""
    return tuple(ruleset.moves_from(position, origin, most_tramples=MOST_PATHS + 1))


def as_moving(game: Game, origin: Square | None, side: Side | None = None) -> tuple[Position, str]:
    """Return the position with the owner of the piece on move, and a heading if that isn't so."""
    position, turn = game.position, game.position.turn
    piece = position.piece_at(origin) if origin else None
    is_of_other = piece in game.ruleset.side_rules(turn.other).pieces
    if not is_of_other and side is not turn.other:
        return position, ""
    heading = f"(Not the {turn.other.plural}' turn.) "
    return position.passed(), heading


def _could(heading: str, piece: str, moves: str) -> str:
    """Return the moves that a piece would have if its side were on move."""
    noun, square = piece.split()
    return f"{heading}The {noun} on {square} could {moves}"


_CANNOT_MOVE = "can't move", "can't move"
_CANNOT_CAPTURE = "have no captures", "has no captures"
"""Predicates for a side and for a single piece."""


def _by_piece(
    ruleset: Ruleset, position: Position, origin: Square | None
) -> Iterator[Sequence[Move]]:
    """Yield the moves of each piece that has any, or of the one on `origin`."""
    # One more than is spelt out proves that there are more; there may be hundreds of thousands.
    most = MOST_PATHS + 1
    if origin:
        moves = ruleset.moves_from(position, origin, most_tramples=most)
    else:
        moves = ruleset.legal_moves(position, most_tramples=most)
    by_origin: defaultdict[int, list[Move]] = defaultdict(list)
    for move in moves:
        by_origin[move.origin.bit].append(move)
    for bit in sorted(by_origin):
        yield by_origin[bit]


def _none(position: Position, origin: Square | None, cannot: tuple[str, str]) -> str:
    """Return the sentence for a side or piece that can't do something, or for an empty square."""
    if origin is None:
        return f"The {position.turn.plural} {cannot[0]}."
    if not origin.is_on_board:
        return f"{origin} is off the board."
    piece = position.piece_at(origin)
    if piece is None:
        return f"Nothing stands on {origin}."
    if piece is Piece.STONE:
        return f"The Thudstone on {origin} never moves."
    return f"The {piece.noun} on {origin} {cannot[1]} now."


def _piece(moves: Sequence[Move]) -> str:
    return f"{moves[0].piece.noun} {moves[0].origin}"


def _kinds(moves: Sequence[Move], between: str) -> list[str]:
    """Group the moves of a piece by kind, in the words of the commands."""
    choices: defaultdict[tuple[Verb, int], list[Move]] = defaultdict(list)
    tramples = []
    for move in moves:
        if move.is_trample:
            tramples.append(move)
        else:
            choices[move.verb, move.target.bit].append(move)
    by_kind: defaultdict[tuple[str, str], list[Square]] = defaultdict(list)
    for (verb, target), options in choices.items():
        by_kind[verb.value, _choice(options)].append(square_at(target))
    kinds = [
        f"{kind} to {_ranges(moves[0].origin, targets, between)}{choice}"
        for (kind, choice), targets in by_kind.items()
    ]
    return kinds + _tramples(tramples)


def _choice(options: Sequence[Move]) -> str:
    """Return the choice of captures on the way to a target."""
    if options[0].captures == (options[0].target,):
        return ""  # a hurl captures its target
    captured = {move.captured_bits for move in options}
    none = " or none" if 0 in captured else ""
    captured.discard(0)
    return f" capturing {_some(captured)}{none}" if captured else ""


def _some(captured: set[int]) -> str:
    """Describe a choice of captures concisely.

    Args:
        captured: the possible sets of captured pieces as bitboards, without the empty set.
    """
    together = 0
    for each in captured:
        together |= each
    squares, sizes = squares_in(together), {each.bit_count() for each in captured}
    least, most = min(sizes), max(sizes)
    if len(captured) == sum(comb(len(squares), size) for size in range(least, most + 1)):
        if least == len(squares):
            return join_words(squares)
        if most == 1:
            return join_words(squares, "or")
        if most == len(squares):
            number = "any" if least == 1 else f"{least} or more"
            return f"{number} of {join_words(squares)}"
    return " or ".join(join_words(each) for each in sorted(map(squares_in, captured)))


def _tramples(moves: Sequence[Move]) -> list[str]:
    """Spell out the first tramples. They are sorted by length."""
    paths = [
        f"move to {move.target} capturing {', '.join(map(str, move.captures))}" for move in moves
    ]
    return [*paths[:MOST_PATHS], "and more ways to trample"] if len(paths) > MOST_PATHS else paths


def _ranges(origin: Square, targets: Iterable[Square], between: str) -> str:
    """Return targets, merging three or more in a row from `origin` to ranges such as ``B6..G6``."""
    rays: defaultdict[Direction | None, list[tuple[int, Square]]] = defaultdict(list)
    for target in targets:
        rays[direction_to(origin, target)].append((distance(origin, target), target))
    texts = []
    for ray in rays.values():
        # Within a range, the distance minus the index in the list is constant.
        for _, run in groupby(enumerate(sorted(ray)), key=lambda each: each[1][0] - each[0]):
            squares = [str(square) for _, (_, square) in run]
            is_range = len(squares) > 2
            texts.append(
                between.join((squares[0], squares[-1])) if is_range else ", ".join(squares)
            )
    return ", ".join(texts)


# Lines of pieces for hurls and shoves.

MOST_LINES = 12
"""The maximum number of a side's lines to list, the longest first."""

LINE_VERBS = {Capturing.HURL: Verb.HURL, Capturing.SHOVE: Verb.SHOVE}
"""The verbs for which pieces form lines."""

WITHOUT_LINES = {
    Capturing.TRAP: "dwarfs trap a troll between two of them",
    Capturing.TRAMPLE: "trolls trample a dwarf next to them",
}
"""Explanations for sides that capture without lines."""

WAYS = {direction: name for name, direction in COMPASS.items()}
GONE = {Verb.HURL: "hurled", Verb.SHOVE: "shoved"}


def lines_by_side(game: Game, side: Side | None) -> list[str]:
    """Return a sentence for each line of one side or of both."""
    if game.outcome:
        return ["The battle is over."]
    return list(_lines(game.ruleset, game.position, side))


@lru_cache(maxsize=_KEPT)
def _lines(ruleset: Ruleset, position: Position, side: Side | None) -> tuple[str, ...]:
    captures = {each: ruleset.side_rules(each).captures for each in Side}
    if not LINE_VERBS.keys() & set(captures.values()):
        return tuple(_without_lines(ruleset, position, captures.values()))
    facts = []
    for each in (position.turn, position.turn.other) if side is None else (side,):
        verb = LINE_VERBS.get(captures[each])
        if verb:
            facts += _lines_of(ruleset, position, each, verb)
        else:
            facts.append(f"{capitalised(WITHOUT_LINES[captures[each]])}.")
    return tuple(facts)


def _lines_of(ruleset: Ruleset, position: Position, side: Side, verb: Verb) -> list[str]:
    heading = [f"The {side.plural} threaten:"] if position.turn is not side else []
    position = replace(position, turn=side)
    pieces = position.bits(Piece.of(side))
    found: defaultdict[tuple[Square, int, str], list[Move]] = defaultdict(list)
    for moves in _by_piece(ruleset, position, None):
        front = moves[0].origin
        for move in _capturing_moves(ruleset, position, moves, verb):
            if direction := direction_to(front, move.target):
                length = line_length(pieces, front, direction)
                # A single piece is listed once for all directions.
                way = "" if length == 1 else WAYS[direction]
                found[front, length, way].append(move)
    if not found:
        return [f"No {side.value} can be {GONE[verb]} now."]
    longest = sorted(found, key=lambda line: -line[1])[:MOST_LINES]
    facts = heading + [_line_sentence(*line, found[line]) for line in longest]
    if len(found) > MOST_LINES:
        facts.append(f"And {pluralize(len(found) - MOST_LINES, 'more line')} of {side.plural}.")
    return facts


def _capturing_moves(
    ruleset: Ruleset, position: Position, moves: Sequence[Move], verb: Verb
) -> Iterator[Move]:
    """Yield a piece's capturing moves by a verb, with all captures, one for each target.

    A target reached by a plain move may be reachable by the verb as well, which only the rules can
    tell.
    """
    for bit in dict.fromkeys(move.target.bit for move in moves if move.captures):
        attempt = Attempt(verb, moves[0].origin, square_at(bit), EVERY)
        try:
            yield ruleset.resolve(position, attempt, position.turn)
        except IllegalMoveError:
            continue


def _line_sentence(front: Square, length: int, way: str, moves: Sequence[Move]) -> str:
    which = f"line of {length} going {way}, reach {length}" if way else "alone, reach 1"
    targets: defaultdict[str, list[Square]] = defaultdict(list)
    for move in moves:
        # A hurl captures on its target, which needs no mention.
        prey = [square for square in move.captures if square is not move.target]
        choice = (
            f" capturing {'any of ' if len(prey) > 1 else ''}{join_words(prey)}" if prey else ""
        )
        targets[choice].append(move.target)
    goes = [f"to {join_words(sorted(to), 'or')}{choice}" for choice, to in targets.items()]
    verb, piece = moves[0].verb.value, capitalised(moves[0].piece.noun)
    return f"{piece} {front}, {which}: {verb} {'; '.join(goes)}."


def _without_lines(
    ruleset: Ruleset, position: Position, captures: Iterable[Capturing]
) -> list[str]:
    """Return sentences for a ruleset without lines."""
    facts = [
        f"Under {ruleset.name} rules nobody is hurled or shoved.",
        f"{capitalised('; '.join(WITHOUT_LINES[each] for each in captures))}.",
        '"captures" lists the possible captures.',
    ]
    position = replace(position, turn=Side.DWARF)
    for square in position.squares(Piece.ROCK):
        targets = [move.target for move in ruleset.moves_from(position, square)]
        can = f"could go to {join_words(targets, 'or')}" if targets else "can't go anywhere now"
        facts.append(f"The Rock on {square} {can}.")
    return facts
