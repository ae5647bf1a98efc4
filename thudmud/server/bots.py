"""The bots that the operator has named. Each is a player like any other, but has no connection.

A bot is told what its player may know, and does what any player can do.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import FIRST_COMPLETED
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from thudmud.bots.opponent import Opponent, Task
from thudmud.bots.program import Program, ProgramError
from thudmud.play.asides import Invited
from thudmud.play.commands import Command, Join, Play, Resign, Tell
from thudmud.play.hall import Telling
from thudmud.server.config import BotSettings
from thudmud.server.lobby import Lobby, release
from thudmud.service import Dismissal, Visit, now
from thudmud.store import StoreError
from thudmud.views import Message

_WAIT = 1.0  # seconds after a command that should have changed something, and has not
_LONGEST_QUOTE = 60
_log = logging.getLogger(__name__)


class Bots:
    """All bots of a server.

    Args:
        settings: who they are.
        lobby: what they come in by.
        folder: where their programs are run.
        patience: how many seconds they wait for somebody.
        pause: how many seconds they leave it to others to begin a battle.
    """

    def __init__(
        self,
        settings: Iterable[BotSettings],
        lobby: Lobby,
        folder: Path,
        *,
        patience: float,
        pause: float,
    ) -> None:
        self._bots = [
            Bot(
                lobby,
                Opponent(each.name, patience, pause),
                Program(each.name, each.command, folder, each.seconds),
                each,
            )
            for each in settings
        ]

    def start(self) -> None:
        """Let them come in, before anybody else."""
        for bot in self._bots:
            bot.start()

    async def close(self) -> None:
        """End them, and their programs."""
        for bot in self._bots:
            bot.show_out("")
        for bot in self._bots:
            await bot.gone()


class Bot:
    """One bot: its visit, its program, and what it does next."""

    def __init__(
        self, lobby: Lobby, opponent: Opponent, program: Program, settings: BotSettings
    ) -> None:
        self._lobby, self._opponent, self._program = lobby, opponent, program
        self.name, self._restarts = settings.name, settings.restarts
        self._visit: Visit | None = None
        self._failures: Counter[tuple[str, int]] = Counter()
        self._begun = self._ended = False
        self._woken = asyncio.Event()
        self._asked: deque[tuple[Invited, asyncio.Future[None]]] = deque()
        """The invitations that it has not answered, and what whoever made them waits for."""
        self._living: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Come in, and play from then on."""
        self._lobby.welcome(self)
        self._coming = asyncio.create_task(self._come_in())
        self._lobby.expect(self._coming)
        self._living = asyncio.create_task(self._live())

    async def gone(self) -> None:
        """Wait until it is gone, and its program with it."""
        if self._living:
            await asyncio.wait([self._living])

    # What the service and the lobby ask.

    def watch(self, telling: Telling) -> None:
        """Note what has happened. Who has invited it waits for an answer before their next line."""
        try:
            self._opponent.told(telling, self._lobby.clock())
            while self._opponent.invitations and not self._ended:
                invitation = self._opponent.invitations.pop(0)
                self._asked.append((invitation, self._lobby.hold(invitation.player)))
        except Exception:  # noqa: BLE001  (whatever we get wrong, others are told theirs)
            kind = type(telling.event).__name__
            _log.exception("the bot %s does not understand %s", self.name, kind)
            self.show_out("")
        self._woken.set()

    def put(self, message: Message) -> None:
        """Pass over what is for people."""

    def dismissed(self, why: Dismissal) -> None:  # noqa: ARG002  (it has no other way in)
        """Leave."""
        self.show_out("")

    def turn_away(self, sentence: str) -> None:
        """Leave."""
        self.show_out(sentence)

    def show_out(self, sentence: str) -> None:  # noqa: ARG002  (nobody reads it)
        """Leave."""
        # A task that is cancelled before its first step takes none: it would clean up nothing.
        if self._begun and self._living and not self._ended:
            self._living.cancel()
        self._ended = True

    @property
    def ended(self) -> bool:
        """Whether it is told nothing any more."""
        return self._ended

    # What it does.

    async def _live(self) -> None:
        self._begun = True
        try:
            if not self._ended:
                await asyncio.shield(self._coming)
            while not self._ended:
                await self._act()
        except asyncio.CancelledError:
            pass  # that is how it ends
        except Exception:  # noqa: BLE001  (whatever we get wrong, the server goes on)
            _log.exception("the bot %s has to leave", self.name)
        finally:
            self._ended = True
            await asyncio.wait([self._coming])  # not cancelled: it may be in by half
            while self._asked:
                _, answer = self._asked.popleft()
                release(answer)
            await self._program.kill()
            if self._visit:
                await self._lobby.service.leave(self._visit)
            self._lobby.farewell(self)

    async def _come_in(self) -> None:
        try:
            store = self._lobby.store
            known = await store.find(self.name) or await store.find_guest(self.name)
        except StoreError as error:
            _log.error("the bot %s stays outside: %s", self.name, error)
            self._ended = True
            return
        if known:
            _log.error(
                "the bot %s stays outside: the name belongs to a player; give the bot another one",
                self.name,
            )
            self._ended = True
            return
        self._visit = await self._lobby.admit(self, self.name, None, watcher=self.watch)

    async def _act(self) -> None:
        """Do the next thing, or wait until there is one."""
        self._woken.clear()
        opponent, now = self._opponent, self._lobby.clock()
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
        """Sit down, if there is a program to play."""
        try:
            await self._program.start()
        except ProgramError as error:
            await self._failed(error)
            sorry = "I cannot come: my program does not work. The operator can read why in the log."
            await self._do(Tell(invitation.player, sorry))
        else:
            await self._sit_down(invitation)

    async def _sit_down(self, invitation: Invited) -> None:
        # Somebody may have sat down on that very side meanwhile: a program starts slowly.
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
        for other in self._opponent.commands(self._lobby.clock()):
            await self._do(other)
        if self._opponent.task() == task:
            await self._do(play)
            await self._expect_change(task)

    async def _answer_until(self, choosing: asyncio.Task[Play]) -> None:
        """Sit down where it is invited to while its program thinks of another game."""
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
            raise ProgramError(f"it plays {ply[:_LONGEST_QUOTE]!r}: {error}") from error

    async def _failed(self, error: ProgramError) -> None:
        _log.warning("the program of %s has failed: %s", self.name, error)
        await self._program.kill()

    async def _give_up(self, task: Task) -> None:
        if other := self._opponent.other(task.board):
            await self._do(Tell(other, "My program has failed too often, so I resign."))
        await self._do(Resign(task.board))
        await self._expect_change(task)

    async def _expect_change(self, task: Task) -> None:
        """Wait a little if nothing has changed: it could not be stored, say."""
        if self._opponent.task() == task:
            await asyncio.sleep(_WAIT)

    async def _do(self, command: Command) -> None:
        if self._visit is None:
            return
        try:
            # What has begun is not cancelled: it may be stored.
            going = now(self._lobby.submit(self._visit, command))
            if isinstance(going, asyncio.Task):
                await asyncio.shield(going)
        except Exception:  # noqa: BLE001  (whatever we get wrong, its games go on)
            _log.exception("failed to do what %s wants: %s", self.name, command)

    async def _wait(self, until: float | None, *others: asyncio.Task[Play]) -> None:
        """Wait until something is told, for a time, or until something else is done."""
        delay = None if until is None else max(0.0, until - self._lobby.clock())
        waking = asyncio.create_task(self._woken.wait())
        try:
            await asyncio.wait([waking, *others], timeout=delay, return_when=FIRST_COMPLETED)
        finally:
            waking.cancel()
