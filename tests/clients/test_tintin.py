"""TinTin++ settings described in `docs/clients.md`."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from tests.clients.conftest import Open
from tests.clients.kinds import TINTIN, Client
from tests.clients.looks import HEADING, come_in, until_told
from tests.clients.pictures import PAGE

SCRIPT = re.compile(r"```tintin\n(.*?)```\n", re.DOTALL)


def started(*options: str) -> Client:
    """Return TinTin++ with additional command-line options."""
    first, *rest = TINTIN.command
    return dataclasses.replace(TINTIN, command=(first, *options, *rest))


def test_documented_script_reacts_to_game_text(window: Open, tmp_path: Path) -> None:
    script = tmp_path / "thud.tin"
    found = SCRIPT.search(PAGE.read_text("utf-8"))
    assert found
    script.write_text(found[1], "utf-8")
    anna = window(started("-r", str(script)))
    come_in(anna, "scripted")
    anna.type("say hello")
    anna.until("*** Scripted: hello")
    anna.type("go to card table")
    anna.until("*** seats at the card table")


def test_screen_reader_gets_a_board_in_words(window: Open) -> None:
    anna = window(started("-s"))
    come_in(anna, "listening")
    until_told(anna, "reader: auto, which is on here")
    anna.type("look at card table")
    anna.until("Trolls")
    anna.until("\n> ")
    assert not [line for line in anna.lines if HEADING.match(line)]
