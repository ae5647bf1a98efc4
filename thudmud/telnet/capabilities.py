"""A client's capabilities: combines its statements about itself into a `Terminal`. Pure.

The sources are terminal types, MTTS (Mud Terminal Type Standard: bits that MUD clients send after
their types), character sets, MNES (Mud New-Environ Standard) variables, and GMCP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import IntFlag
from typing import TypeGuard

from thudmud.views.view import COLOURS, DEFAULT_WIDTH, PALETTE, SIXTEEN, TRUE_COLOUR, Terminal

MIN_WIDTH, MAX_WIDTH = 20, 500

_MOST = 1 << 31  # above the number of any battle, and the columns of any window
_MAX_TYPES = 8
"""The most terminal types that are requested; RFC 1091 lets a client have any number."""
_MAX_TYPE = 40  # characters (RFC 1091)
_MTTS = re.compile(r"MTTS (\d{1,5})", re.ASCII)
_UTF_8 = re.compile(r"UTF-?8", re.IGNORECASE)
_TRUE = re.compile(r"TRUECOLOU?R|24BIT|DIRECT")
_COLOURED = {
    "ALACRITTY", "ANSI", "CYGWIN", "FOOT", "GNOME", "ITERM", "ITERM2", "KITTY", "KONSOLE", "LINUX",
    "PUTTY", "RXVT", "SCREEN", "ST", "TERATERM", "TMUX", "VTE", "WEZTERM", "XTERM",
}  # fmt: skip
"""Terminals with 16 colours, whatever follows the name."""


class Mtts(IntFlag):
    """The bits of MTTS that are used."""

    ANSI = 1
    UTF_8 = 4
    COLOURS_256 = 8
    SCREEN_READER = 64
    TRUE_COLOUR = 256
    MNES = 512


NO_PACKAGES: frozenset[str] = frozenset()
"""A shared empty set, to save memory: ``frozenset()`` may create one for each connection."""


class Capabilities:
    """The capabilities that one client has stated so far.

    Attributes:
        packages: the GMCP packages that the client supports, in lower case.
        utf8: whether CHARSET agreed on UTF-8; None if it hasn't been negotiated.
    """

    def __init__(self) -> None:
        self.packages = NO_PACKAGES
        self.utf8: bool | None = None
        self._width, self._height = DEFAULT_WIDTH, 0
        self._types: list[str] = []
        self._mtts = Mtts(0)
        self._says_utf8 = False  # by its variables
        self._told_colours, self._told_reader, self._draws = 0, False, False  # by GMCP

    @property
    def terminal(self) -> Terminal:
        """The known capabilities of the client's terminal."""
        told = self._says_utf8 or Mtts.UTF_8 in self._mtts
        utf8 = told if self.utf8 is None else self.utf8
        return Terminal(
            width=self._width,
            supports_utf8=utf8,
            is_ascii_only=not utf8 and (self.utf8 is False or bool(self._mtts)),
            colours=max([self._told_colours, _by_bits(self._mtts), *map(_by_name, self._types)]),
            has_reader=self._told_reader or Mtts.SCREEN_READER in self._mtts,
            packages=self.packages,
            height=self._height,
            can_draw=self._draws,
        )

    @property
    def has_variables(self) -> bool:
        """Whether the client supports MNES variables."""
        return Mtts.MNES in self._mtts

    def set_size(self, columns: int, rows: int) -> None:
        """Set the window size; 0 columns mean an unknown width, or one left to us (RFC 1073)."""
        self._width = min(max(columns, MIN_WIDTH), MAX_WIDTH) if columns else DEFAULT_WIDTH
        self._height = rows

    def add_type(self, name: str) -> bool:
        """Add a terminal type; return whether to request the next one.

        A MUD client sends its own name, its terminal's, and then its bits, such as "MTTS 271". A
        client without MTTS ends its list by repeating the last name (RFC 1091).
        """
        name = name.upper()
        if bits := _MTTS.fullmatch(name):
            self._mtts = Mtts(int(bits[1]))
            return False
        if name in self._types or len(self._types) >= _MAX_TYPES or len(name) > _MAX_TYPE:
            return False
        self._types.append(name)
        return True

    def set_known(self, data: Mapping[str, object]) -> None:
        """Update the terminal by a ``Thud.Terminal`` package; missing values don't change."""
        columns, rows = data.get("width", self._width), data.get("height", self._height)
        if is_whole_number(columns) and is_whole_number(rows):
            self.set_size(columns, rows)
        number = data.get("colours")
        if is_whole_number(number):
            self._told_colours = max(each for each in COLOURS if each <= number)
        match data.get("reader"):
            case bool(reads):
                self._told_reader = reads
        match data.get("draws"):
            case bool(draws):
                self._draws = draws

    def set_variables(self, variables: Mapping[str, str]) -> None:
        """Update the terminal by MNES variables; missing ones don't change."""
        if "CHARSET" in variables:
            self._says_utf8 = is_utf8(variables["CHARSET"])
        bits = variables.get("MTTS", "")
        if bits.isdecimal() and bits.isascii() and len(bits) < 6:
            self._mtts = Mtts(int(bits))


def is_whole_number(given: object) -> TypeGuard[int]:
    """Return whether a JSON value is an integer of at least 0. JSON's true isn't."""
    return type(given) is int and 0 <= given < _MOST


def is_utf8(name: str) -> bool:
    """Return whether a character set's name means UTF-8."""
    return bool(_UTF_8.fullmatch(name))


def find_utf8(offer: bytes) -> bytes:
    """Return the name of UTF-8 as written in a client's list of character sets; b"" for none."""
    table = b"[TTABLE]"
    if offer.startswith(table):  # followed by a version of one byte (RFC 2066)
        offer = offer[len(table) + 1 :]
    names = offer[1:].split(offer[:1]) if offer else []
    return next((name for name in names if is_utf8(name.decode("ascii", "replace"))), b"")


def variables_in(payload: bytes) -> dict[str, str]:
    """Parse the variables of a NEW-ENVIRON sub-negotiation, after IS or INFO (RFC 1572)."""
    variables: dict[str, str] = {}
    name = ""
    for kind, text in _pieces(payload):
        if kind == _VALUE:
            if name:
                variables[name] = text
            name = ""
        else:
            name = text.upper()
    return variables


_VAR, _VALUE, _ESC, _USERVAR = range(4)


def _pieces(payload: bytes) -> Iterator[tuple[int, str]]:
    """Yield each name and value with its kind; the byte after an ESC is part of the text."""
    kind, text, escaped = _VALUE, bytearray(), False
    for byte in payload:
        if escaped or byte > _USERVAR:
            text.append(byte)
            escaped = False
        elif byte == _ESC:
            escaped = True
        else:
            yield kind, text.decode("utf-8", "replace")
            kind, text = byte, bytearray()
    yield kind, text.decode("utf-8", "replace")


def _by_bits(mtts: Mtts) -> int:
    if Mtts.TRUE_COLOUR in mtts:
        return TRUE_COLOUR
    if Mtts.COLOURS_256 in mtts:
        return PALETTE
    return SIXTEEN if Mtts.ANSI in mtts else 0


def _by_name(name: str) -> int:
    if _TRUE.search(name):
        return TRUE_COLOUR
    if "256" in name:
        return PALETTE
    kind, _, rest = name.partition("-")
    coloured = kind in _COLOURED and rest not in {"M", "MONO"}
    return SIXTEEN if coloured else 0
