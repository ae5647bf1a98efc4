"""Simulated mail: members who request codes, and a relay that fails before or after accepting.

Only some of the later worlds have mails, and these use dice of their own. So the other worlds, in
which the mutants of `tests.simulation.breaks` are detected, play out as if there were no mails.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from unittest import mock

from tests.simulation.clockwork import Process, World
from thudmud.features.notifications import serving, storage
from thudmud.features.notifications.messages import Mail
from thudmud.features.notifications.model import CODE, Ways
from thudmud.features.notifications.notifier import NotSentError
from thudmud.store import Store, StoreError
from thudmud.store.database import Database

FIRST = 300
"""The first seed of a world that may have mails."""

MAILED = 0.15
"""Share of these worlds that have mails."""

MEMBERS = ("Emil", "Frieda", "Olga")
"""Members who request a code."""

ASKED = (2.0, 3.0, 5.0)
"""Seconds after which each of them does."""

_BANS = re.compile(r" types: ban (\w+) for")

SENT = 400.0
"""Seconds within which all mails are sent once faults have ceased."""


def has_mails(seed: int) -> bool:
    """Return whether the world of a seed has mails."""
    return seed >= FIRST and _dice(seed).random() < MAILED


def _dice(seed: int) -> Random:
    return Random(f"the mails of {seed}")  # noqa: S311  (what to try, no secret)


class Mails:
    """The relay, and the members who request codes.

    Args:
        world: the world.
        seed: decides when the relay fails.

    Attributes:
        is_calm: whether the relay has stopped failing.
        taken: by number, when each mail was accepted and how that was reported.
    """

    def __init__(self, world: World, seed: int) -> None:
        self.world, self._dice = world, _dice(seed)
        self.is_calm = False
        self._to_ask = set(MEMBERS)
        """Members who have yet to request a code."""
        self.taken: defaultdict[int, list[tuple[float, str]]] = defaultdict(list)

    async def send(self, address: str, mail: Mail, end: str, number: int) -> None:
        """Accept a mail, as `notifying.Mailer` does."""
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
        """Make servers send their mails through this relay."""

        def outside(*_: object, is_dry_run: bool) -> tuple[Ways, Mails, None]:
            return Ways(has_mail=True, page="https://example.org"), self, None

        with mock.patch.object(serving, "outside", outside):
            yield

    def begin(self) -> None:
        """Schedule the requests for codes."""
        for name, after in zip(MEMBERS, ASKED, strict=True):
            self.world.later(after, lambda name=name: self._begin(name))  # type: ignore[misc]

    def _begin(self, name: str) -> None:
        Process(self.world, f"{name} asks").run(self._ask(name))

    async def _ask(self, name: str) -> None:
        """Request a code, as often as it takes, each time from the latest program version."""
        process = World.here.process
        while True:
            process.version = self.world.version
            try:
                store = await Store.connect("dbname=world")
                try:
                    await store.write(storage.ask_code, name, f"{name}@example.org")
                    self._to_ask.discard(name)  # repeated if closing the store fails
                    return
                finally:
                    await store.close()
            except StoreError:
                await asyncio.sleep(1.0)

    def waiting(self) -> set[int]:
        """Return the numbers of codes that have not been sent."""
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
        """Let all mails be sent; return those that were not, or were sent too often.

        Args:
            faults: the number of faults other than the relay's.
        """
        self.is_calm = True
        left, end = set[int](), self.world.now + SENT
        while (self._to_ask or (left := self.waiting())) and self.world.now < end:
            self.world.run(5.0)
        wrong = [f"a code was never sent: {sorted(left)}"] if left else []
        banned = {name for line in self.world.log for name in _BANS.findall(line)}
        most = len({*MEMBERS} - banned)  # banned members receive nothing
        if len(self.taken) < most:
            wrong.append(f"of {most} codes, {len(self.taken)} were sent")
        for number, times in self.taken.items():
            unsaid = sum(outcome == "unsaid" for _, outcome in times)
            if len(times) > 1 + unsaid + faults:
                told = f"{len(times)} times, with {faults} faults and {unsaid} lost answers"
                wrong.append(f"mail {number} was sent {told}")
        return wrong


def _codes(database: Database) -> set[int]:
    """Return the numbers of codes queued for now or later."""
    rows = database.table.rows("notification", "where kind = ?", CODE)
    return {int(str(row[0])) for row in rows}
