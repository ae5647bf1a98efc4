"""The throttle on guesses at passwords and resume words.

Only wrong guesses slow anybody down: a guess counts once it has been found wrong. Wrong guesses are
limited by budgets, which fill up again. Whoever comes when a budget is empty waits, and is never
refused. There are three:

- Of each address at each name. If the name has come from that address before, with its secret or as
  the one who took it, this is the only one: such guesses do not wait, whatever others do.
- Of each name, for guesses from all other addresses. In its queue each address has one guess at a
  time, so however many connections an attacker has, another player's turn comes after one of
  theirs. Users of one known address share its budget, as in a school, or behind a proxy that does
  not pass addresses on: there turns are shorter, so that 30 who guess keep nobody out for as long
  as their seat is kept.
- Of each address over all names, so that one address cannot try all names in turn.

How many guesses that allows, against how many secrets there are. All strangers together have `FREE`
guesses at a name and one more every `WORD_INTERVAL` or `PASSWORD_INTERVAL` seconds; each address
that a name has come from (eight are remembered) has as many, and more by `KNOWN_SHARE`:

- A resume word is one of 2 ** 40. In the day for which a guest's name is kept, unless the operator
  sets another time, strangers can try 86,410: one chance in 12 million. A hostile known address
  makes it one in 1.8 million.
- A member's program may have a resume word in place of the password: four count at a time, each for
  30 days, in which strangers can try 86,710: one chance in 3.2 million.
- A password is chosen by its owner, so the number of candidates is unknown. Strangers can try 2,890
  a day at one name: that finds one of the thousand most popular passwords, and hardly a random one.
  A hostile known address can try 17,290.
- One address can give 8,660 wrong answers a day to all names together.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import NamedTuple

from thudmud.accounts.limiters import RateLimiter
from thudmud.english import lasting

FREE = 10
"""Wrong guesses at a name that cost nothing after a quiet while."""

WORD_INTERVAL = 1.0
"""Seconds between two further guesses at a guest's resume word."""

PASSWORD_INTERVAL = 30.0
"""Seconds between two further guesses at a member's password."""

KNOWN_SHARE = 6
"""How many times as often a known address may guess at a name."""

ADDRESS_FREE = 20
"""Wrong guesses from an address, at any names, that cost nothing after a quiet while."""

ADDRESS_INTERVAL = 10.0
"""Seconds between two further guesses."""

MOMENT = 1.0
"""Seconds that a guess may wait before the player is told for how long."""


class Secret(Enum):
    """The kinds of secrets."""

    WORD = "word"
    PASSWORD = "password"  # noqa: S105  (a kind of secret)


class Guess(NamedTuple):
    """A guess at a secret of a name, from an address or its network, which may be known to it."""

    secret: Secret
    name: str
    network: str
    is_known: bool


class GuessThrottle:
    """Gives each guess its turn. For one event loop."""

    def __init__(self) -> None:
        rates = {Secret.WORD: 1 / WORD_INTERVAL, Secret.PASSWORD: 1 / PASSWORD_INTERVAL}
        self._known = {
            secret: _Budget(rate * KNOWN_SHARE, FREE, at_once=1) for secret, rate in rates.items()
        }
        self._own = {secret: _Budget(rate, FREE, at_once=1) for secret, rate in rates.items()}
        self._names = {secret: _Budget(rate, FREE) for secret, rate in rates.items()}
        self._addresses = _Budget(1 / ADDRESS_INTERVAL, ADDRESS_FREE)
        self._looks: set[asyncio.Task[bool]] = set()

    async def is_right(
        self, guess: Guess, look: Callable[[], Awaitable[bool]], tell: Callable[[str], None]
    ) -> bool:
        """Return whether a guess is right, once its turn has come.

        If the caller is cancelled while the guess waits, it gives its place up. A guess that is
        being checked is checked to the end, so that nobody can make guesses that do not count.
        ``look`` checks the guess; ``tell`` is called with a sentence about how long it takes, if
        that is more than a moment.
        """
        places = self._places(guess)
        passed: list[_Place] = []
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        telling: asyncio.TimerHandle

        def tell_how_long() -> None:
            nonlocal telling
            if sentence := self._prospect(places[len(passed) :], turn):
                tell(sentence)
            else:
                telling = loop.call_later(MOMENT, tell_how_long)

        telling = loop.call_later(MOMENT, tell_how_long)
        try:
            for place in places:
                turn = loop.create_future()
                await place.budget.enter(place.key, turn)
                passed.append(place)
        except BaseException:
            for budget, key in passed:
                budget.leave(key)
            raise
        finally:
            telling.cancel()
        task = loop.create_task(self._look(guess, passed, look))
        self._looks.add(task)
        task.add_done_callback(self._looked)
        return await asyncio.shield(task)

    def _places(self, guess: Guess) -> Sequence[_Place]:
        """Return the queues in which a guess waits, one after the other."""
        name = guess.name.lower()
        key = f"{name} {guess.network}"
        if guess.is_known:
            return [_Place(self._known[guess.secret], key)]
        own = _Place(self._own[guess.secret], key)
        of_address = _Place(self._addresses, guess.network)
        return [own, of_address, _Place(self._names[guess.secret], name)]

    async def _look(
        self, guess: Guess, places: Sequence[_Place], look: Callable[[], Awaitable[bool]]
    ) -> bool:
        right = True  # a failed check does not count
        try:
            right = await look()
        finally:
            if not right:
                for budget, key in {*places, _Place(self._addresses, guess.network)}:
                    budget.spend(key)
            for budget, key in places:
                budget.leave(key)
        return right

    def _looked(self, task: asyncio.Task[bool]) -> None:
        self._looks.discard(task)
        if not task.cancelled():
            task.exception()  # its waiter gets it; without one nobody needs it

    def _prospect(self, places: Sequence[_Place], turn: asyncio.Future[None]) -> str:
        """Return what to tell a player whose guess waits in the first of these queues, if anything.

        The estimate is how long it takes if all guesses before it are wrong. If few wrong ones have
        come lately there is nothing to tell: those before it are just being checked.
        """
        if not places:
            return ""
        (budget, key), *rest = places
        before = budget.before(key, turn)
        waits = [budget.wait(key, before)]
        # Each guess from the same address at the same name lets all other addresses go first.
        rounds = before if len(rest) == 2 else 0
        for budget, key in rest:
            there = budget.before(key)
            waits.append(budget.wait(key, there + rounds * max(1, there)))
        if not max(waits):
            return ""
        of_name = places[-1].budget in self._names.values() and waits[-1] == max(waits)
        why = "for that name have come from elsewhere" if of_name else "have come from your address"
        after = lasting(max(waits))
        return f"Many wrong answers {why}. Your answer is looked at in about {after}."


