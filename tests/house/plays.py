"""Random sessions for tests of houses: commands, disconnections and legal plies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from thudmud import BoardSpec, House, Message, Style, Terminal
from thudmud.features.playing.moves import Play
from thudmud.game.archive import (
    AdjournedLookup,
    BattleLookup,
    HistoryLookup,
    Lookup,
    ScoreLookup,
    StandingsLookup,
)
from thudmud.game.events import Imported
from thudmud.rules import Ending, Outcome, Score
from thudmud.store.codec import to_line

BOARDS = (BoardSpec("oak board"), BoardSpec("elm table", "koom valley", Style.BRIEF))
NAMES = ("Anna", "Bert", "Carla")
TERMINALS = (
    Terminal(),
    Terminal(40, packages=frozenset({"thud"})),
    Terminal(120, supports_utf8=True, colours=256, has_reader=True),
)
RECORD = "dF1,dG1,dJ1,dK1,TG7,TH7,RH8\ndF1-F6\nTG7-G6xF6\n"
IMPORTED = Imported(
    1.0, "", "discworld", "Zoe", "", RECORD, 2, Outcome(Ending.AGREEMENT, None, Score(1, 2))
)
GONE = "(gone)"
PLY = "(ply)"

LINES = st.sampled_from(
    [
        "join game as dwarf", "join game as troll", "start", "end game", "restart", "resign on it",
        "yes", "leave game", "quit", "set board brief", "set rules classic", "undo", "no", "claim",
        "adjourn", "resume", "resume game 1", "go to oak", "go to table", "go hall", "look",
        "look at it", "say hello", "tell anna hello", "view possible", "view game", "games",
        "tutorial 4", "puzzle 1", "stop", "hint",
        "history", "replay 1", "next", "last", "play", "record 1", "score", "standings",
        "options reader on", "options charset utf-8", "options orient north", "options width 60",
        "options colour special thud troll bold red on #102030", "options colour scheme vivid",
        "set machine on", "boards", "who", "move a6 b6", "scan row 1", "nonsense",
    ]
)  # fmt: skip
OBJECTS = st.sampled_from(["", "", " on oak board", " on elm table"])
DEEDS = st.tuples(
    st.sampled_from(NAMES),
    st.builds("{}{}".format, LINES, OBJECTS) | st.just(GONE) | st.integers(0, 700).map(str),
)
"""A player and an action: a line, ``GONE``, or the index of a legal ply."""
PLAYS = st.lists(DEEDS, max_size=40)
BEGUN = [
    ("Anna", "join game as dwarf on oak board"),
    ("Bert", "join game as troll on oak board"),
    ("Anna", "start"),
]


def house_of(
    seat_grace: float = 300.0, quiet_plies: int = 200, events: Iterable[str] = ()
) -> House:
    """Return a house with all three players in it, two of them members."""
    house = House(BOARDS, quiet_plies, seat_grace, events)
    for name, terminal in zip(NAMES, TERMINALS, strict=True):
        house.enter(name, 0.0, terminal, member=name != "Carla")
    return house


def kept(house: House) -> House:
    """Return a house replayed from the events of another, with nobody in it yet."""
    hall = house.hall
    return House(BOARDS, hall.quiet_plies, hall.seat_grace, house.events())


def seated(house: House, board: str) -> tuple[str, ...]:
    """Return the players seated at a board, present or not."""
    return tuple(house.hall.tables[board].seats.values())


def everything(house: House) -> dict[str, object]:
    """Return the state of a house: its tables, missed events, stored events and lookups."""
    lookups: list[Lookup[Any]] = [
        *(HistoryLookup(name, page) for name in (*NAMES, "Zoe", None) for page in (1, 2)),
        *(AdjournedLookup(name) for name in NAMES),
        *(ScoreLookup(name) for name in NAMES),
        *(StandingsLookup(name) for name in NAMES),
        *(BattleLookup(number) for number in range(1, 12)),
    ]
    return {
        "tables": house.hall.tables,
        "missed": house.hall.missed,
        "events": house.events(),
        **{str(lookup): house.look_up(lookup) for lookup in lookups},
    }


def do(house: House, name: str, deed: str, now: float) -> list[Message]:
    """Perform a player's action, entering the house first if necessary."""
    told = [] if name in house else house.enter(name, now, TERMINALS[NAMES.index(name)])
    if deed == GONE:
        return told + house.depart(name, now)
    if deed.isdigit():
        return told + _ply(house, int(deed), now)
    return told + house.obey(name, deed, now)


def _ply(house: House, number: int, now: float) -> list[Message]:
    """Play a legal ply at the first board where the player to move is present."""
    for board, table in house.hall.tables.items():
        game = house.game(board)
        if game and (moves := game.legal_moves()):
            player = table.seats.get(game.position.turn)
            if player in house and player:
                move = moves[number % len(moves)]
                return house.obey(player, f"{Play(move.attempt())} on {board}", now)
    return []


RICH_DEEDS = [
    *BEGUN, *[("Anna", str(each)) for each in (5, 70, 300, 11)], ("Bert", "resign on it"),
    ("Bert", "yes"), ("Bert", "start"), ("Anna", "start"), ("Anna", "3"), ("Bert", "undo"),
    ("Anna", "undo"), ("Anna", "8"), ("Anna", "adjourn"), ("Bert", "adjourn"),
    ("Anna", "join game as dwarf on elm table"), ("Carla", "join game as troll on elm table"),
    ("Carla", "start"), ("Anna", "17"), ("Carla", "leave game"), ("Anna", "invite carla"),
    ("Carla", "join game as troll on elm table"), ("Carla", "44"), ("Anna", "end game"),
    ("Anna", "join game as dwarf on oak board"), ("Bert", "join game as troll on oak board"),
    ("Bert", "start"), ("Anna", "20"), ("Bert", "21"),
    ("Anna", "options colour special thud troll bold red on #102030"),
    ("Anna", "options width 60"), ("Anna", "set board brief"),
    ("Bert", GONE), ("Anna", "30"), ("Anna", "undo on oak board"), ("Carla", "replay 2"),
    ("Carla", "last"), ("Carla", "resign on elm table"), ("Carla", "yes"),
    ("Anna", "start on elm table"), ("Carla", "start on elm table"), ("Anna", "80"),
    ("Carla", GONE), ("Anna", "replay 1"), ("Anna", "next"),
]  # fmt: skip
"""A session with takebacks, resignations, adjournments, absences, options and replays."""


def rich_house() -> House:
    """Return a house after an import and ``RICH_DEEDS``."""
    house = house_of(seat_grace=10.0, events=[to_line("(imports)", IMPORTED)])
    for now, (name, deed) in enumerate(RICH_DEEDS, 1):
        do(house, name, deed, now)
    return house


def told(messages: list[Message]) -> dict[str, str]:
    """Return the text sent to each player."""
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for message in messages:
        for name in message.to:
            texts[name].append(message.text)
    return {name: "\n".join(parts) for name, parts in texts.items()}
