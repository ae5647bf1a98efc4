"""What came of transcripts as JUnit XML, the form that CI systems read.

One suite, and a case for each transcript. Elements and attributes are those that pytest writes and
the schema of Jenkins allows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from thudmud.script import Mismatch

SUITE = "thudmud"

# All that XML 1.0 can hold, not even escaped (section 2.2).
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class TranscriptResult:
    """What came of a transcript: what did not fit, and why it could not be played to its end."""

    path: Path
    mismatches: Sequence[Mismatch]
    problems: Sequence[str]
    seconds: float


def junit(results: Sequence[TranscriptResult]) -> str:
    """Return the results as a document."""
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
