"""Sessions byte for byte over a real socket."""

from __future__ import annotations

import asyncio
import gc

import pytest

from tests.conftest import PassTime
from tests.server.plain import PATIENCE, Serving
from tests.telnet.commands import DO, DONT, GA, IAC, NAWS, TM, WILL, WONT, naws
from thudmud.accounts.login import KEEP_WORD, TOLD_WORD
from thudmud.features.rooms.messages import greeting
from thudmud.server.acceptor import FAREWELL
from thudmud.server.config import PlayerSettings
from thudmud.server.session import IdleTimer
from thudmud.telnet.screen import encode

WELCOME = b"\xff\xfd\x1f" + encode(greeting((), 0)) + b"What is your name? "


async def test_silent_client_is_greeted_and_asked_for_a_name(serving: Serving) -> None:
    client = await (await serving()).connect()
    assert await client.until(b"name? ") == WELCOME


async def test_session_from_name_to_quit_with_prompts(serving: Serving) -> None:
    client = await (await serving()).connect()
    await client.until(b"name? ")
    await client.send(b"anna\r\n")
    assert (await client.until(b"\r\n")).decode().rstrip() == KEEP_WORD
    assert TOLD_WORD.fullmatch((await client.until(b"\r\n")).decode().rstrip())
    assert await client.until(b"> ") == b"Anna comes in.\r\n> "
    await client.send(b"look\r\n")
    assert await client.until(b"> ") == b"echo look\r\n> "
    await client.send(b"\r\n")
    assert await client.until(b"> ") == b"> "
    await client.send(b"quit\r\n")
    assert await client.rest() == b"Anna leaves.\r\n"


async def test_unusable_name_is_asked_for_again(serving: Serving) -> None:
    setup = await serving()
    await setup.connect("Anna")
    client = await setup.connect()
    await client.until(b"name? ")
    await client.send(b"4\r\n")
    assert await client.until(b"name? ") == b"Letters, please.\r\nWhat is your name? "
    await client.send(b"\r\n")
    assert await client.until(b"name? ") == b"What is your name? "
    await client.send(b" anna \r\n")
    assert (await client.until(b"words: ")).startswith(b"Somebody called Anna is already here.")
    await client.send(b"\r\n")
    assert await client.until(b"name? ") == b"What is your name? "
    await client.send(b"Bob\r\n")
    assert b"Bob comes in." in await client.until(b"> ")


async def test_quit_at_the_name_prompt_says_goodbye_and_closes(serving: Serving) -> None:
    client = await (await serving()).connect()
    await client.send(b"Quit\r\n")
    assert await client.rest() == WELCOME + b"Goodbye!\r\n"


async def test_name_is_free_immediately_after_quit(serving: Serving) -> None:
    setup = await serving()
    for _ in range(3):
        client = await setup.connect("Anna")
        await client.send(b"quit\n")
        await client.rest()


async def test_output_at_a_prompt_starts_a_new_line_and_repeats_it(
    serving: Serving,
) -> None:
    setup = await serving()
    anna, bob = await setup.connect("Anna"), await setup.connect("Bob")
    assert await anna.until(b"> ") == b"\r\nBob comes in.\r\n> "
    for word in (b"one", b"two"):  # sent together, they might share a turn or not
        await bob.send(b"say " + word + b"\n")
        assert await bob.fence() == b"Bob says: " + word + b"\r\n> "
        assert await anna.fence() == b"\r\nBob says: " + word + b"\r\n> "


async def test_delayed_answer_is_followed_by_one_prompt(serving: Serving) -> None:
    setup = await serving()
    anna, bob = await setup.connect("Anna"), await setup.connect("Bob")
    await anna.until(b"Bob comes in.\r\n> ")
    for hurries in (False, True):
        await anna.send(b"look\r\n")
        assert await anna.until(b"> ") == b"echo look\r\n> "
        await anna.send(b"later\r\n")
        if hurries:  # further input gets its own prompt
            await anna.send(b"look\r\n")
            assert await anna.until(b"> ") == b"echo look\r\n> "
        else:
            await anna.send(IAC + DO + TM)  # answered after all earlier output
            before = await anna.until(IAC + WILL + TM)
            assert b">" not in before
        await bob.send(b"say Here it is.\r\n")
        fresh = b"\r\n" if hurries else b""
        assert await anna.until(b"> ") == fresh + b"Bob says: Here it is.\r\n> "


