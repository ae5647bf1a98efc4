"""Colours: schemes for the elements of a board, and SGR sequences with the nearest colours.

Colours only repeat information that letters, marks and words convey, too. All coloured text ends
with a reset on the same line.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby

from thudmud.game.options import Colour, Element, Scheme, Shade
from thudmud.values import replace
from thudmud.views.view import PALETTE, SIXTEEN, TRUE_COLOUR, Display
from thudmud.views.words import GLUE, wrap

NONE = Colour()

Run = tuple[str, Colour]
"""Text without a line end, and its colour."""
Phrase = tuple[str, Element | None]
"""Words, and the element that gives them their colour."""


def colour_of(element: Element, display: Display) -> Colour:
    """Return the colour of an element on a display; `NONE` without colours."""
    if not display.colours:
        return NONE
    own = dict(display.elements).get(element)
    if own is not None:
        return own
    few = display.colours == SIXTEEN and display.scheme in _SIXTEEN
    return (_SIXTEEN if few else _SCHEMES)[display.scheme].get(element, NONE)


def with_ground(colour: Colour, ground: Colour) -> Colour:
    """Return a colour with the background of `ground`, unless it has its own."""
    if colour.background is not None or ground.background is None:
        return colour
    return replace(colour, background=ground.background)


def join_runs(runs: Iterable[Run], display: Display) -> str:
    """Join runs into a string. Adjacent runs of the same colour share an escape sequence."""
    if not display.colours:
        return "".join([text for text, _ in runs])
    return "".join(
        _painted("".join(text for text, _ in same), colour, display.colours)
        for colour, same in groupby(runs, key=lambda run: run[1])
    )


_BLANKS = " ", GLUE


def wrap_phrases(phrases: Iterable[Phrase], width: int, indent: str, display: Display) -> list[str]:
    """Wrap coloured phrases as one string; a phrase keeps its colour across line breaks."""
    phrases = list(phrases)
    lines = wrap("".join([words for words, _ in phrases]), width, indent)
    if not display.colours:
        return lines
    letters = iter([each for words, each in phrases for char in words if char not in _BLANKS])
    drawn = []
    for line in lines:
        elements = [None if char.isspace() else next(letters) for char in line]
        # A blank has the colour of its neighbours if they agree, so that backgrounds have no gaps.
        for at, char in enumerate(line[1:-1], 1):
            if char.isspace() and elements[at - 1] is elements[at + 1]:
                elements[at] = elements[at - 1]
        colours = [colour_of(each, display) if each else NONE for each in elements]
        drawn.append(join_runs(zip(line, colours, strict=True), display))
    return drawn


def _painted(text: str, colour: Colour, colours: int) -> str:
    start = _sgr(colour, colours)
    return f"{start}{text}{_RESET}" if start and text else text


_RESET = "\x1b[0m"


@lru_cache(maxsize=1024)
def _sgr(colour: Colour, colours: int) -> str:
    """Return the SGR sequence that starts a colour; "" for none."""
    codes = ["1"] if colour.bold else []
    if colour.foreground is not None:
        codes.append(_code(nearest(colour.foreground, colours), 30))
    if colour.background is not None:
        codes.append(_code(nearest(colour.background, colours), 40))
    return f"\x1b[{';'.join(codes)}m" if colours and codes else ""


def _code(shade: Shade, base: int) -> str:
    """Return the SGR parameters of a shade. `base` is 30 for foreground, 40 for background."""
    if isinstance(shade, tuple):
        red, green, blue = shade
        return f"{base + 8};2;{red};{green};{blue}"
    if shade >= SIXTEEN:
        return f"{base + 8};5;{shade}"
    return str(base + shade if shade < 8 else base + 60 + shade - 8)


def nearest(shade: Shade, colours: int) -> Shade:
    """Return the nearest shade in a palette of `colours` colours."""
    if colours >= TRUE_COLOUR or (isinstance(shade, int) and shade < colours):
        return shade
    # Terminals differ in the first 16 of 256 colours, but not in the others.
    among = range(SIXTEEN, PALETTE) if colours == PALETTE else range(SIXTEEN)
    wanted = shade if isinstance(shade, tuple) else PALETTE_RGB[shade]
    return min(among, key=lambda index: _distance(wanted, PALETTE_RGB[index]))


def _distance(one: tuple[int, int, int], other: tuple[int, int, int]) -> int:
    """Return the perceived distance of two RGB colours, by the "redmean" approximation."""
    red, green, blue = (a - b for a, b in zip(one, other, strict=True))
    mean = (one[0] + other[0]) // 2
    return (512 + mean) * red * red + 1024 * green * green + (767 - mean) * blue * blue


def _palette() -> tuple[tuple[int, int, int], ...]:
    """Return the 256-colour palette, with xterm's values for the first 16."""
    levels = (0, 95, 135, 175, 215, 255)
    dark = [(0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0)]
    dark += [(0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229)]
    bright = [(127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0)]
    bright += [(92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255)]
    cube = [(red, green, blue) for red in levels for green in levels for blue in levels]
    greys = [(level, level, level) for level in range(8, 239, 10)]
    return (*dark, *bright, *cube, *greys)


PALETTE_RGB = _palette()
"""RGB values of the 256-colour palette."""


def as_hex(shade: Shade | None) -> str | None:
    """Return a shade as ``#rrggbb``, or None for None."""
    if shade is None:
        return None
    return "#{:02x}{:02x}{:02x}".format(*(PALETTE_RGB[shade] if isinstance(shade, int) else shade))


