"""The documentation of the engine: its examples, words and limits match the code."""

from __future__ import annotations

import re
import tomllib
from argparse import ArgumentParser
from pathlib import Path

import pytest

from tests.bots.talking import dialogue
from thudmud.bots import LONGEST_LINE
from thudmud.bots.dialogue import DEEPEST_COUNT
from thudmud.bots.opponent import LEAST_PATIENCE, QUIET, START_AFTER, TROLLS_AFTER
from thudmud.bots.program import STARTING
from thudmud.bots.referee import LENIENCE
from thudmud.bots.strength import BOUND
from thudmud.cli import match
from thudmud.english import rounded_duration
from thudmud.rules import RULESETS
from thudmud.rules.game import MOST_LISTED, MOST_TRAMPLES
from thudmud.server.config import BotSettings, validate_settings

PAGE = (Path(__file__).parents[2] / "docs" / "engine.md").read_text("utf-8")
ENGINE, BOT = PAGE.split("## A bot of your own")
EXAMPLES = re.findall(r"```\n(> .*?)```", ENGINE, re.DOTALL)
ASKED = re.findall(r"^\| `([a-z]+)", ENGINE, re.MULTILINE)
LISTS = re.findall(r"^    capabilities (.*)", ENGINE, re.MULTILINE)
COMMENTS = re.findall(r"^    (# depth .*)", ENGINE, re.MULTILINE)


def test_page_examples_match_the_answers() -> None:
    engine = dialogue()
    assert len(EXAMPLES) == 5
    assert all(f"rules {name}" in PAGE for name in RULESETS)
    for example in EXAMPLES:
        engine.answer("level off")
        engine.answer("rules discworld")
        for question, answer in re.findall(r"> (.*)\n< (.*)\n", example):
            assert engine.answer(question) == answer
        assert len(re.findall("^> ", example, re.MULTILINE)) * 2 == len(example.splitlines())


def test_page_introduction_matches_the_answers() -> None:
    lines = PAGE.split("    $ thudmud engine\n")[1].split("\n\n")[0].splitlines()
    engine = dialogue()
    assert [engine.answer(line.strip()) for line in lines[::2]] == [
        line.strip() for line in lines[1::2]
    ]


def test_page_times_match_the_code() -> None:
    assert rounded_duration(START_AFTER) == "60 seconds"
    assert f"{LEAST_PATIENCE:g} seconds at least" in BOT
    both = f"60 seconds (with the trolls, {START_AFTER + TROLLS_AFTER:g})"
    assert f"after {both}" in " ".join(BOT.split())


def test_match_settings_on_the_page_are_the_defaults_of_the_command() -> None:
    parser = ArgumentParser()
    match.declare(parser)
    asked = parser.parse_args(["thudmud", "thudmud"])
    page = " ".join(PAGE.split())
    assert (asked.random, LENIENCE) == (4, 0.5)
    assert "with four plies played by chance" in page
    assert "takes half a second longer" in page
    assert f"for {asked.quiet} plies (`--quiet`), or of {asked.plies} plies in all" in page
    assert f"leaves ±{BOUND:.2f}" in page


def test_page_lists_every_command_word() -> None:
    told = str(dialogue().answer("what")).split("expected one of ")[1]
    assert list(dict.fromkeys(ASKED)) == told.split(", ")
    assert all(f"`{name}`" in PAGE for name in RULESETS)


def test_page_capabilities_match_the_answer() -> None:
    told = str(dialogue().answer("capabilities")).split()[1:]
    [lists] = LISTS
    assert [each.split("=")[0] for each in told] == [each.split("=")[0] for each in lists.split()]
    assert told[0] == f"words={','.join(dict.fromkeys(ASKED))}"


def test_page_comment_format_matches_the_comments() -> None:
    told: list[str] = []
    engine = dialogue(tell=told.append)
    engine.answer("info on")
    engine.answer("go depth 2")
    form = re.compile(r"# depth [0-9]+ nodes [0-9]+ worth [+-][0-9]+\.[0-9]{2} line( [dTR][^ ]+)+")
    assert len(told) == 2
    assert all(map(form.fullmatch, [*COMMENTS, *told]))


def test_page_bot_dialogue_matches_the_answers() -> None:
    engine = dialogue()
    pairs = re.findall(r"> (.*)\n< (.*)\n", BOT)
    assert [asked.split()[0] for asked, _ in pairs] == ["name", "rules", "position", "go", "quit"]
    for asked, answer in pairs[1:]:
        assert engine.answer(asked) == answer


def test_page_bot_section_is_valid_configuration() -> None:
    [section] = re.findall(r"```toml\n(.*?)```", BOT, re.DOTALL)
    [bot] = validate_settings(tomllib.loads(section), "the page").bot
    assert bot == BotSettings(name="Grog", command=("python3", "grog.py"))
    assert re.findall(r"^\| `(\w+)`", BOT, re.MULTILINE) == list(BotSettings.model_fields)


@pytest.mark.parametrize(
    "words",
    [
        f"at most {LONGEST_LINE:,} characters",
        f"lists {MOST_LISTED:,} plies at most",
        f"tramples the {MOST_TRAMPLES} shortest",
        f"it has {STARTING:g} seconds for that answer",
        f"`N` plies can be played, {DEEPEST_COUNT} at most",
        f"nothing was captured for {QUIET} plies",
    ],
)
def test_page_limits_match_the_code(words: str) -> None:
    assert words in " ".join(PAGE.split())
