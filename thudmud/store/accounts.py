"""Accounts, guests' names and sanctions in the database. Each function runs in a transaction.

They belong to players of the realm ``""``, by number. A player is found by a key, the name in lower
case, so renaming or erasing a player changes one row, and everything played under the name follows.
Giving up a name clears the key: the next to take the name is another player.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from hmac import compare_digest
from types import MappingProxyType
from typing import Any, cast

from thudmud.game.clocks import DAY
from thudmud.game.sanctions import Measure, Network, Order, Sanction, network_of, network_text
from thudmud.store import hooks
from thudmud.store.battles import forget_comments
from thudmud.store.database import Database
from thudmud.store.interface import (
    Account,
    KeptName,
    LastPlace,
    NameTakenError,
    NoSuchAccountError,
    new_epoch,
)
from thudmud.store.rows import reading_row

ADDRESSES_KEPT = 8
"""The number of addresses remembered for each name, the latest ones."""

LISTS_OF_NAMES = {"ignored", "followed"}
"""The preferences that are lists of players' names."""

_OF_A_NAME = (
    *("account", "login", "resume_word", "guest", "guest_choice"),
    *("address", "claim", "operator", "place", "sanction"),
)
"""The tables from which a player's rows are deleted when the name is erased."""

WORDS_KEPT = 4
"""The number of a member's programs that can have a resume word at the same time."""

WORD_LASTS = 30 * DAY
"""Seconds for which a member's resume word is valid.

A program gets a new one each time that it resumes. Correspondence players have to move within 14
days at most. So they never need the password again, with some days to spare, while a word left in a
borrowed browser expires after a month.
"""

USED_WORD_LASTS = DAY
"""Seconds for which a resume word stays valid after another has replaced it."""

_TICK = 0.001

SAME_COMING = 3600
"""Seconds for which a further login from the same address is not recorded again."""

_Row = tuple[int, str, str, float, float, int]


def find(database: Database, name: str) -> Account | None:
    """Return the account called ``name``, even if banned; None if there is none."""
    row = _row(database, name)
    return _account(database, row) if row else None


def is_taken(database: Database, name: str) -> bool:
    """Return whether a name is a member's, banned, or reserved for a guest."""
    return _row(database, name) is not None or find_guest(database, name) is not None


def all_accounts(database: Database) -> Sequence[Account]:
    """Return all accounts, sorted by name."""
    rows = cast("list[_Row]", [tuple(row) for row in database.table.rows("account")])
    found = [
        _account(database, each) for row in rows if (each := _without_ended_ban(database, row))
    ]
    return sorted(found, key=lambda account: account.name.lower())


def enrol(database: Database, name: str, password: str, *, epoch: int = 0) -> Account:
    """Create an account for the current player of a name.

    Args:
        database: the database.
        name: the name.
        password: the hash of the password.
        epoch: the first epoch of the account; 0 for a random one.

    Raises:
        NameTakenError: the name has an account.
    """
    database.tells_watchers = True
    if _row(database, name):
        raise NameTakenError(f"An account {name} already exists.")
    now, number, epoch = database.now(), database.players.number_of(name), epoch or new_epoch()
    database.table.put("account", number, password, "{}", now, now, 0)
    database.table.put("login", number, epoch, now)
    for table in ("guest", "guest_choice"):
        database.table.delete(table, "where player = ?", number)
    return Account(name, password, MappingProxyType({}), now, now, epoch=epoch)


def set_password(
    database: Database, name: str, password: str, *, since: int | None = None, epoch: int = 0
) -> tuple[str, ...]:
    """Set the hash of a member's password, and end all earlier logins, see `end_logins`.

    Args:
        database: the database.
        name: the member's name.
        password: the new hash.
        since: the epoch that the account must have; None for any.
        epoch: the new epoch; 0 for a random one.

    Returns:
        Sentences for the member about what else has ended, see `hooks.logins_ended`.

    Raises:
        NoSuchAccountError: there is no such member, or the epoch has changed.
    """
    database.tells_watchers = True
    number, _, *rest = _member(database, name)
    _require_epoch(database, number, since)
    database.table.put("account", number, password, *rest)
    return _end_logins(database, number, epoch)


def rehash(database: Database, name: str, password: str, instead_of: str) -> None:
    """Replace the hash of a password by another hash of the same password.

    Raises:
        NoSuchAccountError: there is no such member, or the password has been changed meanwhile.
    """
    number, before, *rest = _member(database, name)
    if before != instead_of:
        raise NoSuchAccountError(f"The password of {name} has changed meanwhile.")
    database.table.put("account", number, password, *rest)


