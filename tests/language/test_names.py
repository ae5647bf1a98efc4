"""Reserved names: a player can't be mistaken for the server."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import thudmud
from tests.cases import cases
from thudmud.features.exercises.model import lessons
from thudmud.game.board_names import MATERIALS
from thudmud.game.refusals import NameProblem
from thudmud.language.parsing import player_problem

TESTS = Path(__file__).parents[1]
ROOMS = ("accounts", "bots", "features", "server", "service", "views")
OPENING = re.compile(r"(?:^\s*(?:\d+\. |- )?|[.!?:] )([A-Z][a-z]+)(?=[ ,.:;!?']|$)")
"""The first word of a sentence, a line or a clause after a colon."""
BOARDS = frozenset({"oak", "pine", "marble", "basalt", "elm", *MATERIALS})
BOTS = frozenset({"Grog"})


def seen() -> Iterator[str]:
    """Yield the first words of server sentences in all transcripts, except players' names."""
    texts = [path.read_text("utf-8") for path in TESTS.rglob("*.thud-script")]
    people = {name for text in texts for name in re.findall(r"^(\w+)\+", text, re.MULTILINE)}
    for line in (
        line for text in texts for line in re.findall(r"^\w+\| (.*)$", text, re.MULTILINE)
    ):
        if not re.search(r"\b(?:say|kibitz|kibitze|whisper|shout|tell)s?(?: [\w ]+)?: ", line):
            yield from set(OPENING.findall(line)) - people


FOR_OPERATORS = {"diagnosis.py", "metrics.py", "shared_store.py"}
"""Modules whose sentences only operators read."""


def written() -> Iterator[str]:
    """Yield the first words of sentences and clauses in the string constants of the code.

    Those in `FOR_OPERATORS` and in tables aren't shown to players.
    """
    root = Path(thudmud.__file__).parent
    paths = (each for room in ROOMS for each in (root / room).rglob("*.py"))
    for path in (
        each for each in paths if each.name not in {"model.py", "storage.py", *FOR_OPERATORS}
    ):
        tree = ast.parse(path.read_text("utf-8"))
        comments = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in set(ast.walk(tree)) - comments:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield from OPENING.findall(node.value)


def taught() -> Iterator[str]:
    """Yield the first words of sentences and clauses in the lessons."""
    for lesson in lessons().values():
        for step in lesson.steps:
            for text in (lesson.title, step.text, step.typed, step.clicked, step.hint, step.done):
                yield from OPENING.findall(" ".join(text.split()))


def test_first_words_of_server_sentences_are_reserved_names() -> None:
    words = {*seen(), *written(), *taught()}
    assert {"Your", "You", "It", "Nobody", "Row", "Goodbye"} <= words
    assert sorted(word for word in words - BOTS if player_problem(word, BOARDS) is None) == []


LIKE_THE_SERVER = """
    your Yours Server operator ADMIN System Guest Note The Everybody God Root Moderator Host Staff
    Help Thudmud Warning Error Dwarf Trolls Hall Emote More Player Again News Commands
"""


@cases("name", LIKE_THE_SERVER.split())
def test_name_that_imitates_the_server_is_refused(name: str) -> None:
    assert player_problem(name) is not None


@pytest.mark.parametrize("name", ["Anna", "Will", "Mark", "May", "Grace", "Rob", "Otto", "Roland"])
def test_ordinary_name_is_accepted(name: str) -> None:
    assert player_problem(name) is None


def test_refused_name_has_a_problem_code() -> None:
    problem = player_problem("Admin")
    assert problem is not None
    assert problem.code is NameProblem.HAS_A_MEANING
    assert problem.details == {"words": "Admin"}
