"""`thudmud import`: import battles from record files.

All plies are checked against the rules. A refused file is reported with its reason in one line.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import cast

from thudmud.cli.common import Progress, refuse
from thudmud.cli.configured import config_option, open_store, reports_errors
from thudmud.cli.export import BattleDetails, parse_file_name
from thudmud.cli.records import RefusedFileError, one_line, ruleset_named, text_in
from thudmud.english import capitalised, pluralize
from thudmud.errors import system_reason
from thudmud.game.archive import is_player
from thudmud.game.days import day_begins
from thudmud.game.events import LONGEST_COMMENT, BattleId, Commented, Event, Imported
from thudmud.game.match import fold_game
from thudmud.game.projections import HALL
from thudmud.language.cleaning import clean
from thudmud.rules import (
    DEFAULT_RULES,
    RULESETS,
    Comment,
    Record,
    RecordError,
    Side,
    read_record,
    write_record,
)
from thudmud.store import ConflictError, Store, StoreError, battles
from thudmud.values import Value
from thudmud.views.refusals import record_error_text
from thudmud.views.words import day


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Read battles from record files. Every ply is checked against the rules. The headers of "
        "a record give the day, the rules, the players and the result. Without headers, the file "
        'name does, if "thudmud export" wrote the file. For other files the options below '
        "supply the details, and the day is that of the file's last change. A battle that is "
        "already stored, with the same plies, players and day, is refused. The server may be "
        "running."
    )
    parser.set_defaults(run=run)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a game record")
    names = ", ".join(f'"{name}"' for name in RULESETS)
    rules = f"one of {names}; default: the first with this opening"
    parser.add_argument("--rules", type=ruleset_named, metavar="NAME", help=rules)
    parser.add_argument("--dwarf", type=_player, metavar="NAME", help="the player of the dwarfs")
    parser.add_argument("--troll", type=_player, metavar="NAME", help="the player of the trolls")
    config_option(parser)


def _player(name: str) -> str:
    if not is_player(name):
        raise argparse.ArgumentTypeError(f"expected 2 to 20 letters from A to Z, got {name!r}")
    return capitalised(name)


STREAMS = "(import) "
"""Prefix of the stream keys of imported battles; board names consist of letters, so none match."""
DAY = 86_400.0
REFUSED = 1
"""Exit status if any file was refused."""


class KnownError(RefusedFileError):
    """A battle is already in the store, imported or played here; ``number`` is its number."""

    def __init__(self, how: str, number: int) -> None:
        super().__init__(how, number)
        self.how, self.number = how, number

    def __str__(self) -> str:
        return f"already {self.how}: battle {self.number}"


class ImportReport(Value):
    """Results by file: battle numbers of accepted files, and reasons for refused ones.

    A number is None if the store failed after the import and before the number was read.
    """

    accepted: dict[Path, int | None]
    refused: dict[Path, str]


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Import the files; print the result of each, and the numbers of accepted and refused ones."""
    given = BattleDetails(
        None, options.rules and options.rules.name, options.dwarf or "", options.troll or ""
    )
    result = ImportReport({}, {})

    async def act() -> None:
        async with open_store(options.config) as store:
            with Progress("files") as told:
                await import_files(store, options.files, given, result, told)

    try:
        asyncio.run(act())
    except StoreError:
        _report(result)
        raise
    except OSError as error:
        return refuse(f"{error.filename}: {system_reason(error)}")
    _report(result)
    return REFUSED if result.refused else 0


def _report(result: ImportReport) -> None:
    for path, number in result.accepted.items():
        print(f"{_printable_path(path)}: " + (f"battle {number}" if number else "accepted"))
    for path, reason in result.refused.items():
        print(f"thudmud: {_printable_path(path)}: {reason}", file=sys.stderr)
    accepted = pluralize(len(result.accepted), "record")
    print(f"{accepted} accepted, {len(result.refused)} refused")


async def import_files(
    store: Store,
    files: Sequence[Path],
    given: BattleDetails,
    result: ImportReport,
    told: Callable[[int, int], None] = lambda _done, _in_all: None,
) -> None:
    """Import files one by one.

    Args:
        store: the store.
        files: the record files.
        given: details that hold for all files; see `read_file`.
        result: filled with the result of each file; valid even if the store fails halfway.
        told: progress callback; called with the number of finished files and of all files.
    """
    for done, path in enumerate(files):
        told(done, len(files))
        try:
            began = await _add(store, *read_file(path, given))
        except RefusedFileError as refusal:
            result.refused[path] = str(refusal)
        else:
            result.accepted[path] = None
            result.accepted[path] = await store.read(battles.number_of, began)


