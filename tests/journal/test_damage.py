"""A journal that is not as it was written is told of when it is opened, and never half-read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from tests.journal.deeds import OAK, PATIENCE, PINE, cleared, joined, moved, started
from thudmud.codec import SCHEMA, encode
from thudmud.journal import Damaged, JournalError, Unknown
from thudmud.journal.layout import TABLES
from thudmud.journal.seal import SUFFIX
from thudmud.journal.store import Append, Store
from thudmud.play.events import Event, Imported
from thudmud.storage.files import beside

LONG = Imported(1.0, "", "classic", "Anna", "Bert", "dF1,TG7,RH8\n" + "dA6-B6\n" * 1500, 1, None)
"""Too long for a page of the file."""


def fill(path: Path, games: int = 8) -> None:
    """Make a journal of which everything that SQLite has kinds of pages for is there."""
    store = Store(path, PATIENCE)
    for number in range(games):
        plies: list[Event] = [moved(ply) for ply in range(1, 41)]
        for name in (OAK, PINE):
            version = number * 42
            (outcome,) = store.append(
                [Append(name, version, [started(number), *plies, cleared(number)])]
            )
            assert not isinstance(outcome, Exception)
    store.append([Append("imports", 0, [LONG]), Append("imports", 1, [joined(1)])])
    store.close()


def opened(path: Path) -> Store:
    """Open a journal; if it is refused, check that nothing of it has changed."""
    before = evidence(path)
    try:
        return Store(path, PATIENCE)
    except JournalError:
        assert evidence(path) == before, "what is damaged was changed"
        raise


def evidence(path: Path) -> dict[str, bytes]:
    """Return what is in a journal's file, its log and its seal."""
    files = [beside(path, suffix) for suffix in ("", "-wal", SUFFIX)]
    return {file.name: file.read_bytes() for file in files if file.exists() and file.stat().st_size}


def everything(path: Path) -> str:
    """Return all that can be read of a journal, in every way that there is to read it."""
    store = opened(path)
    try:
        streams = store.list()
        followed, position = [], 0
        while position < store.position():
            batch = store.after(position)
            followed.append(batch)
            position = batch[-1].position
        parts = [store.read(name, first, 30) for name in streams for first in (1, 100, 300)]
        whole = [store.read(name, 1, None) for name in streams]
        return repr((streams, store.landmarks(), followed, parts, whole))
    finally:
        store.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, str]:
    """Return the bytes of a journal, and all that can be read of it."""
    path = tmp_path_factory.mktemp("whole") / "thud.journal"
    fill(path)
    return path.read_bytes(), everything(path)


def told(path: Path, contents: bytes) -> str | None:
    """Return all that can be read of a file, None if opening it says that it cannot be used."""
    for each in path.parent.iterdir():
        each.unlink()
    path.write_bytes(contents)
    try:
        return everything(path)
    except (Damaged, Unknown):
        return None
    except JournalError:
        if contents[18] == 2:
            raise
        return None  # by its header nobody may write to it, and that is told


def test_the_whole_file_is_read(path: Path, whole: tuple[bytes, str]) -> None:
    contents, as_it_was = whole
    assert len(contents) > 20 * 4096
    assert told(path, contents) == as_it_was


@pytest.mark.parametrize("seed", range(10))
def test_a_flipped_bit_is_told_or_does_not_matter(
    path: Path, whole: tuple[bytes, str], seed: int
) -> None:
    contents, as_it_was = whole
    chance = Random(seed)  # noqa: S311 - no secret
    told_of = 0
    for place in places(chance, len(contents)):
        flipped = bytearray(contents)
        flipped[place] ^= 1 << chance.randrange(8)
        found = told(path, bytes(flipped))
        assert found in (None, as_it_was), f"byte {place}: half-read"
        told_of += found is None
    assert told_of >= 5, "most bytes matter"