# Logins.


def end_logins(
    database: Database, name: str, *, since: int | None = None, epoch: int = 0
) -> tuple[str, ...]:
    """End everything that gives access to a member's account without the password.

    Servers end the sessions of earlier epochs. Resume words are deleted, and the hooks in
    `hooks.logins_ended` end the rest.

    Args:
        database: the database.
        name: the member's name.
        since: the epoch that the account must have; None for any.
        epoch: the new epoch; 0 for a random one.

    Returns:
        Sentences for the member about what else has ended, see `hooks.logins_ended`.

    Raises:
        NoSuchAccountError: there is no such member, or the epoch has changed.
    """
    database.tells_watchers = True
    number = _member(database, name)[0]
    _require_epoch(database, number, since)
    return _end_logins(database, number, epoch)


def _require_epoch(database: Database, number: int, since: int | None) -> None:
    if since not in (None, _epoch(database, number)):
        raise NoSuchAccountError(
            f"The logins of {database.players.name_of(number)} have been revoked in the meantime."
        )


def _end_logins(database: Database, number: int, epoch: int = 0) -> tuple[str, ...]:
    database.table.put("login", number, epoch or new_epoch(), database.now())
    _end_words(database, number)
    told = [ended(database, number) for ended in hooks.logins_ended]
    return tuple(filter(None, told))


def epochs(database: Database, names: Collection[str]) -> Mapping[str, int]:
    """Return the epochs of existing members, by their names as given, see `Account`."""
    found = {name: player[0] for name in names if (player := database.players.find(name))}
    if not found:
        return {}
    rest = f"where player in ({', '.join('?' * len(found))})"
    known = {
        row[0]: cast("int", row[1]) for row in database.table.rows("login", rest, *found.values())
    }
    return {name: known[number] for name, number in found.items() if number in known}


def store_resume_word(
    database: Database, name: str, word: bytes, epoch: int, instead_of: bytes = b""
) -> bool:
    """Store the hash of a new resume word for a member; delete the oldest beyond `WORDS_KEPT`.

    The word that a program has just resumed with stays valid for one more day, in case the new one
    is lost in transit. It is the first to be deleted: otherwise a page that is reloaded a few times
    would log out all other programs.

    Args:
        database: the database.
        name: the member's name.
        word: the hash of the new word.
        epoch: the account's epoch when its owner was authenticated.
        instead_of: the hash of the word, if any, that the program has resumed with.

    Returns:
        False if all logins have ended since then.
    """
    row = _row(database, name)
    if row is None or row[5] or _epoch(database, row[0]) != epoch:
        return False
    given = dict(_words(database, row[0]))
    last = max(given.values(), default=0.0)
    if instead_of in given:
        until = database.now() - WORD_LASTS + USED_WORD_LASTS
        given[instead_of] = min(given[instead_of], until)
        database.table.put("resume_word", row[0], instead_of, given[instead_of])
    oldest_first = sorted(given, key=lambda each: given[each])
    for old in oldest_first[: max(0, len(given) + 1 - WORDS_KEPT)]:
        database.table.delete("resume_word", "where player = ? and word = ?", row[0], old)
    # The times of a member's words differ, so that their order is known.
    database.table.put("resume_word", row[0], word, max(database.now(), last + _TICK))
    return True


def has_resume_word(database: Database, name: str, word: bytes) -> bool:
    """Return whether a hash is that of one of a member's valid resume words."""
    row = _row(database, name)
    known = _words(database, row[0]) if row else []
    return any(compare_digest(each, word) for each, _ in known)


def delete_resume_words(database: Database, name: str) -> None:
    """Delete the resume words of a member, if there is one of that name; logins stay."""
    if found := database.players.find(name):
        _end_words(database, found[0])


def delete_expired_resume_words(database: Database) -> None:
    """Delete the members' resume words that have expired."""
    database.table.delete("resume_word", "where at < ?", database.now() - WORD_LASTS)


def _words(database: Database, number: int) -> list[tuple[bytes, float]]:
    """Return the hashes of a member's valid resume words, and when each was issued."""
    where, since = "where player = ? and at >= ?", database.now() - WORD_LASTS
    rows = database.table.rows("resume_word", where, number, since)
    return [(bytes(cast("bytes", word)), cast("float", at)) for _, word, at in rows]


