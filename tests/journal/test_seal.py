"""A journal that fits its seal is not checked again; one that does not is checked as ever."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.journal.deeds import OAK, PATIENCE, joined, started
from thudmud.journal import Damaged
from thudmud.journal.seal import SUFFIX, is_sealed, set_seal
from thudmud.journal.store import Append, Store
from thudmud.storage.files import beside


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the files whose rows were checked."""
    checked: list[Path] = []

    def check_rows(path: Path, patience: float) -> None:
        checked.append(path)

    monkeypatch.setattr("thudmud.journal.checking._check_rows", check_rows)
    return checked


def write(path: Path, version: int = 0) -> Store:
    """Return an open store that has written something."""
    store = Store(path, PATIENCE)
    store.append([Append(OAK, version, [joined(1), started(2)])])
    return store


def test_what_was_closed_is_not_checked_again(path: Path, checks: list[Path]) -> None:
    write(path).close()
    assert is_sealed(path)
    checks.clear()
    Store(path, PATIENCE).close()
    assert not checks


def test_what_was_not_closed_is_checked(path: Path, tmp_path: Path, checks: list[Path]) -> None:
    write(path).close()
    killed = write(path, 2)
    copy = tmp_path / "copy" / path.name
    copy.parent.mkdir()
    for suffix in ("", "-wal", SUFFIX):
        beside(copy, suffix).write_bytes(beside(path, suffix).read_bytes())
    assert beside(copy, "-wal").stat().st_size
    assert not is_sealed(copy), "the file itself is as it was, but there is more in its log"
    checks.clear()
    store = Store(copy, PATIENCE)
    assert checks == [copy]
    assert store.list() == {OAK: 4}
    store.close()
    killed.close()


def test_a_flipped_bit_is_found_behind_a_seal(path: Path) -> None:
    write(path).close()
    contents = bytearray(path.read_bytes())
    contents[contents.index(b"Anna")] ^= 1
    path.write_bytes(contents)
    assert beside(path, SUFFIX).exists()
    with pytest.raises(Damaged):
        Store(path, PATIENCE)


@pytest.mark.parametrize("seal", [b"", b"4096 00000000\n", b"\xff" * 100])
def test_a_seal_that_does_not_fit_is_no_harm(path: Path, seal: bytes, checks: list[Path]) -> None:
    write(path).close()
    beside(path, SUFFIX).write_bytes(seal)
    checks.clear()
    Store(path, PATIENCE).close()
    assert checks == [path]


def test_what_somebody_else_has_open_is_not_sealed(path: Path) -> None:
    first = write(path)
    second = Store(path, PATIENCE)
    second.close()
    assert not beside(path, SUFFIX).exists()
    first.close()
    assert is_sealed(path)


def test_where_nothing_can_be_written_nothing_is_sealed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(seal: Path, *_: object, **__: object) -> None:
        seal.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    write(path).close()
    beside(path, SUFFIX).unlink()
    monkeypatch.setattr(Path, "write_text", refuse)
    set_seal(path)
    assert [each.name for each in path.parent.iterdir()] == [path.name]
