"""Dragged windows and chatty programs don't delay typed lines."""

from __future__ import annotations

import asyncio

import pytest

from tests.fuzz.wire import Nowhere
from tests.server.plain import Serving
from tests.telnet.commands import (
    CHARSET,
    DO,
    GMCP,
    IAC,
    NAWS,
    TM,
    TTYPE,
    WILL,
    framed,
    naws,
)
from thudmud.accounts.limiters import TokenBucket
from thudmud.server.config import ServerSettings
from thudmud.server.inbox import FairScheduler, Inbox
from thudmud.telnet.intake import ReadPauser
from thudmud.telnet.interface import TerminalChanged
from thudmud.views import Terminal

DRAG = b"".join(naws(columns) for columns in range(40, 240))
"""A window that is dragged: each step reports a size."""


@pytest.mark.parametrize(
    "program",
    [
        DRAG,
        framed(GMCP, b'Thud.Terminal {"width": 60}') * 20,
        framed(GMCP, b'Core.Supports.Add ["Thud.Board 1"]') * 20,
        framed(GMCP, b"Core.Ping") * 20,
        IAC + DO + TM,
        framed(CHARSET, b"\x01;UTF-8") * 20,
        framed(TTYPE, b"\0XTERM") * 20,
    ],
    ids=["sizes", "terminals", "packages", "pings", "mark", "charsets", "types"],
)
async def test_negotiation_does_not_use_the_line_budget(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, program: bytes
) -> None:
    # Lines that take more than a millisecond are charged for it, which a busy machine might cause.
    monkeypatch.setattr(Inbox, "charge", lambda *_: None)
    setup = await serving(commands_per_second=100, commands_at_once=5)
    anna = await setup.connect("Anna")  # a line
    await anna.send(IAC + WILL + NAWS + IAC + DO + GMCP + IAC + WILL + CHARSET)
    await anna.fence()
    for _ in range(5):
        await anna.send(program)
        await anna.fence()
    for _ in range(4):
        await anna.send(b"look\n")
        await anna.until(b"echo look")
    assert setup.throttled == 0


async def test_queued_window_sizes_collapse_into_the_last(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = await serving(commands_per_second=1, queue_length=10)
    anna, fitted = await setup.connect("Anna"), list[int]()
    monkeypatch.setattr(
        setup.service, "set_terminal", lambda _name, terminal, **_: fitted.append(terminal.width)
    )
    await anna.send(b"look\n" + DRAG + b"look\n" + DRAG + naws(72))
    await anna.fence()
    assert fitted == [239, 72]


async def test_package_unsubscribe_and_resubscribe_are_both_handled() -> None:
    wanted, without = (
        TerminalChanged(Terminal(packages=frozenset({"thud"}))),
        TerminalChanged(Terminal()),
    )
    handled = list[object]()

    def handle(item: object) -> bool:
        handled.append(item)
        return True

    reading = ReadPauser(Nowhere())
    inbox = Inbox(
        reading,
        FairScheduler(),
        ServerSettings(),
        TokenBucket(1, 1),
        source="",
        handle=handle,
        is_busy=lambda: False,
    )
    inbox.put(
        [TerminalChanged(Terminal(width=60)), without, wanted, without, wanted, wanted, "look"]
    )
    while "look" not in handled:  # noqa: ASYNC110  (one turn of the loop, or more if one stalls)
        await asyncio.sleep(0)
    assert handled == [without, wanted, without, wanted, "look"]
