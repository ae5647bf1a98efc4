"""Contact settings of members and pending notifications, in every kind of store."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.features.letters.letters import post
from tests.store.conftest import Opening
from tests.store.deeds import NOON, OAK, PINE, Clock, cleared, is_in_order, started
from tests.store.test_persons import holding
from thudmud.errors import RefusedError
from thudmud.features.notifications import storage
from thudmud.features.notifications.model import (
    ANOTHER,
    CODE_LASTS,
    CODES_A_DAY,
    CODES_FROM_NETWORK,
    GUESSES,
    MOST_BROWSERS,
    AskedLookup,
    Browser,
    CodeHistory,
    Contact,
    ContactLookup,
    Kind,
    News,
    Notification,
    NotifyRefusal,
    Quiet,
    Recipient,
)
from thudmud.game.clocks import DAY
from thudmud.game.events import BattleEnded
from thudmud.rules import Ending, Outcome, Score
from thudmud.store import ConflictError, KeptName, NoSuchAccountError, Store, accounts, persons
from thudmud.store.database import Database, Work

MAIL = "anna@example.org"
BROWSER = Browser("https://push.example.org/1", "k" * 87, "a" * 22)


@pytest.fixture
async def store(opening: Opening) -> Store:
    """Return a store with three members."""
    store = await opening()
    for name in ("Anna", "Bert", "Carla"):
        await store.write(accounts.enrol, name, "hash")
    return store


async def contact(store: Store, player: str = "Anna") -> Contact:
    found: Contact = await store.look_up(ContactLookup(player))
    return found


def posting(news: News) -> Work:
    return partial(storage.post_news, news=news)


async def code(store: Store, player: str = "Anna") -> str:
    """Return the code in a member's pending mail."""
    [each] = [
        each
        for each in await store.read(storage.due, mails=True)
        if each.player == player and each.code
    ]
    return each.code


async def confirmed(store: Store, player: str = "Anna", mail: str = MAIL) -> None:
    """Give a member a confirmed mail address."""
    await store.write(storage.ask_code, player, mail)
    [asked] = [each for each in await store.read(storage.due, mails=True) if each.player == player]
    assert await store.write(storage.confirm, player, asked.code) is None
    await store.write(storage.delete_sent, asked)


async def tell(store: Store, *told: Notification, board: str = OAK) -> None:
    version = await store.version(board)
    await store.append({board: (version, [cleared(1)])}, work=posting(News(board, told)))


async def kinds(store: Store, *, mails: bool = True) -> dict[str, list[str]]:
    """Return the kinds of pending notifications, by player."""
    told: dict[str, list[str]] = {}
    for each in await store.read(storage.due, mails=mails):
        about = [row.kind.value if row.kind else "code" for row in each.waiting]
        told.setdefault(each.player, []).extend(about)
    return told


