"""Every sequence of two or three bytes that begins with IAC, before and after login.

All 256 + 65,536 sequences are sent to a server process twice: before login and as a player. Each
connection gets those with the same second byte, and must still work afterwards. Others play
meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fuzz.stage import Stage, open_stage
from tests.server.plain import Client

pytestmark = pytest.mark.slow

IAC = b"\xff"
WILL, WONT, DO, DONT = range(0xFB, 0xFF)
END = b"\xff\xf0\xff\xf0"
"""Ends an open sub-negotiation, even after a stray IAC; otherwise without effect."""

MARKS = b"\xff\xef\xf9"
"""The bytes of EOR and GA: either may end a prompt, depending on the negotiated options."""

UNCAPPED = {"commands_at_once": 1_000_000, "commands_per_second": 100_000}
"""The sequences contain more lines and queries than a client may normally send at once."""


def sequences(second: int) -> bytes:
    """Return all sequences with the given second byte, the two-byte one first."""
    alone = IAC + bytes([second]) + END
    return alone + b"".join(IAC + bytes([second, third]) + END for third in range(256))


async def throw(stage: Stage, client: Client, second: int, asked: bytes) -> None:
    """Send the sequences and check that the client is then prompted with ``asked``."""
    await client.fence()
    await client.send(sequences(second))
    if second == DO:
        await client.until(b"\xff\xfb\x06")  # one of the sequences is the request of a fence
    await client.fence()
    await client.send(b"\r\n")
    await client.fence()
    await client.send(b"!!\r\n")
    told = await client.fence()
    assert told.rstrip(MARKS).endswith(asked), (second, told)


@pytest.mark.parametrize(
    ("changes", "seconds"),
    [(1_000_000, range(256)), (100, (WILL, WONT, DO, DONT))],
    ids=["every one", "of options, capped"],
)
async def test_iac_sequences_leave_connections_usable(
    tmp_path: Path, changes: int, seconds: Sequence[int]
) -> None:
    async with open_stage(tmp_path, server={**UNCAPPED, "option_changes": changes}) as stage:
        for second in seconds:
            client = await stage.connect()
            await client.until(b"name? ")
            await throw(stage, client, second, b"What is your name? ")
            await client.login(next(stage.names))
            await throw(stage, client, second, b"> ")
            await client.send(b"who\r\n")
            assert b"Anna plays the dwarfs at the oak board" in await client.fence()
            await client.send(b"quit\r\n")
            assert b"Goodbye" in await client.rest()
            await client.close()
            if second % 16 in {0, DO % 16}:
                await stage.play()
        await stage.all_others_gone()
        assert [line for line in stage.log if "level=info" not in line] == []
