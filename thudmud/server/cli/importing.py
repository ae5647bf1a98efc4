"""`thudmud import`: records in files, into the journal.

What a record has to be to be taken in stands here, and what is said of one that is not; its plies
are judged by the rules.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from thudmud.errors import ThudmudError
from thudmud.journal import Conflict, Journal, JournalError
from thudmud.language import clean
from thudmud.play.battles import Archive, Battle
from thudmud.play.events import BattleId, Imported
from thudmud.play.match import game_of
from thudmud.rules import (
    RULESETS,
    Record,
    RecordError,
    Side,
    read_record,
    write_record,
)
from thudmud.rules.english import capitalised, counted
from thudmud.server import config_file
from thudmud.server.cli.options import refuse
from thudmud.server.cli.reading import is_player
from thudmud.server.cli.records import BattleDetails, details_in, folded, journal_file, open_journal
from thudmud.text.dates import day, day_begins

STREAM = "(imports)"
"""The stream that imported battles are in; names of boards are made of letters."""
LARGEST = 1_048_576
"""Bytes. A record of a thousand plies has some 10,000."""
MOST_PLIES = 2_000
LONGEST_REASON = 200
REFUSED = 1
"""The exit status if any file was refused."""


class RefusedFileError(ThudmudError):
    """A file is not taken in; ``str()`` says why, in a line that does not name it."""


class KnownError(RefusedFileError):
    """A battle is there already; ``place`` is where."""

    def __init__(self, how: str, place: BattleId) -> None:
        super().__init__(how, place)
        self.how, self.place = how, place

    def __str__(self) -> str:
        return f"it was {self.how} already"


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of the files: the numbers of the battles they became, or why they did not.

    A number is None as long as it is not known, since there is more to bring in.
    """

    accepted: dict[Path, int | None]
    refused: dict[Path, str]


def run(options: argparse.Namespace) -> int:
    """Bring the files in; print what became of each, and how many were accepted and refused."""
    given = BattleDetails(
        None, options.rules and options.rules.name, options.dwarf or "", options.troll or ""
    )
    result = ImportReport({}, {})
    try:
        asyncio.run(_run(journal_file(options.config), options.files, given, result))
    except config_file.ConfigError as error:
        return refuse(*error.problems)
    except JournalError as error:
        _report(result)
        return refuse(error)
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}")
    _report(result)
    return REFUSED if result.refused else 0


def _report(result: ImportReport) -> None:
    for path, number in result.accepted.items():
        print(f"{_shown(path)}: " + (f"battle {number}" if number else "accepted"))
    for path, reason in result.refused.items():
        print(f"thudmud: {_shown(path)}: {reason}", file=sys.stderr)
    accepted = counted(len(result.accepted), "record")
    print(f"{accepted} accepted, {len(result.refused)} refused")


async def _run(
    file: Path, files: Sequence[Path], given: BattleDetails, result: ImportReport
) -> None:
    async with open_journal(file) as journal:
        await bring_in(journal, files, given, result)


async def bring_in(
    journal: Journal, files: Iterable[Path], given: BattleDetails, result: ImportReport
) -> None:
    """Bring files in, one after the other, and note in ``result`` what became of each.

    Args:
        journal: where to.
        files: the files.
        given: what is known of all of them, see `read_file`.
        result: takes the note, so that it is known even if the journal fails halfway.

    Raises:
        JournalError: the journal cannot be read or written.
    """
    imports = _Imports(journal)
    new: dict[Path, BattleId] = {}
    known: dict[Path, BattleId] = {}
    for path in files:
        try:
            new[path] = await imports.add(read_file(path, given))
            result.accepted[path] = None
        except RefusedFileError as refusal:
            result.refused[path] = str(refusal)
            if isinstance(refusal, KnownError):
                known[path] = refusal.place
    archive = folded(await journal.landmarks())
    for path, place in new.items():
        result.accepted[path] = archive.number_of(place)
    for path, place in known.items():
        result.refused[path] += f": battle {archive.number_of(place)}"


def read_file(path: Path, given: BattleDetails) -> Imported:
    """Return the battle that a file tells, checked by the rules.

    What its headers tell goes before what is given, which must not contradict them, and that before
    what its name tells.

    Raises:
        RefusedFileError: it tells none.
    """
    named = details_in(path.name)
    text, changed = _read(path)
    record = _checked(text, given.rules, named.rules or _likely_rules(text))
    game = record.game
    at = changed if named.at is None else named.at
    if record.date:
        at = _day(record.date)
    dwarf = _player(Side.DWARF, record.dwarf, given.dwarf) or named.dwarf
    troll = _player(Side.TROLL, record.troll, given.troll) or named.troll
    outcome = named.outcome(game)
    rules, plies = game.ruleset.name, len(game.moves)
    return Imported(at, "", rules, dwarf, troll, write_record(game), plies, outcome)


