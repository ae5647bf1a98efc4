"""Login over a real socket: password prompts, takeovers, options and name quotas."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from typing import Any

import pytest

from tests.conftest import PassTime
from tests.server.plain import PATIENCE, Client, Serving, Setup
from tests.service.stores import do_instead
from tests.telnet.commands import DO, DONT, ECHO, IAC, WILL, WONT
from thudmud.accounts import last_seen
from thudmud.accounts.login import KEEP_WORD, TOLD_WORD
from thudmud.features.options.commands import SetCharset, SetReader, SetWidth
from thudmud.features.options.preferences import options_of
from thudmud.game.archive import Lookup
from thudmud.game.options import Charset, Switch
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.server.session import CUT_OFF, ELSEWHERE
from thudmud.service import PlaysElsewhereError, Result, Visit
from thudmud.store import NotWrittenError, accounts

ADVICE = b"Choose a password of at least 8 characters, or just press Enter to stop.\r\n"
WORD = b"Your comeback words, "


async def come(setup: Setup, name: str) -> tuple[Client, str]:
    """Log in a new guest; return the client and the resume word."""
    client = await setup.connect()
    await client.until(b"name? ")
    await client.speak()
    await client.send(name.encode() + b"\r\n")
    await client.until(KEEP_WORD.encode() + b"\r\n")
    told = TOLD_WORD.fullmatch((await client.until(b"\r\n")).decode().rstrip())
    assert told
    await client.until(b"> ")
    return client, told[1]


async def register(client: Client, password: bytes) -> None:
    await client.send(b"register\r\n" + (password + b"\r\n") * 2)
    await client.until(b"is yours now")
    await client.until(b"> ")
    await client.send(IAC + DO + ECHO + IAC + DONT + ECHO)
    assert await client.fence() == IAC + WONT + ECHO


def words(data: bytes) -> str:
    """Return output without its line breaks."""
    return " ".join(data.decode("utf-8", "replace").split())


async def named(setup: Setup, name: bytes) -> Client:
    """Return a connection that has sent a name."""
    client = await setup.connect()
    await client.until(b"name? ")
    await client.speak()
    await client.send(name + b"\r\n")
    return client


# Passwords


async def test_registration_hides_all_passwords(
    serving: Serving,
) -> None:
    anna, _ = await come(await serving(), "Anna")
    await anna.send(b"register\r\n")
    assert await anna.until(b"New password: ") == ADVICE + IAC + WILL + ECHO + b"New password: "
    await anna.send(IAC + DO + ECHO + b"short\r\n")
    assert await anna.until(b"New password: ") == (
        b"\r\nA password needs at least 8 characters. Try again, or just press Enter to stop.\r\n"
        b"New password: "
    )
    await anna.send(b"password\r\n")
    assert await anna.until(b"again: ") == b"\r\nAnd again: "
    await anna.send(b"passport\r\n")
    assert await anna.until(b"password: ") == (
        b"\r\nThe two are different. Try again, or just press Enter to stop.\r\nNew password: "
    )
    await anna.send("pässword\r\n".encode())
    assert await anna.until(b"again: ") == b"\r\nAnd again: "
    await anna.send("pässword\r\n".encode())
    assert await anna.until(b"> ") == (
        b"\r\nThe name Anna is yours now. You'll be asked for this password when you next log"
        b"\r\nin.\r\n" + IAC + WONT + ECHO + b"> "
    )
    await anna.send(IAC + DONT + ECHO + b"look\r\n")
    assert await anna.until(b"> ") == b"echo look\r\n> "


async def test_member_is_asked_for_the_password(serving: Serving) -> None:
    setup = await serving()
    anna, _ = await come(setup, "Anna")
    await register(anna, b"password")
    await anna.send(b"quit\r\n")
    await anna.rest()
    again = await named(setup, b"anna")
    assert await again.until(b"Password: ") == (
        b"The name Anna is registered. If it's yours, give its password. To choose\r\n"
        b"another name, just press Enter.\r\n" + IAC + WILL + ECHO + b"Password: "
    )
    await again.send(IAC + DO + ECHO + b"wrong password\r\n")
    assert await again.until(b"word: ") == (
        b"\r\nThat isn't the password of Anna. Try again, "
        b"or just press Enter to stop.\r\nPassword: "
    )
    await again.send(b"password\r\n")
    assert await again.until(b"> ") == b"\r\n" + IAC + WONT + ECHO + b"Anna comes in.\r\n> "
    assert not [line for line in setup.service.typed if "password" in line]


async def test_password_prompt_can_be_left_for_another_name(serving: Serving) -> None:
    setup = await serving()
    anna, _ = await come(setup, "Anna")
    await register(anna, b"password")
    other = await named(setup, b"anna")
    await other.until(b"Password: ")
    await other.send(IAC + DO + ECHO + b"\r\n")
    assert await other.until(b"name? ") == b"\r\n" + IAC + WONT + ECHO + b"What is your name? "
    await other.send(b"bob\r\n")
    await other.until(b"Bob comes in.")


async def test_refused_echo_adds_no_line_break(serving: Serving) -> None:
    setup = await serving()
    anna, _ = await come(setup, "Anna")
    for answer in (b"", IAC + DONT + ECHO):
        await anna.send(b"register\r\n")
        await anna.until(b"New password: ")
        await anna.send(answer + b"\r\n")
        assert await anna.until(b"> ") == b"You are still a guest.\r\n> "


async def test_echo_is_refused_outside_password_prompts(serving: Serving) -> None:
    anna, _ = await come(await serving(), "Anna")
    await anna.send(IAC + DO + ECHO + IAC + DONT + ECHO)
    assert await anna.fence() == IAC + WONT + ECHO
    await anna.send(b"register\r\n")
    await anna.until(b"New password: ")
    await anna.send((IAC + DO + ECHO) * 2 + b"\r\n")
    assert await anna.fence() == b"\r\nYou are still a guest.\r\n" + IAC + WONT + ECHO + b"> "


async def test_output_during_a_password_prompt_repeats_the_prompt(serving: Serving) -> None:
    setup = await serving()
    anna, _ = await come(setup, "Anna")
    bob, _ = await come(setup, "Bob")
    await anna.fence()
    await anna.send(b"register\r\n")
    await anna.until(b"New password: ")
    await bob.send(b"say hello\r\n")
    assert await anna.until(b"word: ") == b"\r\nBob says: hello\r\nNew password: "


async def test_overlong_password_is_refused(serving: Serving) -> None:
    anna, _ = await come(await serving(), "Anna")
    await anna.send(b"register\r\n")
    await anna.until(b"New password: ")
    await anna.send(IAC + DO + ECHO + b"x" * 10_000 + b"\r\n")
    assert await anna.until(b"word: ") == (
        b"\r\nThat line is longer than 1,024 characters, so it was ignored.\r\nNew password: "
    )
    await anna.send(b"x" * 129 + b"\r\n")
    assert b"at most 128" in await anna.until(b"word: ")


async def test_password_change(serving: Serving) -> None:
    setup = await serving()
    anna, _ = await come(setup, "Anna")
    await register(anna, b"password")
    await anna.send(b"password\r\n")
    assert await anna.until(b"word: ") == IAC + WILL + ECHO + b"Old password: "
    await anna.send(IAC + DO + ECHO + b"password\r\n")
    assert await anna.until(b"New password: ") == b"\r\n" + ADVICE + b"New password: "
    await anna.send(b"another one\r\nanother one\r\n")
    assert (await anna.until(b"> ")).endswith(b"been changed.\r\n" + IAC + WONT + ECHO + b"> ")
    again = await named(setup, b"anna\r\npassword\r\nanother one")
    assert b"isn't the password" in await again.until(b"of Anna")
    await again.until(b"> ")
    await again.send(b"look\r\n")
    await again.until(b"echo look")


async def test_lines_sent_ahead_answer_prompts_in_order(serving: Serving) -> None:
    setup = await serving()
    client = await setup.connect()
    lines = [b"anna", b"one", b"register", b"password", b"password", b"two", b"password"]
    lines += [b"password", b"other one", b"other one", b"three", b"quit"]
    await client.send(b"".join(line + b"\r\n" for line in lines))
    assert (await client.rest()).endswith(b"Anna leaves.\r\n")
    assert setup.service.typed == ["one", "register", "two", "password", "three", "quit"]
    again = await named(setup, b"anna\r\nother one\r\nfour")
    await again.until(b"echo four")


# One name, two connections


async def test_second_login_of_a_member_takes_over(serving: Serving) -> None:
    setup = await serving()
    anna, _ = await come(setup, "Anna")
    await register(anna, b"password")
    bob, _ = await come(setup, "Bob")
    again = await named(setup, b"ANNA\r\npassword")
    await again.until(b"> ")
    assert await anna.rest() == (
        b"\r\nBob comes in.\r\n> \r\nYou have connected from somewhere else, "
        b"so this session is being closed.\r\n"
    )
    await again.send(b"say here\r\n")
    assert await again.until(b"> ") == b"Anna says: here\r\n> "
    await bob.until(b"Anna says: here")
    assert b"lost" not in await bob.fence()
    assert list(setup.service.hall.people) == ["Anna", "Bob"]


async def test_guest_takes_over_a_dead_connection_with_the_resume_word(serving: Serving) -> None:
    setup = await serving()
    anna, word = await come(setup, "Anna")
    anna.stop_reading()
    again = await named(setup, b"anna")
    assert (await again.until(b"words: ")).startswith(b"Somebody called Anna is already here.")
    await again.send(b"basalt-lantern-fox-otter-plum\r\n")
    assert await again.until(b"words: ") == (
        b"Those aren't the comeback words of Anna.\r\nComeback words: "
    )
    await again.send(word.encode() + b"\r\n")
    await again.until(b"> ")
    await again.send(b"look\r\n")
    await again.until(b"echo look")
    assert list(setup.service.hall.people) == ["Anna"]


async def test_guest_returns_after_a_lost_connection(serving: Serving) -> None:
    setup = await serving()
    anna, word = await come(setup, "Anna")
    bob, _ = await come(setup, "Bob")
    await anna.close()
    await bob.until(b"Anna is lost.")
    again = await named(setup, b"anna")
    assert (await again.until(b"words: ")).startswith(b"Somebody called Anna was here")
    await again.send(word.encode() + b"\r\n")
    assert WORD not in await again.until(b"Anna comes in.")


async def test_login_during_another_login_of_the_same_player(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = await serving()
    anna, word = await come(setup, "Anna")
    await anna.close()
    readable, look_up = asyncio.Event(), setup.sessions.store.look_up
    admit, admitted = setup.sessions.admit, 0

    async def look_up_slowly(lookup: Lookup[Any], *, realm: str = "") -> Any:
        await readable.wait()
        return await look_up(lookup, realm=realm)

    async def admit_counted(*what: Any) -> Visit | None:
        nonlocal admitted
        admitted += 1
        return await admit(*what)

    keeper = await setup.connect()
    while setup.sessions.is_online("Anna"):
        await keeper.fence()
    monkeypatch.setattr(setup.sessions.store, "look_up", look_up_slowly)
    monkeypatch.setattr(setup.sessions, "admit", admit_counted)
    clients = [await named(setup, b"anna\r\n" + word.encode()) for _ in range(3)]
    while admitted < 3:
        await keeper.fence()
    await clients[0].close()
    await keeper.fence()
    readable.set()
    await clients[1].rest()
    await clients[2].until(b"> ")
    await clients[2].send(b"look\r\n")
    await clients[2].until(b"echo look")
    assert list(setup.service.hall.people) == ["Anna"]


async def test_takeover_during_registration_cancels_it(serving: Serving) -> None:
    setup = await serving()
    anna, word = await come(setup, "Anna")
    await anna.send(b"register\r\n")
    await anna.until(b"New password: ")
    again = await named(setup, b"anna\r\n" + word.encode())
    await again.until(b"> ")
    await anna.rest()
    assert await setup.sessions.store.read(accounts.find, "Anna") is None


async def test_race_for_one_name_has_one_winner(serving: Serving) -> None:
    setup = await serving()
    clients = [await setup.connect() for _ in range(10)]
    for client in clients:
        await client.send(b"anna\r\n")
    answers = await asyncio.gather(*(client.fence() for client in clients))
    assert sum(b"Anna comes in." in answer for answer in answers) == 1
    assert list(setup.service.hall.people) == ["Anna"]


async def test_simultaneous_logins_of_a_member_leave_one_connection(serving: Serving) -> None:
    setup = await serving()
    anna, _ = await come(setup, "Anna")
    await register(anna, b"password")
    await anna.send(b"quit\r\n")
    await anna.rest()
    clients = [await setup.connect() for _ in range(5)]
    for client in clients:
        await client.send(b"anna\r\npassword\r\n")
    reading = {asyncio.create_task(client.rest()): client for client in clients}
    for ended in itertools.islice(asyncio.as_completed(reading), 4):
        await ended
    [(task, left)] = [each for each in reading.items() if not each[0].done()]
    task.cancel()
    await asyncio.wait([task])
    await left.send(b"look\r\n")
    await left.until(b"echo look")
    assert list(setup.service.hall.people) == ["Anna"]


# Ends


async def test_disconnect_at_any_point_of_registration_is_survived(
    serving: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    setup = await serving()
    keeper, _ = await come(setup, "Keeper")
    lines = [b"anna", b"register", b"password", b"password", b"look"]
    for count in range(len(lines) + 1):
        client = await setup.connect()
        await client.send(b"".join(line + b"\r\n" for line in lines[:count]))
        await client.close()
        await keeper.send(b"look\r\n")
        await keeper.until(b"echo look")
        async with asyncio.timeout(PATIENCE):
            while [each.getMessage() for each in caplog.records].count("gone") <= count:
                await keeper.fence()
        await setup.sessions.store.write(accounts.free_guest_names, ["Anna"])
        if await setup.sessions.store.read(accounts.find, "Anna"):
            break


async def test_log_says_who_went_and_why(
    serving: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    setup = await serving()
    anna, _ = await come(setup, "Anna")
    bert, _ = await come(setup, "Bert")
    keeper, _ = await come(setup, "Keeper")
    stranger = await setup.connect()
    await anna.send(b"quit\r\n")
    for client in (anna, bert, stranger):
        await client.close()
    async with asyncio.timeout(PATIENCE):
        while caplog.messages.count("gone") < 3:
            await keeper.fence()
    gone = [vars(each) for each in caplog.records if each.getMessage() == "gone"]
    assert {(each.get("player"), each["why"]) for each in gone} == {
        ("Anna", "quit"),
        ("Bert", "lost"),
        (None, "lost"),
    }
    assert all(each["peer"] for each in gone)


async def test_half_close_during_registration_ends_the_session(serving: Serving) -> None:
    setup = await serving()
    anna, _ = await come(setup, "Anna")
    await anna.send(b"register\r\npassword\r\n")
    anna.writer.write_eof()
    assert (await anna.rest()).endswith(b"And again: ")
    assert not setup.service.hall.people


async def test_server_stop_during_a_password_prompt(serving: Serving) -> None:
    setup = await serving()
    anna, _ = await come(setup, "Anna")
    await register(anna, b"password")
    other = await named(setup, b"anna")
    await other.until(b"Password: ")
    async with asyncio.timeout(PATIENCE):
        await setup.stop()
    assert b"shutting down" in await other.rest()


async def test_guest_last_seen_time_is_stored(serving: Serving) -> None:
    setup = await serving()
    await come(setup, "Anna")
    bob, _ = await come(setup, "Bob")
    began = setup.sessions.clock()
    await bob.send(b"quit\r\n")
    await bob.rest()
    await setup.stop()
    assert await setup.sessions.store.read(accounts.find_guest, "Bob") is None
    kept = await setup.sessions.store.read(accounts.find_guest, "Anna")
    assert kept
    assert kept.seen >= began


async def test_idle_connection_is_warned_and_then_closed(
    serving: Serving, pass_time: PassTime
) -> None:
    setup = await serving(idle_warning=100, idle_limit=180)
    client = await setup.connect()
    await client.until(b"name? ")
    await pass_time(100)
    await client.until(b"You haven't typed anything for 100 seconds. In another 80 seconds")
    await pass_time(80)
    assert (await client.rest()).endswith(b"You haven't typed anything for 3 minutes. Goodbye!\r\n")
    anna, _ = await come(setup, "Anna")
    await pass_time(180)
    assert (await anna.rest()).endswith(
        b"\r\nYou haven't typed anything for 3 minutes. Goodbye!\r\n"
    )
    assert not setup.service.hall.people


async def test_waiting_for_the_opponent_does_not_count_as_idle(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, pass_time: PassTime
) -> None:
    setup = await serving(idle_warning=0.0, idle_limit=60)
    asked = 0

    def is_waiting(_name: str) -> bool:
        nonlocal asked
        asked += 1
        return asked < 5

    monkeypatch.setattr(setup.service, "is_waiting", is_waiting)
    anna, _ = await come(setup, "Anna")
    while asked < 5:
        assert "Anna" in setup.service.widths
        await pass_time(60)
    assert (await anna.rest()).endswith(b"You haven't typed anything for 60 seconds. Goodbye!\r\n")
    assert asked == 5


async def test_slow_command_holds_back_the_next(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = await serving()
    anna, _ = await come(setup, "Anna")
    bob, _ = await come(setup, "Bob")
    submit, slow = setup.service.submit, asyncio.get_running_loop().create_future()

    begun = asyncio.Event()

    async def submit_slowly(visit: Visit, line: str, **how: Any) -> Result:
        if line == "slow":
            begun.set()
            await slow
        return await submit(visit, line, **how)

    monkeypatch.setattr(setup.service, "submit", submit_slowly)
    await anna.fence()
    await anna.send(b"slow\r\nlook\r\n")
    await begun.wait()  # the slow line has to begin first
    await bob.send(b"say now\r\n")
    await bob.until(b"now\r\n")
    assert await anna.until(b"now\r\n") == b"Bob says: now\r\n"
    slow.set_exception(RuntimeError("boom"))
    assert await anna.until(b"> ") == (
        b"Sorry, something went wrong in the server with that line. Please try something\r\n"
        b"else.\r\necho look\r\n> "
    )


async def test_addresses_are_forgotten_after_some_days(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = await serving()
    times: asyncio.Queue[float] = asyncio.Queue()

    async def forget(before: float) -> None:
        times.put_nowait(before)

    do_instead(monkeypatch, setup.sessions.store, accounts.forget_addresses, forget)
    await come(setup, "Anna")
    before = await asyncio.wait_for(times.get(), PATIENCE)
    assert abs(time.time() - before - last_seen.ADDRESSES_KEPT) < 60


# Nodes


@pytest.mark.parametrize(("why", "said"), [("moved", ELSEWHERE), ("cut off", CUT_OFF)])
async def test_moved_player_is_told_and_no_longer_recorded_as_seen(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, why: str, said: str
) -> None:
    monkeypatch.setattr(last_seen, "INTERVAL", 0.01)
    setup = await serving()

    async def seen(name: str, after: float) -> float:
        """Wait until a player's last-seen time is updated; return it."""
        async with asyncio.timeout(PATIENCE):
            while True:
                kept = await setup.sessions.store.read(accounts.find_guest, name)
                if kept and kept.seen > after:
                    return kept.seen
                await asyncio.sleep(0)

    anna, _ = await come(setup, "Anna")
    if why == "moved":
        await setup.service.hand_over("Anna")
    else:
        await setup.service.dismiss_all()
    assert said in words(await anna.rest())
    await come(setup, "Bob")
    await seen("Bob", time.time())
    last = await seen("Anna", 0)
    await seen("Bob", time.time())
    assert await seen("Anna", 0) == last


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PlaysElsewhereError("Anna", "another"), "You're playing on another server of this game"),
        (NotWrittenError("The disk is full."), "The server can't reach its storage just now"),
    ],
)
async def test_failed_join_is_explained_and_can_be_retried(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    setup = await serving()
    anna, word = await come(setup, "Anna")
    await anna.close()

    async def join(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(setup.service, "join", join)
        again = await named(setup, b"anna\r\n" + word.encode())
        assert said in words(await again.rest())
    again = await named(setup, b"anna\r\n" + word.encode())
    await again.until(b"Anna comes in.")


async def test_unsaved_login_options_do_not_prevent_entry(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = await serving()
    bob, _ = await come(setup, "Bob")
    anna, _ = await come(setup, "Anna")
    await register(anna, b"password")
    await anna.send(b"quit\r\n")
    await anna.rest()

    async def fail(*_: object) -> None:
        raise NotWrittenError("The disk is full.")

    do_instead(monkeypatch, setup.sessions.store, accounts.set_preferences, fail)
    again = await named(setup, b"options width 60\r\nanna\r\npassword")
    await again.until(b"Anna comes in.")
    await again.until(b"> ")
    assert setup.service.hall.people["Anna"].options.width == 60
    await bob.until(b"Anna comes in.\r\n> ")
    await bob.until(b"Anna leaves.")
    await bob.until(b"Anna comes in.")
    await again.close()
    await bob.until(b"Anna is lost.")
    assert list(setup.service.hall.people) == ["Bob"]


# Options chosen at the name prompt


async def test_options_before_login_apply_to_a_guest(serving: Serving) -> None:
    setup = await serving()
    client = await setup.connect()
    await client.until(b"name? ")
    await client.send(b"options reader on\r\n")
    assert b"Boards are now described in words" in await client.until(b"name? ")
    await client.send(b"anna\r\n")
    await client.until(b"> ")
    assert setup.service.hall.people["Anna"].options.reader is Switch.ON


async def test_options_before_login_are_saved_for_a_member(serving: Serving) -> None:
    setup = await serving()
    anna = await setup.connect("Anna")
    await anna.send(b"register\r\npassword\r\npassword\r\n")
    await anna.until(b"yours now")
    await anna.send(b"real options width 60\r\nquit\r\n")
    await anna.rest()
    again = await setup.connect()
    await again.until(b"name? ")
    await again.send(b"options reader on\r\nanna\r\npassword\r\nreal who\r\n")
    await again.until(b"connected:")
    options = setup.service.hall.people["Anna"].options
    assert (options.reader, options.width) == (Switch.ON, 60)
    account = await setup.sessions.store.read(accounts.find, "anna")
    assert account
    assert options_of(account.preferences) == options


@pytest.mark.parametrize("here", [True, False])
def test_options_before_login_change_existing_options(*, here: bool) -> None:
    house = House([BoardSpec("oak board")])
    house.enter("Anna", 0.0)
    for line in ("options charset ascii", "join game as dwarf on oak board"):
        house.obey("Anna", line, 0.0)
    house.enter("Bert", 0.0)
    house.obey("Bert", "join game as troll on oak board", 0.0)
    house.obey("Bert", "start", 0.0)
    if not here:
        house.depart("Anna", 1.0)
    options = house.hall.apply_option_choices("Anna", None, [SetReader(Switch.ON)])
    assert (options.charset, options.reader) == (Charset.ASCII, Switch.ON)
    assert ("Anna" in house) is here
    if here:
        assert house.hall.people["Anna"].options == options


def test_options_before_login_extend_saved_options() -> None:
    house = House([BoardSpec("oak board")])
    kept = house.hall.apply_option_choices("Dora", None, [SetWidth(60)])
    chosen = house.hall.apply_option_choices("Dora", kept, [SetCharset(Charset.ASCII)])
    assert (chosen.width, chosen.charset) == (60, Charset.ASCII)


# New names


async def test_new_name_quota_still_allows_resuming_a_name(
    serving: Serving,
) -> None:
    setup = await serving(names_per_hour=2)
    anna, bob = await setup.connect(), await setup.connect("Bob")
    await anna.until(b"name? ")
    word = (await anna.login("Anna")).partition(KEEP_WORD.encode())[2].split()[0]
    other = await setup.connect()
    await other.until(b"name? ")
    await other.send(b"Cara\r\n")
    assert b"has used many new names" in await other.until(b"name? ")
    await other.send(b"Anna\r\n")
    await other.until(b"Comeback words: ")
    await other.send(word + b"\r\n")
    await other.until(b"> ")
    await bob.send(b"look\r\n")
    await bob.until(b"echo look")
