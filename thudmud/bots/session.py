"""The session of a bot, which plays through a program or the search workers.

A server has one for each configured bot; a gateway has them for each board.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import FIRST_COMPLETED
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Protocol

from thudmud.bots.opponent import Opponent, Task
from thudmud.bots.program import Program, ProgramError
from thudmud.bots.workers import Question, Workers
from thudmud.features.playing.moves import Play, Resign
from thudmud.features.playing.seats import Join
from thudmud.features.talk.commands import Tell
from thudmud.game.asides import Aloud, Emoted, Invited, Spoke
from thudmud.game.command import Command
from thudmud.game.delivery import Delivery
from thudmud.search.levels import find_level
from thudmud.service import Dismissal, PlaysElsewhereError, Result, Service, Visit, run_eagerly
from thudmud.service.interface import Watcher
from thudmud.store import StoreError, accounts
from thudmud.views import Message

SLOW, SLOW_AGAIN = 2.0, 10.0
"""Seconds after its pause until a bot shows that it is thinking: the first time in a battle, and
later, when the players know its pace."""

MOMENT = 2.0
"""The longest time, in seconds, for which logins wait for the bots of a new server."""

AGAIN = 5.0
"""Seconds until a bot that could not join tries again."""

MAX_HOLD = 30.0
"""The longest wait, in seconds, of a player's next line for a bot's answer.

It leaves time for a slow program to start.
"""

_WAIT = 1.0  # seconds to leave a board alone after a command without effect
_MAX_QUOTE = 60
_SEEDS = 1_000_000_000
_log = logging.getLogger(__name__)


class BotProfile(Protocol):
    """What a bot is: a section ``[[bot]]`` of the configuration, which describes each key."""

    @property
    def name(self) -> str:
        """The bot's name, which no player can have."""

    @property
    def level(self) -> str:
        """The level of a bot without a program."""

    @property
    def command(self) -> Sequence[str]:
        """The bot's program and its arguments; empty for none."""

    @property
    def seconds(self) -> float:
        """The time limit of the program for a ply."""

    @property
    def pause(self) -> float:
        """Minimum seconds from the opponent's ply to the bot's, see `thudmud.bots.pace`."""

    @property
    def restarts(self) -> int:
        """The number of restarts of a failing program in one battle."""

    @property
    def hello(self) -> str:
        """What the bot says when a match begins; empty for nothing."""

    @property
    def goodbye(self) -> str:
        """What the bot says when a match is over; empty for nothing."""


def level_of_each(profiles: Iterable[BotProfile]) -> dict[str, str | None]:
    """Return the levels of bots by name; None for those with a program."""
    return {each.name: None if each.command else each.level for each in profiles}


class BotHost(Protocol):
    """What a bot needs of the front end where it plays."""

    @property
    def service(self) -> Service:
        """The service with the bot's boards."""

    @property
    def clock(self) -> Callable[[], float]:
        """Returns the seconds since the epoch."""

    def add(self, session: Bot) -> None:
        """Register the bot's session."""

    def remove(self, session: Bot) -> None:
        """Unregister the bot's session, which has ended."""

    def delay_logins_until(self, coming: asyncio.Future[None]) -> None:
        """Let no player in until a future is done."""

    async def admit_bot(self, bot: Bot, watcher: Watcher) -> Visit | None:
        """Let the bot in; return None if it may not come in.

        Raises:
            PlaysElsewhereError: the bot is on another node, which doesn't release it.
            StoreError: the store can't be read.
        """

    async def submit(self, visit: Visit, line: Command) -> Result:
        """Carry out a bot's command.

        Raises:
            StoreError: the command couldn't be stored.
        """

    def hold(self, name: str) -> asyncio.Future[None]:
        """Delay a player's next line until the returned future is done, see `HeldLines.hold`."""


class HeldLines:
    """The players whose next line waits for a bot's answer to their invitation.

    Attributes:
        answers: the answers that a player's next line waits for, by player.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self.answers: dict[str, asyncio.Future[None]] = {}

    def hold(self, name: str) -> asyncio.Future[None]:
        """Delay a player's next line until a bot has answered the current one.

        Players on another server aren't delayed.

        Returns:
            A future that the bot sets once it has answered; it is set after `MAX_HOLD` at the
            latest.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[None] = loop.create_future()
        if self._service.visit(name):
            self.answers[name] = answer
        limit = loop.call_later(MAX_HOLD, release_line, answer)

        def forget(_: asyncio.Future[None]) -> None:
            limit.cancel()
            if self.answers.get(name) is answer:
                del self.answers[name]

        answer.add_done_callback(forget)
        return answer


