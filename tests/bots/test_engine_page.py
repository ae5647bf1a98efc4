"""The page on the engine: its examples are what is answered, and it names every word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bots.talking import dialogue
from thudmud.bots import LONGEST_LINE
from thudmud.bots.choice import MOST_TRAMPLES
from thudmud.bots.dialogue import MOST_LISTED
from thudmud.engine import RULESETS

PAGE = (Path(__file__).parents[2] / "docs" / "engine.md").read_text("utf-8")
EXAMPLES = re.findall(r"```\n(> .*?)```", PAGE, re.DOTALL)
ASKED = re.findall(r"^\| `([a-z]+)", PAGE, re.MULTILINE)


def test_what_is_asked_is_answered_so() -> None:
    engine = dialogue()
    assert len(EXAMPLES) == 3
    for example in EXAMPLES:
        engine.answer("rules discworld")
        for question, answer in re.findall(r"> (.*)\n< (.*)\n", example):
            assert engine.answer(question) == answer
        assert len(re.findall("^> ", example, re.MULTILINE)) * 2 == len(example.splitlines())


def test_the_first_lines_are_so_too() -> None:
    lines = PAGE.split("    $ thudmud engine\n")[1].split("\n\n")[0].splitlines()
    engine = dialogue()
    assert [engine.answer(line.strip()) for line in lines[::2]] == [
        line.strip() for line in lines[1::2]
    ]


def test_every_word_is_on_the_page() -> None:
    told = str(dialogue().answer("what")).split("there are ")[1]
    assert list(dict.fromkeys(ASKED)) == told.split(", ")
    assert all(f"`{name}`" in PAGE for name in RULESETS)


@pytest.mark.parametrize(
    "words",
    [
        f"at most {LONGEST_LINE:,} characters",
        f"lists {MOST_LISTED:,} plies at most",
        f"tramples the {MOST_TRAMPLES} shortest",
    ],
)
def test_the_numbers_are_those_of_the_code(words: str) -> None:
    assert words in " ".join(PAGE.split())
