"""The bots that the operator has named. Each is a session, and is told what its player may know."""

from __future__ import annotations

import asyncio
import logging
from asyncio import FIRST_COMPLETED
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from thudmud.bots.opponent import Opponent, Task
from thudmud.bots.program import Program, ProgramError, is_there
from thudmud.errors import StartError
from thudmud.play.asides import Invited
from thudmud.play.commands import Command, Join, Play, Resign, Tell
from thudmud.play.hall import Telling
from thudmud.server.config import BotSettings
from thudmud.server.sessions import Sessions, release
from thudmud.service import Dismissal, Visit, now
from thudmud.store import StoreError
from thudmud.views import Message

_WAIT = 1.0  # seconds after a command that should have changed something, and has not
_MAX_QUOTE = 60
_log = logging.getLogger(__name__)


def require_programs(settings: Iterable[BotSettings], folder: Path) -> None:
    """Refuse commands that nothing can come of.

    Raises:
        StartError: a bot's program is not there, or cannot be run.
    """
    for number, bot in enumerate(settings, 1):
        if bot.command and not is_there(bot.command[0], folder):
            wanted = f"there is no program {bot.command[0]!a} to be run"
            raise StartError(f"bot {number}, command: {wanted}")


class Bots:
    """All bots of a server.

    Args:
        settings: who they are.
        sessions: where they come in.
        folder: where their programs are run.
        patience: how many seconds they wait for a player who is away.
        pause: how many seconds they leave it to the other to begin a battle.
    """

    def __init__(
        self,
        settings: Iterable[BotSettings],
        sessions: Sessions,
        folder: Path,
        *,
        patience: float,
        pause: float,
    ) -> None:
        self._bots = [
            Bot(
                sessions,
                Opponent(each.name, patience, pause),
                Program(each.name, each.command, folder, each.seconds),
                each,
            )
            for each in settings
        ]

    def start(self) -> None:
        """Let them come in."""
        for bot in self._bots:
            bot.start()

    async def close(self) -> None:
        """Let them leave, and end their programs."""
        for bot in self._bots:
            bot.end()
        for bot in self._bots:
            await bot.gone()


