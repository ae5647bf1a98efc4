"""The hall: the boards by name, who is where, and who sits where.

The hall holds the tables and the people, and is the only thing in this room that changes. A command
takes two steps: `thudmud.verbs.decisions` says what it would bring about and changes nothing,
`Hall.commit` applies that and says who is to be told. Between the two, events are stored. What
people are told is made in `thudmud.views`.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict, deque
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from thudmud.errors import InvalidValueError
from thudmud.play.archive import RatingChange
from thudmud.play.asides import (
    Aside,
    CameIn,
    Emoted,
    Entered,
    ExerciseLeft,
    FollowedBegan,
    FollowedCame,
    Invited,
    ObserveChosen,
    Replayed,
    ShutdownTold,
    Spoke,
    Told,
    WentOut,
)
from thudmud.play.command import Command
from thudmud.play.events import (
    MADE,
    OWN_PROGRAM,
    Absent,
    BattleStarted,
    BoardClosed,
    BoardOpened,
    BoardRenamed,
    HallEvent,
    Joined,
    Moved,
    Resumed,
    SavedMatch,
    SeekEnded,
    SeekMade,
    TableEvent,
)
from thudmud.play.exercises import NOTHING_DONE, Exercise, Studies
from thudmud.play.options import Options, SetOption, Style, Toggle
from thudmud.play.order import Order
from thudmud.play.table import BoardSpec, Table
from thudmud.play.telling import Occupants, Telling
from thudmud.rules import Side
from thudmud.values import value

DEFAULTS = Options()
_EDITION = 16  # characters of a hash
_NUMBERED = re.compile(r"([0-9]+)[a-z]+ ")


@dataclass(slots=True)
class Person:
    """Somebody who is here.

    Attributes:
        name: what they are called.
        member: whether they have an account.
        room: where they are; None is the hall.
        used: the board that ``it`` means to them.
        styles: how they want to see boards, where they have chosen.
        options: how they want to see everything.
        ignored: the names of those whom they do not want to hear.
        followed: the names of those of whom they are told what they begin.
        plan: what they say about themselves.
        active: when they typed something last, about, in seconds since the epoch.
        observed: the boards that they are told of wherever they are.
        knows_deaf: whether they have been told that players do not hear those who only watch.
        news: the edition of the news that they have seen last.
        replay: the battle that they are seeing again, and where they are in it.
        invitations: to which seats they were asked last, by whom they were.
        exercise: the lesson or the puzzle that they are at; it ends a replay, and the other way
            round.
        studies: what they have done of the lessons and the puzzles.
        number: which of all who have come they are, counted from 1.
    """

    name: str
    member: bool = False
    room: str | None = None
    used: str | None = None
    styles: dict[str, Style] = field(default_factory=dict)
    options: Options = DEFAULTS
    ignored: tuple[str, ...] = ()
    followed: tuple[str, ...] = ()
    plan: str = ""
    active: float = 0.0
    observed: tuple[str, ...] = ()
    knows_deaf: bool = False
    news: str = ""
    replay: Replayed | None = None
    invitations: dict[str, Invited] = field(default_factory=dict)
    exercise: Exercise | None = None
    studies: Studies = NOTHING_DONE
    number: int = field(default=0, compare=False)

    def forget_invitations(self, board: str) -> None:
        """Forget who has asked them to a seat at a board."""
        asked = self.invitations.items()
        self.invitations = {by: each for by, each in asked if each.board != board}


@value
class BotLevel:
    """How well a bot plays.

    Attributes:
        number: 1 for the weakest.
        name: what it is called.
        sentence: what can be expected of it.
    """

    number: int
    name: str
    sentence: str

    def __str__(self) -> str:
        """Return its number and its name, ``3 Marble``: either can be typed."""
        return f"{self.number} {self.name}"


class Members(Container[str]):
    """The names of those, of some people, who have accounts."""

    def __init__(self, people: Mapping[str, Person]) -> None:
        self._people = people

    def __contains__(self, name: object) -> bool:
        person = self._people.get(name) if isinstance(name, str) else None
        return person is not None and person.member


class Rooms:
    """Who is in which room, and who observes it from elsewhere."""

    def __init__(self) -> None:
        self._here: defaultdict[str | None, dict[str, Person]] = defaultdict(dict)
        self._observers: defaultdict[str, dict[str, Person]] = defaultdict(dict)
        self._come = 0
        self._known: dict[str | None, Occupants] = {}
        self._known_told: dict[str | None, Occupants] = {}

    def occupants(self, room: str | None) -> Occupants:
        """Return those in a room."""
        if (known := self._known.get(room)) is not None:
            return known
        here = self._here.get(room, {}).values()
        names = tuple(person.name for person in sorted(here, key=attrgetter("number")))
        occupants = Occupants(names, frozenset(names))
        if names:
            self._known[room] = occupants
        return occupants

    def told_of(self, room: str) -> Occupants:
        """Return those in a room, and then those who observe it."""
        if (known := self._known_told.get(room)) is not None:
            return known
        told, observers = self.occupants(room), self._observers.get(room, ())
        if elsewhere := [name for name in observers if name not in told.members]:
            names = (*told.names, *elsewhere)
            told = Occupants(names, frozenset(names))
        if told.names:
            self._known_told[room] = told
        return told

    def observers(self, room: str) -> list[Person]:
        """Return those who observe a room."""
        return list(self._observers.get(room, {}).values())

    def observe(self, person: Person, rooms: tuple[str, ...]) -> None:
        """Note which rooms somebody observes: these, and no others."""
        for room in person.observed:
            self._observers[room].pop(person.name, None)
            if not self._observers[room]:
                del self._observers[room]
        self.changed(person)
        person.observed = rooms
        for room in rooms:
            self._observers[room][person.name] = person
        self.changed(person)

    def enter(self, person: Person) -> None:
        """Add somebody to the room where they are, as the last of all who have come."""
        self._come += 1
        person.number = self._come
        self.move(person, person.room)

    def rename(self, room: str, name: str) -> None:
        """Call a room something else."""
        for person in self._here.pop(room, {}).values():
            person.room = name
            self._here[name][person.name] = person
        for person in self._observers.pop(room, {}).values():
            person.observed = tuple(name if each == room else each for each in person.observed)
            self._observers[name][person.name] = person
        self._known.pop(room, None)
        self._known_told.pop(room, None)

    def move(self, person: Person, room: str | None) -> None:
        """Move somebody to a room."""
        self.leave(person)
        person.room = room
        self._here[room][person.name] = person
        self.changed(person)

    def changed(self, person: Person) -> None:
        """Note that somebody has come or gone, or has chosen to see things otherwise."""
        self._known.pop(person.room, None)
        for room in (person.room, *person.observed):
            self._known_told.pop(room, None)

    def leave(self, person: Person) -> None:
        """Take somebody out of the room where they are, if they are in any."""
        self.changed(person)
        here = self._here[person.room]
        here.pop(person.name, None)
        if not here:
            del self._here[person.room]


class ByPlayer:
    """Which boards have a player's name on them, or who has it on a list of theirs."""

    def __init__(self) -> None:
        self._known: defaultdict[str, set[str]] = defaultdict(set)

    def of(self, player: str) -> Collection[str]:
        """Return what has a player of that name, in any case."""
        return self._known.get(player.lower(), ())

    def change(self, holder: str, before: Iterable[str], after: Iterable[str]) -> None:
        """Note whom a board, or somebody's list, had, and whom it has now."""
        for player in before:
            holders = self._known[player.lower()]
            holders.discard(holder)
            if not holders:
                del self._known[player.lower()]
        for player in after:
            self._known[player.lower()].add(holder)