def _likely_rules(text: str) -> str:
    """Return the first ruleset whose opening a record begins with, else the first of all."""
    lines = (line.strip() for line in text.splitlines())
    setup = next((line for line in lines if line and not line.startswith("[")), "")
    for rules in RULESETS.values():
        with suppress(RecordError):
            if read_record(setup, rules).game.opening == rules.opening:
                return rules.name
    return next(iter(RULESETS))


def _checked(text: str, given: str | None, likely: str) -> Record:
    """Return the record in a text: by the rules that its headers tell, or given, or likely ones."""
    if len(text.splitlines()) > MOST_PLIES:
        raise RefusedFileError(f"it has more than {MOST_PLIES} lines")
    try:
        record = read_record(text, RULESETS[given] if given else None, default=RULESETS[likely])
    except RecordError as error:
        raise RefusedFileError(_short(str(error))) from None
    if not record.game.moves:
        raise RefusedFileError("it tells of no ply")
    return record


def _day(date: str) -> float:
    begins = day_begins(date)
    if begins is None:
        raise RefusedFileError(f"its date, {date}, is no day")
    return begins


def _player(side: Side, told: str, given: str) -> str:
    """Return who played a side, as a header and an option tell; "" if neither does."""
    if told and not is_player(told):
        right = "should be 2 to 20 letters from A to Z"
        raise RefusedFileError(_short(f"who played the {side.plural} {right}, not {told!r}"))
    if told and given and told.lower() != given.lower():
        raise RefusedFileError(f"it says that {told} played the {side.plural}, not {given}")
    return capitalised(told or given)


def _read(path: Path) -> tuple[str, float]:
    """Return the text in a file and when it was last changed.

    Nothing is read of what cannot be a record: a device, or far too much.
    """
    try:
        if not path.is_file():
            raise RefusedFileError("it is not a file" if path.exists() else "there is no such file")
        status = path.stat()
        content = b""
        if status.st_size <= LARGEST:
            with path.open("rb") as file:
                content = file.read(LARGEST + 1)  # it may be growing
    except OSError as error:
        raise RefusedFileError(f"it cannot be read: {error.strerror}") from None
    if max(status.st_size, len(content)) > LARGEST:
        raise RefusedFileError(f"it is larger than {LARGEST} bytes, as no record is")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise RefusedFileError("it is not text in UTF-8")
    return text, min(max(status.st_mtime, 0.0), time.time())


class _Imports:
    """What has been imported so far, by this process or another one."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._version = 0
        self._places: dict[tuple[str, ...], BattleId] = {}
        self._archive: Archive | None = None

    async def add(self, battle: Imported) -> BattleId:
        """Store a battle; return where.

        Raises:
            KnownError: it is there already.
            JournalError: it could not be stored.
        """
        while True:
            await self._catch_up()
            if place := self._places.get(_likeness(battle)):
                raise KnownError("imported", place)
            if place := await self._played_here(battle):
                raise KnownError("played here", place)
            try:
                await self._journal.append(STREAM, self._version, [battle])
            except Conflict:
                continue  # another process was first, maybe with this very record
            return BattleId(STREAM, self._version + 1)

    async def _catch_up(self) -> None:
        for entry in await self._journal.read(STREAM, self._version + 1):
            self._version = entry.version
            if isinstance(entry.event, Imported):
                place = BattleId(STREAM, entry.version)
                self._places.setdefault(_likeness(entry.event), place)

    async def _played_here(self, battle: Imported) -> BattleId | None:
        """Return the battle that was played here and is the same, if there is one."""
        if self._archive is None:
            self._archive = folded(await self._journal.landmarks())
        for known in self._archive.of(battle.dwarf):
            same = _circumstances(known) == _circumstances(battle) and not known.imported
            if same and known.plies in {battle.plies, None}:
                source = known.source
                entries = await self._journal.read(source.board, source.version, known.length)
                if write_record(game_of(entry.event for entry in entries)) == battle.record:
                    return known.id
        return None


def _likeness(battle: Imported) -> tuple[str, ...]:
    """Return what makes two imported battles the same.

    The plies alone do not: many battles begin alike, and some end soon.
    """
    return (*_circumstances(battle), battle.record)


def _circumstances(battle: Battle | Imported) -> tuple[str, ...]:
    return battle.rules, battle.dwarf.lower(), battle.troll.lower(), day(battle.at)


def _short(reason: str) -> str:
    """Return a reason, which may hold what the file does, as a line for a terminal."""
    line = clean(reason[: 2 * LONGEST_REASON])
    return line if len(line) <= LONGEST_REASON else f"{line[:LONGEST_REASON]}..."


def _shown(path: Path) -> str:
    text = str(path)
    return text if text.isprintable() else ascii(text)
