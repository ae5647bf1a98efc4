"""Throttling of guesses at passwords and resume words.

Only wrong guesses are charged, once they are found wrong. Wrong guesses are limited by budgets,
token buckets that fill up again. A guess that meets an empty budget waits in a queue; it is never
refused. There are three budgets:

- For each address at each name. An address from which the name's owner has come before is known,
  and has only this budget: its guesses never wait for strangers.
- For each name, over all unknown addresses. Each address has one guess at a time in this queue, so
  an attacker with many connections is only one guess ahead of another player. Users of one known
  address share its budget, as in a school, or behind a proxy that doesn't pass addresses on. There
  the intervals are shorter, so that 30 people who guess keep nobody out for as long as their seat
  is kept.
- For each address, over all names, so that one address can't try all names in turn.

How many guesses does that allow? All strangers together have `FREE` guesses at a name, and one more
every `WORD_INTERVAL` or `PASSWORD_INTERVAL` seconds. Each known address (eight are remembered) has
`FREE` as well, and `KNOWN_SHARE` times the rate:

- A resume word is one of 2 ** 40. In the day for which a guest's name is kept, unless the operator
  sets another time, strangers can try 86,410: one chance in 12 million. A hostile known address
  makes it one in 1.8 million.
- A member's program may have a resume word in place of the password. Four count at a time, for 30
  days each, in which strangers can try 86,410: one chance in 3.2 million.
- A password is chosen by its owner, so the number of candidates is unknown. Strangers can try 2,890
  a day at one name. That finds one of the thousand most popular passwords, but hardly a random one.
  A hostile known address can try 17,290.
- One address can make 8,660 wrong guesses a day at all names together.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import NamedTuple

from thudmud.accounts.limiters import RateLimiter
from thudmud.english import rounded_duration

FREE = 10
"""The size of a name's budget: wrong guesses at once, after a quiet while."""

WORD_INTERVAL = 1.0
"""Seconds in which a name's budget gains a guess at a guest's resume word."""

PASSWORD_INTERVAL = 30.0
"""Seconds in which a name's budget gains a guess at a member's password."""

KNOWN_SHARE = 6
"""The factor by which a known address may guess more often."""

ADDRESS_FREE = 20
"""The size of an address's budget: wrong guesses at once, at any names."""

ADDRESS_INTERVAL = 10.0
"""Seconds in which an address's budget gains a guess."""

MOMENT = 1.0
"""Seconds that a guess may wait before the player is shown an estimate."""


class Secret(Enum):
    """The kinds of secrets."""

    WORD = "word"
    PASSWORD = "password"  # noqa: S105  (a kind of secret)


class Guess(NamedTuple):
    """A guess at a name's secret.

    Attributes:
        secret: the kind of secret.
        name: the name.
        network: the client's network, see `thudmud.accounts.limiters.network`.
        is_known: whether the name's owner has come from that network before.
    """

    secret: Secret
    name: str
    network: str
    is_known: bool


class GuessThrottle:
    """Rate limiter for guesses of passwords and comeback words. Use it from a single event loop."""

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
        """Return whether a guess is right; wait for its turn, and charge a wrong one.

        A caller that is cancelled while the guess waits gives its place up. A guess that is being
        checked is checked to the end: otherwise disconnecting in time would make guesses free.

        Args:
            guess: the guess.
            look: checks the guess; an exception isn't charged.
            tell: called with a sentence that estimates the wait, if it takes more than a moment.
        """
        places = self._queues_for(guess)
        passed: list[_Place] = []
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        telling: asyncio.TimerHandle

        def tell_how_long() -> None:
            nonlocal telling
            if sentence := self._estimate_wait(places[len(passed) :], turn):
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
        task = loop.create_task(self._is_guess_right(guess, passed, look))
        self._looks.add(task)
        task.add_done_callback(self._check_done)
        return await asyncio.shield(task)

    def _queues_for(self, guess: Guess) -> Sequence[_Place]:
        """Return the queues that a guess has to pass, in order."""
        name = guess.name.lower()
        key = f"{name} {guess.network}"
        if guess.is_known:
            return [_Place(self._known[guess.secret], key)]
        own = _Place(self._own[guess.secret], key)
        of_address = _Place(self._addresses, guess.network)
        return [own, of_address, _Place(self._names[guess.secret], name)]

    async def _is_guess_right(
        self, guess: Guess, places: Sequence[_Place], look: Callable[[], Awaitable[bool]]
    ) -> bool:
        right = True  # in case the check fails
        try:
            right = await look()
        finally:
            if not right:
                for budget, key in {*places, _Place(self._addresses, guess.network)}:
                    budget.charge_wrong_guess(key)
            for budget, key in places:
                budget.leave(key)
        return right

    def _check_done(self, task: asyncio.Task[bool]) -> None:
        self._looks.discard(task)
        if not task.cancelled():
            task.exception()  # mark it as retrieved: the waiter may be cancelled

    def _estimate_wait(self, places: Sequence[_Place], turn: asyncio.Future[None]) -> str:
        """Estimate the wait of a guess in the first of these queues, as a sentence for the player.

        The estimate assumes that all earlier guesses are wrong. It is "" if few wrong guesses have
        come lately: then the earlier ones are just being checked.

        Args:
            places: the queues that the guess still has to pass.
            turn: its future in the first of them.
        """
        if not places:
            return ""
        (budget, key), *rest = places
        before = budget.count_ahead(key, turn)
        waits = [budget.estimate_wait(key, before)]
        # Each guess from the same address at the same name lets all other addresses go first.
        rounds = before if len(rest) == 2 else 0
        for budget, key in rest:
            there = budget.count_ahead(key)
            waits.append(budget.estimate_wait(key, there + rounds * max(1, there)))
        if not max(waits):
            return ""
        of_name = places[-1].budget in self._names.values() and waits[-1] == max(waits)
        why = "for that name from elsewhere" if of_name else "from your address"
        after = rounded_duration(max(waits))
        return f"There have been many wrong answers {why}. Yours will be checked in about {after}."


