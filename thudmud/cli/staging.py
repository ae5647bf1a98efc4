"""Transcripts on disk, and the stages that they are played on.

The files are found here: those that a transcript includes, and its configurations.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from thudmud.cli.options import CommandError
from thudmud.cli.remote_stage import RemoteStage
from thudmud.house import House
from thudmud.script import HouseStage, Mismatch, Stage, Transcript, perform
from thudmud.script.reading import Unfetched
from thudmud.script.transcript import Inclusion, Part, written
from thudmud.server.config import Settings, load_settings
from thudmud.server.serve import boards

Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Setup:
    """How transcripts are played.

    Args:
        config: a configuration for transcripts that name none; the defaults if None.
        addresses: where the servers are that transcripts name, "" for the one of those that name
            none; if there are none at all, a house of our own stands for each.
        variables: what some variables stand for.
    """

    config: Path | None = None
    addresses: Mapping[str, Address] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)


def load(path: Path, setup: Setup = Setup()) -> Transcript:
    """Read a transcript, with the files that it includes.

    Raises:
        CommandError: a file cannot be read.
        TranscriptError: a line means nothing; this names the line, not the file.
    """
    try:
        text = _text(path)
    except Unfetched as error:
        raise CommandError(f"{path}: {error}") from error
    return Transcript.parse(text, _Folder(path), setup.variables)


@contextmanager
def open_stages(
    path: Path,
    transcript: Transcript,
    setup: Setup = Setup(),
) -> Iterator[Mapping[str, Stage]]:
    """Open the stages for a transcript: those of running servers, or houses of our own.

    Raises:
        ConfigError: a configuration cannot be used.
        CommandError: it is not said where a server is.
    """
    names: Mapping[str, str | None] = transcript.servers or {"": transcript.config}
    lacking = [name for name in names if name not in setup.addresses]
    if setup.addresses and lacking:
        raise CommandError(f"{path}: {_lacking(lacking)}")
    with ExitStack() as stack:
        stages: dict[str, Stage] = {}
        for name, config in names.items():
            if setup.addresses:
                stages[name] = stack.enter_context(RemoteStage(*setup.addresses[name]))
            else:
                own = path.parent / config if config else setup.config
                stages[name] = HouseStage(_house(load_settings(own)), time.time)
        yield stages


def play(
    path: Path,
    setup: Setup = Setup(),
) -> tuple[list[Mismatch], Transcript]:
    """Play the transcript in a file.

    Raises:
        TranscriptError, StageError: a line means nothing, or a step could not be played; these name
            the line, not the file.
        ConfigError, CommandError: what belongs to it cannot be read or found.

    Returns:
        What did not fit, and the transcript rewritten to what was seen.
    """
    transcript = load(path, setup)
    with open_stages(path, transcript, setup) as stages:
        return perform(transcript, stages, setup.variables)


def texts(path: Path, transcript: Transcript) -> Iterator[tuple[Path, str]]:
    """Yield the files of a transcript and their texts; what is included twice comes twice."""
    yield path, transcript.written()
    yield from _included(path, transcript.parts)


def _house(settings: Settings) -> House:
    """Return a house as the settings describe it."""
    game = settings.game
    house = House(boards(settings), game.quiet_plies, game.seat_grace)
    house.hall.bots = frozenset(each.name for each in settings.bot)
    return house


class _Folder:
    """Where the files are that a file includes: beside it, and never itself."""

    def __init__(self, path: Path, above: tuple[Path, ...] = ()) -> None:
        self._path = path
        self._above = (*above, path.resolve())

    def fetch(self, file: str) -> tuple[str, _Folder]:
        path = self._path.parent / file
        text = _text(path)
        if path.resolve() in self._above:
            raise Unfetched("it would be included in itself")
        return text, _Folder(path, self._above)


def _included(path: Path, parts: tuple[Part, ...]) -> Iterator[tuple[Path, str]]:
    for part in parts:
        if isinstance(part, Inclusion):
            inner = path.parent / part.file
            yield inner, written(part.parts, part.after)
            yield from _included(inner, part.parts)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise Unfetched(str(error.strerror)) from error
    except UnicodeDecodeError as error:
        raise Unfetched("it is not text in UTF-8") from error
    except ValueError as error:  # a name with NUL in it
        raise Unfetched(str(error)) from error


def _lacking(names: list[str]) -> str:
    if names == [""]:
        return "it names no servers, so it needs an address without a name: HOST:PORT"
    addresses = " and ".join(f"{name}=HOST:PORT" for name in names)
    return f"it also needs the address {addresses}"