@value
class Decision:
    """What a command would bring about.

    ``events`` are those of the table ``board``, decided when it stood at ``version``; ``hall`` are
    those of the hall's own, decided when the hall stood at ``hall_version``, and come first: they
    may open the board. The ``asides`` happen after these, and before the events at the board.
    ``battle`` is the number of the battle that the events begin or take up again, which is known
    once they are stored; so is how the match that they end has changed ratings, ``changes``.
    """

    player: str
    board: str | None = None
    version: int = 0
    events: tuple[TableEvent, ...] = ()
    asides: tuple[Aside, ...] = ()
    battle: int | None = None
    hall: tuple[HallEvent, ...] = ()
    hall_version: int = 0
    changes: tuple[RatingChange, ...] = ()

    def __post_init__(self) -> None:
        if self.events and self.board is None:
            raise InvalidValueError("events happen at a board, and this decision is about none")
        if self.version < 0:
            raise InvalidValueError(f"no board is at version {self.version}")


MOST_MISSED = 30
"""How many events are remembered for somebody who is away; there is little that others can do."""


@value
class Caps:
    """How much of what others have to look through one player may have.

    Attributes:
        seeks: how many seeks.
        boards: at how many boards that players have opened they may sit.
        seeks_per_address: how many seeks all players from one address may have.
        boards_per_address: at how many such boards all of them may sit.
        analyses_per_address: how many battles are analysed at once for all of them.
        new_boards_for_members: whether only members may open boards without a match.
        letters: how many letters a member may have; 0 if none are kept here.
        letters_from_one: how many of these from one other.
        reports: how many reports of one player may be open; 0 if nobody reads any.
    """

    seeks: int = 3
    boards: int = 3
    seeks_per_address: int = 9
    boards_per_address: int = 9
    analyses_per_address: int = 2
    new_boards_for_members: bool = False
    letters: int = 0
    letters_from_one: int = 0
    reports: int = 0


