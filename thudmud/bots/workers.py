"""Pool of engine processes, with a queue that is fair to the boards.

A search occupies a processor for a while, so the searches run in separate processes, which leave
one core to the server. They are limited by positions, not by time: a busy machine delays the
answers but does not weaken them.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path

from thudmud.bots.program import ENGINE, Program, ProgramError, finish
from thudmud.errors import InvalidValueError
from thudmud.rules import Game, write_position
from thudmud.values import Value, replace

WORKER = (*ENGINE, "--level", "1")
"""Command of a worker: the built-in engine. A level makes it load the search before it answers."""

TRIES = 3
"""Maximum number of attempts to answer a question."""

NICENESS = 10
"""The niceness of workers."""

PATIENCE = 10.0
"""Seconds of silence after which a worker is considered hung. During a search it prints a comment
for every second in which it gets a processor."""

_MOST_REPLAYED = 1000  # quiet plies sent to a worker for the detection of repetitions
_INFORMATION = re.compile(
    r"# depth (?P<depth>\d+) nodes \d+ worth (?P<worth>[-+]\d+\.\d\d) line (?P<line>.+)"
)
_log = logging.getLogger(__name__)


class Question(Value):
    """A request for the best ply of a battle.

    Attributes:
        board: board whose queue the question joins; None for analyses, for which no game waits.
            These have the lowest priority, and never occupy the last of several workers.
        game: a running battle.
        level: number of a level with deliberate errors; None for none.
        nodes: maximum number of positions to search; None for the level's.
        seed: seed of the deliberate errors, of at most nine digits.

    Raises:
        InvalidValueError: the battle is over, or neither `level` nor `nodes` is given.
    """

    board: str | None
    game: Game
    level: int | None = None
    nodes: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.game.outcome:
            raise InvalidValueError("the battle is over")
        if self.level is None and self.nodes is None:
            raise InvalidValueError("expected either a level or a number of nodes")


class Reply(Value):
    """A worker's answer.

    Attributes:
        ply: the chosen ply.
        score: evaluation from the mover's point of view, in hundredths of a dwarf; it includes
            the level's deliberate errors.
        principal_variation: principal variation, beginning with the chosen ply.
        scores_by_depth: evaluations by depth of the search, from depth 1.
    """

    ply: str
    score: int
    principal_variation: tuple[str, ...]
    scores_by_depth: tuple[int, ...] = ()


class Workers:
    """Pool of worker processes, started on demand.

    Round-robin scheduling: each board has a queue, and its next question waits for at most one
    question of each other board. If there is only one worker, it may wait for one analysis too.

    Args:
        count: number of workers; 0 for one less than the number of cores.
        folder: working directory of the workers.
        command: command of a worker.

    Raises:
        InvalidValueError: the number is negative.
    """

    def __init__(
        self, count: int = 0, folder: Path = Path(), command: Sequence[str] = WORKER
    ) -> None:
        self._idle = [
            Program(f"worker {number}", command, folder, PATIENCE, niceness=NICENESS)
            for number in range(worker_count(count), 0, -1)
        ]
        self._workers = tuple(self._idle)
        self._waiting: dict[str | None, deque[asyncio.Future[Program]]] = {}
        """Questions waiting for a worker, by board; the first board is the next to be served."""
        self._lent: set[Program] = set()
        """Workers busy with questions that belong to no board."""
        self._works: set[asyncio.Task[None]] = set()
        """Background tasks that stop or kill workers, even if nobody awaits them."""
        self._all_idle = asyncio.Event()
        self._all_idle.set()
        self._closed = False

    @property
    def spare(self) -> int:
        """Maximum number of workers that may serve questions of no board at the same time."""
        return max(1, len(self._workers) - 1)

    async def think(
        self, question: Question, report: Callable[[Reply], object] | None = None
    ) -> Reply:
        """Answer a question; if the caller is cancelled, the worker aborts the search.

        Args:
            question: the question.
            report: called with the reply so far, each time that the worker reports one.

        Raises:
            ProgramError: no worker answers.
        """
        if self._closed:
            raise ProgramError("the workers have ended")
        worker = await self._wait_for_worker(question.board)
        try:
            reply = await self._answer(worker, question, report)
        except asyncio.CancelledError:
            self._begin(self._stop(worker))
            raise
        except BaseException:
            self._free(worker)
            raise
        self._free(worker)
        return reply

    async def close(self) -> None:
        """End all workers; pending questions fail with `ProgramError`."""
        self._closed = True
        for turn in [each for queue in self._waiting.values() for each in queue if not each.done()]:
            turn.set_exception(ProgramError("the workers have ended"))
        self._waiting.clear()
        await finish(asyncio.gather(*(worker.kill() for worker in self._workers)))
        await self._all_idle.wait()
        if self._works:
            await asyncio.wait(self._works)

    # Scheduling.

    async def _wait_for_worker(self, board: str | None) -> Program:
        """Wait for an idle worker; the last one used is preferred, because it is running."""
        if self._idle and self._has_turn(board):
            self._all_idle.clear()
            return self._lend(self._idle.pop(), board)
        turn: asyncio.Future[Program] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(board, deque()).append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._forget(board, turn)
            elif turn.exception() is None:  # a worker was assigned just before the cancellation
                self._free(turn.result())
            raise

    def _has_turn(self, board: str | None) -> bool:
        """Return whether an idle worker may serve a board; None stands for no board."""
        return board is not None or len(self._lent) < self.spare

    def _lend(self, worker: Program, board: str | None) -> Program:
        if board is None:
            self._lent.add(worker)
        return worker

    def _forget(self, board: str | None, turn: asyncio.Future[Program]) -> None:
        queue = self._waiting.get(board, deque())
        with suppress(ValueError):
            queue.remove(turn)
        if not queue:
            self._waiting.pop(board, None)

    def _free(self, worker: Program) -> None:
        """Release a worker: assign it to the next board, which moves to the end of the order."""
        self._lent.discard(worker)
        while turns := [board for board in self._waiting if self._has_turn(board)]:
            board = next((each for each in turns if each is not None), None)
            queue = self._waiting.pop(board)
            turn = queue.popleft()
            if queue:
                self._waiting[board] = queue
            if not turn.done():
                turn.set_result(self._lend(worker, board))
                return
        self._idle.append(worker)
        if len(self._idle) == len(self._workers):
            self._all_idle.set()

    # Communication with a worker.

    async def _answer(
        self, worker: Program, question: Question, report: Callable[[Reply], object] | None
    ) -> Reply:
        failures = 0
        while True:
            try:
                await worker.start()
                if self._closed:  # `close` ran during the start
                    await worker.kill()
                return await _ask_worker(worker, question, report)
            except ProgramError as error:
                await asyncio.shield(self._begin(worker.kill()))
                failures += 1
                if self._closed or failures == TRIES:
                    raise
                _log.warning("a worker failed and is restarted: %s", error)

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Start a background task that survives a cancellation of the caller."""
        task = asyncio.create_task(work)
        self._works.add(task)
        task.add_done_callback(self._works.discard)
        return task

    async def _stop(self, worker: Program) -> None:
        await worker.stop_thinking()
        self._free(worker)


