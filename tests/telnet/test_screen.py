from __future__ import annotations

import asyncio
import logging
import zlib

import pytest

from thudmud.telnet.screen import CloseReason, Flusher, Screen, encode

LIMIT = 100
PROMPT = b"> "


class Notebook(asyncio.Transport):
    """Takes down what is written; a reader who has ``stuck`` takes none of it."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.stuck = False
        self.endings: list[str] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def get_write_buffer_size(self) -> int:
        return sum(map(len, self.writes)) if self.stuck else 0

    def close(self) -> None:
        self.endings.append("closed")

    def abort(self) -> None:
        self.endings.append("aborted")


def opened() -> tuple[Screen, Notebook]:
    transport = Notebook()
    screen = Screen(transport, LIMIT, Flusher())
    screen.prompt = PROMPT
    return screen, transport


async def turn() -> None:
    await asyncio.sleep(0)


def test_text_goes_out_in_utf_8_with_telnets_line_ends() -> None:
    assert encode("é\nb") == b"\xc3\xa9\r\nb\r\n"


async def test_one_write_for_each_turn() -> None:
    screen, transport = opened()
    screen.show(b"a\r\n")
    screen.ask()
    screen.show(b"b\r\n")
    assert transport.writes == []
    await turn()
    assert transport.writes == [b"a\r\nb\r\n> "]
    screen.show(b"c\r\n")
    screen.show(b"d\r\n")
    await turn()
    assert transport.writes[1:] == [b"\r\nc\r\nd\r\n> "]


async def test_an_answered_prompt_is_not_shown_again_unasked() -> None:
    screen, transport = opened()
    screen.ask()
    await turn()
    screen.answered()
    screen.show(b"a\r\n")
    await turn()
    assert transport.writes == [PROMPT, b"a\r\n"]


async def test_compression_begins_in_one_write_and_what_follows_its_end_is_plain() -> None:
    screen, transport = opened()
    screen.show(b"before\r\n")
    screen.compress(b"\xff\xfa\x56\xff\xf0")
    screen.show(b"within\r\n")
    screen.decompress()
    screen.show(b"after\r\n")
    await turn()
    first, *rest = transport.writes
    assert first.endswith(b"before\r\n\xff\xfa\x56\xff\xf0")
    inflate = zlib.decompressobj()
    assert inflate.decompress(b"".join(rest)) == b"within\r\n"
    assert inflate.eof
    assert inflate.unused_data == b"after\r\n"


async def test_without_a_prompt_the_line_is_fresh() -> None:
    screen, transport = opened()
    screen.prompt = b""
    screen.show(b"a\r\n")
    screen.ask()
    await turn()
    screen.show(b"b\r\n")
    await turn()
    screen.answered(echoed=False)
    screen.show(b"c\r\n")
    await turn()
    assert b"".join(transport.writes) == b"a\r\nb\r\nc\r\n"


async def test_a_mark_comes_behind_the_prompt_and_a_command_shows_nothing() -> None:
    screen, transport = opened()
    screen.show(b"a\r\n")
    screen.ask()
    screen.mark(b"MARK")
    screen.command(b"IAC")
    await turn()
    assert transport.writes == [b"a\r\n> MARKIAC"]


async def test_the_last_words_have_no_prompt_behind_them() -> None:
    screen, transport = opened()
    screen.ask()
    await turn()
    screen.show(b"bye\r\n")
    screen.close(CloseReason.QUIT, linger=False, grace=20.0)
    screen.show(b"never\r\n")
    await turn()
    assert transport.writes == [PROMPT, b"\r\nbye\r\n"]
    assert transport.endings == ["closed"]


async def test_a_reader_who_takes_it_may_be_sent_any_amount_in_a_turn() -> None:
    screen, transport = opened()
    for _ in range(10):
        screen.show(b"x" * LIMIT)
    await turn()
    assert sum(map(len, transport.writes)) == 10 * LIMIT
    assert transport.endings == []


async def test_a_reader_who_takes_nothing_is_cut_off_at_the_limit() -> None:
    screen, transport = opened()
    transport.stuck = True
    screen.show(b"x" * LIMIT)
    await turn()
    assert transport.endings == []
    screen.show(b"x")
    assert transport.endings == ["aborted"]
    screen.show(b"y")
    await turn()
    assert b"y" not in b"".join(transport.writes)


async def test_long_answer_to_a_reader_that_keeps_up_is_sent_whole() -> None:
    screen, transport = opened()
    transport.stuck = True
    for _ in range(2):
        screen.show(b"x" * (2 * LIMIT))
        await turn()
        screen.show(b"y" * LIMIT)  # what others say meanwhile
        await turn()
        assert transport.endings == []
        transport.writes.clear()  # all of it is read
    screen.show(b"x" * (2 * LIMIT))
    await turn()
    screen.show(b"y" * (LIMIT + 1))
    assert transport.endings == ["aborted"]


async def test_a_line_that_was_not_echoed_leaves_the_cursor_behind_the_prompt() -> None:
    screen, transport = opened()
    screen.ask()
    await turn()
    screen.answered(echoed=False)
    screen.show(b"a\r\n")
    screen.answered(echoed=False)  # sent ahead: there was no prompt
    screen.show(b"b\r\n")
    await turn()
    assert transport.writes == [PROMPT, b"\r\na\r\nb\r\n"]


async def test_a_prompt_that_is_shown_is_not_shown_again() -> None:
    screen, transport = opened()
    screen.ask()
    await turn()
    screen.ask()
    await turn()
    assert transport.writes == [PROMPT]


# Many screens in one turn


async def test_one_that_fails_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Notebook):
        def write(self, data: bytes | bytearray | memoryview) -> None:
            raise ValueError(data)

    flusher, transport = Flusher(), Notebook()
    for each in (Failing(), transport):
        Screen(each, LIMIT, flusher).show(b"a\r\n")
    await turn()
    assert transport.writes == [b"a\r\n"]
    [record] = caplog.records
    assert record.levelno == logging.ERROR


async def test_the_same_text_is_the_same_bytes_for_all() -> None:
    flusher, text = Flusher(), b"a text for many\r\n"
    transports = [Notebook() for _ in range(3)]
    screens = [Screen(each, LIMIT, flusher) for each in transports]
    for screen in screens:
        screen.show(text)
    for screen in screens[:2]:
        screen.prompt = PROMPT
        screen.ask()
    await turn()
    [[one], [another], [third]] = [each.writes for each in transports]
    assert one is another
    assert (one, third) == (text + PROMPT, text)
