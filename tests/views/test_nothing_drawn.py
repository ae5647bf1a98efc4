"""No text for a screen reader has a drawing in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cases import cases
from thudmud import BoardSpec, House, Terminal
from thudmud.cli import staging
from thudmud.rules import RULESETS
from thudmud.script import HouseStage, Seen, StageError
from thudmud.script.transcript import Act
from thudmud.views.boards import GridLayout, grid, signs
from thudmud.views.diagrams import describe_boards
from thudmud.views.help import PAGES
from thudmud.views.view import Display

CELLS = ".\u2219+" + "".join(
    sign for utf8 in (False, True) for sign in signs(Display(uses_utf8=utf8)).values()
)
DRAWN = re.compile(rf"(?:[{CELLS}] +){{3}}|[{CELLS}]{{5}}|A([ -]+)B\1C\1|ABCDE")
"""A row of a board, in any layout, or the letters of its columns."""

READER = Terminal(has_reader=True)
FOLDER = Path(__file__).parents[1]
TRANSCRIPTS = sorted(FOLDER.rglob("*.thud-script"))


def drawn_in(text: str) -> list[str]:
    return [line for line in text.split("\n") if DRAWN.search(line)]


@pytest.mark.parametrize("utf8", [False, True])
@pytest.mark.parametrize("layout", GridLayout)
def test_pattern_finds_boards_of_any_layout(layout: GridLayout, *, utf8: bool) -> None:
    rows = grid(RULESETS["discworld"].initial_position, None, Display(uses_utf8=utf8), layout)
    assert len(drawn_in("\n".join(rows))) >= 2  # at least the letters


@cases("topic", ["", "all", *PAGES])
def test_help_draws_nothing_for_a_screen_reader(topic: str) -> None:
    house = House([BoardSpec("oak board")])
    for width in (40, 80):
        house.enter("Anna", 0.0, Terminal(width, has_reader=True, supports_utf8=True))
        for line in (f"help {topic}", f"syntax {topic}"):
            [answer] = house.obey("Anna", line, 0.0)
            assert drawn_in(answer.text) == []
        house.depart("Anna", 0.0)


class ReaderStage(HouseStage):
    """A stage on which everybody has a screen reader, and cannot switch it off."""

    def enter(self, who: str) -> Seen:
        seen = super().enter(who)
        self._house.set_terminal(who, READER)
        return seen

    def type(self, who: str, line: str) -> Seen:
        if line.startswith("options reader"):
            return {}
        return super().type(who, line)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript_draws_nothing_for_screen_readers(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "HouseStage", ReaderStage)
    transcript = staging.read_transcript(path)
    acts = {Act.ENTER: "enter", Act.TYPE: "type", Act.VANISH: "vanish"}
    with staging.open_stages(path, transcript, staging.Setup()) as stages:
        [stage] = stages.values()
        for step in transcript.steps:
            if step.act not in acts or "${" in step.text:
                continue
            words = [step.text] if step.act is Act.TYPE else []
            try:
                seen = getattr(stage, acts[step.act])(step.who, *words)
            except StageError:
                continue  # what a wait would have changed
            if step.act is not Act.ENTER:
                lines = [line for told in seen.values() for line in told]
                assert [line for line in lines if drawn_in(line) and line[:5] != "@thud"] == []


def test_two_drawn_boards_are_described_as_before_and_after() -> None:
    drawing = ("       A B C      A B C", "    8  d . T   8  . . d", "    9  d X .   9  d X .")
    assert describe_boards(drawing) == [
        "Before: dwarfs at A8, A9; a troll at C8; the Thudstone at B9.",
        "After: dwarfs at C8, A9; the Thudstone at B9.",
    ]
    assert describe_boards(("    dA6-B6    a dwarf moves",)) == []


@cases("topic", PAGES)
def test_every_drawn_board_of_help_is_described(topic: str) -> None:
    for block in PAGES[topic].blocks:
        if DRAWN.search(block[0]):
            assert describe_boards(block), block
