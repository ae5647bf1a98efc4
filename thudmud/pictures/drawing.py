"""Draws positions as SVG. Pure; a drawing contains no text from players.

The unit of length is a square of the board. Letters and numbers are drawn as strokes, so that they
look the same where no font is installed.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import hypot
from typing import Literal, NamedTuple

from thudmud.english import capitalised, pluralize
from thudmud.errors import InvalidValueError
from thudmud.pictures.pieces import SCHEME, Colours, require_colours, symbols
from thudmud.rules import SQUARES, Game, Move, Piece, Position, Square
from thudmud.rules.board import LETTERS, WIDTH

Orientation = Literal["south", "north"]
"""The side of the board at the bottom: "south" for row 15, "north" for row 1."""

Arrow = tuple[Square, Square]
"""The squares where an arrow begins and ends."""

LARGEST = 2048
"""The maximum width and height of a picture, in pixels."""

NOTEBOOK = 420
"""The width and height of a picture in a notebook, in pixels."""

_FRAME = 0.14  # the width of the frame around the squares
_LEFT = 0.7  # the margin for coordinates, left of the board and above it

EXTENT = 16
"""The width and height of a picture in squares: an integer, which all programs parse alike."""

LAST, FALLEN = "last", "fallen"
"""The colours that tint squares: the origin and target of the last ply, and its captures."""


def svg(
    position: Position,
    last: Move | None = None,
    arrows: Iterable[Arrow] = (),
    marks: Iterable[Square] = (),
    *,
    orientation: Orientation = "south",
    size: int | None = None,
    colours: Colours = SCHEME,
    coordinates: bool = True,
    title: str = "",
) -> str:
    """Draw a position as SVG, for a file of its own or to be embedded in a web page.

    ``<title>`` and ``<desc>`` describe the position, for screen readers.

    Args:
        position: the position.
        last: the ply that led to the position; its squares are tinted.
        arrows: pairs of squares to connect by an arrow, from the first to the second.
        marks: squares to ring.
        orientation: the side of the board at the bottom; "south" has row 1 at the top.
        size: the width and height in pixels; None to fill the available space.
        colours: one of `SCHEMES`, or a mapping with the same keys.
        coordinates: whether to draw letters and numbers beside the board.
        title: the title of the picture; by default the numbers of pieces and the side to move.

    Raises:
        InvalidValueError: a square is off the board, the size is out of range, the orientation is
            unknown, or a colour is missing or malformed.
    """
    arrows, marks = tuple(arrows), tuple(marks)
    require_look(orientation, size, colours)
    for square in [*marks, *(square for arrow in arrows for square in arrow)]:
        if not square.is_on_board:
            raise InvalidValueError(f"{square} is not on the board")
    is_flipped = orientation == "north"
    return draw(
        {piece: position.squares(piece) for piece in Piece},
        tints_of(last),
        [_ring(square, is_flipped, colours["mark"]) for square in marks]
        + [_arrow(arrow, is_flipped, colours["mark"]) for arrow in arrows],
        is_flipped=is_flipped,
        size=size,
        colours=colours,
        coordinates=coordinates,
        title=title or f"Thud: {_counts(position)}, {position.turn.plural} to move",
        description=described(position, last),
    )


def draw(
    pieces: Mapping[Piece, Sequence[Square]],
    tints: Mapping[str, Sequence[Square]],
    above: Sequence[str] = (),
    *,
    is_flipped: bool,
    size: int | None,
    colours: Colours,
    coordinates: bool,
    title: str = "",
    description: str = "",
) -> str:
    """Draw any number of pieces on tinted squares as SVG, without validation.

    Args:
        pieces: the squares of each piece.
        tints: the squares to tint, by the names of colours.
        above: SVG elements to draw over the pieces.
        is_flipped: whether row 1 is at the bottom.
        size: as for `svg`.
        colours: as for `svg`.
        coordinates: as for `svg`.
        title: the contents of ``<title>``.
        description: the contents of ``<desc>``.
    """
    start = start_of(coordinates=coordinates)
    side = "" if size is None else f' width="{size}" height="{size}"'
    standing = tuple(piece for piece in Piece if pieces.get(piece))
    drawn = symbols(colours, standing)
    return "".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg"'
            f' viewBox="{start} {start} {EXTENT} {EXTENT}"{side} role="img">'
            f"<title>{_words(title)}</title><desc>{_words(description)}</desc><defs>",
            *(symbol for symbol, _ in drawn.values()),
            f'</defs><path fill="{colours["ground"]}" d="M{start} {start}h16v16h-16z"/>',
            _board(colours["frame"], colours["square"], colours["odd"]),
            _coordinates(is_flipped, colours["labels"]) if coordinates else "",
            *(
                f'<path fill="{colours[name]}" opacity=".62" d="M{x} {y}h1v1h-1z"/>'
                for name, squares in tints.items()
                for x, y in (corner(square, is_flipped) for square in squares)
            ),
            *(
                f'<use href="#{drawn[piece][1]}" x="{x + 0.03:g}" y="{y + 0.03:g}"'
                ' width=".94" height=".94"/>'
                for piece in standing
                for x, y in (corner(square, is_flipped) for square in pieces[piece])
            ),
            *above,
            "</svg>",
        ]
    )


class Still(NamedTuple):
    """The contents of a picture of a battle.

    Attributes:
        position: the position.
        last: the ply that led to the position; None for the initial position.
        title: the title of the picture.
    """

    position: Position
    last: Move | None
    title: str

    @staticmethod
    def of(game: Game, ply: int | None = None) -> Still:
        """Return the contents of the picture of a battle.

        Args:
            game: the battle.
            ply: the number of plies played; None for all of them.

        Raises:
            InvalidValueError: the battle has fewer plies.
        """
        ply = len(game.moves) if ply is None else ply
        if not 0 <= ply <= len(game.moves):
            raise InvalidValueError(f"expected a ply from 0 to {len(game.moves)}, got {ply}")
        position = game.after(ply).position
        rules, plies = f"Thud, {game.ruleset.name} rules", pluralize(ply, "ply")
        title = f"{rules}, after {plies}: {_counts(position)}"
        return Still(position, game.moves[ply - 1] if ply else None, title)


def frame(
    game: Game,
    ply: int | None = None,
    *,
    orientation: Orientation = "south",
    size: int | None = None,
    colours: Colours = SCHEME,
    coordinates: bool = True,
) -> str:
    """Draw a battle as SVG: the position after ``ply`` plies, or the current one by default.

    Raises:
        InvalidValueError: the battle has fewer plies, or an argument is invalid for `svg`.
    """
    position, last, title = Still.of(game, ply)
    return svg(
        position,
        last,
        orientation=orientation,
        size=size,
        colours=colours,
        coordinates=coordinates,
        title=title,
    )


def described(position: Position, last: Move | None = None) -> str:
    """Describe a position in words: the squares of each kind of piece, and the last ply."""
    told = []
    for piece in Piece:
        if squares := position.squares(piece):
            names = ", ".join(map(str, squares))
            noun = piece.noun if piece.side is None or len(squares) == 1 else f"{piece.noun}s"
            told.append(f"{capitalised(noun)} on {names}.")
    if last:
        captured = f", capturing {', '.join(map(str, last.captures))}" if last.captures else ""
        told.append(f"Last: {last.piece.noun} {last.origin} to {last.target}{captured}.")
    return " ".join(told) or "The board is empty."


def require_look(orientation: str, size: int | None, colours: Colours, *, least: int = 1) -> None:
    """Raise InvalidValueError for an invalid orientation, size or colour.

    Args:
        orientation: as for `svg`.
        size: the width and height in pixels; None for any.
        colours: as for `svg`.
        least: the minimum size.
    """
    if orientation not in {"south", "north"}:
        raise InvalidValueError(f"expected 'south' or 'north' as orientation, got {orientation!r}")
    if size is not None and not least <= size <= LARGEST:
        limits = f"{least} to {LARGEST} pixels along an edge"
        raise InvalidValueError(f"expected {limits}, got {size}")
    require_colours(colours)


def tints_of(last: Move | None) -> dict[str, tuple[Square, ...]]:
    """Return the squares that a ply tints, keyed by the name of the tint."""
    if last is None:
        return {}
    path = {last.origin, last.target}
    return {LAST: tuple(sorted(path)), FALLEN: tuple(sorted(set(last.captures) - path))}


def _counts(position: Position) -> str:
    counts = (pluralize(position.count(piece), piece.noun) for piece in (Piece.DWARF, Piece.TROLL))
    return ", ".join(counts)


def _words(text: str) -> str:
    """Escape a string for SVG, without characters that XML doesn't allow."""
    return html.escape("".join(each for each in text if each.isprintable()))


