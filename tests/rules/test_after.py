"""`Game.after`: a battle at any of its plies, reached from a nearby one."""

from __future__ import annotations

import pytest

from tests.game.annals import LONGER
from thudmud.rules import DISCWORLD, Game, Move, Position, Side


def states() -> list[Game]:
    """Return a battle after each of its plies; the last one is resigned."""
    states = [Game.start(DISCWORLD)]
    for move in LONGER:
        states.append(states[-1].play(move))
    return [*states[:-1], states[-1].resign(Side.DWARF)]


STATES = states()


@pytest.mark.parametrize("ply", range(len(STATES)))
def test_battle_after_any_ply_is_found_from_any_other(ply: int) -> None:
    assert STATES[-1].after(ply) == STATES[ply]
    for near in STATES:
        assert STATES[-1].after(ply, near) == STATES[ply]


@pytest.mark.parametrize(("near", "count"), [(1, 1), (2, 0), (3, 0), (None, 2)])
def test_battle_after_a_ply_replays_the_fewest_plies(
    monkeypatch: pytest.MonkeyPatch, near: int | None, count: int
) -> None:
    played = []
    really = Position.after

    def counting(self: Position, move: Move) -> Position:
        played.append(move)
        return really(self, move)

    monkeypatch.setattr(Position, "after", counting)
    assert STATES[-1].after(2, None if near is None else STATES[near]) == STATES[2]
    assert len(played) == count
