from __future__ import annotations

import pytest

from tests.cases import cases
from thudmud.english import join_words
from thudmud.game.resolution import Phrase

NAMES = ["oak board", "pine board", "old oak table", "marble board"]


@cases(
    ("words", "expected"),
    [
        ("oak board", "oak board"),
        ("OAK Board", "oak board"),
        ("the oak board", "oak board"),
        ("table", "old oak table"),
        ("oak table", "old oak table"),
        ("marble", "marble board"),
        ("board 2", "pine board"),
        ("2nd board", "pine board"),
        ("second board", "pine board"),
        ("last board", "marble board"),
        ("first oak", "oak board"),
        ("oak 2", "old oak table"),
        ("3", "old oak table"),
        ("last", "marble board"),
        ("1st", "oak board"),
        ("board", None),
        ("oak", None),
        ("board 4", None),
        ("board 0", None),
        ("board oak", None),
        ("oaken board", None),
        ("board 99999999", None),
    ],
)
def test_phrase_picks_a_board_by_name_or_number(words: str, expected: str | None) -> None:
    phrase = Phrase.parse(words)
    assert phrase.pick(phrase.among(NAMES)) == expected


def test_phrase_prefers_an_exact_name() -> None:
    names = ["board", "oak board"]
    phrase = Phrase.parse("board")
    assert phrase.pick(phrase.among(names)) == "board"


def test_phrase_ordinal_counts_all_matches() -> None:
    names = ["oak board", "dark oak board"]
    phrase = Phrase.parse("2nd oak board")
    assert phrase.pick(phrase.among(names)) == "dark oak board"


def test_phrase_matches_keep_the_order_of_the_names() -> None:
    assert Phrase.parse("board").among(NAMES) == ["oak board", "pine board", "marble board"]
    assert Phrase.parse("board 7").among(NAMES) == ["oak board", "pine board", "marble board"]


@pytest.mark.parametrize(
    ("things", "expected"),
    [([], "nothing"), (["a"], "a"), (["a", "b"], "a and b"), ("abc", "a, b and c")],
)
def test_listed_joins_words_with_commas_and_and(things: list[str], expected: str) -> None:
    assert join_words(things) == expected
