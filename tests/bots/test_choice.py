"""Our own player: it takes what it can, gives away nothing that it sees, and beats mere chance."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tests.bots.talking import asked, keep
from thudmud.bots import choose
from thudmud.rules import RULESETS, Game, Move, Side, Square


@pytest.mark.parametrize(
    ("rules", "position", "ply"),
    [
        ("discworld", "dA8,dB8,dC8,TF8,RH8 dwarf", "dC8-F8xF8"),
        ("discworld", "TB8,dD7,dC9,dN11,RH8 troll", "TB8-C8xD7xC9"),
        ("classic", "TB8,TA8,dE7,dD9,dN11,RH8 troll", "TB8-D8xE7xD9"),
        # A troll beside the front of a line would be hurled at: it stays away.
        ("discworld", "TC4,dC6,dC7,dC8,RH8 troll", "TC4-B5xC6"),
        ("koom valley", "dG2,dG3,TA9,RH2 dwarf", "RH2-G1"),
        ("koom valley", "dO5,TG7,TJ7,TE11,RH8 troll", "TE11-G9"),
        ("koom valley", "TE6,dF6,dH6,RH12 troll", "TE6-J6xF6xH6"),
        ("koom valley", "dE7,dF9,TF8,RH12 dwarf", "dE7-F7xF8"),
    ],
)
def test_it_takes_what_it_can(rules: str, position: str, ply: str) -> None:
    answers = asked(f"rules {rules}\nposition {position}\ngo 5")
    assert answers[-1] == f"go {ply}"


@pytest.mark.parametrize("name", ["discworld", "classic"])
@pytest.mark.parametrize("side", Side)
def test_it_beats_mere_chance(name: str, side: Side) -> None:
    game, chance = Game.start(RULESETS[name]), Random(7)  # noqa: S311  (a game)
    while not game.outcome and len(game.moves) < 140:
        if game.position.turn is side:
            move = choose(game.ruleset, game.position, chance.shuffle, lambda: True)
        else:
            move = chance.choice(game.legal_moves())
        game = game.play(move)
    assert game.score.of(side) > game.score.of(side.other) + 10


def test_the_same_chance_makes_the_same_choices() -> None:
    game = Game.start(RULESETS["koom valley"])

    def first(seed: int) -> Move:
        shuffle = Random(seed).shuffle  # noqa: S311  (a game)
        return choose(game.ruleset, game.position, shuffle, lambda: True)

    assert first(5) == first(5)
    assert len({first(seed) for seed in range(8)}) > 1


def test_where_nothing_can_be_played_there_is_no_choice() -> None:
    rules = RULESETS["koom valley"]
    stuck = replace(rules.opening, rock=Square.parse("H1").bit)
    assert rules.legal_moves(stuck) == []
    with pytest.raises(ValueError, match="no ply"):
        choose(rules, stuck, keep, lambda: False)
