"""`thudmud user`: lists and changes the accounts of players, also while the server runs.

Hashes are never printed, nor is any password but one that has just been made up.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import secrets
import string
import sys
import time

from thudmud.accounts.passwords import Passwords, password_problem
from thudmud.cli.common import CommandError
from thudmud.cli.configured import config_option, open_store, tells_errors
from thudmud.english import capitalised, counted
from thudmud.language.parsing import player_problem
from thudmud.service.boards import boards_up, table_of
from thudmud.store import Account, Store
from thudmud.views.refusals import refused


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "List and change the accounts of players. The server may be running: changes take effect "
        "at once, and players who are banned or removed are disconnected."
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for word, act, help_ in (
        ("list", _list, "list the accounts and who is banned, or one of them"),
        ("reset", _reset, "give an account a new password"),
        ("remove", _remove, "remove an account, and the name from all that was played"),
        ("ban", _ban, "keep a player out, with or without an account"),
        ("unban", _unban, "let a banned player in again"),
    ):
        action = actions.add_parser(word, help=help_, description=f"{help_.capitalize()}.")
        action.set_defaults(run=run, act=act)
        optional = "?" if act is _list else None
        action.add_argument("name", nargs=optional, metavar="NAME", help="the player's name")
        if act is _reset:
            generate = "make a password up and print it, instead of asking for one"
            action.add_argument("--generate", action="store_true", help=generate)
        config_option(action)


_ALPHABET = string.ascii_letters + string.digits
_GENERATED = 16  # characters
_DAY = "%Y-%m-%d %H:%M"


@tells_errors
def run(options: argparse.Namespace) -> int:
    """Do what is asked for with the accounts in the store that the configuration names."""

    async def act() -> None:
        async with open_store(options.config) as store:
            await options.act(store, options)

    asyncio.run(act())
    return 0


async def _list(store: Store, options: argparse.Namespace) -> None:
    if options.name:
        account = await store.find(options.name)
        if account is None:
            raise _no_account(options.name)
        print(_line(account))
        return
    found = await store.accounts()
    for account in found:
        print(_line(account))
    print(counted(len(found), "name"))


async def _reset(store: Store, options: argparse.Namespace) -> None:
    account = await _member(store, options.name)
    password = _generated() if options.generate else _asked_for(account.name)
    passwords = Passwords()
    try:
        await store.set_password(account.name, await passwords.hashed(password))
    finally:
        passwords.close()
    print(f"{account.name} has a new password" + (f": {password}" if options.generate else ""))


async def _remove(store: Store, options: argparse.Namespace) -> None:
    account = await _member(store, options.name)
    if await store.is_served() and (board := await _board_of(store, account.name)):
        raise CommandError(
            f"{account.name} has a seat at the {board}, and the server runs: remove the name when"
            ' the seat is free, or when the server is stopped. "thudmud user ban" keeps them out'
            " meanwhile"
        )
    name = account.name.lower()
    seeks = await store.open_seeks() if await store.is_served() else ()
    if any(name in {seek.player.lower(), seek.to.lower()} for seek in seeks):
        raise CommandError(
            f"{account.name} seeks a match or is asked to one, and the server runs: remove the name"
            ' when the seek has ended, or when the server is stopped. "thudmud user ban" keeps them'
            " out meanwhile"
        )
    await store.erase(account.name)
    name = "the name is banned still" if account.banned else "anybody can have the name"
    print(f"{account.name} is removed; what was played stays, without the name, and {name}")


async def _board_of(store: Store, name: str) -> str | None:
    """Return a board at which somebody has a seat, if there is one."""
    for board in await boards_up(store):
        table = await table_of(store, board)
        if name.lower() in map(str.lower, table.seats.values()):
            return board.name
    return None


async def _ban(store: Store, options: argparse.Namespace) -> None:
    account = await store.find(options.name)
    problem = player_problem(options.name)
    if problem and account is None:
        raise CommandError(f"nobody can be called {options.name!r}: {refused(problem)}")
    name = account.name if account else capitalised(options.name)
    await store.ban(name)
    print(f"{name} is banned" + ("" if account else ", without having an account"))


async def _unban(store: Store, options: argparse.Namespace) -> None:
    account = await store.find(options.name)
    if account is None or not account.banned:
        name = account.name if account else options.name
        raise CommandError(f'{name} is not banned; "thudmud user list" tells who is')
    await store.unban(account.name)
    print(f"{account.name} may come in again")


async def _member(store: Store, name: str) -> Account:
    """Return an account that there is; a name may be banned without one."""
    account = await store.find(name)
    if account is None or not account.password:
        raise _no_account(name)
    return account


def _no_account(name: str) -> CommandError:
    return CommandError(f'there is no account {name!r}; "thudmud user list" lists all')


def _line(account: Account) -> str:
    if not account.password:
        return f"{account.name:20}  banned {_told(account.created)}, has no account"
    line = f"{account.name:20}  since {_told(account.created)}  seen {_told(account.seen)}"
    return f"{line}  banned" if account.banned else line


def _told(seconds: float) -> str:
    return time.strftime(_DAY, time.localtime(seconds))


def _asked_for(name: str) -> str:
    """Return a new password: typed twice on a terminal, else the next line of the input."""
    if sys.stdin.isatty():
        password = getpass.getpass(f"New password for {name}: ")
        if getpass.getpass("The same again: ") != password:
            raise CommandError("the two differ")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    problem = password_problem(password, name)
    if problem:
        raise CommandError(problem)
    return password


def _generated() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(_GENERATED))
