"""A knock-out of sixteen robots over telnet that only enter and play."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from tests.server.plain import PATIENCE, Client
from thudmud.features.tournaments.model import Tournament, TournamentRegister
from thudmud.server.acceptor import Acceptor
from thudmud.server.config import Settings
from thudmud.server.runtime import open_sessions
from thudmud.server.session_registry import Sessions

NAMES = [
    *("Anna", "Bert", "Carla", "Dora", "Emil", "Frieda", "Gustav", "Hanna"),
    *("Ivo", "Jana", "Kurt", "Lena", "Moritz", "Nora", "Otto", "Paula"),
]

SETTINGS = {
    "server": {"port": 0},
    "web": {"enabled": False},
    "storage": {"backend": "memory"},
    "tournaments": {"by": "everybody", "rest": 0.0},
    "bot": [],
}

BEGUN = re.compile(r"(?:\[(\w+ board)\] )?You and (\w+) begin (?:a match|the second battle) ")
OVER = "Tournament 1 (Cup) is over"


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[Sessions, tuple[str, int]]]:
    """Run a server; yield its sessions and its telnet address."""
    settings = Settings.model_validate(SETTINGS)
    server = Acceptor(settings, folder)
    [place] = await server.bind()
    async with AsyncExitStack() as stack:
        stack.callback(server.close)
        sessions = await stack.enter_async_context(open_sessions(settings, folder))
        await server.start(sessions)
        stack.push_async_callback(server.stop)
        yield sessions, place


class Robot:
    """A telnet client that resigns every match against an alphabetically earlier name."""

    def __init__(self, name: str, client: Client) -> None:
        self.name, self._client = name, client
        self.told = ""

    async def type(self, line: str) -> str:
        """Type a line and return the answer."""
        await self._client.send(line.encode() + b"\r\n")
        answer = (await self._client.fence()).decode()
        self.told += answer
        return answer

    async def play(self) -> None:
        """Play until the cup is over."""
        read = 0
        async with asyncio.timeout(PATIENCE):
            while OVER not in self.told:
                for begun in BEGUN.finditer(self.told, read):
                    read = begun.end()
                    board, other = begun.groups()
                    if other < self.name:
                        where = f" on {board}" if board else ""
                        await self._client.send(f"resign{where}\r\nyes\r\n".encode())
                self.told += (await self._client.reader.read(1 << 16)).decode()


async def test_knock_out_of_sixteen_runs_to_its_end_over_telnet(tmp_path: Path) -> None:
    async with serving(tmp_path) as (sessions, place), AsyncExitStack() as stack:
        robots = []
        for name in NAMES:
            client = Client(*await asyncio.open_connection(*place))
            stack.push_async_callback(client.close)
            await client.login(name)
            robots.append(Robot(name, client))
        first = robots[0]
        # Paused until all have entered, however long that takes.
        await first.type('tournament new knock-out 10+5 classic "Cup" starts in 1 second')
        await first.type("pause tournament 1")
        for robot in robots:
            await robot.type("options width 500")
            assert "You're in tournament 1 (Cup)" in await robot.type("enter 1")
        await first.type("resume tournament 1")
        await asyncio.gather(*(robot.play() for robot in robots))
        cup = sessions.service.hall.part(TournamentRegister).known[1]
        assert_it_was_a_cup(cup)
        assert all("Anna is 1st, " in robot.told for robot in robots)
        await first.type("options width 40")
        table = await first.type("tournament 1")
        assert max(map(len, table.splitlines())) < 40
        assert "1. Anna" in table
        assert "1st of 16 in Cup" in await first.type("score")
        assert "round 4 of Cup" in " ".join((await first.type("history")).split())


def assert_it_was_a_cup(cup: Tournament) -> None:
    """Check that exactly the winners of each round play in the next."""
    playing = set(NAMES)
    for pairings in cup.rounds:
        assert {name for each in pairings for name in each.players} == playing
        playing = {min(each.players) for each in pairings}
    assert playing == {"Anna"}
    assert [len(each) for each in cup.rounds] == [8, 4, 2, 1]
    assert cup.end
    assert cup.end.places[:3] == (1, 2, 3)
