"""A pytest plugin by which transcripts, `*.thud-script`, are tests: its options, and its files.

Where thudmud is installed, every run of pytest imports this module. So it imports nothing of
thudmud until there is a transcript.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SUFFIX = ".thud-script"

OPTIONS = (
    (
        "thud_connect",
        "--thud-connect",
        "[NAME=]HOST:PORT",
        "play transcripts on a running server; NAME is what a transcript with several calls it",
    ),
    (
        "thud_set",
        "--thud-set",
        "NAME=VALUE",
        "give a variable of transcripts a value",
    ),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options of the command line, and those of the configuration file."""
    group = parser.getgroup("thudmud", "transcripts (thudmud)")
    for name, option, metavar, words in OPTIONS:
        group.addoption(option, action="append", default=[], metavar=metavar, help=words)
        parser.addini(name, f"{words}, a line each", type="linelist", default=[])
    boards = "the boards to play transcripts on: a config.toml of thudmud"
    parser.addini("thud_config", boards, type="string", default="")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect transcripts."""
    if file_path.suffix != SUFFIX:
        return None
    from pytest_thudmud.collecting import TranscriptFile  # noqa: PLC0415  (see above)

    file: pytest.Collector = TranscriptFile.from_parent(parent, path=file_path)
    return file
