"""Transcripts as pytest sees them: files with one test each; and how a failure is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import TypeVar

import pytest

from thudmud.cli.script import read_address, read_variable
from thudmud.cli.staging import Setup, attempt

_T = TypeVar("_T")


class TranscriptFailure(Exception):
    """A transcript that does not fit or cannot be played; ``str()`` is what is shown."""


class TranscriptFile(pytest.File):
    """A file that holds a transcript."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the transcript."""
        yield TranscriptItem.from_parent(self, name="transcript", setup=_setup(self.config))


class TranscriptItem(pytest.Item):
    """A transcript, played from its first line to its last.

    Args:
        name: what pytest calls it.
        parent: the file that it is in.
        setup: how it is played.
    """

    def __init__(self, name: str, parent: pytest.Collector, setup: Setup) -> None:
        super().__init__(name, parent)
        self._setup = setup

    def runtest(self) -> None:
        """Play it."""
        path = self.nodeid.partition("::")[0]
        mismatches, problems, _ = attempt(self.path, self._setup, path)
        # Whatever pytest shows of it has the path in front, also the line of its summary.
        shown = [*map(str, mismatches), *(each.removeprefix(f"{path}: ") for each in problems)]
        if shown:
            raise TranscriptFailure("\n\n".join(shown))

    def repr_failure(
        self,
        excinfo: pytest.ExceptionInfo[BaseException],
        style: object = None,  # noqa: ARG002  (pytest's own name for it)
    ) -> str:
        """Return what is shown of a failure: no traceback, as the code is not at fault."""
        if isinstance(excinfo.value, TranscriptFailure):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[PathLike[str], int | None, str]:
        """Return where the transcript is."""
        return self.path, None, self.path.name


def _setup(config: pytest.Config) -> Setup:
    """Return how transcripts are played in this run of pytest.

    Raises:
        CollectError: an option means nothing.
    """
    named = config.getini("thud_config")
    boards = config.rootpath / named if named else None
    addresses = dict(_read(config, "thud_connect", read_address))
    variables = dict(_read(config, "thud_set", read_variable))
    return Setup(boards, addresses, variables)


def _read(config: pytest.Config, name: str, read: Callable[[str], _T]) -> Iterator[_T]:
    """Yield the values of an option, those of the command line last, so that they count."""
    given: Sequence[str] = [*config.getini(name), *config.getoption(name)]
    for text in given:
        try:
            yield read(text)
        except ValueError as error:
            raise pytest.Collector.CollectError(f"{name}: {error}") from error
