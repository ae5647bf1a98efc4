"""Golden playthroughs: whole battles, compared ply by ply with a checked recording.

A file in ``golden/`` holds the ruleset, the setup line of the game record, and for each ply the
number of legal moves, the ply in record notation and the score after it; then the ending and the
final board. Every ruleset needs a playthrough.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rules import reference_rules
from tests.rules.shorthand import reference_state
from thudmud.rules import (
    RULESETS,
    SQUARES,
    Capturing,
    Game,
    Piece,
    Position,
    Square,
    read_ply,
    read_record,
    write_record,
)

FILES = sorted(Path(__file__).with_name("golden").glob("*.golden"))
HEAD = "rules: "


def told(game: Game) -> str:
    """Format a battle as a golden file."""
    return "\n".join([*_lines(game), ""])


def _lines(game: Game) -> Iterator[str]:
    yield f"{HEAD}{game.ruleset.name}"
    yield write_record(Game.start(game.ruleset, game.initial_position)).strip()
    now = Game.start(game.ruleset, game.initial_position)
    for move in game.moves:
        choices = len(now.legal_moves())
        now = now.play(move)
        yield f"{choices:4} {move!s:24} {now.score.dwarf}-{now.score.troll}"
    assert now == game
    assert game.outcome is not None
    winner = "nobody" if game.outcome.winner is None else game.outcome.winner.plural
    yield f"end: {game.outcome.ending.value}, won by {winner}"
    for row in range(15):
        yield " ".join(_mark(game.position, column, row) for column in range(15)).rstrip()


def _mark(position: Position, column: int, row: int) -> str:
    square = Square(column, row)
    piece = position.piece_at(square)
    if piece is None:
        return "." if square in SQUARES else " "
    return piece.value


def replayed(text: str) -> Game:
    """Replay the battle of a golden file."""
    head, setup, *lines = text.splitlines()
    plies = [line.split()[1] for line in lines[: lines.index(_end(lines))]]
    return read_record("\n".join([setup, *plies]), RULESETS[head.removeprefix(HEAD)]).game


def _end(lines: list[str]) -> str:
    return next(line for line in lines if line.startswith("end: "))


GAMES = {path.stem: path.read_text(encoding="utf-8") for path in FILES}


def test_every_ruleset_has_a_playthrough() -> None:
    heads = {text.splitlines()[0] for text in GAMES.values()}
    assert heads == {f"{HEAD}{name}" for name in RULESETS}


@pytest.mark.parametrize("name", GAMES)
def test_playthrough_matches_its_golden_file(name: str) -> None:
    assert told(replayed(GAMES[name])) == GAMES[name]


@pytest.mark.parametrize("name", GAMES)
def test_playthrough_matches_the_reference_rules(name: str) -> None:
    game = replayed(GAMES[name])
    now = Game.start(game.ruleset, game.initial_position)
    for line, move in zip(GAMES[name].splitlines()[2:], game.moves, strict=False):
        state = reference_state(now.position)
        assert len(reference_rules.outcomes(game.ruleset.name, state)) == int(line.split()[0])
        now = now.play(read_ply(str(move), game.ruleset, now.position))
    assert now == game


@pytest.mark.parametrize("name", RULESETS)
def test_playthroughs_have_every_kind_of_ply(name: str) -> None:
    games = [replayed(text) for text in GAMES.values() if text.startswith(f"{HEAD}{name}\n")]
    moves = [move for game in games for move in game.moves]
    assert {move.verb for move in moves} == RULESETS[name].verbs
    assert any(len(move.captures) > 1 for move in moves)
    if RULESETS[name].trolls.captures is Capturing.TRAMPLE:
        assert any(move.is_trample for move in moves)
    if RULESETS[name].initial_position.rock:
        assert any(move.piece is Piece.ROCK for move in moves)
