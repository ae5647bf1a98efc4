"""The options of `thudmud user`. `thudmud.server.cli.users` is what runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.server.cli.options import later

ACTIONS = {
    "list": "list the accounts and who is banned, or one of them",
    "reset": "give an account a new password",
    "remove": "remove an account, and the name from all that was played",
    "ban": "keep a player out, with an account or without",
    "unban": "let a banned player in again",
}
"""What can be done with accounts, in words."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "List and change the accounts of players. The server may be running: what is changed "
        "holds at once, and who is banned or removed is shown out."
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for word, help_ in ACTIONS.items():
        action = actions.add_parser(word, help=help_, description=f"{help_.capitalize()}.")
        action.set_defaults(run=later("users"), action=word)
        action.add_argument("name", nargs="?" if word == "list" else None, metavar="NAME")
        if word == "reset":
            generate = "print a new password, instead of asking for one"
            action.add_argument("--generate", action="store_true", help=generate)
        action.add_argument(
            "--config", type=Path, metavar="FILE", help="default: ./config.toml if any"
        )