class TestAddresses:
    async def test_address_is_used_once_its_code_is_confirmed(self, store: Store) -> None:
        assert await contact(store) == Contact()
        await store.write(storage.ask_code, "anna", MAIL)
        assert await contact(store) == Contact(asked=MAIL, asked_today=1)
        [asked] = await store.read(storage.due, mails=True)
        assert (asked.player, asked.address, len(asked.code)) == ("Anna", MAIL, 6)
        assert await store.watch(storage.notified) == frozenset()
        assert await store.write(storage.confirm, "Anna", asked.code) is None
        assert await contact(store) == Contact(MAIL, asked_today=1)
        assert await store.watch(storage.notified) == {"Anna"}
        assert await store.write(storage.confirm, "Anna", asked.code) == 0
        await is_in_order(store)

    async def test_code_allows_five_guesses(self, store: Store) -> None:
        await store.write(storage.ask_code, "Anna", MAIL)
        right = await code(store)
        wrong = f"{(int(right) + 1) % 1_000_000:06}"
        left = [await store.write(storage.confirm, "Anna", wrong) for _ in range(GUESSES)]
        assert left == [4, 3, 2, 1, 0]
        assert await store.write(storage.confirm, "Anna", right) == 0
        assert (await contact(store)).address == ""

    async def test_code_expires_after_an_hour(self, store: Store, clock: Clock) -> None:
        await store.write(storage.ask_code, "Anna", MAIL)
        right = await code(store)
        clock.now += CODE_LASTS
        assert await store.write(storage.confirm, "Anna", right) == 0
        assert (await contact(store)).asked == ""
        [asked] = await store.read(storage.due, mails=True)
        assert (asked.address, asked.code) == ("", "")  # so the mail is no longer pending

    async def test_codes_are_counted_per_day_by_member_and_address(
        self, store: Store, clock: Clock
    ) -> None:
        await store.write(storage.ask_code, "Anna", MAIL)
        await store.write(storage.ask_code, "Bert", MAIL.upper())
        await store.write(storage.ask_code, "Bert", "bert@example.org")
        assert (await contact(store, "Bert")).asked_today == 2
        assert len((await store.look_up(AskedLookup(MAIL, "Carla"))).mailbox) == 2
        clock.now += DAY
        assert (await contact(store, "Bert")).asked_today == 0
        assert (await store.look_up(AskedLookup(MAIL, "Carla"))).mailbox == ()

    async def test_code_to_another_spelling_of_a_mailbox_counts(self, store: Store) -> None:
        spellings = ("an.na@gmail.com", "Anna+1@gmail.com", "anna+2@googlemail.com")
        for player, address in zip(("Anna", "Bert", "Carla"), spellings, strict=True):
            await store.write(storage.ask_code, player, address)
        with pytest.raises(RefusedError) as refused:
            await store.write(storage.ask_code, "Anna", "a.nna+3@gmail.com")
        assert refused.value.code is NotifyRefusal.CODES_TOO_MANY
        assert (await contact(store)).asked_today == 1  # a refused request stores nothing
        await is_in_order(store)

    async def test_codes_of_an_erased_member_still_count(self, store: Store) -> None:
        for number in range(CODES_A_DAY):
            await store.write(accounts.enrol, "Gone", "hash")
            await store.write(storage.ask_code, "Gone", f"anna+{number}@example.org", "192.0.2.1")
            await store.write(accounts.erase, "Gone")
        asked: CodeHistory = await store.look_up(AskedLookup(MAIL, "Anna", "192.0.2.1"))
        assert [len(each) for each in asked[:4]] == [CODES_A_DAY] * 4
        with pytest.raises(RefusedError):
            await store.write(storage.ask_code, "Anna", MAIL)

    async def test_code_beyond_the_limit_of_the_network_or_the_hour_is_refused(
        self, store: Store, clock: Clock
    ) -> None:
        for number in range(CODES_FROM_NETWORK):
            await store.write(storage.ask_code, "Anna", f"anna@{number}.example", "192.0.2.1", 100)
        other = "anna@other.example"
        with pytest.raises(RefusedError) as refused:
            await store.write(storage.ask_code, "Anna", other, "192.0.2.1", 100)
        assert refused.value.code is NotifyRefusal.CODES_FROM_ADDRESS
        with pytest.raises(RefusedError) as refused:
            await store.write(storage.ask_code, "Anna", other, "192.0.2.2", CODES_FROM_NETWORK)
        assert refused.value.code is NotifyRefusal.CODES_HELD_BACK
        await store.write(storage.ask_code, "Anna", other, "192.0.2.2", 100)
        clock.now += DAY
        await store.write(storage.ask_code, "Anna", other, "192.0.2.1", 1)

    async def test_code_lookup_returns_account_age_and_whether_it_has_played(
        self, store: Store, clock: Clock
    ) -> None:
        registered = clock.now
        clock.now += 60
        asked = await store.look_up(AskedLookup(MAIL, "anna"))
        assert abs(asked.registered - registered) < 60
        assert not asked.has_played
        score = Outcome(Ending.AGREEMENT, None, Score(32, 32))
        over = BattleEnded(2.0, "Anna", score, 0, "Anna", "Bert")
        await store.append({OAK: (0, [started(1)])})
        assert not (await store.look_up(AskedLookup(MAIL, "Anna"))).has_played
        await store.append({OAK: (1, [over])})
        assert (await store.look_up(AskedLookup(MAIL, "Anna"))).has_played
        assert not (await store.look_up(AskedLookup(MAIL, "Carla"))).has_played

    async def test_unsubscribed_mailbox_is_recognized_in_other_spellings(
        self, store: Store
    ) -> None:
        await store.write(storage.ask_code, "Anna", "anna+1@gmail.com")
        [mail] = await store.read(storage.due, mails=True)
        await store.write(storage.end_mails, mail.secret)
        assert (await store.look_up(AskedLookup("an.na+2@gmail.com", "Bert"))).unwanted

    async def test_contact_settings_are_for_members_only(self, store: Store) -> None:
        await store.write(accounts.reserve_guest_name, KeptName("Gast", b"1" * 32, 5.0))
        for asking in (
            store.write(storage.ask_code, "Gast", MAIL),
            store.write(storage.confirm, "Gast", "123456"),
            store.write(storage.add_browser, "Gast", BROWSER),
            store.write(storage.keep_contact, "Gast", Contact()),
        ):
            with pytest.raises(NoSuchAccountError):
                await asking

    async def test_unsubscribe_link_ends_mails_to_a_member(self, store: Store) -> None:
        await confirmed(store)
        await tell(store, Notification("Anna", Kind.TURN))
        [mail] = await store.read(storage.due, mails=True)
        assert await store.read(storage.is_ended_by, mail.secret)
        assert await store.write(storage.end_mails, mail.secret)
        assert (await contact(store)).address == ""
        assert await store.read(storage.due, mails=True) == []
        for secret in ("", "x" * 22):
            assert not await store.read(storage.is_ended_by, secret)
            assert not await store.write(storage.end_mails, secret)
        await is_in_order(store)

    async def test_unsubscribe_link_in_a_code_mail_blocks_the_mailbox(self, store: Store) -> None:
        await store.write(storage.ask_code, "Anna", MAIL)
        [mail] = await store.read(storage.due, mails=True)
        assert await store.write(storage.end_mails, mail.secret)
        assert await store.read(storage.due, mails=True) == []
        assert await store.write(storage.confirm, "Anna", mail.code) == 0
        assert (await store.look_up(AskedLookup(MAIL.upper(), "Bert"))).unwanted
        assert not (await store.look_up(AskedLookup("bert@example.org", "Bert"))).unwanted

    async def test_mailbox_that_refuses_mail_gets_none(self, store: Store) -> None:
        await confirmed(store)
        await tell(store, Notification("Anna", Kind.TURN), Notification("Anna", Kind.END, 7))
        [mail] = await store.read(storage.due, mails=True)
        await store.write(storage.refuse, mail)
        assert await store.read(storage.due, mails=True) == []
        assert (await contact(store)).is_refused
        assert await store.watch(storage.notified) == frozenset()
        await confirmed(store)
        assert not (await contact(store)).is_refused


