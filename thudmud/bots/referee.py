"""Referee of engine matches: plays a battle between two programs and adjudicates it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from random import Random

from thudmud.bots.program import STARTING, LateError, Program, ProgramError, finish
from thudmud.errors import InvalidValueError
from thudmud.rules import Ending, Game, Ruleset, Score, Side, read_position, write_position
from thudmud.values import Value

LENIENCE = 0.5
"""Seconds of tolerance beyond a program's limit, for pipes and a busy machine."""


class Forfeit(Enum):
    """Reason for which a program has forfeited a battle."""

    ILLEGAL = "illegal ply"
    LATE = "time-out"
    FAILED = "failure"


class UnstartedError(ProgramError):
    """A program cannot be started, so there is no battle."""


class Terms(Value):
    """The terms of a battle between programs.

    Attributes:
        limit: arguments of "go", such as ``1.5`` or ``nodes 2000``.
        seconds: time limit for a ply by the clock; a program that exceeds it forfeits.
        quiet: plies without a capture after which the battle ends with the current score.
        plies: plies after which the battle ends regardless.
        cpu_seconds: limit of CPU seconds for a ply; None for no such limit.
    """

    limit: str
    seconds: float
    quiet: int
    plies: int
    cpu_seconds: float | None = None


class Verdict(Value):
    """Result of a battle between programs.

    Attributes:
        ending: a value of `thudmud.rules.Ending` or of `Forfeit`.
        faulty: the side that forfeited; None if neither did.
        why: explanation of the forfeit; "" without one.
        seconds: thinking time of each side, by the wall clock.
        cpu: CPU seconds of each side; None if unknown.
    """

    game: Game
    ending: str
    score: Score
    faulty: Side | None
    why: str
    seconds: Mapping[Side, float]
    cpu: Mapping[Side, float | None]