def _end_words(database: Database, number: int) -> None:
    database.table.delete("resume_word", "where player = ?", number)


def _epoch(database: Database, number: int) -> int:
    row = database.table.row("login", "where player = ?", number)
    return cast("int", row[1]) if row else 0


# Names.


def set_preferences(database: Database, name: str, preferences: Mapping[str, Any]) -> None:
    """Set a member's preferences, as JSON values.

    Raises:
        NoSuchAccountError: there is no such member.
    """
    number, password, _, *rest = _member(database, name)
    database.table.put("account", number, password, json.dumps(dict(preferences)), *rest)


def rename(database: Database, name: str, new: str) -> None:
    """Change a member's name; everything they have played stays theirs.

    Raises:
        NoSuchAccountError: there is no such member.
        NameTakenError: another player has the new name.
    """
    database.tells_watchers = True
    number, *_ = _member(database, name)
    other = database.players.find(new)
    if other and other[0] != number:
        where = "where player = ?"
        for table in ("account", "guest", "claim"):
            if database.table.row(table, where, other[0]):
                raise NameTakenError(f"The name {new} is already taken.")
        _free(database, *other)
    database.players.put(number, "", new.lower(), new)


def erase(database: Database, name: str) -> None:
    """Erase a member or a guest, with their name and addresses, from the disk as well.

    Battles stay, with the name replaced. Erased too are the player's comments on battles, the
    titles of tournaments that they announced, letters to them, reports about them, and their
    notification settings. Letters and reports that they wrote stay, without an author. The same is
    done for all guests who had the name before.

    The name is removed from other members' lists of ignored and followed players, and from the
    sanctions that it imposed as an operator. A ban of the name stays, without its reason, because
    it is the operator's.

    Raises:
        NoSuchAccountError: there is neither a member nor a guest of that name.
    """
    database.tells_watchers = True
    row = _row(database, name)
    if not ((row and row[1]) or find_guest(database, name)):
        raise NoSuchAccountError(f"There is no account or guest {name}.")
    ban = _sanction_row(database, row[0]) if row and row[5] else None
    # Every player who ever had the name, not only its current one.
    for number in database.players.numbers_of_name(name):
        for table in _OF_A_NAME:
            database.table.delete(table, "where player = ?", number)
        for each in list(database.table.rows("sanction", "where operator = ?", number)):
            database.table.put("sanction", *each[:5], 0, each[6])
        forget_comments(database, number)
        for hook in hooks.erased:
            hook(database, number)
        database.players.put(number, "", None, f"(erased {number})")
    _forget_in_lists(database, name)
    if row and row[5]:
        until = cast("float | None", ban[4]) if ban else None
        impose_sanction(database, Sanction(Measure.BAN, name, until=until))
    database.erased = True  # until the -wal has no copy either, see `Database.scrub`


def _forget_in_lists(database: Database, name: str) -> None:
    """Remove a name from other members' lists of names."""
    for account in all_accounts(database):
        kept = {
            key: [each for each in value if str(each).lower() != name.lower()]
            for key, value in account.preferences.items()
            if key in LISTS_OF_NAMES and isinstance(value, list)
        }
        if any(account.preferences[key] != names for key, names in kept.items()):
            set_preferences(database, account.name, {**account.preferences, **kept})


# Order.


def set_operator(database: Database, name: str, *, is_one: bool) -> None:
    """Grant or revoke a member's rights as an operator.

    Raises:
        NoSuchAccountError: there is no such member.
    """
    database.tells_watchers = True
    number, *_ = _member(database, name)
    if is_one:
        database.table.put("operator", number, database.now())
    else:
        database.table.delete("operator", "where player = ?", number)


def impose_sanction(database: Database, sanction: Sanction) -> None:
    """Store a mute or a ban, which begins now and replaces an earlier one.

    The player needs no account.
    """
    database.tells_watchers = True
    _forget_ended(database)
    number, network = _place(database, sanction)
    now, by = database.now(), database.players.number_of(sanction.by)
    if sanction.measure is Measure.BAN and not network:
        row = _row(database, sanction.whom) or (number, "", "{}", now, now, 0)
        database.table.put("account", *row[:5], 1)
        if row[1]:
            _end_logins(database, number)
    place = sanction.measure.value, number, network
    database.table.put("sanction", *place, now, sanction.until, by, sanction.why)


