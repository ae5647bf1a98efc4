"""MCCP2: what a client is sent, as one zlib stream.

Owns how hard it is compressed, and so what it costs. Must never know what the bytes mean.
"""

from __future__ import annotations

import zlib

_WINDOW, _EFFORT = 12, 5
"""A board is less than 1 KiB. These cost 32 KiB for each connection that is compressed, where
zlib's own defaults cost 256 KiB (zlib's manual: 2 ** (window + 2) + 2 ** (effort + 9))."""


class Compressor:
    """Compresses bytes, so that all that is put in can be read at the other end at once."""

    def __init__(self) -> None:
        self._zlib = zlib.compressobj(wbits=_WINDOW, memLevel=_EFFORT)

    def packed(self, data: bytes) -> bytes:
        """Return what to send for these bytes."""
        return self._zlib.compress(data) + self._zlib.flush(zlib.Z_SYNC_FLUSH)

    def end(self) -> bytes:
        """Return what to send at the end."""
        return self._zlib.flush(zlib.Z_FINISH)