class TestChoices:
    async def test_notification_choices_are_stored(self, store: Store) -> None:
        await confirmed(store)
        quiet = Quiet(22 * 60, 7 * 60, -90)
        off = frozenset({Kind.END, Kind.CLOCK})
        chosen = Contact(MAIL, off=off, quiet=quiet, calendar=ANOTHER, feed=True)
        await store.write(storage.keep_contact, "Anna", chosen)
        kept = await contact(store)
        assert kept == chosen._replace(calendar=kept.calendar, asked_today=1)
        assert await store.read(storage.calendar_of, kept.calendar) == "Anna"
        assert await store.read(storage.feed_of, "anna") == "Anna"
        await store.write(storage.keep_contact, "Anna", kept._replace(calendar=ANOTHER, feed=False))
        assert await store.read(storage.calendar_of, kept.calendar) is None
        assert await store.read(storage.calendar_of, "") is None
        assert await store.read(storage.feed_of, "Anna") is None
        assert await store.read(storage.feed_of, "Nobody") is None
        await store.write(accounts.rename, "Anna", "Hanna")
        again = await contact(store, "Hanna")
        assert await store.read(storage.calendar_of, again.calendar) == "Hanna"
        assert await store.watch(storage.notified) == {"Hanna"}
        await is_in_order(store)

    async def test_disabled_kinds_are_not_queued(self, store: Store) -> None:
        await confirmed(store)
        await store.write(storage.keep_contact, "Anna", Contact(MAIL, off=frozenset({Kind.TURN})))
        await tell(store, Notification("Anna", Kind.TURN), Notification("Anna", Kind.END, 1))
        assert await kinds(store) == {"Anna": ["end"]}

    async def test_browsers_are_notified_separately(self, store: Store) -> None:
        await confirmed(store)
        await store.write(storage.add_browser, "Anna", BROWSER)
        await store.write(storage.add_browser, "Anna", BROWSER)  # a duplicate, stored once
        other = BROWSER._replace(endpoint="https://push.example.org/2")
        await store.write(storage.add_browser, "Anna", other)
        assert (await contact(store)).browsers == 2
        await tell(store, Notification("Anna", Kind.TURN))
        assert await kinds(store) == {"Anna": ["turn"]}
        pushes = await store.read(storage.due, mails=False)
        assert [each.browser for each in pushes] == [BROWSER, other] or [
            each.browser for each in pushes
        ] == [other, BROWSER]
        [gone] = [each for each in pushes if each.browser == other]
        await store.write(storage.refuse, gone)
        assert (await contact(store)).browsers == 1
        assert [each.browser for each in await store.read(storage.due, mails=False)] == [BROWSER]
        await store.write(storage.keep_contact, "Anna", (await contact(store))._replace(browsers=0))
        assert await store.read(storage.due, mails=False) == []
        assert await kinds(store) == {"Anna": ["turn"]}
        await is_in_order(store)

    async def test_browsers_are_limited_per_member(self, store: Store) -> None:
        for number in range(MOST_BROWSERS + 2):
            link = f"https://push.example.org/{number}"
            await store.write(storage.add_browser, "Anna", BROWSER._replace(endpoint=link))
        assert (await contact(store)).browsers == MOST_BROWSERS

    async def test_browser_moves_to_its_latest_user(self, store: Store) -> None:
        await store.write(storage.add_browser, "Anna", BROWSER)
        await store.write(storage.add_browser, "Bert", BROWSER)
        assert await store.watch(storage.notified) == {"Bert"}


