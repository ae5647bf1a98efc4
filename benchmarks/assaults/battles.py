"""Attacks on long battles: exploring, replaying, drawing, extending and analysing them.

The store is filled before the server starts, with battles in which two pieces shuttle back and
forth for 1,990 plies.
"""

from __future__ import annotations

import asyncio
import http.client
import math
import re
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from time import perf_counter

import argon2

from benchmarks.load.attack import (
    AS_IT_IS,
    PIECE,
    SOCKET,
    WEB,
    Attack,
    Extent,
    Measure,
    Row,
    besieged,
    server,
)
from benchmarks.load.attackers import Flood
from benchmarks.load.guests import Guest, Place
from benchmarks.load.players import MOVED, NAME_PROMPT
from benchmarks.load.processes import Running, board, letters
from benchmarks.load.siege import Besides, Figure
from benchmarks.load.web import TEXT, framed
from thudmud.accounts.login import PASSWORD_PROMPT
from thudmud.features.playing.moves import Play
from thudmud.game.events import BattleEnded, BattleStarted, Event, Joined, Moved
from thudmud.rules import DISCWORLD, Ending, Game, Outcome, Score, Side
from thudmud.store import Store, accounts

BATTLES = 8
PLIES = 1_990
"""Length of a stored battle: just below the limit of every version compared."""
ANALYSED = 490
FURTHER = 60
"""Plies that the players try to add beyond `PLIES`."""
SHORT = 4
ON_AND_ON = "two play a battle on and on"
ANALYSES = "8 long battles are analysed, for players from 4 addresses, half of whom leave"
ANNA, BERT = "Anna", "Bert"
PASSWORD = "a password of theirs"  # noqa: S105  (nobody's)
PATIENCE = 20.0
OVER = b"is over"
RECORD = b"Thud.Record"


def to_and_fro(plies: int) -> Sequence[Event]:
    """Return the events of a running battle in which two pieces shuttle back and forth."""
    game = Game.start(DISCWORLD)
    for ply in ("dA6-B6", "TG7-F7", "dB6-A6", "TF7-G7"):
        game = game.push(ply)
    now = time.time() - plies
    players, sides = (ANNA, BERT), (Side.DWARF, Side.TROLL)
    moves = islice(cycle(game.moves), plies)
    return [
        BattleStarted(now, ANNA, 1, DISCWORLD.name, ANNA, BERT, rated=True),
        *(
            Moved(now + ply, players[ply % 2], sides[ply % 2], move, ply + 1)
            for ply, move in enumerate(moves)
        ),
    ]


def over(plies: int) -> Sequence[Event]:
    """Return the events of `to_and_fro`, followed by the end of the battle."""
    outcome = Outcome(Ending.AGREEMENT, None, Score(32, 32))
    return [
        *to_and_fro(plies),
        BattleEnded(time.time(), ANNA, outcome, plies, ANNA, BERT, rated=True),
    ]


def prepare(folder: Path, lengths: Sequence[int]) -> None:
    """Fill the store of a server before its first start.

    Args:
        folder: the server's working directory, created here.
        lengths: plies of each battle; the battles are numbered from 1.
    """

    async def store() -> None:
        opened = await Store.open(folder / "thudmud.db")
        for number, plies in enumerate(lengths):
            await opened.append({f"l{letters(number)} board": (0, over(plies))})
        await opened.close()

    folder.mkdir(parents=True)
    asyncio.run(store())


