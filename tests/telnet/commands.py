"""Telnet commands and options as bytes, and helpers that frame client messages."""

from __future__ import annotations

IAC, DONT, DO, WONT, WILL, SB, SE = b"\xff", b"\xfe", b"\xfd", b"\xfc", b"\xfb", b"\xfa", b"\xf0"
GA, END = IAC + b"\xf9", IAC + b"\xef"
"""What ends a prompt: GA, or EOR's mark."""

BINARY, ECHO, SGA, TM, TTYPE, EOR = b"\x00", b"\x01", b"\x03", b"\x06", b"\x18", b"\x19"
NAWS, TSPEED, NEW_ENVIRON, CHARSET = b"\x1f", b"\x20", b"\x27", b"\x2a"
MSSP, MCCP2, GMCP = b"\x46", b"\x56", b"\xc9"


def framed(option: bytes, payload: bytes = b"") -> bytes:
    """Return a sub-negotiation with its payload escaped."""
    return IAC + SB + option + payload.replace(IAC, IAC + IAC) + IAC + SE


def naws(columns: int, rows: int = 24) -> bytes:
    """Return the NAWS message for a window of this size."""
    return framed(NAWS, columns.to_bytes(2, "big") + rows.to_bytes(2, "big"))
