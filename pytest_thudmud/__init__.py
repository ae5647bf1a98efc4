"""A pytest plugin by which transcripts, `*.thud-script`, are tests: its options, and its files.

``-p pytest_thudmud`` loads it; other runs of pytest where thudmud is installed don't. It imports
nothing of thudmud until there is a transcript.
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
        "play transcripts on a running server; NAME is the server's name in a transcript "
        "with several",
    ),
    (
        "thud_set",
        "--thud-set",
        "NAME=VALUE",
        "set a variable of transcripts",
    ),
)
"""Options that may be given more than once."""

MUD_OPTIONS = (
    ("thud_login", "FILE", "a transcript that logs players in on a server other than thudmud"),
    ("thud_prompt", "REGEX", "remove this from the beginning of lines there"),
    ("thud_mark", "LINE", "a line whose last word is repeated in its answer there"),
)

FLAGS = (
    ("thud_plain", "remove colours from that server's output"),
    ("thud_strict", "fail on each step without expectations that has output"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options of the command line, and those of the configuration file."""
    group = parser.getgroup("thudmud", "transcripts (thudmud)")
    for name, option, metavar, words in OPTIONS:
        group.addoption(option, action="append", default=[], metavar=metavar, help=words)
        parser.addini(name, f"{words}, one a line", type="linelist", default=[])
    for name, metavar, words in MUD_OPTIONS:
        group.addoption(_option(name), default="", metavar=metavar, help=words)
        parser.addini(name, words, type="string", default="")
    for name, words in FLAGS:
        group.addoption(_option(name), action="store_true", default=False, help=words)
        parser.addini(name, words, type="bool", default=False)
    boards = "the boards to play transcripts on: a config.toml of thudmud"
    parser.addini("thud_config", boards, type="string", default="")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """See to it that a value is given to no variable that there is not."""
    if config.getoption("thud_set"):
        from pytest_thudmud.collecting import require_known_variables  # noqa: PLC0415  (see above)

        require_known_variables(config, items)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect transcripts."""
    if file_path.suffix != SUFFIX:
        return None
    from pytest_thudmud.collecting import TranscriptFile  # noqa: PLC0415  (see above)

    file: pytest.Collector = TranscriptFile.from_parent(parent, path=file_path)
    return file