def ban(database: Database, name: str) -> None:
    """Ban a name, which needs no account, until the ban is lifted."""
    impose_sanction(database, Sanction(Measure.BAN, name))


def lift_sanction(database: Database, sanction: Sanction) -> None:
    """Lift a mute or a ban; a banned name without an account becomes free.

    Raises:
        NoSuchAccountError: there is no such mute or ban.
    """
    database.tells_watchers = True
    number, network = _place(database, sanction)
    is_ban = sanction.measure is Measure.BAN
    row = _row(database, sanction.whom) if is_ban and not network else None
    is_banned = bool(row and row[5])
    if row and is_banned:
        _end_ban(database, row)
    where = "where measure = ? and player = ? and network = ?"
    gone = database.table.delete("sanction", where, sanction.measure.value, number, network)
    if not (gone or is_banned):
        raise NoSuchAccountError(f"{sanction.whom} is not {'banned' if is_ban else 'muted'}.")


def order(database: Database) -> Order:
    """Return the operators, and the sanctions in force."""
    now = database.now()
    # One round trip for all three: every node reads them again when another has written anything.
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
    """Return a sanction's player number and network, its key in the table; one is 0 or ""."""
    if network := network_of(sanction.whom):
        return 0, str(network)
    found = database.players.find(sanction.whom)
    return (found[0] if found else database.players.number_of(sanction.whom)), ""


def _sanction(database: Database, row: Sequence[object]) -> Sanction:
    measure, player, network, since, until, by, why = cast("Any", row)
    named = network_of(network)
    whom = network_text(named) if named else database.players.name_of(player)
    with reading_row("sanction", row):
        return Sanction(Measure(measure), whom, database.players.name_of(by), since, until, why)


def _sanction_row(database: Database, number: int) -> Sequence[object] | None:
    """Return the row of a player's ban, with its end; a ban without a row does not end."""
    return database.table.row("sanction", "where measure = 'ban' and player = ?", number)


def _forget_ended(database: Database) -> None:
    """Delete sanctions that have ended."""
    now = database.now()
    for row in list(database.table.rows("sanction", "where until <= ?", now)):
        number = cast("int", row[1])
        account = number and database.table.row("account", "where player = ?", number)
        if row[0] == Measure.BAN.value and account and account[5]:
            _end_ban(database, cast("_Row", tuple(account)))
    database.table.delete("sanction", "where until <= ?", now)


def _end_ban(database: Database, account: _Row) -> None:
    """End the ban of the player with a row of ``account``."""
    if account[1]:
        database.table.put("account", *account[:5], 0)
    else:
        database.table.delete("account", "where player = ?", account[0])


def find_guest(database: Database, name: str) -> KeptName | None:
    """Return a guest's reserved name; None if the name is not reserved."""
    found = database.players.find(name)
    row = found and database.table.row("guest", "where player = ?", found[0])
    return KeptName(found[1], *cast("tuple[bytes, float]", row[1:])) if found and row else None


def reserve_guest_name(
    database: Database, kept: KeptName, instead_of: KeptName | None = None
) -> bool:
    """Reserve a name for a guest.

    With another hash than before, the name is another guest's, and nothing played under it before
    belongs to them.

    Args:
        database: the database.
        kept: the name with its new resume word.
        instead_of: the result of an earlier `find_guest` for the name.

    Returns:
        False if another player has taken the name since ``instead_of`` was read.
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


def guest_preferences(database: Database, name: str) -> Mapping[str, Any] | None:
    """Return a guest's preferences, as JSON values; None if there are none."""
    found = database.players.find(name)
    row = found and database.table.row("guest_choice", "where player = ?", found[0])
    return cast("Mapping[str, Any]", json.loads(str(row[1]))) if row else None


def set_guest_preferences(database: Database, name: str, preferences: Mapping[str, Any]) -> None:
    """Set the preferences of a guest; do nothing if the name is not reserved."""
    if find_guest(database, name):
        number = database.players.number_of(name)
        database.table.put("guest_choice", number, json.dumps(dict(preferences)))


def keep_visitor_preferences(database: Database, name: str, preferences: Mapping[str, Any]) -> None:
    """Set the preferences of somebody else's player, whose name is reserved like a guest's."""
    reserve_guest_name(database, KeptName(name, b"", database.now()))
    set_guest_preferences(database, name, preferences)


