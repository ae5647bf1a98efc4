"""Transcripts in files, with those that they include, and the stages that they are played on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from thudmud.bots.adviser import OwnAdviser
from thudmud.bots.naming import name_bots
from thudmud.cli.common import CommandError
from thudmud.cli.remote_stage import RemoteStage
from thudmud.house import House
from thudmud.play.order import Order
from thudmud.script import (
    HouseStage,
    Mismatch,
    Stage,
    StageError,
    Transcript,
    TranscriptError,
    perform,
)
from thudmud.script.reading import Include, IncludeError
from thudmud.script.transcript import Inclusion, Part, written
from thudmud.server.config import ConfigError, load_settings
from thudmud.server.serve import boards, caps, level_of_each

Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Setup:
    """How transcripts are played.

    Attributes:
        config: the configuration for transcripts that name none; the defaults if None.
        addresses: where servers listen, by the names that transcripts give them; "" is the one for
            transcripts that name none. If this is empty, a `House` takes the place of each.
        variables: the values of some variables.
    """

    config: Path | None = None
    addresses: Mapping[str, Address] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def open_stages(
    path: Path,
    transcript: Transcript,
    setup: Setup = Setup(),
) -> Iterator[Mapping[str, Stage]]:
    """Open the stages for a transcript, by the names of its servers; "" if it names none.

    Raises:
        ConfigError: a configuration cannot be used.
        CommandError: the address of a server is missing.
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
                settings = load_settings(own)
                house = House(
                    boards(settings),
                    adviser=OwnAdviser(),
                    opens_boards=True,
                    teaches=True,
                    **settings.game.limits,
                )
                name_bots(house.hall, level_of_each(settings))
                house.hall.order = Order()
                house.hall.caps = caps(settings)
                stages[name] = HouseStage(house, time.time)
        yield stages


def play(
    path: Path,
    setup: Setup = Setup(),
) -> tuple[list[Mismatch], Transcript]:
    """Play the transcript in a file.

    Returns:
        What did not fit, and the transcript rewritten to what was seen.

    Raises:
        TranscriptError: a line means nothing; this names the line, not the file.
        StageError: a step could not be played; this, too, names the line.
        ConfigError: a configuration cannot be used.
        CommandError: the file cannot be read, or the address of a server is missing.
    """
    try:
        text = _text(path)
    except IncludeError as error:
        raise CommandError(f"{path}: {error}") from error
    transcript = Transcript.parse(text, _including(path), setup.variables)
    with open_stages(path, transcript, setup) as stages:
        return perform(transcript, stages, setup.variables)


def attempt(
    path: Path, setup: Setup, shown: str | None = None
) -> tuple[list[Mismatch], list[str], Transcript | None]:
    """Play the transcript in a file; return what goes wrong, instead of raising it.

    Args:
        path: the file.
        setup: how it is played.
        shown: what the file is called in problems; by default its path.

    Returns:
        What did not fit, the problems that kept it from being played to its end, a line each, and
        the transcript rewritten to what was seen; None if there were problems.
    """
    try:
        mismatches, updated = play(path, setup)
    except StageError as error:
        return list(error.mismatches), [f"{shown or path}: {error}"], None
    except TranscriptError as error:
        return [], [f"{shown or path}: {error}"], None
    except ConfigError as error:
        return [], list(error.problems), None
    except CommandError as error:
        return [], [str(error)], None
    return mismatches, [], updated


def texts(path: Path, transcript: Transcript) -> Iterator[tuple[Path, str]]:
    """Yield the files of a transcript and their texts; what is included twice comes twice."""
    yield path, transcript.written()
    yield from _included(path, transcript.parts)


def _including(path: Path, above: tuple[Path, ...] = ()) -> Include:
    """Return what reads the files that a file includes: beside it, and never itself."""
    above = (*above, path.resolve())

    def include(file: str) -> tuple[str, Include]:
        included = path.parent / file
        text = _text(included)
        if included.resolve() in above:
            raise IncludeError("it would be included in itself")
        return text, _including(included, above)

    return include


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
        raise IncludeError(str(error.strerror)) from error
    except UnicodeDecodeError as error:
        raise IncludeError("it is not text in UTF-8") from error
    except ValueError as error:  # a name with NUL in it
        raise IncludeError(str(error)) from error


def _lacking(names: list[str]) -> str:
    if names == [""]:
        return "it names no servers, so it needs an address without a name: HOST:PORT"
    addresses = " and ".join(f"{name}=HOST:PORT" for name in names)
    return f"it also needs the address {addresses}"
