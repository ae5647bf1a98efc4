"""The engine protocol: any line gets one answer, and what is refused changes nothing."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bots.talking import asked, dialogue
from tests.rules.looks import looks_of
from thudmud.bots import LONGEST_LINE
from thudmud.bots.choice import MOST_TRAMPLES
from thudmud.rules import RULESETS, Game, read_ply

STATE = "rules\nposition\nmoves"
CLOSE = (
    "dG10,dJ10,dF11,dG11,dH11,dJ11,dK11,dG12,dJ12,dF13,dG13,dH13,dJ13,dK13,dG14,dJ14,TH12,RH8 troll"
)
"""Sixteen dwarfs between which a troll can go on in hundreds of thousands of ways."""


def test_it_begins_with_the_first_rules() -> None:
    assert asked("rules\nmoves") == ["rules discworld", "moves"]
    position = asked("position")[0]
    assert position
    assert position.startswith("position dF1,dG1,dJ1,dK1,")
    assert position.endswith(",TH9,TJ9,RH8 dwarf")


@pytest.mark.parametrize("name", RULESETS)
def test_it_lists_what_the_rules_grant(name: str) -> None:
    game = Game.start(RULESETS[name])
    listed = str(asked(f"rules {name}\nlegal")[1]).split()
    assert listed == ["legal", *map(str, game.legal_moves())]


@pytest.mark.parametrize("name", RULESETS)
def test_what_it_tells_can_be_told_to_it(name: str) -> None:
    engine = dialogue()
    asked(f"rules {name.replace(' ', '-')}", engine)
    for _ in range(12):
        ply = str(engine.answer("go 0.01")).removeprefix("go ")
        assert f" {ply}" in str(engine.answer("legal"))
        assert engine.answer(f"play {ply}") == f"play {ply}"
    position, moves = str(engine.answer("position")), str(engine.answer("moves"))
    other = dialogue()
    assert asked(f"rules {name}\n{moves}\nposition", other)[1:] == [moves, position]
    assert asked(f"{position}\nposition\nmoves", other) == [position, position, "moves"]


def test_undo_goes_back_to_the_position_that_was_set_up_and_no_further() -> None:
    engine = dialogue()
    before = asked(STATE, engine)
    assert asked("play dA6-B6\nplay TG7-F6\nundo\nundo", engine)[2:] == [
        "undo TG7-F6", "undo dA6-B6",
    ]  # fmt: skip
    assert asked("undo", engine) == ["error there is no ply to take back"]
    assert asked(STATE, engine) == before


def test_comments_and_blank_lines_get_no_answer() -> None:
    assert asked("\n   \n# a comment\n  #\t\nname") == [None] * 4 + ["name thudmud 0.1.0"]


def test_quit_ends_it_and_nothing_else_does() -> None:
    engine = dialogue()
    asked("name\nQUIT\nquit now\nexit", engine)
    assert not engine.ended
    assert engine.answer("quit") == "quit"
    assert engine.ended


WRONG = [
    "NAME",
    "name me",
    "rules chess",
    "rules " + "x" * 1000,
    "position setup",
    "position dA6,RH8",
    "position dA6,RH8 stone",
    "position dA6,RH8 dwarf troll",
    "position dA6 dwarf",
    "position dA6,dA6,RH8 dwarf",
    "position dI6,RH8 dwarf",
    "position dA1,RH8 dwarf",
    "position dA16,RH8 dwarf",
    "position dA6,RH9 dwarf",
    "position ,, dwarf",
    "position " + ",".join(f"T{column}8" for column in "ABCDEFGJK") + ",RH8 dwarf",
    "position " + "dA6," * 10_000 + " dwarf",
    "moves dA6-B6 dA6-B6",
    "moves dA6-B6 TG7",
    "legal A6",
    "play",
    "play dA6-B6 TG7-G6",
    "play dA6B6",
    "play TA6-B6",
    "play TG7-G6",
    "play dA6-A7",
    "play dA6-B6xC6",
    "play dA6-B9",
    "play dI6-B6",
    "play dA99999999999999999999-B6",
    "play dA6-B6" + "xB6" * 5000,
    "play \x1b[2J\x00",
    "play d\N{LATIN SMALL LETTER DOTLESS I}6-B6",
    "undo 2",
    "go fast",
    "go -1",
    "go 1e9",
    "go nan",
    "go 1 2",
    "go " + "9" * 5000,
    "x" * (LONGEST_LINE + 1),
    "\N{SNOWMAN}",
]


@pytest.mark.parametrize("line", WRONG, ids=lambda line: line[:40])
def test_what_is_wrong_gets_one_line_and_changes_nothing(line: str) -> None:
    engine = dialogue()
    asked("rules classic\nposition dA6,dB6,TD6,TD7,RH8 dwarf\nplay dA6-A8\nundo", engine)
    if not line.startswith("position"):
        asked("position start", engine)
    before = asked(STATE, engine)
    answer = str(engine.answer(line))
    assert answer.startswith("error ")
    assert answer.isascii()
    assert answer.isprintable()
    assert len(answer) < 400
    assert asked(STATE, engine) == before


@given(st.lists(st.text(max_size=60) | st.sampled_from(WRONG[:20]) | st.sampled_from(
    ["rules koom valley", "position start", "legal", "play dA6-B6", "undo", "go 0", "moves"]
), max_size=8))  # fmt: skip
def test_any_lines_get_one_answer_each(lines: list[str]) -> None:
    engine = dialogue()
    for line in lines:
        answer = engine.answer(line)
        is_silent = not line.split() or line.split()[0].startswith("#")
        assert (answer is None) is is_silent
        if answer is not None:
            assert answer.isascii()
            assert answer.isprintable()
            assert answer.split(" ")[0] in {"error", line.split()[0]}


def test_a_battle_that_is_over_has_nothing_to_play() -> None:
    lines = "rules koom valley\nposition dA6,TC6,RG1 troll\nlegal\ngo\nplay TC6-C7\nundo"
    assert asked(lines)[2:] == [
        "legal",
        "error the battle is over",
        "error the battle is over",
        "error there is no ply to take back",
    ]


def test_tramples_beyond_counting_are_listed_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, looks = dialogue(), looks_of(monkeypatch)
    assert asked(f"rules koom valley\nposition {CLOSE}", engine)[1] is not None
    words = str(engine.answer("legal")).split()
    assert 0 < len(looks) <= MOST_TRAMPLES + 1
    assert words[-1] == "..."
    tramples = [word for word in words if "x" in word]
    assert len(tramples) == MOST_TRAMPLES
    assert tramples == sorted(tramples, key=lambda ply: ply.count("x"))
    rules = RULESETS["koom valley"]
    position = Game.start(rules, engine._game.position).position
    assert all(read_ply(ply, rules, position).trample for ply in tramples)
    assert str(engine.answer("go 1")).startswith("go TH12-")


def test_thought_ends_when_its_time_has_come() -> None:
    ticks = count()
    engine = dialogue(lambda: float(next(ticks)))
    assert str(engine.answer("go 10")).startswith("go d")
    assert next(ticks) < 12
