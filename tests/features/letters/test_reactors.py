"""Letters (which players call messages), shouts and reports: stored first, then delivered."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable

import pytest

from tests.features.letters.letters import count_from, post
from tests.features.moderation.reports import close_report, close_reports, reports
from tests.service.place import Place
from tests.service.test_nodes import World
from thudmud.features.letters import storage
from thudmud.features.letters.model import LetterLimits, PostboxLookup
from thudmud.features.moderation.model import configure_reports
from thudmud.features.options.preferences import preferences_of
from thudmud.game.options import Options
from thudmud.game.sanctions import Order
from thudmud.service import Policy, Service
from thudmud.service.scheduler import Handle
from thudmud.store import NoSuchAccountError, NotWrittenError, Store, accounts

LIMITS = LetterLimits(25, from_one=12)


class Clock:
    """A settable clock shared by a store and a service."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def place(clock: Clock) -> Place:
    """Return a place with three members, Carla being absent, and a guest."""
    return await made(Store.in_memory(clock=clock))


async def made(store: Store) -> Place:
    return await peopled(Place(store))


async def peopled(place: Place) -> Place:
    """Fill a place with members and a guest, and return it."""
    place.hall.set_limits(LIMITS)
    configure_reports(place.hall, 2)
    for name in ("Anna", "Bert", "Carla"):
        await place.service.store.write(accounts.enrol, name, "hash")
    await place.open()
    await place.enter("Anna", "Bert", member=True)
    await place.enter("Gast")
    place.told.clear()
    return place


class Timer:
    """A timer that never fires."""

    def cancel(self) -> None:
        """Do nothing."""


