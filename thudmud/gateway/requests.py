"""The gateway's protocol: what a client can ask for, answers and faults, as lines of JSON.

A fault is a code for the client's program and a sentence for its log; some of them end the link.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum
from types import NoneType
from typing import Any, NoReturn, get_args, get_type_hints

from thudmud.errors import ThudmudError
from thudmud.play.commands import Style
from thudmud.play.events import Parting
from thudmud.play.options import WIDTHS
from thudmud.rules import RULESETS
from thudmud.views import Message
from thudmud.views.view import DEFAULT_WIDTH, PALETTE, SIXTEEN, TRUE_COLOUR


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


VERSION = 1
"""The version of the protocol."""

Data = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Answer:
    """What has come of a request.

    Attributes:
        number: of the request.
        data: what it asked for, if that was done.
        fault: why it was not.
    """

    number: int
    data: Data = field(default_factory=dict)
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Happened:
    """Something that players at a board are told.

    Attributes:
        board: the board's own name for its client.
        message: what is told to whom.
        number: of the request that has brought it about; None if no request has.
    """

    board: str
    message: Message
    number: int | None


Reply = Answer | Happened
"""What is numbered, and sent until it is acknowledged."""


def written(reply: Reply, seq: int) -> bytes:
    """Return a reply as its line."""
    match reply:
        case Answer(number, data, None):
            return line({"type": "answer", "seq": seq, "id": number, "ok": True, **data})
        case Answer(number, _, Fault(code=code, text=text)):
            told = {"ok": False, "code": code.value, "text": text}
            return line({"type": "answer", "seq": seq, "id": number, **told})
        case Happened(board, message, number):
            to = {"seq": seq, "id": number, "board": board, "to": list(message.to)}
            if not message.package:
                return line({"type": "tell", **to, "text": message.text})
            data = json.loads(message.text)
            return line({"type": "data", **to, "package": message.package, "data": data})
    raise TypeError(f"no reply: {reply}")


def error(fault: Fault) -> bytes:
    """Return the line that tells of what belongs to no request."""
    return line(
        {
            "type": "error",
            "id": fault.number,
            "code": fault.code.value,
            "text": fault.text,
            "fatal": fault.code in FATAL,
        }
    )


def line(data: Data) -> bytes:
    """Return an object as a line, in ASCII."""
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


HIGHEST = 2**53 - 1
"""The highest number that every language holds whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """Who a client is; ``session`` and ``seen`` go on with a session whose link dropped."""

    version: int
    client: str
    secret: str = ""
    session: str = ""
    seen: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    """All up to ``seen`` has come."""

    seen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """Asks for a pong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pong:
    """Answers a ping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bye:
    """Ends the session: nothing is kept for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is answered: ``id`` is its number, ``seen`` acknowledges as `Ack` does."""

    id: int
    board: str
    seen: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest(Request):
    """Sets a board up, or finds it as it was left."""

    name: str = "board"
    rules: str = next(iter(RULESETS))
    style: str = Style.FULL.value


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseRequest(Request):
    """Puts a board away with all who are there; what has happened at it is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowRequest(Request):
    """Asks how a board stands."""

    width: int = DEFAULT_WIDTH
    utf8: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EnterRequest(Request):
    """Brings a player to a board, or only within its reach."""

    player: str
    room: str = "board"
    width: int = DEFAULT_WIDTH
    utf8: bool = False
    colours: int = 0
    reader: bool = False
    data: bool = False
    member: bool = False
    style: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveRequest(Request):
    """Takes a player away."""

    player: str
    parting: str = Parting.LOST.value


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRequest(Request):
    """What a player has typed; not done unless the board stands at ``at_version``, if given."""

    player: str
    line: str
    at_version: int | None = None


Sent = Hello | Ack | Ping | Pong | Bye | Request

KINDS: Mapping[str, type[Sent]] = {
    "hello": Hello,
    "ack": Ack,
    "ping": Ping,
    "pong": Pong,
    "bye": Bye,
    "open": OpenRequest,
    "close": CloseRequest,
    "show": ShowRequest,
    "enter": EnterRequest,
    "leave": LeaveRequest,
    "line": LineRequest,
}
"""What there is, by its ``type``."""


def read(line: bytes) -> Sent:
    """Return what a line asks for.

    Raises:
        Fault: it cannot be read; with a number if it is a request that has one.
    """
    data = _object(line)
    version = data.get("version")
    if data.get("type") == "hello" and type(version) is int and version != VERSION:
        # Whatever else there is: another version may have other keys.
        raise Fault(Code.WRONG_VERSION, f"There is only version {VERSION} here.")
    number = data.get("id")
    known = number if type(number) is int and 1 <= number <= HIGHEST else None
    try:
        return _read(data)
    except _BadRequestError as wrong:
        raise Fault(Code.BAD_REQUEST, str(wrong), known) from None


class _BadRequestError(ThudmudError):
    """What is wrong with an object, as a sentence."""


def _object(line: bytes) -> dict[str, Any]:
    try:
        data = json.loads(line.decode(), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise Fault(Code.MALFORMED, "A line should be UTF-8.") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, thousands of brackets
        raise Fault(Code.MALFORMED, "A line should be JSON.") from None
    if not isinstance(data, dict):
        raise Fault(Code.MALFORMED, "A line should be a JSON object.")
    return data


def _read(data: dict[str, Any]) -> Sent:
    name = data.pop("type", None)
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise _BadRequestError(f'"type" should be one of {", ".join(KINDS)}.')
    types = _TYPES[kind]
    unknown = sorted(set(data) - set(types))
    if unknown:
        raise _BadRequestError(
            f"There is no key {_shown(unknown[0])}; there are {', '.join(types)}."
        )
    missing = [each.name for each in fields(kind) if each.default is MISSING]
    for key in missing:
        if key not in data:
            raise _BadRequestError(f'"{key}" is missing.')
    for key, value in data.items():
        _check(key, value, types[key])
    return kind(**data)


def _check(key: str, value: object, hint: Any) -> None:
    kinds = get_args(hint) or (hint,)
    if type(value) not in kinds:
        right = " or ".join(_KIND_WORDS[kind] for kind in kinds)
        raise _BadRequestError(f'"{key}" should be {right}, not {_shown(value)}.')
    if value is None:
        return
    if isinstance(value, str) and not _is_text(value):
        raise _BadRequestError(f'"{key}" should hold no halves of surrogate pairs.')
    fits, right = _RIGHT.get(key, (lambda _: True, ""))
    if not fits(value):
        raise _BadRequestError(f'"{key}" should be {right}, not {_shown(value)}.')


def _is_text(value: str) -> bool:
    return not any("\ud800" <= each <= "\udfff" for each in value)


def _shown(value: object) -> str:
    if isinstance(value, list | dict):  # as deep as may be
        return "a list" if isinstance(value, list) else "an object"
    text = json.dumps(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_TYPES = {kind: get_type_hints(kind) for kind in KINDS.values()}
_LONGEST_VALUE = 40  # characters of a wrong value that are repeated
_KIND_WORDS = {int: "a whole number", str: "a text", bool: "true or false", NoneType: "null"}
_COLOURS = (0, SIXTEEN, PALETTE, TRUE_COLOUR)
_CLIENT = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_BOARD = re.compile(r"[!-~]{1,120}")


def _whole(low: int) -> tuple[Callable[[Any], bool], str]:
    return lambda value: low <= value <= HIGHEST, f"from {low} to {HIGHEST}"


def _one_of(*values: object) -> tuple[Callable[[Any], bool], str]:
    return lambda value: value in values, f"one of {', '.join(map(str, values))}"


_RIGHT: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "id": _whole(1),
    "seen": _whole(0),
    "at_version": _whole(0),
    "client": (
        lambda value: _CLIENT.fullmatch(value) is not None,
        "1 to 40 letters, digits, dots, hyphens and underscores",
    ),
    "board": (
        lambda value: _BOARD.fullmatch(value) is not None,
        "1 to 120 printable characters of ASCII without blanks",
    ),
    "rules": _one_of(*RULESETS),
    "style": _one_of(*(style.value for style in Style)),
    "room": _one_of("board", "hall"),
    "width": (lambda value: value in WIDTHS, f"from {WIDTHS[0]} to {WIDTHS[-1]}"),
    "colours": _one_of(*_COLOURS),
    "parting": _one_of(Parting.LOST.value, Parting.QUIT.value, Parting.IDLE.value),
}
"""For a key, what its values have to be like, in code and in words."""
