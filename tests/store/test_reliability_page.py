"""Messages quoted in docs/reliability.md are those that an operator actually gets."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.store.deeds import OAK, Clock, joined
from thudmud.game.projections import PROJECTION
from thudmud.store import StoreError
from thudmud.store.checking import check_file
from thudmud.store.database import Database
from thudmud.store.files import OnDisk, beside
from thudmud.store.interface import Upgrade
from thudmud.store.nodes import renew_lease
from thudmud.store.rows import FORMAT, OLDEST_FORMAT
from thudmud.version import VERSION

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


def quotes() -> list[str]:
    """Return the messages on the page, one a line."""
    blocks = re.findall(r"(?:^>.*\n)+", PAGE.read_text("utf-8"), re.MULTILINE)
    quoted = "".join(re.sub(r"^> ?", "", block, flags=re.MULTILINE) + "\n" for block in blocks)
    return [" ".join(each.split()) for each in quoted.split("\n\n") if each.strip()]


def opened(path: Path, *, serving: bool = True, upgrade: Upgrade | None = None) -> Database:
    files = OnDisk(path, serving=serving, lock_timeout=0.1, upgrade=upgrade)
    try:
        return Database(files, Clock(), upgrade=upgrade)
    except StoreError:
        files.close()
        raise


def refused(path: Path) -> str:
    with pytest.raises(StoreError) as error:
        opened(path)
    return str(error.value)


def write(database: Database) -> Any:
    def append(db: Database) -> object:
        version = db.streams.version(OAK)
        return db.append({OAK: (version, [joined(number) for number in range(100)])})

    [outcome], _ = database.write([append])
    return outcome


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def checked(path: Path) -> str:
    with pytest.raises(StoreError) as error:
        check_file(path)
    return str(error.value)


def told(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Cause every failure described on the page and yield the resulting messages."""
    files = [beside(path, suffix) for suffix in ("", "-wal", "-shm", "-head")]
    first = opened(path)
    write(first)
    yield refused(path)
    path.rename(beside(path, ".away"))
    yield str(write(first))
    beside(path, ".away").rename(path)
    first.backend.connection.execute("pragma max_page_count = 1")  # clamped to the current size
    while isinstance(outcome := write(first), dict):
        pass
    yield str(outcome)
    killed = {file: file.read_bytes() for file in files}
    first.close()

    path.unlink()
    files[1].write_bytes(killed[files[1]])
    yield refused(path)
    for file in files:
        file.write_bytes(killed[file])
    files[1].unlink()
    yield refused(path)

    other = opened(path.with_name("other"))
    write(other)
    files[1].write_bytes(path.with_name("other-wal").read_bytes())
    yield refused(path)
    other.close()

    for file in files:
        file.write_bytes(killed[file])
    second = opened(path)
    change(path, "update event set body = '[]' where position = 50")
    yield checked(path)
    with pytest.raises(StoreError):
        second.read(lambda database: database.read_stream(OAK, 1, None))
    yield str(write(second))
    second.close()
    yield checked(path)

    change(path, f"pragma user_version = {FORMAT + 1}")
    yield refused(path)
    change(path, "pragma user_version = 0")
    yield refused(path)
    change(path, "pragma application_id = 9")
    yield refused(path)
    yield refused(path.parent / "srv" / path.name)
    for another in (Path("/etc/passwd"), Path("/dev/null")):
        yield refused(another)
        assert not beside(another, "-head").exists()

    slept = opened(path.with_name("slept"))
    with monkeypatch.context() as update:
        for module in ("database", "files", "rows"):
            update.setattr(f"thudmud.store.{module}.PROJECTION", PROJECTION + 1)
        opened(path.with_name("slept"), serving=False, upgrade=Upgrade()).close()
    yield str(write(slept))
    slept.close()

    served = opened(path.with_name("served"))
    served.write([lambda database: renew_lease(database, "one", 1e10)])
    served.close()
    for module in ("database", "files", "rows"):
        monkeypatch.setattr(f"thudmud.store.{module}.PROJECTION", PROJECTION + 1)
    with pytest.raises(StoreError) as error:
        opened(path.with_name("served"), serving=False, upgrade=Upgrade())
    yield str(error.value)
    with pytest.raises(StoreError) as error:
        opened(path.with_name("served"), serving=False)
    yield str(error.value).replace("served", path.name)


def test_reliability_page_quotes_actual_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "thudmud.db"
    said = [
        each.replace(str(tmp_path / "srv"), "/srv/thud").replace(str(path), path.name)
        for each in told(path, monkeypatch)
    ]
    patterns = [
        re.sub(r"[0-9]+", "[0-9]+", re.escape(quote).replace(r"\*what\ was\ found\*", ".*"))
        for quote in quotes()
    ]
    for message in said:
        assert any(re.fullmatch(pattern, message) for pattern in patterns), message
    for pattern in patterns:
        assert any(re.fullmatch(pattern, message) for message in said), pattern


def test_reliability_page_lists_the_schema_of_this_version() -> None:
    rows = re.findall(r"(?m)^\| (\S+) \| (\d+\.\d+) \| (\S+) \|", PAGE.read_text("utf-8"))
    assert rows[-1] == (VERSION, f"{FORMAT}.{PROJECTION}", f"{OLDEST_FORMAT}.0")


def test_reliability_page_lists_actual_damage_reports(tmp_path: Path) -> None:
    """Covers the damage on the page that is easy to cause."""
    path = tmp_path / "thudmud.db"
    page = " ".join(PAGE.read_text("utf-8").split())
    database = opened(path)
    write(database)
    database.close()
    whole = path.read_bytes()
    for statement in (
        "update event set at = at + 1 where position = 20",
        "delete from event where position = 20",
        "delete from event where position = (select max(position) from event)",
        "delete from player",
    ):
        change(path, statement)
        found = re.search(r"is damaged: (.*?)\. Restore", checked(path))
        assert found
        assert f"*{found[1]}*" in page
        path.write_bytes(whole)
    beside(path, "-head").write_bytes(b"1" * 30)
    assert "thudmud.db-head has changed" in checked(path)
    assert "*thudmud.db-head has changed*" in page
    beside(path, "-head").unlink()
    assert check_file(path).events == 100
