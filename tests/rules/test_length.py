"""The ply limit of a battle: its ending there, and linear time for reading long records."""

from __future__ import annotations

from itertools import cycle, islice

import pytest

from tests.cases import cases
from tests.rules.shorthand import ask, board, to_and_fro
from tests.rules.test_game import played
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    KOOM_VALLEY,
    MOST_PLIES,
    RULESETS,
    Ending,
    Game,
    IllegalMoveError,
    Move,
    Outcome,
    Position,
    Reason,
    Record,
    RecordError,
    Ruleset,
    Score,
    Side,
    read_record,
    write_record,
)

OUTCOMES = {
    CLASSIC: Outcome(Ending.LENGTH, None, Score(32, 32)),
    DISCWORLD: Outcome(Ending.LENGTH, None, Score(32, 32)),
    KOOM_VALLEY: Outcome(Ending.LENGTH, None, Score(0, 0)),
}


def longest(rules: Ruleset) -> Game:
    return to_and_fro(rules, MOST_PLIES)


def going_on(rules: Ruleset, opening: Position, *there: str) -> Game:
    """Return a battle with one ply left, filled up by two moves back and forth."""
    game = played(rules, opening, *there)
    back = [Move(move.piece, move.target, move.origin) for move in game.moves]
    moves = islice(cycle([*game.moves, *back]), MOST_PLIES - 1)
    return Game.start(rules, opening).play_all(tuple(moves))


@pytest.mark.parametrize("name", RULESETS)
def test_battle_at_the_ply_limit_is_decided_by_score(name: str) -> None:
    game = to_and_fro(RULESETS[name], MOST_PLIES - 1)
    assert game.outcome is None
    ended = game.play(longest(RULESETS[name]).moves[-1])
    assert ended.outcome == OUTCOMES[RULESETS[name]]
    with pytest.raises(IllegalMoveError) as refused:
        ended.push(str(ended.moves[1]))
    assert refused.value.code is Reason.GAME_OVER


def test_battle_at_the_ply_limit_is_won_by_the_higher_score() -> None:
    before = going_on(DISCWORLD, board("d A6 D7 T E8 G7 X H8"), "move A6 A7", "move G7 G6")
    ended = before.play(before.resolve(ask("move E8 E7 capturing all"), Side.TROLL))
    assert ended.outcome == Outcome(Ending.LENGTH, Side.TROLL, Score(1, 8))


def test_goal_reached_by_the_last_ply_overrides_the_ply_limit() -> None:
    before = going_on(KOOM_VALLEY, board("d A8 T G7 H7 O8 I4 R H8"), "move A8 A9", "move O8 O9")
    assert (len(before.moves), before.outcome) == (MOST_PLIES - 1, None)
    ended = before.play(before.resolve(ask("move I4 I7"), Side.TROLL))
    assert ended.outcome == Outcome(Ending.ROCK_CAPTURED, Side.TROLL, Score(0, 1))


def test_undo_of_the_last_ply_reopens_the_battle() -> None:
    ended = longest(DISCWORLD)
    assert ended.undo() == to_and_fro(DISCWORLD, MOST_PLIES - 1)
    assert ended.undo().undo().play_all(ended.moves[-2:]) == ended


@pytest.mark.parametrize("name", RULESETS)
def test_record_of_the_longest_battle_round_trips(name: str) -> None:
    game = longest(RULESETS[name])
    assert read_record(write_record(game), RULESETS[name]).game == game
    headed = str(Record(game))
    assert '[Ending "length"]' in headed
    assert read_record(headed).game == game


def test_record_with_too_many_plies_is_refused() -> None:
    game = longest(CLASSIC)
    longer = write_record(game) + f"{game.moves[0]}\n{game.moves[1]}\n"
    with pytest.raises(RecordError, match="line 2002: expected at most 2,000 plies"):
        read_record(longer, CLASSIC)


def test_record_of_a_shorter_battle_ended_by_length_is_refused() -> None:
    headers = '[Result "32-32"]\n[Winner "none"]\n[Ending "length"]\n'
    with pytest.raises(RecordError, match="don't end the battle by length"):
        read_record(headers + write_record(to_and_fro(CLASSIC, 10)), CLASSIC)


@cases("rules", RULESETS.values())
def test_play_all_equals_playing_ply_by_ply(rules: Ruleset) -> None:
    moves = to_and_fro(rules, 40).moves
    game = Game.start(rules)
    for move in moves:
        game = game.play(move)
    assert Game.start(rules).play_all(moves) == game
    assert game.play_all(()) is game


def test_play_all_refuses_plies_after_the_end() -> None:
    game = to_and_fro(DISCWORLD, 4)
    with pytest.raises(IllegalMoveError):
        game.resign(Side.DWARF).play_all(game.moves)


def test_seek_to_any_ply_takes_at_most_half_of_the_plies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game, steps = to_and_fro(DISCWORLD, 1000), 0
    really = Position.after

    def counted(self: Position, move: Move) -> Position:
        nonlocal steps
        steps += 1
        return really(self, move)

    monkeypatch.setattr(Position, "after", counted)
    monkeypatch.setattr(Position, "before", counted)
    for ply, most in ((0, 0), (10, 10), (500, 500), (990, 10), (1000, 0)):
        steps = 0
        assert len(game.after(ply).moves) == ply
        assert steps <= most
    near, steps = game.after(600), 0
    assert len(game.after(590, near).moves) == 590
    assert steps == 10