async def _ask_worker(
    worker: Program, question: Question, report: Callable[[Reply], object] | None
) -> Reply:
    """Send a question to a worker and parse its reply.

    The worker receives the position after the last capture and the plies since, so that it can
    detect repetitions.

    Raises:
        ProgramError: the worker gives no answer, or a wrong one.
    """
    game = question.game
    quiet = min(game.quiet_plies, _MOST_REPLAYED)
    before = game.position
    for move in reversed(game.moves[len(game.moves) - quiet :]):
        before = before.before(move)
    lines = [f"rules {game.ruleset}", f"position {write_position(before)}"]
    if quiet:
        lines.append(f"moves {' '.join(map(str, game.moves[-quiet:]))}")
    lines += [f"level {question.level or 'off'}", f"seed {question.seed}", "info on"]
    lines.append("go" if question.nodes is None else f"go nodes {question.nodes}")
    replies: list[Reply] = []
    loop = asyncio.get_running_loop()

    def note(comment: str) -> None:
        if information := _INFORMATION.fullmatch(comment):
            replies.append(_reply(information, replies[-1].scores_by_depth if replies else ()))
            if report:
                # Called later, so that an error in it doesn't leave the worker's answer unread.
                loop.call_soon(report, replies[-1])

    ply = await worker.ask("\n".join(lines), PATIENCE, note)
    if not replies:
        raise ProgramError("expected a report of the search, got none")
    return replace(replies[-1], ply=ply)


def _reply(information: re.Match[str], scores: tuple[int, ...]) -> Reply:
    """Return the reply according to a report; ``scores`` are those of the depths before it."""
    score, line = round(100 * float(information["worth"])), tuple(information["line"].split())
    if int(information["depth"]) == len(scores) + 1:  # the last depth may be unfinished
        scores += (score,)
    return Reply(line[0], score, line, scores)


def worker_count(wanted: int) -> int:
    """Return the number of workers for a setting; 0 means one less than cores, but at least 1."""
    if wanted < 0:
        raise InvalidValueError(f"expected 0 or more workers, got {wanted}")
    if wanted:
        return wanted
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) - 1)
