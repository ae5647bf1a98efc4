"""Naming rules of CONTRIBUTING.md that can be checked without false alarms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FUNCTION_WORDS = re.compile(
    r"test_(it|its|they|them|their|he|she|this|that|these|those|there|what|whatever|who|whom|whoever"
    r"|whose|which|where|wherever|when|whenever|how|why|nor|neither|not|no|nobody|nothing|none|some"
    r"|somebody|something|all|each|both|either|of|to|by|in|into|on|onto|at|for|from|with|without|as"
    r"|if|so|than|then|even|only|also|others?|one|behind|before|after|until|while|besides?|like|but"
    r"|or|and)(_|$)"
)
"""The beginning of a test's name that isn't the subject under test."""

PARTICIPLES = re.compile(
    r"_?(told|made|found|known|taken|given|asked|wanted|answered|published|shown|kept|held|gone|done"
    r"|said|heard|seen|meant|named|called|turned|drawn|joined|listed|granted|thrown|opened|closed"
    r"|ended|scored|followed|chosen|sent|spoken|counted|worded|fitted|concerned|concerning"
    r"|following|standing)"
)
"""Function names that lack the object, and say only that something has happened to it."""

LONGEST = 75
"""The maximum length of a test's name, so that it fits into one line of a summary."""


def functions(*folders: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the name of each function in the modules of some folders."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node.name


def test_test_names_begin_with_their_subject() -> None:
    names = [each for each in functions("tests") if each[1].startswith("test_")]
    assert len(names) > 1000
    assert [each for each in names if FUNCTION_WORDS.match(each[1])] == []
    assert [each for each in names if len(each[1]) > LONGEST] == []


def test_function_names_are_not_bare_participles() -> None:
    names = list(functions("thudmud", "pytest_thudmud", "benchmarks", "docs", "deploy"))
    assert len(names) > 1000
    assert [each for each in names if PARTICIPLES.fullmatch(each[1])] == []


@pytest.mark.parametrize("name", ["test_who_sleeps_is_thrown_out", "test_no", "test_of_a_board"])
def test_name_without_a_subject_is_detected(name: str) -> None:
    assert FUNCTION_WORDS.match(name)


@pytest.mark.parametrize("name", ["test_notes_are_sent", "test_allowed_players_join", "test_ban"])
def test_name_with_a_subject_is_accepted(name: str) -> None:
    assert not FUNCTION_WORDS.match(name)
