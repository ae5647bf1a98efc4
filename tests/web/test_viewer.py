"""The viewer in a real browser: as an npm package, in frames, and from the page's dialogs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.conftest import ROOT, Player, Served, Visit
from tests.web.test_page import violations
from thudmud.rules import RULESETS, Game, Piece, Record, Ruleset
from thudmud.version import VERSION
from thudmud.web.viewer import NAME, bundle

EXAMPLE = ROOT / "examples" / "viewer"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
POLICY = "default-src 'self'; object-src 'none'"
"""What a strict site lets its pages do."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of the example with the viewer packed by `npm pack`."""
    folder = tmp_path_factory.mktemp("viewer")
    files = {each.name: each.read_bytes() for each in EXAMPLE.iterdir() if each.name != NAME}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    how = os.environ | {"PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    how |= {"npm_config_offline": "true", "npm_config_update_notifier": "false"}
    packed = subprocess.run(
        ["npm", "pack", "--json"],  # noqa: S607
        cwd=folder, env=how, check=True, capture_output=True, text=True,
    )  # fmt: skip
    (told,) = json.loads(packed.stdout[packed.stdout.index("[") :])
    assert told["filename"] == f"thud-game-{VERSION}.tgz"
    with tarfile.open(folder / told["filename"]) as archive:
        names = {each.name.removeprefix("package/") for each in archive.getmembers()}
        assert names == {NAME, "package.json", "README.md"}
        file = archive.extractfile(f"package/{NAME}")
        assert file
        return files | {NAME: file.read()}


class Elsewhere:
    """A third-party site that serves these files."""

    def __init__(self, browser: Browser, files: dict[str, bytes]) -> None:
        self.context = browser.new_context()
        self.context.set_default_timeout(0)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._told)
        self.asked: set[str] = set()
        self.files = files
        site = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.removeprefix("/") or "index.html"
                site.asked.add(name)
                self.send_response(200 if name in site.files else 404)
                self.send_header("Content-Type", KINDS.get(Path(name).suffix, "text/plain"))
                if name == "index.html":
                    self.send_header("Content-Security-Policy", site.policy)
                self.end_headers()
                self.wfile.write(site.files.get(name, b""))

            def log_message(self, *_: object) -> None: ...

        self.policy = POLICY
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        Thread(target=self.server.serve_forever).start()

    def _told(self, line: Any) -> None:
        if line.type == "error":
            self.errors.append(line.text)

    def close(self) -> None:
        self.context.close()
        self.server.shutdown()
        self.server.server_close()

    def open(self, body: str = "") -> Page:
        """Open the example page, or a page with the given body; return it."""
        if body:
            script = f'<script type="module" src="{NAME}"></script>'
            html = f"<!doctype html><html lang=en><title>x</title>{script}<main>{body}</main>"
            self.files = self.files | {"index.html": html.encode()}
        self.page.goto(f"http://localhost:{self.server.server_port}/")
        return self.page


@pytest.fixture
def elsewhere(browser: Browser, package: dict[str, bytes]) -> Any:
    site = Elsewhere(browser, package)
    yield site
    site.close()
    assert site.errors == []


def shows(page: Any, square: str, what: str, nth: int = 0) -> None:
    """Wait until a square in a viewer has a label."""
    cell = page.locator("thud-game").nth(nth).locator(f"[data-square={square}]")
    expect(cell).to_have_attribute("aria-label", re.compile(rf"^{square}, {what}"))


def test_viewer_example_page(elsewhere: Elsewhere) -> None:
    page = elsewhere.open()
    first, second = page.locator("thud-game").nth(0), page.locator("thud-game").nth(1)
    shows(page, "J2", "troll")
    expect(first).to_contain_text("Discworld rules · 2026-11-26 · 44 moves")
    first.get_by_role("button", name="First").click()
    shows(page, "J2", "empty")
    first.get_by_role("button", name="move 8: ").click()
    expect(first).to_contain_text("Granite: Four at a blow")
    shows(page, "K3", "troll, last move")
    first.get_by_role("button", name="Next").focus()
    page.keyboard.press("ArrowRight")
    expect(first.get_by_role("status")).to_contain_text("Move 9: dwarf")
    page.keyboard.press("End")
    expect(first.locator(".ply[aria-current]")).to_contain_text(re.compile("."))
    shows(page, "H8", "Rock", 1)
    expect(second).to_have_css("color-scheme", "dark")
    box = [second.locator(f"[data-square={each}]").bounding_box() for each in ("H1", "H15")]
    high, low = (each["y"] for each in box if each)
    assert high > low
    second.get_by_role("button", name="Flip the board").click()
    expect(second).to_have_attribute("side", "south")
    assert set(elsewhere.asked) == {"index.html", "page.css", NAME, "game.thud"}


@pytest.mark.parametrize("rules", RULESETS.values(), ids=str)
def test_viewer_positions_match_the_rules(elsewhere: Elsewhere, rules: Ruleset) -> None:
    """Checks every ply of a game that prefers large captures."""
    game = Game.start(rules)
    for _ in range(30):
        game = game.play(max(game.legal_moves(), key=lambda move: (len(move.captures), str(move))))
    page = elsewhere.open(f"<thud-game ply=0>{Record(game)}</thud-game>")
    shows(page, "H8", "Thudstone" if rules.initial_position.stone else "Rock")
    read = "() => Object.fromEntries(document.querySelector('thud-game').view.position)"
    step = "ply => document.querySelector('thud-game').step(ply)"
    for ply in range(len(game.moves), -1, -1):
        page.evaluate(step, ply)
        position = game.after(ply).position
        assert page.evaluate(read) == {
            str(square): piece.name.lower() for piece in Piece for square in position.squares(piece)
        }


