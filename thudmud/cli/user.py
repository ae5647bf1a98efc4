"""`thudmud user`: list and change the accounts of players, even while the server runs.

Password hashes are never printed. The only password ever printed is a newly generated one.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import json
import secrets
import string
import sys
from functools import partial
from itertools import chain

from thudmud import features
from thudmud.accounts.passwords import Passwords, password_problem
from thudmud.cli.configured import config_option, open_store, reports_errors
from thudmud.english import capitalised, pluralize
from thudmud.errors import CommandError
from thudmud.game.feature import UserAction
from thudmud.game.sanctions import Measure, Order, Sanction, network_of, network_text
from thudmud.language.parsing import player_problem
from thudmud.service.boards import load_open_boards, load_table
from thudmud.store import Account, NoSuchAccountError, Store, accounts, hall, nodes, persons
from thudmud.store.database import Database
from thudmud.views.help import PAGES
from thudmud.views.refusals import refusal_text
from thudmud.views.words import because, minute


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "List and change players' accounts. The server may be running: changes take effect at "
        "once, and players who are banned, removed or given a new password are disconnected."
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for word, act, help_, example in (
        ("list", _list, "list the accounts and the bans, or show one account", ""),
        ("reset", _reset, "give an account a new password, and log it out everywhere", " Anna"),
        ("export", _export, "print all data stored about a player, as JSON", " Anna"),
        ("remove", _remove, "remove an account or a guest, and erase the name everywhere", " Anna"),
        ("operator", _operator, "make a member an operator, who can moderate the game", " Anna"),
        ("ban", _ban, "ban a player (with or without an account), an address or a network",
         " 192.0.2.0/24"),
        ("unban", _unban, "unban a player, an address or a network", " 192.0.2.0/24"),
    ):  # fmt: skip
        action = _action(actions, word, help_, example)
        reads = act in {_list, _export}
        action.set_defaults(run=run, act=act, reads=lambda _, reads=reads: reads)
        optional = "?" if act is _list else None
        action.add_argument("name", nargs=optional, metavar="NAME", help="the player's name")
        if act is _operator:
            revoke = "remove the operator rights"
            action.add_argument("--revoke", action="store_true", help=revoke)
        if act is _reset:
            generate = "generate a password and print it, instead of asking for one"
            action.add_argument("--generate", action="store_true", help=generate)
        config_option(action)
    for each in chain.from_iterable(each.user_actions for each in features.load()):
        action = _action(actions, each.word, each.help)
        action.set_defaults(run=run, act=partial(_act, each), reads=each.reads)
        for name, details in each.options.items():
            action.add_argument(name, **details)
        config_option(action)


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    word: str,
    help_: str,
    example: str = "",
) -> argparse.ArgumentParser:
    """Add the parser of an action; the example is what follows its word."""
    return actions.add_parser(
        word,
        help=help_,
        description=f"{help_.capitalize()}.",
        epilog=f"Example: thudmud user {word}{example}",
    )


_ALPHABET = string.ascii_letters + string.digits
_GENERATED = 16  # characters


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Carry out an action on the accounts in the configured store."""

    async def act() -> None:
        async with open_store(options.config, reading=options.reads(options)) as store:
            await options.act(store, options)

    asyncio.run(act())
    return 0


async def _act(action: UserAction, store: Store, options: argparse.Namespace) -> None:
    for line in await action.act(store, options):
        print(line)


async def _list(store: Store, options: argparse.Namespace) -> None:
    order = await store.watch(accounts.order)
    if options.name:
        account = await store.read(accounts.find, options.name)
        if account is None:
            raise _no_account(options.name)
        print(_line(account, order))
        return
    found = await store.read(accounts.all_accounts)
    for account in found:
        print(_line(account, order))
    for network, ban in order.networks.items():
        print(f"{network_text(network):20}  {_sanction_name(ban)}")
    print(pluralize(len(found), "name"))


async def _reset(store: Store, options: argparse.Namespace) -> None:
    account = await _member(store, options.name)
    password = (
        "".join(secrets.choice(_ALPHABET) for _ in range(_GENERATED))
        if options.generate
        else _read_new_password(account.name)
    )
    passwords = Passwords()
    try:
        await store.write(
            accounts.set_password, account.name, await passwords.hash_password(password)
        )
    finally:
        passwords.close()
    print(f"{account.name} has a new password" + (f": {password}" if options.generate else ""))


async def _export(store: Store, options: argparse.Namespace) -> None:
    try:
        kept = await store.read(persons.personal_data, options.name)
    except NoSuchAccountError:
        raise CommandError(f"no player called {options.name!r}") from None
    print(json.dumps(kept, indent=2))