class Bot:
    """The session of one bot.

    Attributes:
        name: under which it plays.
        address: empty, since it comes from none.
        ended: whether it has left, or is about to.
    """

    def __init__(
        self, sessions: Sessions, opponent: Opponent, program: Program, settings: BotSettings
    ) -> None:
        self._sessions, self._opponent, self._program = sessions, opponent, program
        self.name, self._restarts = settings.name, settings.restarts
        self.address = ""
        self._visit: Visit | None = None
        self._failures: Counter[tuple[str, int]] = Counter()
        self._begun = False
        self.ended = False
        self._woken = asyncio.Event()
        self._asked: deque[tuple[Invited, asyncio.Future[None]]] = deque()
        """Invitations, and what is set when each has been answered."""
        self._living: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Come in."""
        self._sessions.add(self)
        self._coming = asyncio.create_task(self._come_in())
        self._sessions.expect(self._coming)
        self._living = asyncio.create_task(self._live())

    async def gone(self) -> None:
        """Wait until it is gone, and its program with it."""
        if self._living:
            await asyncio.wait([self._living])

    # What the service and the other sessions ask for.

    def watch(self, telling: Telling) -> None:
        """Take note of what has happened."""
        try:
            self._opponent.told(telling, self._sessions.clock())
            while self._opponent.invitations and not self.ended:
                invitation = self._opponent.invitations.pop(0)
                # What the player types next waits for the answer.
                self._asked.append((invitation, self._sessions.hold(invitation.player)))
        except Exception:  # noqa: BLE001  (whatever we get wrong, others are told theirs)
            kind = type(telling.event).__name__
            _log.exception("the bot %s does not understand %s", self.name, kind)
            self.end()
        self._woken.set()

    def put(self, message: Message) -> None:
        """Pass over what is for people."""

    def dismissed(self, why: Dismissal) -> None:  # noqa: ARG002  (it has no other way in)
        """Leave."""
        self.end()

    def end(self, sentence: str = "") -> None:  # noqa: ARG002  (a person's)
        """Leave."""
        # A task that is cancelled before its first step takes none: it would clean up nothing.
        if self._begun and self._living and not self.ended:
            self._living.cancel()
        self.ended = True

    # Its life.

    async def _live(self) -> None:
        self._begun = True
        try:
            if not self.ended:
                await asyncio.shield(self._coming)
            while not self.ended:
                await self._act()
        except asyncio.CancelledError:
            pass  # that is how it ends
        except Exception:  # noqa: BLE001  (whatever we get wrong, the server goes on)
            _log.exception("the bot %s has to leave", self.name)
        finally:
            self.ended = True
            await asyncio.wait([self._coming])  # not cancelled: it may be half in
            while self._asked:
                release(self._asked.popleft()[1])
            await self._program.kill()
            if self._visit:
                await self._sessions.service.leave(self._visit)
            self._sessions.remove(self)

    async def _come_in(self) -> None:
        try:
            store = self._sessions.store
            known = await store.find(self.name) or await store.find_guest(self.name)
        except StoreError as error:
            _log.error("the bot %s stays outside: %s", self.name, error)
            self.ended = True
            return
        if known:
            _log.error(
                "the bot %s stays outside: the name belongs to a player; give the bot another one",
                self.name,
            )
            self.ended = True
            return
        self._visit = await self._sessions.admit(self, self.name, None, watcher=self.watch)

    async def _act(self) -> None:
        """Do the next thing, or wait until there is one."""
        self._woken.clear()
        opponent, now = self._opponent, self._sessions.clock()
        if self._asked:
            await self._answer(self._accept)
        elif commands := opponent.commands(now):
            for command in commands:
                await self._do(command)
        elif task := opponent.task():
            await self._play(task)
        else:
            if not opponent.plays:
                self._failures.clear()
                await self._program.stop()
            await self._wait(opponent.next_time(now))

    async def _answer(self, accept: Callable[[Invited], Awaitable[None]]) -> None:
        """Answer the first of those who have invited it."""
        invitation, answer = self._asked.popleft()
        try:
            await accept(invitation)
        finally:
            release(answer)

    async def _accept(self, invitation: Invited) -> None:
        """Sit down, if the program works."""
        try:
            await self._program.start()
        except ProgramError as error:
            await self._failed(error)
            sorry = "I cannot come: my program does not work. The operator can read why in the log."
            await self._do(Tell(invitation.player, sorry))
        else:
            await self._sit_down(invitation)

    async def _sit_down(self, invitation: Invited) -> None:
        # Programs start slowly: somebody may have sat down on that side meanwhile.
        for side in (invitation.side, invitation.side.other):
            if not self._opponent.sits_at(invitation.board):
                await self._do(Join(side, invitation.board))

    async def _play(self, task: Task) -> None:
        choosing = asyncio.create_task(self._chosen(task))
        try:
            await self._answer_until(choosing)
            play = choosing.result()
        except ProgramError as error:
            await self._failed(error)
            self._failures[task.board, task.battle] += 1
            if self._failures[task.board, task.battle] > self._restarts:
                await self._give_up(task)
            return
        finally:
            choosing.cancel()
            await asyncio.wait([choosing])
        for other in self._opponent.commands(self._sessions.clock()):
            await self._do(other)
        if self._opponent.task() == task:
            await self._do(play)
            await self._expect_change(task)

    async def _answer_until(self, choosing: asyncio.Task[Play]) -> None:
        """Sit down where it is invited to, while its program thinks about another game."""
        while not choosing.done():
            self._woken.clear()
            if self._asked:
                await self._answer(self._sit_down)
            else:
                await self._wait(None, choosing)

    async def _chosen(self, task: Task) -> Play:
        """Return the ply that the program chooses.

        Raises:
            ProgramError: it chooses none, or one that the rules refuse.
        """
        ply = await self._program.ply(task)
        try:
            return task.command(ply)
        except ValueError as error:
            raise ProgramError(f"it plays {ply[:_MAX_QUOTE]!r}: {error}") from error

    async def _failed(self, error: ProgramError) -> None:
        _log.warning("the program of %s has failed: %s", self.name, error)
        await self._program.kill()

    async def _give_up(self, task: Task) -> None:
        if other := self._opponent.other(task.board):
            await self._do(Tell(other, "My program has failed too often, so I resign."))
        await self._do(Resign(task.board))
        await self._expect_change(task)

    async def _expect_change(self, task: Task) -> None:
        """Wait a little if a command has changed nothing: perhaps it could not be stored."""
        if self._opponent.task() == task:
            await asyncio.sleep(_WAIT)

    async def _do(self, command: Command) -> None:
        if self._visit is None:
            return
        try:
            # What has begun is not cancelled: it may be stored.
            going = now(self._sessions.submit(self._visit, command))
            if isinstance(going, asyncio.Task):
                await asyncio.shield(going)
        except Exception:  # noqa: BLE001  (whatever we get wrong, its games go on)
            _log.exception("failed to do what %s wants: %s", self.name, command)

    async def _wait(self, until: float | None, *others: asyncio.Task[Play]) -> None:
        """Wait until something is told, for a time, or until something else is done."""
        delay = None if until is None else max(0.0, until - self._sessions.clock())
        waking = asyncio.create_task(self._woken.wait())
        try:
            await asyncio.wait([waking, *others], timeout=delay, return_when=FIRST_COMPLETED)
        finally:
            waking.cancel()
