"""GMCP: packages with JSON in them, between the lines; and which of them a client wants. Pure.

What our own packages hold is in `thudmud.views.facts`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

IAC = b"\xff"
OPTION = b"\xc9"  # 201

PING = "Core.Ping"
LOGIN = "Char.Login.Default"
LOGIN_RESULT = "Char.Login.Result"
PASSWORDS = '{"type": ["password-credentials"]}'
"""The data of `LOGIN`: a client may send a name and a password by itself."""
SUCCESS = '{"success": true}'
FAILURE = '{"success": false, "message": "That name and password do not fit."}'

_DEEPEST = 8  # lists and mappings in each other; what is of use to us has two
_MOST_PACKAGES = 64
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_VERSION = re.compile(r" +\d+$")


def framed(package: str, text: str = "") -> bytes:
    """Return a package as telnet carries it; ``text`` is its data, as JSON."""
    payload = f"{package} {text}" if text else package
    escaped = payload.encode("utf-8", "replace").replace(IAC, IAC + IAC)
    return IAC + b"\xfa" + OPTION + escaped + IAC + b"\xf0"


def read(payload: bytes) -> tuple[str, object] | None:
    """Return the package, in lower case, and its data, None if there is none.

    A package that is no package, or whose data is no JSON or goes too deep, is None itself.
    """
    try:
        name, _, text = payload.decode("utf-8").strip().partition(" ")
        if not _NAME.fullmatch(name):
            return None
        data: object = json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        return None
    return None if _goes_deeper(data, _DEEPEST) else (name.lower(), data)


def supported(before: frozenset[str], action: str, data: object) -> frozenset[str]:
    """Return the packages that a client wants after it has said something about them.

    Args:
        before: those that it has wanted.
        action: "set", "add" or "remove".
        data: a list of names, each with a version behind it, such as "Thud 1".
    """
    if not isinstance(data, list):
        return before
    names = _names(data)
    match action:
        case "set":
            after = names
        case "add":
            after = before | names
        case "remove":
            after = before - names
        case _:
            after = before
    return after if len(after) <= _MOST_PACKAGES else before


def credentials(data: object) -> tuple[str, str] | None:
    """Return the name and the password that a client logs in with, if that is what it sends."""
    if not isinstance(data, dict):
        return None
    name, password = data.get("name", data.get("account")), data.get("password")
    return (name, password) if isinstance(name, str) and isinstance(password, str) else None


def _names(data: Iterable[object]) -> frozenset[str]:
    names = [_VERSION.sub("", each).lower() for each in data if isinstance(each, str)]
    return frozenset(name for name in names if _NAME.fullmatch(name))


def _goes_deeper(data: object, levels: int) -> bool:
    if not isinstance(data, list | dict):
        return False
    parts = data.values() if isinstance(data, dict) else data
    return not levels or any(_goes_deeper(part, levels - 1) for part in parts)
