"""A real Evennia MUD: a match by telnet with a reload and a cold restart, the web client, and the
benchmark.

In the web client, text is coloured and the board is drawn in a panel.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from benchmarks.evennia import COMMANDS, SETTINGS, Extent, report
from benchmarks.load.busy import Pains
from tests.conftest import FreePort
from tests.evennia.mud import PAGE, PASSWORD, ROOT, Mud
from tests.evennia.players import MudStage, Player
from thudmud.game.options import Scheme
from thudmud.script import Transcript, perform
from thudmud.script.transcript import Act, Expectation, TranscriptStep
from thudmud.values import replace
from thudmud.views.help import PAGES
from thudmud.views.view import DEFAULT_WIDTH
from thudmud.views.words import wrap

MATCH = Path(__file__).parents[1] / "transcripts" / "discworld-match.thud-script"
SCRIPTS = ROOT / "docs" / "scripts.md"
RELOAD_AFTER = 12
"""The step before the reload, in the middle of the first battle."""

pytestmark = pytest.mark.slow


@pytest.fixture
def mud(evennia_bin: Path, tmp_path: Path, free_port: FreePort) -> Iterator[Mud]:
    mud = Mud(evennia_bin, tmp_path, free_port, SETTINGS)
    try:
        mud.start()
        yield mud
    finally:
        mud.stop()


def connected(mud: Mud, name: str) -> Player:
    return logged_in(mud.client(), name)


def newcomer(mud: Mud, name: str) -> Player:
    player = mud.client()
    player.type(f"create {name} {PASSWORD}")
    player.until(lambda line: "Is this what you intended?" in line)
    player.type("Y")
    player.until(lambda line: f"'{name}' was created" in line)
    return logged_in(player, name)


def logged_in(player: Player, name: str) -> Player:
    player.type(f"connect {name} {PASSWORD}")
    player.until(lambda line: f"You become {name}." in line)
    return player


def steps_of_the_match() -> list[TranscriptStep]:
    """Return the typing steps of the transcript with the output for both players.

    Joining output is left out, as it depends on the MUD; so is Carla, who only watches.
    """
    steps = []
    for step in Transcript.parse(MATCH.read_text("utf-8")).steps:
        if step.act is Act.TYPE:
            joins = step.text.startswith("join")
            seen = {} if joins else {who: step.expected.get(who, ()) for who in ("Anna", "Bert")}
            # Newcomers are not taught in a MUD, where the commands may differ.
            seen = {who: tuple(without_lessons(lines)) for who, lines in seen.items()}
            # With accounts the match is rated, unlike that of the guests in the transcript.
            seen = {who: tuple(rated(lines)) for who, lines in seen.items()}
            steps.append(replace(step, expected=seen))
    return steps


def without_lessons(lines: Iterable[Expectation]) -> Iterator[Expectation]:
    """Leave out what newcomers are told about the aims, moving and missed captures."""
    is_lesson = False
    for line in lines:
        begins = line.text.startswith(("Dwarfs and trolls hunt", "Your move to"))
        is_lesson = is_lesson or begins
        if not is_lesson:
            yield line
        elif line.text.startswith("Move by typing") or line.text.endswith("move back."):
            is_lesson = False


def rated(lines: Iterable[Expectation]) -> Iterator[Expectation]:
    """Convert the lines of a casual match to those of a rated one, ratings left out."""
    lines = iter(lines)
    for line in lines:
        before, no_rating, _ = line.text.partition("No rating")
        if no_rating:
            yield Expectation("~", f"{before}*")
            yield Expectation("...")
            return
        if "casual" in line.text:  # the shorter word may move the line break
            text = f"{line.text} {next(lines).text}".replace("casual", "rated")
            yield from (replace(line, text=each) for each in wrap(text, DEFAULT_WIDTH))
            continue
        text = re.sub(r"(Battle [12] of 2, \d+ moves?)$", r"\1, rated", line.text)
        yield replace(line, text=text)


def page_block(kind: str) -> str:
    (block,) = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return str(block)


def played(steps: Sequence[TranscriptStep], stage: MudStage) -> None:
    mismatches, _ = perform(Transcript(tuple(steps)), stage)
    assert not mismatches, "\n".join(map(str, mismatches))


def test_match_is_played_by_browser_and_telnet(
    mud: Mud, evennia_bin: Path, web_page: Page, tmp_path: Path
) -> None:
    """A single test, as creating and starting a MUD takes a minute."""
    if evennia_bin == COMMANDS:  # the benchmark is of one version
        the_benchmark_measures_it(mud)
    boards_are_seen_in_colours_and_drawn_in_a_panel(mud, web_page)
    a_match_is_played(mud, tmp_path)


def the_benchmark_measures_it(mud: Mud) -> None:
    rows = list(report(Extent(Pains(1, 0.1), players=2, pace=20), mud))
    assert [row.title for row in rows[::3]] == [
        "look, 2 at one room", "say, 2 at one room", "look, 2 at one board", "say, 2 at one board",
    ]  # fmt: skip
    assert all(row.measured > 0 < row.yardstick for row in rows)
    anna = connected(mud, "Anna")
    anna.type("destroy/force oak board")
    anna.until(lambda line: "is taken away" in line)
    anna.type("quit")
    anna.until(lambda line: "Quitting" in line)


def a_match_is_played(mud: Mud, tmp_path: Path) -> None:
    anna, bert = connected(mud, "Anna"), newcomer(mud, "Bert")
    stage = MudStage({"Anna": anna, "Bert": bert})
    stage.type("Bert", "look")
    played(Transcript.parse(page_block("thud-script")).steps, stage)
    gone = stage.type("Anna", "destroy/force oak board")
    assert all(any("is taken away" in line for line in gone[name]) for name in ("Anna", "Bert"))
    for name in ("oak board", "pine board"):
        stage.type("Anna", f"create/drop {name}:thudmud.evennia.ThudBoard")
    assert "Which board?" in stage.type("Bert", "start game")["Bert"][0]
    assert "Client settings" in " ".join(stage.type("Bert", "option")["Bert"])
    for name in ("Anna", "Bert"):
        stage.type(name, "set board brief on pine board")

    steps = steps_of_the_match()
    played(steps[:RELOAD_AFTER], stage)
    anna.type("reload")
    for player in (anna, bert):
        player.until(lambda line: "Server restarted." in line)
    played(steps[RELOAD_AFTER:], stage)

    board = stage.type("Bert", "look pine board")["Bert"]
    assert any("A B C D E-F-G-H-I-J-K L M N O" in line for line in board)
    plies = [step for step in steps if step.text.startswith(("move", "hurl", "shove"))]
    assert "rules: " + PAGES["rules"].title in stage.type("Bert", "help thud rules")["Bert"]
    for player in (anna, bert):
        told = [fact["board"] for package, fact in player.data if package == "Thud.Move"]
        assert told.count("pine board") == len(plies)
        assert [package for package, _ in player.data].count("Thud.End") == 2

    mud.stop()
    mud.start()
    anna, bert = connected(mud, "Anna"), connected(mud, "Bert")
    stage = MudStage({"Anna": anna, "Bert": bert})
    assert any(
        "You move the dwarf from F15 to F8." in line
        for line in stage.type("Bert", "move from F15 to F8 on pine board")["Bert"]
    )
    assert any("Bert moves the dwarf" in line for line in stage.type("Anna", "last move")["Anna"])
    one_plays_alone(stage, bert)
    a_transcript_is_played_as_the_page_on_them_has_it(mud, tmp_path)
    assert "Traceback" not in mud.log(), mud.log()


def one_plays_alone(stage: MudStage, bert: Player) -> None:
    for name in ("thud", "bots", "play"):
        assert "not available" not in " ".join(stage.type("Bert", name)["Bert"])
    stage.type("Bert", "join game as dwarf on oak board")
    assert any(
        "Grog sits down" in line for line in stage.type("Bert", "invite grog on oak")["Bert"]
    )
    stage.type("Bert", "start game on oak board")
    bert.type("move a6 b6 on oak board")
    bert.until(lambda line: line.startswith("Grog moves the troll"))
    bert.type("move b6 a6 on oak board")
    bert.until(lambda line: "You move the dwarf from B6 to A6." in line)
    bert.until(lambda line: line.startswith(("Grog moves", "Grog shoves")))  # not amid what follows
    bert.type("view game on oak board")
    bert.until(lambda line: "Turn: " in line)


def a_transcript_is_played_as_the_page_on_them_has_it(mud: Mud, tmp_path: Path) -> None:
    section = SCRIPTS.read_text("utf-8").split("## Other MUDs")[1].split("\n## ")[0]
    (command,) = re.findall(r"^    thudmud (.*)$", section, re.MULTILINE)
    names = [word for word in command.split() if word.endswith((".login", ".thud-script"))]
    texts = re.findall(r"```text\n(.*?)```", section, re.DOTALL)
    assert PASSWORD in section
    for name, text in zip(sorted(names), texts, strict=True):
        (tmp_path / name).write_text(text, "utf-8")
    words = command.replace("4000", str(mud.port)).split()
    done = subprocess.run(
        [sys.executable, "-m", "thudmud.cli.main", *words],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    told = "1 transcript, 1 step compared: all as expected\n"
    assert (done.stdout, done.stderr) == (told, "")


class Client:
    """Anna at the web client."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        page.goto(address)
        self.text = page.locator("#messagewindow")
        expect(self.text).to_contain_text("connect <username> <password>")
        self.type(f"connect Anna {PASSWORD}", "You become Anna.")

    def type(self, line: str, answer: str) -> None:
        """Type a line and wait for the expected output."""
        self.page.locator(".inputfield").fill(line)
        self.page.locator(".inputfield").press("Enter")
        expect(self.text).to_contain_text(answer)

    @property
    def panel(self) -> FrameLocator:
        return self.page.frame_locator("iframe[title='Thud board']")

    def shown(self, square: str, piece: str) -> None:
        """Wait until a piece is drawn on a square."""
        cell = self.panel.locator(f"[data-square='{square}']")
        expect(cell).to_have_attribute("aria-label", re.compile(rf"{square}, {piece}\b"))


