"""A whole match on a real MUD of Evennia's: two people at telnet, a reload, and a cold restart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import FreePort
from tests.evennia.mud import PAGE, PASSWORD, Mud
from tests.evennia.players import MudStage, Player
from thudmud.script import Transcript, perform
from thudmud.script.transcript import Act, Expectation, TranscriptStep
from thudmud.views.help import PAGES

MATCH = Path(__file__).parents[1] / "transcripts" / "discworld-match.thud-script"
RELOAD_AFTER = 12
"""Steps: in the middle of the first battle."""

pytestmark = pytest.mark.slow


@pytest.fixture
def mud(evennia_bin: Path, tmp_path: Path, free_port: FreePort) -> Iterator[Mud]:
    mud = Mud(evennia_bin, tmp_path, free_port)
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
    """Return what is typed in the transcript, with what those who play see.

    How people come to a board is the MUD's own affair; Carla, who has no part in it, is not there.
    """
    steps = []
    for step in Transcript.parse(MATCH.read_text("utf-8")).steps:
        if step.act is Act.TYPE:
            joins = step.text.startswith("join")
            seen = {} if joins else {who: step.expected.get(who, ()) for who in ("Anna", "Bert")}
            if any("the match by" in line.text for lines in seen.values() for line in lines):
                # Both have accounts, so they are told of their ratings, too.
                seen = {who: (*lines[:-1], Expectation("...")) for who, lines in seen.items()}
            steps.append(replace(step, expected=seen))
    return steps


def page_block(kind: str) -> str:
    (block,) = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return str(block)


def played(steps: Sequence[TranscriptStep], stage: MudStage) -> None:
    mismatches, _ = perform(Transcript(tuple(steps)), stage)
    assert not mismatches, "\n".join(map(str, mismatches))


def test_a_match_is_played(mud: Mud) -> None:
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
    assert "Traceback" not in mud.log(), mud.log()