def test_viewer_reports_invalid_records(elsewhere: Elsewhere) -> None:
    hostile = "&lt;img src=x onerror=alert(1)&gt;"
    page = elsewhere.open(
        f'<thud-game>{hostile}</thud-game><thud-game record="nowhere.thud"></thud-game>'
        f'<thud-game>[Dwarf "{hostile}"]\ndF1,TG7,RH8\ndF1-F2\n; {hostile}: {hostile}</thud-game>'
        "<thud-game>dF1,RH8\nTG7-G8</thud-game>"
    )
    told = page.locator("thud-game")
    expect(told.nth(0)).to_contain_text("This battle cannot be shown: line 1: this is no setup.")
    expect(told.nth(1)).to_contain_text("This battle cannot be shown: there is no record of it.")
    expect(told.nth(2).locator(".name").nth(1)).to_have_text("<img src=x onerror=alert(1)>")
    expect(told.nth(2).locator(".comments")).to_contain_text("<img src=x")
    expect(told.nth(3)).to_contain_text("line 2: there is no such piece.")
    assert page.locator("thud-game img").count() == 0
    elsewhere.errors = [each for each in elsewhere.errors if "404" not in each]


def test_axe_finds_no_violations_in_the_viewer(elsewhere: Elsewhere) -> None:
    page = elsewhere.open()
    shows(page, "J2", "troll")
    assert violations(Player(page), "example") == []


def framed(site: Elsewhere, address: str) -> Any:
    """Open a third-party page with this address in a frame; return the frame."""
    site.policy = "frame-src *"
    return site.open(f'<iframe src="{address}" width="480" height="680"></iframe>').frame_locator(
        "iframe"
    )


def test_embedded_board_updates_on_a_foreign_page(
    visit: Visit, elsewhere: Elsewhere, served: Served
) -> None:
    anna = visit().come_in("Frieda").practises("alder")
    frame = framed(elsewhere, f"{served.address}/embed/board/alder?theme=dark")
    shows(frame, "A6", "dwarf")
    anna.click("A6", "B6").sees(B6="dwarf")
    shows(frame, "B6", "dwarf, last move")  # refreshed automatically
    frame.get_by_role("button", name="Previous move").click()
    shows(frame, "A6", "dwarf")
    anna.type("n15-n14")
    inner = elsewhere.page.frames[1]
    assert inner.evaluate("document.cookie + localStorage.length") == "0"
    assert elsewhere.context.cookies() == []
    link = frame.get_by_role("link", name="Open on its server")
    expect(link).to_have_attribute("href", "/board/alder#ply=0")


def test_pages_other_than_embeds_cannot_be_framed(
    visit: Visit, elsewhere: Elsewhere, served: Served
) -> None:
    anna = visit().come_in("Hedwig").practises("osier").click("A6", "B6").sees(B6="dwarf")
    anna.press("End").press("End", within="dialog")
    anna.page.get_by_role("link", name="Analyse").click()
    battle = re.findall(r"/game/\d+", anna.path)[0]
    for path in ("/", "/board/oak", battle):
        with elsewhere.context.expect_event("requestfailed") as failed:
            framed(elsewhere, served.address + path)
        assert failed.value.url == served.address + path
        (why,) = elsewhere.errors
        assert "frame-ancestors 'none'" in why
        elsewhere.errors.clear()


def test_battle_offers_picture_embed_and_link(visit: Visit, served: Served) -> None:
    anna = visit().come_in("Greta").practises("beech").click("A6", "B6").sees(B6="dwarf")
    anna.press("End").press("End", within="dialog")
    anna.page.get_by_role("link", name="Analyse").click()
    anna.sees(B6="dwarf").press("Share").press("Picture")
    dialog = anna.page.locator("dialog")
    expect(dialog.locator("img")).to_be_visible()
    links = [each.get_attribute("href") or "" for each in dialog.get_by_role("link").all()]
    assert [link.partition("?")[0].rpartition(".")[2] for link in links] == ["svg", "png", "gif"]
    for link in links:
        got = anna.page.request.get(served.address + link)
        assert (got.status, "image/" in got.headers["content-type"]) == (200, True)
    assert violations(anna, "pictures") == []
    anna.press("Close").press("Share").press("Embed")
    field = dialog.get_by_label("HTML")
    number = re.findall(r"/game/(\d+)", anna.path)[0]
    expect(field).to_have_value(
        re.compile(rf'^<iframe src="{served.address}/embed/game/{number}\?ply=1" title="Greta,')
    )
    assert violations(anna, "snippet") == []
    anna.press("Copy", within="dialog").press("Close")
    anna.press("Share").press("Copy the link")


def test_viewer_bundle_is_self_contained() -> None:
    text = bundle().decode()
    assert not re.findall(r"^(?:import|export)\b", text, re.MULTILINE)
    assert "customElements.define" in text
    assert len(text) < 60_000
    assert json.loads((EXAMPLE / "package.json").read_text("utf-8"))["version"] == VERSION
