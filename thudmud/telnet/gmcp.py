"""GMCP, the Generic Mud Communication Protocol: packages of JSON beside the text. No I/O.

`thudmud.views.facts` makes the data of the game's own packages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from thudmud.telnet.capabilities import Capabilities, is_whole_number
from thudmud.telnet.interface import Ask, Credentials, Mark, Receiver, Watch
from thudmud.telnet.lines import readable

PING = "Core.Ping"
LOGIN = "Char.Login.Default"
LOGIN_RESULT = "Char.Login.Result"
GUI = "Client.GUI"
"""The package that makes Mudlet install a user interface, if its player allows it."""
PASSWORDS = '{"type": ["password-credentials"]}'
"""The data of `LOGIN`: the client may send a name and a password by itself."""
SUCCESS = '{"success": true}'
FAILURE = '{"success": false, "message": "Wrong name or password."}'

_MAX_DEPTH = 8  # of nested lists and mappings; our own packages use two levels
_MAX_VALUES = 1024  # in all lists and mappings; a client's list of packages has a few dozen
_LONGEST_BOARD = 256  # characters of a client's words for a board
_MAX_PACKAGES = 64
_LONGEST_ID, _LARGEST_ID = 64, 1 << 53
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Packages:
    """The GMCP side of one connection: sends packages, and handles those of the client.

    Args:
        session: the session.
        client: the client's capabilities, updated by its packages.
        carried: frames a package as the connection sends it.
        gui: the data of `GUI`; "" for none.
    """

    def __init__(
        self,
        session: Receiver,
        client: Capabilities,
        carried: Callable[[bytes], bytes],
        gui: str = "",
    ) -> None:
        self._session, self._client, self._carried = session, client, carried
        self._gui = gui

    def send(self, package: str, text: str) -> None:
        """Send a package with JSON data."""
        self._session.screen.command(self._carried(packed(package, text)))

    def receive_package(self, payload: bytes) -> None:
        """Handle a package of the client's; ignore an invalid one."""
        match read(payload):
            case ("core.ping", _):
                self._session.items_received([Mark(self._carried(packed(PING)))])
            case ("core.hello", {"client": "Mudlet"}) if self._gui:
                self.send(GUI, self._gui)
                self._gui = ""
            case ("core.supports.set" | "core.supports.add" | "core.supports.remove" as name, data):
                before = self._client.packages
                action = name.rpartition(".")[2]
                self._client.packages = supported(before, action, data)
                if "char.login" in self._client.packages - before:
                    self.send(LOGIN, PASSWORDS)
            case ("char.login" | "char.login.credentials", data):
                if found := credentials(data):
                    self._session.items_received([Credentials(*found)])
            case ("thud.ask", str(line)):
                self._session.items_received([Ask(_readable(line))])
            case ("thud.ask", {"line": str(line), **more}):
                number, in_words = _number(more.get("id")), more.get("words") is True
                self._session.items_received([Ask(_readable(line), number, in_words)])
            case ("thud.watch", dict() as data):
                if watch := watched(data):
                    self._session.items_received([watch])
            case ("thud.terminal", dict() as data):
                self._client.set_known(data)
            case _:
                pass  # needs no answer, or is unknown


def _readable(line: str) -> str:
    return readable(line.encode("utf-8", "replace"))


def _number(given: object) -> int | str | None:
    """Validate a client's identifier of a question: a string, cut to length, or a number."""
    if isinstance(given, str):
        return given[:_LONGEST_ID]
    # By `type`, since JSON's true would be an `int`.
    return given if type(given) is int and abs(given) < _LARGEST_ID else None


@lru_cache(maxsize=8)  # a broadcast sends the same package to many clients in a row
def packed(package: str, text: str = "") -> bytes:
    """Encode a package as a payload; ``text`` is its data, as JSON."""
    return (f"{package} {text}" if text else package).encode("utf-8", "replace")


def read(payload: bytes) -> tuple[str, object] | None:
    """Parse a payload.

    Returns:
        The package's lower-case name and its data (None if there is none). None instead of the
        pair if the name or the JSON is invalid, or the data has too many values or levels.
    """
    try:
        name, _, text = payload.decode("utf-8").strip().partition(" ")
        if not _NAME.fullmatch(name):
            return None
        text = text.strip()
        if text.startswith(("[", "{")) and sum(map(text.count, ",[{")) > _MAX_VALUES:
            return None
        data: object = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    return None if _is_deeper_than(data, _MAX_DEPTH) else (name.lower(), data)


def supported(before: frozenset[str], action: str, data: object) -> frozenset[str]:
    """Apply a ``Core.Supports`` package to the set of packages that a client supports.

    Args:
        before: the set so far, in lower case.
        action: "set", "add" or "remove".
        data: a list of names, each with a version, such as "Thud 1".

    Returns:
        The new set; ``before`` if the data is invalid or lists too many packages.
    """
    if not isinstance(data, list):
        return before
    bare = [_without_version(each).lower() for each in data if isinstance(each, str)]
    names = frozenset(name for name in bare if _NAME.fullmatch(name))
    after = {"set": names, "add": before | names, "remove": before - names}[action]
    return after if len(after) <= _MAX_PACKAGES else before


def _without_version(package: str) -> str:
    name, blank, version = package.rpartition(" ")
    return name.rstrip(" ") if blank and version.isdecimal() else package


def credentials(data: object) -> tuple[str, str] | None:
    """Return the name and password of a ``Char.Login`` package; None if it is invalid.

    The password is empty if it is left out: only some names need one.
    """
    if not isinstance(data, dict):
        return None
    name, password = data.get("name", data.get("account")), data.get("password", "")
    return (name, password) if isinstance(name, str) and isinstance(password, str) else None


def watched(data: Mapping[str, object]) -> Watch | None:
    """Parse the data of a ``Thud.Watch`` package; return None if it is invalid."""
    match data:
        case {"battle": number, "explore": ply} if (
            is_whole_number(number) and is_whole_number(ply) and number
        ):
            return Watch(battle=number, explored=ply)
        case {"battle": number} if is_whole_number(number) and number and "explore" not in data:
            return Watch(battle=number)
        case {"ask": str(line)}:
            return Watch(question=_readable(line[:_LONGEST_BOARD]))
        case {"board": str(words)}:
            return Watch(_readable(words[:_LONGEST_BOARD]))
        case {"board": None}:
            return Watch()
    return None


def _is_deeper_than(data: object, levels: int) -> bool:
    if not isinstance(data, list | dict):
        return False
    parts = data.values() if isinstance(data, dict) else data
    return not levels or any(_is_deeper_than(part, levels - 1) for part in parts)
