"""Move lists are complete even if several threads generate them at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from tests.conftest import SOAKING
from tests.rules.shorthand import seeded
from thudmud.rules import (
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    Game,
    Move,
    Piece,
    Ruleset,
    classic,
    generation,
    koom_valley,
    moves,
)

THREADS = 4
ROUNDS = 50 if SOAKING else 5


@pytest.fixture(autouse=True)
def _switching_often() -> Iterator[None]:
    """Switch threads as often as possible, to expose half-built caches."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear the caches of the rules, as in a new process."""
    further = classic._hurls_along
    monkeypatch.setattr(classic, "_LINES", generation.SlideGenerator(Piece.DWARF, 15, further))
    monkeypatch.setattr(koom_valley, "_QUEENS", generation.SlideGenerator(Piece.DWARF, 15))
    monkeypatch.setattr(koom_valley, "_STRIDES", generation.SlideGenerator(Piece.TROLL, 3))
    monkeypatch.setattr(moves, "_QUIET", {})
    for cache in (classic._steps_capturing, classic._shoves_capturing, koom_valley._capturing):
        cache.cache_clear()


def positions(rules: Ruleset, seed: int) -> list[Game]:
    random, game = seeded(seed), Game.start(rules)
    games = [game]
    while len(games) < 30 and game.outcome is None:
        game = game.play(random.choice(game.legal_moves()))
        games.append(game)
    return games


@pytest.mark.parametrize("rules", RULESETS.values(), ids=str)
def test_concurrent_threads_get_complete_move_lists(
    rules: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = positions(rules, 1)
    wanted = [set(game.legal_moves()) for game in games]
    sizes = [len(game.legal_moves()) for game in games]
    for _ in range(ROUNDS):
        forget(monkeypatch)
        together = Barrier(THREADS)

        def listed(_thread: int, together: Barrier = together) -> list[list[Move]]:
            together.wait()
            return [game.legal_moves() for game in games]

        with ThreadPoolExecutor(THREADS) as pool:
            answers = [*pool.map(listed, range(THREADS)), [game.legal_moves() for game in games]]
        for answer in answers:
            assert [len(moves) for moves in answer] == sizes
            assert [set(moves) for moves in answer] == wanted


def test_forget_clears_the_move_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the test above would compare cached lists with themselves."""
    one = DISCWORLD.legal_moves(DISCWORLD.initial_position)[0]
    forget(monkeypatch)
    assert DISCWORLD.legal_moves(DISCWORLD.initial_position)[0] is not one
    assert len(KOOM_VALLEY.legal_moves(KOOM_VALLEY.initial_position)) == 388
