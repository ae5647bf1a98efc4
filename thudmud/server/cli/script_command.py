"""The options of `thudmud script`, which `thudmud.server.cli.scripting` runs.

How addresses and variables are written stands here, also for the pytest plugin.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from thudmud.script.format import FORMAT, MORE
from thudmud.script.reading import SERVER
from thudmud.script.variables import NAME
from thudmud.server.cli.options import HIGHEST_PORT, later

Address = tuple[str, int]

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
    parser.add_argument("--config", type=Path, metavar="FILE", help="the boards to play on")
    parser.add_argument(
        "--set",
        type=_option(read_variable),
        action="append",
        default=[],
        dest="variables",
        metavar="NAME=VALUE",
        help="give a variable a value",
    )
    parser.add_argument("--update", action="store_true", help="write down what is seen")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML")
    parser.set_defaults(run=later("scripting"))


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
    """Return what reads an option's value and tells argparse of one that cannot be read."""

    def reading(text: str) -> _T:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return reading