async def _remove(store: Store, options: argparse.Namespace) -> None:
    account, guest = (
        await store.read(accounts.find, options.name),
        await store.read(accounts.find_guest, options.name),
    )
    if not (guest or (account and account.password)):
        raise _no_account(options.name)
    name = account.name if account else guest.name if guest else ""
    is_served = await store.read(nodes.is_served)
    if is_served and (board := await _board_of(store, name)):
        raise CommandError(
            f"{name} has a seat at the {board}, and the server is running: remove the name once "
            'the seat is free, or stop the server first. Meanwhile "thudmud user ban" keeps them '
            "out"
        )
    seeks = await store.read(hall.open_seeks) if is_served else ()
    if any(name.lower() in {seek.player.lower(), seek.to.lower()} for seek in seeks):
        raise CommandError(
            f"{name} has an open seek or challenge, and the server is running: remove the name "
            'once that has ended, or stop the server first. Meanwhile "thudmud user ban" keeps '
            "them out"
        )
    for part in await store.read(hall.parts) if is_served else ():
        if name in part.protected_players():
            raise CommandError(
                f"{name} {part.WHY_KEPT}, and the server is running: remove the name once that is "
                'over, or stop the server first. Meanwhile "thudmud user ban" keeps them out'
            )
    here = {(each.realm, each.name) for each in await store.read(nodes.all_claims)} if guest else ()
    if is_served and ("", name) in here:
        raise CommandError(
            f'{name} is online as a guest: remove the name once they have left. "thudmud user '
            'ban" ends their visit'
        )
    await store.write(accounts.erase, name)
    free = "the name is still banned" if account and account.banned else "the name is free again"
    print(f"removed {name}; past battles remain, without the name, and {free}")
    if not await store.read(Database.scrub):
        print("the -wal file may contain the name until the server stops")


async def _board_of(store: Store, name: str) -> str | None:
    """Return the name of a board at which a player has a seat; None if there is none."""
    for board in await load_open_boards(store):
        table = await load_table(store, board)
        if name.lower() in map(str.lower, table.seats.values()):
            return board.name
    return None


async def _operator(store: Store, options: argparse.Namespace) -> None:
    account = await _member(store, options.name)
    if account.is_operator is not options.revoke:
        raise CommandError(
            f"{account.name} is {'not an' if options.revoke else 'already an'} operator"
        )
    await store.write(accounts.set_operator, account.name, is_one=not options.revoke)
    if options.revoke:
        print(f"{account.name} is no longer an operator")
    else:
        how = '; in the game, "help operators" explains what they can do'
        print(f"{account.name} is an operator{how if 'operators' in PAGES else ''}")


async def _ban(store: Store, options: argparse.Namespace) -> None:
    if network := network_of(options.name):
        name, account = network_text(network), None
    else:
        account = await store.read(accounts.find, options.name)
        problem = player_problem(options.name)
        if problem and account is None:
            raise CommandError(f"{options.name!r} is not a valid name: {refusal_text(problem)}")
        name = account.name if account else capitalised(options.name)
    await store.write(accounts.ban, name)
    print(f"{name} is banned" + ("" if account or network else ", and has no account"))


async def _unban(store: Store, options: argparse.Namespace) -> None:
    order = await store.watch(accounts.order)
    network = network_of(options.name)
    ban = order.networks.get(network) if network else order.bans.get(options.name.lower())
    if ban is None:
        account = await store.read(accounts.find, options.name)
        name = account.name if account else options.name
        raise CommandError(f'{name} is not banned; "thudmud user list" shows who is')
    await store.write(accounts.lift_sanction, ban)
    print(f"{ban.whom} is no longer banned")


async def _member(store: Store, name: str) -> Account:
    """Return an existing account; raise `CommandError` for a banned name without one."""
    account = await store.read(accounts.find, name)
    if account is None or not account.password:
        raise _no_account(name)
    return account


def _no_account(name: str) -> CommandError:
    return CommandError(f'no account {name!r}; "thudmud user list" lists them')


def _line(account: Account, order: Order) -> str:
    name = account.name.lower()
    ban, mute = order.bans.get(name), order.mutes.get(name)
    measures = [_sanction_name(each) for each in (ban, mute) if each]
    if not account.password:
        since = f"  banned {minute(account.created)}"
        return f"{account.name:20}{since}{_terms(ban, ', has no account')}"
    line = f"{account.name:20}  since {minute(account.created)}  seen {minute(account.seen)}"
    return "  ".join([line, *(["operator"] if account.is_operator else []), *measures])


def _sanction_name(sanction: Sanction) -> str:
    return f"{'banned' if sanction.measure is Measure.BAN else 'muted'}{_terms(sanction)}"


def _terms(sanction: Sanction | None, more: str = "") -> str:
    """Format the end, author and reason of a sanction, with `more` before the reason."""
    if sanction is None:
        return more
    until = "" if sanction.until is None else f" until {minute(sanction.until)}"
    by = f" by {sanction.by}" if sanction.by else ""
    return f"{until}{by}{more}{because(sanction.why)}"


def _read_new_password(name: str) -> str:
    """Read a new password: twice from a terminal, or else one line of standard input."""
    if sys.stdin.isatty():
        password = getpass.getpass(f"New password for {name}: ")
        if getpass.getpass("And again: ") != password:
            raise CommandError("the two passwords differ")
    else:
        password = sys.stdin.readline().removeprefix("\ufeff").rstrip("\r\n")
    problem = password_problem(password, name)
    if problem:
        raise CommandError(problem)
    return password
