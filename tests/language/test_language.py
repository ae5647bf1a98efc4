"""The grammar: only one copy, no conflicts, and the rulesets of the engine."""

from __future__ import annotations

import re
from pathlib import Path

import lark
import pytest

from thudmud.features.playing.setup import SetRules
from thudmud.language import KEYWORDS, ParseError, parse, second_words, words
from thudmud.rules import RULESETS

CHECKOUT = Path(__file__).parents[2]
GRAMMAR = (CHECKOUT / "grammar" / "thud.lark").read_text(encoding="utf-8")
BUILT = {".venv", ".git", "build", "dist"}


def test_grammar_file_is_the_only_copy() -> None:
    copies = [
        path
        for path in CHECKOUT.rglob("*.lark")
        if BUILT.isdisjoint(path.relative_to(CHECKOUT).parts)
    ]
    assert copies == [CHECKOUT / "grammar" / "thud.lark"]
    assert words.grammar_file().read_text(encoding="utf-8") == GRAMMAR


@pytest.mark.parametrize(
    "text",
    [
        'start: "a" | start start',  # a shift/reduce conflict
        "start: ONE | TWO\nONE: /a+/\nTWO: /a[ab]*/",  # two terminals that match the same text
    ],
)
def test_strict_mode_rejects_ambiguous_grammars(text: str) -> None:
    with pytest.raises(lark.exceptions.LarkError):
        lark.Lark(text, parser="lalr", lexer="contextual", strict=True)


def test_grammar_passes_strict_mode() -> None:
    lark.Lark(GRAMMAR, parser="lalr", lexer="contextual", strict=True, g_regex_flags=re.ASCII)


def test_keyword_belongs_to_one_terminal() -> None:
    for word in KEYWORDS:
        owners = [name for name, spelt in words.WORDS.items() if word in spelt]
        assert len(owners) <= 1


def test_words_table_has_every_keyword_of_the_grammar() -> None:
    """``WORDS`` is derived from Lark's patterns: it would be empty if their format changed."""
    quoted = {word.lower() for word in re.findall(r'"([a-zA-Z0-9 -]+)"i', GRAMMAR)}
    assert {word for spelt in words.WORDS.values() for word in spelt} == quoted | set("':?.")


def test_rulesets_match_those_of_the_engine() -> None:
    with pytest.raises(ParseError) as caught:
        parse("set rules")
    assert caught.value.expected == tuple(RULESETS)
    for name in RULESETS:
        assert parse(f"set rules {name}") == SetRules(name)


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("set", ("clock", "board", "rules", "machine")),
        ("view", ("game", "possible", "on")),
        ("games", ("all",)),
    ],
)
def test_second_words_lists_the_words_after_a_verb(verb: str, words: tuple[str, ...]) -> None:
    assert second_words(verb) == words
