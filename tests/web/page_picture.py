"""Draws docs/page.png, the picture of the page in README.md, by playing a few moves in a browser.

``python -m tests.web.page_picture`` writes it. It needs Chromium, which ``make clients`` installs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, expect, sync_playwright

from tests.web.conftest import PROGRAMS, ROOT, Player, Served, served_boards

FILE = ROOT / "docs" / "page.png"

SIZE = 1100, 720
"""Width and height in pixels."""

COLOURS = 192
"""Colours of the palette, which makes the file less than half as large."""

MOVES = (
    ("f15-f8", "F8", "g7-f7", "F7"),
    ("f8xg8", "G8", "f7-e6", "E6"),
    ("n11-n6", "N6", "i8-j9", "J9"),
)
"""Commands of the dwarfs and the trolls, each with where the piece is then."""


def draw(browser: Browser, served: Served) -> bytes:
    """Return the picture as a PNG file, of a battle at the oak board of a server."""
    anna, bert = (_visitor(browser, served, name) for name in ("Anna", "Bert"))
    anna.type("match bert 10+5 as dwarf casual")
    bert.press("Accept", within="#challenges")
    for player in (anna, bert):
        expect(player.page.locator("#strip-bottom .clock")).to_be_visible()
    for dwarfs, dwarf, trolls, troll in MOVES:
        anna.type(dwarfs)
        bert.sees(**{dwarf: "dwarf"}).type(trolls)
        anna.sees(**{troll: "troll"})
    anna.page.get_by_role("tab", name="Chat").click()
    bert.type("say You will regret that.")
    expect(anna.page.locator("#chat")).to_contain_text("regret")
    anna.click("J1").sees(J8="empty, can go here")
    picture = anna.page.screenshot()
    for player in (anna, bert):
        player.page.context.close()
    return _with_palette(picture)


@contextmanager
def _board() -> Iterator[Served]:
    """Run a server with one board."""
    with TemporaryDirectory() as folder, served_boards(Path(folder), {"oak": "discworld"}) as one:
        yield one


def _visitor(browser: Browser, served: Served, name: str) -> Player:
    width, height = SIZE
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="light",
        reduced_motion="reduce",
        service_workers="block",
    )
    player = Player(context.new_page())
    player.page.goto(served.address)
    return player.come_in(name)


def _with_palette(picture: bytes) -> bytes:
    """Return a PNG file with a palette, which shows the same."""
    written = BytesIO()
    image = Image.open(BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return written.getvalue()


def main() -> None:
    """Draw the picture anew."""
    program = next(filter(None, map(which, PROGRAMS)))
    with _board() as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        FILE.write_bytes(draw(browser, served))
        browser.close()


if __name__ == "__main__":
    main()
