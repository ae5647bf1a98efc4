"""A server, a real browser, and players on the page."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from types import TracebackType
from typing import Any, Protocol, Self

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Locator,
    Page,
    expect,
    sync_playwright,
)

from tests import leaks
from tests.ports import free_ports

ROOT = Path(__file__).parents[2]

PATIENCE = 300_000
"""Milliseconds until a test is sure that something does not come; shared machines stall."""

expect.set_options(timeout=PATIENCE)

PROGRAMS = "chromium-headless-shell", "chromium", "google-chrome"
"""Browsers, the best first: the headless shell needs half the resources per page."""

BOARDS = {
    "oak": "discworld",
    "elm": "classic",
    "yew": "koom valley",
    "pine": "discworld",
    "ash": "discworld",
    "fir": "discworld",
    "larch": "discworld",
    "rowan": "discworld",
    "maple": "discworld",
    "linden": "discworld",
    "birch": "discworld",
    "elder": "koom valley",
    "hazel": "discworld",
    "alder": "discworld",
    "beech": "discworld",
    "holly": "discworld",
    "aspen": "discworld",
    "cedar": "discworld",
    "spruce": "discworld",
    "willow": "discworld",
    "juniper": "discworld",
    "poplar": "discworld",
    "osier": "discworld",
}
BOARD = '[[board]]\nname = "{} board"\nrules = "{}"\n'

LIMITS = """
[server]
accepts_per_second = 100000
accepts_at_once = 100000