def questions() -> Iterator[Attack]:
    """Yield attacks that query long battles, by logged-in players and by anonymous clients."""
    asking = Flood(count=20, at_once=200, name="x")
    numbers, places = range(1, BATTLES + 1), range(40, PLIES, 97)
    exploring = [f"explore {number} {ply}\r\n" for ply in places for number in numbers]
    replaying = [f"replay {number} {ply}\r\n" for ply in places for number in numbers]
    length = f"battles of {PLIES:,} plies"
    yield Attack(f"{length} are explored, 20 players", replace(asking, payload=exploring))
    yield Attack(f"{length} are replayed, 20 players", replace(asking, payload=replaying))
    supports = framed(TEXT, 'Core.Supports.Set ["Thud 1"]')
    watching = "".join(framed(TEXT, f'Thud.Watch {{"battle": {number}}}') for number in numbers)
    yield Attack(
        f"page: {length} without a name, 25 WebSockets",
        Flood(
            count=25,
            payload=[watching * (PIECE // len(watching))],
            per_second=20,
            addresses=2,
            opening=SOCKET + supports,
        ),
        besides=partial(watch_once, SOCKET + supports + watching),
        setup=WEB,
    )
    pictures = [
        f"GET /game/{number}.{kind}?ply={ply} HTTP/1.1\r\nHost: x\r\n\r\n"
        for ply in places
        for number in numbers
        for kind in ("svg", "gif")
    ]
    yield Attack(
        f"page: pictures of {length}, 25 connections",
        Flood(count=25, payload=pictures, per_second=20, addresses=2),
        besides=draw_each_kind,
        setup=WEB,
    )


def watch_once(sent: str, running: Running, _: float) -> Besides:
    """Watch each battle once, so that its cached record isn't built during the attack.

    Raises:
        RuntimeError: the server closed the connection.
    """
    with socket.create_connection(running.web) as link:
        link.sendall(sent.encode("latin-1"))
        told = bytearray()
        while told.count(RECORD) < BATTLES:
            more = link.recv(1 << 20)
            if not more:
                raise RuntimeError("the connection has ended")
            told += more
    return tuple


def draw_each_kind(running: Running, _: float) -> Besides:
    """Request one SVG and one GIF, to start the drawing processes and open their files."""
    asked = http.client.HTTPConnection(*running.web)
    for kind in ("svg", "gif"):
        asked.request("GET", f"/game/1.{kind}?ply=1")
        asked.getresponse().read()
    asked.close()
    return tuple


def asked_about(folder: Path, attack: Attack, extent: Extent) -> Row:
    """Run an attack on a server whose store holds `BATTLES` long battles."""
    prepare(folder, [PLIES] * BATTLES)
    return besieged(folder, attack, extent)


def on_and_on(folder: Path) -> Row:
    """Play beyond `PLIES` plies, and report the length that the battle reaches."""
    sits = [Joined(0.0, ANNA, Side.DWARF), Joined(0.0, BERT, Side.TROLL)]
    plies = to_and_fro(PLIES + FURTHER)
    before, further = plies[: PLIES + 1], plies[PLIES + 1 :]

    async def store() -> None:
        opened = await Store.open(folder / "thudmud.db")
        for name in (ANNA, BERT):
            await opened.write(accounts.enrol, name, argon2.PasswordHasher().hash(PASSWORD))
        await opened.append({board(0): (0, [*sits, *before])})
        await opened.close()

    folder.mkdir(parents=True)
    asyncio.run(store())
    with server(folder, AS_IT_IS) as (_, place):
        players = [come(place, name) for name in (ANNA, BERT)]
        for each in players:
            each.hear(0.5)
        for count, event in enumerate(further):
            if isinstance(event, Moved):
                players[count % 2].send(f"{Play(event.move.attempt())} on {board(0)}")
                if any(OVER in each.until(MOVED, OVER) for each in players):
                    break
        players[0].hear(0.5)
        last = re.search(rb"Move ([0-9]+)", players[0].say(f"last move on {board(0)}"))
        for each in players:
            each.cut()
    played = int(last[1]) if last else math.inf
    return Row(ON_AND_ON, figures=[Figure("plies of the longest battle", played, "plies", 2000)])


def come(place: Place, name: str) -> Guest:
    """Log in as a registered member, and return the connection."""
    guest = Guest(place, "127.0.0.200", PATIENCE)
    guest.until(NAME_PROMPT)
    guest.send(name)
    guest.until(PASSWORD_PROMPT.encode())
    guest.say(PASSWORD)
    return guest


def analyses(folder: Path) -> Row:
    """Time the analysis of a short battle, first alone, then behind a queue of long ones."""
    prepare(folder, [*[ANALYSED] * BATTLES, SHORT, SHORT])
    with server(folder, AS_IT_IS) as (_, place), Guest(place, "127.0.0.200", PATIENCE) as guest:
        guest.take("Helga")
        alone = analysed(guest, BATTLES + 1)
        attackers = []
        for number in range(BATTLES):
            attacker = Guest(place, f"127.0.0.{2 + number // 2}", PATIENCE)
            attacker.take(f"x{letters(number)}")
            attacker.say(f"analyse {number + 1}")
            if number % 2:
                attacker.send("quit")
            attackers.append(attacker)
        taken = analysed(guest, BATTLES + 2)
        for each in attackers:
            each.cut()
    figures = [
        Figure("a short one is done after", taken, "s", 2 * alone + 1),
        Figure("before that", alone, "s"),
    ]
    return Row(ANALYSES, figures=figures)


def analysed(guest: Guest, number: int) -> float:
    """Return the seconds until the analysis of a battle arrives; infinity if it is refused."""
    begun = perf_counter()
    if b"Too many" not in guest.say(f"analyse {number}"):
        with suppress(OSError):
            guest.until(f"Battle {number}, ".encode())
            return perf_counter() - begun
    return math.inf


def measures(extent: Extent) -> Iterator[Measure]:
    """Yield the title and the measurement of each row."""
    for each in questions():
        yield each.title, partial(asked_about, attack=each, extent=extent)
    yield ON_AND_ON, on_and_on
    yield ANALYSES, analyses