def start_of(*, coordinates: bool) -> float:
    """Return the x and y coordinate of a picture's top left corner, in squares.

    The origin is the top left corner of the board's grid.
    """
    return -_LEFT if coordinates else -0.5


def corner(square: Square, is_flipped: bool) -> tuple[int, int]:  # noqa: FBT001  (where it stands)
    """Return the x and y coordinate of a square's top left corner on the picture, in squares."""
    end = WIDTH - 1
    return (end - square.column, end - square.row) if is_flipped else (square.column, square.row)


@lru_cache(maxsize=16)
def _board(edge: str, even: str, odd: str) -> str:
    near, far = 5 - _FRAME * 0.42, 10 + _FRAME * 0.42
    low, high = -_FRAME, WIDTH + _FRAME
    corners = [(near, low), (far, low), (high, near), (high, far)]
    corners += [(far, high), (near, high), (low, far), (low, near)]
    outline = "L".join(f"{x:g} {y:g}" for x, y in corners)
    paths = [f'<path fill="{edge}" d="M{outline}z"/>']
    for rest, fill in ((0, even), (1, odd)):
        cells = [each for each in SQUARES if (each.column + each.row) % 2 == rest]
        squares = "".join(f"M{each.column} {each.row}h1v1h-1z" for each in cells)
        paths.append(f'<path fill="{fill}" d="{squares}"/>')
    return "".join(paths)


