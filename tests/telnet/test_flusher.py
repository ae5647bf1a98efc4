"""The end of a turn of the event loop: everybody has theirs, whatever goes wrong with another's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from thudmud.telnet.interface import Flusher


@dataclass(frozen=True)
class Later:
    """Somebody who does ``work`` when a turn ends."""

    work: Callable[[], None]

    def flush(self) -> None:
        self.work()


async def test_everything_is_done_once_at_the_end_of_the_turn() -> None:
    turn, done = Flusher(), list[str]()
    turn.at_end(Later(lambda: done.append("one")))
    turn.at_end(Later(lambda: done.append("another")))
    assert done == []
    await asyncio.sleep(0)
    assert done == ["one", "another"]
    await asyncio.sleep(0)
    assert done == ["one", "another"]


async def test_what_is_asked_for_at_the_end_of_a_turn_is_done_at_the_end_of_the_next() -> None:
    turn, done = Flusher(), list[str]()
    turn.at_end(Later(lambda: turn.at_end(Later(lambda: done.append("later")))))
    await asyncio.sleep(0)
    assert done == []
    await asyncio.sleep(0)
    assert done == ["later"]


async def test_what_fails_stops_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise ValueError("a mistake of ours")

    turn, done = Flusher(), list[str]()
    turn.at_end(Later(fail))
    turn.at_end(Later(lambda: done.append("done")))
    await asyncio.sleep(0)
    assert done == ["done"]
    [record] = caplog.records
    assert record.levelno == logging.ERROR


async def test_the_same_pieces_are_joined_once_in_a_turn() -> None:
    turn, told = Flusher(), list[bytes]()
    lines = b"a text for many\r\n"
    for _ in range(2):
        turn.at_end(Later(lambda: told.append(turn.joined([lines, b"> "]))))
    turn.at_end(Later(lambda: told.append(turn.joined([lines, b"? "]))))
    await asyncio.sleep(0)
    assert told == [b"a text for many\r\n> "] * 2 + [b"a text for many\r\n? "]
    assert told[0] is told[1]
    assert turn.joined([]) == b""
