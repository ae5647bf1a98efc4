"""Dialogues for login, registration and passwords, without a connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher

from tests.accounts.dialogues import CHEAP, DAY, Answers, HungUpError, LoginSetup
from tests.conftest import PassTime
from tests.server.plain import PATIENCE
from tests.service.stores import do_instead
from tests.store.test_persons import holding
from thudmud.accounts import last_seen, passwords
from thudmud.accounts.guesses import FREE, PASSWORD_INTERVAL
from thudmud.accounts.guest_names import make_up_name
from thudmud.accounts.last_seen import INTERVAL, UNTOLD
from thudmud.accounts.limiters import RateLimiter
from thudmud.accounts.login import Epochs
from thudmud.accounts.passwords import Passwords
from thudmud.features.notifications import storage
from thudmud.features.notifications.model import ANOTHER, Browser, Contact
from thudmud.features.options.commands import SetReader, SetWidth
from thudmud.game.options import Options, Switch
from thudmud.game.sanctions import Measure, Sanction
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.language.parsing import parse_option
from thudmud.store import KeptName, NotWrittenError, Store, accounts, persons


@pytest.fixture
async def setup() -> AsyncIterator[LoginSetup]:
    setup = LoginSetup(Store.in_memory())
    yield setup
    await setup.close()


@pytest.fixture
async def slow_setup(tmp_path: Path) -> AsyncIterator[LoginSetup]:
    """Logins over a store on disk, whose writes yield to other tasks."""
    setup = LoginSetup(await Store.open(tmp_path / "thudmud.db"))
    yield setup
    await setup.close()


NAME, WORD, PASSWORD = "What is your name? ", "Comeback words: ", "Password: (hidden)"
WRONG = "That isn't the password of Anna. Try again, or just press Enter to stop."


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not is_so():  # noqa: ASYNC110  (no event to wait for)
            await asyncio.sleep(0)


async def only_old_names(setup: LoginSetup, *names: str) -> None:
    """Wait until the guests not seen at the current time are exactly these."""
    async with asyncio.timeout(PATIENCE):
        while await setup.store.read(accounts.guests, setup.now) != [*names]:  # noqa: ASYNC110  (no event)
            await asyncio.sleep(0)


class TestGuests:
    async def test_new_guest_is_given_a_resume_word(self, setup: LoginSetup) -> None:
        name, answers = await setup.enter([" anna "])
        assert name == "Anna"
        assert answers.shown == [
            NAME,
            "Your comeback words, in case you lose your connection:",
            answers.word,
        ]
        kept = await setup.store.read(accounts.find_guest, "anna")
        assert kept
        assert passwords.is_same_word(answers.word, kept.word)
        assert answers.word.encode() not in kept.word

    async def test_resume_word_line_fits_the_screen(self, setup: LoginSetup) -> None:
        _, answers = await setup.enter(["Bartholomewthetwenty"])
        parts = {part for _ in range(1000) for part in passwords.new_word().split("-")}
        longest = 5 * max(map(len, parts)) + 4
        *_, told, kept = answers.shown
        assert answers.word.count("-") == 4
        assert len(told) - len(answers.word) + longest < 80
        assert len(kept) < 80

    async def test_invalid_name_is_asked_for_again(self, setup: LoginSetup) -> None:
        name, answers = await setup.enter(["", "4", "anna"])
        assert name == "Anna"
        assert answers.told == ["Letters, please."]

    async def test_owner_keeps_a_name_that_became_reserved(self, setup: LoginSetup) -> None:
        word = await setup.guest("Anna")
        await setup.member("Bert")
        setup.directory.reserved = {"anna", "bert", "carla"}
        assert (await setup.enter(["anna", word]))[0] == "Anna"
        assert (await setup.enter(["bert", "password"]))[0] == "Bert"
        name, answers = await setup.enter(["carla"])
        assert (name, answers.told) == ("", ["Reserved."])

    async def test_guest_without_a_name_is_given_a_free_one(
        self, setup: LoginSetup, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await setup.member("Doralin")
        await setup.guest("Borukin")
        setup.directory.reserved = {"haladan"}
        names = iter(["Doralin", "Borukin", "Haladan", "Stenavar"])
        monkeypatch.setattr("thudmud.accounts.login.make_up_name", lambda: next(names))
        name, answers = await setup.enter(["Guest"])
        assert name == "Stenavar"
        assert answers.word
        assert answers.shown[-1] == "You are Stenavar."

    async def test_owner_of_the_name_guest_keeps_it(self, setup: LoginSetup) -> None:
        await setup.member("Guest")
        assert (await setup.enter(["guest", "password"]))[0] == "Guest"

    def test_made_up_names_are_valid(self) -> None:
        names = {make_up_name() for _ in range(1000)}
        assert len(names) > 500
        house = House([BoardSpec("oak board")])
        assert [name for name in names if house.name_problem(name)] == []

    @pytest.mark.parametrize("word", ["Quit", "exit", "bye", "logout", "q"])
    async def test_quit_at_the_name_prompt_says_goodbye(self, setup: LoginSetup, word: str) -> None:
        name, answers = await setup.enter([word])
        assert (name, answers.shown) == ("", [NAME, "Goodbye!"])

    @pytest.mark.parametrize("verb", ["connect", "Login"])
    async def test_entry_verb_before_a_name_is_left_out(self, setup: LoginSetup, verb: str) -> None:
        name, answers = await setup.enter([verb, f"{verb} anna"])
        assert name == "Anna"
        told = 'Type just your name, or "guest" for one that is made up for you.'
        assert answers.told == [told]

    async def test_guest_gives_the_comeback_words_behind_the_name(self, setup: LoginSetup) -> None:
        word = await setup.guest("Anna")
        name, answers = await setup.enter([f"anna {word.replace('-', ' ')}"])
        assert (name, answers.shown) == ("Anna", [NAME])
        assert (await setup.enter([f"connect anna {word}"]))[0] == "Anna"

    async def test_member_gives_the_password_behind_the_name(self, setup: LoginSetup) -> None:
        await setup.member("Anna")
        assert (await setup.enter(["connect anna password"]))[0] == "Anna"
        name, answers = await setup.enter(["anna wrong", "password"])
        assert name == "Anna"
        assert answers.shown[:3] == [NAME, WRONG, PASSWORD]

    async def test_words_behind_a_new_name_are_no_secret(self, setup: LoginSetup) -> None:
        name, answers = await setup.enter(["connect anna swordfish", "anna"])
        assert name == "Anna"
        assert answers.told == ["Letters, please."]

    async def test_name_in_use_asks_for_its_resume_word(self, setup: LoginSetup) -> None:
        word = await setup.guest("Anna")
        name, answers = await setup.enter(["ANNA", "basalt-lantern-fox-otter-plum", "", "bob"])
        assert name == "Bob"
        assert answers.shown[:-3] == [NAME, WORD, "Those aren't the comeback words of Anna.", WORD]
        assert answers.hints == [
            "Somebody called Anna is already here. If that's you, give your comeback words. To "
            "choose another name, just press Enter."
        ]
        assert (await setup.enter(["ANNA", word]))[0] == "Anna"
        assert (await setup.enter(["anna", f" {word.upper().replace('-', ' ')} "]))[0] == "Anna"

    async def test_resume_word_of_three_parts_from_an_older_version_works(
        self, setup: LoginSetup
    ) -> None:
        kept = KeptName("Anna", passwords.word_hash("basalt-lantern-fox"), setup.now)
        await setup.store.write(accounts.reserve_guest_name, kept)
        assert (await setup.enter(["anna", "Basalt lantern fox"]))[0] == "Anna"

    async def test_address_of_a_new_guest_is_stored(self, setup: LoginSetup) -> None:
        await setup.guest("Anna")
        await setup.logins.last_seen.close()
        assert await setup.store.read(accounts.addresses, "anna") == ["192.0.2.1"]

    async def test_guest_name_expires_a_day_after_its_last_use(self, setup: LoginSetup) -> None:
        word = await setup.guest("Anna")
        setup.directory.playing.clear()
        setup.logins.last_seen.record_departure("Anna", gave_up=False)
        setup.now += DAY - 1
        name, answers = await setup.enter(["anna"])
        assert "Somebody called Anna was here, and may come back." in answers.hints[0]
        assert (await setup.enter(["anna", word]))[0] == "Anna"
        await setup.logins.last_seen.close()  # flushes the time of the last visit
        setup.now += DAY - 1
        assert (await setup.enter(["anna"]))[0] == ""
        setup.now += 1
        name, answers = await setup.enter(["anna"])
        assert name == "Anna"
        assert answers.word != word

    async def test_guest_name_expires_soon_if_its_word_was_never_shown(
        self, setup: LoginSetup, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        keeping = setup.store.write

        async def keep(*args: Any, **kwargs: Any) -> bool:
            await keeping(accounts.reserve_guest_name, *args, **kwargs)
            raise asyncio.CancelledError  # as when the connection or the server ends

        with monkeypatch.context() as patch:
            do_instead(patch, setup.store, accounts.reserve_guest_name, keep)
            with pytest.raises(asyncio.CancelledError):
                await setup.enter(["anna"])
        assert await setup.store.read(accounts.find_guest, "anna")
        assert (await setup.enter(["anna"]))[0] == ""
        setup.now += UNTOLD
        assert (await setup.enter(["anna"]))[0] == "Anna"

    async def test_guest_name_is_kept_while_in_use_or_needed(self, setup: LoginSetup) -> None:
        await setup.guest("Anna")
        await setup.logins.last_seen.close()
        setup.now += 2 * DAY
        assert (await setup.enter(["anna"]))[0] == ""
        setup.directory.playing.clear()
        setup.directory.needed.add("Anna")
        assert (await setup.enter(["anna"]))[0] == ""
        setup.directory.needed.clear()
        assert (await setup.enter(["anna"]))[0] == "Anna"

    async def test_guest_who_quits_frees_the_name_unless_it_is_needed(
        self, setup: LoginSetup
    ) -> None:
        await setup.guest("Anna")
        setup.directory.playing.clear()
        setup.directory.needed.add("Anna")
        setup.logins.last_seen.record_departure("Anna", gave_up=True)
        await setup.logins.last_seen.close()
        assert await setup.store.read(accounts.find_guest, "Anna"), "it is needed"
        assert (await setup.enter(["anna"]))[0] == ""
        setup.directory.needed.clear()
        setup.logins.last_seen.record_departure("Anna", gave_up=True)
        assert (await setup.enter(["anna"]))[0] == "Anna"

    async def test_name_in_play_without_a_resume_word_is_refused(self, setup: LoginSetup) -> None:
        for names in (setup.directory.playing, setup.directory.needed):
            names.add("Anna")
            name, answers = await setup.enter(["anna"])
            assert name == ""
            assert answers.told == [
                "Somebody called Anna has a game here. Please choose another name."
            ]
            names.clear()

    @pytest.mark.parametrize("is_right", [False, True])
    async def test_name_registered_during_the_word_prompt_requires_the_password(
        self, setup: LoginSetup, *, is_right: bool
    ) -> None:
        word = await setup.guest("Anna")

        class Slow(Answers):
            async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
                if prompt == WORD:
                    await setup.member("Anna")
                return await super().ask(prompt, hidden=hidden, before=before)

        answers = Slow("anna", word if is_right else "password", "anna", "password")
        login = await setup.logins.log_in(answers, "192.0.2.1")
        assert login
        assert login.member
        assert answers.shown[1:] == [
            WORD,
            "The name Anna has just been registered, so its comeback words no longer work.",
            NAME,
            PASSWORD,
        ]

    async def test_simultaneous_logins_under_a_name_let_in_one(
        self, slow_setup: LoginSetup
    ) -> None:
        both = await asyncio.gather(slow_setup.enter(["anna"]), slow_setup.enter(["Anna"]))
        assert sorted(name for name, _ in both) == ["", "Anna"]
        (told,) = [line for _, answers in both for line in (*answers.told, *answers.hints)]
        assert told.startswith(  # depends on which of the two gets ahead
            ("Somebody called Anna has just come in.", "Somebody called Anna was here,")
        )

    async def test_expired_guest_names_are_purged_periodically(self, setup: LoginSetup) -> None:
        for name in ("Anna", "Bob", "Cara"):
            await setup.guest(name)
            setup.logins.last_seen.record_departure(name, gave_up=False)
        await setup.logins.last_seen.close()
        setup.directory.playing = {"Bob"}
        setup.directory.needed = {"Cara"}
        setup.now += DAY + INTERVAL
        await setup.guest("Dora")
        await setup.logins.last_seen.close()
        assert await setup.store.read(accounts.guests, setup.now - DAY) == ["Bob", "Cara"]

    async def test_expired_guest_names_are_purged_without_logins(
        self, setup: LoginSetup, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(last_seen, "INTERVAL", 0.01)
        for number in range(60):
            name = f"Anna{'abcdefghij'[number // 10]}{'abcdefghij'[number % 10]}"
            await setup.guest(name)
            setup.logins.last_seen.record_departure(name, gave_up=False)
        setup.directory.playing = {"Annacc"}
        setup.now += DAY + 1
        await only_old_names(setup, "Annacc")

    async def test_guest_who_stays_is_recorded_as_seen_periodically(
        self, setup: LoginSetup, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(last_seen, "INTERVAL", 0.01)
        for name in ("Anna", "Bob"):
            await setup.guest(name)
        setup.logins.last_seen.record_departure("Bob", gave_up=False)
        setup.now += 2 * DAY
        await only_old_names(setup, "Bob")

    async def test_guest_who_quits_a_match_keeps_the_name_while_it_lasts(
        self, setup: LoginSetup
    ) -> None:
        word = await setup.guest("Anna")
        setup.directory.playing.clear()
        setup.directory.needed.add("Anna")
        setup.logins.last_seen.record_departure("Anna", gave_up=True)
        await setup.logins.last_seen.close()
        setup.now += 2 * DAY
        name, answers = await setup.enter(["anna", "basalt-lantern-fox-otter-plum", ""])
        assert name == ""
        assert answers.told[-1] == "Those aren't the comeback words of Anna."
        assert (await setup.enter(["anna", word]))[0] == "Anna"


class TestMembers:
    async def test_member_is_asked_for_the_password(self, setup: LoginSetup) -> None:
        await setup.member("AnnA")
        answers = Answers("anna", "wrong", "password")
        login = await setup.logins.log_in(answers, "192.0.2.1")
        assert login
        assert login.name == "AnnA"
        assert login.member == await setup.store.read(accounts.find, "anna")
        wrong = WRONG.replace("Anna", "AnnA")
        assert answers.shown == [NAME, PASSWORD, wrong, PASSWORD]
        assert answers.hints == [
            "The name AnnA is registered. If it's yours, give its password. To choose another "
            "name, just press Enter."
        ]

    async def test_empty_password_returns_to_the_name_prompt(self, setup: LoginSetup) -> None:
        await setup.member("Anna")
        name, answers = await setup.enter(["anna", "", "bob"])
        assert name == "Bob"
        assert answers.shown[:3] == [NAME, PASSWORD, NAME]

    async def test_member_can_log_in_while_playing(self, setup: LoginSetup) -> None:
        await setup.member("Anna")
        setup.directory.playing.add("Anna")
        assert (await setup.enter(["anna", "password"]))[0] == "Anna"

    async def test_banned_name_is_refused_until_the_ban_is_lifted(self, setup: LoginSetup) -> None:
        await setup.member("Anna")
        await setup.store.write(accounts.ban, "Anna")
        _, answers = await setup.enter(["anna"])
        assert answers.shown == [NAME, "The operator of this server has banned Anna.", NAME]
        await setup.store.write(accounts.lift_sanction, Sanction(Measure.BAN, "Anna"))
        assert (await setup.enter(["anna", "password"]))[0] == "Anna"

    async def test_member_banned_during_the_password_prompt_is_refused(
        self, setup: LoginSetup
    ) -> None:
        await setup.member("Anna")

        class Slow(Answers):
            async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
                if hidden:
                    await setup.store.write(accounts.ban, "Anna")
                return await super().ask(prompt, hidden=hidden, before=before)

        answers = Slow("anna", "password")
        with pytest.raises(HungUpError):
            await setup.logins.log_in(answers, "192.0.2.1")
        assert answers.told == ["The operator of this server has banned Anna."]

    async def test_removed_name_can_be_taken_again(self, setup: LoginSetup) -> None:
        await setup.member("Anna")
        await setup.store.write(accounts.erase, "Anna")
        name, answers = await setup.enter(["anna"])
        assert name == "Anna"
        assert answers.word

    async def test_member_removed_during_the_password_prompt_is_refused(
        self, setup: LoginSetup
    ) -> None:
        await setup.member("Anna")

        class Slow(Answers):
            async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
                if hidden:
                    await setup.store.write(accounts.erase, "Anna")
                return await super().ask(prompt, hidden=hidden, before=before)

        answers = Slow("anna", "password")
        with pytest.raises(HungUpError):
            await setup.logins.log_in(answers, "192.0.2.1")
        assert answers.told[-1] == "The name Anna is no longer registered."

    @pytest.mark.parametrize("is_member", [True, False])
    async def test_login_under_a_name_banned_by_another_process_is_refused(
        self, setup: LoginSetup, monkeypatch: pytest.MonkeyPatch, *, is_member: bool
    ) -> None:
        monkeypatch.setattr(setup.directory, "ban_reason", lambda _name, _address: "")
        word = "password"
        if is_member:
            await setup.member("Anna")
        else:
            word = await setup.guest("Anna")

        class Slow(Answers):
            async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
                if prompt in {"Password: ", WORD}:
                    await setup.store.write(accounts.impose_sanction, Sanction(Measure.BAN, "Anna"))
                return await super().ask(prompt, hidden=hidden, before=before)

        answers = Slow("anna", word)
        with pytest.raises(HungUpError):
            await setup.logins.log_in(answers, "192.0.2.1")
        assert answers.told == ["An operator of this server has just banned Anna."]

    async def test_registration_of_a_name_banned_by_another_process_is_refused(
        self, setup: LoginSetup, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(setup.directory, "ban_reason", lambda _name, _address: "")
        await setup.guest("Anna")
        await setup.store.write(accounts.impose_sanction, Sanction(Measure.BAN, "Anna"))
        answers = Answers()
        assert not await setup.logins.register(answers, "Anna", {None})
        assert answers.told == ["An operator of this server has just banned Anna."]

    async def test_wrong_passwords_delay_the_next_guess(
        self, setup: LoginSetup, pass_time: PassTime
    ) -> None:
        await setup.member("Anna")
        answers = Answers("anna", *["wrong"] * (FREE + 1), "password")
        login = asyncio.create_task(setup.logins.log_in(answers, "192.0.2.1"))
        await until(lambda: answers.told == [WRONG] * FREE)
        for _ in range(2):
            assert not login.done()
            await pass_time(PASSWORD_INTERVAL)
        assert await login
        assert answers.told == [WRONG] * (FREE + 1)

    async def test_member_at_a_known_address_is_not_delayed_by_a_guesser(
        self, setup: LoginSetup
    ) -> None:
        await setup.member("Anna")
        await setup.enter(["anna", "password"], "2001:db8::1")
        await setup.logins.last_seen.close()  # flushes the address
        for number in (1, 2):
            logins = setup.new_logins()
            guesser = Answers("anna", *["wrong"] * (2 * FREE))
            guessing = asyncio.create_task(logins.log_in(guesser, "192.0.2.1"))
            await until(lambda guesser=guesser: len(guesser.told) == FREE)  # type: ignore[misc]
            answers = Answers("anna", "password")
            assert await logins.log_in(answers, f"2001:db8::{number}")
            assert answers.told == []
            guessing.cancel()

    async def test_password_is_rehashed_with_the_current_parameters(
        self, setup: LoginSetup
    ) -> None:
        yesterday = Passwords(PasswordHasher(time_cost=2, memory_cost=8, parallelism=1))
        await setup.store.write(accounts.enrol, "Anna", await yesterday.hash_password("password"))
        yesterday.close()
        for _ in range(2):
            assert (await setup.enter(["anna", "password"]))[0] == "Anna"
            found = await setup.store.read(accounts.find, "Anna")
            assert found
            assert not CHEAP.check_needs_rehash(found.password)

    async def test_password_whose_rehash_cannot_be_stored_is_still_accepted(
        self, setup: LoginSetup, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        yesterday = Passwords(PasswordHasher(time_cost=2, memory_cost=8, parallelism=1))
        await setup.store.write(accounts.enrol, "Anna", await yesterday.hash_password("password"))
        yesterday.close()

        async def fail(*_arguments: object, **_others: object) -> None:
            raise NotWrittenError("the disk is full")

        do_instead(monkeypatch, setup.store, accounts.rehash, fail)
        assert (await setup.enter(["anna", "password"]))[0] == "Anna"
        told = [record for record in caplog.records if record.levelname == "ERROR"]
        assert [record.getMessage() for record in told] == [
            "could not store the new hash of Anna's password: the disk is full"
        ]
        assert not [record for record in told if record.exc_info]


NEW, AGAIN, OLD = "New password: (hidden)", "And again: (hidden)", "Old password: (hidden)"


class TestRegistering:
    async def register(self, setup: LoginSetup, *lines: str) -> Answers:
        answers = Answers(*lines)
        await setup.logins.register(answers, "Anna", set())
        return answers

    async def test_registration_protects_the_name_by_a_password(self, setup: LoginSetup) -> None:
        await setup.guest("Anna")
        answers = await self.register(setup, "password", "password")
        assert answers.shown == [
            NEW,
            AGAIN,
            "The name Anna is yours now. You'll be asked for this password when you next log in.",
        ]
        assert (await setup.enter(["anna", "password"]))[0] == "Anna"
        assert await setup.store.read(accounts.find_guest, "Anna") is None

    async def test_empty_line_at_either_prompt_cancels_the_registration(
        self, setup: LoginSetup
    ) -> None:
        await setup.guest("Anna")
        for lines in ([""], ["password", ""]):
            answers = await self.register(setup, *lines)
            assert answers.shown == [*[NEW, AGAIN][: len(lines)], "You are still a guest."]
            assert await setup.store.read(accounts.find, "Anna") is None

    async def test_unsuitable_password_is_asked_for_again(self, setup: LoginSetup) -> None:
        lines = [
            "short",
            "x" * 1000,
            "different",
            "difference",
            "🦊🦊🦊🦊🦊🦊🦊🦊",
            "🦊🦊🦊🦊🦊🦊🦊🦊",
        ]
        answers = await self.register(setup, *lines)
        assert answers.shown[:-1] == [
            NEW,
            "A password needs at least 8 characters. Try again, or just press Enter to stop.",
            NEW,
            "A password can have at most 128 characters. Try again, or just press Enter to stop.",
            NEW,
            AGAIN,
            "The two are different. Try again, or just press Enter to stop.",
            NEW,
            AGAIN,
        ]
        assert (await setup.enter(["anna", "🦊🦊🦊🦊🦊🦊🦊🦊"]))[0] == "Anna"

    async def test_empty_line_cancels_the_registration(self, setup: LoginSetup) -> None:
        for lines in ([""], ["password", "", ""]):
            answers = await self.register(setup, *lines)
            assert answers.told[-1] == "You are still a guest."
        assert await setup.store.read(accounts.find, "Anna") is None

    async def test_registration_of_a_member_is_refused(self, setup: LoginSetup) -> None:
        await setup.member("Anna")
        answers = await self.register(setup)
        assert answers.shown == [
            'The name Anna is already registered. "password" changes its password.'
        ]

    async def test_registration_of_a_banned_name_is_refused(self, setup: LoginSetup) -> None:
        await setup.guest("Anna")
        await setup.store.write(accounts.ban, "Anna")
        answers = await self.register(setup)
        assert answers.shown == ["The operator of this server has banned Anna."]

    async def test_simultaneous_registrations_of_a_name_let_one_succeed(
        self, setup: LoginSetup
    ) -> None:
        both = [Answers("password", "password") for _ in range(2)]
        got = await asyncio.gather(*(setup.logins.register(each, "Anna", set()) for each in both))
        assert sorted(got) == [False, True]
        [loser] = [each for each, registered in zip(both, got, strict=True) if not registered]
        assert loser.told == ["Somebody has just registered the name Anna."]


class TestChangingThePassword:
    async def change(self, setup: LoginSetup, *lines: str) -> Answers:
        answers = Answers(*lines)
        await setup.logins.change_password(answers, "Anna", "192.0.2.1", set())
        return answers

    async def test_password_change_asks_for_the_old_password_first(self, setup: LoginSetup) -> None:
        await setup.member("Anna")
        answers = await self.change(setup, "wrong", "password", "new password", "new password")
        assert answers.shown == [
            OLD,
            "That isn't your password. Try again, or just press Enter to stop.",
            OLD,
            NEW,
            AGAIN,
            "Your password has been changed.",
        ]
        assert (await setup.enter(["anna", "password"]))[0] == ""
        assert (await setup.enter(["anna", "new password"]))[0] == "Anna"

    async def test_empty_line_cancels_the_password_change(self, setup: LoginSetup) -> None:
        await setup.member("Anna")
        for lines in ([""], ["password", ""]):
            answers = await self.change(setup, *lines)
            assert answers.told == ["Your password stays as it was."]
        assert (await setup.enter(["anna", "password"]))[0] == "Anna"

    async def test_wrong_old_passwords_delay_the_next_guess(
        self, setup: LoginSetup, pass_time: PassTime
    ) -> None:
        await setup.member("Anna")
        answers = Answers(*["wrong"] * (FREE + 1), "")
        change = setup.logins.change_password(answers, "Anna", "192.0.2.1", set())
        changing = asyncio.create_task(change)
        wrong = "That isn't your password. Try again, or just press Enter to stop."
        await until(lambda: answers.told == [wrong] * FREE)
        await pass_time(PASSWORD_INTERVAL)
        await changing
        assert answers.told == [*[wrong] * (FREE + 1), "Your password stays as it was."]

    async def test_password_changes_are_limited_to_ten_in_a_row_by_address(
        self, setup: LoginSetup
    ) -> None:
        await setup.member("Anna")
        stays, asked = "Your password stays as it was.", [OLD, NEW]
        for _change in range(10):
            assert (await self.change(setup, "password", "")).shown == [*asked, stays]
        many = "Many passwords have just been changed from your address. You can change yours in "
        [told] = (await self.change(setup, "password", "")).shown
        assert told.startswith(many)
        setup.now += 30
        assert (await self.change(setup, "password", "")).shown == [*asked, stays]

    async def test_password_change_of_a_guest_is_refused(self, setup: LoginSetup) -> None:
        answers = await self.change(setup)
        assert answers.shown == [
            'You\'re a guest, so you have no password. "register" chooses one, '
            "and keeps your name for you."
        ]


class TestWordsOfMembers:
    """Resume words that clients of members keep in place of the password."""

    async def word(self, setup: LoginSetup, secret: str = "password") -> str:  # noqa: S107  (nobody's)
        """Log Anna in, and return the resume word sent to her client."""
        name, answers = await setup.enter(["anna", secret])
        assert name == "Anna"
        [(player, word)] = answers.kept
        assert player == "Anna"
        return word

    async def is_in(self, setup: LoginSetup, secret: str) -> bool:
        return (await setup.enter(["anna", secret]))[0] == "Anna"

    async def test_word_survives_a_restart_and_is_stored_hashed(
        self, slow_setup: LoginSetup, tmp_path: Path
    ) -> None:
        setup = slow_setup
        await setup.member("Anna")
        word = await self.word(setup)
        setup.logins = setup.new_logins()
        assert await self.is_in(setup, f" {word.upper().replace('-', ' ')} ")
        assert not holding(tmp_path / "thudmud.db", word)

    async def test_client_unable_to_keep_a_word_is_given_none(self, setup: LoginSetup) -> None:
        await setup.member("Anna")

        class Plain(Answers):
            keeps_words = False

        answers = Plain("anna", "password")
        assert await setup.logins.log_in(answers, "192.0.2.1")
        assert not answers.kept
        assert "resume_word" not in await setup.store.read(persons.personal_data, "Anna")

    async def test_word_expires_when_another_process_changes_the_password(
        self, setup: LoginSetup
    ) -> None:
        await setup.member("Anna")
        word = await self.word(setup)
        await setup.store.write(accounts.set_password, "Anna", CHEAP.hash("another one"))
        assert not await self.is_in(setup, word)
        assert await self.is_in(setup, "another one")

    async def test_word_of_a_former_owner_does_not_open_a_new_account(
        self, setup: LoginSetup
    ) -> None:
        await setup.member("Anna")
        word = await self.word(setup)
        await setup.store.write(accounts.erase, "Anna")
        await setup.member("Anna", "another one")
        assert not await self.is_in(setup, word)

    async def test_word_revoked_by_a_ban_stays_revoked_once_it_is_lifted(
        self, setup: LoginSetup
    ) -> None:
        await setup.member("Anna")
        word = await self.word(setup)
        await setup.store.write(accounts.ban, "Anna")
        await setup.store.write(accounts.lift_sanction, Sanction(Measure.BAN, "Anna"))
        assert not await self.is_in(setup, word)

    async def test_word_expires_on_quitting_but_not_on_a_lost_connection(
        self, setup: LoginSetup
    ) -> None:
        await setup.member("Anna")
        word = await self.word(setup)
        setup.logins.record_departure("Anna", gave_up=False)
        assert await self.is_in(setup, word)
        setup.logins.record_departure("Anna", gave_up=True)
        await setup.logins.last_seen.close()
        assert not await self.is_in(setup, word)

    async def test_word_renewed_by_reloading_leaves_other_words_valid(
        self, setup: LoginSetup
    ) -> None:
        await setup.member("Anna")
        phone, word = await self.word(setup), await self.word(setup)
        for _ in range(5):
            setup.now += 1
            word = await self.word(setup, word)
        assert await self.is_in(setup, phone)

    async def test_password_change_revokes_all_words_and_issues_a_new_one(
        self, setup: LoginSetup
    ) -> None:
        await setup.member("Anna")
        words = [await self.word(setup), await self.word(setup)]
        answers = Answers("password", "another one", "another one")
        epochs: Epochs = {1}
        await setup.logins.change_password(answers, "Anna", "192.0.2.1", epochs)
        account = await setup.store.read(accounts.find, "Anna")
        assert account
        assert epochs == {account.epoch}
        assert not any([await self.is_in(setup, each) for each in words])
        [(_, word)] = answers.kept
        assert await self.is_in(setup, word)

    async def test_logout_everywhere_revokes_all_words_but_not_the_password(
        self, setup: LoginSetup
    ) -> None:
        await setup.member("Anna")
        words = [await self.word(setup), await self.word(setup)]
        answers, epochs = Answers(), await setup.epochs("Anna")
        await setup.logins.log_out_everywhere(answers, "Anna", epochs)
        assert epochs == await setup.epochs("Anna")
        assert answers.shown == [
            "You're logged out everywhere but here. All other programs and browsers will "
            "need your password again."
        ]
        assert not any([await self.is_in(setup, each) for each in words])
        [(_, word)] = answers.kept
        assert await self.is_in(setup, word)
        assert await self.is_in(setup, "password")

    @pytest.mark.parametrize("when", ["before", "meanwhile"])
    async def test_logout_everywhere_from_a_revoked_session_is_refused(
        self, setup: LoginSetup, when: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await setup.member("Anna")
        ours, write = await setup.epochs("Anna"), setup.store.write

        async def end_after_another(name: str, **how: int) -> object:
            await write(accounts.end_logins, name, epoch=7)
            return await write(accounts.end_logins, name, **how)

        if when == "before":
            await write(accounts.end_logins, "Anna", epoch=7)
        else:
            do_instead(monkeypatch, setup.store, accounts.end_logins, end_after_another)
        answers = Answers()
        await setup.logins.log_out_everywhere(answers, "Anna", ours)
        assert answers.shown == [
            "The password of Anna has just been changed, or Anna has logged out everywhere."
        ]
        assert not answers.kept
        assert await setup.epochs("Anna") == {7}

    async def test_logout_everywhere_of_a_guest_points_to_quit_and_register(
        self, setup: LoginSetup
    ) -> None:
        await setup.guest("Anna")
        answers = Answers()
        await setup.logins.log_out_everywhere(answers, "Anna", set())
        assert answers.shown == [
            'You\'re a guest. "quit" ends your comeback words, and "register" keeps your name.'
        ]

    async def test_logout_everywhere_reports_the_calendar_and_browsers_it_ends(
        self, setup: LoginSetup
    ) -> None:
        await setup.member("Anna")
        await setup.store.write(storage.keep_contact, "Anna", Contact(calendar=ANOTHER))
        told = []
        for _ in range(2):
            await setup.store.write(
                storage.add_browser, "Anna", Browser("https://push.example", "k", "a")
            )
            answers = Answers()
            await setup.logins.log_out_everywhere(answers, "Anna", await setup.epochs("Anna"))
            told += answers.shown[1:]
            await setup.store.write(storage.keep_contact, "Anna", Contact())
        assert told == [
            "Your calendar has a new address, and your browsers no longer notify you."
            ' "notify" shows how to set it up again.',
            'Your browsers no longer notify you. "notify" shows how to set it up again.',
        ]

    @pytest.mark.parametrize("kind", ["password", "word"])
    async def test_login_proven_before_a_password_change_is_refused_after_it(
        self, setup: LoginSetup, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await setup.member("Anna")
        secret = await self.word(setup) if kind == "word" else "password"
        is_right = setup.logins._is_right

        async def right_and_then_changed(*args: Any) -> bool:
            found = await is_right(*args)
            await setup.store.write(accounts.set_password, "Anna", CHEAP.hash("another one"))
            return found

        monkeypatch.setattr(setup.logins, "_is_right", right_and_then_changed)
        name, answers = await setup.enter(["anna", secret])
        assert name == ""
        assert answers.told == [
            "The password of Anna has just been changed, or Anna has logged out everywhere."
        ]
        assert not answers.kept

    async def test_password_changed_meanwhile_is_not_overwritten(self, setup: LoginSetup) -> None:
        await setup.member("Anna")

        class Slow(Answers):
            async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
                if prompt == "And again: ":
                    await setup.store.write(
                        accounts.set_password, "Anna", CHEAP.hash("the operator's")
                    )
                return await super().ask(prompt, hidden=hidden, before=before)

        answers = Slow("password", "the thief's", "the thief's")
        await setup.logins.change_password(answers, "Anna", "192.0.2.1", set())
        assert answers.told == [
            "The password of Anna has just been changed, or Anna has logged out everywhere."
        ]
        assert await self.is_in(setup, "the operator's")

    async def test_login_succeeds_if_its_resume_word_cannot_be_stored(
        self, setup: LoginSetup, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        await setup.member("Anna")

        async def fail(*_: object) -> bool:
            raise NotWrittenError("the disk is full")

        do_instead(monkeypatch, setup.store, accounts.store_resume_word, fail)
        name, answers = await setup.enter(["anna", "password"])
        assert name == "Anna"
        assert not answers.kept
        assert "could not store a resume word of Anna: the disk is full" in caplog.messages


async def test_store_failures_are_reported_and_logged(
    setup: LoginSetup, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await setup.member("Anna")

    async def fail(*_arguments: object, **_others: object) -> None:
        raise NotWrittenError("disk I/O error")

    works = (
        accounts.reserve_guest_name,
        accounts.enrol,
        accounts.set_password,
        accounts.record_last_seen,
    )
    for work in works:
        do_instead(monkeypatch, setup.store, work, fail)
    told = ["The server can't reach its accounts just now. Please try again in a while."]
    name, answers = await setup.enter(["bob"])
    assert (name, answers.told) == ("", told)
    answers = Answers("password", "password")
    assert not await setup.logins.register(answers, "Bob", set())
    assert answers.told == told
    answers = Answers("password", "new password", "new password")
    await setup.logins.change_password(answers, "Anna", "192.0.2.1", set())
    assert answers.told == told
    assert "disk I/O error" in caplog.text
    setup.logins.last_seen.record_departure("Anna", gave_up=False)
    await setup.logins.last_seen.close()
    noted = [record for record in caplog.records if record.name == last_seen.__name__]
    assert [record.getMessage() for record in noted] == [
        "could not store who was here: disk I/O error"
    ]
    assert not [record for record in caplog.records if record.exc_info]
    name, _ = await setup.enter(["anna", "password"])
    assert name == "Anna"


# Options at the name prompt


async def test_options_at_the_name_prompt_are_applied(setup: LoginSetup) -> None:
    answers = Answers("options reader on", "Options  Width 60", "options", "options reader", "anna")
    login = await setup.logins.log_in(answers, "192.0.2.1")
    assert login
    assert login.choices == (SetReader(Switch.ON), SetWidth(60))
    assert answers.shown[:4] == [
        NAME,
        'Boards are now described in words. "help reader" lists what you can ask.',
        NAME,
        "Lines now fit 60 columns.",
    ]


async def test_options_at_the_name_prompt_keep_the_last_choice_of_each(
    setup: LoginSetup,
) -> None:
    lines = [
        line
        for number in range(300, 400)
        for line in (
            f"options colour special thud dwarf #abc{number}",
            f"options colour special thud troll {number % 256}",
            f"options colour scheme {'vivid' if number % 7 else 'dim'}",
            f"options width {number}",
            f"options bell {'on' if number % 2 else 'off'}",
            f"options colour special thud rock {number % 256}",
        )
    ]
    answers = Answers(*lines, "anna")
    login = await setup.logins.log_in(answers, "192.0.2.1")
    assert login
    assert len(login.choices) == 6
    typed = [choice for line in lines if (choice := parse_option(line))]
    assert len(typed) == len(lines)
    assert Options().with_choices(login.choices) == Options().with_choices(typed)
    assert answers.shown.count("Lines now fit 399 columns.") == 1


# New names


async def test_new_names_are_limited_by_address() -> None:
    setup = LoginSetup(Store.in_memory(), RateLimiter(3 / 3600, 3))
    for name in ("Anna", "Bert", "Cara"):
        assert (await setup.enter([name], "2001:db8::1"))[0] == name
    name, answers = await setup.enter(["Dora"], "2001:db8::2")
    assert name == ""
    assert "You can have another one in 20 minutes" in answers.told[0]
    assert (await setup.enter(["Dora"], "192.0.2.1"))[0] == "Dora"
    setup.now += 1200
    assert (await setup.enter(["Ella"], "2001:db8::2"))[0] == "Ella"
    await setup.close()