class TestWaiting:
    async def test_notifications_are_stored_atomically_with_events(self, store: Store) -> None:
        await confirmed(store)
        await confirmed(store, "Bert", "bert@example.org")
        news = News(OAK, (Notification("Anna", Kind.TURN), Notification("Carla", Kind.TURN)))
        await store.append({OAK: (0, [started(1)])}, key="once", work=posting(news))
        assert await kinds(store) == {"Anna": ["turn"]}
        await store.append({OAK: (0, [started(1)])}, key="once", work=posting(news))
        assert await kinds(store) == {"Anna": ["turn"]}
        with pytest.raises(ConflictError):
            await store.append(
                {OAK: (0, [started(2)])}, work=posting(News(OAK, news.notices[:1] * 2))
            )
        assert await kinds(store) == {"Anna": ["turn"]}
        await is_in_order(store)

    async def test_turn_notification_replaces_the_previous_one(
        self, store: Store, clock: Clock
    ) -> None:
        await confirmed(store)
        await confirmed(store, "Bert", "bert@example.org")
        later = NOON + DAY
        turn, short = Notification("Anna", Kind.TURN), Notification("Anna", Kind.CLOCK, due=later)
        await tell(store, turn, short)
        await tell(store, turn, board=PINE)
        assert await kinds(store) == {"Anna": ["turn", "turn"]}
        clock.now = later
        assert sorted((await kinds(store))["Anna"]) == ["clock", "turn", "turn"]
        await tell(store, Notification("Bert", Kind.TURN))
        assert await kinds(store) == {"Anna": ["turn"], "Bert": ["turn"]}
        await tell(store, board=PINE)
        assert await kinds(store) == {"Bert": ["turn"]}

    async def test_arrival_clears_all_but_the_clock_warning(
        self, store: Store, clock: Clock
    ) -> None:
        await confirmed(store)
        turn, short = Notification("Anna", Kind.TURN), Notification("Anna", Kind.CLOCK)
        await tell(store, turn, short)
        await store.write(storage.ask_code, "Anna", "other@example.org")
        await store.write(storage.came, "anna")
        await store.write(storage.came, "Nobody")
        assert sorted((await kinds(store))["Anna"]) == ["clock", "code"]

    async def test_letter_queues_a_notification(self, store: Store) -> None:
        await confirmed(store)
        await post(store, "Anna", "Bert", "Ho!")
        await post(store, "Bert", "Anna", "Ho!")
        assert await kinds(store) == {"Anna": ["message"]}

    async def test_failed_notification_is_retried_later(self, store: Store, clock: Clock) -> None:
        await confirmed(store)
        await tell(store, Notification("Anna", Kind.END, 12))
        [mail] = await store.read(storage.due, mails=True)
        await store.write(storage.put_off, mail, clock.now + 600, failed=True)
        assert await store.read(storage.due, mails=True) == []
        clock.now += 600
        [mail] = await store.read(storage.due, mails=True)
        [waiting] = mail.waiting
        assert (waiting.kind, waiting.subject, waiting.tries) == (Kind.END, 12, 1)
        since = waiting.failing
        await store.write(storage.put_off, mail, clock.now, failed=True)
        [mail] = await store.read(storage.due, mails=True)
        assert (mail.waiting[0].tries, mail.waiting[0].failing) == (2, since)
        await store.write(storage.put_off, mail, clock.now)
        [mail] = await store.read(storage.due, mails=True)
        assert mail.waiting[0].tries == 2
        await store.write(storage.delete_sent, mail, mailed=True)
        assert await store.read(storage.due, mails=True) == []
        await tell(store, Notification("Anna", Kind.END, 13))
        [mail] = await store.read(storage.due, mails=True)
        assert mail.mailed is not None
        await is_in_order(store)

    async def test_outbox_is_counted_by_way_and_failure(self, store: Store, clock: Clock) -> None:
        assert set((await store.read(storage.count_waiting)).values()) == {storage.OutboxCount()}
        await confirmed(store)
        await store.write(storage.add_browser, "Anna", BROWSER)
        await tell(store, Notification("Anna", Kind.END, 12))
        await tell(store, Notification("Anna", Kind.END, 13))
        [mail] = await store.read(storage.due, mails=True)
        one = mail._replace(waiting=mail.waiting[:1])
        await store.write(storage.put_off, one, clock.now + 600, failed=True)
        assert await store.read(storage.count_waiting) == {
            "mail": storage.OutboxCount(waiting=2, failing=1),
            "browser": storage.OutboxCount(waiting=2, failing=0),
        }

    async def test_withdrawn_notification_cannot_be_postponed(self, store: Store) -> None:
        await confirmed(store)
        await tell(store, Notification("Anna", Kind.TURN))
        [mail] = await store.read(storage.due, mails=True)
        await store.write(storage.came, "Anna")
        await store.write(storage.put_off, mail, 0.0)
        await store.write(storage.delete_sent, mail)
        await store.write(storage.refuse, Recipient("Nobody", ()))
        assert await store.read(storage.due, mails=True) == []


