"""A bot on a running server, as somebody meets it who comes by telnet."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest

from tests.conftest import RunServer
from tests.server.plain import PATIENCE, Client
from tests.server.programs import is_alive, until

CONFIG = """
[storage]
backend = "memory"

[[board]]
name = "oak board"
style = "brief"

[[bot]]
name = "grog"
seconds = 30
"""


README = Path(__file__).parents[2] / "README.md"


@pytest.mark.slow
async def test_four_lines_on_a_fresh_server_are_a_battle(run_server: RunServer) -> None:
    """A name and what the README tells, all at once; nothing is configured."""
    (told,) = re.findall(r"Give a name, and type\n\n((?:    .*\n)+)", README.read_text("utf-8"))
    lines = ["Anna", *told.split("\n")[:-1]]
    assert len(lines) == 4
    with run_server([sys.executable, "-m", "thudmud.cli.main", "--port", "0"]) as address:
        async with asyncio.timeout(PATIENCE):
            anna = Client(*await asyncio.open_connection(*address))
        await anna.send("".join(f"{line.strip()}\r\n" for line in lines).encode())
        await anna.until(b"To play with the bot Grog, type")
        await anna.until(b"Grog sits down at the oak board to play the trolls.")
        await anna.until(b"The first battle of a match begins")
        await anna.until(b"It is your turn.")
        await anna.close()


@pytest.mark.slow
async def test_a_guest_plays_with_our_own_player(tmp_path: Path, run_server: RunServer) -> None:
    config = tmp_path / "config.toml"
    config.write_text(CONFIG, "utf-8")
    words = [
        sys.executable,
        "-m",
        "thudmud.cli.main",
        "serve",
        "--port",
        "0",
        "--config",
        config,
    ]
    with run_server(words) as address:
        async with asyncio.timeout(PATIENCE):
            anna = Client(*await asyncio.open_connection(*address))
        await anna.until(b"name? ")
        await anna.send(b"grog\r\n")
        await anna.until(b"Grog is a bot here, a program.")
        await anna.send(b"anna\r\njoin game as dwarf on oak board\r\ninvite gr\r\n")
        await anna.until(b"Grog sits down at the oak board")
        await anna.send(b"start\r\nmove from a6 to b6\r\n")
        await anna.until(b"Grog ")
        await anna.until(b"It is your turn.")
        processes = engines(tmp_path)
        assert processes
        await anna.close()
    await until(lambda: not any(map(is_alive, processes)))


def engines(folder: Path) -> list[int]:
    """Return the processes that play in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            where, words = (path.parent / "cwd").readlink(), path.read_bytes().split(b"\0")
        except OSError:
            continue
        if where == folder and b"engine" in words:
            found.append(int(path.parent.name))
    return found
