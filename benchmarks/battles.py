"""Generates a store with very many battles, as after some years of play.

Run it from the checkout, ``python -m benchmarks.battles FILE 1000000``, for a file to experiment
with. A million battles take 8 GB.

Each match has two battles and a board of its own, and ten matches run at a time: a seek, two
players who sit down, 80 random plies, offers, a lost connection, and both departures. Event rows
are inserted straight into the file, in the store's own encoding. The projections are left to the
store, which rebuilds them whenever a file has another number of `PROJECTION`.

Ten different battles are repeated over and over. With ``different`` each battle is unique and has
30 plies, some of which are more popular than others.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice, zip_longest
from pathlib import Path
from random import Random
from time import perf_counter
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from thudmud.features.explorer.model import COUNTED_PLIES
from thudmud.game.events import (
    MADE,
    Absent,
    BattleEnded,
    BattleStarted,
    BoardClosed,
    BoardOpened,
    Cleared,
    Declined,
    Event,
    HallEvent,
    Joined,
    Left,
    Moved,
    Offer,
    Offered,
    OfferLapsed,
    Parting,
    Returned,
    SeekEnd,
    SeekEnded,
    SeekMade,
    StoredEvent,
)
from thudmud.game.projections import HALL
from thudmud.rules import DISCWORLD, Ending, Move, Outcome, Piece, Score, Side
from thudmud.store.codec import SCHEMA, to_array, to_text
from thudmud.store.database import Database
from thudmud.store.files import OnDisk
from thudmud.store.interface import Upgrade
from thudmud.store.rows import SqlTable
from thudmud.values import replace

NOW = 1795225366.123456
PLIES = 80
AT_ONCE = 10
"""Matches in progress at a time."""
YEARS = 3 * 366 * 86_400.0
"""Seconds over which the battles are spread."""
BATCH = 10_000
"""Events per insertion."""

ONE, OTHER = "Anna", "Bert"
_NUMBERS = {ONE: 4_000_000_001, OTHER: 4_000_000_002}
"""Placeholders for the numbers of players in encoded events."""


class Place(NamedTuple):
    """An event before it has a position: its stream's number, and its encoded text."""

    stream: int
    body: str


