"""Shapes of the pieces and colour schemes, from the files that the web page uses too.

``pieces.svg`` has a symbol for each piece. ``schemes.css`` defines the colours that the symbols and
the board refer to. Both files are read on import: they're part of the code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from thudmud.errors import InvalidValueError
from thudmud.rules import Piece

Colours = Mapping[str, str]
"""The colours of a board by their names in ``schemes.css``, in the form ``#rrggbb``."""

_FOLDER = Path(__file__).parents[1] / "web" / "page"
_BLOCK = re.compile(r'(?::root|\[data-scheme="(\w+)"\]) \{(.*?)\n\}', re.DOTALL)
_COLOUR = re.compile(r"--([\w-]+): (?:light-dark\((#\w{6}), (#\w{6})\)|(#\w{6}));")
_HEX = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)
_SYMBOL = re.compile(r'<symbol id="(\w+)"[^>]*>\s*(.*?)\s*</symbol>', re.DOTALL)
_NAMED = re.compile(r"var\(--([\w-]+)\)")


def _schemes(css: str) -> Mapping[str, Colours]:
    schemes: dict[str, Colours] = {}
    base: tuple[dict[str, str], ...] = ({}, {})
    for name, block in _BLOCK.findall(css):
        pairs = [
            (key, light or one, dark or one) for key, light, dark, one in _COLOUR.findall(block)
        ]
        light, dark = ({**base[at], **{each[0]: each[1 + at] for each in pairs}} for at in (0, 1))
        if not name:
            base = light, dark
        title = name or "plain"
        schemes[title], schemes[f"{title} dark"] = MappingProxyType(light), MappingProxyType(dark)
    return MappingProxyType(schemes)


SCHEMES = _schemes((_FOLDER / "schemes.css").read_text("utf-8"))
SCHEME = SCHEMES["plain"]

_SYMBOLS = {
    name: re.sub(r"\s*\n\s*", "", shapes)
    for name, shapes in _SYMBOL.findall((_FOLDER / "pieces.svg").read_text("utf-8"))
}


def require_colours(colours: Colours) -> None:
    """Raise InvalidValueError if a colour is missing or isn't of the form ``#rrggbb``."""
    for name in SCHEME:
        if not _HEX.fullmatch(str(colours.get(name, ""))):
            shown = repr(colours[name]) if name in colours else "none"
            raise InvalidValueError(
                f"expected a colour like {SCHEME[name]} for {name!r}, got {shown}"
            )


def symbols(colours: Colours, pieces: tuple[Piece, ...]) -> dict[Piece, tuple[str, str]]:
    """Return the ``<symbol>`` element of each piece in these colours, and the element's id.

    The id is derived from the shapes and colours. Several pictures can stand on one page, where the
    same id always denotes the same symbol.
    """
    return {piece: _symbol(piece, tuple(sorted(colours.items()))) for piece in pieces}


@lru_cache(maxsize=64)
def _symbol(piece: Piece, colours: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    name, shapes = piece.name.lower(), _painted(piece, dict(colours))
    key = f"thud-{name}-{sha256(shapes.encode()).hexdigest()[:8]}"
    return f'<symbol id="{key}" viewBox="0 0 1 1" overflow="visible">{shapes}</symbol>', key


def _painted(piece: Piece, colours: Colours) -> str:
    return _NAMED.sub(lambda named: colours[named[1]], _SYMBOLS[piece.name.lower()])


def icon(piece: Piece) -> str:
    """Draw a single piece as SVG, in the default colours."""
    start = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">'
    return f"{start}{_painted(piece, SCHEME)}</svg>"
