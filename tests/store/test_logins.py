"""Validity of a member's logins, and the secrets that end with them, in every kind of store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from tests.store.conftest import Opening
from tests.store.deeds import Clock, is_in_order
from tests.store.test_notifications import BROWSER, MAIL, code, confirmed, contact, tell
from thudmud.features.notifications import storage
from thudmud.features.notifications.model import ANOTHER, Contact, Kind, Notification
from thudmud.game.sanctions import Measure, Order, Sanction
from thudmud.store import NoSuchAccountError, Store, accounts, new_epoch, persons
from thudmud.store.accounts import USED_WORD_LASTS, WORD_LASTS, WORDS_KEPT

WORD, OTHER = b"1" * 32, b"2" * 32

ENDINGS: dict[str, Callable[[Store], Awaitable[object]]] = {
    "another password": lambda store: store.write(accounts.set_password, "anna", "other"),
    "log out everywhere": lambda store: store.write(accounts.end_logins, "anna"),
    "ban": lambda store: store.write(accounts.ban, "anna"),
    "ban for a while": lambda store: store.write(
        accounts.impose_sanction, Sanction(Measure.BAN, "ANNA", until=store.clock() + 60)
    ),
    "removal": lambda store: store.write(accounts.erase, "anna"),
}


@pytest.fixture
async def store(opening: Opening) -> Store:
    """Return a store with two members, one of whom has a client with a resume word."""
    store = await opening()
    account = await store.write(accounts.enrol, "Anna", "hash")
    await store.write(accounts.enrol, "Bert", "hash")
    assert await store.write(accounts.store_resume_word, "anna", WORD, account.epoch)
    return store


async def epoch(store: Store, name: str = "Anna") -> int:
    account = await store.read(accounts.find, name)
    assert account
    assert await store.read(accounts.epochs, [name, "Nobody"]) == {name: account.epoch}
    return account.epoch


class TestWords:
    async def test_resume_word_belongs_to_one_member(self, store: Store) -> None:
        assert await store.read(accounts.has_resume_word, "ANNA", WORD)
        assert not await store.read(accounts.has_resume_word, "Anna", OTHER)
        assert not await store.read(accounts.has_resume_word, "Bert", WORD)
        assert not await store.read(accounts.has_resume_word, "Nobody", WORD)

    async def test_resume_words_are_limited_to_the_latest(self, store: Store) -> None:
        known = await epoch(store)
        words = [bytes([number]) * 32 for number in range(WORDS_KEPT)]
        for word in words:
            assert await store.write(accounts.store_resume_word, "Anna", word, known)
        assert not await store.read(accounts.has_resume_word, "Anna", WORD)
        assert [await store.read(accounts.has_resume_word, "Anna", word) for word in words] == [
            True
        ] * WORDS_KEPT
        await is_in_order(store)

    async def test_resume_words_of_equal_time_expire_in_order(
        self, store: Store, clock: Clock
    ) -> None:
        known = await epoch(store)
        for number in range(WORDS_KEPT):
            clock.now -= 2.0
            assert await store.write(
                accounts.store_resume_word, "Anna", bytes([255 - number]) * 32, known
            )
        assert not await store.read(accounts.has_resume_word, "Anna", WORD)
        assert await store.read(accounts.has_resume_word, "Anna", bytes([255]) * 32)

    async def test_reconnecting_client_displaces_no_other_resume_word(
        self, store: Store, clock: Clock
    ) -> None:
        known, used = await epoch(store), OTHER
        assert await store.write(accounts.store_resume_word, "Anna", used, known)
        for number in range(2 * WORDS_KEPT):
            clock.now += 1.0
            word = bytes([number]) * 32
            assert await store.write(accounts.store_resume_word, "Anna", word, known, used)
            assert await store.read(accounts.has_resume_word, "Anna", WORD)
            assert await store.read(accounts.has_resume_word, "Anna", word)
            assert await store.read(
                accounts.has_resume_word, "Anna", used
            )  # the new word may be lost in transit
            used = word
        for number in range(WORDS_KEPT - 2):  # other clients, logging in by password
            clock.now += 1.0
            assert await store.write(
                accounts.store_resume_word, "Anna", bytes([100 + number]) * 32, known
            )
        assert await store.read(accounts.has_resume_word, "Anna", WORD)
        assert await store.read(accounts.has_resume_word, "Anna", used)
        await is_in_order(store)

    async def test_resume_word_once_used_expires_after_a_day(
        self, store: Store, clock: Clock
    ) -> None:
        assert await store.write(
            accounts.store_resume_word, "Anna", OTHER, await epoch(store), WORD
        )
        clock.now += USED_WORD_LASTS - 60
        assert await store.read(accounts.has_resume_word, "Anna", WORD)
        clock.now += 60
        assert not await store.read(accounts.has_resume_word, "Anna", WORD)
        assert await store.read(accounts.has_resume_word, "Anna", OTHER)

    async def test_resume_word_expires_after_a_month(self, store: Store, clock: Clock) -> None:
        clock.now += WORD_LASTS - 60
        assert await store.read(accounts.has_resume_word, "Anna", WORD)
        clock.now += 60
        assert not await store.read(accounts.has_resume_word, "Anna", WORD)
        assert (await store.read(persons.personal_data, "Anna"))["resume_word"]
        await store.write(accounts.delete_expired_resume_words)
        assert "resume_word" not in await store.read(persons.personal_data, "Anna")
        await is_in_order(store)

    async def test_quitting_revokes_resume_words_but_not_logins(self, store: Store) -> None:
        known = await epoch(store)
        await store.write(accounts.delete_resume_words, "anna")
        await store.write(accounts.delete_resume_words, "Nobody")
        assert not await store.read(accounts.has_resume_word, "Anna", WORD)
        assert await epoch(store) == known

    async def test_data_export_omits_resume_words(self, store: Store) -> None:
        told = await store.read(persons.personal_data, "Anna")
        assert [list(each) for each in told["resume_word"]] == [["at"]]
        assert [list(each) for each in told["login"]] == [["since"]]


class TestEndings:
    @pytest.mark.parametrize("name", sorted(ENDINGS))
    async def test_resume_word_is_void_after_a_login_reset(self, store: Store, name: str) -> None:
        known = await epoch(store)
        await ENDINGS[name](store)
        assert not await store.read(accounts.has_resume_word, "Anna", WORD)
        assert not await store.write(accounts.store_resume_word, "Anna", OTHER, known)
        assert not await store.read(accounts.has_resume_word, "Anna", OTHER)
        assert (await store.read(accounts.epochs, ["Anna"])).get("Anna") != known
        await is_in_order(store)

    async def test_resume_word_of_an_erased_member_is_void_for_a_successor(
        self, store: Store
    ) -> None:
        known = await epoch(store)
        await store.write(accounts.erase, "Anna")
        account = await store.write(accounts.enrol, "Anna", "another")
        assert account.epoch not in (0, known)
        assert not await store.read(accounts.has_resume_word, "Anna", WORD)
        assert not await store.write(accounts.store_resume_word, "Anna", WORD, known)

    async def test_resume_word_survives_a_rehash_and_a_rename(self, store: Store) -> None:
        known = await epoch(store)
        await store.write(accounts.rehash, "Anna", "hash 2", "hash")
        with pytest.raises(NoSuchAccountError):
            await store.write(accounts.rehash, "Anna", "hash 3", "hash")
        await store.write(accounts.rename, "Anna", "Hanna")
        assert await epoch(store, "Hanna") == known
        assert await store.read(accounts.has_resume_word, "Hanna", WORD)

    async def test_login_epoch_is_stored_as_given(self, store: Store) -> None:
        first, second = new_epoch(), new_epoch()
        await store.write(accounts.set_password, "Anna", "other", epoch=first)
        assert await epoch(store) == first
        await store.write(accounts.end_logins, "Anna", since=first, epoch=second)
        assert await epoch(store) == second
        with pytest.raises(NoSuchAccountError):
            await store.write(accounts.end_logins, "Anna", since=first)
        assert await epoch(store) == second

    async def test_ending_logins_of_an_unknown_account_is_refused(self, store: Store) -> None:
        await store.write(accounts.ban, "Zoe")
        for name in ("Nobody", "Zoe"):
            with pytest.raises(NoSuchAccountError):
                await store.write(accounts.end_logins, name)

    async def test_banned_name_without_an_account_has_no_login(self, store: Store) -> None:
        await store.write(accounts.ban, "Zoe")
        zoe = await store.read(accounts.find, "Zoe")
        assert zoe
        assert zoe.epoch == 0
        assert not await store.write(accounts.store_resume_word, "Zoe", WORD, 0)

    async def test_login_resets_notify_moderation_watchers(self, store: Store) -> None:
        told: list[Order] = []
        await store.watch(accounts.order, told.append)
        await store.write(accounts.set_password, "Anna", "other")
        await store.write(accounts.end_logins, "Anna")
        assert len(told) == 2


async def link(store: Store) -> str:
    """Return the secret of the unsubscribe link in a member's mails."""
    await tell(store, Notification("Anna", Kind.TURN))
    [mail] = [each for each in await store.read(storage.due, mails=True) if not each.code]
    await store.write(storage.delete_sent, mail)
    return mail.secret