class _Place(NamedTuple):
    budget: _Budget
    key: str


class _Queue:
    """The queue for one key of a budget.

    Attributes:
        waiting: the futures of the waiting guesses, in order.
        inside: the number of guesses that have passed, and aren't checked yet.
        timer: lets the next guess in, when the budget has gained it.
    """

    __slots__ = ("inside", "timer", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[asyncio.Future[None]] = deque()
        self.inside = 0
        self.timer: asyncio.TimerHandle | None = None


class _Budget:
    """A budget of wrong guesses for each key, with a queue for guesses that it can't afford yet.

    As many guesses are let in at once as the budget could pay for if all of them were wrong. A
    queue exists only while guesses wait in it or are being checked.

    Args:
        rate: the guesses gained each second.
        size: the most guesses that it holds.
        at_once: the most guesses that may be checked at once; None for ``size``.
    """

    def __init__(self, rate: float, size: int, at_once: int | None = None) -> None:
        self._buckets, self._size = RateLimiter(rate, size), size
        self._at_once = at_once or size
        self._queues: dict[str, _Queue] = {}

    async def enter(self, key: str, turn: asyncio.Future[None]) -> None:
        """Queue ``turn``, and wait until it is let in. After that, `leave` has to be called."""
        queue = self._queues.setdefault(key, _Queue())
        queue.waiting.append(turn)
        self._let_in(key, queue)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # let in just before
                queue.inside -= 1
            elif turn in queue.waiting:
                queue.waiting.remove(turn)
            self._let_in(key, queue)
            raise

    def leave(self, key: str) -> None:
        """Let the next guess in: one has been checked."""
        queue = self._queues[key]
        queue.inside -= 1
        self._let_in(key, queue)

    def charge_wrong_guess(self, key: str) -> None:
        """Charge a wrong guess."""
        self._buckets.bucket_for(key).take(_now())

    def count_ahead(self, key: str, turn: asyncio.Future[None] | None = None) -> int:
        """Return the number of guesses ahead of a waiting one, or of a new one."""
        queue = self._queues.get(key)
        if queue is None:
            return 0
        here = queue.waiting.index(turn) if turn and turn in queue.waiting else len(queue.waiting)
        return queue.inside + here

    def estimate_wait(self, key: str, before: int) -> float:
        """Estimate the seconds that a guess waits; 0 if half of the budget is left.

        Args:
            key: the key of the queue.
            before: the number of guesses ahead of it.
        """
        bucket, now = self._buckets.bucket_for(key), _now()
        return (
            bucket.seconds_until(now, 1 + before)
            if bucket.seconds_until(now, self._size / 2)
            else 0.0
        )

    def _let_in(self, key: str, queue: _Queue) -> None:
        """Let in as many guesses as the budget allows, and set a timer for the next one."""
        if queue.timer:
            queue.timer.cancel()
            queue.timer = None
        while queue.waiting and queue.inside < self._at_once:
            if wait := self._buckets.bucket_for(key).wait(_now(), leaving=queue.inside):
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
