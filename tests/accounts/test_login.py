"""The dialogues about names and passwords, without a connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from tests.accounts.desks import CHEAP, DAY, Answers, HungUp, Office
from tests.server.plain import PATIENCE
from thudmud.accounts import members, passwords
from thudmud.accounts.members import LOOK_EVERY
from thudmud.accounts.passwords import Passwords
from thudmud.store import NotWritten, Store


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    office = Office(Store.in_memory())
    yield office
    await office.close()


@pytest.fixture
async def slow_office(tmp_path: Path) -> AsyncIterator[Office]:
    """Return one whose store has to be waited for, so that others are served meanwhile."""
    office = Office(await Store.open(tmp_path / "thudmud.db"))
    yield office
    await office.close()


NAME, WORD, PASSWORD = "What is your name? ", "Resume word: ", "Password: (hidden)"
CROWDED = "Too many are trying that at the moment. Please come again later."
WRONG = "That is not the password of Anna. An empty line gives up."


async def only_old_names(office: Office, *names: str) -> None:
    """Wait until these are all that are kept of guests who have not been seen to be here now."""
    async with asyncio.timeout(PATIENCE):
        while await office.store.guests(office.now) != [*names]:  # noqa: ASYNC110  (it has no bell)
            await asyncio.sleep(0)


class TestGuests:
    async def test_a_new_one_is_told_a_word(self, office: Office) -> None:
        name, answers = await office.enter([" anna "])
        assert name == "Anna"
        assert answers.shown == [
            NAME,
            f"Your resume word, to come back as Anna: {answers.word}",
            "Keep it: with it you come back as yourself if your connection is lost.",
        ]
        kept = await office.store.find_guest("anna")
        assert kept
        assert passwords.is_same(answers.word, kept.word)
        assert answers.word.encode() not in kept.word

    async def test_the_line_with_the_word_fits_a_screen(self, office: Office) -> None:
        _, answers = await office.enter(["Bartholomewthetwenty"])
        longest = max(passwords._PARTS, key=len)
        *_, told, kept = answers.shown
        assert len(told) - len(answers.word) + 3 * len(longest) + 2 < 80
        assert len(kept) < 80

    async def test_what_is_no_name(self, office: Office) -> None:
        name, answers = await office.enter(["", "4", "anna"])
        assert name == "Anna"
        assert answers.told == ["Letters, please."]

    async def test_quit_instead_of_a_name(self, office: Office) -> None:
        name, answers = await office.enter(["Quit"])
        assert (name, answers.shown) == ("", [NAME, "Goodbye!"])

    async def test_a_name_in_use_asks_for_its_word(self, office: Office) -> None:
        word = await office.guest("Anna")
        name, answers = await office.enter(["ANNA", "basalt-lantern-fox", "", "bob"])
        assert name == "Bob"
        assert answers.shown[:-3] == [
            NAME,
            "Somebody called Anna is here already. If that is you, give the resume word that you "
            "were told; with an empty line you can take another name.",
            WORD,
            "That is not the resume word of Anna.",
            WORD,
        ]
        assert (await office.enter(["ANNA", word]))[0] == "Anna"
        assert (await office.enter(["anna", f" {word.upper().replace('-', ' ')} "]))[0] == "Anna"

    async def test_a_name_is_kept_for_a_while(self, office: Office) -> None:
        word = await office.guest("Anna")
        office.rooms.playing.clear()
        office.desk.left("Anna", gave_up=False)
        office.now += DAY - 1
        name, answers = await office.enter(["anna"])
        assert "Somebody called Anna was here, and may come back." in answers.told[0]
        assert (await office.enter(["anna", word]))[0] == "Anna"
        await office.desk.close()  # which noted that they were here
        office.now += DAY - 1
        assert (await office.enter(["anna"]))[0] == ""
        office.now += 1
        name, answers = await office.enter(["anna"])
        assert name == "Anna"
        assert answers.word != word

    async def test_a_name_is_kept_while_it_is_played_under_or_needed(self, office: Office) -> None:
        await office.guest("Anna")
        await office.desk.close()
        office.now += 2 * DAY
        assert (await office.enter(["anna"]))[0] == ""
        office.rooms.playing.clear()
        office.rooms.needed.add("Anna")
        assert (await office.enter(["anna"]))[0] == ""
        office.rooms.needed.clear()
        assert (await office.enter(["anna"]))[0] == "Anna"

    async def test_who_leaves_for_good_leaves_the_name(self, office: Office) -> None:
        await office.guest("Anna")
        office.rooms.playing.clear()
        office.rooms.needed.add("Anna")
        office.desk.left("Anna", gave_up=True)
        await office.desk.close()
        assert await office.store.find_guest("Anna"), "it is needed"
        assert (await office.enter(["anna"]))[0] == ""
        office.rooms.needed.clear()
        office.desk.left("Anna", gave_up=True)
        assert (await office.enter(["anna"]))[0] == "Anna"

    async def test_a_name_that_is_played_under_without_a_word(self, office: Office) -> None:
        for names in (office.rooms.playing, office.rooms.needed):
            names.add("Anna")
            name, answers = await office.enter(["anna"])
            assert name == ""
            assert answers.told == [
                "Somebody called Anna has a game here. Please take another name."
            ]
            names.clear()

    @pytest.mark.parametrize("is_right", [False, True])
    async def test_a_name_that_is_registered_while_its_word_is_asked_for(
        self, office: Office, *, is_right: bool
    ) -> None:
        word = await office.guest("Anna")

        class Slow(Answers):
            async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
                if prompt == WORD:
                    await office.member("Anna")
                return await super().ask(prompt, hidden=hidden, before=before)

        answers = Slow("anna", word if is_right else "password", "anna", "password")
        entrance = await office.desk.introduce(answers, "192.0.2.1")
        assert entrance
        assert entrance.member
        assert answers.shown[2:] == [
            WORD,
            "The name Anna has just been registered, or banned: its word is of no use any more.",
            NAME,
            PASSWORD,
        ]

    async def test_too_many_who_guess_at_a_word(self, office: Office) -> None:
        await office.guest("Anna")
        office.is_patient = False
        _, answers = await office.enter(["anna", *["word"] * 19])
        assert answers.told[-2:] == ["That is not the resume word of Anna.", CROWDED]
        assert answers.shown[-1] == "What is your name? "

    async def test_two_who_race_for_a_name(self, slow_office: Office) -> None:
        both = await asyncio.gather(slow_office.enter(["anna"]), slow_office.enter(["Anna"]))
        assert sorted(name for name, _ in both) == ["", "Anna"]
        told = [line for _, answers in both for line in answers.told]
        assert told == ["Somebody called Anna has just come in. Please take another name."]

    async def test_old_names_are_forgotten_now_and_then(self, office: Office) -> None:
        for name in ("Anna", "Bob", "Cara"):
            await office.guest(name)
            office.desk.left(name, gave_up=False)
        await office.desk.close()
        office.rooms.playing = {"Bob"}
        office.rooms.needed = {"Cara"}
        office.now += DAY + LOOK_EVERY
        await office.guest("Dora")
        await office.desk.close()
        assert await office.store.guests(office.now - DAY) == ["Bob", "Cara"]

    async def test_they_are_forgotten_though_nobody_comes(
        self, office: Office, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(members, "LOOK_EVERY", 0.01)
        for number in range(members._AT_ONCE * 3):
            name = f"Anna{'abcdefghij'[number // 10]}{'abcdefghij'[number % 10]}"
            await office.guest(name)
            office.desk.left(name, gave_up=False)
        office.rooms.playing = {"Annacc"}
        office.now += DAY + 1
        await only_old_names(office, "Annacc")

    async def test_who_stays_is_noted_now_and_then(
        self, office: Office, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(members, "LOOK_EVERY", 0.01)
        for name in ("Anna", "Bob"):
            await office.guest(name)
        office.desk.left("Bob", gave_up=False)
        office.now += 2 * DAY
        await only_old_names(office, "Bob")

    async def test_who_leaves_a_match_has_the_name_for_as_long_as_it_goes_on(
        self, office: Office
    ) -> None:
        word = await office.guest("Anna")
        office.rooms.playing.clear()
        office.rooms.needed.add("Anna")
        office.desk.left("Anna", gave_up=True)
        await office.desk.close()
        office.now += 2 * DAY
        name, answers = await office.enter(["anna", "basalt-lantern-fox", ""])
        assert name == ""
        assert answers.told[-1] == "That is not the resume word of Anna."
        assert (await office.enter(["anna", word]))[0] == "Anna"


class TestMembers:
    async def test_they_are_asked_for_their_password(self, office: Office) -> None:
        await office.member("AnnA")
        answers = Answers("anna", "wrong", "password")
        entrance = await office.desk.introduce(answers, "192.0.2.1")
        assert entrance
        assert entrance.name == "AnnA"
        assert entrance.member == await office.store.find("anna")
        wrong = WRONG.replace("Anna", "AnnA")
        assert answers.shown == [NAME, PASSWORD, wrong, PASSWORD]
        assert answers.hints == [
            "The name AnnA is registered. If it is yours, give its password; with an empty line "
            "you can take another name."
        ]

    async def test_without_one_they_are_asked_for_a_name_again(self, office: Office) -> None:
        await office.member("Anna")
        name, answers = await office.enter(["anna", "", "bob"])
        assert name == "Bob"
        assert answers.shown[:3] == [NAME, PASSWORD, NAME]

    async def test_they_may_come_in_while_they_are_in(self, office: Office) -> None:
        await office.member("Anna")
        office.rooms.playing.add("Anna")
        assert (await office.enter(["anna", "password"]))[0] == "Anna"

    async def test_who_is_banned_is_told_so(self, office: Office) -> None:
        await office.member("Anna")
        await office.store.ban("Anna")
        _, answers = await office.enter(["anna"])
        assert answers.shown == [NAME, "The operator of this server has banned Anna.", NAME]
        await office.store.unban("Anna")
        assert (await office.enter(["anna", "password"]))[0] == "Anna"

    async def test_who_is_banned_while_they_type_is_not_let_in(self, office: Office) -> None:
        await office.member("Anna")

        class Slow(Answers):
            async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
                if hidden:
                    await office.store.ban("Anna")
                return await super().ask(prompt, hidden=hidden, before=before)

        answers = Slow("anna", "password")
        with pytest.raises(HungUp):
            await office.desk.introduce(answers, "192.0.2.1")
        assert answers.told == ["The operator of this server has banned Anna."]

    async def test_a_name_that_was_removed_can_be_had_again(self, office: Office) -> None:
        await office.member("Anna")
        await office.store.erase("Anna")
        name, answers = await office.enter(["anna"])
        assert name == "Anna"
        assert answers.word

    async def test_who_is_removed_while_they_type_is_not_let_in(self, office: Office) -> None:
        await office.member("Anna")

        class Slow(Answers):
            async def ask(self, prompt: str, *, hidden: bool = False, before: str = "") -> str:
                if hidden:
                    await office.store.erase("Anna")
                return await super().ask(prompt, hidden=hidden, before=before)

        answers = Slow("anna", "password")
        with pytest.raises(HungUp):
            await office.desk.introduce(answers, "192.0.2.1")
        assert answers.told[-1] == "The name Anna is not registered any more."

    async def test_wrong_ones_slow_the_next_down(self, office: Office) -> None:
        await office.member("Anna")
        name, answers = await office.enter(["anna", *["wrong"] * 7, "password"])
        assert name == "Anna"
        assert office.pauses == [1, 2, 4]
        assert answers.told == [
            *[WRONG] * 5,
            "There were too many wrong answers. Please wait 1 second.",
            WRONG,
            "There were too many wrong answers. Please wait 2 seconds.",
            WRONG,
            "There were too many wrong answers. Please wait 4 seconds.",
        ]
        office.pauses.clear()
        await office.enter(["anna", "password"], "192.0.2.2")
        assert office.pauses == []

    async def test_many_at_once_have_to_wait_for_each_other(self, office: Office) -> None:
        await office.member("Anna")
        office.is_patient = False
        all_of_them = await asyncio.gather(
            *(office.enter(["anna", "wrong", ""], f"192.0.2.{number}") for number in range(25))
        )
        turns = [1, 3, 7, 15, 31, 61, 91, 121, 151, 181, 211, 241, 271]
        assert sorted(office.pauses) == turns
        told = [answers.told[-1] for _, answers in all_of_them]
        assert told.count(CROWDED) == 25 - 5 - len(turns)
        assert told.count(WRONG) == 5 + len(turns)

    async def test_who_would_wait_too_long_is_asked_for_a_name_again(self, office: Office) -> None:
        await office.member("Anna")
        office.is_patient = False
        await office.enter(["anna", *["wrong"] * 18])
        name, answers = await office.enter(["anna", "password", "bob"])
        assert name == "Bob"
        assert answers.told == [CROWDED]

    async def test_nobody_keeps_a_member_out_by_guessing(self, office: Office) -> None:
        await office.member("Anna")
        await office.enter(["anna", "password"], "198.51.100.1")
        office.is_patient = False
        await office.enter(["anna", *["wrong"] * 30])
        assert (await office.enter(["anna", "password"], "203.0.113.1"))[0] == ""
        office.pauses.clear()
        assert (await office.enter(["anna", "password"], "198.51.100.1"))[0] == "Anna"
        assert office.pauses == []

    async def test_a_password_is_stored_anew_with_todays_parameters(self, office: Office) -> None:
        yesterday = Passwords(PasswordHasher(time_cost=2, memory_cost=8, parallelism=1))
        await office.store.enrol("Anna", await yesterday.hashed("password"))
        yesterday.close()
        for _ in range(2):
            assert (await office.enter(["anna", "password"]))[0] == "Anna"
            found = await office.store.find("Anna")
            assert found
            assert not CHEAP.check_needs_rehash(found.password)

    async def test_a_password_that_cannot_be_stored_anew_is_right_all_the_same(
        self, office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        yesterday = Passwords(PasswordHasher(time_cost=2, memory_cost=8, parallelism=1))
        await office.store.enrol("Anna", await yesterday.hashed("password"))
        yesterday.close()

        async def fail(*_arguments: object, **_others: object) -> None:
            raise NotWritten("the disk is full")

        monkeypatch.setattr(office.store, "set_password", fail)
        assert (await office.enter(["anna", "password"]))[0] == "Anna"
        told = [record for record in caplog.records if record.levelname == "ERROR"]
        assert [record.getMessage() for record in told] == [
            "failed to store the password of Anna anew: the disk is full"
        ]
        assert not [record for record in told if record.exc_info]


NEW, AGAIN, OLD = "New password: (hidden)", "The same again: (hidden)", "Old password: (hidden)"


class TestRegistering:
    async def register(self, office: Office, *lines: str) -> Answers:
        answers = Answers(*lines)
        await office.desk.register(answers, "Anna")
        return answers

    async def test_it_keeps_the_name(self, office: Office) -> None:
        await office.guest("Anna")
        answers = await self.register(office, "password", "password")
        assert answers.shown == [
            NEW,
            AGAIN,
            "The name Anna is yours now: from today on it asks for this password.",
        ]
        assert (await office.enter(["anna", "password"]))[0] == "Anna"
        assert await office.store.find_guest("Anna") is None

    async def test_what_is_no_password_is_asked_for_again(self, office: Office) -> None:
        lines = [
            "short",
            "x" * 1000,
            "different",
            "difference",
            "🦊🦊🦊🦊🦊🦊🦊🦊",
            "🦊🦊🦊🦊🦊🦊🦊🦊",
        ]
        answers = await self.register(office, *lines)
        assert answers.shown[:-1] == [
            NEW,
            "A password has at least 8 characters. An empty line gives up.",
            NEW,
            "A password has at most 128 characters. An empty line gives up.",
            NEW,
            AGAIN,
            "The two differ. An empty line gives up.",
            NEW,
            AGAIN,
        ]
        assert (await office.enter(["anna", "🦊🦊🦊🦊🦊🦊🦊🦊"]))[0] == "Anna"

    async def test_an_empty_line_gives_up(self, office: Office) -> None:
        for lines in ([""], ["password", "", ""]):
            answers = await self.register(office, *lines)
            assert answers.told[-1] == "You are a guest still."
        assert await office.store.find("Anna") is None

    async def test_a_member_has_done_it_already(self, office: Office) -> None:
        await office.member("Anna")
        answers = await self.register(office)
        assert answers.shown == [
            'The name Anna is registered already; "password" changes its password.'
        ]

    async def test_whose_name_has_just_been_banned(self, office: Office) -> None:
        await office.guest("Anna")
        await office.store.ban("Anna")
        answers = await self.register(office)
        assert answers.shown == ["The operator of this server has banned Anna."]

    async def test_two_who_register_one_name(self, office: Office) -> None:
        both = [Answers("password", "password") for _ in range(2)]
        got = await asyncio.gather(*(office.desk.register(each, "Anna") for each in both))
        assert sorted(account is None for account in got) == [False, True]
        [loser] = [each for each, account in zip(both, got, strict=True) if account is None]
        assert loser.told == ["Somebody has just registered the name Anna."]


class TestChangingThePassword:
    async def change(self, office: Office, *lines: str) -> Answers:
        answers = Answers(*lines)
        await office.desk.change_password(answers, "Anna", "192.0.2.1")
        return answers

    async def test_the_old_one_comes_first(self, office: Office) -> None:
        await office.member("Anna")
        answers = await self.change(office, "wrong", "password", "new password", "new password")
        assert answers.shown == [
            OLD,
            "That is not your password. An empty line gives up.",
            OLD,
            NEW,
            AGAIN,
            "Your password is another one now.",
        ]
        assert (await office.enter(["anna", "password"]))[0] == ""
        assert (await office.enter(["anna", "new password"]))[0] == "Anna"

    async def test_an_empty_line_gives_up(self, office: Office) -> None:
        await office.member("Anna")
        for lines in ([""], ["password", ""]):
            answers = await self.change(office, *lines)
            assert answers.told == ["Your password stays as it was."]
        assert (await office.enter(["anna", "password"]))[0] == "Anna"

    async def test_guesses_at_the_old_one_are_slowed_down(self, office: Office) -> None:
        await office.member("Anna")
        await self.change(office, *["wrong"] * 7, "")
        assert office.pauses == [1, 2]
        office.is_patient = False
        answers = await self.change(office, *["wrong"] * 20)
        assert answers.told[-2:] == [CROWDED, "Your password stays as it was."]

    async def test_a_guest_has_none(self, office: Office) -> None:
        answers = await self.change(office)
        assert answers.shown == ['You are a guest; "register" keeps your name, by a password.']


async def test_accounts_that_cannot_be_used(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await office.member("Anna")

    def fail(*_arguments: object) -> None:
        raise NotWritten("disk I/O error")

    monkeypatch.setattr(office.store._runner, "write", fail)
    told = ["The server cannot look after names at the moment. Please try again in a while."]
    name, answers = await office.enter(["bob"])
    assert (name, answers.told) == ("", told)
    answers = Answers("password", "password")
    assert await office.desk.register(answers, "Bob") is None
    assert answers.told == told
    answers = Answers("password", "new password", "new password")
    await office.desk.change_password(answers, "Anna", "192.0.2.1")
    assert answers.told == told
    assert "disk I/O error" in caplog.text
    office.desk.left("Anna", gave_up=False)
    await office.desk.close()
    noted = [record for record in caplog.records if record.name == members.__name__]
    assert [record.getMessage() for record in noted] == [
        "failed to note who was here: disk I/O error"
    ]
    assert not [record for record in caplog.records if record.exc_info]
    name, _ = await office.enter(["anna", "password"])
    assert name == "Anna"