class TestLetters:
    async def test_letter_to_an_absent_member_waits(self, place: Place, clock: Clock) -> None:
        sent = await place.type("Anna", "message carla Shall we play?")
        assert sent == "Your message to Carla is saved. They'll be told when they come in."
        await place.enter("Carla", member=True)
        waits = 'You have 1 new message: "messages" shows it.'
        assert place.told["Carla"][-1].endswith(waits)
        clock.now = place.now = 1000.0 + 7200.0
        assert await place.type("Carla", "messages") == (
            "You have 1 new message:\n"
            " 1. Anna, 2 hours ago, new: Shall we play?\n"
            '"forget 1" deletes one, "forget messages" all.'
        )
        assert " 1. Anna, 2 hours ago: Shall we play?" in await place.type("Carla", "messages")
        await place.leave("Carla")
        place.told.clear()
        await place.enter("Carla", member=True)
        assert "message" not in "".join(place.told["Carla"])

    async def test_letter_to_a_present_member_is_announced(self, place: Place) -> None:
        sent = await place.type("Anna", "message BERT Ho!")
        assert sent == "Your message to Bert is saved. They've been told."
        assert place.told["Bert"] == ['Anna has left you a message: "messages" shows it.']
        assert "Gast" not in place.told
        assert " 1. Anna, 1 second ago, new: Ho!" in await place.type("Bert", "messages")

    async def test_new_letters_are_announced_on_reconnection(self, place: Place) -> None:
        await place.type("Anna", "message bert Ho!")
        place.told.clear()
        await place.enter("Bert", member=True)
        assert place.told["Bert"][-1].endswith('You have 1 new message: "messages" shows it.')

    @pytest.mark.parametrize(
        ("player", "line", "sentence"),
        [
            ("Gast", "message anna Ho!", "Only registered players get messages"),
            ("Gast", "messages", "Only registered players get messages"),
            ("Anna", "message dora Ho!", 'Nobody called "dora" is registered'),
            ("Anna", "message gast Ho!", "Gast isn't registered"),
            ("Anna", "message gas Ho!", "Gast isn't registered"),
            ("Anna", "message anna Ho!", "That's you."),
            ("Anna", "messages", "You have no messages."),
            ("Anna", "forget messages", "You have no messages."),
            ("Anna", "forget 1", "You have no message 1."),
            ("Anna", "messages from bert", 'You have no messages from "bert".'),
        ],
    )
    async def test_invalid_letter_commands_are_refused(
        self, place: Place, player: str, line: str, sentence: str
    ) -> None:
        assert (await place.type(player, line)).startswith(sentence)

    async def test_name_prefix_matches_present_players_only(self, place: Place) -> None:
        assert "to Bert is saved" in await place.type("Anna", "message be Ho!")
        assert 'called "carl"' in await place.type("Anna", "message carl Ho!")

    async def test_letters_and_reports_disabled_by_limits(self, place: Place) -> None:
        place.hall.set_limits(LetterLimits(0))
        configure_reports(place.hall, 0)
        for line in ("message bert Ho!", "messages", "forget 1"):
            assert await place.type("Anna", line) == "This server doesn't keep messages."
        assert "Nobody reads reports here." in await place.type("Anna", "report bert Ho!")

    async def test_letter_to_a_player_ignoring_the_sender_is_refused(self, place: Place) -> None:
        refused = "isn't taking messages from you."
        await place.type("Bert", "ignore anna")
        assert await place.type("Anna", "message bert Ho!") == f"Bert {refused}"
        ignoring = preferences_of({}, Options(), ["anna"])
        await place.service.store.write(accounts.set_preferences, "Carla", ignoring)
        assert await place.type("Anna", "message carla Ho!") == f"Carla {refused}"
        assert "is saved" in await place.type("Bert", "message carla Ho!")

    async def test_letter_to_a_banned_player_is_refused(self, place: Place) -> None:
        await place.service.store.write(accounts.ban, "Carla")
        assert 'called "carla"' in await place.type("Anna", "message carla Ho!")

    async def test_number_per_sender_is_capped(self, place: Place) -> None:
        place.hall.set_limits(LetterLimits(3, from_one=2))
        for _ in range(2):
            assert "is saved" in await place.type("Anna", "message carla Ho!")
        assert "2 messages from you" in await place.type("Anna", "message carla Ho!")
        following = preferences_of({}, Options(), followed=["Bert"])
        await place.service.store.write(accounts.set_preferences, "Carla", following)
        assert "is saved" in await place.type("Bert", "message carla Ho!")
        assert "with 3 messages" in await place.type("Bert", "message carla Ho!")

    async def test_letter_from_an_acquaintance_bypasses_the_stranger_quota(
        self, place: Place
    ) -> None:
        place.hall.set_limits(LetterLimits(4, from_one=2))
        for _ in range(2):
            await place.type("Bert", "message anna Ho!")
        refusal = "Anna has 2 messages from players they haven't met at a board."
        await place.enter("Carla", member=True)
        assert refusal in await place.type("Carla", "message anna Ho!")
        await place.type("Anna", "follow carla")
        assert "is saved" in await place.type("Carla", "message anna Ho!")
        await place.type("Anna", "unfollow carla", "join game as dwarf on oak board")
        assert refusal in await place.type("Carla", "message anna Ho!")
        await place.type("Carla", "join game as troll on oak board", "start")
        assert "is saved" in await place.type("Carla", "message anna Ho!")

    async def test_absent_recipient_uses_the_stored_follow_list(self, place: Place) -> None:
        place.hall.set_limits(LetterLimits(1, from_one=1))
        store = place.service.store
        await store.write(
            accounts.set_preferences, "Carla", preferences_of({}, Options(), followed=["bert"])
        )
        assert (await count_from(store, "Carla", "Bert", ["bert"]))[2] is None
        box = await place.service.look_up(PostboxLookup("Carla", "Bert"))
        assert box.from_strangers is None

    async def test_letter_pages_start_with_the_latest(self, place: Place) -> None:
        for number in range(1, 13):
            await place.type("Anna", f"message bert {number}.")
        first = (await place.type("Bert", "messages")).split("\n")
        assert first[0] == "You have 12 new messages. Page 1 of 2:"
        assert [line.rpartition(": ")[2] for line in first[1:11]] == [
            f"{number}." for number in range(3, 13)
        ]
        assert first[11] == (
            '"messages page 2" shows earlier ones. "forget 12" deletes one, "forget messages" all.'
        )
        second = (await place.type("Bert", "messages page 2")).split("\n")
        assert second[0] == "You have 12 messages, 2 of them new. Page 2 of 2:"
        assert [line.rpartition(": ")[2] for line in second[1:3]] == ["1.", "2."]
        assert await place.type("Bert", "messages page 3") == "The last page is page 2."

    async def test_letters_can_be_filtered_by_sender(self, place: Place) -> None:
        await place.enter("Carla", member=True)
        await place.type("Anna", "message bert one")
        await place.type("Carla", "message bert two")
        shown = await place.type("Bert", "messages from car")
        assert shown.startswith("You have 1 new message:\n 2. Carla")
        assert shown.endswith('"forget 2" deletes one, "forget messages from car" all of these.')
        assert await place.type("Bert", "forget messages from anna") == "Message 1 deleted."
        assert await place.type("Bert", "forget 2") == "Message 2 deleted."
        for text in ("one", "two"):
            await place.type("Anna", f"message bert {text}")
        assert await place.type("Bert", "forget messages") == "2 messages deleted."

    async def test_ambiguous_sender_prefix_is_queried(self, place: Place) -> None:
        store = place.service.store
        for name in ("Cara", "Carola"):
            await store.write(accounts.enrol, name, "hash")
            await post(store, "Bert", name, "Ho!")
        which = 'Which player do you mean by "car": Cara or Carola?'
        assert await place.type("Bert", "forget messages from car") == which

    async def test_letter_from_an_erased_account_is_from_a_former_member(
        self, place: Place
    ) -> None:
        await place.type("Anna", "message bert Ho!")
        await place.service.store.write(accounts.erase, "Anna")
        assert " 1. a former member, 1 second ago" in await place.type("Bert", "messages")

    async def test_letter_is_not_announced_if_storing_fails(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> int:
            raise NotWrittenError("The disk is full.")

        monkeypatch.setattr(storage, "post", fail)
        with pytest.raises(NotWrittenError):
            await place.type("Anna", "message bert Ho!")
        assert "Bert" not in place.told

    async def test_letter_to_an_account_erased_meanwhile_is_refused(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> int:
            raise NoSuchAccountError("There is no account Carla.")

        monkeypatch.setattr(storage, "post", fail)
        assert 'called "Carla"' in await place.type("Anna", "message carla Ho!")

    async def test_letters_are_shown_even_if_marking_as_read_fails(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            raise NotWrittenError("The disk is full.")

        await place.type("Anna", "message bert Ho!")
        monkeypatch.setattr(storage, "mark_read", fail)
        for _ in range(2):
            assert "new: Ho!" in await place.type("Bert", "messages")


class TestShouts:
    async def test_shout_reaches_everyone_who_has_not_opted_out(self, place: Place) -> None:
        await place.enter("Carla", member=True)
        await place.type("Bert", "go elm board")
        await place.type("Gast", "options shout off")
        await place.type("Carla", "ignore anna")
        place.told.clear()
        await place.type("Anna", "shout Who plays?")
        assert place.told == {
            "Anna": ["You shout: Who plays?"],
            "Bert": ["Anna shouts: Who plays?"],
        }
        assert (await place.type("Gast", "shout I do!")).startswith("You've turned shouts off")

    async def test_shouts_have_their_own_limit(self) -> None:
        taken: list[str] = []
        place = Place(Store.in_memory())
        place.service = Service(
            place.hall,
            place.service.store,
            clock=lambda: 0.0,
            policy=Policy(
                allow=lambda visit: taken.append(f"{visit.name} speaks"),
                limits={"shouts": lambda visit: taken.append(f"{visit.name} shouts")},
            ),
        )
        await place.open()
        await place.enter("Anna")
        taken.clear()
        await place.type("Anna", "say Ho!", "shout Ho!", "options shout off", "shout Ho!")
        assert taken == ["Anna speaks", "Anna speaks", "Anna shouts"]


class TestReports:
    async def test_report_is_logged_and_stored_with_the_lines_heard(
        self, place: Place, caplog: pytest.LogCaptureFixture
    ) -> None:
        await place.type("Bert", "say you oaf", "tell anna and you", "tell gast not to her")
        await place.type("Bert", "emote spits.", "shout oafs!")
        made = await place.type("Anna", "report bert He is rude.")
        assert made == (
            "The operators will see your report about Bert, with the last 4 lines you heard"
            " from them."
        )
        [report] = await reports(place.service.store)
        assert (report.by, report.about, report.text) == ("Anna", "Bert", "He is rude.")
        assert report.said == (
            "say: you oaf", "tell: and you", "emote: spits.", "shout: oafs!",
        )  # fmt: skip
        assert "Bert" not in place.told or "report" not in "".join(place.told["Bert"])
        [logged] = [each for each in caplog.records if each.levelno == logging.WARNING]
        assert logged.getMessage() == "a player was reported"
        assert (vars(logged)["player"], vars(logged)["about"]) == ("Anna", "Bert")
        assert "rude" not in str(vars(logged))

    async def test_report_on_a_departed_player_has_the_last_five_lines(self, place: Place) -> None:
        await place.type("Bert", *(f"say {number}" for number in range(7)))
        await place.leave("Bert")
        assert "last 5 lines" in await place.type("Gast", "report bert He babbles.")
        [report] = await reports(place.service.store)
        assert report.said == tuple(f"say: {number}" for number in range(2, 7))

    async def test_number_per_sender_is_capped(self, place: Place) -> None:
        for _ in range(2):
            assert "will see" in await place.type("Gast", "report bert He is rude.")
        assert "2 open reports" in await place.type("Gast", "report bert He is rude.")
        await close_report(place.service.store, 1)
        assert "will see" in await place.type("Gast", "report bert He is rude.")

    async def test_reports_in_quick_succession_are_batched_for_operators(
        self, clock: Clock
    ) -> None:
        rings: list[Callable[[], None]] = []

        def later(_: float, ring: Callable[[], None]) -> Handle:
            rings.append(ring)
            return Timer()

        place = await peopled(Place(Store.in_memory(clock=clock), later=later))
        place.hall.order = Order(frozenset({"anna"}))
        rings.clear()
        await place.enter("Dora", "Emil")
        place.told.clear()
        for _ in range(2):
            for name in ("Bert", "Dora", "Emil", "Gast"):
                assert "will see" in await place.type(name, "report carla She is rude.")
        lists = '("reports" lists the open ones.)'
        assert place.told["Anna"] == [f'Bert reports Carla: "She is rude." {lists}']
        rings.pop()()
        assert place.told["Anna"][1:] == [
            f"7 more reports: Dora, Emil and 2 others about Carla. {lists}"
        ]
        await close_reports(place.service.store, 8)
        await place.type("Bert", "report carla Still.")
        assert len(place.told["Anna"]) == 2
        rings.pop()()
        assert place.told["Anna"][2:] == [f'Bert reports Carla: "Still." {lists}']
        rings.pop()()
        await place.type("Bert", "report carla Again.")
        assert place.told["Anna"][3:] == [f'Bert reports Carla: "Again." {lists}']

    async def test_report_on_oneself_or_an_unknown_player_is_refused(self, place: Place) -> None:
        assert "That's you." in await place.type("Anna", "report anna Me.")
        assert 'called "zoe" here' in await place.type("Anna", "report zoe Who?")

    async def test_total_number_of_open_reports_is_capped(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("thudmud.features.moderation.commands.MOST_REPORTS", 1)
        await place.type("Anna", "report bert He is rude.")
        assert "more reports than they can read" in await place.type("Gast", "report bert Yes.")


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    for name in ("Anna", "Bert", "Carla"):
        await world.store.write(accounts.enrol, name, "hash")
    yield world
    await world.store.close()


async def test_letters_shouts_and_reports_cross_nodes(world: World) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    for place in (one, two):
        place.hall.set_limits(LIMITS)
        configure_reports(place.hall, 2)
    await one.enter("Anna", member=True)
    await two.enter("Bert", member=True)
    sent = await one.type("Anna", "message bert Ho!")
    assert sent == "Your message to Bert is saved. They've been told."
    assert two.told["Bert"][-1] == 'Anna has left you a message: "messages" shows it.'
    assert "new: Ho!" in await two.type("Bert", "messages")
    await one.type("Anna", "shout Ho!")
    assert two.told["Bert"][-1] == "Anna shouts: Ho!"
    one.hall.order = Order(frozenset({"anna"}))
    assert "last 2 lines you heard" in await two.type("Bert", "report anna She shouts.")
    assert one.told["Anna"][-1].startswith('Bert reports Anna: "She shouts."')
    await two.type("Bert", "ignore anna")
    assert "n't taking messages" in await one.type("Anna", "message bert Ho!")
