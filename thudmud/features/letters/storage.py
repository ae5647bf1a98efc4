"""Letters in the database. Each function is one transaction.

Letters belong to players of the realm ``""``, by number, so they survive a change of name. Deleted
letters are soon erased from the disk, as by `thudmud.store.accounts.erase`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import cast

from thudmud.features.letters.commands import SendLetter
from thudmud.features.letters.model import Letter, LettersLookup, Postbox, PostboxLookup
from thudmud.features.options.preferences import followed_of, ignored_of
from thudmud.game.archive import LetterCount, LetterCountLookup
from thudmud.store import accounts, hooks
from thudmud.store.battles import have_played
from thudmud.store.database import Database
from thudmud.store.lookups import answers
from thudmud.store.rows import add_tables

add_tables(
    # Letters to members; ``sender`` is 0 if the sender was erased.
    letter="receiver integer, number integer, sender integer, at real, text text,"
    " is_new integer, primary key (receiver, number)",
)

LETTERS_TOLD = 3
"""The most letters attached to a report about a player: the last ones."""

_LetterRow = tuple[int, int, int, float, str, int]


def post(database: Database, to: str, sender: str, text: str) -> int:
    """Store a letter to a member; return its number.

    Raises:
        NoSuchAccountError: the recipient or the sender isn't a member.
    """
    receiver = database.players.member(to)
    by = database.players.member(sender)
    last = "select coalesce(max(number), 0) from letter where receiver = ?"
    number = database.table.number(last, receiver) + 1
    database.table.put("letter", receiver, number, by, database.now(), text, 1)
    for hook in hooks.letter_posted:
        hook(database, receiver)
    return number


def letters(database: Database, player: str) -> tuple[Letter, ...]:
    """Return all letters to a member, oldest first."""
    return tuple(
        Letter(number, database.players.name_of(sender), at, text, bool(is_new))
        for _, number, sender, at, text, is_new in _letters(database, player)
    )


def count(database: Database, player: str) -> LetterCount:
    """Return the number of a member's letters."""
    rows = _letters(database, player)
    return LetterCount(sum(row[5] for row in rows), len(rows))


def count_from(
    database: Database, player: str, sender: str, followed: Iterable[str] = ()
) -> tuple[int, int, int | None]:
    """Return the number of a member's letters: in all, from one sender, and from strangers.

    The last is None if the sender isn't a stranger. Strangers are players whom the member doesn't
    follow and has never played with.

    Args:
        database: the database.
        player: the member.
        sender: the sender.
        followed: the players whom the member follows.
    """
    rows = _letters(database, player)
    sent = Counter(row[2] for row in rows)
    receiver, writer = database.players.find(player), database.players.find(sender)
    if not receiver or not writer:
        return len(rows), 0, sent.total()
    known = {each[0] for each in map(database.players.find, followed) if each}
    strangers: int | None = None
    if not _knows(database, receiver[0], writer[0], known):
        of_others = (each for each in sent if not _knows(database, receiver[0], each, known))
        strangers = sum(sent[each] for each in of_others)
    return len(rows), sent[writer[0]], strangers


def _knows(database: Database, player: int, other: int, known: Collection[int]) -> bool:
    """Whether another player is among the known ones, or has played with this player."""
    return other in known or have_played(database, player, other)


def mark_read(database: Database, player: str, numbers: Collection[int]) -> None:
    """Mark some of a member's letters as read."""
    for *row, is_new in _letters(database, player):
        if is_new and row[1] in numbers:
            database.table.put("letter", *row, 0)


def forget(database: Database, player: str, numbers: Collection[int]) -> int:
    """Delete some of a member's letters, from the disk as well; return how many there were."""
    found = database.players.find(player)
    if found is None:
        return 0
    where = "where receiver = ? and number = ?"
    gone = sum(database.table.delete("letter", where, found[0], each) for each in numbers)
    database.erased |= gone > 0
    return gone


def erase(database: Database, player: int) -> None:
    """Delete the letters to a player, and the player's name from those to others."""
    database.table.delete("letter", "where receiver = ?", player)
    for row in list(database.table.rows("letter", "where sender = ?", player)):
        database.table.put("letter", *row[:2], 0, *row[3:])


def last_written(database: Database, reader: int, writer: int) -> Sequence[str]:
    """Return the last letters from one player to another, for a report."""
    where = "where receiver = ? and sender = ? order by number"
    rows = cast("list[_LetterRow]", list(database.table.rows("letter", where, reader, writer)))
    return [f"{SendLetter.words}: {text}" for *_, text, _ in rows[-LETTERS_TOLD:]]


@answers(PostboxLookup)
def _postbox(database: Database, lookup: PostboxLookup, _: str) -> Postbox | None:
    account = accounts.find(database, lookup.name)
    if account is None or account.banned:
        return None
    ignored = {name.lower() for name in ignored_of(account.preferences)}
    followed = lookup.followed
    followed = followed_of(account.preferences) if followed is None else followed
    counts = count_from(database, account.name, lookup.sender, followed)
    return Postbox(account.name, lookup.sender.lower() in ignored, *counts)


@answers(LettersLookup)
def _answer_letters_lookup(database: Database, lookup: LettersLookup, _: str) -> tuple[Letter, ...]:
    return letters(database, lookup.player)


@answers(LetterCountLookup)
def _answer_letter_count_lookup(
    database: Database, lookup: LetterCountLookup, _: str
) -> LetterCount:
    return count(database, lookup.player)


hooks.erased.append(erase)
hooks.last_written.append(last_written)


def _letters(database: Database, player: str) -> list[_LetterRow]:
    found = database.players.find(player)
    rest = "where receiver = ? order by number"
    rows = list(database.table.rows("letter", rest, found[0])) if found else []
    return cast("list[_LetterRow]", rows)