def release_line(answer: asyncio.Future[None]) -> None:
    """Release a held line; no effect if it has been released already."""
    if not answer.done():
        answer.set_result(None)


@dataclass(slots=True)
class _Thought:
    """A task under consideration, and the asyncio task that chooses its ply."""

    task: Task
    choosing: asyncio.Task[Play]


class Bot:
    """The session of one bot.

    Attributes:
        is_cut_off: whether the bot had to leave because other servers believed this one dead.
    """

    def __init__(
        self,
        host: BotHost,
        opponent: Opponent,
        settings: BotProfile,
        workers: Workers,
        folder: Path,
    ) -> None:
        self._host, self._opponent, self._workers = host, opponent, workers
        self.name, self._restarts, self._pause = settings.name, settings.restarts, settings.pause
        self._hello, self._goodbye = settings.hello, settings.goodbye
        self._program: Program | None = None
        """The program that chooses plies, one at a time; None if the workers do, at all boards."""
        if settings.command:
            self._program = Program(self.name, settings.command, folder, settings.seconds)
        self._level = find_level(settings.level).number
        """The level for seats without one: those taken while the bot had a program, or before
        levels were stored."""
        self.address = ""
        self._visit: Visit | None = None
        self._failures: Counter[tuple[str, int]] = Counter()
        self._thoughts: dict[str, _Thought] = {}
        """Current thoughts, by board name."""
        self._shown: dict[tuple[str, int], int] = {}
        """The ply at which the bot last showed that it is thinking, by board and battle."""
        self._held: dict[str, float] = {}
        """The time until which a board is left alone after a command without effect, by board."""
        self._begun = False
        self._over = asyncio.Event()
        self.is_cut_off = False
        self._woken = asyncio.Event()
        self._asked: deque[tuple[Invited, asyncio.Future[None]]] = deque()
        """Unanswered invitations, each with the future to set once it is answered."""
        self._living: asyncio.Task[None] | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the bot has left, or is about to."""
        return self._over.is_set()

    def start(self, *, is_expected: bool) -> None:
        """Join the game in the background.

        Args:
            is_expected: whether logins wait until the bot has joined, for `MOMENT` at most.
        """
        self._host.add(self)
        loop = asyncio.get_running_loop()
        tried: asyncio.Future[None] = loop.create_future()
        if is_expected:
            self._host.delay_logins_until(tried)
            loop.call_later(MOMENT, release_line, tried)
        self._coming = asyncio.create_task(self._join_game(tried))
        self._living = asyncio.create_task(self._run())

    async def wait_closed(self) -> None:
        """Wait until the bot has left and its program has ended."""
        if self._living:
            await asyncio.wait([self._living])

    # Called by the service and by other sessions.

    def watch(self, telling: Delivery) -> None:
        """Process an event that the bot can observe."""
        try:
            self._opponent.observe_delivery(telling, self._host.clock())
            while self._opponent.invitations and not self.has_ended:
                invitation = self._opponent.invitations.pop(0)
                # The player's next line waits until the invitation is answered.
                self._asked.append((invitation, self._host.hold(invitation.player)))
        except Exception:  # noqa: BLE001  (a bug in one bot must not stop delivery to others)
            kind = type(telling.event).__name__
            _log.exception("the bot %s could not handle %s", self.name, kind)
            self.end()
        self._woken.set()

    def put(self, message: Message) -> None:
        """Ignore a message, which is meant for human players."""

    def handle_dismissal(self, why: Dismissal) -> None:
        """Leave the game after a dismissal by the service."""
        self.is_cut_off = why in {Dismissal.MOVED, Dismissal.CUT_OFF}
        self.end()

    def end(self, sentence: str = "", why: object = None) -> None:  # noqa: ARG002  (for people)
        """Leave the game; both arguments are for human players and have no effect."""
        # A task cancelled before its first step would skip the clean-up in its `finally`.
        if self._begun and self._living and not self.has_ended:
            self._living.cancel()
        self._over.set()

    # Life cycle.

    async def _run(self) -> None:
        self._begun = True
        try:
            if not self.has_ended:
                await asyncio.shield(self._coming)
            while not self.has_ended:
                await self._act()
        except asyncio.CancelledError:
            pass  # the normal end
        except Exception:  # noqa: BLE001  (a bug in a bot must not stop the server)
            _log.exception("the bot %s failed and leaves", self.name)
        finally:
            self._over.set()
            await asyncio.wait([self._coming])  # not cancelled: it may be half complete
            while self._asked:
                release_line(self._asked.popleft()[1])
            for thought in self._thoughts.values():
                thought.choosing.cancel()
            if self._thoughts:
                await asyncio.wait([each.choosing for each in self._thoughts.values()])
            if self._program:
                await self._program.kill()
            if self._visit:
                await self._host.service.leave(self._visit)
            self._host.remove(self)

    async def _join_game(self, tried: asyncio.Future[None]) -> None:
        """Join the game, with retries while the store fails or another server has the bot.

        Args:
            tried: set after the first attempt, whatever its outcome.
        """
        host = self._host
        try:
            while not self.has_ended:
                try:
                    if await host.service.store.read(accounts.is_taken, self.name):
                        why = "a player owns that name; rename the bot"
                        _log.error("the bot %s cannot join: %s", self.name, why)
                        self._over.set()
                    else:
                        self._visit = await host.admit_bot(self, self.watch)
                        break
                except (StoreError, PlaysElsewhereError) as error:
                    _log.error("the bot %s could not join yet: %s", self.name, error)
                    release_line(tried)
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._over.wait(), AGAIN)
        finally:
            release_line(tried)

    async def _act(self) -> None:
        """Take the next action, or wait until there may be one."""
        self._woken.clear()
        opponent, now = self._opponent, self._host.clock()
        if remark := self._opponent.next_remark():
            board, is_over = remark
            if text := self._goodbye if is_over else self._hello:
                await self._speak(Spoke(self.name, board, text))
        elif self._asked:
            await self._answer()
        elif commands := opponent.commands(now):
            for command in commands:
                await self._do(command)
        elif not await self._play():
            if not opponent.plays and not self._thoughts:
                self._failures.clear()
                self._shown.clear()
                if self._program:
                    await self._program.stop()
            await self._wait(opponent.next_time(now))

    async def _answer(self) -> None:
        """Answer the oldest invitation: take a seat if the bot's program works."""
        invitation, answer = self._asked.popleft()
        try:
            if self._program and not self._thoughts:  # a current thought shows that it works
                await self._program.start()
            # Programs start slowly: another player may have taken that side meanwhile.
            board, level = invitation.board, invitation.level
            for side in (invitation.side, invitation.side.other):
                if not self._opponent.has_seat_at(board):
                    await self._do(Join(side, board, level))
        except ProgramError as error:
            await self._handle_failure(error)
            sorry = (
                "Sorry, I can't come: my program isn't working. The operator can find the reason "
                "in the log."
            )
            await self._do(Tell(invitation.player, sorry))
        finally:
            release_line(answer)

    # Playing.

    async def _play(self) -> bool:
        """Start thoughts for new tasks, and conclude at most one that is due.

        Returns:
            Whether a thought was concluded.
        """
        now = self._host.clock()
        self._held = {board: until for board, until in self._held.items() if until > now}
        tasks = {
            each.board: each for each in self._opponent.tasks() if each.board not in self._held
        }
        for board, thought in list(self._thoughts.items()):
            is_current = tasks.get(board) == thought.task
            if thought.choosing.done():
                if is_current and self._time_to_play(thought) > now:
                    continue
                del self._thoughts[board]
                await self._conclude(thought, is_current=is_current)
                return True
            if not is_current and not self._program:
                del self._thoughts[board]
                thought.choosing.cancel()
        for board, task in tasks.items():
            if board not in self._thoughts and not (self._program and self._thoughts):
                choosing = asyncio.create_task(self._choose_play(task))
                self._thoughts[board] = _Thought(task, choosing)
            if self._time_to_show(task) <= now and self._visit:
                self._shown[board, task.battle] = len(task.game.moves)
                await self._speak(Emoted(self.name, board, "is thinking."))
        return False

    def _time_to_show(self, task: Task) -> float:
        """Return the time at which to show that the bot is thinking, at most once for a ply."""
        shown = self._shown.get((task.board, task.battle))
        if shown == len(task.game.moves):
            return inf
        return task.since + self._pause_before(task) + (SLOW if shown is None else SLOW_AGAIN)

    async def _conclude(self, thought: _Thought, *, is_current: bool) -> None:
        """Play the chosen ply, unless the position has changed.

        A bot whose program fails more often than it may be restarted resigns.
        """
        task = thought.task
        try:
            play = thought.choosing.result()
        except ProgramError as error:
            await self._handle_failure(error)
            self._failures[task.board, task.battle] += 1
            if self._failures[task.board, task.battle] <= self._restarts:
                return
            if other := self._opponent.opponent_at(task.board):
                await self._do(Tell(other, "My program has failed too often. I resign."))
            await self._do(Resign(task.board))
        else:
            if not is_current:
                return
            await self._do(play)
        if task in self._opponent.tasks():  # the command had no effect, perhaps for a store error
            self._held[task.board] = self._host.clock() + _WAIT

    async def _choose_play(self, task: Task) -> Play:
        """Choose a ply with the program or a worker.

        Raises:
            ProgramError: the program failed, or chose an illegal ply.
        """
        score = None
        if self._program:
            ply = await self._program.ply(task)
        else:
            level = self._level_of(task)
            # A seed per battle: otherwise the bot would lose twice to the same plies.
            question = Question(task.board, task.game, level, seed=task.battle % _SEEDS)
            reply = await self._workers.think(question)
            ply, score = reply.ply, reply.score
        try:
            play = task.command(ply)
        except ValueError as error:
            raise ProgramError(
                f"expected a legal ply, got {ply[:_MAX_QUOTE]!r}: {error}"
            ) from error
        if score is not None:
            self._opponent.record_score(task, score)
        return play

    def _time_to_play(self, thought: _Thought) -> float:
        """Return the time at which to conclude a thought.

        The pause lets people follow the plies; a failure is handled at once.
        """
        has_failed = thought.choosing.exception() is not None
        return thought.task.since + (0.0 if has_failed else self._pause_before(thought.task))

    def _pause_before(self, task: Task) -> float:
        """Return the minimum seconds between the opponent's ply and the bot's."""
        return self._opponent.pause_before(task, self._pause, self._level_of(task))

    def _level_of(self, task: Task) -> int | None:
        """Return the number of the level at which the bot plays; None with a program."""
        return None if self._program else task.level or self._level

    async def _handle_failure(self, error: ProgramError) -> None:
        _log.warning("the program of %s failed: %s", self.name, error)
        if self._program:
            await self._program.kill()

    async def _speak(self, aside: Aloud) -> None:
        if self._visit:
            await self._host.service.speak_at_board(self._visit, aside)

    async def _do(self, command: Command) -> None:
        if self._visit is None:
            return
        # Commands are shielded from cancellation: one may be half stored.
        going = run_eagerly(self._submit(self._visit, command))
        if isinstance(going, asyncio.Task):
            await asyncio.shield(going)

    async def _submit(self, visit: Visit, command: Command) -> None:
        try:
            await self._host.submit(visit, command)
        except Exception:  # noqa: BLE001  (a failed command must not end the bot's games)
            _log.exception("could not carry out a command of %s: %s", self.name, command)

    async def _wait(self, until: float | None) -> None:
        """Wait for an event, the end of a thought, or the next deadline; ``until`` is one."""
        thoughts = self._thoughts.values()
        times = [self._time_to_play(each) for each in thoughts if each.choosing.done()]
        tasks = [each for each in self._opponent.tasks() if each.board not in self._held]
        times += [when for task in tasks if (when := self._time_to_show(task)) < inf]
        times += self._held.values()
        times += [] if until is None else [until]
        delay = max(0.0, min(times) - self._host.clock()) if times else None
        waking = asyncio.create_task(self._woken.wait())
        thinking = [each.choosing for each in thoughts if not each.choosing.done()]
        try:
            await asyncio.wait([waking, *thinking], timeout=delay, return_when=FIRST_COMPLETED)
        finally:
            waking.cancel()