def places(chance: Random, length: int) -> Iterator[int]:
    """Yield places in a file: anywhere, in its header, and where its pages begin."""
    for _ in range(20):
        yield chance.randrange(length)
    for _ in range(5):
        yield chance.randrange(100)
        yield chance.randrange(length // 4096) * 4096 + chance.randrange(12)


def test_a_table_that_is_not_even_text_is_told(path: Path, whole: tuple[bytes, str]) -> None:
    before = whole[0]
    path.write_bytes(before.replace(b"version integer", b"version intege\xff", 1))
    with pytest.raises(Damaged, match="tables has changed"):
        opened(path)


def test_a_truncated_file_is_told(path: Path, whole: tuple[bytes, str]) -> None:
    contents, _ = whole
    chance = Random(1)  # noqa: S311 - no secret
    ends = range(0, len(contents), 4096)
    lengths = {end + more for end in ends for more in (-1, 0, 1) if end + more >= 0}
    for length in [*lengths, *(chance.randrange(len(contents)) for _ in range(20))]:
        assert told(path, contents[:length]) is None, f"{length} bytes of {len(contents)}"


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        (b"", "it is empty"),
        (b"dF1,TG7,RH8\n" * 1000, "file is not a database"),
        (b"SQLite format 3\0", "file is not a database"),
        (b"\0" * 8192, "file is not a database"),
    ],
)
def test_what_is_no_database_is_damaged(path: Path, contents: bytes, words: str) -> None:
    path.write_bytes(contents)
    with pytest.raises(Damaged, match=f"The journal {path} is damaged: {words}. Restore it"):
        opened(path)


def test_the_database_of_another_program_is_unknown(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES)
    with pytest.raises(Unknown, match="another program's database"):
        opened(path)


def changed(path: Path, statement: str) -> None:
    """Let another program change a journal."""
    fill(path, 2)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def test_a_journal_of_the_future_is_unknown(path: Path) -> None:
    changed(path, f"pragma user_version = {SCHEMA + 1}")
    with pytest.raises(Unknown, match=f"schema {SCHEMA + 1}, and this version knows {SCHEMA}"):
        opened(path)


@pytest.mark.parametrize(
    "statement",
    [
        "pragma user_version = 0",
        "drop index head",
        "create table more (than there should be)",
        "delete from event where position = (select max(position) from event) - 1",
        "delete from event where position = 1",
        "delete from event where stream = 2",
        "delete from event",
        "delete from stream where id = 1",
        "insert into stream values (9, 'oak board', 1)",
        "update stream set name = 'oak bored' where id = 1",
        "update stream set id = 9 where id = 1",
        "update event set body = replace(body, 'A6', 'A7') where position = 50",
        "update event set body = body || ' ' where position = 50",
        "update event set version = 1000 where position = (select max(position) from event)",
        "update event set stream = 4 where position = (select max(position) from event)",
        "update event set schema = 2 where position = 50",
        "update event set landmark = 0 where position = 1",
        "update event set landmark = 1 where position = 2",
        "update event set last = 1 where position = 2",
        "update event set chain = 0 where position = (select max(position) from event)",
        "update event set position = 1000 where position = (select max(position) from event)",
        "update event set position = -1 where position = 1",
        "update event set version = 9223372036854775807 where position = 50",
    ],
)
def test_what_another_program_has_changed_is_damaged(path: Path, statement: str) -> None:
    changed(path, statement)
    with pytest.raises(Damaged, match=r"is damaged: .*\. Restore it from a backup\.$"):
        opened(path)


