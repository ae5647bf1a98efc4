"""Notifications: the settings that members type, and the news queued for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.features.letters.test_reactors import Clock, peopled
from tests.features.moderation.reports import reports
from tests.service.place import Place
from tests.service.stores import do_instead
from tests.service.test_nodes import World
from thudmud.features.notifications import storage
from thudmud.features.notifications.model import (
    CODE_LASTS,
    CODES_FROM_NETWORK,
    NEWCOMER,
    NotificationSettings,
    Ways,
)
from thudmud.features.notifications.reactors import follow_members
from thudmud.features.playing.moves import Resign
from thudmud.game.clocks import DAY
from thudmud.game.events import Parting
from thudmud.game.sanctions import Order
from thudmud.store import NotWrittenError, Store, accounts

MAIL = "anna@example.org"
WAYS = Ways(
    has_mail=True, push="K" * 87, services=("push.example.org",), page="https://example.org"
)
KEYS = f"{'k' * 87} {'a' * 22}"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def place(clock: Clock) -> Place:
    """Return a place with three members, Anna and Bert of them online, and a guest."""
    return await made(Store.in_memory(clock=clock))


async def made(store: Store) -> Place:
    place = Place(store)
    place.hall.part(NotificationSettings).ways = WAYS
    await follow_members(place.service)
    return await peopled(place)


async def code(place: Place) -> str:
    [mail] = await place.service.store.read(storage.due, mails=True)
    return mail.code


async def confirmed(place: Place, *names: str) -> None:
    """Give members confirmed mail addresses."""
    for name in names:
        await place.type(name, f"notify mail {name}@example.org")
        [mail] = [
            each for each in await place.service.store.read(storage.due, mails=True) if each.code
        ]
        assert "You'll get email" in await place.type(name, f"notify code {mail.code}")
        await place.service.store.write(storage.delete_sent, mail)


async def waiting(place: Place) -> dict[str, list[str]]:
    """Return the kinds of news due by mail, by player."""
    return {
        each.player: sorted(row.kind.value if row.kind else "code" for row in each.waiting)
        for each in await place.service.store.read(storage.due, mails=True)
    }


class TestChoosing:
    async def test_notify_starts_with_every_channel_off(self, place: Place) -> None:
        assert await place.type("Anna", "notify") == (
            "Notifications while you're away:\n"
            "  mail: off\n"
            '    "notify mail" and your address\n'
            "  browsers: off\n"
            "    switch them on in the settings of the web page\n"
            "  turn: on (it's your turn)\n"
            '    "notify turn on" or "notify turn off"\n'
            "  clock: on (you're running short of time)\n"
            '    "notify clock on" or "notify clock off"\n'
            "  end: on (one of your battles ends)\n"
            '    "notify end on" or "notify end off"\n'
            "  message: on (somebody leaves you a message)\n"
            '    "notify message on" or "notify message off"\n'
            "  round: on (a round of your tournament begins)\n"
            '    "notify round on" or "notify round off"\n'
            "  quiet: off\n"
            '    "notify quiet 22 to 7" sets hours without notifications\n'
            "  calendar: off (your deadlines, for a calendar app)\n"
            '    "notify calendar on"\n'
            "  feed: off (your finished battles, for everyone to read)\n"
            '    "notify feed on"\n'
            '"help notify" explains them all.'
        )

    async def test_mail_address_is_used_once_its_code_is_typed(self, place: Place) -> None:
        assert await place.type("Anna", f"notify mail {MAIL}") == (
            "A code is on its way to an...@example.org. It's good for 60 minutes. When it arrives,"
            ' type "notify code" and the six digits in the email.'
        )
        assert "  mail: off, and an...@example.org is waiting for its code" in await place.type(
            "Anna", "notify"
        )
        right = await code(place)
        wrong = f"{(int(right) + 1) % 1_000_000:06}"
        assert await place.type("Anna", f"notify code {wrong}") == (
            "That isn't the code in the email. You have 4 tries left."
        )
        assert await place.type("Anna", f"notify code {right}") == (
            'You\'ll get email from now on. "notify" shows what about.'
        )
        shown = await place.type("Anna", "notify")
        assert "  mail: to an...@example.org\n" in shown
        assert MAIL not in shown
        assert place.hall.part(NotificationSettings).members == {"Anna"}
        assert (await place.type("Anna", f"notify code {right}")).startswith("No code is waiting")

    async def test_code_is_void_after_five_wrong_guesses(self, place: Place) -> None:
        await place.type("Anna", f"notify mail {MAIL}")
        right = await code(place)
        wrong = f"{(int(right) + 1) % 1_000_000:06}"
        told = [await place.type("Anna", f"notify code {wrong}") for _ in range(5)]
        assert told[3] == "That isn't the code in the email. You have 1 try left."
        assert told[4].startswith("No code is waiting for you")
        assert (await place.type("Anna", f"notify code {right}")).startswith("No code is waiting")

    async def test_codes_are_limited_to_three_a_day(self, place: Place, clock: Clock) -> None:
        for number in range(3):
            told = await place.type("Anna", f"notify mail anna{number}@example.org")
            assert told.startswith("A code is on its way")
        many = "You can have 3 codes a day"
        assert (await place.type("Anna", f"notify mail {MAIL}")).startswith(many)
        for _ in range(2):
            assert "A code" in await place.type("Bert", "notify mail anna0@example.org")
        assert (await place.type("Bert", "notify mail ANNA0@example.org")).startswith(many)
        clock.now = place.now = 1000.0 + DAY
        assert "A code" in await place.type("Anna", f"notify mail {MAIL}")

    async def test_codes_from_one_network_are_limited_to_six_a_day(
        self, place: Place, clock: Clock
    ) -> None:
        names = ("Dora", "Emil", "Fritz")
        for name in names:
            await place.service.store.write(accounts.enrol, name, "hash")
        await place.enter(*names, member=True, origin="192.0.2.1")
        for number in range(CODES_FROM_NETWORK):
            line = f"notify mail anna@{number}.example"
            assert "A code is on its way" in await place.type(names[number % 2], line)
        clock.now = place.now = 1000.0 + DAY / 2
        assert await place.type("Fritz", "notify mail anna@other.example") == (
            "Players who share your internet address can have 6 codes a day between them. The"
            " next one is available in 12 hours."
        )
        assert "A code is on its way" in await place.type("Anna", "notify mail anna@other.example")

    async def test_codes_from_the_local_machine_escape_the_network_limit(
        self, place: Place
    ) -> None:
        # All players may share this address, behind a proxy missing from the settings.
        for number in range(CODES_FROM_NETWORK + 1):
            name = f"M{'x' * number}"
            await place.service.store.write(accounts.enrol, name, "hash")
            await place.enter(name, member=True, origin="127.0.0.1")
            line = f"notify mail {name}@{number}.example"
            assert "A code is on its way" in await place.type(name, line)

    async def test_code_over_the_hourly_share_is_refused_with_a_waiting_time(
        self, place: Place, clock: Clock
    ) -> None:
        place.hall.part(NotificationSettings).codes_per_hour = 4
        for number in range(2):
            await place.type("Anna", f"notify mail anna{number}@example.org")
        held = "A lot of codes are on their way right now."
        assert await place.type("Bert", "notify mail bert@example.org") == (
            f"{held} Please try again in 60 minutes."
        )
        for number in range(2):
            await place.type("Bert", f"notify mail bert@{number}.example")
        await place.service.store.write(accounts.enrol, "Dora", "hash")
        await place.enter("Dora", member=True)
        assert held in await place.type("Dora", "notify mail dora@other.example")
        clock.now = place.now = 1000.0 + CODE_LASTS
        assert "A code" in await place.type("Dora", "notify mail dora@example.org")

    async def test_codes_requested_on_two_nodes_count_together(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = place.service.store
        for name in ("Dora", "Emil"):
            await store.write(accounts.enrol, name, "hash")
        await place.type("Anna", f"notify mail {MAIL}")
        write = store.write

        async def meanwhile(*asked: Any) -> None:  # others overtake it after the decision
            for name in ("Dora", "Emil"):
                await write(storage.ask_code, name, MAIL)
            await write(storage.ask_code, *asked)

        do_instead(monkeypatch, store, storage.ask_code, meanwhile)
        assert (await place.type("Bert", f"notify mail {MAIL}")).startswith("You can have 3")
        assert "is waiting for its code" not in await place.type("Bert", "notify")

    async def test_code_for_a_newcomer_is_refused(self, place: Place, clock: Clock) -> None:
        place.hall.part(NotificationSettings).established_only = True
        first = "You can get email once you've finished a battle here."
        assert (await place.type("Anna", f"notify mail {MAIL}")).startswith(first)
        await place.type("Anna", "practice on elm board", "end game", "leave game on elm board")
        assert (await place.type("Anna", f"notify mail {MAIL}")).startswith(first)
        await place.type("Anna", "join game as dwarf on oak board")
        await place.type("Bert", "join game as troll on oak board", "start")
        await place.type("Anna", "move a6 b6 on oak board", Resign("oak board"))
        clock.now = place.now = 1000.0 + NEWCOMER - 1200
        assert await place.type("Anna", f"notify mail {MAIL}") == (
            "Welcome! You can have a code an hour after registering. Please try again in 20"
            " minutes."
        )
        clock.now = place.now = 1000.0 + NEWCOMER
        assert "A code is on its way" in await place.type("Anna", f"notify mail {MAIL}")

    async def test_code_for_an_operator_is_sent_at_once(self, place: Place) -> None:
        place.hall.part(NotificationSettings).established_only = True
        place.hall.order = Order(frozenset({"anna"}))
        assert "A code is on its way" in await place.type("Anna", f"notify mail {MAIL}")

    async def test_code_to_an_unsubscribed_address_is_refused(self, place: Place) -> None:
        await place.type("Anna", f"notify mail {MAIL}")
        [mail] = await place.service.store.read(storage.due, mails=True)
        await place.service.store.write(storage.end_mails, mail.secret)
        assert "doesn't want email" in await place.type("Bert", f"notify mail {MAIL}")

    @pytest.mark.parametrize(
        ("player", "line", "sentence"),
        [
            ("Gast", "notify", "Notifications are for registered players."),
            ("Gast", f"notify mail {MAIL}", "Notifications are for registered players."),
            ("Gast", "notify off", "Notifications are for registered players."),
            ("Anna", "notify mail a@b", "This server can't send to that address."),
            ("Anna", "notify mail a..b@example.org", "This server can't send to that address."),
            ("Anna", f"notify mail {'a' * 65}@example.org", "This server can't send to that"),
            ("Anna", "notify code 123456", "No code is waiting for you"),
            (
                "Anna",
                f"notify browser https://127.0.0.1/ {KEYS}",
                "Your browser uses a push service that this server doesn't support.",
            ),
            (
                "Anna",
                f"notify browser https://other.push.example.org/ {KEYS}",
                "Your browser uses a push service that this server doesn't support.",
            ),
            (
                "Anna",
                f"notify browser https://push.example.org:8443/ {KEYS}",
                "Your browser uses a push service that this server doesn't support.",
            ),
            (
                "Anna",
                f"notify browser https://push.example.org@evil.example/ {KEYS}",
                "Your browser uses a push service that this server doesn't support.",
            ),
            (
                "Anna",
                f"notify browser https://push.example.org.evil.example/ {KEYS}",
                "Your browser uses a push service that this server doesn't support.",
            ),
        ],
    )
    async def test_invalid_notify_command_is_refused_with_the_reason(
        self, place: Place, player: str, line: str, sentence: str
    ) -> None:
        assert (await place.type(player, line)).startswith(sentence)

    async def test_notify_with_fewer_channels_refuses_the_missing_ones(self, place: Place) -> None:
        place.hall.part(NotificationSettings).ways = Ways(page="https://example.org")
        assert "mail" not in await place.type("Anna", "notify")
        assert "doesn't send email" in await place.type("Anna", f"notify mail {MAIL}")
        told = await place.type("Anna", f"notify browser https://push.example.org/1 {KEYS}")
        assert "doesn't notify browsers" in told
        place.hall.part(NotificationSettings).ways = WAYS
        await confirmed(place, "Anna")
        place.hall.part(NotificationSettings).ways = Ways()
        assert "doesn't send notifications" in await place.type("Anna", "notify")
        assert "doesn't send notifications" in await place.type("Anna", f"notify mail {MAIL}")
        assert "doesn't send notifications" in await place.type("Gast", "notify off")
        assert place.hall.part(NotificationSettings).members == {"Anna"}
        assert "address is forgotten" in await place.type("Anna", "notify mail off")
        assert place.hall.part(NotificationSettings).members == frozenset()

    async def test_browser_is_used_at_once(self, place: Place) -> None:
        told = await place.type("Anna", f"notify browser https://push.example.org/1?a=b {KEYS}")
        assert told.startswith("This browser will notify you from now on")
        assert "  browsers: 1 browser\n" in await place.type("Anna", "notify")
        assert place.hall.part(NotificationSettings).members == {"Anna"}
        assert await place.type("Anna", "notify browsers off") == (
            "Your browsers won't notify you any longer."
        )
        assert place.hall.part(NotificationSettings).members == frozenset()

    async def test_notify_sets_topics_and_quiet_hours(self, place: Place) -> None:
        assert await place.type("Anna", "notify end off") == (
            "You'll no longer be notified when one of your battles ends."
        )
        assert await place.type("Anna", "notify turns on") == (
            "You'll be notified when it's your turn."
        )
        assert await place.type("Anna", "notify quiet 22:30-7 utc+5:30") == (
            "You won't be notified from 22:30 to 7:00 utc+5:30. What comes meanwhile will wait"
            " until then."
        )
        shown = await place.type("Anna", "notify")
        assert "  end: off (" in shown
        assert "  quiet: 22:30 to 7:00 utc+5:30; it's now 05:46 there\n" in shown
        assert await place.type("Anna", "notify quiet off") == "You can be notified at any hour."

    async def test_calendar_address_is_secret_and_feed_address_is_public(
        self, place: Place
    ) -> None:
        told = await place.type("Anna", "notify calendar on")
        assert told == 'Your calendar is ready: "notify" shows its address. Keep it to yourself.'
        shown = await place.type("Anna", "notify")
        [link] = [line for line in shown.split("\n") if "https://example.org/calendar/" in line]
        assert "The old one no longer works." in await place.type("Anna", "notify calendar new")
        assert link not in await place.type("Anna", "notify")
        assert (
            await place.type("Anna", "notify calendar off")
            == "Your calendar is no longer published."
        )
        assert await place.type("Anna", "notify feed on") == (
            "Everyone can read your finished battles at https://example.org/feed/Anna.atom."
        )
        assert "  feed: https://example.org/feed/Anna.atom\n" in await place.type("Anna", "notify")
        assert await place.type("Anna", "notify feed off") == "Your feed is no longer published."

    async def test_notify_off_ends_mails_and_browsers(self, place: Place) -> None:
        await confirmed(place, "Anna")
        await place.type("Anna", f"notify browser https://push.example.org/1 {KEYS}")
        assert await place.type("Anna", "notify mail off") == (
            "You won't get any more email, and your address is forgotten."
        )
        assert place.hall.part(NotificationSettings).members == {"Anna"}
        assert await place.type("Anna", "notify off") == ("You won't get any more notifications.")
        assert place.hall.part(NotificationSettings).members == frozenset()

    async def test_notify_line_that_cannot_be_stored_raises(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise NotWrittenError("The disk is full.")

        for name in ("ask_code", "keep_contact", "add_browser"):
            monkeypatch.setattr(storage, name, fail)
        for line in (
            f"notify mail {MAIL}",
            "notify off",
            f"notify browser https://push.example.org/1 {KEYS}",
        ):
            with pytest.raises(NotWrittenError):
                await place.type("Anna", line)


class TestNews:
    async def plays(self, place: Place, clock: str = "3 days") -> None:
        """Start a match in which Anna has the dwarfs and the first turn."""
        await confirmed(place, "Anna", "Bert")
        await place.type("Anna", "join game as dwarf on oak board", f"set clock {clock}")
        await place.type("Bert", "join game as troll on oak board", "start")
        assert await waiting(place) == {"Anna": ["turn"]}

    async def test_ply_notifies_the_opponent(self, place: Place, clock: Clock) -> None:
        await self.plays(place)
        await place.type("Anna", "move a6 b6")
        assert await waiting(place) == {"Bert": ["turn"]}
        clock.now = place.now = 1000.0 + 2.5 * DAY
        assert await waiting(place) == {"Bert": ["turn"]}
        clock.now = place.now = 1000.0 + 2.75 * DAY
        assert await waiting(place) == {"Bert": ["clock", "turn"]}
        await place.type("Bert", "move g7 f7")
        assert await waiting(place) == {"Anna": ["turn"]}

    async def test_battle_end_notifies_only_the_player_who_did_not_cause_it(
        self, place: Place
    ) -> None:
        await self.plays(place)
        await place.type("Anna", "move a6 b6", "move b6 a6", Resign("oak board"))
        assert await waiting(place) == {"Bert": ["end"]}
        [mail] = await place.service.store.read(storage.due, mails=True)
        assert [each.subject for each in mail.waiting] == [1]

    async def test_flag_fall_notifies_both_players(self, place: Place, clock: Clock) -> None:
        await self.plays(place)
        clock.now = place.now = 1000.0 + 4 * DAY
        await place.service.pass_time()
        assert await waiting(place) == {"Anna": ["end"], "Bert": ["end"]}

    async def test_turn_in_a_live_game_notifies_an_absent_player(self, place: Place) -> None:
        await confirmed(place, "Anna", "Bert")
        await place.sit()
        await place.type("Anna", "move a6 b6")
        assert await waiting(place) == {}
        await place.leave("Anna")
        await place.type("Bert", "move g7 f7")
        assert await waiting(place) == {"Anna": ["turn"]}

    async def test_match_from_a_seek_notifies_at_its_start(self, place: Place) -> None:
        await confirmed(place, "Anna", "Bert")
        await place.type("Anna", "seek 3 days as dwarf")
        await place.type("Bert", "accept")
        assert await waiting(place) == {"Anna": ["turn"]}

    async def test_practice_is_not_news(self, place: Place) -> None:
        await confirmed(place, "Anna")
        await place.type("Anna", "go to oak board", "practice", "move a6 b6", Resign("oak board"))
        assert await waiting(place) == {}

    async def test_match_of_players_without_notifications_is_not_news(self, place: Place) -> None:
        await confirmed(place, "Anna")
        await place.type("Bert", "join game as dwarf on oak board", "set clock 3 days")
        await place.type("Gast", "join game as troll on oak board", "start")
        await place.type("Bert", "move a6 b6")
        assert await waiting(place) == {}

    async def test_login_clears_pending_news(self, place: Place) -> None:
        await self.plays(place)
        await place.leave("Anna")
        assert await waiting(place) == {"Anna": ["turn"]}
        await place.enter("Anna", member=True)
        assert await waiting(place) == {}

    async def test_quit_clears_pending_news(self, place: Place) -> None:
        await self.plays(place)
        await place.leave("Anna", Parting.QUIT)
        assert await waiting(place) == {}

    async def test_login_succeeds_when_news_cannot_be_cleared(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise NotWrittenError("The disk is full.")

        await self.plays(place)
        await place.leave("Anna")
        monkeypatch.setattr(storage, "came", fail)
        await place.enter("Anna", member=True)
        assert await waiting(place) == {"Anna": ["turn"]}

    async def test_letter_notifies_and_is_quoted_in_a_report(self, place: Place) -> None:
        await confirmed(place, "Anna")
        await place.type("Bert", "message anna You oaf!")
        assert await waiting(place) == {"Anna": ["message"]}
        assert "with the last line" in await place.type("Anna", "report bert He is rude.")
        [report] = await reports(place.service.store)
        assert report.said == ("message: You oaf!",)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    for name in ("Anna", "Bert"):
        await world.store.write(accounts.enrol, name, "hash")
    yield world
    await world.store.close()


async def test_move_on_any_node_notifies_once(world: World) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    for place in (one, two):
        place.hall.part(NotificationSettings).ways = WAYS
        await follow_members(place.service)
    await one.enter("Anna", member=True)
    await two.enter("Bert", member=True)
    await confirmed(one, "Anna")
    await one.type("Anna", "join game as dwarf on oak board", "set clock 3 days")
    await two.type("Bert", "join game as troll on oak board", "start")
    assert await waiting(one) == {"Anna": ["turn"]}
    await one.type("Anna", "move a6 b6")
    await two.type("Bert", "move g7 f7")
    assert await waiting(one) == {"Anna": ["turn"]}
