"""Levels of the computer player: how strong they are, and what even the weak ones see.

The upper levels are too slow to play whole matches here; `benchmarks/levels.py` lets all of them
play.
"""

from __future__ import annotations

import pytest

from tests.conftest import SOAKING
from thudmud.bots.referee import random_opening
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    Game,
    Move,
    Position,
    Ruleset,
    Side,
    Square,
)
from thudmud.search.levels import LEVELS, Level
from thudmud.search.player import Player
from thudmud.search.search import Limit

MATCHES = 3 if SOAKING else 1


def margin(dwarfs: Level, trolls: Level, seed: int) -> int:
    """Return the dwarfs' winning margin in a battle that is cut off after a run of quiet plies."""
    game = random_opening(DISCWORLD, 4, str(seed))
    players = {
        Side.DWARF: Player(DISCWORLD, dwarfs, seed),
        Side.TROLL: Player(DISCWORLD, trolls, seed),
    }
    while not game.outcome and len(game.moves) < 160 and game.quiet_plies < 30:
        game = game.play(players[game.turn].think(game).move)
    return game.score.dwarf - game.score.troll


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lower", "upper"),
    list(zip(LEVELS, LEVELS[3:5], strict=False)),
    ids=lambda level: level.name,
)
def test_level_wins_most_matches_against_a_much_weaker_level(lower: Level, upper: Level) -> None:
    won = sum(
        margin(upper, lower, seed) > margin(lower, upper, seed) for seed in range(1, MATCHES + 1)
    )
    assert won > MATCHES / 2


@pytest.mark.parametrize("level", LEVELS[:-1], ids=lambda level: level.name)
def test_level_is_deterministic_for_a_seed(level: Level) -> None:
    game = Game.start(KOOM_VALLEY)
    first, again = (Player(KOOM_VALLEY, level, seed=7).think(game) for _ in range(2))
    assert first == again
    assert first.nodes <= max(level.nodes, Player(KOOM_VALLEY, LEVELS[0]).think(game).nodes)


QUICKLY = Limit(nodes=200)
SEEDS = range(12 if SOAKING else 4)


def opening_with(ruleset: Ruleset, origin: str, target: str, turn: Side) -> Game:
    """Return a battle that begins with the usual opening, but with one piece elsewhere."""
    at = ruleset.initial_position
    moved = Square.from_record(origin).bit | Square.from_record(target).bit
    dwarfs, trolls = (each ^ moved if each & moved else each for each in (at.dwarfs, at.trolls))
    return Game.start(ruleset, Position(dwarfs, trolls, at.stone, at.rock, turn))


def plies(level: Level, game: Game) -> list[Move]:
    """Return the plies of a level in a position, for several seeds."""
    return [Player(game.ruleset, level, seed).think(game, QUICKLY).move for seed in SEEDS]


EXPOSED = [
    (DISCWORLD, Side.DWARF, "F1", "E8"),
    (CLASSIC, Side.DWARF, "F1", "E8"),
    (KOOM_VALLEY, Side.DWARF, "A10", "E4"),
    (DISCWORLD, Side.TROLL, "H7", "B6"),
    (CLASSIC, Side.TROLL, "H7", "B6"),
    (KOOM_VALLEY, Side.TROLL, "H3", "D12"),
]
"""Openings in which one side's piece stands where it can be captured: origin and target."""


@pytest.mark.parametrize("level", LEVELS[1:], ids=lambda level: level.name)
@pytest.mark.parametrize(("ruleset", "side", "origin", "target"), EXPOSED, ids=str)
def test_level_from_2_on_takes_what_is_on_offer(
    level: Level, ruleset: Ruleset, side: Side, origin: str, target: str
) -> None:
    game = opening_with(ruleset, origin, target, side.other)
    assert all(ply.captures for ply in plies(level, game))


@pytest.mark.parametrize("level", LEVELS[1:], ids=lambda level: level.name)
@pytest.mark.parametrize(("ruleset", "side", "origin", "target"), EXPOSED, ids=str)
def test_level_from_2_on_saves_an_exposed_piece(
    level: Level, ruleset: Ruleset, side: Side, origin: str, target: str
) -> None:
    game = opening_with(ruleset, origin, target, side)
    for ply in plies(level, game):
        replies = game.play(ply).legal_moves()
        assert ply.captures or not any(reply.captures for reply in replies), ply


def goes_back(game: Game, last: Move, ply: Move) -> bool:
    """Whether a quiet ply undoes the mover's last one, without a capture that the piece flees."""
    if (ply.piece, ply.origin, ply.target) != (last.piece, last.target, last.origin):
        return False
    at = game.position
    passed = Position(at.dwarfs, at.trolls, at.stone, at.rock, at.turn.other)
    threats = game.ruleset.legal_moves(passed, 8)
    return not any(ply.origin in threat.captures for threat in threats)


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=str)
@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_level_never_moves_a_piece_to_and_fro(level: Level, ruleset: Ruleset) -> None:
    game = random_opening(ruleset, 4, "to and fro")
    players = {side: Player(ruleset, level, seed=3) for side in Side}
    for _ in range(200 if SOAKING else 36):
        if game.outcome:
            break
        ply = players[game.turn].think(game, QUICKLY).move
        is_quiet = game.quiet_plies >= 2 and not ply.captures
        assert not (is_quiet and goes_back(game, game.moves[-2], ply)), game.moves[-4:]
        game = game.play(ply)