CAPS = Caps()

MOST_IGNORED = 100
"""How many others a player may ignore."""

MOST_FOLLOWED = 100
"""How many others a player may follow."""

LONGEST_PLAN = 200
"""The most characters that a player may say about themselves."""

SAID_KEPT = 5
"""How many of the last lines of a player are remembered for a report."""

MOST_SPEAKERS = 200
"""Of how many players, those who spoke last."""

MOST_OBSERVED = 10
"""How many boards a player may observe at a time."""


class Hall:
    """The boards and the people.

    Args:
        boards: the boards that there are first, in the order in which they are listed and counted.
            `happen` opens and closes others.
        quiet_plies: after how many plies without a capture one player may end a battle alone;
            0 for never.
        seat_grace: how many seconds a player may be away before others need not wait.
        idle_limit: after how many seconds without a ply a battle without a clock may be claimed;
            0 for never.
        caps: how much one player may have.
        opens_boards: whether players may ask for matches, for which boards are opened.

    Attributes:
        tables: the boards as they stand, by name; only the hall itself changes them.
        board_words: the lower-case words of their names.
        people: who is here, by name, in the order in which they came; only it moves them about.
        names: their names, by the lower-case forms of these.
        members: the names of those of them who have accounts.
        left: those who are gone and have a seat, as they were.
        bots: the names under which programs play, not people, and how well; None if a program of
            the bot's own chooses its plies.
        levels: at which others they can be asked to play, the weakest first.
        news: the lines that the operator has written for all.
        order: who keeps order, and who is muted; None where that is not done here.
        origins: by name, where those come from who are here, and who have gone and left a seek or a
            seat behind, if that is known: an address, or a network.
        own_verbs: the verbs that only this hall has, by the first word of each.
        left_out: the first words of those verbs of ours that it does not have.
        shutdown: when this server stops, if an operator has said so.
        missed: what happened at a board, for each side whose player is away, and the table then.
        seeks: those that stand, by their numbers.
        made: the names of the boards that players have opened, by their numbers.
        version: how many events of the hall's own have happened; None where these are not
            followed, so that nobody here can bring any about.
    """

    def __init__(
        self,
        boards: Sequence[BoardSpec],
        quiet_plies: int = 200,
        seat_grace: float = 300.0,
        caps: Caps = CAPS,
        *,
        idle_limit: float = 600.0,
        opens_boards: bool = True,
    ) -> None:
        self.caps, self.opens_boards = caps, opens_boards
        self.tables: dict[str, Table] = {}
        self.board_words: frozenset[str] = frozenset()
        self.quiet_plies, self.seat_grace = quiet_plies, seat_grace
        self.idle_limit = idle_limit
        self.version: int | None = None
        self.seeks: dict[int, SeekMade] = {}
        self.made: dict[int, str] = {}
        self.people: dict[str, Person] = {}
        self.names: dict[str, str] = {}
        self.members: Container[str] = Members(self.people)
        self.left: dict[str, Person] = {}
        self.missed: dict[tuple[str, Side], list[tuple[TableEvent, Table]]] = {}
        self.bots: Mapping[str, BotLevel | None] = {}
        self.levels: Sequence[BotLevel] = ()
        self.news: Sequence[str] = ()
        self.order: Order | None = None
        self.origins: dict[str, str] = {}
        self.own_verbs: Mapping[str, type[Command]] = {}
        self.left_out: Container[str] = frozenset()
        self.shutdown: ShutdownTold | None = None
        self._keys: dict[str, str] = {}
        self._styles: dict[str, Style] = {}
        self._by_words: dict[tuple[str, ...], str] = {}
        self._places: dict[str, int] = {}
        self.rooms = Rooms()
        self._seats = ByPlayer()
        """At which boards each has a seat."""
        self._ignorers, self._followers = ByPlayer(), ByPlayer()
        """Who of those here ignores somebody, and who follows them."""
        self._said: dict[str, deque[Telling]] = {}
        """The last lines of players, by name, those of who spoke last at the end."""
        self.open(boards)

    # --- the boards --------------------------------------------------------------------------

    def open(self, specs: Iterable[BoardSpec], version: int = 0) -> None:
        """Put up boards, behind all others; nobody is told.

        Args:
            specs: what they are. No other board has the key or the name of one of them.
            version: how many events are stored of each, after which it is as new.
        """
        for spec in specs:
            table = Table.set_up(spec, self.quiet_plies, self.seat_grace, self.idle_limit)
            self.tables[spec.name] = replace(table, version=version)
            self._styles[spec.name] = spec.style
        self._index()

    def happen(self, event: HallEvent) -> list[Telling]:
        """Apply an event of the hall itself, and return who is to be told, in order.

        If that changes nothing, nobody is told.
        """
        match event:
            case BoardOpened(key=key, name=name, rules=rules, version=version):
                if key in self._keys:
                    return []
                self.open([BoardSpec(name, rules, key=key)], version)
                return [Telling(event, tuple(self.people_in(None)), self.tables[name])]
            case BoardClosed(key=key) if key in self._keys:
                return self._close(event, self._keys[key])
            case BoardRenamed(key=key, name=name) if self._keys.get(key, name) != name:
                return self._rename(event, self._keys[key], name)
            case SeekMade(number=number, player=player, to=to):
                self.seeks[number] = event
                return [Telling(event, self._told_of_seek(player, to))]
            case SeekEnded(number=number, player=player, seeker=seeker, to=to):
                self.seeks.pop(number, None)
                audience = dict.fromkeys((*self._told_of_seek(seeker, to), player))
                return [Telling(event, tuple(audience))]
        return []

    def _told_of_seek(self, player: str, to: str) -> tuple[str, ...]:
        """Return who is told of a seek: who is asked, or all who may accept it if it is anybody."""
        if to:
            return player, to
        names = (*self._told_who_waits(), player)
        return self.hearers(player, tuple(dict.fromkeys(names)))

    def _told_who_waits(self) -> tuple[str, ...]:
        """Return those in the hall, and those elsewhere who want to know of whoever would play."""
        people = self.people.values()
        waits = (each for each in people if each.room and each.options.has(Toggle.SEEKS))
        return (*self.rooms.occupants(None).names, *(person.name for person in waits))

    def _close(self, event: BoardClosed, board: str) -> list[Telling]:
        """Take a board down; whoever is there comes to the hall."""
        here = self.people_in(board)
        told_of_it = dict.fromkeys((*self.told_of(board).names, *self.people_in(None)))
        told = [Telling(event, tuple(told_of_it), self.tables[board])]
        told += [self._told(CameIn(player, None)) for player in here]
        for person in self.rooms.observers(board):
            others = tuple(each for each in person.observed if each != board)
            told.append(self._told(ObserveChosen(person.name, board, others)))
        self.put(board, Table.set_up(BoardSpec(board)))  # nobody has a seat there any more
        del self.tables[board]
        self._styles.pop(board, None)
        for side in Side:
            self.missed.pop((board, side), None)
        for person in (*self.people.values(), *self.left.values()):
            person.used = None if person.used == board else person.used
            person.room = None if person.room == board else person.room
            person.forget_invitations(board)
        self._index()
        return told

    def _rename(self, event: BoardRenamed, board: str, name: str) -> list[Telling]:
        """Call a board something else."""
        before = self.tables[board]
        table = replace(before, name=name)
        self.tables = {
            table.name if each is before else key: table if each is before else each
            for key, each in self.tables.items()
        }
        seated = tuple(table.seats.values())
        self._seats.change(board, seated, ())
        self._seats.change(name, (), seated)
        self._styles[name] = self._styles.pop(board, Style.FULL)
        for side in Side:
            if (missed := self.missed.pop((board, side), None)) is not None:
                self.missed[name, side] = missed
        self.rooms.rename(board, name)
        for person in (*self.people.values(), *self.left.values()):
            person.used = name if person.used == board else person.used
            person.room = name if person.room == board else person.room
            for by, asked in person.invitations.items():
                if asked.board == board:
                    person.invitations[by] = replace(asked, board=name)
            if board in person.styles:
                person.styles[name] = person.styles.pop(board)
        self._index()
        here = (*self.told_of(name).names, *self.people_in(None))
        return [Telling(event, tuple(dict.fromkeys((*here, *seated))), before)]

    def _index(self) -> None:
        """Note by which words and keys boards are found, and their order."""
        self._keys = {table.key: name for name, table in self.tables.items()}
        self._by_words = {tuple(name.lower().split()): name for name in self.tables}
        self.board_words = frozenset(word for words in self._by_words for word in words)
        self._places = {name: place for place, name in enumerate(self.tables)}
        self.made = {
            int(found[1]): table.name
            for table in self.tables.values()
            if table.key.startswith(MADE) and (found := _NUMBERED.match(table.name))
        }

    def made_boards_of(self, player: str) -> list[str]:
        """Return the boards that players have opened at which somebody has a seat."""
        return [each.name for each in self.seats_of(player) if each.key.startswith(MADE)]

    def is_idle(self, table: Table) -> bool:
        """Whether a board was opened by players, none of whom needs it any more."""
        if not table.key.startswith(MADE) or table.under_way or self._anybody_at(table.name):
            return False
        return table.match is not None or not table.seats

    def is_deserted(self, table: Table) -> bool:
        """Whether nobody is at a board where somebody who is elsewhere in the hall practises."""
        if not table.is_practice or self._anybody_at(table.name):
            return False
        return any(player in self.people for player in table.seats.values())

    def _anybody_at(self, board: str) -> bool:
        """Whether anybody but bots is at a board."""
        return any(name not in self.bots for name in self.people_in(board))

    def called(self, key: str) -> str:
        """Return the name of the board with a key; the key itself if it is not here."""
        return self._keys.get(key, key)

    def spelt(self, board: str) -> str:
        """Return what a board is called that is named in any case; else the same again."""
        if board in self.tables:
            return board
        return next((each for each in self.tables if each.lower() == board.lower()), board)

    def board_with(self, key: str) -> Table | None:
        """Return the board with a key, if it is here."""
        name = self._keys.get(key)
        return None if name is None else self.tables[name]

    @property
    def edition(self) -> str:
        """What tells the news from what it was before, and will be; "" if there is none."""
        text = "\n".join(self.news).encode()
        return hashlib.sha256(text).hexdigest()[:_EDITION] if self.news else ""

    # --- the people --------------------------------------------------------------------------

    def level(self, name: str, asked: int | None = None) -> int | None:
        """Return at which level somebody plays, perhaps asked for one, as `Levels` has it."""
        if name not in self.bots:
            return None
        usual = self.bots[name]
        return asked or usual.number if usual else OWN_PROGRAM

    def is_operator(self, name: str) -> bool:
        """Whether somebody keeps order here."""
        return self.order is not None and name.lower() in self.order.operators

    def style(self, player: str, board: str) -> Style:
        """Return how ``player`` is shown ``board``, which may have been closed."""
        return self.people[player].styles.get(board, self._styles.get(board, Style.FULL))

    def choose(self, player: str, options: Options | None, choices: Iterable[SetOption]) -> Options:
        """Return a player's options after some choices, which hold at once for who is here.

        What held before for somebody who is not here are ``options``, if that is known.
        """
        here, left = self.people.get(player), self.left.get(player)
        before = here.options if here else options or (left.options if left else DEFAULTS)
        chosen = before.chosen(choices)
        if here:
            here.options = chosen
            self.rooms.changed(here)
        return chosen

    def ignores(self, player: str, other: str) -> bool:
        """Whether somebody who is here does not want to hear another, named in any case."""
        return player in self._ignorers.of(other)

    def ignore(self, player: str, others: Sequence[str]) -> None:
        """Note whom somebody who is here does not want to hear: these, and nobody else."""
        person = self.people[player]
        self._ignorers.change(player, person.ignored, others)
        person.ignored = tuple(others)

    def follow(self, player: str, others: Sequence[str]) -> None:
        """Note whom somebody who is here follows: these, and nobody else."""
        person = self.people[player]
        self._followers.change(player, person.followed, others)
        person.followed = tuple(others)

    def heard(self, player: str, speaker: str) -> tuple[str, ...]:
        """Return what somebody has last heard from a player, of the last lines of that one."""
        return tuple(
            f"{aside.verb}: {aside.text}"
            for telling in self._said.get(speaker, ())
            if isinstance(aside := telling.event, Spoke | Emoted | Told)
            if player in telling.audience
        )

    def _note_said(self, telling: Telling, speaker: str) -> None:
        """Remember a line of a player, where it may come to be reported."""
        said = self._said.pop(speaker, None) or deque(maxlen=SAID_KEPT)
        said.append(Telling(telling.event, telling.audience))
        self._said[speaker] = said
        if len(self._said) > MOST_SPEAKERS:
            del self._said[next(iter(self._said))]

    def keep_lists(
        self, player: str, ignored: Sequence[str] | None, followed: Sequence[str] | None
    ) -> None:
        """Note whom somebody who is here ignores, and whom they follow, where that is known."""
        if ignored is not None:
            self.ignore(player, ignored)
        if followed is not None:
            self.follow(player, followed)

    def observe(self, player: str, boards: tuple[str, ...]) -> None:
        """Note which boards somebody who is here observes: these, and no others."""
        self.rooms.observe(self.people[player], boards)

    def told_of(self, board: str) -> Occupants:
        """Return those who are told what happens at a board: who is there, and who observes it."""
        return self.rooms.told_of(board)

    def hears(self, player: str, talk: Toggle, table: Table) -> bool:
        """Whether somebody hears a kind of talk at a table; a player hears no whispers."""
        plays = player in table.seats.values()
        if plays and talk is Toggle.WHISPER:
            return False
        if not plays and talk is Toggle.WATCHERS:
            return True
        person = self.people.get(player)
        return person is not None and talk in person.options.on

    def who_hears(
        self, names: Iterable[str], talk: Toggle, table: Table, speaker: str
    ) -> tuple[str, ...]:
        """Return those of some people who hear a kind of talk at a table, the speaker included."""
        if talk is Toggle.WATCHERS:  # this is what nobody but a player can want not to hear
            seated = table.seats.values()
            return tuple(
                [name for name in names if name not in seated or self.hears(name, talk, table)]
            )
        return tuple([name for name in names if name == speaker or self.hears(name, talk, table)])

    def board_seen(self, player: str, board: str) -> Table:
        """Return the board that ``player`` sees by a name, that of an exercise included."""
        exercise = self.people[player].exercise
        if exercise and exercise.table.name == board:
            return exercise.table
        return self.tables[board]

    def bots_here(self) -> list[str]:
        """Return the names of the bots that can be invited, wherever they are."""
        return [name for name in self.people if name in self.bots]

    def begins(self, words: str) -> list[str]:
        """Return those here whose names begin so, in any case, in the order in which they came."""
        return [name for name in self.people if name.lower().startswith(words.lower())]

    def people_in(self, room: str | None) -> list[str]:
        """Return the names of those in a room, in the order they came to the server."""
        return list(self.rooms.occupants(room).names)

    def seats_of(self, player: str) -> list[Table]:
        """Return the tables at which ``player`` has a seat."""
        boards = sorted(self._seats.of(player), key=self._places.__getitem__)
        return [table for board in boards if (table := self.tables[board]).side_of(player)]

    def board_called(self, words: tuple[str, ...]) -> str | None:
        """Return the board whose name is these lower-case words, if there is one."""
        return self._by_words.get(words)

    def rated_board(self, player: str) -> str | None:
        """Return a board at which a player is in a battle that counts for ratings, if there is one.

        They are given no help at any other: who thinks of one board may have the other in mind.
        """
        for each in self.seats_of(player):
            if each.running and each.match and each.match.between_members:
                return each.name
        return None

    def has_seat(self, player: str) -> bool:
        """Whether a player of that name, in any case, has a seat."""
        return bool(self._seats.of(player))

    def restore(
        self, board: str, version: int, events: Iterable[tuple[TableEvent, int | None]]
    ) -> None:
        """Fold the events that follow on a table's ``version``; nobody is told.

        Each comes with the number of the battle that it begins or takes up again, if it does.
        Either ``version`` is 0, or the first of them is complete, see
        `thudmud.play.events.is_complete`.
        """
        self.tables[board] = replace(self.tables[board], version=version)
        for event, battle in events:
            self._apply(board, event, battle)

    def put(self, board: str, table: Table) -> None:
        """Replace the state of a board."""
        before, self.tables[board] = self.tables[board], table
        if table.seats is not before.seats:
            self._seats.change(board, before.seats.values(), table.seats.values())
            for player in before.seats.values():
                if player not in self.people and not self.seats_of(player):
                    self._forget(player)

    def commit(self, decision: Decision) -> list[Telling]:
        """Apply a decision, and return who is to be told what, in order."""
        told: list[Telling] = []
        for of_hall in decision.hall:
            told += self.happen(of_hall)
        for aside in decision.asides:
            told.append(self._told(aside))
            if isinstance(aside, Entered):
                told += self._followed_came(aside, told[-1].audience)
        board = str(decision.board)
        if decision.events:
            told += self._leave_exercises(decision, self.tables[board])
        for event in decision.events:
            if isinstance(event, BattleStarted | Resumed):
                told += self._gathered(event, board)
            told.append(self._happened(event, board, decision))
            if isinstance(event, BattleStarted | Resumed):
                told += self._followed_began(event, board, told[-1].audience)
        if decision.board and decision.player in self.people:
            self.people[decision.player].used = decision.board
        return told

    # --- applying ----------------------------------------------------------------------------

    def _happened(self, event: TableEvent, board: str, decision: Decision) -> Telling:
        """Apply an event at a board, and return who is to be told."""
        # Both those who give a seat up by it and those who take one are to be told.
        before = self.tables[board].seats.values()
        table = self._apply(board, event, decision.battle)
        if isinstance(event, Moved):
            self._close_replays(table)
        occupants = self.rooms.told_of(board)
        concerned = (*table.seats.values(), *before, event.player)
        person = self.people.get(event.player)
        if person and isinstance(event, Joined):
            person.forget_invitations(board)
        if isinstance(event, Joined) and not table.full:
            concerned += self.hearers(event.player, self._told_who_waits())
        return Telling(event, occupants.and_also(concerned), table, occupants, decision.changes)

    def _gathered(self, begun: BattleStarted | Resumed, board: str) -> list[Telling]:
        """Return how the players of a match come to a board that has just been opened for it."""
        if self.tables[board].seats or board not in self.made.values():
            return []
        match = begun.match if isinstance(begun, Resumed) else begun
        told = self._fetched(match.dwarf, board)
        for each in self._fetched(match.troll, board):  # who has just come sees them there
            others = tuple(name for name in each.audience if name != match.dwarf)
            told.append(replace(each, audience=others, occupants=None))
        return told

    def _fetched(self, player: str, board: str) -> list[Telling]:
        """Return how somebody comes to a board that was opened for their match."""
        person = self.people.get(player)
        if person is None or person.room == board:
            return []
        person.used = board
        walk = WentOut(player, person.room, board), CameIn(player, board, sits=True)
        return [self._told(each) for each in walk]

    def _apply(self, board: str, event: TableEvent, battle: int | None) -> Table:
        table = self.tables[board].apply(event, battle)
        self.put(board, table)
        if not table.away and not self.missed:
            return table
        for side in Side:
            if side not in table.away:
                self.missed.pop((board, side), None)
            elif not isinstance(event, Absent):
                missed = self.missed.setdefault((board, side), [])
                missed.append((event, table))
                del missed[:-MOST_MISSED]
        return table

    def _close_replays(self, table: Table) -> None:
        """End the replays of those who play here: "last" is about their own battle again."""
        for player in table.seats.values():
            if player in self.people:
                self.people[player].replay = None

    def _leave_exercises(self, decision: Decision, table: Table) -> list[Telling]:
        """End the exercises of who does something in a battle, and of those whose battle goes on.

        It goes on when it begins, and when somebody takes a seat in the middle of it.
        """
        players = [decision.player] if table.running else []
        for event in decision.events:
            if isinstance(event, BattleStarted | Resumed):
                match = event.match if isinstance(event, Resumed) else event
                players += match.dwarf, match.troll
            elif isinstance(event, Joined) and table.running:
                players += table.seats.values()
        told: list[Telling] = []
        for name in players:
            person = self.people.get(name)
            if person and person.exercise:
                told.append(self._told(ExerciseLeft(name, person.exercise)))
        return told

    def _told(self, aside: Aside) -> Telling:
        """Apply an aside, and return who is to be told."""
        telling = aside.happen(self)
        if aside.is_heard and self.caps.reports:
            self._note_said(telling, aside.player)
        return telling

    def let_in(self, entered: Entered) -> None:
        """Note that somebody is here, who may have left a seat behind and be back."""
        player = entered.player
        before = self.left.pop(player, None) or Person(player)
        chosen, options = before.styles | dict(entered.styles), entered.options or before.options
        person = Person(player, entered.member, entered.room, styles=chosen, options=options)
        person.news = before.news if entered.news is None else entered.news
        person.plan = before.plan if entered.plan is None else entered.plan
        person.active = entered.active
        self.people[player], self.names[player.lower()] = person, player
        self.rooms.enter(person)
        self.ignore(player, before.ignored if entered.ignored is None else entered.ignored)
        self.follow(player, before.followed if entered.followed is None else entered.followed)
        self.observe(player, tuple(each for each in entered.observed if each in self.tables))

    def take_leave(self, player: str) -> None:
        """Note that somebody is here no longer; they are remembered while they have a seat."""
        person = self.people[player]
        ignored, followed = person.ignored, person.followed
        self.ignore(player, ())
        self.follow(player, ())
        self.observe(player, ())
        del self.people[player]
        person.ignored, person.followed = ignored, followed
        del self.names[player.lower()]
        self.rooms.leave(person)
        if self.seats_of(player):
            self.left[player] = person
        else:
            self._forget(player)

    def operators_and(self, player: str) -> tuple[str, ...]:
        """Return who is here of a player and all operators."""
        names = (player, *filter(self.is_operator, self.people))
        return tuple(name for name in dict.fromkeys(names) if name in self.people)

    def _forget(self, player: str) -> None:
        """Forget somebody who is gone and has no seat, and whom they have invited."""
        self.left.pop(player, None)
        for person in self.people.values():
            person.invitations.pop(player, None)

    def hearers(
        self, player: str, names: tuple[str, ...], besides: Container[str] = ()
    ) -> tuple[str, ...]:
        """Return those of some people who do not ignore a player, or hear them all the same."""
        ignorers = self._ignorers.of(player)
        if not ignorers:
            return names
        return tuple(name for name in names if name not in ignorers or name in besides)

    def _followed_came(self, entered: Entered, told: Collection[str]) -> list[Telling]:
        """Return that somebody has come, to those who follow them and are not told otherwise."""
        player, room = entered.player, entered.room
        there = self.rooms.told_of(room).members if room else frozenset()
        others = [each for each in self._followers_of(player) if each not in {*there, *told}]
        return [Telling(FollowedCame(player, room), tuple(others))] if others else []

    def _followed_began(
        self, begun: BattleStarted | Resumed, board: str, told: Container[str]
    ) -> list[Telling]:
        """Return that a match begins, or goes on, to those who follow one of its players.

        Not to those who are told of the battle itself; and whoever practises is left in peace.
        """
        match = begun.match if isinstance(begun, Resumed) else begun
        is_second = isinstance(begun, BattleStarted) and begun.number > 1
        if is_second or match.dwarf == match.troll:
            return []
        followers = [*self._followers_of(match.dwarf), *self._followers_of(match.troll)]
        others = tuple(each for each in dict.fromkeys(followers) if each not in told)
        resumed = isinstance(begun, Resumed)
        began = FollowedBegan(begun.player, board, match.dwarf, match.troll, resumed)
        return [Telling(began, others)] if others else []

    def _followers_of(self, player: str) -> list[str]:
        """Return those here who follow a player, but for those of whom one ignores the other."""
        return [
            name
            for name in sorted(self._followers.of(player))
            if not self.ignores(player, name) and not self.ignores(name, player)
        ]

    def told_who_moves(self, player: str, room: str | None) -> tuple[str, ...]:
        """Return those in a room who are told that a player comes or goes.

        Those who have a seat there want to know even of somebody whom they ignore.
        """
        table = self.table_in(room)
        seated = tuple(table.seats.values()) if table else ()
        return self.hearers(player, self.rooms.occupants(room).names, seated)

    def table_in(self, room: str | None) -> Table | None:
        """Return the board that a room is about; None for the hall."""
        return self.tables[room] if room else None


def claimants(hall: Hall, name: str, adjourned: Iterable[SavedMatch]) -> Iterator[str]:
    """Yield the name as those spell it who have a seat, or one of these matches, under it."""
    key = name.lower()
    if hall.has_seat(name):
        seated = (player for table in hall.tables.values() for player in table.seats.values())
        yield from (player for player in seated if player.lower() == key)
    for match in adjourned:
        yield from (player for player in (match.dwarf, match.troll) if player.lower() == key)


def kept_for(hall: Hall, name: str, adjourned: Iterable[SavedMatch]) -> str | None:
    """Return who has claims to a name in another spelling, if nobody has any in this very one."""
    claims = list(claimants(hall, name, adjourned))
    return None if not claims or name in claims else claims[0]
