"""Mails of the world: codes that are asked for, and a relay that fails, before or after it has one.

They are in some of the later worlds alone, and go by dice of their own: so the others, in which the
mistakes of `tests.simulation.breaks` are found, come to what they came to before there were mails.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from unittest import mock

from tests.simulation.clockwork import Process, World
from thudmud.features.notifications import serving, storage
from thudmud.features.notifications.messages import Mail
from thudmud.features.notifications.model import CODE, Ways
from thudmud.features.notifications.notifying import NotSentError
from thudmud.server.config import Settings
from thudmud.store import Store, StoreError
from thudmud.store.database import Database

FIRST = 300
"""The first seed of a world that may have mails."""

MAILED = 0.15
"""In how many of these there are some."""

MEMBERS = ("Emil", "Frieda", "Olga")
"""Who asks for a code."""

ASKED = (2.0, 3.0, 5.0)
"""Seconds after which each of them does."""

_BANS = re.compile(r" types: ban (\w+) for")

SENT = 400.0
"""Seconds after which all of them have been sent, once nothing goes wrong any more."""


def has_mails(seed: int) -> bool:
    """Return whether there are mails in the world of a seed."""
    return seed >= FIRST and _dice(seed).random() < MAILED


def _dice(seed: int) -> Random:
    return Random(f"the mails of {seed}")  # noqa: S311  (what to try, no secret)


class Mails:
    """The relay, and members who ask for codes.

    Args:
        world: what it is in.
        seed: decides when the relay fails.

    Attributes:
        is_calm: whether it does not fail any more.
        taken: by number, when each mail was taken, and what was said of it.
    """

    def __init__(self, world: World, seed: int) -> None:
        self.world, self._dice = world, _dice(seed)
        self.is_calm = False
        self._to_ask = set(MEMBERS)
        """Who has still to ask for a code."""
        self.taken: defaultdict[int, list[tuple[float, str]]] = defaultdict(list)

    async def send(self, address: str, mail: Mail, end: str, number: int) -> None:
        """Take a mail, as `notifying.Mailer` does."""
        outcome = "taken" if self.is_calm else self._dice.choice(["taken", "refused", "unsaid"])
        await asyncio.sleep(self._dice.choice([0.01, 0.5, 3.0]))
        if outcome != "refused":
            sender = str(World.here.process)
            self.taken[number].append((self.world.now, outcome))
            self.world.note(f"  the relay takes a mail of {sender}, which is {outcome}")
        await asyncio.sleep(self._dice.choice([0.01, 0.5, 3.0]))
        if outcome != "taken":
            raise NotSentError(outcome)

    @contextmanager
    def in_the_world(self) -> Iterator[None]:
        """Let servers send mails by this relay."""

        def outside(_: Settings, __: Path) -> tuple[Ways, Mails, None]:
            return Ways(mail=True, page="https://example.org"), self, None

        with mock.patch.object(serving, "outside", outside):
            yield

    def begin(self) -> None:
        """Have codes asked for."""
        for name, after in zip(MEMBERS, ASKED, strict=True):
            self.world.later(after, lambda name=name: self._begin(name))  # type: ignore[misc]

    def _begin(self, name: str) -> None:
        Process(self.world, f"{name} asks").run(self._ask(name))

    async def _ask(self, name: str) -> None:
        """Ask for a code, as often as it takes, by a program of the latest version each time."""
        process = World.here.process
        while True:
            process.version = self.world.version
            try:
                store = await Store.connect("dbname=world")
                try:
                    await store.write(storage.ask_code, name, f"{name}@example.org")
                    self._to_ask.discard(name)  # again, if the store cannot be closed
                    return
                finally:
                    await store.close()
            except StoreError:
                await asyncio.sleep(1.0)

    def waiting(self) -> set[int]:
        """Return the numbers of codes that are still to be sent."""
        found: set[int] = set()

        async def read() -> None:
            store = await Store.connect("dbname=world")
            found.update(await store.read(_codes))
            await store.close()

        process = Process(self.world, "reader")
        process.run(read())
        self.world.run_until(lambda: process.is_dead, 60.0)
        return found

    def wrong(self, faults: int) -> list[str]:
        """Let all be sent; return what was not, or too often.

        Args:
            faults: how often something has gone wrong besides the relay.
        """
        self.is_calm = True
        left, end = set[int](), self.world.now + SENT
        while (self._to_ask or (left := self.waiting())) and self.world.now < end:
            self.world.run(5.0)
        wrong = [f"a code was never sent: {sorted(left)}"] if left else []
        banned = {name for line in self.world.log for name in _BANS.findall(line)}
        most = len({*MEMBERS} - banned)  # who is banned is sent nothing
        if len(self.taken) < most:
            wrong.append(f"of {most} codes, {len(self.taken)} were sent")
        for number, times in self.taken.items():
            unsaid = sum(outcome == "unsaid" for _, outcome in times)
            if len(times) > 1 + unsaid + faults:
                told = f"{len(times)} times, with {faults} faults and {unsaid} lost answers"
                wrong.append(f"mail {number} was sent {told}")
        return wrong


def _codes(database: Database) -> set[int]:
    """Return the numbers of codes that are to be sent, now or later."""
    rows = database.table.rows("notification", "where kind = ?", CODE)
    return {int(str(row[0])) for row in rows}
