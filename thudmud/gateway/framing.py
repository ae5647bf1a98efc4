"""Bytes as they come -> lines.

Where a line ends, and what is done about one that is too long.
"""

from __future__ import annotations

from collections.abc import Iterator


class LineBuffer:
    """Puts lines together from pieces. A line that is too long is told of once, and not kept.

    Args:
        longest: the most bytes that a line may have, without its end.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._begun = bytearray()
        self._skips = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield the lines that end in ``data``, without their ends; None for one too long."""
        *whole, rest = data.split(b"\n")
        for piece in whole:
            yield from self._take(piece)
            if not self._skips:
                yield bytes(self._begun).removesuffix(b"\r")
            self._begun.clear()
            self._skips = False
        yield from self._take(rest)

    def end(self) -> Iterator[bytes]:
        """Yield what has come after the last end of a line, if anything has."""
        if self._begun:
            yield bytes(self._begun)

    def _take(self, piece: bytes) -> Iterator[None]:
        if self._skips:
            return
        self._begun += piece
        if len(self._begun) > self._longest:
            self._begun.clear()
            self._skips = True
            yield None
