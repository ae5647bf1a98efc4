"""The options of `thudmud import`. `thudmud.server.cli.importing` is what runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.rules import RULESETS
from thudmud.rules.english import capitalised
from thudmud.server.cli.options import later
from thudmud.server.cli.reading import is_player, ruleset_named


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Bring records of battles in from files. Every ply is checked by the rules. "
        "The headers of a record tell the rest: the day, the rules, who played and how it ended. "
        "Where there are none, the name of a file does that export has written. For others give "
        "it here, where no header says otherwise; their day is that of the file. What is there "
        "already, with the same plies, players and day, is refused. The server may be running."
    )
    parser.set_defaults(run=later("importing"))
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a game record")
    names = ", ".join(f'"{name}"' for name in RULESETS)
    rules = f"{names}; by default the first that begins so"
    parser.add_argument("--rules", type=ruleset_named, metavar="NAME", help=rules)
    parser.add_argument("--dwarf", type=_player, metavar="NAME", help="who played them")
    parser.add_argument("--troll", type=_player, metavar="NAME", help="who played them")
    parser.add_argument("--config", type=Path, metavar="FILE", help="default: ./config.toml if any")


def _player(name: str) -> str:
    if not is_player(name):
        raise argparse.ArgumentTypeError(f"should be 2 to 20 letters from A to Z, not {name!r}")
    return capitalised(name)
