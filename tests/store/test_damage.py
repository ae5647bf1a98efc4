"""Damage to a store is detected when it is opened, read or checked.

Each test damages copies of one store's files, taken either during play, as a killed process leaves
them, or after closing. Everything is then read in every way and checked. The result must be an
error or exactly the stored data; and a store that cannot be opened must stay unmodified. The only
damage that goes undetected is a value replaced by another valid one, see `READABLE`.
"""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random

import pytest

from tests.conftest import SOAKING
from tests.store.deeds import OAK, PINE, Clock, cleared, joined, moved, started
from thudmud.features.analysis.model import Analysis
from thudmud.features.analysis.storage import analysis_of, keep_analysis
from thudmud.features.letters import storage as letters
from thudmud.features.moderation.storage import report, reports
from thudmud.game.events import BattleEnded, BattleId, Event, Imported
from thudmud.rules import CLASSIC, DISCWORLD, Ending, Game, Outcome, Score, Side, write_record
from thudmud.store import (
    DamagedStoreError,
    KeptName,
    StoreError,
    UnknownFormatError,
    accounts,
    battles,
    nodes,
    scores,
)
from thudmud.store.checking import check_backend
from thudmud.store.database import Database
from thudmud.store.files import OnDisk, beside
from thudmud.store.rows import DURABLE, FORMAT
from thudmud.store.streams import Changes
from thudmud.values import replace

SUFFIXES = ("", "-wal", "-shm", "-head")
PAGE = 4096
FRAME = PAGE + 24

Files = dict[str, bytes]

TO_AND_FRO = Game.start(CLASSIC).play_all([moved(ply).move for ply in range(1000)])
LONG = Imported(1.0, "", "classic", "Anna", "Bert", write_record(TO_AND_FRO), 1000, None)
"""A value that does not fit on a database page."""


def opened(path: Path) -> Database:
    return Database(OnDisk(path, serving=True, lock_timeout=0.1), Clock())


def contents(path: Path) -> Files:
    files = {suffix: beside(path, suffix) for suffix in SUFFIXES}
    return {suffix: file.read_bytes() for suffix, file in files.items() if file.exists()}


def do(database: Database, changes: Changes) -> None:
    ([outcome], _) = database.write([lambda db: db.append(changes, f"{database.head.position}")])
    assert isinstance(outcome, dict)


def play(database: Database, games: int) -> None:
    """Play games and register members so that every kind of page exists."""
    outcome = Outcome(Ending.AGREEMENT, Side.DWARF, Score(30, 20))
    for _ in range(games):
        number = database.head.position
        end = BattleEnded(1.0, "Anna", outcome, 30, "Anna", f"Bert{number}", rated=True)
        plies: list[Event] = [moved(ply) for ply in range(30)]
        begun = started(number, troll=f"Bert{number}")
        again = replace(begun, number=2, dwarf=begun.troll, troll="Anna")
        over = replace(end, plies=0, dwarf=begun.troll, troll="Anna", points=(50, 40))
        events = [begun, *plies, end, again, over, cleared(number)]
        versions = database.streams.versions()
        do(database, {name: (versions.get(name, 0), events) for name in (OAK, PINE)})
        name, kept = f"Guest{number}", KeptName(f"Kept{number}", b"1" * 32, 5.0)
        database.write([partial(accounts.enrol, name=name, password="hash" * 20)])
        database.write([partial(accounts.reserve_guest_name, kept=kept)])
        came = [(who, f"192.0.2.{number}") for who in (name, kept.name) for number in range(3)]
        database.write([partial(accounts.record_last_seen, times={}, addresses=came)])
    database.write([partial(nodes.renew_lease, node="node", lease=100.0)])
    database.write([lambda db: nodes.claim(db, "Anna", "node", "s1", "oak board")])
    analysis = Analysis(6000, (0, 200), (200,), (Game.start(DISCWORLD).push("dA6-B6").moves,))
    database.write([lambda db: keep_analysis(db, BattleId(OAK, 1), analysis)])
    database.write([lambda db: letters.post(db, "Guest0", "Guest0", "Ho!")])
    database.write([lambda db: report(db, "Anna", "Guest0", "is rude", ["say: Ho!"])])


def everything(path: Path) -> str:
    """Check a store and return all its readable content."""
    before = contents(path)
    try:
        database = opened(path)
    except StoreError:
        after = contents(path)
        for suffix in ("", "-wal", "-head"):
            assert after.get(suffix, b"") == before.get(suffix, b""), "what is damaged was changed"
        raise
    try:
        found = database.read(read_all)
        if damage := check_backend(database.backend):
            raise DamagedStoreError(damage)
        return found
    finally:
        database.close()