def _ring(square: Square, is_flipped: bool, colour: str) -> str:  # noqa: FBT001
    x, y = corner(square, is_flipped)
    return (
        f'<circle cx="{x}.5" cy="{y}.5" r=".44" fill="none" stroke="{colour}" stroke-width=".09"/>'
    )


def _arrow(arrow: Arrow, is_flipped: bool, colour: str) -> str:  # noqa: FBT001
    (x, y), (to_x, to_y) = (corner(square, is_flipped) for square in arrow)
    right, down = to_x - x, to_y - y
    length = hypot(right, down)
    if not length:
        return _ring(arrow[0], is_flipped, colour)
    # Draw the arrow along the x axis, then rotate it and move it to the centre of the first square.
    turned = f"matrix({right / length:.4g} {down / length:.4g} {-down / length:.4g}"
    turned += f" {right / length:.4g} {x + 0.5:g} {y + 0.5:g})"
    neck = length - 0.55
    points = f"M0-.11H{neck:.4g}V-.32L{length:.4g} 0L{neck:.4g}.32V.11H0z"
    return f'<path fill="{colour}" opacity=".8" transform="{turned}" d="{points}"/>'


_GLYPHS = {
    "A": "M0 6L2 0L4 6M.7 4H3.3",
    "B": "M0 0V6H2.5Q4 6 4 4.5T2.5 3H0M2.3 3Q3.6 3 3.6 1.5T2.3 0H0",
    "C": "M4 1.2Q3.4 0 2 0Q0 0 0 3T2 6Q3.4 6 4 4.8",
    "D": "M0 0V6H1.5Q4 6 4 3T1.5 0z",
    "E": "M4 0H0V6H4M0 3H3.2",
    "F": "M4 0H0V6M0 3H3.2",
    "G": "M4 1.2Q3.4 0 2 0Q0 0 0 3T2 6Q4 6 4 3.4H2.4",
    "H": "M0 0V6M4 0V6M0 3H4",
    "I": "M2 0V6",
    "J": "M3.5 0V4.4Q3.5 6 1.9 6Q.6 6 .3 4.7",
    "K": "M0 0V6M4 0L0 3.6M1.4 2.4L4 6",
    "L": "M0 0V6H3.8",
    "M": "M0 6V0L2 4L4 0V6",
    "N": "M0 6V0L4 6V0",
    "O": "M2 0Q0 0 0 3T2 6T4 3T2 0z",
    "0": "M2 0Q.2 0 .2 3T2 6T3.8 3T2 0z",
    "1": "M.8 1.2L2.2 0V6",
    "2": "M.3 1.5Q.5 0 2 0T3.7 1.6Q3.7 2.6 2.6 3.6L.2 6H3.9",
    "3": "M.4 1.1Q.9 0 2 0Q3.6 0 3.6 1.5T1.6 2.9Q3.9 2.9 3.9 4.5T2 6Q.6 6 .1 4.8",
    "4": "M3 6V0L0 4.2H4",
    "5": "M3.6 0H.7L.4 2.8Q1 2.2 2 2.2Q3.9 2.2 3.9 4.1T2 6Q.7 6 .1 4.9",
    "6": "M3.4.4Q.2 0 .2 4.1Q.2 6 2 6T3.8 4.1T2 2.3Q.5 2.3.2 4",
    "7": "M.1 0H3.9L1.5 6",
    "8": "M2 0Q.5 0 .5 1.4T2 2.8T3.5 1.4T2 0M2 2.8Q.1 2.8.1 4.4T2 6T3.9 4.4T2 2.8",
    "9": "M.6 5.6Q3.8 6 3.8 1.9Q3.8 0 2 0T.2 1.9T2 3.7Q3.5 3.7 3.8 2",
}
"""The strokes of letters and digits, 4 units wide and 6 high."""
_SCALE, _ADVANCE = 0.043, 6.2


@lru_cache(maxsize=16)
def _coordinates(is_flipped: bool, colour: str) -> str:  # noqa: FBT001
    start = f'<g fill="none" stroke="{colour}" stroke-width=".95" stroke-linecap="round">'
    labels = [start]
    for each in range(WIDTH):
        at = WIDTH - 1 - each if is_flipped else each
        labels += [_label(LETTERS[each], at + 0.5, -0.42), _label(str(each + 1), -0.42, at + 0.5)]
    return "".join([*labels, "</g>"])


def _label(text: str, x: float, y: float) -> str:
    """Draw a string centred on a point."""
    left, step, top = x - _SCALE * (_ADVANCE * (len(text) - 1) + 4) / 2, _SCALE * _ADVANCE, y - 0.13
    return "".join(
        f'<path transform="translate({round(left + step * at, 2):g} {round(top, 2):g})'
        f' scale({_SCALE})" d="{_GLYPHS[each]}"/>'
        for at, each in enumerate(text)
    )
