"""Playing transcripts from files: includes, variables, and the stages to play on."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from thudmud.bots.adviser import OwnAdviser
from thudmud.bots.naming import name_bots
from thudmud.bots.session import level_of_each
from thudmud.cli.remote_stage import MARK, PLAYER, OtherMud, OtherMudStage, RemoteStage
from thudmud.errors import CommandError, system_reason
from thudmud.game.sanctions import Order
from thudmud.house import House
from thudmud.immutable import immutable
from thudmud.script import (
    HouseStage,
    Mismatch,
    NothingCompared,
    Stage,
    StageError,
    Transcript,
    TranscriptError,
    perform,
)
from thudmud.script.reading import Include, IncludeError
from thudmud.script.transcript import Inclusion, Part, Setting, written
from thudmud.server.config import ConfigError, load_settings
from thudmud.server.runtime import configure, configured_boards
from thudmud.values import Value
from thudmud.views.words import day

Address = tuple[str, int]

NOW = 1_767_225_600.0
"""The time at which transcripts are played without a server: the first second of 2026. So dates in
their output are the same every day. Each step takes a thousandth of a second, as on a server."""

DATE = "date"
"""A variable that every transcript has: the day of the stage."""


@immutable
@dataclass(frozen=True, slots=True)
class Setup:
    """Settings for playing transcripts.

    Attributes:
        config: configuration for transcripts that name none; None for the defaults.
        addresses: addresses of servers by their names in transcripts; "" is for transcripts that
            name no servers. If empty, every server is replaced by a `House` in this process.
        variables: values of variables, which override those in transcripts.
        strict: whether a step without expectations fails if it produces output.
        mud: description of the MUD at the addresses; None for thudmud.
    """

    config: Path | None = None
    addresses: Mapping[str, Address] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False
    mud: OtherMud | None = None


@contextmanager
def open_stages(
    path: Path,
    transcript: Transcript,
    setup: Setup = Setup(),
) -> Iterator[Mapping[str, Stage]]:
    """Open the stages for a transcript, and close them at the end.

    Args:
        path: file of the transcript.
        transcript: the transcript.
        setup: settings.

    Yields:
        The stages by name of the server; "" if the transcript names none.

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
                address, mud = setup.addresses[name], setup.mud
                stage = OtherMudStage(*address, mud) if mud else RemoteStage(*address)
                stages[name] = stack.enter_context(stage)
            else:
                own = path.parent / config if config else setup.config
                settings = load_settings(own)
                house = House(
                    configured_boards(settings),
                    adviser=OwnAdviser(),
                    opens_boards=True,
                    teaches=True,
                    without=settings.features.off,
                    **settings.game.limits,
                )
                name_bots(house.hall, level_of_each(settings.bot))
                house.hall.use_order(Order())
                configure(house.hall, settings)
                stages[name] = HouseStage(house, map(_time_of, count()).__next__)
        yield stages


def _time_of(step: int) -> float:
    return NOW + step / 1000


class Performed(Value):
    """Result of playing a transcript.

    Attributes:
        failures: mismatches between expectations and output.
        problems: errors that prevented playing to the end, one line each.
        updated: the transcript rewritten to the actual output; None after a problem.
        compared: number of steps with a comparison.
    """

    failures: Sequence[Mismatch | NothingCompared]
    problems: Sequence[str] = ()
    updated: Transcript | None = None
    compared: int = 0


def read_transcript(path: Path, variables: Collection[str] = ()) -> Transcript:
    """Read and parse a transcript.

    Args:
        path: the file.
        variables: names of variables that are set from outside.

    Raises:
        TranscriptError: a line is invalid; the message names the line, but not the file.
        CommandError: the file cannot be read.
    """
    try:
        text = _text(path)
    except IncludeError as error:
        raise CommandError(f"{path}: {error}") from error
    return Transcript.parse(text, _including(path), variables)


def other_mud(login: Path, prompt: str, mark: str, *, plain: bool) -> OtherMud:
    """Create the description of another MUD from command-line options.

    Args:
        login: file of the login transcript, which only types and waits.
        prompt: regular expression of a prompt to remove; "" for none.
        mark: line that ends answers; "" for the default.
        plain: whether to remove colours.

    Raises:
        CommandError: the login transcript or the regular expression is invalid.
    """
    try:
        transcript = read_transcript(login, {PLAYER})
        pattern = re.compile(prompt) if prompt else None
    except TranscriptError as error:
        raise CommandError(f"{login}: {error}") from error
    except re.error as error:
        raise CommandError(f"{prompt!r} is not a valid regular expression: {error}") from error
    for step in transcript.steps:
        if step.expected:
            raise CommandError(f"{login}: line {step.line}: a login only types and waits")
    return OtherMud(transcript, pattern, plain, mark.strip() or MARK)


def play(path: Path, setup: Setup, shown: str | None = None) -> Performed:
    """Play the transcript in a file; errors are returned as problems, not raised.

    Args:
        path: the file.
        setup: settings.
        shown: name of the file in problems; None for its path.
    """
    try:
        transcript = read_transcript(path, {DATE, *setup.variables})
        variables = dict(setup.variables)
        if not any(isinstance(each, Setting) and each.name == DATE for each in transcript.parts):
            variables.setdefault(DATE, day(time.time() if setup.addresses else NOW))
        with open_stages(path, transcript, setup) as stages:
            found = perform(transcript, stages, variables, strict=setup.strict)
    except StageError as error:
        return Performed(error.mismatches, [f"{shown or path}: {error}"])
    except TranscriptError as error:
        return Performed([], [f"{shown or path}: {error}"])
    except ConfigError as error:
        return Performed([], error.problems)
    except CommandError as error:
        return Performed([], [str(error)])
    mismatches, updated = found
    failures = mismatches if mismatches or transcript.compared else [NothingCompared()]
    return Performed(failures, (), updated, transcript.compared)


def unknown_variables(paths: Iterable[Path], setup: Setup) -> list[str]:
    """Return the variables in a setup that none of the transcripts has.

    The result is empty if any transcript is unreadable, because it might have any of them.
    """
    unknown = set(setup.variables)
    try:
        for path in paths:
            unknown -= read_transcript(path, {DATE, *setup.variables}).variables
    except (TranscriptError, CommandError):
        return []
    return sorted(unknown)


def texts(path: Path, transcript: Transcript) -> Iterator[tuple[Path, str]]:
    """Yield all files of a transcript with their contents; a file included twice comes twice."""
    yield path, transcript.written()
    yield from _included(path, transcript.parts)


def _including(path: Path, above: tuple[Path, ...] = ()) -> Include:
    """Return a reader of the files included by a file; it rejects recursive includes.

    Paths are relative to the including file.
    """
    above = (*above, path.resolve())

    def include(file: str) -> tuple[str, Include]:
        included = path.parent / file
        text = _text(included)
        if included.resolve() in above:
            raise IncludeError("includes itself")
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
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise IncludeError(system_reason(error)) from error
    except UnicodeDecodeError as error:
        raise IncludeError("not UTF-8 text") from error
    except ValueError as error:  # a NUL in the file name
        raise IncludeError(str(error)) from error


def _lacking(names: list[str]) -> str:
    if names == [""]:
        return "names no servers: give one address without a name, HOST:PORT"
    addresses = " and ".join(f"{name}=HOST:PORT" for name in names)
    return f"also needs the address {addresses}"
