"""The configured bots of a server, which run on one of its nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from pathlib import Path

from thudmud.bots.opponent import Opponent
from thudmud.bots.program import is_installed
from thudmud.bots.session import AGAIN, Bot, release_line
from thudmud.bots.workers import Workers
from thudmud.errors import StartError
from thudmud.server.config import BotSettings
from thudmud.server.session_registry import Sessions
from thudmud.store import Holder


def require_programs(settings: Iterable[BotSettings], folder: Path) -> None:
    """Check that the programs of all bots exist and are executable.

    Raises:
        StartError: a bot's program does not exist, or cannot be run.
    """
    for number, bot in enumerate(settings, 1):
        if bot.command and not is_installed(bot.command[0], folder):
            wanted = f"no executable program {bot.command[0]!a}"
            raise StartError(f"bot {number}, command: {wanted}")


class Bots:
    """All bots of a server.

    Args:
        settings: the bots to run.
        sessions: the sessions that the bots join.
        folder: the folder that the programs' relative paths refer to.
        workers: the search workers of bots without a program.
        patience: seconds that a bot waits for an absent player.
        pause: seconds after which a bot starts a battle itself.
    """

    def __init__(
        self,
        settings: Iterable[BotSettings],
        sessions: Sessions,
        folder: Path,
        workers: Workers,
        *,
        patience: float,
        pause: float,
    ) -> None:
        self._settings, self._sessions = tuple(settings), sessions
        self._folder, self._workers = folder, workers
        self._patience, self._pause = patience, pause
        self._bots: dict[str, Bot] = {}

    def start(self) -> None:
        """Start all bots that aren't running."""
        is_first = not self._bots
        for each in self._settings:
            if each.name not in self._bots or self._bots[each.name].has_ended:
                self._begin(each, is_first=is_first)

    def follow(self, holders: asyncio.Queue[Holder]) -> Coroutine[None, None, None]:
        """Run the bots while this server holds their lock.

        No player gets a name until the first holder is known. Bots that had to leave because other
        servers believed this one dead return after `AGAIN` seconds.

        Args:
            holders: receives the lock's holder whenever it changes.

        Returns:
            The coroutine to run.
        """
        known: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sessions.delay_logins_until(known)
        return self._follow(holders, known)

    async def _follow(self, holders: asyncio.Queue[Holder], known: asyncio.Future[None]) -> None:
        is_ours = False
        while True:
            coming = asyncio.ensure_future(holders.get())
            try:
                while not (await asyncio.wait([coming], timeout=AGAIN))[0]:
                    if is_ours:
                        self._restart_cut_off()
            finally:
                coming.cancel()
            is_ours = coming.result() is Holder.OURS
            if is_ours:
                self.start()
            else:
                await self.close()
            release_line(known)

    def _restart_cut_off(self) -> None:
        """Start the bots that had to leave because other servers believed this one dead."""
        for each in self._settings:
            if self._bots[each.name].is_cut_off:
                self._begin(each, is_first=False)

    async def close(self) -> None:
        """Stop all bots and their programs."""
        for bot in self._bots.values():
            bot.end()
        for bot in self._bots.values():
            await bot.wait_closed()

    def _begin(self, settings: BotSettings, *, is_first: bool) -> None:
        opponent = Opponent(settings.name, self._patience, self._pause)
        bot = Bot(self._sessions, opponent, settings, self._workers, self._folder)
        self._bots[settings.name] = bot
        bot.start(is_expected=is_first)
