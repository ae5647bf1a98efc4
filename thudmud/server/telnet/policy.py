"""What holds for all connections of a server.

Owns these values and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from thudmud.server.telnet.turn import Turn


def _nothing() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class TelnetPolicy:
    """How much a telnet client may send of each thing, and what it is offered.

    Attributes:
        max_line: the most characters that a line may have.
        max_subnegotiation: the most bytes that telnet may carry between the lines at once; more is
            dropped without being kept.
        option_changes: how many wishes about options a client has; no more are listened to.
        compress: whether to offer MCCP2.
        status: returns what a list of games wants to know, by the names of MSSP.
        turn: at whose end everybody is sent what they have been shown.
    """

    max_line: int
    max_subnegotiation: int = 4096
    option_changes: int = 100
    compress: bool = False
    status: Callable[[], Mapping[str, str]] = field(default=_nothing)
    turn: Turn = field(default_factory=Turn)
