"""Names of boards that are opened for matches."""

from __future__ import annotations

import pytest

from thudmud.game.board_names import ADJECTIVES, MATERIALS, board_index, board_name
from thudmud.language.parsing import LONGEST_NAME, TAKEN_WORDS, board_problem

MANY = 2_400  # boards with at most two adjectives


def test_board_names_are_distinct_and_keep_their_index() -> None:
    names = [board_name(index) for index in range(MANY)]
    assert [board_index(name.upper()) for name in names] == list(range(MANY))
    assert max(map(len, names)) <= LONGEST_NAME


def test_board_names_can_be_typed() -> None:
    assert not {
        board_name(index): problem
        for index in range(MANY)
        if (problem := board_problem(board_name(index)))
    }


def test_words_of_board_names_have_no_other_meaning() -> None:
    assert not TAKEN_WORDS & {*MATERIALS, *ADJECTIVES}
    assert len({*MATERIALS, *ADJECTIVES}) == len(MATERIALS) + len(ADJECTIVES)


@pytest.mark.parametrize(
    "name",
    ["oak board", "ash table", "5th board", "board", "ash", "ash worn board", "odd ash board"],
)
def test_index_is_none_for_other_names(name: str) -> None:
    assert board_index(name) is None