async def test_bell_precedes_the_text(serving: Serving) -> None:
    client = await (await serving()).connect("Anna")
    await client.send(b"ring\r\n")
    assert await client.until(b"> ") == b"\x07Your turn.\r\n> "


async def test_line_ends_are_recognised_even_if_split(serving: Serving) -> None:
    client = await (await serving()).connect("Anna")
    await client.send(b"a\r\nb\r\0c\nd\r")
    assert await client.fence() == b"echo a\r\necho b\r\necho c\r\necho d\r\n> "
    await client.send(b"\ne\r")
    assert await client.fence() == b"echo e\r\n> "
    await client.send(b"\nf\n")
    assert await client.fence() == b"echo f\r\n> "


async def test_erase_character_and_erase_line(serving: Serving) -> None:
    client = await (await serving()).connect("Anna")
    await client.send(b"lox\x08ok" + IAC + b"\xf7k\r\n")  # EC
    assert await client.until(b"> ") == b"echo look\r\n> "
    await client.send(b"nonsense" + IAC + b"\xf8look\r\n")  # EL
    assert await client.until(b"> ") == b"echo look\r\n> "


async def test_broadcast_sends_identical_text(serving: Serving) -> None:
    setup = await serving()
    clients = [await setup.connect(name) for name in ("Anna", "Bob", "Cara")]
    for client in clients:
        await client.fence()
    await clients[0].send("say é ♖\r\n".encode())
    assert await clients[0].fence() == "Anna says: é ♖\r\n> ".encode()
    for client in clients[1:]:
        assert await client.fence() == "\r\nAnna says: é ♖\r\n> ".encode()


async def test_overlong_line_gets_one_message(serving: Serving) -> None:
    client = await (await serving(max_line=80)).connect("Anna")
    await client.send(b"x" * 5000 + b"\r\nlook\r\n")
    assert await client.until(b"> ") == (
        b"That line is longer than 80 characters, so it was ignored.\r\necho look\r\n> "
    )


