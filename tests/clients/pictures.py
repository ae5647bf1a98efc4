"""Text screenshots of real clients for `docs/clients.md` and the README.

`python -m tests.clients.pictures` retakes them and writes each into the code block below the
comment that names it. A picture is the screen of a window of 80 columns and 24 rows; only the
port and the time of day are replaced.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from tests.clients.conftest import ROOT, Served
from tests.clients.kinds import CLIENTS, Client
from tests.clients.window import Window
from tests.clients.wire import Wire

PAGE, README = ROOT / "docs" / "clients.md", ROOT / "README.md"
SCENES = ("door", "board")
PASSWORD = "swordfish"  # noqa: S105  (only for tests)

_PICTURE = re.compile(r"<!-- (\w+) (\w+) -->\n```text\n(.*?)```\n", re.DOTALL)
_CLOCK = re.compile(r"\d\d:\d\d$")


def taken(client: Client) -> Iterator[tuple[str, list[str]]]:
    """Play a short session as Anna; yield each scene with the rows of the screen."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = Served(folder, "oak board", "pine board")
        stack.callback(server.stop)
        _register(server)
        bert = stack.enter_context(closing(Wire(server.port)))
        anna = stack.enter_context(closing(Window(client.arguments(server.port), folder)))
        _come_in(anna)
        yield "door", _rows(anna, server.port)
        _play(anna, bert)
        yield "board", _rows(anna, server.port)


def kept(page: str) -> dict[tuple[str, str], list[str]]:
    """Return the pictures on the page by client and scene."""
    return {(name, scene): rows.splitlines() for name, scene, rows in _PICTURE.findall(page)}


def last_command(rows: list[str]) -> list[str]:
    """Return the part of a picture from the last typed command on, for the README."""
    first = max(number for number, row in enumerate(rows) if row.startswith("> "))
    return rows[first:]


def _register(server: Served) -> None:
    with closing(Wire(server.port)) as anna:
        for words, answer in (
            ("name? ", "Anna"),
            ("\n> ", "register"),
            ("New password: ", PASSWORD),
            ("And again: ", PASSWORD),
            ("is yours now", "quit"),
        ):
            anna.until(words)
            anna.type(answer)
        anna.until_closed()


def _come_in(anna: Window) -> None:
    anna.until("What is your name? ")
    anna.type("Anna")
    anna.until("Password: ")
    anna.type(PASSWORD)
    anna.until("You come into the hall.")
    anna.until("> ")


def _play(anna: Window, bert: Wire) -> None:
    bert.until("name? ")
    for player, line, answer in (
        (bert, "Bert", "You come into the hall."),
        (anna, "join game as dwarf on oak board", "You sit down"),
        (bert, "join game as troll on oak board", "You sit down"),
        (anna, "start", "You have the dwarfs."),
        (anna, "move f15 f8", "You move the dwarf from F15 to F8."),
    ):
        player.type(line)
        player.until(answer)
        player.until("> ")


def _rows(window: Window, port: str) -> list[str]:
    rows = [_CLOCK.sub("12:00", row).replace(port, "8483") for row in window.lines]
    first = next((number for number, row in enumerate(rows) if row), 0)
    return rows[first:]


def write() -> None:
    """Retake all pictures and write them into the page and the README."""
    pictures = {(client.name, scene): rows for client in CLIENTS for scene, rows in taken(client)}

    def block(match: re.Match[str]) -> str:
        rows = "".join(f"{row}\n" for row in pictures[match[1], match[2]])
        return f"<!-- {match[1]} {match[2]} -->\n```text\n{rows}```\n"

    PAGE.write_text(_PICTURE.sub(block, PAGE.read_text("utf-8")), "utf-8")
    for key, rows in pictures.items():
        pictures[key] = last_command(rows)
    README.write_text(_PICTURE.sub(block, README.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    write()