async def _add(store: Store, battle: Imported, comments: Iterable[Comment]) -> BattleId:
    """Store a battle and the comments on its plies; return its id.

    Each imported battle has its own stream, with a digest of the battle's identity as the key. So
    it cannot be stored twice, even by concurrent imports.

    Raises:
        KnownError: the battle is already stored.
        StoreError: the battle could not be stored.
    """
    if number := await _find_played_here(store, battle):
        raise KnownError("played here", number)
    began = BattleId(STREAMS + _identity_digest(battle), 1)
    said = [Commented(battle.at, each.player, *began, each.ply, each.text) for each in comments]
    while True:
        version = await store.version(HALL)
        try:
            await store.append({began.board: (0, [battle]), HALL: (version, said)})
        except ConflictError as conflict:
            if conflict.stream == began.board:
                number = await store.read(battles.number_of, began) or 0
                raise KnownError("imported", number) from None
        else:
            return began


async def _find_played_here(store: Store, battle: Imported) -> int | None:
    """Return the number of an identical battle that was played here; None if there is none."""
    begins = day_begins(day(battle.at)) or 0.0
    for known in await store.read(
        battles.battles_between, battle.dwarf, battle.troll, begins, begins + DAY
    ):
        same = known.rules == battle.rules and known.plies in {battle.plies, None}
        if same and not known.imported:
            plies = cast("Iterable[Event]", await store.read(battles.battle_events, known))
            if write_record(fold_game(plies)) == battle.record:
                return known.number
    return None


def _identity_digest(battle: Imported) -> str:
    """Return a digest of an imported battle's identity: rules, players, day and record.

    The plies alone wouldn't identify it: many battles begin alike, and some end soon.
    """
    players = battle.dwarf.lower(), battle.troll.lower()
    same = "\n".join((battle.rules, *players, day(battle.at), battle.record))
    return sha256(same.encode()).hexdigest()[:32]


def read_file(path: Path, given: BattleDetails) -> tuple[Imported, list[Comment]]:
    """Read a battle and the comments on its plies from a file, checked against the rules.

    Headers take precedence over given details, and these over the file name.

    Args:
        path: the record file.
        given: details from the command line, which must not contradict the headers.

    Raises:
        RefusedFileError: the file has no valid record, or contradicts the given details.
    """
    named = parse_file_name(path.name)
    text, changed = text_in(path)
    record = _parse_record(text, given.rules, named.rules or _likely_rules(text))
    game = record.game
    at = changed if named.at is None else named.at
    if record.date:
        at = _day(record.date)
    dwarf = _resolve_player(Side.DWARF, record.dwarf, given.dwarf) or named.dwarf
    troll = _resolve_player(Side.TROLL, record.troll, given.troll) or named.troll
    outcome = named.outcome(game)
    rules, plies = game.ruleset.name, len(game.moves)
    battle = Imported(at, "", rules, dwarf, troll, write_record(game), plies, outcome)
    return battle, _normalize_comments(record.comments)


def _normalize_comments(comments: Iterable[Comment]) -> list[Comment]:
    """Normalize comments: at most one per player and ply, cut to the maximum length.

    A comment by an invalid name becomes anonymous, with that name at its beginning.
    """
    texts: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for each in comments:
        player = capitalised(each.player)
        if not player or is_player(player):
            texts[each.ply, player].append(each.text)
        else:
            texts[each.ply, ""].append(f"{each.player}: {each.text}")
    kept = {
        place: clean(" ".join(several))[:LONGEST_COMMENT].strip()
        for place, several in texts.items()
    }
    return [Comment(ply, player, text) for (ply, player), text in kept.items() if text]


def _likely_rules(text: str) -> str:
    """Return the name of the first ruleset with the record's initial position, or the default."""
    lines = (line.strip() for line in text.splitlines())
    setup = next((line for line in lines if line and line[0] not in "[;"), "")
    for rules in RULESETS.values():
        with suppress(RecordError):
            if read_record(setup, rules).game.initial_position == rules.initial_position:
                return rules.name
    return DEFAULT_RULES.name


def _parse_record(text: str, given: str | None, likely: str) -> Record:
    """Parse a record by the rules of its headers, else the given rules, else the likely ones."""
    try:
        record = read_record(text, RULESETS[given] if given else None, default=RULESETS[likely])
    except RecordError as error:
        raise RefusedFileError(one_line(record_error_text(error))) from None
    if not record.game.moves:
        raise RefusedFileError("the record has no plies")
    return record


def _day(date: str) -> float:
    begins = day_begins(date)
    if begins is None:
        raise RefusedFileError(f"expected a day as the date, got {date}")
    return begins


def _resolve_player(side: Side, told: str, given: str) -> str:
    """Return the player of a side by the header or else the option; "" if neither names one."""
    if told and not is_player(told):
        right = "expected 2 to 20 letters from A to Z"
        raise RefusedFileError(one_line(f"player of the {side.plural}: {right}, got {told!r}"))
    if told and given and told.lower() != given.lower():
        raise RefusedFileError(
            f"player of the {side.plural}: the record says {told}, the option {given}"
        )
    return capitalised(told or given)


def _printable_path(path: Path) -> str:
    text = str(path)
    return text if text.isprintable() else ascii(text)