def boards_are_seen_in_colours_and_drawn_in_a_panel(mud: Mud, web_page: Page) -> None:
    anna = Client(web_page, mud.address)
    expect(web_page.locator("iframe")).to_have_count(0)
    anna.type("create/drop oak board:thudmud.evennia.ThudBoard", "You create a new ThudBoard")
    anna.type("practice on oak board", "You practise at the oak board")
    seen = set()
    for scheme in Scheme:
        anna.type(f"options colour scheme {scheme.value}", "Boards now use")
        anna.text.evaluate("element => element.replaceChildren()")
        anna.type("view game", "It is your turn")
        seen.add(anna.text.inner_text())
        colours = anna.text.locator("span").evaluate_all(
            "all => new Set(all.map(each => getComputedStyle(each).color)).size"
        )
        assert colours > 2, scheme
    (text,) = seen  # colour codes take no width
    assert "\x1b" not in text

    anna.shown("A6", "dwarf")
    for square in ("A6", "H9"):
        anna.panel.locator(f"[data-square='{square}']").click(force=True)
    refusal = "A6 can\N{RIGHT SINGLE QUOTATION MARK}t go to H9, and is put back."
    expect(anna.panel.locator("#status")).to_have_text(refusal)
    for square in ("A6", "B7"):
        anna.panel.locator(f"[data-square='{square}']").click(force=True)
    expect(anna.text).to_contain_text("You move the dwarf from A6 to B7.")
    anna.shown("B7", "dwarf")
    expect(anna.panel.locator("#above")).to_contain_text("to move")
    expect(anna.text).not_to_contain_text("Unhandled event")
    beside_a_panel_lines_are_wrapped_once(anna)

    web_page.reload()  # the client keeps the layout and requests the data again
    anna.shown("B7", "dwarf")
    anna.type("destroy/force oak board", "The oak board is taken away")
    assert "Traceback" not in mud.log(), mud.log()


def beside_a_panel_lines_are_wrapped_once(anna: Client) -> None:
    width = anna.text.evaluate("text => text.clientWidth")
    anna.page.set_viewport_size({"width": 1000, "height": 900})
    anna.page.wait_for_function(
        f"() => document.getElementById('messagewindow').clientWidth < {width}"
    )
    frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    anna.page.evaluate(f"() => {frames}")  # by then the size has been measured and reported
    anna.text.evaluate("element => element.replaceChildren()")
    anna.type("thud help thud", "See also: ")
    page = anna.text.inner_text()
    assert "The 32 dwarfs, \u2206, stand" in " ".join(page.split())
    assert 40 < max(map(len, page.splitlines())) < 78
    rows = anna.text.evaluate(
        """text => {
            const range = document.createRange();
            range.selectNodeContents(text);
            return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
        }"""
    )
    assert rows <= len(page.splitlines())
