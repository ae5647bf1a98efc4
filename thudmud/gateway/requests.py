"""The messages of the gateway's protocol, as lines of JSON: parsing and formatting.

`docs/gateway.md` describes the protocol. A `RequestError` has a code for the client's program and a
sentence for its log; the faults of `FATAL` end the link.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Literal, NoReturn, get_type_hints

from msgspec import Meta, ValidationError, convert, field

from thudmud.errors import ThudmudError
from thudmud.game.options import WIDTHS, Style
from thudmud.rules import RULESETS
from thudmud.values import Value, defaults_of
from thudmud.views import Message
from thudmud.views.view import DEFAULT_WIDTH, PALETTE, SIXTEEN, TRUE_COLOUR

VERSION = 1
"""The version of the protocol."""

HIGHEST = 2**53 - 1
"""The highest integer that every JSON parser represents exactly (RFC 8259, section 6)."""


def _words(*values: object) -> str:
    return f"one of {', '.join(map(str, values))}"


_COLOURS = (0, SIXTEEN, PALETTE, TRUE_COLOUR)
_STYLES = _words(*(style.value for style in Style))

# The descriptions appear in faults: '"key" should be DESCRIPTION, not VALUE.'
_Text = Annotated[str, Meta(description="a string")]
_Flag = Annotated[bool, Meta(description="true or false")]
_Count = Annotated[int, Meta(ge=0, le=HIGHEST, description=f"a whole number from 0 to {HIGHEST}")]
_CountOrNull = Annotated[
    _Count | None, Meta(description=f"a whole number from 0 to {HIGHEST}, or null")
]
_Key = Annotated[str, Meta(pattern=r"^[!-~]{1,80}\Z")]
_KeyOrNull = Annotated[
    _Key | None,
    Meta(description="1 to 80 printable ASCII characters without spaces, or null"),
]
_Width = Annotated[
    int,
    Meta(
        ge=WIDTHS[0],
        le=WIDTHS[-1],
        description=f"a whole number from {WIDTHS[0]} to {WIDTHS[-1]}",
    ),
]


class Sent(Value):
    """A message from a client. Its ``type`` is a key of `KINDS`, not a field."""


class Hello(Sent):
    """The first message of a link. ``session`` and ``seen`` resume a session."""

    version: Annotated[int, Meta(description="a whole number")]
    client: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9_.-]{1,40}\Z",
            description="1 to 40 letters, digits, dots, hyphens and underscores",
        ),
    ]
    secret: _Text = ""
    session: _Text = ""
    seen: _Count = 0


class Ack(Sent):
    """Acknowledges all replies up to number ``seen``."""

    seen: _Count


class Ping(Sent):
    """Requests a pong."""


class Pong(Sent):
    """Answers a ping."""


class Bye(Sent):
    """Ends the session, which can't be resumed."""


class Request(Sent):
    """A message that gets an answer. ``id`` is its number, ``seen`` acknowledges as in `Ack`."""

    id: Annotated[int, Meta(ge=1, le=HIGHEST, description=f"a whole number from 1 to {HIGHEST}")]
    board: Annotated[
        str,
        Meta(
            pattern=r"^[!-~]{1,120}\Z",
            description="1 to 120 printable ASCII characters without spaces",
        ),
    ]
    seen: _CountOrNull = None


class OpenRequest(Request):
    """Opens a board: a new one, or a stored one in the state in which it was left."""

    name: _Text = "board"
    rules: Annotated[
        str, Meta(pattern=rf"^({'|'.join(RULESETS)})\Z", description=_words(*RULESETS))
    ] = next(iter(RULESETS))
    style: Annotated[Style, Meta(description=_STYLES)] = Style.FULL
    without: _Text = ""


class CloseRequest(Request):
    """Closes a board and removes its players. The stored board remains."""


class ShowRequest(Request):
    """Requests the state of a board."""

    width: _Width = DEFAULT_WIDTH
    utf8: _Flag = False


class EnterRequest(Request, kw_only=True):
    """Lets a player enter, at the board (``room`` is "board") or only near it ("hall")."""

    player: _Text
    room: Annotated[Literal["board", "hall"], Meta(description=_words("board", "hall"))] = "board"
    width: _Width = DEFAULT_WIDTH
    height: _Count = 0
    utf8: _Flag = False
    colours: Annotated[Literal[0, 16, 256, 16777216], Meta(description=_words(*_COLOURS))] = 0
    reader: _Flag = False
    data: _Flag = False
    member: _Flag = False
    style: Annotated[Style | None, Meta(description=f"{_STYLES}, or null")] = None


class LeaveRequest(Request, kw_only=True):
    """Removes a player from a board."""

    player: _Text
    parting: Annotated[
        Literal["lost", "left", "quit", "idle"],
        Meta(description=_words("lost", "left", "quit", "idle")),
    ] = "lost"


class LineRequest(Request, kw_only=True):
    """Submits a line that a player typed.

    If ``at_version`` is given, the line is only carried out at that version of the board. ``key``
    is an idempotency key: a line whose key the board has seen before isn't carried out again. With
    ``quiet`` the player isn't told if the line is no command of the board.
    """

    player: _Text
    line: _Text
    at_version: _CountOrNull = None
    key: _KeyOrNull = None
    quiet: _Flag = False


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
"""The messages of clients, by their ``type``."""


