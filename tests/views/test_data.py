"""The data in facts: the ways of a piece are exactly its legal moves."""

from __future__ import annotations

import json
from itertools import combinations
from random import Random
from typing import Any, cast

import pytest

from tests.game.annals import CAPTURE, NOON, Annals
from thudmud.game.archive import BattleLookup
from thudmud.game.events import TakenBack
from thudmud.rules import KOOM_VALLEY, RULESETS, Game, Move, Side, Square, write_record
from thudmud.views import data
from thudmud.views.facts import as_json
from thudmud.views.legal import MOST_PATHS

Outcome = tuple[str, str, frozenset[str], bool]


def outcomes(game: Game, origin: Square) -> tuple[set[Outcome], list[list[str]]]:
    """Return the moves of a piece without a trample, and its trample paths."""
    found: set[Outcome] = set()
    paths = []
    for way in cast("list[dict[str, Any]]", data.legal_moves_data(game, origin)["ways"]):
        if way["trample"]:
            paths.append(way["prey"])
            continue
        for target in way["to"]:
            for size in range(way["least"], way["most"] + 1):
                for prey in combinations(way["prey"], size):
                    outcome = (way["verb"], target, frozenset(prey), False)
                    assert outcome not in found
                    found.add(outcome)
    return found, paths


@pytest.mark.parametrize("name", RULESETS)
def test_ways_of_pieces_are_exactly_the_legal_moves(name: str) -> None:
    random = Random(name)  # noqa: S311 (games to try, no secrets)
    game, captured = Game.start(RULESETS[name]), 0
    for _ in range(60):
        moves = game.ruleset.legal_moves(game.position, most_tramples=MOST_PATHS)
        for origin in {move.origin for move in moves}:
            theirs = [move for move in moves if move.origin == origin]
            known, paths = outcomes(game, origin)
            assert known == {
                (move.verb.value, str(move.target), frozenset(map(str, move.captures)), False)
                for move in theirs
                if not move.is_trample
            }
            tramples = [list(map(str, move.captures)) for move in theirs if move.is_trample]
            assert paths == tramples[:MOST_PATHS]
        # Prefer captures: they are what gives a piece several ways.
        capturing = [move for move in moves if move.captures]
        captured += bool(capturing)
        game = game.play(random.choice(capturing or moves))
        if game.outcome:
            break
    assert captured


def test_ways_cover_pieces_of_the_side_not_to_move() -> None:
    game = Game.start(KOOM_VALLEY)
    troll = game.position.squares(next(iter(game.ruleset.side_rules(game.turn.other).pieces)))[0]
    assert data.legal_moves_data(game, troll)["ways"]


def test_ways_are_empty_for_squares_without_a_move() -> None:
    game = Game.start(RULESETS["discworld"])
    for square in ("H8", "A7", "B7", "A1"):
        known = data.legal_moves_data(game, Square.parse(square))
        assert bool(known["ways"]) is (square == "A7")
    assert data.legal_moves_data(game.resign(game.turn), Square.parse("A7"))["ways"] == []


def test_battle_is_converted_to_json_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    annals, moves = Annals(), list[Move]()
    annals.begin()
    annals.play(CAPTURE)
    really = data.move_data

    def counted(move: Move) -> data.Data:
        moves.append(move)
        return really(move)

    monkeypatch.setattr(data, "move_data", counted)
    for _ in range(3):
        found = annals.found(BattleLookup(1))
        assert found is not None
        assert found.game
        text = as_json(data.RecordedBattle(found))
        assert json.loads(text)["record"] == write_record(found.game)
        assert tuple(moves) == CAPTURE
    annals.happen("oak board", TakenBack(NOON, "Anna", Side.TROLL, CAPTURE[1:]))
    changed = annals.found(BattleLookup(1))
    assert changed is not None
    assert len(json.loads(as_json(data.RecordedBattle(changed)))["moves"]) == 1
