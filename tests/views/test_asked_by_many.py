"""Expensive answers are computed once per position, however many players ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import pytest

from tests.views.positions import game_of, played_at_random, table_with
from thudmud.features.playing.queries import Captures, Lines, ViewPossible
from thudmud.game.asides import Entered
from thudmud.game.command import Asked
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Decision, Hall
from thudmud.game.options import Style
from thudmud.game.table import BoardSpec
from thudmud.rules import (
    DISCWORLD,
    RULESETS,
    Attempt,
    Capturing,
    Game,
    Move,
    Piece,
    Position,
    Ruleset,
    Side,
    Verb,
)
from thudmud.rules.generation import SideRules
from thudmud.values import replace
from thudmud.views.telling import renderer_for
from thudmud.views.view import Display, View


@dataclass(frozen=True)
class Counting:
    """The rules of a side that record each request for moves."""

    fighters: SideRules
    asked: list[Position]

    def __hash__(self) -> int:
        return id(self)

    @property
    def pieces(self) -> frozenset[Piece]:
        return self.fighters.pieces

    @property
    def verbs(self) -> frozenset[Verb]:
        return self.fighters.verbs

    @property
    def captures(self) -> Capturing:
        return self.fighters.captures

    def moves(
        self, position: Position, origins: int, most_tramples: int | None = None
    ) -> list[Move]:
        self.asked.append(position)
        return self.fighters.moves(position, origins, most_tramples)

    def count(self, position: Position) -> int:
        return self.fighters.count(position)

    def can_move(self, position: Position) -> bool:
        return self.fighters.can_move(position)

    def validate(self, position: Position, attempt: Attempt) -> Move:
        return self.fighters.validate(position, attempt)


def answers(game: Game, question: Captures | Lines | ViewPossible) -> Sequence[list[str]]:
    """Return the answers to four players with different screens, each at an equal game."""
    hall = Hall([BoardSpec("oak board")])
    hall.commit(Decision("Carla", asides=(Entered("Carla", None),)))
    told = []
    for width, reader in [(80, False), (40, False), (80, False), (33, False)]:
        table = table_with(replace(game, moves=game.moves))
        view = View(None, Style.FULL, Display(width, is_for_reader=reader))
        asked = Asked("Carla", question, "oak board")
        told.append(renderer_for(hall, Delivery(asked, ("Carla",), table))(view))
    return told


@pytest.mark.parametrize("name", RULESETS)
@pytest.mark.parametrize("question", [ViewPossible(), Captures(), Lines()], ids=str)
def test_answers_for_one_position_are_computed_once(
    name: str, question: Captures | Lines | ViewPossible
) -> None:
    asked: list[Position] = []
    rules: Ruleset = RULESETS[name]
    counting = replace(
        rules, dwarfs=Counting(rules.dwarfs, asked), trolls=Counting(rules.trolls, asked)
    )
    random = Random(name)  # noqa: S311 (games to try, no secrets)
    game = replace(played_at_random(rules, random, 30), ruleset=counting)
    first, narrow, same, _ = answers(game, question)
    assert first == same
    assert " ".join(first).split() == " ".join(narrow).split()
    assert len(asked) == len(set(asked))
    assert asked or (isinstance(question, Lines) and not game.position.stone)


def test_answers_change_with_the_position_and_back_after_undo() -> None:
    before = game_of(DISCWORLD, Side.DWARF, "dE6 dE5 TF6 TF7 TB11 XH8")
    after = before.play(before.legal_moves()[-1])
    for question in (ViewPossible(), Captures(), Lines()):
        assert answers(before, question)[0] != answers(after, question)[0]
        assert answers(before, question) == answers(after.undo(), question)
