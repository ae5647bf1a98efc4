"""Game records as files, and the journal that they come from or go to.

Owns the names of such files, which tell what a record does not, and how a subcommand comes by the
journal. Must never write into either.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from thudmud.engine import RULESETS
from thudmud.journal import Entry, Journal, JournalError, SqliteJournal
from thudmud.server import config_file
from thudmud.tables.archive import Archive, Battle
from thudmud.text.dates import day

NOBODY = "nobody"
"""Stands in the name of a file for a player who is not known; no player is called that."""

_NAME = re.compile(
    r"\d+_(?P<day>\d{4}-\d\d-\d\d)_(?P<rules>[a-z-]+)_(?P<dwarf>[A-Za-z]+)_(?P<troll>[A-Za-z]+)\.thud",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a battle but for its record.

    Attributes:
        at: when it was played, in seconds since the epoch.
        rules: its ruleset's name.
        dwarf: who played the dwarfs; "" if that is not known.
        troll: the same for the trolls.
    """

    at: float | None = None
    rules: str | None = None
    dwarf: str = ""
    troll: str = ""


@asynccontextmanager
async def open_journal(path: Path) -> AsyncIterator[Journal]:
    """Open a journal, which a server may have open too, and close it in the end.

    Raises:
        JournalError: it cannot be used.
    """
    journal = await SqliteJournal.open(path)
    try:
        yield journal
    finally:
        await journal.close()


def journal_file(config: Path | None) -> Path:
    """Return where the journal is that a configuration names; None is that of this folder, if any.

    Raises:
        ConfigError: the configuration cannot be used.
        JournalError: its journal is in no file.
    """
    path = config_file.named_or_default(config)
    storage = config_file.load(path).storage
    if storage.backend != "sqlite":
        raise JournalError(f'{path}: storage.backend is "{storage.backend}": nothing is in a file')
    return config_file.folder(path) / storage.journal


def file_name(battle: Battle) -> str:
    """Return the name of the file for a battle's record."""
    dwarf, troll = battle.dwarf or NOBODY, battle.troll or NOBODY
    rules = battle.rules.replace(" ", "-")
    return f"{battle.number:06}_{day(battle.at)}_{rules}_{dwarf}_{troll}.thud"


def told_by(name: str) -> Told:
    """Return what the name of a file tells; nothing if it is not one that `file_name` makes."""
    match = _NAME.fullmatch(name)
    at = day_begins(match["day"]) if match else None
    rules = match["rules"].replace("-", " ") if match else ""
    if match is None or at is None or rules not in RULESETS:
        return Told()
    dwarf, troll = ("" if name == NOBODY else name for name in (match["dwarf"], match["troll"]))
    return Told(at, rules, dwarf, troll)


def day_begins(text: str) -> float | None:
    """Return when a day such as 2026-11-20 begins, in epoch seconds; None if it is no day."""
    try:
        first = date.fromisoformat(text)
    except ValueError:
        return None
    return datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp()


def folded(entries: Iterable[Entry]) -> Archive:
    """Return the archive that the landmarks of a journal make."""
    archive = Archive()
    for entry in entries:
        archive.apply(entry.stream, entry.version, entry.event)
    return archive