def test_long_texts_are_summed_up_in_pieces(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    as_it_was = everything(path)
    beside(path, SUFFIX).unlink()
    monkeypatch.setattr("thudmud.journal.checking._LONGEST", len(encode(LONG)) + 1000)
    assert everything(path) == as_it_was
    beside(path, SUFFIX).unlink()
    monkeypatch.setattr("thudmud.journal.checking._LONGEST", len(encode(LONG)) - 1000)
    with pytest.raises(Damaged):
        opened(path)


class TestLog:
    """The write-ahead log that is left by a process that was killed."""

    @pytest.fixture(autouse=True)
    def no_writer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("thudmud.storage.wal._PAUSE", 0.0)

    @pytest.fixture
    def left(self, path: Path) -> tuple[bytes, bytes, str]:
        """Return a journal's file and its log, as they are in the midst of play, and all of it."""
        store = Store(path, PATIENCE)
        for version in range(20):
            store.append([Append(OAK, version, [moved(version + 1)])])
        log = path.with_name("thud.journal-wal")
        contents = path.read_bytes(), log.read_bytes()
        store.close()
        return *contents, everything(path)

    def told(self, path: Path, contents: bytes, log: bytes) -> str | None:
        """Return all that can be read of a file and its log, None if opening it says damage."""
        for each in path.parent.iterdir():
            each.unlink()
        path.write_bytes(contents)
        path.with_name("thud.journal-wal").write_bytes(log)
        try:
            return everything(path)
        except Damaged:
            return None

    def test_what_a_killed_process_has_stored_is_there(
        self, path: Path, left: tuple[bytes, bytes, str]
    ) -> None:
        contents, log, as_it_was = left
        assert "ply=21" in as_it_was
        assert self.told(path, contents, log) == as_it_was

    @pytest.mark.parametrize("seed", range(5))
    def test_a_flipped_bit_before_the_last_transaction_is_told(
        self, path: Path, left: tuple[bytes, bytes, str], seed: int
    ) -> None:
        contents, log, as_it_was = left
        chance = Random(seed)  # noqa: S311 - no secret
        last = len(log) - 4 * (4096 + 24)
        for place in [*range(0, 56, 3), *(chance.randrange(last) for _ in range(20))]:
            flipped = bytearray(log)
            flipped[place] ^= 1 << chance.randrange(8)
            found = self.told(path, contents, bytes(flipped))
            assert found in (None, as_it_was), f"byte {place}: half-read"
            assert self.told(path, contents, bytes(flipped)) == found, "it is told every time"

    def test_an_unfinished_transaction_is_passed_over(
        self, path: Path, left: tuple[bytes, bytes, str]
    ) -> None:
        contents, log, as_it_was = left
        assert self.told(path, contents, log + log[-4120:-4096] + bytes(4096)) == as_it_was
        found = self.told(path, contents, log[:-100])
        assert found is not None
        assert "ply=20" in found
        assert "ply=21" not in found

    def test_a_log_without_its_journal_is_told(
        self, path: Path, left: tuple[bytes, bytes, str]
    ) -> None:
        _, log, _ = left
        path.unlink()
        path.with_name("thud.journal-wal").write_bytes(log)
        with pytest.raises(Damaged, match=r"thud\.journal-wal is still there"):
            opened(path)
        assert not path.exists()

    def test_a_log_of_a_damaged_file_stays(self, path: Path) -> None:
        """What is wrong is in the file alone: the log holds the only copy of what was last."""
        fill(path, 2)
        store = Store(path, PATIENCE)
        store.append([Append("birch board", 0, [joined(1)])])
        contents, log = bytearray(path.read_bytes()), beside(path, "-wal").read_bytes()
        store.close()
        contents[contents.index(b'["moved"')] ^= 1
        path.write_bytes(contents)
        beside(path, "-wal").write_bytes(log)
        with pytest.raises(Damaged, match=r"a backup, without the thud\.journal-wal"):
            opened(path)

    @pytest.mark.parametrize("statement", ["user_version = 9", "application_id = 9"])
    def test_a_log_of_what_is_not_known_stays(self, path: Path, statement: str) -> None:
        """What says that a later version wrote it is in the log alone."""
        store = Store(path, PATIENCE)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(f"pragma {statement}")
            copies = [beside(path, suffix).read_bytes() for suffix in ("", "-wal")]
        store.close()
        for suffix, contents in zip(("", "-wal"), copies, strict=True):
            beside(path, suffix).write_bytes(contents)
        with pytest.raises(Unknown):
            opened(path)

    def test_an_empty_log_without_a_journal_is_nothing(self, path: Path) -> None:
        beside(path, "-wal").touch()
        Store(path, PATIENCE).close()
        assert path.exists()
