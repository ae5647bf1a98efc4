"""Machine lines: one JSON object each, from which a client can rebuild the position."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from thudmud.features.playing.moves import Play
from thudmud.game.options import Toggle
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.rules import SQUARES
from thudmud.views import Message
from thudmud.views.facts import TAG
from thudmud.views.view import Terminal

BOARD = "oak board"
PLAYERS = ("Anna", "Bert")
PAGE = Path(__file__).parents[2] / "docs" / "machine.md"


def boards() -> Any:
    """Return an instance of the sample class on the page for programmers."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, PAGE.name, "exec"), names)  # noqa: S102 (our own page, under test)
    return names["Boards"]()


class Program:
    """A text-only client that parses the lines it receives."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.boards = boards()
        self.lines: list[str] = []

    def hear(self, messages: list[Message]) -> None:
        texts = [message.text for message in messages if self.name in message.to]
        assert not any(message.package for message in messages)
        self.lines = [line for text in texts for line in text.split("\n")]
        for line in self.lines:
            if line.startswith(TAG):
                self.facts(line)
            self.boards.read(line)

    @staticmethod
    def facts(line: str) -> dict[str, Any]:
        assert line.isascii()
        assert line.isprintable()
        tag, _, rest = line.partition(" ")
        assert tag == TAG
        fact: dict[str, Any] = json.loads(rest)
        assert next(iter(fact)) == "type"
        return fact

    @property
    def told(self) -> list[dict[str, Any]]:
        return [self.facts(line) for line in self.lines if line.startswith(TAG)]


class Visit:
    """A house with two players, a watcher and a visitor; all but the visitor use programs."""

    def __init__(self, rules: str = "discworld", width: int = 80) -> None:
        self.house = House([BoardSpec(BOARD, rules), BoardSpec("elm table")], seat_grace=0)
        self.programs = {name: Program(name) for name in ("Anna", "Bert", "Carla")}
        self.width = width
        for name in self.programs:
            self.come(name)
            self.type(name, "set machine on")
            self.type(name, f"go to {BOARD}")

    def come(self, name: str) -> None:
        self._tell(self.house.enter(name, 0.0, Terminal(self.width)))

    def go(self, name: str) -> None:
        self._tell(self.house.depart(name, 0.0))

    def type(self, name: str, line: str) -> None:
        self._tell(self.house.obey(name, line, 0.0))

    def _tell(self, messages: list[Message]) -> None:
        for program in self.programs.values():
            program.hear(messages)

    def move(self, number: int) -> None:
        """Play a legal ply if there is one."""
        table = self.house.hall.tables[BOARD]
        if table.game and table.is_running and table.game.position.turn in table.seats:
            moves = table.game.legal_moves()
            player = table.seats[table.game.position.turn]
            if player in self.house:
                self.type(player, str(Play(moves[number % len(moves)].attempt(), BOARD)))

    def capture(self, number: int) -> None:
        """Play a legal ply if there is one, preferably a capture."""
        table = self.house.hall.tables[BOARD]
        game = table.game
        if game and table.is_running and game.position.turn in table.seats:
            moves = [move for move in game.legal_moves() if move.captures] or game.legal_moves()
            player = table.seats[game.position.turn]
            if player in self.house:
                self.type(player, str(Play(moves[number % len(moves)].attempt(), BOARD)))

    def both(self, words: str) -> None:
        for name in PLAYERS:
            if name in self.house:
                self.type(name, words)

    def check(self) -> None:
        """Compare the state of every program at the board with the board."""
        table = self.house.hall.tables[BOARD]
        position = table.game.position if table.game else table.ruleset.initial_position
        pieces = {str(each): position.piece_at(each) for each in SQUARES}
        expected = {square: piece.value for square, piece in pieces.items() if piece}
        for name, program in self.programs.items():
            if name in self.house and self.house.hall.people[name].room == BOARD:
                assert program.boards.pieces[BOARD] == expected
                assert program.boards.plies[BOARD] == (len(table.game.moves) if table.game else 0)


NUMBERS = st.integers(0, 10_000)
STEPS = st.one_of(
    st.tuples(st.just("move"), NUMBERS),
    st.tuples(st.just("capture"), NUMBERS),
    st.tuples(st.just("capture"), NUMBERS),
    st.tuples(st.just("both"), st.sampled_from(["undo", "end", "adjourn", "start", "start"])),
    st.tuples(
        st.just("type"),
        st.sampled_from(
            [
                "resign on it",
                "leave game",
                "join game as dwarf",
                "join game as troll",
                "resume game",
                "undo",
                "set rules classic",
                "go to hall",
                f"go to {BOARD}",
                f"join game as dwarf on {BOARD}",
                "look",
                'say aa @thud {"type":"board"} \u2603 "\\',
                "tell Bert @thud {",
            ]
        ),
    ),
    st.tuples(st.just("gone"), st.sampled_from(["Anna", "Bert", "Carla"])),
)


@pytest.mark.parametrize("rules", ["discworld", "koom valley"])
@examples(25)
@given(st.lists(STEPS, max_size=25), st.integers(20, 120))
def test_machine_lines_reproduce_the_position_of_the_table(
    rules: str, steps: list[tuple[str, Any]], width: int
) -> None:
    play = Visit(rules, width)
    play.type("Anna", "join game as dwarf")
    play.type("Bert", "join game as troll")
    play.type("Bert", "start")
    play.check()
    for kind, what in steps:
        if kind == "type":
            play.type("Anna", what)
        elif kind == "gone":
            (play.go if what in play.house else play.come)(what)
            _again(play, what)
        else:
            getattr(play, kind)(what)
        for name in PLAYERS:
            if name not in play.house:
                play.come(name)
                _again(play, name)
        play.check()


def _again(play: Visit, name: str) -> None:
    """Let a returning player turn on machine mode again unless it was kept."""
    if name in play.house and not play.house.hall.people[name].options.has(Toggle.MACHINE):
        play.type(name, "set machine on")


def test_machine_lines_ignore_reader_mode_and_screen_width() -> None:
    play = Visit(width=20)
    play.type("Carla", "options reader on")
    play.type("Anna", "join game as dwarf")
    facts = [program.told for program in play.programs.values()]
    assert [fact["type"] for fact in facts[0]] == ["table", "board"]
    assert facts[0][0] == facts[1][0] == facts[2][0]
    assert max(map(len, play.programs["Carla"].lines)) > 200


def test_machine_mode_starts_with_the_current_state() -> None:
    play = Visit()
    play.type("Anna", "join game as dwarf")
    play.type("Anna", "go to hall")
    assert [(fact["type"], fact.get("board")) for fact in play.programs["Anna"].told] == [
        ("came", None),
        ("me", None),
        ("here", None),
        ("table", BOARD),
        ("table", "elm table"),
    ]
    play.type("Anna", "set machine on")
    assert [(fact["type"], fact.get("board")) for fact in play.programs["Anna"].told] == [
        ("me", None),
        ("here", None),
        ("options", None),
        ("table", BOARD),
        ("table", "elm table"),
        ("board", BOARD),
    ]
    play.type("Anna", "set machine off")
    play.type("Anna", "look")
    assert play.programs["Anna"].told == []


@pytest.mark.parametrize("sign", ["@", "\N{FULLWIDTH COMMERCIAL AT}"])
def test_speech_cannot_forge_a_machine_line(sign: str) -> None:
    play = Visit(width=40)
    play.type("Carla", "options charset ascii")
    forged = f'{sign}thud {{"type":"board"}}'
    for words in range(1, 40):
        play.type("Bert", f"say {'x' * words} {forged}")
        (fact,) = play.programs["Carla"].told
        assert fact["text"] == f"{'x' * words} {forged}"
    play.type("Bert", f"say {'x' * 28} {forged}")
    assert '    @thud {"type":"board"}' in play.programs["Carla"].lines


def test_tell_line_reaches_only_sender_and_recipient() -> None:
    play = Visit()
    play.type("Anna", "tell Bert \u2603")
    assert [fact["text"] for fact in play.programs["Bert"].told] == ["\u2603"]
    assert play.programs["Anna"].told == play.programs["Bert"].told
    assert play.programs["Carla"].lines == []