class _Place(NamedTuple):
    budget: _Budget
    key: str


class _Queue:
    """The guesses that wait for one key of a budget, and how many are being checked."""

    __slots__ = ("inside", "timer", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[asyncio.Future[None]] = deque()
        self.inside = 0
        self.timer: asyncio.TimerHandle | None = None


class _Budget:
    """A budget of wrong answers for each of many keys, and the queues where it is empty.

    As many guesses are let in at once as it has left. There is a queue only while guesses wait in
    it or are checked, and a connection has one guess at a time.

    Args:
        rate: answers a second that it gains.
        size: the most that it holds.
        at_once: how many guesses may be checked at once; by default as many as it holds.
    """

    def __init__(self, rate: float, size: int, at_once: int | None = None) -> None:
        self._buckets, self._size = RateLimiter(rate, size), size
        self._at_once = at_once or size
        self._queues: dict[str, _Queue] = {}

    async def enter(self, key: str, turn: asyncio.Future[None]) -> None:
        """Wait until ``turn`` is done. After that, `leave` has to be called."""
        queue = self._queues.setdefault(key, _Queue())
        queue.waiting.append(turn)
        self._let_in(key, queue)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                queue.inside -= 1
            elif turn in queue.waiting:
                queue.waiting.remove(turn)
            self._let_in(key, queue)
            raise

    def leave(self, key: str) -> None:
        """Note that a guess has been checked."""
        queue = self._queues[key]
        queue.inside -= 1
        self._let_in(key, queue)

    def spend(self, key: str) -> None:
        """Note that a guess was wrong."""
        self._buckets.of(key).take(_now())

    def before(self, key: str, turn: asyncio.Future[None] | None = None) -> int:
        """Return how many guesses are before a waiting one, or before a new one."""
        queue = self._queues.get(key)
        if queue is None:
            return 0
        here = queue.waiting.index(turn) if turn and turn in queue.waiting else len(queue.waiting)
        return queue.inside + here

    def wait(self, key: str, before: int) -> float:
        """Return the seconds that a guess waits with so many before it; 0 if half is left."""
        bucket, now = self._buckets.of(key), _now()
        return bucket.until(now, 1 + before) if bucket.until(now, self._size / 2) else 0.0

    def _let_in(self, key: str, queue: _Queue) -> None:
        """Let guesses in as far as the budget allows, and come back when it allows the next."""
        if queue.timer:
            queue.timer.cancel()
            queue.timer = None
        while queue.waiting and queue.inside < self._at_once:
            if wait := self._buckets.of(key).wait(_now(), leaving=queue.inside):
                loop = asyncio.get_running_loop()
                queue.timer = loop.call_later(wait, self._let_in, key, queue)
                break
            turn = queue.waiting.popleft()
            if not turn.done():
                queue.inside += 1
                turn.set_result(None)
        if not queue.waiting and not queue.inside and self._queues.get(key) is queue:
            del self._queues[key]


def _now() -> float:
    return asyncio.get_running_loop().time()
