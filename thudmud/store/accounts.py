"""Accounts, and the names of guests: what is written of them. Each function is one transaction.

Both belong to a player, by number, of the realm ``""``. Who has a name is found by its key, which
is the name in lower case; so a name is changed or erased in one row, and whatever was played under
it follows. A name that was given up leaves its player without a key: who has it next is another.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from thudmud.play.order import Measure, Network, Order, Sanction, network_of, network_text
from thudmud.store import letters
from thudmud.store.battles import forget_comments
from thudmud.store.database import Database
from thudmud.store.interface import Account, KeptName, NameTaken, Nobody

ADDRESSES_KEPT = 8
"""How many addresses of a name are remembered: those that it came from last."""

LISTS_OF_NAMES = {"ignored", "followed"}
"""The preferences that are lists of names."""

SAME_COMING = 3600
"""Seconds for which it is not noted once more that a name comes from the address it came from."""

_Row = tuple[int, str, str, float, float, int]


def find(database: Database, name: str) -> Account | None:
    """Return the account of a name, which may be banned; None if it has none."""
    row = _row(database, name)
    return _account(database, row) if row else None


def everybody(database: Database) -> Sequence[Account]:
    """Return all accounts, by name."""
    rows = cast("list[_Row]", [tuple(row) for row in database.table.rows("account")])
    found = [_account(database, each) for row in rows if (each := _as_it_holds(database, row))]
    return sorted(found, key=lambda account: account.name.lower())


def enrol(database: Database, name: str, password: str) -> Account:
    """Make an account with the hash of a password; who played under its name has it now.

    Raises:
        NameTaken: there is one.
    """
    if _row(database, name):
        raise NameTaken(f"There is an account {name} already.")
    now, number = database.now(), database.players.number_of(name)
    database.table.put("account", number, password, "{}", now, now, 0)
    database.table.delete("guest", "where player = ?", number)
    return Account(name, password, MappingProxyType({}), now, now)


def set_password(
    database: Database, name: str, password: str, instead_of: str | None = None
) -> None:
    """Set the hash of a member's password; only if it is ``instead_of`` now, where given.

    Raises:
        Nobody: there is no such member, or their password is another one by now.
    """
    number, before, *rest = _member(database, name)
    if instead_of not in (None, before):
        raise Nobody(f"The password of {name} is another one by now.")
    database.table.put("account", number, password, *rest)


def set_preferences(database: Database, name: str, preferences: Mapping[str, Any]) -> None:
    """Set how a member wants things, in values of JSON. Nobody if there is no such member."""
    number, password, _, *rest = _member(database, name)
    database.table.put("account", number, password, json.dumps(dict(preferences)), *rest)


def rename(database: Database, name: str, new: str) -> None:
    """Call a member something else; all they have played is theirs still.

    Raises:
        Nobody: there is no such member.
        NameTaken: somebody else is called that.
    """
    number, *_ = _member(database, name)
    other = database.players.find(new)
    if other and other[0] != number:
        where = "where player = ?"
        for table in ("account", "guest", "claim"):
            if database.table.row(table, where, other[0]):
                raise NameTaken(f"Somebody is called {new} already.")
        _free(database, *other)
    database.players.put(number, "", new.lower(), new)


def erase(database: Database, name: str) -> None:
    """Remove an account, or a guest; with them the name and its addresses, from the disk as well.

    Nobody if there is none. What was played stays, as somebody's; what was commented on it goes,
    and so do letters to them and reports about them. Letters and reports of theirs stay, as
    nobody's. All that holds for guests who had the name before, too, and whoever ignores or follows
    the name does so no longer. A ban stays, since it is the operator's, and is of a name; the
    reason goes. So does the name from what they have done as an operator.
    """
    row = _row(database, name)
    if not ((row and row[1]) or find_guest(database, name)):
        raise Nobody(f"There is no account {name}, and no guest.")
    ban = _sanction_row(database, row[0]) if row and row[5] else None
    for number in database.players.called(name):
        for table in ("account", "guest", "address", "claim", "operator", "sanction"):
            database.table.delete(table, "where player = ?", number)
        for each in list(database.table.rows("sanction", "where operator = ?", number)):
            database.table.put("sanction", *each[:5], 0, each[6])
        forget_comments(database, number)
        letters.erase(database, number)
        database.players.put(number, "", None, f"(erased {number})")
    _forget_in_lists(database, name)
    if row and row[5]:
        until = cast("float | None", ban[4]) if ban else None
        impose(database, Sanction(Measure.BAN, name, until=until))
    database.erased = True


def _forget_in_lists(database: Database, name: str) -> None:
    """Take a name out of the lists of names that other members have."""
    for account in everybody(database):
        kept = {
            key: [each for each in value if str(each).lower() != name.lower()]
            for key, value in account.preferences.items()
            if key in LISTS_OF_NAMES and isinstance(value, list)
        }
        if any(account.preferences[key] != names for key, names in kept.items()):
            set_preferences(database, account.name, {**account.preferences, **kept})


# Order.


def set_operator(database: Database, name: str, *, is_one: bool) -> None:
    """Make a member an operator, or one no longer. Nobody if there is no such member."""
    number, *_ = _member(database, name)
    if is_one:
        database.table.put("operator", number, database.now())
    else:
        database.table.delete("operator", "where player = ?", number)


def impose(database: Database, sanction: Sanction) -> None:
    """Keep that somebody is muted or banned, be there an account of theirs or not.

    It takes the place of the one before, and begins now.
    """
    _forget_ended(database)
    number, network = _place(database, sanction)
    now, by = database.now(), database.players.number_of(sanction.by)
    if sanction.measure is Measure.BAN and not network:
        row = _row(database, sanction.whom) or (number, "", "{}", now, now, 0)
        database.table.put("account", *row[:5], 1)
    place = sanction.measure.value, number, network
    database.table.put("sanction", *place, now, sanction.until, by, sanction.why)


def ban(database: Database, name: str) -> None:
    """Let nobody in under a name, be there an account of it or not, until that is ended."""
    impose(database, Sanction(Measure.BAN, name))


def unban(database: Database, name: str) -> None:
    """Let a name in again; Nobody if it is not banned."""
    lift(database, Sanction(Measure.BAN, name))


def lift(database: Database, sanction: Sanction) -> None:
    """Let somebody be heard, or in, again; a name without an account is free again.

    Nobody if there is nothing of the kind.
    """
    number, network = _place(database, sanction)
    is_ban = sanction.measure is Measure.BAN
    row = _row(database, sanction.whom) if is_ban and not network else None
    is_banned = bool(row and row[5])
    if row and is_banned:
        _let_in(database, row)
    where = "where measure = ? and player = ? and network = ?"
    gone = database.table.delete("sanction", where, sanction.measure.value, number, network)
    if not (gone or is_banned):
        raise Nobody(f"{sanction.whom} is not {'banned' if is_ban else 'muted'}.")


def order(database: Database) -> Order:
    """Return who keeps order, and what measures hold."""
    now = database.now()
    # These in one round trip: each node asks again whenever another one has written anything.
    kept, banned, sanctions = database.table.several(
        database.backend,
        ("operator", "", ()),
        ("account", "where banned = 1", ()),
        ("sanction", "", ()),
    )
    operators = [database.players.name_of(cast("int", row[0])) for row in kept]
    mutes: dict[str, Sanction] = {}
    bans: dict[str, Sanction] = {}
    networks: dict[Network, Sanction] = {}
    for number, _, _, _, seen_at, _ in banned:
        name = database.players.name_of(cast("int", number))
        bans[name.lower()] = Sanction(Measure.BAN, name, since=cast("float", seen_at))
    for row in sanctions:
        sanction = _sanction(database, row)
        of_its_kind = mutes if sanction.measure is Measure.MUTE else bans
        if network := network_of(cast("str", row[2])):
            networks[network] = sanction
        else:
            of_its_kind[sanction.whom.lower()] = sanction
    return Order(
        frozenset(map(str.lower, operators)),
        {name: each for name, each in mutes.items() if each.holds(now)},
        {name: each for name, each in bans.items() if each.holds(now)},
        {network: each for network, each in networks.items() if each.holds(now)},
    )


def _place(database: Database, sanction: Sanction) -> tuple[int, str]:
    """Return the player, or the network, whom a measure is against, as its row has them."""
    if network := network_of(sanction.whom):
        return 0, str(network)
    found = database.players.find(sanction.whom)
    return (found[0] if found else database.players.number_of(sanction.whom)), ""


def _sanction(database: Database, row: Sequence[object]) -> Sanction:
    measure, player, network, since, until, by, why = cast("Any", row)
    named = network_of(network)
    whom = network_text(named) if named else database.players.name_of(player)
    return Sanction(Measure(measure), whom, database.players.name_of(by), since, until, why)


def _sanction_row(database: Database, number: int) -> Sequence[object] | None:
    """Return the row that says for how long a player is banned; without one it is for good."""
    return database.table.row("sanction", "where measure = 'ban' and player = ?", number)


def _forget_ended(database: Database) -> None:
    """Remove the measures that have ended."""
    now = database.now()
    for row in list(database.table.rows("sanction", "where until <= ?", now)):
        number = cast("int", row[1])
        account = number and database.table.row("account", "where player = ?", number)
        if row[0] == Measure.BAN.value and account and account[5]:
            _let_in(database, cast("_Row", tuple(account)))
    database.table.delete("sanction", "where until <= ?", now)


def _let_in(database: Database, account: _Row) -> None:
    """Write that the one with a row of ``account`` is banned no longer."""
    if account[1]:
        database.table.put("account", *account[:5], 0)
    else:
        database.table.delete("account", "where player = ?", account[0])


def find_guest(database: Database, name: str) -> KeptName | None:
    """Return what is kept of a guest's name, if anything is."""
    found = database.players.find(name)
    row = found and database.table.row("guest", "where player = ?", found[0])
    return KeptName(found[1], *cast("tuple[bytes, float]", row[1:])) if found and row else None