async def test_notified_players_watcher_hears_of_changes(opening: Opening) -> None:
    store = await opening()
    await store.write(accounts.enrol, "Anna", "hash")
    told: list[frozenset[str]] = []
    assert await store.watch(storage.notified, told.append) == frozenset()
    await confirmed(store)
    assert told[-1] == {"Anna"}
    await store.write(accounts.erase, "Anna")
    assert told[-1] == frozenset()


async def test_erased_contact_data_is_wiped_from_disk(path: Path) -> None:
    store = await Store.open(path, clock=Clock())
    await store.write(accounts.enrol, "Anna", "hash")
    await confirmed(store, mail="anna@address.example")
    await store.write(storage.add_browser, "Anna", BROWSER)
    await store.write(storage.ask_code, "Anna", "pending@address.example")
    told = await store.read(persons.personal_data, "Anna")
    [kept] = told["contact"]
    assert kept["address"] == "anna@address.example"
    assert [each["address"] for each in told["confirmation"]] == [
        "anna@address.example", "pending@address.example",
    ]  # fmt: skip
    assert told["browser"][0]["endpoint"] == BROWSER.endpoint
    assert told["notification"][0]["kind"] == "code"
    for secret in ("secret", "calendar", "code", "key", "auth"):
        assert all(secret not in row for table in told.values() if isinstance(table, list)
                   for row in table)  # fmt: skip
    assert holding(path, "address.example")
    await store.write(accounts.erase, "Anna")
    assert await store.read(Database.scrub)
    assert holding(path, "address.example") == []
    assert holding(path, "push.example.org") == []
    await store.close()


async def test_abandoned_address_is_wiped_at_once(path: Path) -> None:
    store = await Store.open(path, clock=Clock())
    await store.write(accounts.enrol, "Anna", "hash")
    await confirmed(store, mail="anna@address.example")
    await store.write(storage.keep_contact, "Anna", Contact())
    clock = store.clock
    assert isinstance(clock, Clock)
    clock.now += DAY  # as long as codes are counted
    await store.write(storage.ask_code, "Anna", "other@example.org")
    assert await store.read(Database.scrub)
    assert holding(path, "address.example") == []
    await store.close()