def find_place(database: Database, name: str) -> LastPlace | None:
    """Return where a member or a guest was when the server stopped; None if unknown."""
    found = database.players.find(name)
    row = found and database.table.row("place", "where player = ?", found[0])
    return LastPlace(str(row[1]), tuple(json.loads(str(row[2])))) if row else None


def set_places(database: Database, places: Mapping[str, LastPlace | None]) -> None:
    """Record where members and guests are, by name; None forgets it. Others are skipped."""
    for name, place in places.items():
        found = database.players.find(name)
        if found and place is None:
            database.table.delete("place", "where player = ?", found[0])
        elif found and place and (_row(database, name) or find_guest(database, name)):
            database.table.put("place", found[0], place.room, json.dumps(place.observed))


def guests(database: Database, before: float = math.inf) -> Sequence[str]:
    """Return the names of guests who were last online before ``before``, sorted."""
    rows = database.table.rows("guest", "where seen < ?", before)
    return sorted((database.players.name_of(cast("int", row[0])) for row in rows), key=str.lower)


def free_guest_names(database: Database, names: Sequence[str], before: float = math.inf) -> None:
    """Free each given guest name that was last online before ``before``.

    Whoever takes the name next is a different player.
    """
    for name in names:
        kept = find_guest(database, name)
        # A banned name stays until the ban ends: otherwise the ban would hit the next player of
        # that name.
        if kept and kept.seen < before and not _row(database, name):
            _free(database, *cast("tuple[int, str]", database.players.find(name)))


def record_last_seen(
    database: Database,
    times: Mapping[str, float],
    addresses: Iterable[tuple[str, str]] = (),
) -> None:
    """Record when members and guests were last online, and the addresses they came from.

    Args:
        database: the database.
        times: by name, seconds since the epoch.
        addresses: pairs of a name and an address, the oldest first.
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
            _record_address(database, found[0], address)


def addresses(database: Database, name: str) -> Sequence[str]:
    """Return the last addresses of a member or a guest, the latest first."""
    found = database.players.find(name)
    return [cast("str", row[1]) for row in _addresses(database, found[0])] if found else []


def _addresses(database: Database, number: int) -> Sequence[Sequence[object]]:
    return list(database.table.rows("address", "where player = ? order by coming desc", number))


def _record_address(database: Database, number: int, address: str) -> None:
    known = _addresses(database, number)
    now, last = int(database.now()), cast("int", known[0][2]) if known else 0
    if known and known[0][1] == address and now < last + SAME_COMING:
        return
    database.table.put("address", number, address, max(now, last + 1))
    for _, old, _ in [row for row in known if row[1] != address][ADDRESSES_KEPT - 1 :]:
        database.table.delete("address", "where player = ? and address = ?", number, old)


def forget_addresses(database: Database, before: float) -> None:
    """Delete addresses that were last used before ``before``, from the disk as well."""
    if database.table.delete("address", "where coming < ?", int(before)):
        database.erased = True


def _free(database: Database, number: int, name: str) -> None:
    """Free a guest's name."""
    for table in ("guest", "guest_choice", "address", "place", "sanction"):
        database.table.delete(table, "where player = ?", number)
    database.players.put(number, "", None, name)


def _row(database: Database, name: str) -> _Row | None:
    found = database.players.find(name)
    row = found and database.table.row("account", "where player = ?", found[0])
    return _without_ended_ban(database, cast("_Row", tuple(row))) if row else None


def _without_ended_ban(database: Database, row: _Row) -> _Row | None:
    """Return an account's row as of now; a ban that has ended may leave nothing (None)."""
    ban = _sanction_row(database, row[0]) if row[5] else None
    until = cast("float | None", ban[4]) if ban else None
    if until is None or database.now() < until:
        return row
    return (*row[:5], 0) if row[1] else None


def _member(database: Database, name: str) -> _Row:
    row = _row(database, name)
    if row is None or not row[1]:
        raise NoSuchAccountError(f"There is no account {name}.")
    return row


def _account(database: Database, row: _Row) -> Account:
    number, password, preferences, created, seen_at, banned = row
    with reading_row("account", row):
        wanted = MappingProxyType(json.loads(preferences))
    where = "where player = ?", (number,)
    operators, logins = database.table.several(
        database.backend, ("operator", *where), ("login", *where)
    )
    name, epoch = database.players.name_of(number), cast("int", logins[0][1]) if logins else 0
    is_operator = bool(operators)
    return Account(name, password, wanted, created, seen_at, bool(banned), is_operator, epoch)