def keep_guest(database: Database, kept: KeptName, instead_of: KeptName | None = None) -> bool:
    """Keep a name for a guest.

    Args:
        database: where.
        kept: the name, and what shows that it is theirs. With another word than before it is
            another guest's, who has nothing to do with what was played under it.
        instead_of: what was found of that name before, if anything.

    Returns:
        Whether it is kept; not if somebody else has got the name since it was looked for.
    """
    if _row(database, kept.name):
        return False
    before = find_guest(database, kept.name)
    if (before and before.word) != (instead_of and instead_of.word):
        return False
    if before and before.word != kept.word:
        _free(database, *cast("tuple[int, str]", database.players.find(kept.name)))
    number = database.players.number_of(kept.name)
    database.table.put("guest", number, kept.word, float(kept.seen))
    return True


def guests(database: Database, before: float = math.inf) -> Sequence[str]:
    """Return the names of the guests who were last here before a time, by name."""
    rows = database.table.rows("guest", "where seen < ?", before)
    return sorted((database.players.name_of(cast("int", row[0])) for row in rows), key=str.lower)


def forget_guests(database: Database, names: Sequence[str], before: float = math.inf) -> None:
    """Keep the names of these guests no longer; of those who were last here before a time.

    Who has such a name next is another player.
    """
    for name in names:
        kept = find_guest(database, name)
        # Whose name is banned has it until that ends: else another player would.
        if kept and kept.seen < before and not _row(database, name):
            _free(database, *cast("tuple[int, str]", database.players.find(name)))


