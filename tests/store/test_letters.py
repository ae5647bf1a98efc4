"""Letters and reports, in every kind of store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.features.letters.letters import count_from, forget, mark_read, post
from tests.features.moderation.reports import close_report, close_reports, report, reports
from tests.store.conftest import Opening
from tests.store.deeds import NOON, OAK, Clock, is_in_order, started
from thudmud.features.letters.model import Letter, LettersLookup
from thudmud.features.moderation.model import Reported, ReportedLookup
from thudmud.game.archive import LetterCount, LetterCountLookup
from thudmud.store import KeptName, NoSuchAccountError, Store, accounts
from thudmud.store.files import beside


@pytest.fixture
async def store(opening: Opening) -> Store:
    """Return a store with three members."""
    store = await opening()
    for name in ("Anna", "Bert", "Carla"):
        await store.write(accounts.enrol, name, "hash")
    return store


async def letters(store: Store, player: str = "Bert") -> list[tuple[int, str, str, bool]]:
    found = await store.look_up(LettersLookup(player))
    return [(each.number, each.sender, each.text, each.is_new) for each in found]


class TestLetters:
    async def test_letters_are_stored_in_order_with_their_time(
        self, store: Store, clock: Clock
    ) -> None:
        clock.now = NOON
        assert await post(store, "Bert", "Anna", "Shall we play?") == 1
        assert await post(store, "bert", "carla", "Ho!") == 2
        assert await store.look_up(LettersLookup("bert")) == (
            Letter(1, "Anna", NOON + 1, "Shall we play?"),
            Letter(2, "Carla", NOON + 2, "Ho!"),
        )
        assert await store.look_up(LetterCountLookup("Bert")) == LetterCount(2, 2)
        assert await store.look_up(LetterCountLookup("Nobody")) == LetterCount()
        assert await count_from(store, "Bert", "anna") == (2, 1, 2)
        assert await count_from(store, "Bert", "Nobody") == (2, 0, 2)
        await is_in_order(store)

    async def test_letter_senders_count_as_strangers_until_played_or_followed(
        self, store: Store
    ) -> None:
        await store.write(accounts.enrol, "Dora", "hash")
        for sender in ("Anna", "Carla", "Carla", "Dora"):
            await post(store, "Bert", sender, "Ho!")
        assert await count_from(store, "Bert", "Dora") == (4, 1, 4)
        await store.append({OAK: (0, [started(1, "Carla", "Bert")])})
        assert await count_from(store, "Bert", "Carla") == (4, 2, None)
        assert await count_from(store, "Bert", "Dora") == (4, 1, 2)
        assert await count_from(store, "Bert", "Dora", ["anna", "nobody"]) == (4, 1, 1)
        assert await count_from(store, "Bert", "Anna", ["anna"]) == (4, 1, None)
        await store.write(accounts.erase, "Anna")
        assert await count_from(store, "Bert", "Dora") == (4, 1, 2)

    async def test_letters_are_for_members_only(self, store: Store) -> None:
        await store.write(accounts.reserve_guest_name, KeptName("Gast", b"1" * 32, 5.0))
        await store.write(accounts.ban, "Mallory")  # a ban alone does not make an account
        for to, sender in (("Gast", "Anna"), ("Mallory", "Anna"), ("Bert", "Gast"), ("X", "Anna")):
            with pytest.raises(NoSuchAccountError):
                await post(store, to, sender, "Ho!")
        assert await letters(store) == []

    async def test_letters_read_are_no_longer_new(self, store: Store) -> None:
        for text in ("one", "two", "three"):
            await post(store, "Bert", "Anna", text)
        await mark_read(store, "Bert", [1, 3, 9])
        assert [is_new for *_, is_new in await letters(store)] == [False, True, False]
        assert await store.look_up(LetterCountLookup("Bert")) == LetterCount(1, 3)
        await is_in_order(store)

    async def test_letter_numbers_are_stable(self, store: Store) -> None:
        for text in ("one", "two", "three"):
            await post(store, "Bert", "Anna", text)
        await post(store, "Carla", "Anna", "another's")
        assert await forget(store, "bert", [2, 7]) == 1
        assert await post(store, "Bert", "Anna", "four") == 4
        assert [number for number, *_ in await letters(store)] == [1, 3, 4]
        assert await forget(store, "Bert", [1, 3, 4]) == 3
        assert await forget(store, "Bert", [1]) == 0
        assert await forget(store, "Nobody", [1]) == 0
        assert await post(store, "Bert", "Anna", "anew") == 1
        assert len(await letters(store, "Carla")) == 1
        await is_in_order(store)

    async def test_letters_follow_a_rename(self, store: Store) -> None:
        await post(store, "Bert", "Anna", "Ho!")
        await store.write(accounts.rename, "Anna", "Hanna")
        await store.write(accounts.rename, "Bert", "Robert")
        assert await letters(store, "Robert") == [(1, "Hanna", "Ho!", True)]
        assert await letters(store, "Bert") == []

    async def test_letters_of_an_erased_sender_become_anonymous(self, store: Store) -> None:
        await post(store, "Bert", "Anna", "from me")
        await post(store, "Anna", "Bert", "to me")
        await store.write(accounts.erase, "Anna")
        assert await letters(store) == [(1, "", "from me", True)]
        await store.write(accounts.enrol, "Anna", "another")
        assert await letters(store, "Anna") == []
        assert await count_from(store, "Bert", "Anna") == (1, 0, 1)
        await is_in_order(store)


class TestReports:
    async def test_reports_are_closed_by_subject_or_reporter(self, store: Store) -> None:
        for by, about in (("Anna", "Bert"), ("Carla", "Bert"), ("Anna", "Carla"), ("Bert", "Anna")):
            await report(store, by, about, "Rude.")
        assert await close_reports(store, 9, "nobody") == 0
        assert await close_reports(store, 1, "bert") == 1
        assert await close_reports(store, 9, "Bert") == 1
        assert await close_reports(store, 9, by="anna") == 1
        assert [each.number for each in await reports(store)] == [4]
        assert await close_reports(store, 9) == 1
        await is_in_order(store)

    async def test_reports_are_listed_newest_first(self, store: Store, clock: Clock) -> None:
        clock.now = NOON
        assert await report(store, "Anna", "Bert", "is rude", ["say: you oaf"]) == 1
        assert await report(store, "Carla", "Bert", "again") == 2
        second, first = await reports(store)
        assert (second.number, second.by, second.about) == (2, "Carla", "Bert")
        assert (first.said, first.at, first.is_open) == (("say: you oaf",), NOON + 1, True)
        assert await reports(store, most=1) == [second]
        await is_in_order(store)

    async def test_closed_reports_are_listed_only_on_request(self, store: Store) -> None:
        await report(store, "Anna", "Bert", "is rude")
        await report(store, "Anna", "Carla", "is rude, too")
        assert await close_report(store, 1)
        assert not await close_report(store, 1)
        assert not await close_report(store, 9)
        assert [each.number for each in await reports(store)] == [2]
        found = await reports(store, open_only=False)
        assert [(each.number, each.is_open) for each in found] == [(2, True), (1, False)]
        await is_in_order(store)

    async def test_reports_by_and_about_guests_are_counted(self, store: Store) -> None:
        await store.write(accounts.reserve_guest_name, KeptName("Gast", b"1" * 32, 5.0))
        await report(store, "Gast", "Anna", "one")
        await report(store, "Anna", "Gast", "two")
        assert await store.look_up(ReportedLookup("gast", "ANNA")) == Reported("Gast", 1, 2)
        assert await store.look_up(ReportedLookup("Zoe", "Yan")) == Reported(None, 0, 2)
        await close_report(store, 2)
        assert await store.look_up(ReportedLookup("anna", "Anna")) == Reported("Anna", 0, 1)

    async def test_reports_follow_a_rename_and_an_erasure(self, store: Store) -> None:
        await report(store, "Anna", "Bert", "is rude")
        await report(store, "Bert", "Carla", "is not")
        await store.write(accounts.rename, "Bert", "Robert")
        assert [(each.by, each.about) for each in await reports(store)] == [
            ("Robert", "Carla"),
            ("Anna", "Robert"),
        ]
        await store.write(accounts.erase, "Robert")
        [left] = await reports(store)
        assert (left.by, left.about) == ("", "Carla")
        await is_in_order(store)

    async def test_closed_reports_are_limited_to_the_latest(
        self, opening: Opening, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("thudmud.features.moderation.storage.REPORTS_KEPT", 2)
        store = await opening()
        await report(store, "Anna", "Bert", "open")
        for number in range(2, 6):
            await report(store, "Anna", "Bert", "to be closed")
            await close_report(store, number)
        await report(store, "Anna", "Bert", "the last")
        found = await reports(store, open_only=False)
        assert [each.number for each in found] == [6, 5, 4, 1]
        await is_in_order(store)


async def test_deleted_letters_and_reports_are_wiped_from_disk(path: Path) -> None:
    store = await Store.open(path)
    for name in ("Anna", "Bert"):
        await store.write(accounts.enrol, name, "hash")
    for to, text in (("Bert", "a secret letter"), ("Anna", "another secret"), ("Bert", "kept")):
        await post(store, to, "Anna", text)
    await report(store, "Bert", "Anna", "a secret report")
    files = [beside(path, suffix) for suffix in ("", "-wal")]

    def is_there(words: bytes) -> bool:
        return any(words in file.read_bytes() for file in files if file.exists())

    assert is_there(b"a secret letter")
    await forget(store, "Bert", [1])
    assert not is_there(b"a secret letter")
    assert is_there(b"another secret")
    await store.write(accounts.erase, "Anna")
    assert not is_there(b"another secret")
    assert not is_there(b"a secret report")
    assert is_there(b"kept")
    await store.close()
