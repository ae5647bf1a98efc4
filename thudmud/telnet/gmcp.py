"""GMCP: packages of JSON beside the text, and which of them a client wants. No I/O.

The contents of our own packages are in `thudmud.views.facts`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from thudmud.telnet.capabilities import Capabilities, whole
from thudmud.telnet.interface import Ask, Credentials, Mark, Receiver, Watch
from thudmud.telnet.lines import readable

PING = "Core.Ping"
LOGIN = "Char.Login.Default"
LOGIN_RESULT = "Char.Login.Result"
GUI = "Client.GUI"
"""The package that has Mudlet install a panel, if its player allows it."""
PASSWORDS = '{"type": ["password-credentials"]}'
"""The data of `LOGIN`: a client may send a name and a password by itself."""
SUCCESS = '{"success": true}'
FAILURE = '{"success": false, "message": "That name and password do not fit."}'

_MAX_DEPTH = 8  # nested lists and mappings; ours use two levels
_MAX_VALUES = 1024  # in lists and mappings, about; a client's list of packages has some dozens
_LONGEST_BOARD = 256  # characters of what a client calls a board
_MAX_PACKAGES = 64
_LONGEST_ID, _LARGEST_ID = 64, 1 << 53
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Packages:
    """The GMCP packages of one connection.

    ``carried`` returns a package as the connection sends it; ``gui`` is the data of `GUI`, "" for
    none.
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
        """Send a package with data in JSON."""
        self._session.screen.command(self._carried(packed(package, text)))

    def hear(self, payload: bytes) -> None:
        """Take a package of the client's; an invalid one is ignored."""
        match read(payload):
            case ("core.ping", _):
                self._session.received([Mark(self._carried(packed(PING)))])
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
                    self._session.received([Credentials(*found)])
            case ("thud.ask", str(line)):
                self._session.received([Ask(_readable(line))])
            case ("thud.ask", {"line": str(line), **more}):
                self._session.received([Ask(_readable(line), _number(more.get("id")))])
            case ("thud.watch", dict() as data):
                if watch := watched(data):
                    self._session.received([watch])
            case ("thud.terminal", dict() as data):
                self._client.set_known(data)
            case _:
                pass  # it needs no answer, or is unknown


def _readable(line: str) -> str:
    return readable(line.encode("utf-8", "replace"))


def _number(given: object) -> int | str | None:
    """Return what a client calls a question; None for what is no short name and no number."""
    if isinstance(given, str):
        return given[:_LONGEST_ID]
    return given if type(given) is int and abs(given) < _LARGEST_ID else None  # true is no number


@lru_cache(maxsize=8)  # many get the same, one after the other
def packed(package: str, text: str = "") -> bytes:
    """Return the payload of a package; ``text`` is its data, as JSON."""
    return (f"{package} {text}" if text else package).encode("utf-8", "replace")


def read(payload: bytes) -> tuple[str, object] | None:
    """Return the name of a package, in lower case, and its data, which may be None.

    None if it is no package, or its data is no JSON, or has too many values or levels.
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
    return None if _goes_deeper(data, _MAX_DEPTH) else (name.lower(), data)


def supported(before: frozenset[str], action: str, data: object) -> frozenset[str]:
    """Return the packages that a client wants after it has changed its list.

    The action is "set", "add" or "remove"; the data a list of names, each with a version, such as
    "Thud 1".
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
    """Return the name and the password in a client's login, if they are there."""
    if not isinstance(data, dict):
        return None
    name, password = data.get("name", data.get("account")), data.get("password")
    return (name, password) if isinstance(name, str) and isinstance(password, str) else None


def watched(data: Mapping[str, object]) -> Watch | None:
    """Return what a client without a name wants to watch, if the data is valid."""
    match data:
        case {"battle": number, "explore": ply} if whole(number) and whole(ply) and number:
            return Watch(battle=number, explored=ply)
        case {"battle": number} if whole(number) and number and "explore" not in data:
            return Watch(battle=number)
        case {"board": str(words)}:
            return Watch(_readable(words[:_LONGEST_BOARD]))
        case {"board": None}:
            return Watch()
    return None


def _goes_deeper(data: object, levels: int) -> bool:
    if not isinstance(data, list | dict):
        return False
    parts = data.values() if isinstance(data, dict) else data
    return not levels or any(_goes_deeper(part, levels - 1) for part in parts)
