"""Splits bytes of text, without telnet commands, into lines of printable characters. Pure."""

from __future__ import annotations

import re
import unicodedata

from thudmud.telnet.interface import Line, Overlong

_MAX_CHARACTER = 4  # bytes, in UTF-8
_ERASES_CHARACTER = "\b\x7f"
_ERASES_LINE = "\x15"
_JOINERS = "\u200c\u200d"  # invisible, but part of words in several scripts, and of emoji
# Cursor and function keys send CSI and SS3 sequences if the client doesn't handle the keys itself
# (ECMA-48, section 5.4). They are removed whole, so that no "[A" is left in the line. Two kinds of
# terminals break the standard: the console of Linux sends CSI [ A for F1, and rxvt ends a sequence
# with "$" for Shift, where a final letter would have to follow.
_KEY = re.compile(r"\x1b(?:\[(?:\[[A-E]|[0-9]+\$|[0-?]*[ -/]*(?:[@-~]|$))|O[0-9]?(?:[A-Za-z]|$))")
# The error handler surrogateescape decodes an invalid byte 0x80..0xFF as U+DC80..U+DCFF.
_LATIN_1 = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}


class LineSplitter:
    """Splits a stream of bytes into lines, independently of how it was split into packets.

    A line ends with CR LF, CR NUL, LF or CR. However long a line is, no more than four bytes for
    each character of the limit are buffered.

    Args:
        limit: the most characters of a line.
    """

    __slots__ = ("_after_return", "_held", "_limit", "_overlong")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._overlong = False
        self._after_return = False

    def feed(self, data: bytes) -> list[Line]:
        """Return the lines completed by ``data``, in order, and buffer the incomplete rest."""
        if self._after_return and data:
            self._after_return = False
            if data[0] in b"\n\0":
                data = data[1:]
        if b"\r" in data:
            self._after_return = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r\0", b"\n").replace(b"\r", b"\n")
        *ended, rest = data.split(b"\n")
        lines: list[Line] = []
        for piece in ended:
            if self._held or self._overlong or len(piece) > self._limit:
                self._hold(piece)
                lines.append(self._line())
            else:  # the common case: a line in one piece
                text = piece.decode("utf-8", "surrogateescape")
                lines.append(text if text.isprintable() else readable(piece))
        if rest:
            self._hold(rest)
        return lines

    def _hold(self, piece: bytes) -> None:
        if len(self._held) + len(piece) > self._limit * _MAX_CHARACTER:
            self._overlong = True
            self._held.clear()
        elif not self._overlong:
            self._held += piece

    def _line(self) -> Line:
        text = readable(bytes(self._held))
        overlong = self._overlong or len(text) > self._limit
        self._held.clear()
        self._overlong = False
        return Overlong.LINE if overlong else text


def readable(raw: bytes) -> str:
    """Decode the bytes of one line to printable text.

    The encoding is UTF-8; bytes that aren't valid UTF-8 are decoded as Latin-1. Backspace and DEL
    delete the character before them, Control-U the whole line. White space of any kind becomes
    blanks; all other unprintable characters are dropped.
    """
    text = raw.decode("utf-8", "surrogateescape")
    if text.isprintable():
        return text
    kept: list[str] = []
    for char in _KEY.sub("", text.translate(_LATIN_1)):
        if char in _ERASES_CHARACTER:
            del kept[-1:]
        elif char == _ERASES_LINE:
            kept.clear()
        elif char == "\t" or unicodedata.category(char) == "Zs":
            kept.append(" ")
        elif char.isprintable() or char in _JOINERS:
            kept.append(char)
    return "".join(kept)
