"""Advisers for hints: agreement between workers and built-in search, and failing workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.server.bots import BAD, PATIENCE, program
from tests.service.place import Place, until
from thudmud.bots.adviser import OwnAdviser, WorkersAdviser
from thudmud.bots.program import ENGINE
from thudmud.bots.workers import Workers
from thudmud.game.evaluation import Evaluation
from thudmud.rules import DISCWORLD, RULESETS, Game, Ruleset
from thudmud.store import Store

GOES_ASTRAY = program(
    'print("# depth 1 nodes 9 worth +0.10 line dA6-B6 dA7-B7\\ngo dA6-B6", flush=True)'
)
"""The second ply of its line is illegal."""


@asynccontextmanager
async def asked(folder: Path, command: Sequence[str] = ENGINE) -> AsyncIterator[WorkersAdviser]:
    workers = Workers(1, folder, command)
    try:
        async with asyncio.timeout(PATIENCE):
            yield WorkersAdviser(workers)
    finally:
        await workers.close()


@pytest.mark.parametrize("rules", RULESETS.values(), ids=str)
async def test_worker_advice_matches_the_built_in_adviser(tmp_path: Path, rules: Ruleset) -> None:
    game = Game.start(rules)
    expected = await OwnAdviser().advise("oak board", game)
    for move in expected:
        assert move in game.legal_moves()
        game = game.play(move)
    async with asked(tmp_path) as adviser:
        assert await adviser.advise("oak board", Game.start(rules)) == expected


@pytest.mark.parametrize("rules", RULESETS.values(), ids=str)
async def test_worker_evaluation_matches_the_built_in_adviser(
    tmp_path: Path, rules: Ruleset
) -> None:
    game = Game.start(rules)
    for _ in range(2):  # each side's turn
        expected = await OwnAdviser().evaluate(game)
        async with asked(tmp_path) as adviser:
            assert await adviser.evaluate(game) == expected
        game = game.play(expected.principal_variation[0])
    scores = [(await OwnAdviser().evaluate(each)).score for each in (Game.start(rules), game)]
    assert abs(scores[0] - scores[1]) < 500  # both from the dwarfs' point of view


@pytest.mark.parametrize("command", [BAD["dying"], BAD["illegal"], GOES_ASTRAY])
async def test_failing_worker_gives_no_evaluation(tmp_path: Path, command: Sequence[str]) -> None:
    async with asked(tmp_path, command) as adviser:
        assert await adviser.evaluate(Game.start(DISCWORLD)) is None


@pytest.mark.parametrize("command", [BAD["dying"], BAD["illegal"], GOES_ASTRAY])
async def test_failing_worker_gives_no_advice(tmp_path: Path, command: Sequence[str]) -> None:
    async with asked(tmp_path, command) as adviser:
        assert await adviser.advise("oak board", Game.start(DISCWORLD)) is None


async def test_hint_from_a_dying_worker_reports_the_failure(tmp_path: Path) -> None:
    async with asked(tmp_path, BAD["dying"]) as adviser:
        place = Place(Store.in_memory(), adviser=adviser)
        await place.open()
        await place.sit()
        assert await place.type("Anna", "hint") == ""
        assert await place.type("Anna", "say Well?") == "You say: Well?"
        told = 'No hint this time. "hint on oak board" tries again.'
        await until(lambda: place.told["Anna"][-1] == told)


async def test_watched_evaluation_is_reported_by_depth(tmp_path: Path) -> None:
    game = Game.start(DISCWORLD)
    reports: list[Evaluation] = []
    async with asked(tmp_path) as adviser:
        evaluation = await adviser.evaluate(game, reports.append)
    assert evaluation
    depths = [len(each.scores_by_depth) for each in reports]
    assert depths == list(range(4, len(evaluation.scores_by_depth) + 1))
    assert [each.scores_by_depth for each in reports] == [
        evaluation.scores_by_depth[:depth] for depth in depths
    ]
    assert depths
    for each in (*reports, evaluation):
        assert len(each.principal_variation) >= 4
        after = game
        for move in each.principal_variation:
            after = after.play(move)
