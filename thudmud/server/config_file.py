"""`config.toml` -> settings, or a list of what is wrong with it.

Owns how the operator is told: one line for each mistake, which names the file, the key and what
would be right. Must never decide what is right: the settings do.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from thudmud.errors import ThudmudError
from thudmud.server.settings import (
    BoardSettings,
    BotSettings,
    GameSettings,
    GatewaySettings,
    ListingSettings,
    PlayerSettings,
    ServerSettings,
    Settings,
    StorageSettings,
)

_SECTIONS: Mapping[str, Mapping[str, FieldInfo]] = {
    "": Settings.model_fields,
    "server": ServerSettings.model_fields,
    "listing": ListingSettings.model_fields,
    "game": GameSettings.model_fields,
    "players": PlayerSettings.model_fields,
    "storage": StorageSettings.model_fields,
    "gateway": GatewaySettings.model_fields,
    "board": BoardSettings.model_fields,
    "bot": BotSettings.model_fields,
}
_LONGEST_VALUE = 40  # characters of a wrong value that are repeated


DEFAULT = Path("config.toml")
"""The file that is read if none is named and there is one."""


class ConfigError(ThudmudError):
    """The configuration can't be used.

    Attributes:
        problems: What is wrong, one line each.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


def load(path: Path | None) -> Settings:
    """Return the settings that the file at ``path`` makes; the defaults if there is no ``path``.

    Raises:
        ConfigError: The file can't be read, is not TOML, or holds anything that can't be used.
    """
    return Settings() if path is None else check(_read(path), str(path))


def named_or_default(path: Path | None) -> Path | None:
    """Return the file to be read: the one that was named, or else the default if there is one."""
    return path or (DEFAULT if DEFAULT.exists() else None)


def folder(path: Path | None) -> Path:
    """Return the folder from which the names of files in the file at ``path`` are told."""
    return path.parent if path else Path()


def check(values: Mapping[str, Any], source: str) -> Settings:
    """Return the settings that ``values``, from ``source``, make.

    Raises:
        ConfigError: They hold anything that can't be used.
    """
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        problems = [f"{source}: {line}" for line in _complaints(error.errors())]
        raise ConfigError(problems) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        reason = f"is not valid TOML: {error}"
    except UnicodeDecodeError:
        reason = "is not a text in UTF-8"
    except (ValueError, RecursionError):  # a number of thousands of digits, thousands of brackets
        reason = "holds a value that is too large to read"
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    raise ConfigError([f"{path}: {reason}"])


def _complaints(errors: Sequence[ErrorDetails]) -> Iterator[str]:
    places = [error["loc"] for error in errors]
    for error in errors:
        place = error["loc"]
        # A list that holds mistakes also counts as too short; they say enough.
        if not any(len(other) > len(place) and other[: len(place)] == place for other in places):
            yield f"{_named(place)}: {_told(error)}"


def _told(error: ErrorDetails) -> str:
    place = error["loc"]
    *outer, key = (step for step in place if isinstance(step, str))
    siblings = _SECTIONS[outer[0] if outer else ""]
    if error["type"] == "extra_forbidden" and outer and key in _SECTIONS[""]:
        return f'is no setting of a section; "{key}" belongs above the first section'
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, siblings, n=1)
        hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(siblings)}"
        return f"there is no such setting; {hint}"
    right = siblings[key].description if place[-1] == key or outer else "a section"
    if error["type"] == "missing":
        return f"is missing; it should be {right}"
    if error["type"] == "clash":
        return error["msg"]
    wanted = error["msg"] if error["type"] == "unfit" else f"should be {right}"
    return f"{wanted}, not {_shown(error['input'])}"


def _named(place: tuple[int | str, ...]) -> str:
    """Return the name of a key: `server.port`, or `board 2, rules` for the second board's."""
    name = ""
    for step in place:
        if isinstance(step, int):
            name += f" {step + 1}"
        else:
            name += (", " if name[-1:].isdigit() else "." if name else "") + _printable(step)
    return name


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def _printable(key: str) -> str:
    return key if key.isascii() and key.isprintable() else json.dumps(key)