[players]
names_per_hour = 100000
chat_per_minute = 100000
chat_at_once = 10000
"""
"""All who visit come from one address, and a quick machine opens pages and plays without a rest."""


OPEN_LOG = """() => {
    const isChosen = /"talk":"chat"/.test(localStorage["thud.settings"]);
    const isClosed = document.querySelector("#tab-chat[aria-selected=true]") && !isChosen;
    if (isClosed) document.getElementById("tab-log").click();
}"""
"""Opens the log beside a board, where it is closed for those who only click."""


class Served:
    """A server process in its own folder, without bots, with a board for each test.

    Args:
        folder: the folder of its files.
        web: the port of the page.
        boards: the names and rules of the boards.
        more: additional configuration.

    Attributes:
        config: the path of the configuration file.
    """

    def __init__(self, folder: Path, web: int, boards: Mapping[str, str], more: str = "") -> None:
        self.config = folder / "config.toml"
        named = "".join(BOARD.format(name, rules) for name, rules in boards.items())
        self.config.write_text(f"bot = []\n{LIMITS}\n{more}\n{named}", "utf-8")
        self._web = web
        self.address = f"http://127.0.0.1:{web}"
        self.start()

    def start(self) -> None:
        """Start or restart the server, and wait until it is ready."""
        command = [sys.executable, "-m", "thudmud.cli.main", "serve", "--config", self.config]
        with leaks.shared():  # a server that a test restarts also outlives the test
            self._process = subprocess.Popen(
                [*map(str, command), "--port", "0", "--web-port", str(self._web)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._process.stdout
        assert "ready" in self._process.stdout.readline()

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        self._process.kill()
        self._process.communicate()

    def reset(self, member: str) -> str:
        """Reset a member's password; return the new one."""
        command = [sys.executable, "-m", "thudmud.cli.main", "user", "reset", "--generate"]
        run = [*command, member, "--config", str(self.config)]
        told = subprocess.run(run, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        return told.stdout.split()[-1]

    def import_record(self, file: Path, dwarf: str, troll: str) -> int:
        """Import a battle from a record; return its number."""
        command = [sys.executable, "-m", "thudmud.cli.main", "import", file, "--dwarf", dwarf]
        run = [*map(str, command), "--troll", troll, "--config", str(self.config)]
        told = subprocess.run(run, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        return int(told.stdout.splitlines()[0].split()[-1])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.communicate()


class Player:
    """A player on the page.

    Attributes:
        page: the browser page.
        errors: the errors on the browser's console.
        sent: the lines and packages that the page has sent.
        typed: the lines that were typed.
        loses_server: whether the server may go away, so that connection errors are expected.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.sent: list[str] = []
        self.typed: list[str] = []
        self.loses_server = False
        page.on("websocket", lambda socket: socket.on("framesent", self._note_sent))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console", lambda line: self.errors.append(line.text) if line.type == "error" else None
        )

    def _note_sent(self, frame: str | bytes) -> None:
        self.sent.append(frame.decode() if isinstance(frame, bytes) else frame)

    def come_in(self, name: str) -> Self:
        """Log in with a name."""
        self.page.get_by_label("Your name").fill(name)
        self.page.get_by_role("button", name="Play as guest").click()
        expect(self.page.locator("body")).to_have_attribute("data-view", "lobby")
        return self

    def type(self, *lines: str) -> Self:
        """Type lines into the command line, or into the chat if it was chosen."""
        self.page.evaluate(OPEN_LOG)
        for line in lines:
            self.page.locator("#line").fill(line)
            self.page.locator("#line").press("Enter")
            self.typed.append(line)
        return self

    def register(self, words: str = "correct horse") -> Self:
        """Register by the form, with a password."""
        self.type("register")
        dialog = self.page.locator("dialog")
        for label in ("Password", "Password again"):
            dialog.get_by_label(label, exact=True).fill(words)
        self.press("Register", within="dialog")
        expect(dialog).to_be_hidden()
        return self

    def square(self, name: str) -> Locator:
        """Return a square of the visible board."""
        return self.page.locator(f".board:visible [data-square='{name}']")

    def place(self, name: str) -> tuple[float, float, float]:
        """Return the coordinates of a square's centre on the screen, and its width."""
        self.square(name).scroll_into_view_if_needed()
        box = self.square(name).locator("rect").first.bounding_box()
        assert box
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["width"]

    def click(self, *names: str) -> Self:
        """Click the centres of squares."""
        for name in names:
            x, y, _ = self.place(name)
            self.page.mouse.click(x, y)
        return self

    def drag(self, origin: str, target: str) -> Self:
        """Drag a piece from one square to another."""
        mouse = self.page.mouse
        for name, act in ((origin, mouse.down), (target, mouse.up)):
            x, y, _ = self.place(name)
            mouse.move(x, y, steps=5)
            act()
        return self

    def by_keys(self, *names: str) -> Self:
        """Move to squares with the arrow keys, and press Enter on each."""
        first, *others = names
        self.square(first).focus()
        self.page.keyboard.press("Enter")
        at = first
        for name in others:
            expect(self.square(name)).to_have_attribute("aria-label", re.compile(", can "))
            right, down = ord(name[0]) - ord(at[0]), int(name[1:]) - int(at[1:])
            for key, times in (("ArrowRight", right), ("ArrowDown", down)):
                for _ in range(abs(times)):
                    opposite = {"ArrowRight": "ArrowLeft", "ArrowDown": "ArrowUp"}[key]
                    self.page.keyboard.press(key if times > 0 else opposite)
            self.page.keyboard.press("Enter")
            at = name
        return self

    @property
    def path(self) -> str:
        """The path and fragment of the page's address."""
        return "/" + self.page.url.split("/", 3)[3]

    def press(self, button: str, within: str = "body") -> Self:
        """Press a button by its label."""
        self.page.locator(within).get_by_role("button", name=button, exact=True).click()
        return self

    def sees(self, **pieces: str) -> Self:
        """Wait until squares have these labels."""
        for square, piece in pieces.items():
            said = re.compile(rf"{square}, {piece}\b")
            expect(self.square(square)).to_have_attribute("aria-label", said)
        return self

    def practises(self, board: str, *setup: str) -> Self:
        """Begin a practice battle on a board."""
        self.type(f"go to {board}", *setup, "practice").hears(f"You practise at the {board}")
        expect(self.page.locator("#game-facts")).to_contain_text("practice")
        return self

    def leaves(self) -> Self:
        """End a practice battle and leave its seats, which are free for others then.

        A line that is sent just before its page is closed may be lost.
        """
        self.page.evaluate("document.getElementById('tab-log').click()")  # not to say it
        return self.type("end game", "leave game").hears("You leave both seats")

    def hears(self, text: str) -> Self:
        """Wait until the log contains the given string, which is in no line that was typed."""
        assert not any(text in line for line in self.typed), "The log echoes what was typed."
        expect(self.page.locator("#log")).to_contain_text(text)
        return self

    def told(self) -> str:
        """Return what the page shows and has sent, for the report of a failure."""
        try:
            shown = self.page.locator("body").inner_text(timeout=1000)
            focus = self.page.evaluate("document.activeElement?.outerHTML.slice(0, 200)")
            log, chat = (self.page.locator(each).text_content() for each in ("#log", "#chat"))
        except Error as error:
            return str(error)
        parts = self.page.url, shown, f"Focus: {focus}", f"Log: {log}", f"Chat: {chat}"
        return "\n\n".join([*parts, "Sent:", *self.sent[-40:]])


class Visit(Protocol):
    """Open the page."""

    def __call__(self, path: str = "/", server: Served = ..., **options: Any) -> Player: ...


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a browser. Its own event loop runs meanwhile, so no coroutine can be tested."""
    program = next(filter(None, map(which, PROGRAMS)), None)
    if program is None:
        pytest.fail("The tests of the page need Chromium: `make clients` installs it.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def served_boards(folder: Path, boards: Mapping[str, str]) -> Iterator[Served]:
    """Run a server on a port of its own, with boards by name and ruleset."""
    with free_ports() as free_port, Served(folder, free_port(), boards) as server:
        yield server


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Run a server for a module, in which names and boards are used once: seats keep names."""
    with served_boards(tmp_path_factory.mktemp("web"), BOARDS) as server:
        yield server


PLAYERS = pytest.StashKey[list[Player]]()
"""The players of a test."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what the pages show to the report of a failure."""
    report = yield
    if report.failed and call.when == "call":
        players: list[Player] = item.stash.get(PLAYERS, [])
        for number, player in enumerate(players, 1):
            report.sections.append((f"Page {number}", player.told()))
    return report


@pytest.fixture
def visit(browser: Browser, served: Served, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Open the page in separate browser contexts; assert at the end that none had errors.

    There is no service worker, unless a test asks for one by ``service_workers="allow"``.
    """
    players = request.node.stash[PLAYERS] = []
    contexts: list[BrowserContext] = []

    def open_page(path: str = "/", server: Served = served, **options: Any) -> Player:
        context = browser.new_context(**{"service_workers": "block"} | options)
        context.set_default_timeout(PATIENCE)  # its error tells what an action waited for
        player = Player(context.new_page())
        players.append(player)
        contexts.append(context)
        player.page.goto(server.address + path)
        return player

    yield open_page
    for player, context in zip(players, contexts, strict=True):
        context.close()
        lost = "net::ERR_CONNECTION" if player.loses_server else "\0"
        assert [error for error in player.errors if lost not in error] == []
