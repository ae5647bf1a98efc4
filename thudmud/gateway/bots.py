"""The bots of a gateway, which play at each board where somebody is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from thudmud.bots.adviser import WorkersAdviser
from thudmud.bots.naming import name_bots
from thudmud.bots.opponent import Opponent
from thudmud.bots.session import Bot, BotProfile, HeldLines, level_of_each
from thudmud.bots.workers import Workers
from thudmud.game.command import Command
from thudmud.game.hall import Hall
from thudmud.immutable import immutable
from thudmud.service import JoinRequest, Result, Service, Visit, Watcher


@immutable
@dataclass(frozen=True, slots=True)
class GatewayBots:
    """The configured bots, and the workers that all boards share.

    Attributes:
        profiles: the bots.
        workers: compute plies, hints and analyses.
        folder: the folder that the programs' relative paths refer to.
        patience: seconds that a bot waits for an absent player.
    """

    profiles: Sequence[BotProfile]
    workers: Workers
    folder: Path
    patience: float

    @property
    def adviser(self) -> WorkersAdviser:
        """The source of hints and analyses."""
        return WorkersAdviser(self.workers)

    def introduce(self, hall: Hall) -> None:
        """Register the bots and their levels with the hall of a board."""
        name_bots(hall, level_of_each(self.profiles))


class BoardBots:
    """The bots at one board, a `thudmud.bots.session.BotHost`.

    They come with the first player, so that boards in empty rooms cost nothing.
    """

    def __init__(self, service: Service, pool: GatewayBots | None) -> None:
        self.service = service
        self._pool = pool
        self._bots: dict[str, Bot] = {}
        self._coming: list[asyncio.Future[None]] = []
        self._held = HeldLines(service)

    @property
    def clock(self) -> Callable[[], float]:
        """Returns the seconds since the epoch."""
        return self.service.clock

    async def start(self) -> None:
        """Start the bots that aren't here, and wait until they have come or failed to."""
        pool = self._pool
        for profile in pool.profiles if pool else ():
            if pool and profile.name not in self._bots:
                opponent = Opponent(profile.name, pool.patience)
                bot = Bot(self, opponent, profile, pool.workers, pool.folder)
                bot.start(is_expected=True)
        while self._coming:
            await asyncio.wait(self._coming)

    async def close(self) -> None:
        """Stop the bots and their programs."""
        bots = list(self._bots.values())
        for bot in bots:
            bot.end()
        for bot in bots:
            await bot.wait_closed()

    async def wait_for_answer(self, player: str) -> None:
        """Wait until a bot has answered the player's invitation, if there is one."""
        if answer := self._held.answers.get(player):
            await answer

    # As a host.

    def add(self, session: Bot) -> None:
        """Register a bot's session."""
        self._bots[session.name] = session

    def remove(self, session: Bot) -> None:
        """Unregister a bot's session; the bot comes again with the next player."""
        self._bots.pop(session.name, None)

    def delay_logins_until(self, coming: asyncio.Future[None]) -> None:
        """Let no player in until a future is done."""
        self._coming.append(coming)
        coming.add_done_callback(self._coming.remove)

    async def admit_bot(self, bot: Bot, watcher: Watcher) -> Visit | None:
        """Let a bot in without a word, except at a seat that was kept for it."""
        arrival = JoinRequest(
            bot.name, None, bot, watcher, quiet=True, admit=lambda: not bot.has_ended
        )
        return await self.service.join(arrival)

    async def submit(self, visit: Visit, line: Command) -> Result:
        """Carry out a bot's command."""
        return await self.service.submit(visit, line)

    def hold(self, name: str) -> asyncio.Future[None]:
        """Delay a player's next line until a bot has answered, see `HeldLines.hold`."""
        return self._held.hold(name)
