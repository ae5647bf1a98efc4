"""What the rules of the grammar about options and queries build.

Owns the same as `thudmud.commands.building`, for those, and what positions and keywords stand for.
Must never read a line.
"""

# ruff: noqa: D102 (a method says no more than its name, which is that of a rule)

from __future__ import annotations

import re

from lark import Token, Transformer, v_args

from thudmud.commands.options import (
    SHADES,
    Charset,
    Colour,
    Element,
    OptionCommand,
    Orient,
    Scheme,
    SetCharset,
    SetColour,
    SetElement,
    SetMachine,
    SetOrient,
    SetReader,
    SetScheme,
    SetWidth,
    Shade,
    ShowOptions,
    ShowScheme,
    Switch,
)
from thudmud.commands.queries import (
    Around,
    Captures,
    LastMove,
    Lines,
    Query,
    ScanColumn,
    ScanRow,
    Where,
)
from thudmud.rules import Piece, Side, Square
from thudmud.rules.board import LETTERS

_GREY = SHADES.index("bright black")


def spoken(terminal: str) -> str:
    """Return the word that a terminal is named for: ``_KOOM_VALLEY`` -> koom valley, utf-8."""
    return re.sub("_(?=[0-9])", "-", terminal.strip("_")).replace("_", " ").lower()


def square(position: Token) -> Square:
    """Return the square of a position, which may hold a blank."""
    return Square.parse(position.replace(" ", ""))


@v_args(inline=True)
class QueryBuilder(Transformer[Token, Query]):
    """Builds the queries."""

    def where(self, piece: Token, on: str | None) -> Where:
        return Where(Piece[piece.type], on)

    def scan_row(self, row: Token, on: str | None) -> ScanRow:
        return ScanRow(int(row) - 1, on)

    def scan_column(self, column: Token, on: str | None) -> ScanColumn:
        return ScanColumn(LETTERS.index(column.upper()), on)

    def around(self, centre: Token, on: str | None) -> Around:
        return Around(square(centre), on)

    def lines(self, side: Token | None, on: str | None) -> Lines:
        return Lines(None if side is None else Side[side.type], on)

    def captures(self, origin: Token | None, on: str | None) -> Captures:
        return Captures(None if origin is None else square(origin), on)

    def last_move(self, *words: Token | str | None) -> LastMove:
        return LastMove(words[-1])


@v_args(inline=True)
class OptionBuilder(Transformer[Token, OptionCommand]):
    """Builds the commands about options, and the values in them."""

    def show_options(self) -> ShowOptions:
        return ShowOptions()

    def set_charset(self, value: Token) -> SetCharset:
        return SetCharset(Charset[value.type])

    def set_colour(self, value: Switch) -> SetColour:
        return SetColour(value)

    def set_scheme(self, value: Token) -> SetScheme:
        return SetScheme(Scheme[value.type])

    def show_scheme(self) -> ShowScheme:
        return ShowScheme()

    def set_element(self, element: Element, colour: Colour | None) -> SetElement:
        return SetElement(element, colour)

    def set_width(self, columns: Token) -> SetWidth:
        return SetWidth(None if columns.type == "AUTO" else int(columns))

    def set_orient(self, value: Token) -> SetOrient:
        return SetOrient(Orient[value.type])

    def set_reader(self, value: Switch) -> SetReader:
        return SetReader(value)

    def set_machine(self, value: Switch) -> SetMachine:
        return SetMachine(value is Switch.ON)

    def option_switch(self, value: Token) -> Switch:
        return Switch(spoken(value.type))

    option_whether = option_switch

    def option_element(self, *words: Token) -> Element:
        return Element.LAST_MOVE if words[0].type == "LAST" else Element[words[0].type]

    def option_colour(self, *parts: Token | Colour | None) -> Colour:
        foreground, background, bold = None, None, False
        for part in parts:
            if isinstance(part, Colour):
                background = part.background
            elif part is not None and part.type == "BOLD":
                bold = True
            elif part is not None:
                foreground = _shade(part)
        return Colour(foreground, background, bold)

    def option_ground(self, shade: Token) -> Colour:
        return Colour(background=_shade(shade))

    def option_plain(self) -> Colour:
        return Colour()

    def option_default(self, _: Token) -> None:
        return None


def _shade(words: Token) -> Shade:
    text = words.lower()
    if text in SHADES:
        return SHADES.index(text)
    if text in {"grey", "gray"}:
        return _GREY
    if text.startswith("#"):
        red, green, blue = bytes.fromhex(text[1:])
        return red, green, blue
    return int(text)
