"""Battles: playing, endings and scores."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.cases import cases
from tests.rules.shorthand import D, T, ask, board, random_positions, scattered, seeded
from thudmud.errors import InvalidValueError
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    Ending,
    Game,
    IllegalMoveError,
    Outcome,
    Piece,
    Position,
    Reason,
    Ruleset,
    Score,
    Side,
    classic,
    generation,
)
from thudmud.rules.board import BOARD
from thudmud.rules.generation import count_queen_moves


def played(ruleset: Ruleset, opening: Position, *words: str) -> Game:
    game = Game.start(ruleset, opening)
    for asked in words:
        game = game.play(game.resolve(ask(asked), game.position.turn))
    return game


def test_battle_begins_with_its_opening() -> None:
    game = Game.start(DISCWORLD)
    assert game.position == game.initial_position == DISCWORLD.initial_position
    assert (game.moves, game.outcome, game.quiet_plies) == ((), None, 0)
    assert game.score == Score(32, 32)
    assert len(game.legal_moves()) == 656


def test_push_and_play_accept_text_and_moves() -> None:
    game, move = Game.start(DISCWORLD), Game.start(DISCWORLD).legal_moves()[0]
    assert game.push(move) == game.push(str(move)) == game.play(move) == game.play(str(move))


@pytest.mark.parametrize("wrong", [None, 7, b"dA6-B6", ("dA6-B6",)])
def test_push_and_play_explain_an_invalid_ply(wrong: Any) -> None:
    for take in (Game.start(DISCWORLD).push, Game.start(DISCWORLD).play):
        with pytest.raises(InvalidValueError, match="expected a ply as a str or a Move, got "):
            take(wrong)
        with pytest.raises(ValueError, match="expected a ply such as dA6-B6"):
            take("a6 b6")
        with pytest.raises(IllegalMoveError):
            take("dA6-A7")


def test_push_checks_the_legality_of_a_move() -> None:
    game, move = Game.start(DISCWORLD), Game.start(DISCWORLD).legal_moves()[0]
    with pytest.raises(IllegalMoveError):
        game.push(move).push(move)


def test_repr_of_a_game_is_short() -> None:
    game = Game.start(KOOM_VALLEY)
    assert repr(game) == "<Game koom valley: 0 plies; dwarfs to move>"
    game = Game.start(DISCWORLD).push("dA6-B6")
    assert repr(game) == "<Game discworld: 1 ply; trolls to move>"
    assert repr(game.agree(Ending.AGREEMENT)) == "<Game discworld: 1 ply; over (agreement): a draw>"
    assert repr([game]) == "[<Game discworld: 1 ply; trolls to move>]"


def test_quiet_plies_count_from_the_last_capture() -> None:
    opening = board("d A6 D7 D8 K7 T D6 G7 X H8")
    game = played(DISCWORLD, opening, "move A6 A7", "move G7 G6")
    assert game.quiet_plies == 2
    game = played(DISCWORLD, opening, "move A6 A7", "move G7 G6", "hurl D7 D6", "move G6 G5")
    assert game.quiet_plies == 1
    assert game.undo().quiet_plies == 0
    assert game.undo().undo().quiet_plies == 2
    assert game.score == Score(4, 4)


def test_undo_without_plies_is_an_error() -> None:
    with pytest.raises(ValueError, match="no ply to take back"):
        Game.start(CLASSIC).undo()


def test_undo_takes_back_the_ending() -> None:
    game = played(CLASSIC, CLASSIC.initial_position, "move A6 B6")
    assert game.resign(T).undo() == Game.start(CLASSIC)


@pytest.mark.parametrize("name", RULESETS)
def test_ended_battle_refuses_all_actions(name: str) -> None:
    game = Game.start(RULESETS[name])
    move = game.legal_moves()[0]
    ended = game.agree(Ending.AGREEMENT)
    assert ended.legal_moves() == []
    for going_on in (
        lambda: ended.play(move),
        lambda: ended.resolve(move.attempt(), D),
        lambda: ended.agree(Ending.QUIET),
        lambda: ended.resign(D),
    ):
        with pytest.raises(IllegalMoveError) as caught:
            going_on()
        assert caught.value.code is Reason.GAME_OVER


@cases("rules", [CLASSIC, DISCWORLD])
@cases("ending", [Ending.AGREEMENT, Ending.QUIET, Ending.DESERTION])
@cases(
    ("pieces", "winner", "score"),
    [
        ("d A6 B6 T G7 X H8", T, Score(2, 4)),
        ("d A6 B6 C6 D6 T G7 X H8", None, Score(4, 4)),
        ("d A6 B6 C6 D6 E6 T G7 X H8", D, Score(5, 4)),
    ],
)
def test_ending_by_agreement_is_decided_by_the_score(
    rules: Ruleset, ending: Ending, pieces: str, winner: Side | None, score: Score
) -> None:
    game = Game.start(rules, board(pieces)).agree(ending)
    assert game.outcome == Outcome(ending, winner, score)
    assert game.score == score


@pytest.mark.parametrize("rules", [CLASSIC, DISCWORLD])
@pytest.mark.parametrize(("side", "score"), [(D, Score(0, 4)), (T, Score(3, 0))])
def test_resigning_side_scores_zero(rules: Ruleset, side: Side, score: Score) -> None:
    game = Game.start(rules, board("d A6 B6 C6 T G7 X H8")).resign(side)
    assert game.outcome == Outcome(Ending.RESIGNATION, side.other, score)


@pytest.mark.parametrize("rules", [CLASSIC, DISCWORLD])
def test_side_without_a_move_ends_the_battle_by_score(rules: Ruleset) -> None:
    walled_in = board("d E2 F2 G2 H2 I1 T F1 G1 X H8")
    game = played(rules, walled_in, "move I1 H1")
    assert game.outcome == Outcome(Ending.NO_MOVE, T, Score(5, 8))
    extinct = played(rules, board("d A6 B7 T A7 X H8"), "hurl A6 A7")
    assert extinct.outcome == Outcome(Ending.NO_MOVE, D, Score(2, 0))
    lone = played(rules, board("d A6 T B9 X H8"), "move A6 A8", "move B9 B8 capturing A8")
    assert lone.outcome == Outcome(Ending.NO_MOVE, T, Score(0, 4))


def test_walled_in_dwarfs_can_still_be_hurled() -> None:
    position = board("d F1 G1 E2 G2 T F2 H1 H2 H3 F3 G3 D3 E3 D4 X H8")
    assert DISCWORLD.outcome(position) is None
    assert DISCWORLD.count_moves(position) == len(DISCWORLD.legal_moves(position)) > 0


def test_rock_on_the_top_row_escapes() -> None:
    game = played(KOOM_VALLEY, board("d G2 A8 T A6 R H2"), "move H2 H1")
    assert game.outcome == Outcome(Ending.ROCK_ESCAPED, D, Score(1, 0))
    assert game.score == Score(1, 0)
    assert game.undo().score == Score(0, 0)


@pytest.mark.parametrize("home", ["F1", "G1", "H1", "I1", "J1"])
def test_rock_is_home_on_every_square_of_the_top_row(home: str) -> None:
    outcome = KOOM_VALLEY.outcome(board(f"d A8 T A6 R {home}", T))
    assert outcome == Outcome(Ending.ROCK_ESCAPED, D, Score(1, 0))


def test_rock_is_captured_by_three_trolls() -> None:
    opening = board("d A8 T G7 H7 I4 R H8", T)
    game = played(KOOM_VALLEY, opening, "move I4 I7")
    assert game.outcome == Outcome(Ending.ROCK_CAPTURED, T, Score(0, 1))


def test_rock_is_captured_by_a_trample() -> None:
    opening = board("d A8 I6 T G7 H7 I5 R H8", T)
    game = played(KOOM_VALLEY, opening, "move I5 I7 capturing I6")
    assert game.outcome == Outcome(Ending.ROCK_CAPTURED, T, Score(0, 1))


def test_rock_is_captured_only_by_a_troll_move() -> None:
    beside_three = board("d G8 A8 T F6 G6 H6 R H8")
    game = played(KOOM_VALLEY, beside_three, "move H8 G7")
    assert game.outcome is None
    assert game.legal_moves()
    game = game.play(game.resolve(ask("move F6 E6"), T))
    assert game.outcome is None
    stayed = played(KOOM_VALLEY, board("d G8 A8 T F6 G6 H6 O8 R H8"), "move H8 G7", "move O8 O9")
    assert stayed.outcome == Outcome(Ending.ROCK_CAPTURED, T, Score(0, 1))


@pytest.mark.parametrize("ending", [Ending.AGREEMENT, Ending.QUIET, Ending.DESERTION])
def test_koom_valley_agreement_is_a_draw(ending: Ending) -> None:
    assert Game.start(KOOM_VALLEY).score == Score(0, 0)
    game = Game.start(KOOM_VALLEY).agree(ending)
    assert game.outcome == Outcome(ending, None, Score(0, 0))


@pytest.mark.parametrize(("side", "score"), [(D, Score(0, 1)), (T, Score(1, 0))])
def test_koom_valley_resignation_loses(side: Side, score: Score) -> None:
    game = Game.start(KOOM_VALLEY).resign(side)
    assert game.outcome == Outcome(Ending.RESIGNATION, side.other, score)


@pytest.mark.parametrize(
    ("pieces", "turn", "winner"),
    [
        ("T A8 B8 C8 R H8", D, T),
        ("T A8 B8 R H8", D, None),
        ("d A8 R H8", T, D),
        ("R H8", T, None),
        ("d E2 F2 G2 H2 H1 D3 E3 F3 G3 H3 I3 I1 T F1 G1 R H8", T, D),
        ("d F1 T E2 F2 G2 G1 F3 R H8", D, T),
    ],
)
def test_koom_valley_side_without_a_move_ends_the_battle(
    pieces: str, turn: Side, winner: Side | None
) -> None:
    score = Score(int(winner is D), int(winner is T))
    outcome = KOOM_VALLEY.outcome(board(pieces, turn))
    assert outcome == Outcome(Ending.NO_MOVE, winner, score)


def test_battle_may_begin_ended() -> None:
    game = Game.start(KOOM_VALLEY, board("d A8 T A6 R H1"))
    assert game.outcome is not None
    assert game.legal_moves() == []


def test_score_is_available_by_side() -> None:
    assert [Score(3, 8).of(side) for side in Side] == [3, 8]


def test_listed_moves_are_shared_between_calls() -> None:
    """Move objects are cached, which makes listing fast."""
    for rules in RULESETS.values():
        first, again = (rules.legal_moves(rules.initial_position) for _ in range(2))
        assert first is not again
        assert all(one is other for one, other in zip(first, again, strict=True))


def test_slide_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "_KEPT", 2)
    forgetful = generation.SlideGenerator(Piece.DWARF, 14)
    for position in random_positions(KOOM_VALLEY, seeded("forgetful"), 40):
        listed = forgetful.moves(position, BOARD)
        assert len(listed) == count_queen_moves(position.dwarfs, position.empty)
    assert max(len(line) for _, line in forgetful._lines) == 2


def test_step_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 300
    monkeypatch.setattr(classic, "_KEPT_STEPS", most)
    trolls = classic.ShovingTrolls(most_after_move=7, shortest_shove=1)
    steps = classic._Steps(7)
    monkeypatch.setattr(classic, "_steps_capturing", lambda _most: steps)
    seen = []
    random = seeded("steps")
    for position in (scattered(DISCWORLD, random) for _ in range(60)):
        assert len(set(trolls.moves(position, BOARD))) == trolls.count(position)
        options = [each for around in steps.values() for _, _, each in around]
        kept = sum(len(moves) for each in options for moves in each.values())
        made = {move for each in options for move in each._made.values()}
        assert made <= {move for each in options for moves in each.values() for move in moves}
        assert kept <= most
        seen.append(kept)
    assert any(after < before for before, after in pairwise(seen)), "nothing was forgotten"
