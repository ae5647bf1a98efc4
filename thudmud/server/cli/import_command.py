"""The options of `thudmud import`. `thudmud.server.cli.importing` is what runs."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from thudmud.rules import RULESETS
from thudmud.server.cli.options import later
from thudmud.server.cli.reading import ruleset_named

_PLAYER = re.compile(r"[A-Za-z]{2,20}")


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Bring records of battles in from files. Every ply is checked by the rules. "
        "The names of files that export has written tell the rest: the day, the rules, who played "
        "and how it ended. For others give it here; their day is that of the file. What is there "
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
    if not _PLAYER.fullmatch(name):
        raise argparse.ArgumentTypeError(f"should be 2 to 20 letters from A to Z, not {name!r}")
    return name[:1].upper() + name[1:]
