"""`thudmud script`: plays transcripts; prints what does not fit, or updates them.

The results can also be written as JUnit XML, which CI systems read: one suite, with a case for each
transcript, in the elements and attributes that pytest writes and the schema of Jenkins allows.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree as ET

from thudmud.cli.common import HIGHEST_PORT, UNUSABLE, refuse
from thudmud.cli.staging import Address, Setup, attempt, texts
from thudmud.english import counted
from thudmud.script import Mismatch, Missed, Transcript
from thudmud.script.reading import SERVER
from thudmud.script.transcript import FORMAT, MORE, NAME
from thudmud.values import value

_T = TypeVar("_T")


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = f"{FORMAT}\n{MORE}"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a transcript")
    parser.add_argument(
        "--connect",
        type=_option(read_address),
        action="append",
        default=[],
        metavar="[NAME=]HOST:PORT",
        help="play on a running server; NAME is what a transcript with several calls it",
    )
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="the configuration of the boards; default: the built-in one",
    )
    parser.add_argument(
        "--set",
        type=_option(read_variable),
        action="append",
        default=[],
        dest="variables",
        metavar="NAME=VALUE",
        help="give a variable a value, whatever transcripts set it to",
    )
    parser.add_argument(
        "--update", action="store_true", help="rewrite the transcripts to what is seen"
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML")
    parser.set_defaults(run=run)


def read_address(text: str) -> tuple[str, Address]:
    """Return the name of a server, if one is given, and where it listens.

    Raises:
        ValueError: the text is neither HOST:PORT nor NAME=HOST:PORT.
    """
    name, given, place = text.rpartition("=")
    host, _, number = place.rpartition(":")
    right = number.isascii() and number.isdigit() and int(number) <= HIGHEST_PORT
    if not (host and right) or (given and not SERVER.fullmatch(name)):
        raise ValueError(f"should be HOST:PORT, not {text!r}, or NAME=HOST:PORT")
    return name, (host.strip("[]"), int(number))


def read_variable(text: str) -> tuple[str, str]:
    """Return the name of a variable, and its value.

    Raises:
        ValueError: the text is not NAME=VALUE, in one line.
    """
    name, given, value = text.partition("=")
    if not (given and NAME.fullmatch(name) and value.isprintable()):
        raise ValueError(f"should be NAME=VALUE, not {text!r}")
    return name, value


def _option(read: Callable[[str], _T]) -> Callable[[str], _T]:
    """Return a reader of an option's value whose errors argparse can tell."""

    def reading(text: str) -> _T:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return reading


SUITE = "thudmud"

# All that XML 1.0 can hold, not even escaped (section 2.2).
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@value
class TranscriptResult:
    """What did not fit in a transcript, and why it could not be played to its end, if so."""

    path: Path
    mismatches: Sequence[Mismatch]
    problems: Sequence[str]
    seconds: float


def junit(results: Sequence[TranscriptResult]) -> str:
    """Return the results as a document of XML."""
    suite = ET.Element(
        "testsuite",
        name=SUITE,
        tests=str(len(results)),
        failures=str(sum(bool(each.mismatches and not each.problems) for each in results)),
        errors=str(sum(bool(each.problems) for each in results)),
        skipped="0",
        time=_seconds(sum(each.seconds for each in results)),
    )
    suite.extend(_case(each) for each in results)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _case(result: TranscriptResult) -> ET.Element:
    folders = [part for part in result.path.parent.parts if part.strip("./")]
    case = ET.Element(
        "testcase",
        classname=_plain(".".join(folders) or SUITE),
        name=_plain(result.path.name),
        time=_seconds(result.seconds),
    )
    # A case has one outcome: what did not fit is told with the error, if there is one.
    mismatches = [f"{result.path}: {each}" for each in result.mismatches]
    if result.problems:
        text = "\n".join([*mismatches, *result.problems])
        case.append(_outcome("error", result.problems[0], text))
    elif mismatches:
        case.append(_outcome("failure", result.mismatches[0].heading, "\n".join(mismatches)))
    return case


def _outcome(kind: str, message: str, text: str) -> ET.Element:
    element = ET.Element(kind, message=_plain(message))
    element.text = _plain(text)
    return element


def _plain(text: str) -> str:
    return _NOT_IN_XML.sub(lambda found: f"#x{ord(found[0]):02X}", text)


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


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
    mismatches, problems, updated = attempt(path, setup)
    if update and updated and not any(isinstance(each, Missed) for each in mismatches):
        mismatches, problems = [], _update(path, updated)
    return TranscriptResult(path, mismatches, problems, time.monotonic() - began)


def _told(result: TranscriptResult) -> int:
    """Print what did not fit; return the exit status that this means."""
    for mismatch in result.mismatches:
        print(f"{result.path}: {mismatch}")
    refuse(*result.problems)
    if result.problems:
        return UNUSABLE
    return MISMATCH if result.mismatches else 0


def _update(path: Path, transcript: Transcript) -> list[str]:
    """Rewrite a transcript, and the files that it includes, to what was seen; return problems."""
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
