"""Our own player as a service: a few processes, and a queue that is fair to the boards.

Thinking uses a processor for a while, so it is done in a few other processes, which leave the
server a core, and with limits in positions: a busy machine delays answers, but does not weaken
them.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections import deque
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from pathlib import Path

from thudmud.bots.program import ENGINE, Program, ProgramError, finish
from thudmud.errors import InvalidValueError
from thudmud.rules import Game, write_position
from thudmud.values import Value

WORKER = (*ENGINE, "--level", "1")
"""The command: our own player, which has loaded the search before it first answers."""

TRIES = 3
"""How often a question is asked before it is given up."""

NICENESS = 10
"""The niceness of workers."""

PATIENCE = 10.0
"""Seconds of silence after which a worker is taken to hang. A thinking one prints something each
second that it has a processor."""

_MOST_REPLAYED = 1000  # quiet plies that it is told, so that it notices repetitions
_INFORMATION = re.compile(
    r"# depth (?P<depth>\d+) nodes \d+ worth (?P<worth>[-+]\d+\.\d\d) line (?P<line>.+)"
)
_log = logging.getLogger(__name__)


class Question(Value):
    """A question: what to play in a battle.

    Attributes:
        board: the board whose queue it waits in; None if nobody waits to play on. Then it comes
            after those of all boards, and if there are several workers, one is always left for the
            boards.
        game: a running battle.
        level: the number of a level, whose errors apply; None for none.
        nodes: the most positions to search; None for the level's.
        seed: the seed of the errors, a number of at most nine digits.

    Raises:
        InvalidValueError: the battle is over, or nothing limits the answer.
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
            raise InvalidValueError("either a level or a number of nodes has to be the limit")


class Reply(Value):
    """A worker's answer.

    Attributes:
        worth: the position's worth to the side to move, in hundredths of a dwarf; with the level's
            errors.
        line: the expected plies, beginning with that one.
        worths: the worth at each depth of the search, from one ply on.
    """

    ply: str
    worth: int
    line: tuple[str, ...]
    worths: tuple[int, ...] = ()


class Workers:
    """Processes of our own player, or of a command in its place, started when first needed.

    Each board has a queue. Its next question waits for at most one of each other board, however
    many those ask; and for one of no board, if there is only one worker.
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
        """The questions that wait for a worker, by board; the board whose turn is next comes first.
        """
        self._lent: set[Program] = set()
        """The workers that think for no board."""
        self._works: set[asyncio.Task[None]] = set()
        """Work on workers that goes on even if nobody waits for it."""
        self._all_idle = asyncio.Event()
        self._all_idle.set()
        self._closed = False

    @property
    def spare(self) -> int:
        """How many workers may think for no board at a time."""
        return max(1, len(self._workers) - 1)

    async def think(self, question: Question) -> Reply:
        """Answer a question. If the caller is cancelled, the worker stops thinking.

        Raises:
            ProgramError: no worker answers.
        """
        if self._closed:
            raise ProgramError("the workers have ended")
        worker = await self._turn(question.board)
        try:
            reply = await self._answer(worker, question)
        except asyncio.CancelledError:
            self._begin(self._stop(worker))
            raise
        except BaseException:
            self._free(worker)
            raise
        self._free(worker)
        return reply

    async def close(self) -> None:
        """End all workers; pending questions get no answer."""
        self._closed = True
        for turn in [each for queue in self._waiting.values() for each in queue if not each.done()]:
            turn.set_exception(ProgramError("the workers have ended"))
        self._waiting.clear()
        await finish(asyncio.gather(*(worker.kill() for worker in self._workers)))
        await self._all_idle.wait()
        if self._works:
            await asyncio.wait(self._works)

    # Whose turn it is.

    async def _turn(self, board: str | None) -> Program:
        """Wait for a worker. A running one is taken before another is started."""
        if self._idle and self._has_turn(board):
            self._all_idle.clear()
            return self._given(self._idle.pop(), board)
        turn: asyncio.Future[Program] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(board, deque()).append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._forget(board, turn)
            elif turn.exception() is None:  # it has just been given one
                self._free(turn.result())
            raise

    def _has_turn(self, board: str | None) -> bool:
        """Return whether a free worker may be given to a board; or to none, if one is left."""
        return board is not None or len(self._lent) < self.spare

    def _given(self, worker: Program, board: str | None) -> Program:
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
        """Give a worker to the next board, which then is the last in turn."""
        self._lent.discard(worker)
        while turns := [board for board in self._waiting if self._has_turn(board)]:
            board = next((each for each in turns if each is not None), None)
            queue = self._waiting.pop(board)
            turn = queue.popleft()
            if queue:
                self._waiting[board] = queue
            if not turn.done():
                turn.set_result(self._given(worker, board))
                return
        self._idle.append(worker)
        if len(self._idle) == len(self._workers):
            self._all_idle.set()

    # What is said to a worker.

    async def _answer(self, worker: Program, question: Question) -> Reply:
        failures = 0
        while True:
            try:
                await worker.start()
                if self._closed:  # meanwhile
                    await worker.kill()
                return await _asked(worker, question)
            except ProgramError as error:
                await asyncio.shield(self._begin(worker.kill()))
                failures += 1
                if self._closed or failures == TRIES:
                    raise
                _log.warning("a worker has failed, and is started again: %s", error)

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Begin work that goes on even if the caller is cancelled."""
        task = asyncio.create_task(work)
        self._works.add(task)
        task.add_done_callback(self._works.discard)
        return task

    async def _stop(self, worker: Program) -> None:
        await worker.stop_thinking()
        self._free(worker)


async def _asked(worker: Program, question: Question) -> Reply:
    """Ask one worker.

    It is told the plies since the last capture, and the position before them.

    Raises:
        ProgramError: it does not answer, or wrongly.
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
    said: list[str] = []
    ply = await worker.ask("\n".join(lines), PATIENCE, said.append)
    information = [found for each in said if (found := _INFORMATION.fullmatch(each))]
    if not information:
        raise ProgramError("it does not say what it thinks")
    worths: list[int] = []
    for each in information:
        if int(each["depth"]) == len(worths) + 1:  # the last depth may be unfinished
            worths.append(_hundredths(each))
    *_, last = information
    return Reply(ply, _hundredths(last), tuple(last["line"].split()), tuple(worths))


def _hundredths(information: re.Match[str]) -> int:
    return round(100 * float(information["worth"]))


def worker_count(wanted: int) -> int:
    """Return the number of workers for a setting; 0 means one less than cores, at least one."""
    if wanted:
        return wanted
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) - 1)
