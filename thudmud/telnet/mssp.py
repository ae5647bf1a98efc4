"""MSSP: what lists of games and their crawlers are told of a server. Pure.

The specification is at https://tintin.mudhalla.net/protocols/mssp/.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

REQUEST = "MSSP-REQUEST"
"""The line, instead of a name, that asks for the plain text."""

_VAR, _VAL = b"\x01", b"\x02"
_UNFIT = re.compile(
    r"[\x00-\x1f\x7f]"
)  # control characters, some of which separate names and values

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
    """Return what is told, by the names of MSSP.

    Args:
        players: how many there are now.
        booted: when the server started, in seconds since the epoch.
        port: where it listens.
        tls_port: where it listens for TLS; 0 for nowhere.
        compresses: whether MCCP2 is on.
        listing: what the operator wants to tell; what is "" is left out.
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
    """Return the variables as a sub-negotiation carries them."""
    return b"".join(
        _VAR + name.encode() + _VAL + _UNFIT.sub(" ", value).encode("utf-8", "replace")
        for name, value in variables.items()
    )


def in_text(variables: Mapping[str, str]) -> str:
    """Return the variables as lines: a name, a tab, a value."""
    lines = [f"{name}\t{_UNFIT.sub(' ', value)}" for name, value in variables.items()]
    return "\n".join(["", "MSSP-REPLY-START", *lines, "MSSP-REPLY-END"])
