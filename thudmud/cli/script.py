"""`thudmud script`: play transcripts and print mismatches, or update the transcripts.

The results can also be written as JUnit XML for CI systems: one suite with one case per transcript.
Only elements and attributes are used that pytest writes and the Jenkins schema allows.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from thudmud.cli.common import HIGHEST_PORT, UNUSABLE, refuse, write_whole
from thudmud.cli.staging import Address, Performed, Setup, other_mud, play, texts, unknown_variables
from thudmud.english import pluralize
from thudmud.errors import CommandError, system_reason
from thudmud.script import Missed, Transcript
from thudmud.script.reading import SERVER
from thudmud.script.transcript import FORMAT, MORE, NAME
from thudmud.values import Value, replace


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    # Long: one table of arguments, without branches.
    parser.description = f"{FORMAT}\n{MORE}"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a transcript")
    parser.add_argument(
        "--connect",
        type=read_address,
        action="append",
        default=[],
        metavar="[NAME=]HOST:PORT",
        help="play on a running server; NAME is the server's name in a transcript with several",
    )
    other = parser.add_argument_group("with --connect, for a MUD other than thudmud")
    other.add_argument(
        "--login",
        type=Path,
        metavar="FILE",
        help="a transcript that logs a player in, by typing and waiting; ${player} is the name",
    )
    other.add_argument(
        "--prompt", default="", metavar="REGEX", help="remove this from the beginning of lines"
    )
    other.add_argument("--plain", action="store_true", help="remove colours")
    other.add_argument(
        "--mark",
        default="",
        metavar="LINE",
        help="a line whose last word is repeated in its answer, which marks the end of each "
        "response; default: a word that is not a command",
    )
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="the configuration of the boards; default: the built-in one",
    )
    parser.add_argument(
        "--set",
        type=read_variable,
        action="append",
        default=[],
        dest="variables",
        metavar="NAME=VALUE",
        help="set a variable, overriding the transcripts",
    )
    parser.add_argument(
        "--update", action="store_true", help="rewrite the transcripts to match the output"
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="fail on each step without expectations that has output",
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML")
    parser.set_defaults(run=run)


def read_address(text: str) -> tuple[str, Address]:
    """Parse ``[NAME=]HOST:PORT``; an option type for argparse. The name is "" if not given."""
    name, given, place = text.rpartition("=")
    host, _, number = place.rpartition(":")
    right = number.isascii() and number.isdigit() and int(number) <= HIGHEST_PORT
    if not (host and right) or (given and not SERVER.fullmatch(name)):
        wanted = f"expected HOST:PORT or NAME=HOST:PORT, got {text!r}"
        raise argparse.ArgumentTypeError(wanted)
    return name, (host.strip("[]"), int(number))


def read_variable(text: str) -> tuple[str, str]:
    """Parse ``NAME=VALUE``; an option type for argparse."""
    name, given, value = text.partition("=")
    if not (given and NAME.fullmatch(name) and value.isprintable()):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name, value


SUITE = "thudmud"

# Characters that XML 1.0 cannot represent, not even as character references (section 2.2).
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class TranscriptResult(Value):
    """The result of one transcript and the time that it took."""

    path: Path
    performed: Performed
    seconds: float


_XML = len("<?xml")
"""Number of leading bytes by which an existing report is recognised."""


def junit(results: Sequence[TranscriptResult]) -> str:
    """Format results as a JUnit XML document."""
    all_of_them = [each.performed for each in results]
    suite = ET.Element(
        "testsuite",
        name=SUITE,
        tests=str(len(results)),
        failures=str(sum(bool(each.failures and not each.problems) for each in all_of_them)),
        errors=str(sum(bool(each.problems) for each in all_of_them)),
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
    # A case can have only one outcome, so an error includes the mismatches.
    performed = result.performed
    failures = [f"{result.path}: {each}" for each in performed.failures]
    if performed.problems:
        text = "\n".join([*failures, *performed.problems])
        case.append(_outcome("error", performed.problems[0], text))
    elif failures:
        case.append(_outcome("failure", performed.failures[0].heading, "\n".join(failures)))
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
"""Exit status if the output differs from the expectations."""


def run(options: argparse.Namespace) -> int:
    """Play transcripts; print mismatches, or a summary if there are none."""
    if options.connect and options.config:
        return refuse("--config: with --connect, the server has its own configuration")
    if (options.prompt or options.plain or options.mark) and not options.login:
        return refuse("--login: needed for --prompt, --plain and --mark")
    if options.login and not options.connect:
        return refuse("--login: only valid with --connect")
    try:
        setup = Setup(
            options.config,
            dict(options.connect),
            dict(options.variables),
            strict=options.strict,
            mud=options.login
            and other_mud(options.login, options.prompt, options.mark, plain=options.plain),
        )
    except CommandError as error:
        return refuse(error)
    if unknown := unknown_variables(options.files, setup):
        return refuse(f"--set: no transcript has a variable {' or '.join(unknown)}")
    results = [_play(path, setup, update=options.update) for path in options.files]
    status = max(map(_print_result, results))
    if options.junit:
        try:
            write_whole(options.junit, junit(results).encode(), beginning=_XML)
        except CommandError as error:
            return refuse(error)
        except OSError as error:
            return refuse(f"{options.junit}: {system_reason(error)}")
    if status == 0 and not options.update:
        compared = pluralize(sum(each.performed.compared for each in results), "step")
        print(f"{pluralize(len(results), 'transcript')}, {compared} compared: all as expected")
    return status


def _play(path: Path, setup: Setup, *, update: bool) -> TranscriptResult:
    began = time.monotonic()
    performed = play(path, setup)
    missed = any(isinstance(each, Missed) for each in performed.failures)
    if update and performed.updated and not missed:
        performed = replace(performed, failures=(), problems=_update(path, performed.updated))
    return TranscriptResult(path, performed, time.monotonic() - began)


def _print_result(result: TranscriptResult) -> int:
    """Print the mismatches and problems of a transcript; return the exit status."""
    performed = result.performed
    for failure in performed.failures:
        print(f"{result.path}: {failure}")
    refuse(*performed.problems)
    if performed.problems:
        return UNUSABLE
    return MISMATCH if performed.failures else 0


def _update(path: Path, transcript: Transcript) -> list[str]:
    """Rewrite a transcript and its included files to the actual output; return problems."""
    written: dict[Path, tuple[Path, set[str]]] = {}
    for file, text in texts(path, transcript):
        written.setdefault(file.resolve(), (file, set()))[1].add(text)
    problems = []
    for file, versions in written.values():
        text, *others = versions
        try:
            if others:
                problems.append(f"{file}: included more than once, with different results")
            elif file.read_text(encoding="utf-8-sig") != text:
                write_whole(file, text.encode())
                print(f"{file}: updated")
        except OSError as error:
            problems.append(f"{file}: {system_reason(error)}")
    return problems