_BLACK, _RED, _GREEN, _YELLOW, _BLUE, _MAGENTA, _CYAN, _WHITE = range(8)
_BRIGHT = 8
_ORANGE_RGB, _BLUE_RGB, _YELLOW_RGB = (230, 159, 0), (0, 114, 178), (240, 228, 66)
_PURPLE_RGB, _GREEN_RGB, _VERMILION_RGB = (204, 121, 167), (0, 158, 115), (213, 94, 0)
_SKY_RGB = (0, 135, 215)  # not Okabe and Ito's: their blue, made readable on black and on white
_BLACK_RGB, _WHITE_RGB = (0, 0, 0), (255, 255, 255)

_Table = dict[Element, Colour]

_SCHEMES: dict[Scheme, _Table] = {
    # Readable on a black screen and on a white one, in 16 colours.
    Scheme.PLAIN: {
        Element.DWARF: Colour(_RED, bold=True),
        Element.TROLL: Colour(_BRIGHT + _BLUE, bold=True),
        Element.STONE: Colour(bold=True),
        Element.ROCK: Colour(_CYAN, bold=True),
        Element.LAST_MOVE: Colour(_GREEN, bold=True),
        Element.CAPTURED: Colour(_MAGENTA, bold=True),
        Element.TURN: Colour(bold=True),
    },
    # With its own green background on any screen.
    Scheme.VIVID: {
        Element.DWARF: Colour(226, 22, bold=True),
        Element.TROLL: Colour(231, 22, bold=True),
        Element.STONE: Colour(51, 22, bold=True),
        Element.ROCK: Colour(214, 22, bold=True),
        Element.SQUARES: Colour(71, 22),
        Element.LAST_MOVE: Colour(16, 220),
        Element.CAPTURED: Colour(231, 160, bold=True),
        Element.COORDINATES: Colour(33),
        Element.TURN: Colour(16, 220),
    },
    # For dark rooms: neither bold nor bright.
    Scheme.DIM: {
        Element.DWARF: Colour(137),
        Element.TROLL: Colour(67),
        Element.STONE: Colour(246),
        Element.ROCK: Colour(97),
        Element.SQUARES: Colour(242),
        Element.LAST_MOVE: Colour(101),
        Element.CAPTURED: Colour(131),
        Element.COORDINATES: Colour(242),
        Element.TURN: Colour(246),
    },
    # Okabe and Ito's colours. Orange and blue differ for everybody, also in lightness.
    Scheme.SAFE: {
        Element.DWARF: Colour(_BLACK_RGB, _ORANGE_RGB),
        Element.TROLL: Colour(_WHITE_RGB, _BLUE_RGB, bold=True),
        Element.STONE: Colour(_PURPLE_RGB, bold=True),
        Element.ROCK: Colour(_GREEN_RGB, bold=True),
        Element.LAST_MOVE: Colour(_BLACK_RGB, _YELLOW_RGB),
        Element.CAPTURED: Colour(_BLACK_RGB, _VERMILION_RGB),
        Element.COORDINATES: Colour(_SKY_RGB),
        Element.TURN: Colour(_BLACK_RGB, _YELLOW_RGB),
    },
}
"""The schemes. Elements left out have no colour."""

_SIXTEEN: dict[Scheme, _Table] = {
    Scheme.VIVID: {
        Element.DWARF: Colour(_BRIGHT + _YELLOW, _BLUE, bold=True),
        Element.TROLL: Colour(_BRIGHT + _WHITE, _BLUE, bold=True),
        Element.STONE: Colour(_BRIGHT + _CYAN, _BLUE, bold=True),
        Element.ROCK: Colour(_BRIGHT + _MAGENTA, _BLUE, bold=True),
        Element.SQUARES: Colour(_CYAN, _BLUE),
        Element.LAST_MOVE: Colour(_BLACK, _YELLOW),
        Element.CAPTURED: Colour(_BRIGHT + _WHITE, _RED, bold=True),
        Element.COORDINATES: Colour(_BRIGHT + _BLUE),
        Element.TURN: Colour(_BLACK, _YELLOW),
    },
    Scheme.DIM: {
        Element.DWARF: Colour(_YELLOW),
        Element.TROLL: Colour(_CYAN),
        Element.ROCK: Colour(_MAGENTA),
        Element.SQUARES: Colour(_BRIGHT + _BLACK),
        Element.LAST_MOVE: Colour(_GREEN),
        Element.CAPTURED: Colour(_RED),
        Element.COORDINATES: Colour(_BRIGHT + _BLACK),
    },
    Scheme.SAFE: {
        Element.DWARF: Colour(_BLACK, _YELLOW),
        Element.TROLL: Colour(_BRIGHT + _WHITE, _BLUE, bold=True),
        Element.STONE: Colour(_MAGENTA, bold=True),
        Element.ROCK: Colour(_CYAN, bold=True),
        Element.LAST_MOVE: Colour(_BLACK, _WHITE),
        Element.CAPTURED: Colour(_BRIGHT + _WHITE, _RED, bold=True),
        Element.COORDINATES: Colour(_BRIGHT + _BLUE),
        Element.TURN: Colour(_BLACK, _WHITE),
    },
}
"""Variants for 16 colours of schemes whose nearest colours would be unusable."""