class Code(Enum):
    """The codes of faults, which `docs/gateway.md` explains."""

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
    WRONG_SECRET = "wrong_secret"  # noqa: S105  (an error code, not a secret)
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
"""The codes of faults that end the link. The session may continue."""


class RequestError(ThudmudError):
    """Raised for a request that is refused, or a malformed line.

    Args:
        code: the kind of fault.
        text: a sentence that states what would have been right.
        number: the number of the request; None if there is no valid number.
    """

    def __init__(self, code: Code, text: str, number: int | None = None) -> None:
        super().__init__(code, text, number)
        self.code, self.text, self.number = code, text, number

    def __str__(self) -> str:
        return self.text


def parse_request(line: bytes) -> Sent:
    """Parse a line from a client.

    Raises:
        RequestError: the line is malformed. The fault has a number if the line has a valid ``id``.
    """
    data = _object(line)
    name, version, number = data.pop("type", None), data.get("version"), data.get("id")
    if name == "hello" and type(version) is int and version != VERSION:
        # Check the version before anything else, since other versions may have other keys.
        raise RequestError(Code.WRONG_VERSION, f"Expected version {VERSION}.")
    kind = KINDS.get(name) if isinstance(name, str) else None
    problem = f'"type": expected {_words(*KINDS)}.'
    if kind:
        try:
            return _read_as(kind, data)
        except ValueError as error:
            problem = str(error)
    known = number if type(number) is int and 1 <= number <= HIGHEST else None
    raise RequestError(Code.BAD_REQUEST, problem, known)


def _object(line: bytes) -> dict[str, Any]:
    try:
        data = json.loads(line.decode("utf-8-sig"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise RequestError(Code.MALFORMED, "Expected UTF-8.") from None
    # Thousands of digits raise a plain ValueError, and thousands of brackets a RecursionError.
    except (ValueError, RecursionError):
        raise RequestError(Code.MALFORMED, "Expected a line of JSON.") from None
    if not isinstance(data, dict):
        raise RequestError(Code.MALFORMED, "Expected a JSON object.")
    return data


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def _read_as(kind: type[Sent], data: Mapping[str, Any]) -> Sent:
    """Convert an object to a message; raise ValueError with a sentence if it is invalid."""
    fields = kind.__struct_fields__
    for key in data:  # before missing keys, so that a misspelt key is reported as unknown
        if key not in fields:
            raise ValueError(
                f"Unknown key {_format_value(key)}; expected one of {', '.join(fields)}."
            )
    defaults = defaults_of(kind)
    for key in fields:
        if key not in data and key not in defaults:
            raise ValueError(f'"{key}" is missing.')
        if _has_lone_surrogate(data.get(key)):
            raise ValueError(f'"{key}" should not contain unpaired surrogates.')
    try:
        return convert(data, kind)
    except ValidationError as error:
        [key] = re.findall(r"`\$\.(\w+)", str(error))
        right = get_type_hints(kind, include_extras=True)[key].__metadata__[0].description
        raise ValueError(f'"{key}": expected {right}, got {_format_value(data[key])}.') from error


def _has_lone_surrogate(value: object) -> bool:
    """Whether a value is a string with a lone surrogate, which UTF-8 can't encode."""
    return isinstance(value, str) and re.search("[\ud800-\udfff]", value) is not None


_LONGEST_VALUE = 40
"""The maximum number of characters of an invalid value to quote."""


def _format_value(value: object) -> str:
    if isinstance(value, list | dict):  # which may be nested too deeply for JSON
        return "a list" if isinstance(value, list) else "an object"
    text = json.dumps(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


Data = Mapping[str, object]


class Answer(Value):
    """The answer to a request: its data, or the fault for which it was refused."""

    number: int
    data: Data = field(default_factory=dict)
    fault: RequestError | None = None


class Notice(Value):
    """A message to players at a board.

    Attributes:
        board: the client's name for the board.
        message: the message and its recipients.
        number: the number of the request that caused the message; None if no request did.
    """

    board: str
    message: Message
    number: int | None


Reply = Answer | Notice
"""A message with a sequence number, which is kept until the client acknowledges it."""


def reply_line(reply: Reply, seq: int) -> bytes:
    """Format a reply as a line; ``seq`` is its sequence number."""
    match reply:
        case Answer(number, data, None):
            return encode_line({"type": "answer", "seq": seq, "id": number, "ok": True, **data})
        case Answer(number, _, RequestError(code=code, text=text)):
            told = {"ok": False, "code": code.value, "text": text}
            return encode_line({"type": "answer", "seq": seq, "id": number, **told})
        case Notice(board, message, number):
            to = {"seq": seq, "id": number, "board": board, "to": list(message.to)}
            if not message.package:
                bell = {"bell": True} if message.with_bell else {}
                return encode_line({"type": "tell", **to, "text": message.text, **bell})
            data = json.loads(message.text)
            return encode_line({"type": "data", **to, "package": message.package, "data": data})
    raise TypeError(f"expected a reply, got {reply}")


def error_line(fault: RequestError) -> bytes:
    """Format a fault that isn't the answer to a request as a line."""
    return encode_line(
        {
            "type": "error",
            "id": fault.number,
            "code": fault.code.value,
            "text": fault.text,
            "fatal": fault.code in FATAL,
        }
    )


def encode_line(data: Data) -> bytes:
    """Encode an object as a line of ASCII-only JSON."""
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"
