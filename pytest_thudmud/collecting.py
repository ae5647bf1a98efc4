"""Transcripts as pytest sees them: files with one test each; and how a failure is shown."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import TypeVar

import pytest

from thudmud.cli.script import read_address, read_variable
from thudmud.cli.staging import Setup, other_mud, play, unknown_variables
from thudmud.errors import CommandError

_T = TypeVar("_T")


class TranscriptFailedError(Exception):
    """A transcript that failed, or could not be played; ``str()`` is the report."""


class TranscriptFile(pytest.File):
    """A file that holds a transcript."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the transcript."""
        yield TranscriptItem.from_parent(self, name="transcript", setup=_setup(self.config))


class TranscriptItem(pytest.Item):
    """A transcript, played from its first line to its last.

    Args:
        name: the name of the item in pytest.
        parent: the file of the transcript.
        setup: the settings for playing it.

    Attributes:
        staging: the settings, as given.
    """

    def __init__(self, name: str, parent: pytest.Collector, setup: Setup) -> None:
        super().__init__(name, parent)
        self.staging = setup

    def runtest(self) -> None:
        """Play the transcript; raise TranscriptFailedError if there are failures or problems."""
        path = self.nodeid.partition("::")[0]
        played = play(self.path, self.staging, path)
        # pytest puts the path in front of all that it shows, also in the summary.
        problems = (each.removeprefix(f"{path}: ") for each in played.problems)
        shown = [*map(str, played.failures), *problems]
        if shown:
            raise TranscriptFailedError("\n\n".join(shown))

    def repr_failure(
        self,
        excinfo: pytest.ExceptionInfo[BaseException],
        style: object = None,  # noqa: ARG002  (pytest's own name for it)
    ) -> str:
        """Return the report of a failure, without a traceback: the code is not at fault."""
        if isinstance(excinfo.value, TranscriptFailedError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[PathLike[str], int | None, str]:
        """Return the location of the transcript."""
        return self.path, None, self.path.name


def _setup(config: pytest.Config) -> Setup:
    """Return the settings for playing transcripts, from pytest's options and configuration.

    Raises:
        CollectError: an option is invalid.
    """
    named = config.getini("thud_config")
    boards = config.rootpath / named if named else None
    addresses = dict(_read(config, "thud_connect", read_address))
    variables = dict(_read(config, "thud_set", read_variable))
    login, prompt, mark, plain, strict = (
        config.getoption(f"thud_{each}") or config.getini(f"thud_{each}")
        for each in ("login", "prompt", "mark", "plain", "strict")
    )
    try:
        mud = other_mud(config.rootpath / login, prompt, mark, plain=plain) if login else None
    except CommandError as error:
        raise pytest.Collector.CollectError(f"thud_login: {error}") from error
    return Setup(boards, addresses, variables, strict=strict, mud=mud)


def require_known_variables(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Raise UsageError if the command line sets a variable that none of the transcripts has."""
    transcripts = [each for each in items if isinstance(each, TranscriptItem)]
    typed = {name for name, _ in map(read_variable, config.getoption("thud_set"))}
    for each in transcripts[:1]:
        unknown = unknown_variables([each.path for each in transcripts], each.staging)
        if unset := typed.intersection(unknown):
            raise pytest.UsageError(f"--thud-set: no transcript has {' or '.join(sorted(unset))}")


def _read(config: pytest.Config, name: str, read: Callable[[str], _T]) -> Iterator[_T]:
    """Yield the values of an option, those of the command line last, so that they count."""
    given: Sequence[str] = [*config.getini(name), *config.getoption(name)]
    for text in given:
        try:
            yield read(text)
        except ArgumentTypeError as error:
            raise pytest.Collector.CollectError(f"{name}: {error}") from error
