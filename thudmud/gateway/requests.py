"""What a client can ask for, read from a line.

The keys of all that comes from a client, and what may stand behind each. What is none of these is
refused here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from types import NoneType
from typing import Any, NoReturn, get_args, get_type_hints

from thudmud.errors import ThudmudError
from thudmud.gateway.faults import Code, Fault
from thudmud.gateway.replies import VERSION
from thudmud.play.commands import Style
from thudmud.play.events import Parting
from thudmud.play.options import WIDTHS
from thudmud.rules import RULESETS
from thudmud.text.display import DEFAULT_WIDTH, PALETTE, SIXTEEN, TRUE_COLOUR

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