class Contender:
    """A program as one side of a battle.

    A program that lists ``play`` among its capabilities receives every ply. Any other receives the
    current position before each of its plies, and doesn't know the earlier ones.

    Args:
        name: name of the program in messages.
        command: the program and its arguments.
        is_modern: whether to ask for its capabilities.
        patience: time limit by the clock for every answer but a ply.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        is_modern: bool = True,
        patience: float = STARTING,
    ) -> None:
        self.name, self.seconds = name, 0.0
        self.is_modern = is_modern
        self._patience = patience
        self._program = Program(name, command, Path(), patience, starting=patience)
        self._follows = False
        self._told: Game | None = None
        self._cpu_before = 0.0

    async def start(self) -> None:
        """Start the program and determine its capabilities.

        Raises:
            ProgramError: the program cannot be started, or gives no answer.
        """
        await self._program.start()
        if self.is_modern:
            try:
                told = await self._program.ask("capabilities", self._patience)
            except ProgramError:
                # The protocol doesn't require this word, which may have confused the program.
                # Restart it.
                self.is_modern = False
                await self._program.kill()
                await self._program.start()
            else:
                lists = dict(each.partition("=")[::2] for each in told.split())
                self._follows = "play" in lists.get("words", "").split(",")
        self._cpu_before = self._program.cpu_seconds() or 0.0

    async def ply(self, game: Game, terms: Terms) -> str:
        """Ask the program for a ply.

        Args:
            game: the battle so far.
            terms: the terms, of which the limits apply.

        Returns:
            The program's answer, not yet checked.

        Raises:
            LateError: the program doesn't answer in time, or uses too many CPU seconds.
            ProgramError: the program's answer violates the protocol.
        """
        if self._told is None or not self._follows:
            await self._program.ask(f"rules {game.ruleset}", self._patience)
            position = game.initial_position if self._follows else game.position
            await self._program.ask(f"position {write_position(position)}", self._patience)
        if self._follows:
            for move in game.moves[len(self._told.moves) if self._told else 0 :]:
                await self._program.ask(f"play {move}", self._patience)
        self._told = game
        cpu_limit = terms.cpu_seconds
        used_before = (self.cpu_seconds() or 0.0) if cpu_limit else 0.0
        began = time.monotonic()
        try:
            answer = await self._program.ask(f"go {terms.limit}", terms.seconds + LENIENCE)
        finally:
            taken = time.monotonic() - began
            self.seconds += taken
        # Only ask if all cores together could have used that much: the answer takes milliseconds.
        if cpu_limit and taken * (os.cpu_count() or 1) > cpu_limit + LENIENCE:
            used = (self.cpu_seconds() or 0.0) - used_before
            if used > cpu_limit + LENIENCE:
                raise LateError(f"{used:.2f} CPU seconds for a ply, limit {cpu_limit:g}")
        return answer

    def cpu_seconds(self) -> float | None:
        """Return the CPU seconds used since the program was ready; None if unknown."""
        used = self._program.cpu_seconds()
        return None if used is None else max(0.0, used - self._cpu_before)

    async def end(self, *, at_once: bool) -> None:
        """End the program: kill it at once, or ask it to quit first."""
        await (self._program.kill() if at_once else self._program.stop())


async def play_battle(opening: Game, contenders: Mapping[Side, Contender], terms: Terms) -> Verdict:
    """Play a battle between two programs, and end both afterwards.

    Args:
        opening: the battle from which to start.
        contenders: the program of each side.
        terms: limits of the battle.

    Raises:
        UnstartedError: one of the programs cannot be started.
    """
    game, at_once = opening, True
    faulty: Side | None = None
    ending = why = ""
    try:
        for contender in contenders.values():
            try:
                await contender.start()
            except ProgramError as error:
                raise UnstartedError(f"cannot start {contender.name}: {error}") from error
        while not game.outcome and not (ending := _cut_off_reason(game, terms)):
            faulty = game.turn
            said = await contenders[faulty].ply(game, terms)
            try:
                game = game.push(said)
            except ValueError as error:
                ending, why = Forfeit.ILLEGAL.value, f"{said!r:.60}: {error}"
                break
        else:
            faulty, at_once = None, False
    except UnstartedError:
        raise
    except ProgramError as error:
        fault = Forfeit.LATE if isinstance(error, LateError) else Forfeit.FAILED
        ending, why = fault.value, str(error)
    finally:
        cpu = {side: contender.cpu_seconds() for side, contender in contenders.items()}
        ends = (each.end(at_once=at_once) for each in contenders.values())
        await finish(asyncio.gather(*ends))
    if faulty:
        outcome = game.resign(faulty).outcome
    else:
        outcome = game.outcome or game.agree(Ending.QUIET).outcome
    assert outcome  # noqa: S101  (both make one)
    seconds = {side: contender.seconds for side, contender in contenders.items()}
    return Verdict(game, ending or outcome.ending.value, outcome.score, faulty, why, seconds, cpu)


def _cut_off_reason(game: Game, terms: Terms) -> str:
    """Return the reason for ending a battle with its current score; "" to continue."""
    if game.quiet_plies >= terms.quiet:
        return Ending.QUIET.value
    return Ending.LENGTH.value if len(game.moves) >= terms.plies else ""


def random_opening(ruleset: Ruleset, plies: int, seed: str) -> Game:
    """Return a running battle after a number of random plies, reproducible by the seed."""
    chance = Random(seed)  # noqa: S311  (a game, no secret)
    while True:
        game = Game.start(ruleset)
        while not game.outcome and len(game.moves) < plies:
            game = game.play(chance.choice(game.legal_moves()))
        if not game.outcome:
            return game


def read_opening(line: str, ruleset: Ruleset) -> Game:
    """Parse a line of a file of openings: plies from the initial position, or a position.

    Raises:
        InvalidValueError: the line is neither, or the battle is already over there.
    """
    if "," in line:
        game = Game.start(ruleset, read_position(line, ruleset))
    else:
        game = Game.start(ruleset)
        for ply in line.split():
            game = game.push(ply)
    if game.outcome:
        raise InvalidValueError("the battle already ended there")
    return game