async def test_exception_is_logged_and_the_connection_continues(
    serving: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    client = await (await serving()).connect("Anna")
    await client.send(b"boom\r\nlook\r\n")
    answer = await client.until(b"> ")
    assert answer.startswith(b"Sorry, ")
    assert answer.endswith(b"\r\necho look\r\n> ")
    (record,) = caplog.records
    assert record.getMessage() == "failed to handle input"
    assert record.__dict__["player"] == "Anna"


# Telnet


async def test_window_width_is_requested_and_applied(serving: Serving) -> None:
    client = await (await serving()).connect()
    await client.send(IAC + WILL + NAWS + naws(100) + b"anna\r\nwidth\r\n")
    assert b"width 100\r\n" in await client.fence()
    for columns, used in [(40, 40), (255, 255), (1, 20), (65535, 500), (0, 80)]:
        await client.send(naws(columns) + b"width\r\n")
        assert await client.fence() == f"width {used}\r\n> ".encode()
    await client.send(naws(60))  # at the prompt: no output
    assert await client.fence() == b""


async def test_width_after_wont_naws_is_ignored(serving: Serving) -> None:
    client = await (await serving()).connect("Anna")
    await client.send(naws(50) + b"width\r\n")  # requested by the server, never confirmed by WILL
    assert b"width 50\r\n> " in await client.fence()
    await client.send(IAC + WONT + NAWS + naws(70) + b"width\r\n")
    assert await client.fence() == b"width 50\r\n> "


async def test_client_without_naws_has_80_columns(serving: Serving) -> None:
    client = await (await serving()).connect("Anna")
    await client.speak()
    await client.send(IAC + WONT + NAWS + b"width\r\n")
    assert await client.fence() == b"width 80\r\n> "


@pytest.mark.parametrize(
    "option", [b"\x03", b"\x05", b"\x12", b"\x22", b"\x55", b"\x56", b"\x57", b"\x5b"]
)
async def test_unsupported_options_are_refused(serving: Serving, option: bytes) -> None:
    client = await (await serving()).connect("Anna")
    await client.speak()
    await client.send(IAC + DO + option + IAC + WILL + option)
    assert await client.fence() == IAC + WONT + option + IAC + DONT + option
    await client.send(IAC + DONT + option + IAC + WONT + option)
    assert await client.fence() == b""


async def test_option_refusals_are_not_answered(serving: Serving) -> None:
    client = await (await serving()).connect("Anna")
    await client.speak()
    for option in range(256):
        await client.send(IAC + WONT + bytes([option]) + IAC + DONT + bytes([option]))
    assert await client.fence() == GA  # marks the prompt already shown


async def test_timing_mark_answer_follows_earlier_output(serving: Serving) -> None:
    client = await (await serving(commands_per_turn=1)).connect("Anna")
    mark = IAC + WILL + TM
    await client.send(b"a\r\n" + (IAC + DO + TM) + b"b\r\nc\r\n" + (IAC + DO + TM) + b"unfinished")
    assert await client.until(mark) == b"echo a\r\n> " + mark
    assert await client.until(mark) == b"echo b\r\necho c\r\n> " + mark
    await client.send(b" line\r\n")
    assert await client.until(b"> ") == b"echo unfinished line\r\n> "


async def test_are_you_there_is_answered(serving: Serving) -> None:
    client = await (await serving()).connect("Anna")
    await client.send(b"a\r\n" + IAC + b"\xf6")
    told = await client.fence()  # a prompt may come between, with or without a line break
    lines = filter(None, told.replace(b"> ", b"").split(b"\r\n"))
    assert list(lines) == [b"echo a", b"Yes, thudmud is here."]


# Ends


async def test_lost_connection_is_announced_to_others(serving: Serving) -> None:
    setup = await serving()
    anna, bob = await setup.connect("Anna"), await setup.connect("Bob")
    await anna.until(b"> ")
    bob.writer.transport.abort()
    assert await anna.until(b"> ") == b"\r\nBob is lost.\r\n> "


async def test_farewell_reaches_a_client_that_keeps_sending(serving: Serving) -> None:
    setup = await serving(shutdown_grace=PATIENCE)
    anna, bob = await setup.connect("Anna"), await setup.connect("Bob")
    await anna.until(b"> ")
    await bob.send(b"quit\r\n")
    await anna.until(b"Bob leaves.\r\n> ")
    await bob.send(b"look\r\n" + IAC + DO + TM)
    await anna.fence()
    await bob.send(b"look\r\n")
    assert await bob.rest() == b"Bob leaves.\r\n"
    assert setup.service.typed == ["quit"]


async def test_lingering_client_is_disconnected_after_quit(serving: Serving) -> None:
    setup = await serving(shutdown_grace=0.1)
    client = await setup.connect("Anna")
    await client.send(b"quit\r\n")
    await client.rest()

    async def talk_on() -> None:
        while True:
            await client.send(b"x")
            await asyncio.sleep(0.01)  # lets a reset arrive

    async with asyncio.timeout(PATIENCE):
        with pytest.raises(ConnectionError):
            await talk_on()


async def test_half_closed_connection_is_answered_to_the_last_line(serving: Serving) -> None:
    setup = await serving()
    client = await setup.connect()
    await client.send(b"anna\nlook\nunfinished")
    client.writer.write_eof()
    # The end may arrive after the lines, when the next prompt has been sent.
    told = (await client.rest()).removesuffix(b"> ")
    assert told.endswith(b"Anna comes in.\r\necho look\r\n")
    assert setup.service.typed == ["look"]
    assert not setup.service.widths


async def test_partial_line_is_discarded_on_disconnect(serving: Serving) -> None:
    setup = await serving()
    anna, bob = await setup.connect("Anna"), await setup.connect("Bob")
    await anna.until(b"> ")
    await bob.send(b"say hello\r\nsay never")
    await bob.until(b"hello\r\n")
    bob.writer.close()
    assert await anna.until(b"lost.\r\n> ") == b"\r\nBob says: hello\r\n> \r\nBob is lost.\r\n> "
    assert setup.service.typed == ["say hello"]


async def test_server_stop_is_announced_to_all_connections(serving: Serving) -> None:
    setup = await serving()
    named, nameless = await setup.connect("Anna"), await setup.connect()
    await nameless.until(b"name? ")
    async with asyncio.timeout(PATIENCE):
        await setup.stop()
    assert await named.rest() == f"\r\n{FAREWELL}\r\n".encode()
    assert await nameless.rest() == f"\r\n{FAREWELL}\r\n".encode()
    with pytest.raises(OSError):  # noqa: PT011  (refused; the message depends on the system)
        await setup.connect()


async def test_client_with_unread_input_receives_the_farewell(
    serving: Serving,
) -> None:
    setup = await serving(commands_per_second=1, commands_at_once=10)
    anna = await setup.connect("Anna")
    anna.writer.write(b"x\n" * 1_000_000)
    await anna.until(b"echo x")
    told = asyncio.create_task(anna.rest())
    async with asyncio.timeout(PATIENCE):
        await setup.stop()
    assert (await told).endswith(f"\r\n{FAREWELL}\r\n".encode())


async def test_server_stop_does_not_wait_for_a_stalled_reader(
    serving: Serving,
) -> None:
    setup = await serving(outbox_bytes=100_000_000)
    client = await setup.connect("Anna")
    client.stop_reading()
    await client.send(b"flood 50000000\r\n")
    bob = await setup.connect("Bob")
    await bob.fence()
    async with asyncio.timeout(PATIENCE):
        await setup.stop()
    assert (await bob.rest()).endswith(b"Goodbye.\r\n")


async def test_connection_after_close_is_turned_away(serving: Serving) -> None:
    """The name prompt has been sent, but its task isn't waiting for input yet."""
    setup = await serving()
    setup.sessions.close("It is over.")
    client = await setup.connect()
    assert (await client.rest()).endswith(b"It is over.\r\n")
    gc.collect()


# The idle timer


def timer(said: list[str], warning: float, limit: float) -> IdleTimer:
    players = PlayerSettings(idle_warning=warning, idle_limit=limit, login_limit=0)
    return IdleTimer(players, is_excused=lambda: False, warn=said.append, end=said.append)


@pytest.mark.parametrize(
    ("warning", "limit", "told"),
    [
        (3300, 3600, "for 55 minutes. In another 5 minutes you'll be disconnected."),
        (100, 161, "for 100 seconds. In another 61 seconds you'll be disconnected."),
        (60, 3660, "for 60 seconds. In another 60 minutes you'll be disconnected."),
    ],
)
async def test_idle_player_is_warned_once_before_the_limit(
    pass_time: PassTime, warning: float, limit: float, told: str
) -> None:
    said: list[str] = []
    idle = timer(said, warning, limit)
    idle.start()
    await pass_time(warning)
    await pass_time((limit - warning) / 2)
    assert said == [f"You haven't typed anything {told}"]
    idle.restart()
    await pass_time(warning)
    assert len(said) == 2  # input re-arms the warning
    await pass_time(limit - warning)
    assert said[2].endswith("Goodbye!")
    idle.stop()


async def test_idle_warning_requires_a_limit(pass_time: PassTime) -> None:
    said: list[str] = []
    for warning, limit in [(1, 0), (0, 1), (0, 0)]:
        idle = timer(said, warning, limit)
        idle.start()
        await pass_time(10)
        idle.stop()
    assert said == ["You haven't typed anything for 1 second. Goodbye!"]


async def test_login_timeout_is_explained(serving: Serving, pass_time: PassTime) -> None:
    setup = await serving(login_limit=60)
    bob = await setup.connect("Bob")
    _, slow, asked = clients = [await setup.connect() for _ in range(3)]
    for client in clients:
        await client.until(b"name? ")
    await slow.send(b"An")
    await asked.send(b"Bob\r\n")
    await asked.until(b"Comeback words: ")
    await pass_time(60)
    for client in clients:
        assert (await client.rest()).endswith(
            b"\r\nYou haven't given a name for 60 seconds. Goodbye!\r\n"
        )
    await bob.send(b"look\r\n")
    await bob.until(b"echo look")
