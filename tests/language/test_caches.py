"""The parser's caches hold nothing that might be private."""

from __future__ import annotations

import gc
from collections.abc import Iterable

import pytest

from thudmud.language import parsing
from thudmud.language.parsing import ParseError, parse
from thudmud.views.facts import refusal_fact
from thudmud.views.refusals import explain

SECRET = "swordfish".replace("fish", "fishery")
"""Built at run time: a literal would be found among the constants of this module."""

TEMPLATES = [
    "tell anna {}x",
    "TELL anna {}x!",
    "message anna {}x",
    "report anna {}x",
    "comment {}x",
    "comment 3 4 {}x",
    "say {}x",
    '"{}x',
    "plan {}x",
    "kick anna because {}x",
    "ban 192.0.2.1 for 2 days because {}x",
    "shutdown now because {}x",
    'tournament new swiss "{}x"',
    "notify mail {}x@example.com",
    "notify mail {}x@example.com at once",
    "notify browser https://push.example/{}x {}xxxxxxxxxxxxxxx {}yyyyyyyyyyyyy",
    "{}x",
    "anna {}x",
    "tell anna",
    "move a6 to {}x",
    "password {}x",
    "options colour special thud {}x blue",
    "notify code {}x",
]


def parse_all(templates: Iterable[str]) -> None:
    for template in templates:
        try:
            parse(template.format(*[SECRET] * template.count("{}")))
        except ParseError as error:
            refusal_fact(error, "Anna")  # as a client program gets it
            explain(error, 40)


def texts_in_memory(part: str) -> set[str]:
    """Return the strings in any container that contain `part`, except `part` itself."""
    gc.collect()
    return {
        found
        for each in gc.get_objects()
        for found in gc.get_referents(each)
        if type(found) is str and part in found.lower() and found != part
    }


def test_parser_caches_exclude_free_text_and_secrets() -> None:
    parse_all(TEMPLATES)
    assert not texts_in_memory(SECRET)


@pytest.mark.parametrize("line", ["move a6 to b6", "look", "finger anna", "go to the oak board"])
def test_line_without_free_text_is_parsed_once(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parsing._parse_cached.cache_clear()
    command = parse(line)
    monkeypatch.setattr(parsing, "parse_uncached", None)
    assert parse(line) == command
