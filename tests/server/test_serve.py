"""The server in this process, with its files: what it opens, works out, and makes of trouble."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from tests.server.place import Place
from thudmud.journal import Damaged, Entry, JournalError
from thudmud.journal.memory import MemoryJournal
from thudmud.journal.sqlite import SqliteJournal
from thudmud.server import serve as serving
from thudmud.server.settings import Settings

SETTINGS = Settings.model_validate({"server": {"port": 0, "shutdown_grace": 0.2}})

RATED = """
move from f15 to f8|move from g7 to f7|move from f8 to f9
move from f7 to g7|move from f9 to f8|move from g7 to f7
"""


class Lost(MemoryJournal):
    """A journal that cannot be followed, and may be unreadable from the start."""

    def __init__(self, *, unreadable: bool = False) -> None:
        super().__init__()
        self.closed = False
        self._unreadable = unreadable

    async def position(self) -> int:
        if self._unreadable:
            raise JournalError("The disk does not work.")
        return await super().position()

    async def follow(self, after: int = 0) -> AsyncIterator[Sequence[Entry]]:  # type: ignore[override]
        raise Damaged("The journal is damaged.")
        yield ()

    async def close(self) -> None:
        self.closed = True
        await super().close()


def instead(monkeypatch: pytest.MonkeyPatch, journal: Lost) -> None:
    async def opened(path: Path) -> Lost:
        return journal

    monkeypatch.setattr(SqliteJournal, "open", opened)


async def test_a_journal_that_cannot_be_followed_ends_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    journal = Lost()
    instead(monkeypatch, journal)
    said: list[str] = []
    async with asyncio.timeout(20):
        with pytest.raises(Damaged):
            await serving.serve(SETTINGS, tmp_path, said.append)
    assert len(said) == 1
    assert "so the server stops" in caplog.text
    assert journal.closed


async def test_a_journal_that_cannot_be_read_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Lost(unreadable=True)
    instead(monkeypatch, journal)
    with pytest.raises(JournalError, match="does not work"):
        await serving.serve(SETTINGS, tmp_path, lambda _: None)
    assert journal.closed


async def test_ratings_are_there_after_a_restart(tmp_path: Path) -> None:
    place = Place(await SqliteJournal.open(tmp_path / SETTINGS.storage.file))
    await place.open()
    await place.enter("Anna", "Bert", member=True)
    await place.type("Anna", "join game as dwarf on oak board")
    await place.type("Bert", "join game as troll on oak board", "start")
    for number, line in enumerate(RATED.strip().replace("\n", "|").split("|")):
        await place.type(("Anna", "Bert")[number % 2], line)
    await place.type("Bert", "resign")
    rating = place.house.hall.standings.ranked()
    assert len(rating) == 2
    await place.scribe.close()
    async with serving.open_lobby(SETTINGS, tmp_path) as lobby, asyncio.timeout(20):
        while lobby._house.hall.standings.ranked() != rating:  # noqa: ASYNC110  (it has no bell)
            await asyncio.sleep(0)


@pytest.mark.parametrize("missing", [SETTINGS.storage.file, SETTINGS.storage.accounts])
async def test_one_file_without_the_other_is_worth_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, missing: str
) -> None:
    with caplog.at_level(logging.WARNING):
        async with serving.open_lobby(SETTINGS, tmp_path):
            pass
        assert not caplog.records
        (tmp_path / missing).unlink()
        async with serving.open_lobby(SETTINGS, tmp_path):
            pass
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert f"{missing} is not: an empty one is begun" in caplog.text
