"""What is appended comes back and is made so; and what holds when it does not come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from tests.server.place import Place
from thudmud.journal import Conflict, Damaged, Entry, JournalError
from thudmud.journal.memory import MemoryJournal
from thudmud.play.events import Event, Offer, Offered
from thudmud.rules import Side
from thudmud.server import ledger
from thudmud.server.scribe import NOT_SEEN, NOT_STORED


class FailingJournal(MemoryJournal):
    """A journal that can fail to be read, and to be followed; what is new is always read."""

    def __init__(self) -> None:
        super().__init__()
        self.unreadable = False
        self.trouble: JournalError | None = None
        self.tries = 0
        self.conflict = False
        self.news = asyncio.Event()

    async def read(self, stream: str, first: int = 1, most: int | None = None) -> Sequence[Entry]:
        if self.unreadable:
            raise JournalError("The disk does not work.")
        return await super().read(stream, first, most)

    async def append(self, stream: str, expected: int, events: Sequence[Event]) -> None:
        if self.conflict:
            raise Conflict(stream, expected, expected + 1)
        await super().append(stream, expected, events)
        self.news.set()

    def follow(self, after: int = 0) -> AsyncIterator[Sequence[Entry]]:  # type: ignore[override]
        return _Following(self, after)


class _Following:
    def __init__(self, journal: FailingJournal, after: int) -> None:
        self._journal, self._after = journal, after

    def __aiter__(self) -> _Following:
        return self

    async def __anext__(self) -> Sequence[Entry]:
        await self._journal.news.wait()
        if self._journal.trouble:
            self._journal.tries += 1
            raise self._journal.trouble
        self._journal.news.clear()
        entries = await self._journal._read_after(self._after)
        self._after += len(entries)
        return entries


@pytest.fixture
def journal() -> FailingJournal:
    return FailingJournal()


@pytest.fixture
async def place(journal: FailingJournal, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(ledger, "RETRY", 0.0)
    place = Place(journal)
    await place.open()
    await place.enter("Anna")
    return place


async def obeyed(place: Place, line: str) -> str:
    async with asyncio.timeout(20):
        return await place.type("Anna", line)


async def test_news_that_cannot_be_read_are_read_later(
    place: Place, journal: FailingJournal
) -> None:
    journal.trouble = JournalError("The disk does not work.")
    joining = place.scribe.obey("Anna", "join game as dwarf on oak board")
    async with asyncio.timeout(20):
        while journal.tries < ledger.RETRIES:  # noqa: ASYNC110  (it has no bell)
            await asyncio.sleep(0)
        journal.trouble = None
        assert isinstance(joining, asyncio.Task)
        await joining
    assert place.house.hall.tables["oak board"].seats == {Side.DWARF: "Anna"}
    assert "You sit down" in place.told["Anna"][-1]


@pytest.mark.parametrize("trouble", [JournalError("It is gone."), Damaged("It is damaged.")])
async def test_a_journal_that_cannot_be_followed_is_the_end(
    place: Place, journal: FailingJournal, trouble: JournalError
) -> None:
    journal.trouble = trouble
    assert await obeyed(place, "join game as dwarf on oak board") == NOT_SEEN
    assert journal.tries == (1 if isinstance(trouble, Damaged) else ledger.RETRIES + 1)
    assert place.house.hall.tables["oak board"].seats == {}
    with pytest.raises(type(trouble), match=str(trouble)):
        await place.scribe.ended()
    async with asyncio.timeout(20):
        await place.scribe.close()


async def test_nobody_waits_for_what_others_have_done_when_it_cannot_be_read(
    place: Place, journal: FailingJournal
) -> None:
    journal.conflict = True
    joining = place.scribe.obey("Anna", "join game as dwarf on oak board")
    await asyncio.sleep(0)
    journal.trouble = JournalError("It is gone.")
    journal.news.set()
    assert isinstance(joining, asyncio.Task)
    async with asyncio.timeout(20):
        await joining
        assert place.told["Anna"][-1] == NOT_SEEN
        await place.scribe.close()


async def test_a_board_that_is_not_as_it_is_stored_is_not_played_on(
    place: Place, journal: FailingJournal
) -> None:
    # Nothing here would decide that; a journal that something else has written to may hold it.
    await journal.append("oak board", 0, [Offered(1.0, "Anna", Offer.END)])
    with pytest.raises(ValueError, match="do not fit together"):
        await place.scribe.ended()


async def test_what_cannot_be_told_is_made_so(
    place: Place, journal: FailingJournal, caplog: pytest.LogCaptureFixture
) -> None:
    deliver = place.scribe._ledger._deliver

    def fail(messages: object) -> None:
        raise RuntimeError("boom")

    place.scribe._ledger._deliver = fail
    await obeyed(place, "join game as dwarf on oak board")
    place.scribe._ledger._deliver = deliver
    assert "not told to all" in caplog.text
    assert "You leave the dwarf seat" in await obeyed(place, "leave game on oak board")


async def test_an_old_battle_that_cannot_be_read(place: Place, journal: FailingJournal) -> None:
    await place.sit()
    await place.type("Anna", "move from f15 to f8", "resign", "start")
    anew = Place(journal)
    await anew.open()
    await anew.enter("Anna")
    journal.unreadable = True
    assert await obeyed(anew, "record 1") == NOT_STORED
    journal.unreadable = False
    assert "dF15-F8" in await obeyed(anew, "record 1")


async def test_opening_a_journal_that_cannot_be_read(journal: FailingJournal) -> None:
    journal.unreadable = True
    with pytest.raises(JournalError, match="does not work"):
        await Place(journal).scribe.open()


async def test_what_comes_while_a_board_is_folded_is_not_folded_twice(
    journal: FailingJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(journal)
    await place.open()
    await place.sit()
    beginning = journal.beginning

    async def meanwhile(stream: str) -> int:
        first = await beginning(stream)
        if stream == "oak board" and not place.plies():
            await place.type("Anna", "move from f15 to f8", "resign")
            await place.type("Bert", "start")
            return await beginning(stream)
        return first

    monkeypatch.setattr(journal, "beginning", meanwhile)
    anew = Place(journal)
    await anew.open()
    assert anew.house.hall.tables["oak board"].match == place.house.hall.tables["oak board"].match
    assert anew.house.hall.archive.battles == place.house.hall.archive.battles
