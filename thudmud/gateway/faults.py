"""What can be wrong with what a client asks for: a code for its program, a sentence for a log.

Each code, and which of them end a link.
"""

from __future__ import annotations

from enum import Enum

from thudmud.errors import ThudmudError


class Code(Enum):
    """What was wrong. `docs/gateway.md` tells of each."""

    MALFORMED = "malformed"
    TOO_LONG = "too_long"
    BAD_REQUEST = "bad_request"
    REPEATED = "repeated"
    UNKNOWN_BOARD = "unknown_board"
    NOT_YOURS = "not_yours"
    DIFFERS = "differs"
    BAD_NAME = "bad_name"
    HERE_ALREADY = "here_already"
    UNKNOWN_PLAYER = "unknown_player"
    CHANGED = "changed"
    TOO_MANY = "too_many"
    NOT_STORED = "not_stored"
    INTERNAL = "internal"
    BAD_SEEN = "bad_seen"
    HELLO_FIRST = "hello_first"
    WRONG_VERSION = "wrong_version"
    WRONG_SECRET = "wrong_secret"  # noqa: S105  (what is wrong, not a secret)
    CLIENT_TAKEN = "client_taken"
    FULL = "full"
    TOO_SLOW = "too_slow"
    SILENT = "silent"
    REPLACED = "replaced"
    CLOSING = "closing"


FATAL = frozenset(
    {
        Code.BAD_SEEN,
        Code.HELLO_FIRST,
        Code.WRONG_VERSION,
        Code.WRONG_SECRET,
        Code.CLIENT_TAKEN,
        Code.FULL,
        Code.TOO_SLOW,
        Code.SILENT,
        Code.REPLACED,
        Code.CLOSING,
    }
)
"""The codes after which the link ends. The session need not."""


class Fault(ThudmudError):
    """Something that is not done.

    Args:
        code: what was wrong.
        text: a sentence that says what would have been right.
        number: the number of the request, if it has one that can be read.
    """

    def __init__(self, code: Code, text: str, number: int | None = None) -> None:
        super().__init__(code, text, number)
        self.code, self.text, self.number = code, text, number

    def __str__(self) -> str:
        return self.text