def read_all(database: Database) -> str:
    streams = database.streams.versions()
    followed, position = [], 0
    while position < database.position():
        batch = database.entries_after(position)
        followed.append(batch)
        position = batch[-1].position
    count = battles.count(database)
    return repr(
        (
            streams,
            followed,
            [database.read_stream(name, first, 30) for name in streams for first in (1, 40)],
            [database.read_stream(name, 1, None) for name in streams],
            [
                (battle, battles.battle_events(database, battle))
                for number in range(1, count + 1)
                if (battle := battles.battle(database, number))
            ],
            [battles.history(database, name, None, 1000) for name in ("Anna", "Bert0")],
            scores.standings(database, most=1000),
            scores.score(database, "Anna", curves=True),
            [(account, account.password) for account in accounts.all_accounts(database)],
            [accounts.find_guest(database, name) for name in accounts.guests(database, 9.0)],
            [accounts.addresses(database, name) for name in accounts.guests(database, 9.0)],
            list(database.table.rows("request", "order by stream, key")),
            nodes.all_claims(database),
            analysis_of(database, BattleId(OAK, 1)),
            letters.letters(database, "Guest0"),
            reports(database),
        )
    )


class State:
    """Files of a store at one moment, earlier versions of them, and the stored content."""

    def __init__(self, path: Path, *, killed: bool) -> None:
        self.path = path
        olders = []
        for _ in range(2):
            database = opened(path)
            play(database, 4)
            database.close()
            olders.append(path.read_bytes())
        database = opened(path)
        play(database, 2)
        self.older = contents(path) | {"": olders[0]}
        play(database, 2)
        do(database, {"imports": (0, [LONG])})
        if killed:
            self.files = contents(path)
        database.close()
        if not killed:
            self.files = contents(path)
        told = self.told(self.files)
        assert told is not None
        self.as_it_was: str = told

    def told(self, files: Files) -> str | None:
        """Return the content readable from the given files, or None if damage is reported."""
        for suffix in SUFFIXES:
            file = beside(self.path, suffix)
            file.unlink(missing_ok=True)
            if suffix in files:
                file.write_bytes(files[suffix])
        try:
            return everything(self.path)
        except StoreError:
            return None

    def is_told_or_does_not_matter(self, what: str, files: Files, *, is_told: bool = True) -> bool:
        """Whether the damage is detected.

        Fails if it is neither detected nor harmless, unless ``is_told`` is false.
        """
        found = self.told(files)
        assert found in {None, self.as_it_was} or not is_told, f"{what}: half-read"
        return found is None


