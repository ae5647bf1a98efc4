from __future__ import annotations

import asyncio
import logging
import zlib

import pytest

from thudmud.telnet.screen import CloseReason, Flusher, Screen, encode

LIMIT = 100
PROMPT = b"> "


class Notebook(asyncio.Transport):
    """A transport that records its writes; while ``stuck``, its peer reads nothing."""

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


def test_text_is_encoded_as_utf8_with_crlf() -> None:
    assert encode("é\nb") == b"\xc3\xa9\r\nb\r\n"


async def test_output_is_written_once_per_turn() -> None:
    screen, transport = opened()
    screen.show(b"a\r\n")
    screen.show_prompt()
    screen.show(b"b\r\n")
    assert transport.writes == []
    await turn()
    assert transport.writes == [b"a\r\nb\r\n> "]
    screen.show(b"c\r\n")
    screen.show(b"d\r\n")
    await turn()
    assert transport.writes[1:] == [b"\r\nc\r\nd\r\n> "]


async def test_answered_prompt_is_not_repeated_after_output() -> None:
    screen, transport = opened()
    screen.show_prompt()
    await turn()
    screen.note_input()
    screen.show(b"a\r\n")
    await turn()
    assert transport.writes == [PROMPT, b"a\r\n"]


async def test_compression_covers_exactly_the_output_between_start_and_end() -> None:
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


async def test_empty_prompt_adds_no_line_breaks() -> None:
    screen, transport = opened()
    screen.prompt = b""
    screen.show(b"a\r\n")
    screen.show_prompt()
    await turn()
    screen.show(b"b\r\n")
    await turn()
    screen.note_input(echoed=False)
    screen.show(b"c\r\n")
    await turn()
    assert b"".join(transport.writes) == b"a\r\nb\r\nc\r\n"


async def test_mark_follows_the_prompt_and_command_redraws_nothing() -> None:
    screen, transport = opened()
    screen.show(b"a\r\n")
    screen.show_prompt()
    screen.mark(b"MARK")
    screen.command(b"IAC")
    await turn()
    assert b"".join(transport.writes) == b"a\r\n> MARKIAC"


async def test_farewell_has_no_prompt() -> None:
    screen, transport = opened()
    screen.show_prompt()
    await turn()
    screen.show(b"bye\r\n")
    screen.close(CloseReason.QUIT, linger=False, grace=20.0)
    screen.show(b"never\r\n")
    await turn()
    assert transport.writes == [PROMPT, b"\r\nbye\r\n"]
    assert transport.endings == ["closed"]


async def test_fast_reader_may_be_sent_any_amount_in_a_turn() -> None:
    screen, transport = opened()
    for _ in range(10):
        screen.show(b"x" * LIMIT)
    await turn()
    assert sum(map(len, transport.writes)) == 10 * LIMIT
    assert transport.endings == []


async def test_stuck_reader_is_aborted_at_the_limit() -> None:
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


async def test_long_answer_to_a_reader_that_keeps_up_is_sent_in_full() -> None:
    screen, transport = opened()
    transport.stuck = True
    for _ in range(2):
        screen.show(b"x" * (2 * LIMIT))
        await turn()
        screen.show(b"y" * LIMIT)  # other players' messages meanwhile
        await turn()
        assert transport.endings == []
        transport.writes.clear()  # the peer has read everything
    screen.show(b"x" * (2 * LIMIT))
    await turn()
    screen.show(b"y" * (LIMIT + 1))
    assert transport.endings == ["aborted"]


async def test_output_after_an_unechoed_line_begins_on_a_new_line() -> None:
    screen, transport = opened()
    screen.show_prompt()
    await turn()
    screen.note_input(echoed=False)
    screen.show(b"a\r\n")
    screen.note_input(echoed=False)  # typed ahead: no prompt was shown
    screen.show(b"b\r\n")
    await turn()
    assert transport.writes == [PROMPT, b"\r\na\r\nb\r\n"]


async def test_visible_prompt_is_not_repeated() -> None:
    screen, transport = opened()
    screen.show_prompt()
    await turn()
    screen.show_prompt()
    await turn()
    assert transport.writes == [PROMPT]


# Many screens in one turn


async def test_failing_transport_does_not_affect_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
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


async def test_identical_output_is_one_shared_bytes_object() -> None:
    flusher, text = Flusher(), b"a text for many\r\n"
    transports = [Notebook() for _ in range(3)]
    screens = [Screen(each, LIMIT, flusher) for each in transports]
    for screen in screens:
        screen.show(text)
    for screen in screens[:2]:
        screen.prompt = PROMPT
        screen.show_prompt()
    await turn()
    [[one], [another], [third]] = [each.writes for each in transports]
    assert one is another
    assert (one, third) == (text + PROMPT, text)
