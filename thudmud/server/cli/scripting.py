"""`thudmud script`: transcripts, played; what does not fit is printed, or written down."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from thudmud.rules.english import counted
from thudmud.script import Missed, StageError, Transcript, TranscriptError
from thudmud.server import config_file
from thudmud.server.cli.junit import TranscriptResult, junit
from thudmud.server.cli.options import UNUSABLE, CommandError, refuse
from thudmud.server.cli.staging import (
    Setup,
    play,
    texts,
)

MISMATCH = 1
"""The exit status where what was seen is not what was expected."""


def run(options: argparse.Namespace) -> int:
    """Play transcripts; print what does not fit, and how much was played."""
    if options.connect and options.config:
        return refuse("--config: with --connect the server has its own configuration")
    setup = Setup(options.config, dict(options.connect), dict(options.variables))
    results = [_play(path, setup, update=options.update) for path in options.files]
    status = max(map(_told, results))
    if options.junit:
        try:
            options.junit.write_text(junit(results), encoding="utf-8")
        except OSError as error:
            return refuse(f"{options.junit}: {error.strerror}")
    if status == 0 and not options.update:
        print(f"{counted(len(results), 'transcript')}: all as expected")
    return status


def _play(path: Path, setup: Setup, *, update: bool) -> TranscriptResult:
    began = time.monotonic()
    problems: Sequence[str] = ()
    try:
        mismatches, updated = play(path, setup)
        if update and not any(isinstance(each, Missed) for each in mismatches):
            problems, mismatches = _update(path, updated), []
    except (TranscriptError, StageError) as error:
        problems = [f"{path}: {error}"]
        mismatches = list(error.mismatches) if isinstance(error, StageError) else []
    except config_file.ConfigError as error:
        problems, mismatches = error.problems, []
    except CommandError as error:
        problems, mismatches = [str(error)], []
    return TranscriptResult(path, mismatches, problems, time.monotonic() - began)


def _told(result: TranscriptResult) -> int:
    """Print what did not fit; return the exit status that this means."""
    for mismatch in result.mismatches:
        print(f"{result.path}: {mismatch}")
    refuse(*result.problems)
    if result.problems:
        return UNUSABLE
    return MISMATCH if result.mismatches else 0


def _update(path: Path, transcript: Transcript) -> Sequence[str]:
    """Write down what was seen, in included files too; return what went wrong."""
    written: dict[Path, tuple[Path, set[str]]] = {}
    for file, text in texts(path, transcript):
        written.setdefault(file.resolve(), (file, set()))[1].add(text)
    problems = []
    for file, versions in written.values():
        text, *others = versions
        try:
            if others:
                problems.append(f"{file}: included more than once, and each time differs")
            elif file.read_text(encoding="utf-8") != text:
                file.write_text(text, encoding="utf-8")
                print(f"{file}: updated")
        except OSError as error:
            problems.append(f"{file}: {error.strerror}")
    return problems
