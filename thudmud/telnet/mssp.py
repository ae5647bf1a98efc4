"""MSSP, the Mud Server Status Protocol: describes the server to the crawlers of game lists. Pure.

The specification is at https://tintin.mudhalla.net/protocols/mssp/.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

REQUEST = "MSSP-REQUEST"
"""The line that requests the variables as plain text, at the name prompt."""

_VAR, _VAL = b"\x01", b"\x02"
_UNFIT = re.compile(r"[\x00-\x1f\x7f]")  # control characters: some are separators of the protocol

_ALWAYS = {
    "CODEBASE": "thudmud",
    "FAMILY": "Custom",
    "GENRE": "Fantasy",
    "SUBGENRE": "Discworld",
    "GAMEPLAY": "Strategy",
    "STATUS": "Beta",
    "LANGUAGE": "English",
    "ANSI": "1",
    "UTF-8": "1",
    "XTERM 256 COLORS": "1",
    "XTERM TRUE COLORS": "1",
    "GMCP": "1",
    "MXP": "0",
    "MSDP": "0",
    "MSP": "0",
    "PAY TO PLAY": "0",
    "PAY FOR PERKS": "0",
}


def status(
    *,
    players: int,
    booted: float,
    port: int,
    tls_port: int,
    compresses: bool,
    listing: Mapping[str, str],
) -> dict[str, str]:
    """Return the MSSP variables; the operator's can't override the server's own.

    Args:
        players: the number of players.
        booted: the time of the server's start, in seconds since the epoch.
        port: the telnet port.
        tls_port: the TLS port; 0 for none.
        compresses: whether MCCP2 is offered.
        listing: the operator's variables, of which empty ones are left out.
    """
    told = {name.upper(): value for name, value in listing.items() if value}
    return {
        **told,
        "PLAYERS": str(players),
        "UPTIME": str(int(booted)),
        "PORT": str(port),
        **_ALWAYS,
        "MCCP": str(int(compresses)),
        "SSL": str(tls_port),
    }


def packed(variables: Mapping[str, str]) -> bytes:
    """Encode variables as the payload of a sub-negotiation."""
    return b"".join(
        _VAR + name.encode() + _VAL + _UNFIT.sub(" ", value).encode("utf-8", "replace")
        for name, value in variables.items()
    )


def in_text(variables: Mapping[str, str]) -> str:
    """Format variables as the plain-text reply: lines of a name, a tab and a value."""
    lines = [f"{name}\t{_UNFIT.sub(' ', value)}" for name, value in variables.items()]
    return "\n".join(["", "MSSP-REPLY-START", *lines, "MSSP-REPLY-END"])
