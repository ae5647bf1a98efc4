"""The grammar itself: one copy, no conflicts, and the same words as the rules."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import lark
import pytest

from thudmud.commands import KEYWORDS, ParseError, SetRules, language, parse
from thudmud.engine import RULESETS

CHECKOUT = Path(__file__).parents[2]
GRAMMAR = (CHECKOUT / "grammar" / "thud.lark").read_text(encoding="utf-8")
BUILT = {".venv", ".git", "build", "dist"}


def test_there_is_one_copy_and_it_is_the_one_read() -> None:
    copies = [
        path
        for path in CHECKOUT.rglob("*.lark")
        if BUILT.isdisjoint(path.relative_to(CHECKOUT).parts)
    ]
    assert copies == [CHECKOUT / "grammar" / "thud.lark"]
    assert language.grammar_file().read_text(encoding="utf-8") == GRAMMAR


def test_no_two_readings_of_a_line(caplog: pytest.LogCaptureFixture) -> None:
    """Lark resolves a shift/reduce conflict silently unless asked to debug."""
    caplog.set_level(logging.DEBUG, logger=lark.logger.name)
    for grammar, conflicts in ((GRAMMAR, 0), ('start: "a" | start start', 1)):
        caplog.clear()
        lark.Lark(grammar, parser="lalr", lexer="contextual", debug=True)
        told = [record.getMessage() for record in caplog.records]
        assert sum("Shift/Reduce conflict" in message for message in told) == conflicts


def test_no_keyword_reads_as_two_terminals() -> None:
    for word in KEYWORDS:
        owners = [name for name, words in language.WORDS.items() if word in words]
        assert len(owners) <= 1


def test_every_keyword_is_a_terminal_of_its_own_spelling() -> None:
    """``WORDS`` is read off Lark's patterns: were they written otherwise, it would be empty."""
    quoted = {word.lower() for word in re.findall(r'"([a-zA-Z ]+)"i', GRAMMAR)}
    assert {word for words in language.WORDS.values() for word in words} == quoted | {"'", ":"}


def test_the_rulesets_are_those_of_the_engine() -> None:
    with pytest.raises(ParseError) as caught:
        parse("set rules")
    assert caught.value.expected == tuple(f'"{name}"' for name in RULESETS)
    for name in RULESETS:
        assert parse(f"set rules {name}") == SetRules(name)
