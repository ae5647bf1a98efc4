"""What holds for all clients of a gateway."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GatewayPolicy:
    """What a gateway's client may do, and for how long things are kept for it.

    Attributes:
        secret: what a client has to know; "" where nobody is asked for it.
        max_line: the most bytes of a line that a client sends.
        outbox_bytes: how many bytes may wait to be acknowledged before a link is dropped.
        in_flight: how many requests of a client are carried out at once.
        links: how many clients may be connected.
        boards: how many boards may be open.
        players: how many players may be at one board.
        heartbeat: after how many seconds without a word a client is asked for one.
        hello_limit: how many seconds a client has to say who it is.
        resume_grace: how many seconds a session is kept whose link has dropped.
        close_grace: how many seconds a link may take to send its last words.
        quiet_plies: after how many plies without a capture one player may end a battle.
        seat_grace: how many seconds a player may be away before the other need not wait.
    """

    secret: str = ""
    max_line: int = 8192
    outbox_bytes: int = 1_048_576
    in_flight: int = 64
    links: int = 16
    boards: int = 1000
    players: int = 200
    heartbeat: float = 30.0
    hello_limit: float = 10.0
    resume_grace: float = 600.0
    close_grace: float = 3.0
    quiet_plies: int = 200
    seat_grace: float = 300.0