def players(battles: int) -> int:
    """Return a plausible number of players for a number of battles."""
    return max(500, battles // 50)


def battle(games: int) -> list[Event]:
    """Return the events of a random battle.

    Args:
        games: number of earlier battles, the random seed.
    """
    random, position = Random(games), DISCWORLD.initial_position
    moves: list[Move] = []
    for _ in range(PLIES):
        moves.append(random.choice(DISCWORLD.legal_moves(position)))
        position = position.after(moves[-1])
    sides = (Side.DWARF, Side.TROLL)
    outcome = Outcome(Ending.RESIGNATION, Side.TROLL, Score(0, 32))
    return [
        BattleStarted(NOW, ONE, 1, "discworld", ONE, OTHER, rated=True),
        *(
            Moved(NOW + ply * 20.25, (ONE, OTHER)[ply % 2], sides[ply % 2], move, ply + 1)
            for ply, move in enumerate(moves)
        ),
        BattleEnded(NOW + 2000, ONE, outcome, PLIES, ONE, OTHER, rated=True),
    ]


def short_battle(games: int) -> list[Event]:
    """Return a random battle of `COUNTED_PLIES` plies, some moves likelier than others."""
    random, position = Random(games), DISCWORLD.initial_position
    whole = battle(0)
    plies: list[Event] = []
    while len(plies) < COUNTED_PLIES:
        ply = whole[1 + len(plies)]
        pieces = position.squares(Piece.TROLL if len(plies) % 2 else Piece.DWARF)
        moves = DISCWORLD.moves_from(position, pieces[int(len(pieces) * random.random() ** 2)])
        if moves and isinstance(ply, Moved):
            move = moves[int(len(moves) * random.random() ** 2)]
            plies.append(replace(ply, move=move))
            position = position.after(move)
    ended = whole[-1]
    assert isinstance(ended, BattleEnded)
    return [whole[0], *plies, replace(ended, plies=COUNTED_PLIES)]


def _match(seed: int, made: Callable[[int], list[Event]]) -> list[Event]:
    """Return all events at the board of a match of two battles, from arrivals to departures."""
    first, second = made(2 * seed), [_second(event, seed) for event in made(2 * seed + 1)]
    cut_off: list[Event] = [
        Absent(NOW, OTHER, Side.TROLL, Parting.LOST),
        Returned(NOW, OTHER, Side.TROLL),
        Offered(NOW, ONE, Offer.UNDO),
        Declined(NOW, OTHER, Offer.UNDO),
    ]
    offered: list[Event] = [Offered(NOW, OTHER, Offer.END), OfferLapsed(NOW, OTHER, Offer.END)]
    return [
        Joined(NOW, ONE, Side.DWARF),
        Joined(NOW, OTHER, Side.TROLL),
        *first[:40],
        *cut_off,
        *first[40:],
        *second[:60],
        *offered,
        *second[60:],
        Left(NOW, ONE, Side.TROLL, Parting.LEFT),
        Cleared(NOW, OTHER),
    ]


def _second(event: Event, seed: int) -> Event:
    """Return an event of a first battle as one of the second, with the seats swapped."""
    if isinstance(event, BattleStarted):
        return replace(event, number=2, dwarf=OTHER, troll=ONE, player=OTHER)
    if isinstance(event, BattleEnded):
        points = 32, 32 + Random(seed).randrange(-9, 9)
        return replace(event, dwarf=OTHER, troll=ONE, player=OTHER, points=points)
    assert isinstance(event, Moved)
    return replace(event, player=OTHER if event.player == ONE else ONE)


def _text(event: StoredEvent) -> str:
    return to_text(to_array(event, lambda name: _NUMBERS[name] if name else 0))


def _with_numbers(text: str, one: int, other: int) -> str:
    text = text.replace(str(_NUMBERS[ONE]), str(one))
    return text.replace(str(_NUMBERS[OTHER]), str(other))


def events(matches: int, people: int, first: int, *, different: bool = False) -> Iterator[Place]:
    """Yield the events of the hall, whose stream is 1, and of one board for each match.

    Args:
        matches: number of matches.
        people: number of players; theirs are 1 to this.
        first: the number of the first board's stream.
        different: whether each match is unique.
    """
    kinds = [[_text(event) for event in _match(seed, battle)] for seed in range(5)]
    for start in range(0, matches, AT_ONCE):
        playing = []
        for match in range(start, min(start + AT_ONCE, matches)):
            one = match % people + 1
            other = (one + match // people * 7 % (people - 1)) % people + 1  # never equal to one
            key, seek = f"{MADE}{match}", match - start + 1
            hall: tuple[list[HallEvent], list[HallEvent]] = (
                [
                    SeekMade(NOW, ONE, seek, "discworld"),
                    BoardOpened(NOW, OTHER, key, f"board {match}", "discworld"),
                    SeekEnded(NOW, OTHER, seek, SeekEnd.ACCEPTED, ONE),
                ],
                [BoardClosed(NOW, "", key)],
            )
            before, after = (
                [Place(1, _with_numbers(_text(event), one, other)) for event in each]
                for each in hall
            )
            at_board = [
                Place(first + match, _with_numbers(text, one, other))
                for text in (
                    map(_text, _match(match, short_battle))
                    if different
                    else kinds[match % len(kinds)]
                )
            ]
            playing.append([*before, *at_board, *after])
        for at_a_time in zip_longest(*playing):
            yield from (each for each in at_a_time if each)


def open_outdated(path: Path, clock: Callable[[], float]) -> Database:
    """Open a file, and rebuild the projections that `fill` has left out."""
    upgrade = Upgrade()
    files = OnDisk(path, serving=False, lock_timeout=5.0, upgrade=upgrade)
    return Database(files, clock, upgrade=upgrade)


def fill(path: Path, battles: int, *, different: bool = False) -> None:
    """Create a store with a number of battles, and two boards at which nobody plays.

    Args:
        path: the file to create.
        battles: number of battles; an odd one is rounded down.
        different: whether each battle is unique, and shorter.
    """
    database = open_outdated(path, lambda: NOW - YEARS)
    boards = [
        BoardOpened(NOW, "", board, f"{board} board", "discworld") for board in ("oak", "pine")
    ]
    [outcome], _ = database.write([lambda db: db.append({HALL: (0, boards)})])
    assert isinstance(outcome, dict), outcome
    head = database.head
    database.backend.scrub()
    database.close()
    matches, people = battles // 2, players(battles)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = off")
        connection.execute("pragma synchronous = off")
        connection.execute("pragma cache_size = -262144")
        connection.execute("begin")
        table = SqlTable(connection)
        [(hall, *rest)] = list(table.rows("stream", "where key = ?", HALL))
        assert hall == 1
        first = table.number("select max(id) from stream") + 1
        versions = [0] * (first + matches)
        versions[1], position = len(boards), head.position
        step = (YEARS - 60.0) / max(1, matches * 180)
        for number in range(1, people + 1):
            table.put("player", number, "", f"player{number}", f"Player{number}")
        happening = events(matches, people, first, different=different)
        while some := list(islice(happening, BATCH)):
            rows = []
            for stream, body in some:
                position += 1
                versions[stream] += 1
                at = round(head.at + (position - head.position) * step, 6)
                rows.append((position, stream, versions[stream], SCHEMA, at, 1, body))
            table.insert_events(rows)
        for match in range(matches):
            key, number = f"{MADE}{match}", first + match
            # The last event clears the board, so its state needs no earlier one.
            version = versions[number]
            table.put("stream", number, key, f"board {match}", version, version)
        if matches:
            table.put("stream", 1, *rest[:2], versions[1], 1)
        # An outdated projection number makes the next opener rebuild all projections.
        at = max(head.at, NOW - 60.0)
        table.put("head", *head._replace(position=position, at=at, projection=0))
        connection.execute("commit")


def main(arguments: Sequence[str]) -> int:
    """Generate a file, and print the time taken by the events and by the projections."""
    path, battles = Path(arguments[0]), int(arguments[1])
    begun = perf_counter()
    fill(path, battles)
    print(f"{battles:,} battles written in {perf_counter() - begun:,.0f} s", flush=True)
    begun = perf_counter()
    database = open_outdated(path, lambda: NOW)
    print(f"their rows made in {perf_counter() - begun:,.0f} s", flush=True)
    database.backend.scrub()
    database.close()
    print(f"{path.stat().st_size / 1e9:,.2f} GB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
