"""GMCP: packages of JSON beside the text, and which of them a client wants. Pure.

What our own packages hold is in `thudmud.views.facts`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

PING = "Core.Ping"
LOGIN = "Char.Login.Default"
LOGIN_RESULT = "Char.Login.Result"
PASSWORDS = '{"type": ["password-credentials"]}'
"""The data of `LOGIN`: it says that a client may send a name and a password by itself."""
SUCCESS = '{"success": true}'
FAILURE = '{"success": false, "message": "That name and password do not fit."}'

_MAX_DEPTH = 8  # lists and mappings inside each other; what we use has two
_MAX_PACKAGES = 64
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_VERSION = re.compile(r" +\d+$")


def packed(package: str, text: str = "") -> bytes:
    """Return a package as a sub-negotiation carries it; ``text`` is its data, as JSON."""
    return (f"{package} {text}" if text else package).encode("utf-8", "replace")


def read(payload: bytes) -> tuple[str, object] | None:
    """Return the name of a package, in lower case, and its data, which may be None.

    What is no package, or has data that is no JSON or goes too deep, is None itself.
    """
    try:
        name, _, text = payload.decode("utf-8").strip().partition(" ")
        if not _NAME.fullmatch(name):
            return None
        data: object = json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        return None
    return None if _goes_deeper(data, _MAX_DEPTH) else (name.lower(), data)


def supported(before: frozenset[str], action: str, data: object) -> frozenset[str]:
    """Return the packages that a client wants after it has said something about them.

    Args:
        before: those that it wanted until now.
        action: "set", "add" or "remove".
        data: a list of names, each with a version, such as "Thud 1".
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
    return after if len(after) <= _MAX_PACKAGES else before


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