@pytest.fixture(scope="module", params=["killed", "closed"])
def state(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> State:
    path = tmp_path_factory.mktemp("state") / "thud.store"
    return State(path, killed=request.param == "killed")


@pytest.fixture(scope="module")
def another(tmp_path_factory: pytest.TempPathFactory) -> State:
    """Return another store's state, whose files can replace those of the first."""
    return State(tmp_path_factory.mktemp("another") / "thud.store", killed=True)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Return the files of a store closed after two games."""
    path = tmp_path_factory.mktemp("played") / "thud.store"
    database = opened(path)
    play(database, 2)
    database.close()
    return contents(path)


Damage = Callable[[bytes, bytes, Random], bytes]


def flip(data: bytes, _: bytes, chance: Random) -> bytes:
    place = chance.choice((chance.randrange(len(data)), chance.randrange(min(len(data), 120))))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def zero(data: bytes, _: bytes, chance: Random) -> bytes:
    start = chance.randrange(len(data))
    length = min(chance.choice((1, 16, 512, PAGE)), len(data) - start)
    return data[:start] + bytes(length) + data[start + length :]


def zero_page(data: bytes, _: bytes, chance: Random) -> bytes:
    start = chance.randrange(0, len(data), PAGE)
    return data[:start] + bytes(PAGE) + data[start + PAGE :]


def cut(data: bytes, _: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(1, len(data))]


def cut_at_a_page(data: bytes, _: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(0, len(data), PAGE)]


def swap_pages(data: bytes, _: bytes, chance: Random) -> bytes:
    pages = [data[start : start + PAGE] for start in range(0, len(data), PAGE)]
    one, two = chance.sample(range(len(pages)), 2)
    pages[one], pages[two] = pages[two], pages[one]
    return b"".join(pages)


def older_page(data: bytes, older: bytes, chance: Random) -> bytes:
    start = chance.randrange(0, min(len(data), len(older)), PAGE)
    return data[:start] + older[start : start + PAGE] + data[start + PAGE :]


def cut_at_a_frame(data: bytes, _: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(32, len(data), FRAME)]


def swap_frames(data: bytes, _: bytes, chance: Random) -> bytes:
    frames = frames_of(data)
    one, two = chance.sample(range(len(frames)), 2)
    frames[one], frames[two] = frames[two], frames[one]
    return data[:32] + b"".join(frames)


def older_frame(data: bytes, _: bytes, chance: Random) -> bytes:
    """Replace a frame's page with an earlier version from the same log."""
    frames = frames_of(data)
    two = chance.randrange(1, len(frames))
    same = [each for each in frames[:two] if each[:4] == frames[two][:4]] or frames[:two]
    frames[two] = frames[two][:24] + chance.choice(same)[24:]
    return data[:32] + b"".join(frames)


def frames_of(log: bytes) -> list[bytes]:
    return [log[start : start + FRAME] for start in range(32, len(log), FRAME)]


def swap_bytes(data: bytes, _: bytes, chance: Random) -> bytes:
    swapped = bytearray(data)
    one, two = chance.sample(range(len(data)), 2)
    swapped[one], swapped[two] = swapped[two], swapped[one]
    return bytes(swapped)


ANY: dict[str, Damage] = {"flip": flip, "zero": zero, "cut": cut}
PAGES: dict[str, Damage] = {"swapped pages": swap_pages, "older page": older_page}
FRAMES: dict[str, Damage] = {
    "cut at a frame": cut_at_a_frame,
    "swapped frames": swap_frames,
    "older frame": older_frame,
}
DAMAGES: dict[str, dict[str, Damage]] = {
    "": ANY | PAGES | {"zero page": zero_page, "cut at a page": cut_at_a_page},
    "-wal": ANY | FRAMES,
    "-shm": ANY | PAGES,
    "-head": ANY | {"swapped bytes": swap_bytes},
}
"""Random kinds of damage by file. A closed store has only two files, so a seed yields 33 damages.
In addition, each file is emptied, deleted, and replaced by an earlier version."""

READABLE = {"flip", "zero", "older page", "older"}
"""Damages that may change values and yet leave a valid database."""


def damages(seed: int) -> Iterator[tuple[str, str, Damage, bool]]:
    for suffix, kinds in DAMAGES.items():
        for name, damage in kinds.items():
            is_told = bool(suffix) or name not in READABLE
            yield f"{name} in {suffix or 'main'}, seed {seed}", suffix, damage, is_told


def test_undamaged_store_reads_back_unchanged(state: State) -> None:
    assert len(state.files[""]) > 15 * PAGE
    assert state.as_it_was.count("Moved(") > 500
    assert state.told(state.files) == state.as_it_was


@pytest.mark.parametrize("seed", range(12 if SOAKING else 2))
def test_random_damage_is_detected_or_harmless(state: State, seed: int) -> None:
    chance = Random(seed)  # noqa: S311  (no secret)
    told = 0
    for what, suffix, damage, is_told in damages(seed):
        if not state.files.get(suffix):
            continue
        data = damage(state.files[suffix], state.older.get(suffix, b""), chance)
        files = state.files | {suffix: data}
        told += state.is_told_or_does_not_matter(what, files, is_told=is_told)
    assert told >= 5, "most of it matters"


@pytest.mark.parametrize("how", ["gone", "empty", "older"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_empty_or_older_files_are_detected_or_harmless(
    state: State, suffix: str, how: str
) -> None:
    files = {each: data for each, data in state.files.items() if each != suffix}
    if how != "gone":
        files[suffix] = state.older.get(suffix, b"") if how == "older" else b""
    is_told = state.is_told_or_does_not_matter(f"{suffix}, {how}", files)
    if state.files.get(suffix) and suffix in {"", "-wal"} and how != "older":
        assert is_told


def test_truncated_wal_is_detected_at_every_length(state: State) -> None:
    """SQLite takes a log cut between transactions for complete; the watermark shows the loss."""
    log = state.files.get("-wal", b"")
    for length in range(0, len(log) - 32, FRAME * 3):
        files = state.files | {"-wal": log[: length + 32 if length else 0]}
        assert state.is_told_or_does_not_matter(f"{length} bytes", files)


def test_backup_is_refused_until_the_watermark_file_is_deleted(state: State) -> None:
    backup = {"": state.older[""], "-head": state.files["-head"]}
    assert state.told(backup) is None
    with pytest.raises(
        DamagedStoreError, match=r"from a backup, delete thud\.store-head\. Restore"
    ):
        opened(state.path)
    beside(state.path, "-head").unlink()
    assert "Guest0" in everything(state.path)


@pytest.mark.parametrize("suffix", ["", "-wal", "-head"])
def test_file_of_another_store_is_detected(state: State, another: State, suffix: str) -> None:
    """The other store has as many transactions, all of them complete."""
    files = state.files | {suffix: another.files[suffix]}
    if not state.is_told_or_does_not_matter(f"{suffix}, another store's", files):
        assert not suffix, "in the file there are only pages that are the same, or newer in -wal"
        assert state.files.get("-wal")
        return
    with pytest.raises(
        DamagedStoreError, match=r"-head belongs to another store; if you replaced the store"
    ):
        opened(state.path)


@pytest.mark.parametrize("left", [{"-wal"}, {"-head"}, {"-wal", "-head"}])
def test_leftover_files_prevent_creating_a_new_store(another: State, left: set[str]) -> None:
    assert another.told({suffix: another.files[suffix] for suffix in left}) is None
    with pytest.raises(DamagedStoreError, match=r"is gone, but .* is still there"):
        opened(another.path)
    assert not another.path.exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "it is empty"), (b"dF1\n" * 999, "not a database"), (b"\0" * 8192, "not a database")],
)
def test_overwritten_database_file_is_reported_as_damaged(
    path: Path, data: bytes, words: str
) -> None:
    opened(path).close()
    path.write_bytes(data)
    with pytest.raises(DamagedStoreError, match=words):
        opened(path)


