"""`thudmud board`: list, open, close and rename boards, even while the server runs."""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path

from thudmud.cli.common import refuse
from thudmud.cli.configured import config_option, open_store, reports_errors
from thudmud.cli.records import ruleset_named
from thudmud.english import pluralize
from thudmud.errors import CommandError, RefusedError
from thudmud.rules import DEFAULT_RULES, RULESETS, Side
from thudmud.server.config import load_settings, named_or_default
from thudmud.service.boards import (
    close_board,
    load_open_boards,
    load_table,
    open_board,
    rename_board,
)
from thudmud.store import Store
from thudmud.views.refusals import refusal_text


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "List, open, close and rename the boards in the hall. The server may be running: players "
        "see the change at once. To change the boards of config.toml, edit that file."
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for word, described, example in (
        ("list", "list the boards and their players", ""),
        ("open", "open a board", "yew board --rules classic"),
        ("close", "close a board; a match in progress there is adjourned", "yew board"),
        ("rename", "rename a board; the game there goes on", "yew board to fir board"),
    ):
        action = actions.add_parser(
            word,
            help=described,
            description=f"{described.capitalize()}.",
            epilog=f"Example: thudmud board {word} {example}".rstrip(),
        )
        action.set_defaults(run=run, action=word)
        if word != "list":
            words = "its name; the new one may follow it" if word == "rename" else "its name"
            action.add_argument("name", nargs="+", metavar="NAME", help=words)
        if word == "open":
            names = ", ".join(f'"{name}"' for name in RULESETS)
            action.add_argument(
                "--rules", type=ruleset_named, metavar="RULES", default=DEFAULT_RULES, help=names
            )
        if word == "rename":
            action.add_argument(
                "--to", nargs="+", metavar="NAME", help='its new name, as after the word "to"'
            )
        config_option(action)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Carry out an action on the boards in the configured store."""
    try:
        asyncio.run(_act(options))
    except RefusedError as refusal:
        return refuse(refusal_text(refusal))
    return 0


async def _act(options: argparse.Namespace) -> None:
    async with open_store(options.config, reading=options.action == "list") as store:
        if options.action == "list":
            await _list(store)
            return
        name, now = " ".join(options.name), time.time()
        match options.action:
            case "open":
                await open_board(store, name, options.rules.name, now)
                print(f"The {name} is open ({options.rules.name} rules).")
            case "close":
                _require_unlisted(options.config, name)
                await close_board(store, name, now)
                print(f"The {name} is closed.")
            case "rename":
                name, new = await _both_names(store, options.name, options.to)
                _require_unlisted(options.config, name)
                await rename_board(store, name, new, now)
                print(f"The {name} is now the {new}.")


async def _both_names(store: Store, words: list[str], new: list[str] | None) -> tuple[str, str]:
    """Return the old and the new name of a board to rename.

    Args:
        store: the store.
        words: the old name; without ``new``, the old name followed by the new one.
        new: the new name, if ``--to`` has given it.

    Raises:
        CommandError: it is unclear where the new name begins.
    """
    if new:
        return " ".join(words), " ".join(new)
    if len(words) > 2 and "to" in words[1:-1]:
        at = words.index("to", 1)
        return " ".join(words[:at]), " ".join(words[at + 1 :])
    if len(words) == 2:
        return words[0], words[1]
    boards = {board.name.lower() for board in await load_open_boards(store)}
    for at in range(len(words) - 1, 0, -1):
        if " ".join(words[:at]).lower() in boards:
            return " ".join(words[:at]), " ".join(words[at:])
    raise CommandError(
        "expected the name of a board and its new name, such as: "
        'thudmud board rename "yew board" "fir board"'
    )


async def _list(store: Store) -> None:
    boards = await load_open_boards(store)
    for board in boards:
        table = await load_table(store, board)
        seats = [f"{table.seats.get(side, 'nobody')} plays the {side.plural}" for side in Side]
        key = "" if board.key == board.name else f" (key: {board.key})"
        print(f"{board.name}{key}: {table.ruleset.name}, {', '.join(seats)}")
    print(pluralize(len(boards), "board"))


def _require_unlisted(config: Path | None, name: str) -> None:
    """Raise `CommandError` if the configuration lists a board of that name."""
    path = named_or_default(config)
    for board in load_settings(path).board:
        if board.name.lower() == name.lower():
            where = f"in {path}" if path else "one of the default boards"
            raise CommandError(
                f"the {board.name} is {where}, and would be back at the next start of the server: "
                "change it there"
            )