def seen(
    database: Database,
    times: Mapping[str, float],
    addresses: Iterable[tuple[str, str]] = (),
) -> None:
    """Note when players, members and guests, were here, and from which addresses they came.

    Args:
        database: where.
        times: by name, when they were here, in seconds since the epoch.
        addresses: names, each with an address that it came from by right, in the order of that.
    """
    for name, time in times.items():
        if row := _row(database, name):
            database.table.put("account", *row[:4], float(time), row[5])
        elif kept := find_guest(database, name):
            number = database.players.number_of(kept.name)
            database.table.put("guest", number, kept.word, float(time))
    for name, address in addresses:
        found = database.players.find(name)
        if found and (_row(database, name) or find_guest(database, name)):
            _came_from(database, found[0], address)


def addresses(database: Database, name: str) -> Sequence[str]:
    """Return the addresses that a member or a guest came from last, the latest first."""
    found = database.players.find(name)
    return [cast("str", row[1]) for row in _addresses(database, found[0])] if found else []


def _addresses(database: Database, number: int) -> Sequence[Sequence[object]]:
    return list(database.table.rows("address", "where player = ? order by coming desc", number))


def _came_from(database: Database, number: int, address: str) -> None:
    known = _addresses(database, number)
    now, last = int(database.now()), cast("int", known[0][2]) if known else 0
    if known and known[0][1] == address and now < last + SAME_COMING:
        return
    database.table.put("address", number, address, max(now, last + 1))
    for _, old, _ in [row for row in known if row[1] != address][ADDRESSES_KEPT - 1 :]:
        database.table.delete("address", "where player = ? and address = ?", number, old)


def forget_addresses(database: Database, before: float) -> None:
    """Forget, on the disk as well, which addresses names have come from before a time only."""
    if database.table.delete("address", "where coming < ?", int(before)):
        database.erased = True


def _free(database: Database, number: int, name: str) -> None:
    """Let a guest's name go."""
    for table in ("guest", "address", "sanction"):
        database.table.delete(table, "where player = ?", number)
    database.players.put(number, "", None, name)


def _row(database: Database, name: str) -> _Row | None:
    found = database.players.find(name)
    row = found and database.table.row("account", "where player = ?", found[0])
    return _as_it_holds(database, cast("_Row", tuple(row))) if row else None


def _as_it_holds(database: Database, row: _Row) -> _Row | None:
    """Return a row of an account as it is now: a ban may have ended; then a mere name has none."""
    ban = _sanction_row(database, row[0]) if row[5] else None
    until = cast("float | None", ban[4]) if ban else None
    if until is None or database.now() < until:
        return row
    return (*row[:5], 0) if row[1] else None


def _member(database: Database, name: str) -> _Row:
    row = _row(database, name)
    if row is None or not row[1]:
        raise Nobody(f"There is no account {name}.")
    return row


def _account(database: Database, row: _Row) -> Account:
    number, password, preferences, created, seen_at, banned = row
    wanted = MappingProxyType(json.loads(preferences))
    is_operator = database.table.row("operator", "where player = ?", number) is not None
    name = database.players.name_of(number)
    return Account(name, password, wanted, created, seen_at, bool(banned), is_operator)
