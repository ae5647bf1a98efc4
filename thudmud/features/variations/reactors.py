"""Evaluations of positions, computed in the background.

There is one at a time for each player: another request takes its place, since players go on to the
next position without waiting.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from thudmud.errors import RefusedError
from thudmud.features.variations.commands import Evaluate
from thudmud.features.variations.model import (
    Evaluating,
    EvaluationLookup,
    PositionEvaluation,
    VariationRefusal,
    opening_of,
    position_evaluation,
)
from thudmud.game.archive import LookupResults
from thudmud.game.evaluation import Adviser, Evaluation
from thudmud.game.feature import FeatureContext, LookupRequest, Postponed
from thudmud.game.hall import Decision
from thudmud.game.refusals import Refusal
from thudmud.rules import Game
from thudmud.store import StoreError

if TYPE_CHECKING:
    import asyncio

EVALUATION_SECONDS = 0.02
"""A rough estimate of the adviser's time for a position, in seconds."""

MOST_FROM_ADDRESS = 2
"""The maximum number of evaluations at a time for players of one address."""

MOST_OPENINGS = 64
"""The maximum number of openings whose evaluations are cached."""

_log = logging.getLogger(__name__)


def setup(service: FeatureContext) -> None:
    """Register the handler of evaluations with a service."""
    evaluations = Evaluations(service)
    service.register_lookup(EvaluationLookup, evaluations.look_up)
    service.on_stop(evaluations.close)


class PendingEvaluation(NamedTuple):
    """An evaluation under way: its task, the address of the player who waits, and the request."""

    task: asyncio.Task[PositionEvaluation | None]
    origin: str
    asked: EvaluationLookup


class Evaluations:
    """Evaluations under way."""

    def __init__(self, service: FeatureContext) -> None:
        self._service = service
        self._pending: dict[str, PendingEvaluation] = {}
        """By the name of the player who waits."""
        self._openings: dict[Game, Evaluation] = {}

    def look_up(
        self, request: LookupRequest, asked: EvaluationLookup
    ) -> PositionEvaluation | Postponed | None:
        """Ask the adviser for an evaluation; the answer if it comes at once, else `Postponed`.

        Raises:
            RefusedError: there is no adviser, or players of the same address wait for others.
        """
        name, adviser = request.player, self._service.adviser
        if adviser is None:
            raise RefusedError(VariationRefusal.NO_EVALUATIONS)
        if earlier := self._pending.pop(name, None):
            earlier.task.cancel()
        same = sum(each.origin == request.origin for each in self._pending.values())
        if request.origin and same >= MOST_FROM_ADDRESS:
            raise RefusedError(
                Refusal.TOO_MUCH_FROM_ADDRESS, what="evaluations", most=MOST_FROM_ADDRESS
            )

        def report(found: PositionEvaluation) -> None:
            if self._is_awaited(name, asked) and name in self._service.local_players():
                self._service.tell(Evaluating(name, asked.position, found), request.cause)

        task = self._service.spawn(self._evaluate(adviser, asked.position.game, report))
        if task is None or isinstance(task, PositionEvaluation):
            return task
        self._pending[name] = PendingEvaluation(task, request.origin, asked)
        self._service.spawn(self._deliver(task, asked, request))
        return Postponed(Decision(name), EVALUATION_SECONDS)

    def _is_awaited(self, player: str, asked: EvaluationLookup) -> bool:
        """Return whether a player waits for this evaluation, as opposed to a later one."""
        pending = self._pending.get(player)
        return pending is not None and pending.asked is asked

    async def _evaluate(
        self, adviser: Adviser, game: Game, report: Callable[[PositionEvaluation], None]
    ) -> PositionEvaluation | None:
        """Return the evaluation, after reports of it; None if the adviser fails."""
        opening, begins = opening_of(game), None
        try:
            if game != opening:
                begins = await self._evaluate_opening(adviser, opening)
                if begins is None:
                    return None
            found = await adviser.evaluate(
                game, lambda each: report(position_evaluation(each, begins or each, game))
            )
        except Exception:  # noqa: BLE001  (the player is told that it failed)
            _log.exception("could not evaluate a position")
            return None
        if found is None:
            return None
        return position_evaluation(found, begins or found, game)

    async def _evaluate_opening(self, adviser: Adviser, opening: Game) -> Evaluation | None:
        """Return the evaluation of an opening, which scores are relative to; None on failure."""
        evaluation = self._openings.get(opening) or await adviser.evaluate(opening)
        if evaluation and opening not in self._openings:
            if len(self._openings) >= MOST_OPENINGS:
                self._openings.clear()
            self._openings[opening] = evaluation
        return evaluation

    async def _deliver(
        self,
        task: asyncio.Task[PositionEvaluation | None],
        asked: EvaluationLookup,
        request: LookupRequest,
    ) -> None:
        """Wait for an evaluation, then carry out the command that asked for it."""
        try:
            evaluation = await task
        finally:
            if self._is_awaited(request.player, asked):
                del self._pending[request.player]
        position, name = asked.position, request.player
        command = Evaluate(position.battle.number, position.branch, tuple(map(str, position.plies)))
        found = LookupResults({asked: evaluation})
        try:
            await self._service.run_command(name, command, found, request.cause)
        except StoreError as error:
            _log.error("could not deliver an evaluation: %s", error, extra={"player": name})

    def close(self) -> None:
        """Cancel all evaluations."""
        for each in self._pending.values():
            each.task.cancel()