@pytest.mark.parametrize("data", [b"dF1\n" * 999, b"\0" * 8192, b"SQLite format 3\0" + b"x" * 200])
def test_foreign_file_is_refused_and_left_untouched(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0o644)
    with pytest.raises(UnknownFormatError, match="is not a store of thudmud"):
        opened(path)
    assert list(path.parent.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("pragma", [f"user_version = {FORMAT + 1}", "application_id = 9"])
def test_database_with_a_foreign_id_or_version_is_refused(path: Path, pragma: str) -> None:
    opened(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"pragma {pragma}")
    with pytest.raises(UnknownFormatError):
        opened(path)


@pytest.mark.parametrize(
    "statement",
    [
        "drop index rating_proven",
        "drop table account",
        "drop table address",
        "drop table analysis",
        "delete from head",
        "update head set position = position - 1",
        "delete from event where position = (select max(position) from event)",
        "delete from event where position = 20",
        "delete from event",
        "delete from stream where id = 1",
        "update stream set beginning = 1",
        "update stream set version = version - 1 where id = 1",
        "update event set body = replace(body, 'A6', 'A7') where position = 20",
        "update event set at = at + 1 where position = 20",
        "update event set position = 100000 where position = 20",
        "insert into gap values (20, 20)",
        "delete from player where id = 1",
        "update account set preferences = '{' where player = (select max(player) from account)",
        "update address set player = 1000 where coming = (select max(coming) from address)",
        "update analysis set body = replace(body, 'A6', 'A5')",
        "update report set about = 1000",
        "update report set said = 'Ho!'",
        "update battle set rated = 0 where number = 1",
        "update battle set at = null where number = 1",
        "update battle set state = null",
        "delete from battle where number = 2",
        "delete from rating where player = 1",
        "update rating_change set points = points + 1 where player = 1",
        "delete from rating_change where player = 1",
        "update tally set won = won + 1",
        "delete from player_battle where battle = 2",
        "insert into open_board values (1, 'classic')",
    ],
)
def test_rows_changed_by_another_program_are_detected(
    path: Path, played: Files, statement: str
) -> None:
    for suffix, data in played.items():
        beside(path, suffix).write_bytes(data)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
    with pytest.raises(DamagedStoreError):
        everything(path)


NULLABLE = {
    "player": {"key"},
    "sanction": {"until"},
    "contact": {"mailed"},
    "notification": {"failing"},
}
"""Nullable columns by table."""


@pytest.mark.parametrize("table", sorted(DURABLE))
def test_columns_of_durable_tables_refuse_null(path: Path, table: str) -> None:
    opened(path)
    with closing(sqlite3.connect(path)) as connection:
        columns = connection.execute(f"pragma table_info({table})").fetchall()
    nullable = {name for _, name, _, is_required, _, key in columns if not (is_required or key)}
    assert nullable == NULLABLE.get(table, set())


def test_row_edited_by_an_operator_is_not_damage(path: Path, played: Files) -> None:
    for suffix, data in played.items():
        beside(path, suffix).write_bytes(data)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("update account set seen = seen + 1")
    assert "Guest0" in everything(path)


def test_recorded_gaps_are_accepted(path: Path) -> None:
    database = opened(path)
    do(database, {OAK: (0, [joined(number) for number in range(10)])})
    do(database, {PINE: (0, [joined(number) for number in range(10)])})

    def prune(db: Database) -> None:
        db.table.delete("event", "where position between 4 and 12")
        db.table.put("gap", 4, 12)

    database.write([prune])
    left = [entry.position for entry in database.entries_after(0)]
    assert left == [*range(1, 4), *range(13, 21)]
    database.close()
    assert "version=3," in everything(path)
