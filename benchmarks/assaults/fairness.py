"""Unfair play: dodging the clock by disconnecting, and monopolising tournaments."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import argon2

from benchmarks.load.attack import AS_IT_IS, Extent, Measure, Row, server
from benchmarks.load.guests import SECRET_PROMPTS, Guest, Place
from benchmarks.load.players import NAME_PROMPT, PROMPT
from benchmarks.load.siege import Figure
from thudmud.store import Store, accounts

UNPLUGGED = "a player in 1+0 loses the connection in their turn, and comes back"
ANNOUNCED = "a fresh member announces tournaments, one after the other"
GHOSTS = "24 guests of one address enter a tournament and leave, before it starts"

ATTACKER, OPPONENT, DIRECTOR, HONEST = "127.0.0.2", "127.0.0.60", "127.0.0.61", "127.0.0.62"
PASSWORD = "a password of theirs"  # noqa: S105  (nobody's)
AWAY = 15.0  # seconds for which the attacker stays disconnected
GRACE = 6.0  # seconds of absence that 1+0 allows a side
ROUNDING = 1.0  # "clock" prints whole seconds
PATIENCE = 60.0  # seconds to wait for the first round of a tournament

_LEFT = re.compile(rb"You have (?:([0-9]+) minutes? ?)?(?:([0-9]+) seconds? )?left")


def unplugged(folder: Path, extent: Extent) -> Row:
    """Measure the clock time saved by disconnecting during one's own turn."""
    away = AWAY if extent.seconds > 2 else 0.6 * AWAY
    with ExitStack() as stack:
        _, place = stack.enter_context(server(folder, AS_IT_IS))
        opponent = stack.enter_context(Guest(place, OPPONENT))
        opponent.take("Helga")
        attacker = Guest(place, ATTACKER)
        word = attacker.take("Anna")
        attacker.say("match helga 1+0 as dwarf")
        begun = time.perf_counter()
        opponent.say("accept anna")
        attacker.cut()
        time.sleep(away)
        again = stack.enter_context(Guest(place, ATTACKER))
        _come_in(again, "Anna", word)
        left = _seconds_left(again.say("clock"))
        passed = time.perf_counter() - begun
    gained = Figure("not charged", passed - (60 - left), "s", GRACE + ROUNDING)
    return Row(UNPLUGGED, figures=[Figure("away", away, "s"), gained])


def _seconds_left(told: bytes) -> float:
    """Parse the answer to "clock".

    Returns:
        Seconds on the player's own clock; 0 if it has run out.
    """
    found = _LEFT.search(b" ".join(told.split()))
    minutes, seconds = found.groups(b"0") if found else (b"0", b"0")
    return 60.0 * int(minutes) + int(seconds)


def announced(folder: Path) -> Row:
    """Measure how many tournaments one member can announce, and how far ahead."""
    _enrol(folder, "Olga")
    with ExitStack() as stack:
        _, place = stack.enter_context(server(folder, AS_IT_IS))
        member = _member(stack, place, ATTACKER, "Olga")
        longest, count = 0, 0
        for _ in range(6):
            for weeks in (8, 4, 2):
                told = member.say(f"tournament new swiss starts in {weeks} weeks")
                if b"You announce" in told:
                    longest, count = max(longest, weeks), count + 1
                    break
    held = Figure("held", count, "tournaments", 1)
    return Row(ANNOUNCED, figures=[held, Figure("ahead", longest, "weeks", 2)])


def haunted(folder: Path) -> Row:
    """Measure how many entrants who have left are still paired in the first round."""
    _enrol(folder, "Olga")
    with ExitStack() as stack:
        _, place = stack.enter_context(server(folder, AS_IT_IS))
        director = _member(stack, place, DIRECTOR, "Olga")
        director.say("tournament new swiss starts in 8 seconds")
        honest = stack.enter_context(Guest(place, HONEST))
        honest.take("Helga")
        for player in (director, honest):
            player.say("enter 1")
        entered = 0
        for number in range(24):
            with Guest(place, ATTACKER) as ghost:
                ghost.take(f"ghost{chr(ord('a') + number)}")
                entered += b"You're in tournament 1" in b" ".join(ghost.say("enter 1").split())
        end = time.perf_counter() + PATIENCE
        while b"Round 1" not in (told := director.say("tournament 1")):
            if time.perf_counter() > end:
                raise TimeoutError(f"round 1 was not paired: {told!r}")
            time.sleep(1)
        told = b"".join(director.say(f"tournament 1 page {page}") for page in (1, 2, 3))
        paired = len(set(re.findall(rb"Ghost[a-z]+", told)))
    places = Figure("entered", entered, "guests", 16)
    return Row(GHOSTS, figures=[places, Figure("paired in round 1", paired, "of them", 0)])


def _enrol(folder: Path, name: str) -> None:
    """Register a member in the store, before the server starts."""

    async def enrol() -> None:
        store = await Store.open(folder / "thudmud.db")
        await store.write(accounts.enrol, name, argon2.PasswordHasher().hash(PASSWORD))
        await store.close()

    folder.mkdir(parents=True)
    asyncio.run(enrol())


def _member(stack: ExitStack, place: Place, address: str, name: str) -> Guest:
    """Connect from an address and log in as a member."""
    member = stack.enter_context(Guest(place, address))
    _come_in(member, name, PASSWORD)
    return member


def _come_in(guest: Guest, name: str, secret: str) -> None:
    """Log in under an existing name, with its password or resume word."""
    guest.until(NAME_PROMPT)
    guest.send(name)
    guest.until(*SECRET_PROMPTS)
    guest.send(secret)
    guest.until(PROMPT)


def measures(extent: Extent) -> Iterator[Measure]:
    """Yield the title and the measurement of each row."""
    yield UNPLUGGED, partial(unplugged, extent=extent)
    yield ANNOUNCED, announced
    yield GHOSTS, haunted
