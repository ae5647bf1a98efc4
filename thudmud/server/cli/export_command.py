"""The options of `thudmud export`. `thudmud.server.cli.exporting` is what runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.server.cli.options import later
from thudmud.text.dates import day_begins


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Write the battles that were played to files, a record each. Its headers, and the name "
        "of its file, tell when and by which rules it was played, by whom, and how it ended. A "
        "battle that is still running or adjourned is left out, and so is one without a ply. The "
        "server may be running."
    )
    parser.set_defaults(run=later("exporting"))
    parser.add_argument("--player", metavar="NAME", help="only the battles of this player")
    parser.add_argument(
        "--since", type=_day, metavar="DATE", help="only those begun on or after 2026-11-20, say"
    )
    parser.add_argument(
        "--to",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the folder, made if need be; default: .",
    )
    parser.add_argument(
        "--bare", action="store_true", help="leave the headers out, for programs that know none"
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="default: ./config.toml if any")


def _day(text: str) -> float:
    begins = day_begins(text)
    if begins is None:
        raise argparse.ArgumentTypeError(f"should be a day such as 2026-11-20, not {text!r}")
    return begins