class TestOtherSecrets:
    """Other secrets that grant access to an account or reveal it."""

    async def secrets(self, store: Store) -> tuple[str, str, str]:
        """Give Anna one of each secret; return a code, a calendar and an unsubscribe secret."""
        await confirmed(store)
        kept = await contact(store)
        await store.write(storage.keep_contact, "Anna", kept._replace(calendar=ANOTHER, feed=True))
        await store.write(storage.ask_code, "Anna", "thief@example.org")
        asked, secret = await code(store), await link(store)
        await store.write(storage.add_browser, "Anna", BROWSER)
        return asked, (await contact(store)).calendar, secret

    @pytest.mark.parametrize("name", sorted(ENDINGS.keys() - {"removal"}))
    async def test_login_reset_revokes_codes_calendars_and_browsers(
        self, store: Store, name: str
    ) -> None:
        asked, calendar, secret = await self.secrets(store)
        await ENDINGS[name](store)
        assert await store.write(storage.confirm, "Anna", asked) == 0
        assert (
            await store.read(storage.due, mails=True)
            == await store.read(storage.due, mails=False)
            == []
        )
        assert await store.read(storage.calendar_of, calendar) is None
        kept = await contact(store)
        assert await store.read(storage.calendar_of, kept.calendar) == "Anna"
        assert (kept.browsers, kept.address, kept.asked_today) == (0, MAIL, 2)
        assert await store.read(storage.is_ended_by, secret)
        await is_in_order(store)

    async def test_erasing_a_member_revokes_all_secrets(self, store: Store) -> None:
        _, calendar, secret = await self.secrets(store)
        await store.write(accounts.erase, "Anna")
        await store.write(accounts.enrol, "Anna", "another")
        assert await store.read(storage.calendar_of, calendar) is None
        assert await store.read(storage.feed_of, "Anna") is None
        assert not await store.read(storage.is_ended_by, secret)
        assert not await store.write(storage.end_mails, secret)
        assert await contact(store) == Contact()

    async def test_login_reset_reports_revoked_calendars_and_browsers(self, store: Store) -> None:
        assert await store.write(accounts.end_logins, "Bert") == ()
        await self.secrets(store)
        calendar, how = "Your calendar has a new address", '"notify" shows how to set it up again.'
        browsers = "your browsers no longer notify you"
        assert await store.write(accounts.set_password, "Anna", "other") == (
            f"{calendar}, and {browsers}. {how}",
        )
        assert await store.write(accounts.end_logins, "Anna") == (f"{calendar}. {how}",)

    async def test_unsubscribe_link_of_an_old_address_spares_the_next(self, store: Store) -> None:
        await confirmed(store)
        before = await link(store)
        await confirmed(store, mail=MAIL.upper())
        assert await link(store) == before
        await confirmed(store, mail="new@example.org")
        assert not await store.write(storage.end_mails, before)
        assert (await contact(store)).address == "new@example.org"
        await is_in_order(store)

    async def test_unsubscribe_link_can_be_used_twice(self, store: Store) -> None:
        await confirmed(store)
        secret = await link(store)
        assert await store.write(storage.end_mails, secret)
        assert await store.write(storage.end_mails, secret)
