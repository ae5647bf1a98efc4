"""The hall: the boards by name, who is where, and who sits where.

The hall holds the tables and the people, and is the only thing in this room that changes. A command
takes two steps: `thudmud.play.hall_decisions` says what it would bring about and changes nothing,
`Hall.commit` applies that and says who is to be told. Between the two, events are stored. What
people are told is made in `thudmud.views`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import attrgetter

from thudmud.errors import InvalidValueError
from thudmud.play.analysis import AnalysedBattle
from thudmud.play.asides import (
    Analysing,
    AnalysisCancelled,
    Aside,
    Asked,
    CameIn,
    CaughtUp,
    CommentMade,
    Emoted,
    Entered,
    Exercised,
    ExerciseLeft,
    Gone,
    IgnoreChosen,
    Invited,
    OptionChosen,
    Replayed,
    Spoke,
    StyleChosen,
    Told,
    TookOver,
    TurnedDown,
    WentOut,
)
from thudmud.play.commands import Style
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
    SavedMatch,
    SeekEnded,
    SeekMade,
    TableEvent,
)
from thudmud.play.exercises import NOTHING_DONE, Exercise, Studies
from thudmud.play.options import Options, SetOption, after
from thudmud.play.table import BoardSpec, Table
from thudmud.rules import Side

DEFAULTS = Options()
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
    replay: Replayed | None = None
    invitations: dict[str, Invited] = field(default_factory=dict)
    exercise: Exercise | None = None
    studies: Studies = NOTHING_DONE
    number: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Occupants:
    """Those in a room: another value once somebody comes, goes, or chooses to see things otherwise.

    So what is worked out of them all may be cached by it.

    Attributes:
        names: in the order they came to the server.
        members: the same, quick to look up.
    """

    names: tuple[str, ...]
    members: frozenset[str]


class Rooms:
    """Who is in which room."""

    def __init__(self) -> None:
        self._here: defaultdict[str | None, dict[str, Person]] = defaultdict(dict)
        self._come = 0
        self._known: dict[str | None, Occupants] = {}

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
        self._known.pop(room, None)

    def move(self, person: Person, room: str | None) -> None:
        """Move somebody to a room."""
        self.leave(person)
        person.room = room
        self._here[room][person.name] = person
        self.changed(person)

    def changed(self, person: Person) -> None:
        """Note that somebody has come or gone, or has chosen to see things otherwise."""
        self._known.pop(person.room, None)

    def leave(self, person: Person) -> None:
        """Take somebody out of the room where they are, if they are in any."""
        self.changed(person)
        here = self._here[person.room]
        here.pop(person.name, None)
        if not here:
            del self._here[person.room]


class Seats:
    """At which boards each player has a seat."""

    def __init__(self) -> None:
        self._boards: defaultdict[str, set[str]] = defaultdict(set)

    def of(self, player: str) -> Collection[str]:
        """Return the boards at which a player of that name, in any case, has a seat."""
        return self._boards.get(player.lower(), ())

    def change(self, board: str, before: Iterable[str], after: Iterable[str]) -> None:
        """Note who had seats at a board, and who has now."""
        for player in before:
            boards = self._boards[player.lower()]
            boards.discard(board)
            if not boards:
                del self._boards[player.lower()]
        for player in after:
            self._boards[player.lower()].add(board)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a command would bring about.

    ``events`` are those of the table ``board``, decided when it stood at ``version``; ``hall`` are
    those of the hall's own, decided when the hall stood at ``hall_version``, and come first: they
    may open the board. The ``asides`` happen after these, and before the events at the board.
    ``battle`` is the number of the battle that the events begin or take up again, which is known
    once they are stored.
    """

    player: str
    board: str | None = None
    version: int = 0
    events: tuple[TableEvent, ...] = ()
    asides: tuple[Aside, ...] = ()
    battle: int | None = None
    hall: tuple[HallEvent, ...] = ()
    hall_version: int = 0

    def __post_init__(self) -> None:
        if self.events and self.board is None:
            raise InvalidValueError("events happen at a board, and this decision is about none")
        if self.version < 0:
            raise InvalidValueError(f"no board is at version {self.version}")


@dataclass(frozen=True, slots=True)
class Telling:
    """One thing that happened, who is to be told, and the table as it stood right after."""

    event: TableEvent | HallEvent | Aside
    audience: tuple[str, ...]
    table: Table | None = None
    occupants: Occupants | None = field(default=None, compare=False)
    """Those who are in the room where it happened, if all of them are told: they come first."""


MOST_MISSED = 30
"""How many events are remembered for somebody who is away; there is little that others can do."""


@dataclass(frozen=True, slots=True)
class Caps:
    """How much of what others have to look through one player may have.

    Attributes:
        seeks: how many seeks.
        boards: at how many boards that players have opened they may sit.
        seeks_per_address: how many seeks all players from one address may have.
        boards_per_address: at how many such boards all of them may sit.
    """

    seeks: int = 3
    boards: int = 3
    seeks_per_address: int = 9
    boards_per_address: int = 9


CAPS = Caps()

MOST_IGNORED = 100
"""How many others a player may ignore."""


class Hall:
    """The boards and the people.

    Args:
        boards: the boards that there are first, in the order in which they are listed and counted.
            `happen` opens and closes others.
        quiet_plies: after how many plies without a capture one player may end a battle alone;
            0 for never.
        seat_grace: how many seconds a player may be away before others need not wait.
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
        opens_boards: bool = True,
    ) -> None:
        self.caps, self.opens_boards = caps, opens_boards
        self.tables: dict[str, Table] = {}
        self.board_words: frozenset[str] = frozenset()
        self.quiet_plies, self.seat_grace = quiet_plies, seat_grace
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
        self._keys: dict[str, str] = {}
        self._styles: dict[str, Style] = {}
        self._by_words: dict[tuple[str, ...], str] = {}
        self._places: dict[str, int] = {}
        self._rooms = Rooms()
        self._seats = Seats()
        self._ignorers: defaultdict[str, set[str]] = defaultdict(set)
        """By the lower-case name of somebody, those here who ignore them."""
        for spec in boards:
            self._put_up(spec, 0)
        self._index()

    # --- the boards --------------------------------------------------------------------------

    def open(self, spec: BoardSpec, version: int = 0) -> None:
        """Put up a board, behind all others; nobody is told.

        Args:
            spec: what it is. No other board has its key or its name.
            version: how many events are stored of it, after which it is as new.
        """
        self._put_up(spec, version)
        self._index()

    def happen(self, event: HallEvent) -> list[Telling]:
        """Apply an event of the hall itself, and return who is to be told, in order.

        If that changes nothing, nobody is told.
        """
        match event:
            case BoardOpened(key=key, name=name, rules=rules, version=version):
                if key in self._keys:
                    return []
                self.open(BoardSpec(name, rules, key=key), version)
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
        """Return who is told of a seek: who is asked, or all in the hall if it is anybody."""
        if to:
            return player, to
        names = (*self._rooms.occupants(None).names, player)
        return self._hearers(player, tuple(dict.fromkeys(names)))

    def _put_up(self, spec: BoardSpec, version: int) -> None:
        table = Table.set_up(spec, self.quiet_plies, self.seat_grace)
        self.tables[spec.name] = replace(table, version=version)
        self._styles[spec.name] = spec.style

    def _close(self, event: BoardClosed, board: str) -> list[Telling]:
        """Take a board down; whoever is there comes to the hall."""
        here = self.people_in(board)
        told = [Telling(event, (*here, *self.people_in(None)), self.tables[board])]
        told += [self._told(CameIn(player, None)) for player in here]
        self.put(board, Table.set_up(BoardSpec(board)))  # nobody has a seat there any more
        del self.tables[board]
        self._styles.pop(board, None)
        for side in Side:
            self.missed.pop((board, side), None)
        for person in (*self.people.values(), *self.left.values()):
            person.used = None if person.used == board else person.used
            person.room = None if person.room == board else person.room
            asked = person.invitations.items()
            person.invitations = {by: each for by, each in asked if each.board != board}
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
        self._rooms.rename(board, name)
        for person in (*self.people.values(), *self.left.values()):
            person.used = name if person.used == board else person.used
            person.room = name if person.room == board else person.room
            for by, asked in person.invitations.items():
                if asked.board == board:
                    person.invitations[by] = replace(asked, board=name)
            if board in person.styles:
                person.styles[name] = person.styles.pop(board)
        self._index()
        here = (*self.people_in(name), *self.people_in(None))
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
        if not table.key.startswith(MADE) or table.under_way or self.people_in(table.name):
            return False
        return table.match is not None or not table.seats

    def called(self, key: str) -> str:
        """Return the name of the board with a key; the key itself if it is not here."""
        return self._keys.get(key, key)

    def board_with(self, key: str) -> Table | None:
        """Return the board with a key, if it is here."""
        name = self._keys.get(key)
        return None if name is None else self.tables[name]

    # --- the people --------------------------------------------------------------------------

    def usual_level(self, name: str) -> int | None:
        """Return at which level somebody plays unless asked for another, as `Levels` has it."""
        if name not in self.bots:
            return None
        level = self.bots[name]
        return level.number if level else OWN_PROGRAM

    def style(self, player: str, board: str) -> Style:
        """Return how ``player`` is shown ``board``, which may have been closed."""
        return self.people[player].styles.get(board, self._styles.get(board, Style.FULL))

    def choose(self, player: str, options: Options | None, choices: Iterable[SetOption]) -> Options:
        """Return a player's options after some choices, which hold at once for who is here.

        What held before for somebody who is not here are ``options``, if that is known.
        """
        here, left = self.people.get(player), self.left.get(player)
        before = here.options if here else options or (left.options if left else DEFAULTS)
        chosen = reduce(after, choices, before)
        if here:
            here.options = chosen
            self._rooms.changed(here)
        return chosen

    def ignores(self, player: str, other: str) -> bool:
        """Whether somebody who is here does not want to hear another, named in any case."""
        return player in self._ignorers.get(other.lower(), ())

    def ignore(self, player: str, others: Sequence[str]) -> None:
        """Note whom somebody who is here does not want to hear: these, and nobody else."""
        person = self.people[player]
        for other in person.ignored:
            ignorers = self._ignorers[other.lower()]
            ignorers.discard(player)
            if not ignorers:
                del self._ignorers[other.lower()]
        person.ignored = tuple(others)
        for other in others:
            self._ignorers[other.lower()].add(player)

    def board_seen(self, player: str, board: str) -> Table:
        """Return the board that ``player`` sees by a name, that of an exercise included."""
        exercise = self.people[player].exercise
        if exercise and exercise.table.name == board:
            return exercise.table
        return self.tables[board]

    def people_in(self, room: str | None) -> list[str]:
        """Return the names of those in a room, in the order they came to the server."""
        return list(self._rooms.occupants(room).names)

    def seats_of(self, player: str) -> list[Table]:
        """Return the tables at which ``player`` has a seat."""
        boards = sorted(self._seats.of(player), key=self._places.__getitem__)
        return [table for board in boards if (table := self.tables[board]).side_of(player)]

    def board_called(self, words: tuple[str, ...]) -> str | None:
        """Return the board whose name is these lower-case words, if there is one."""
        return self._by_words.get(words)

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
                if not self.seats_of(player):
                    self.left.pop(player, None)

    def commit(self, decision: Decision) -> list[Telling]:
        """Apply a decision, and return who is to be told what, in order."""
        told: list[Telling] = []
        for of_hall in decision.hall:
            told += self.happen(of_hall)
        told += [self._told(aside) for aside in decision.asides]
        board, battle = str(decision.board), decision.battle
        for event in decision.events:
            if isinstance(event, BattleStarted) and not self.tables[board].seats:
                told += self._fetched(event.dwarf, board)
                for each in self._fetched(event.troll, board):  # who has just come sees them there
                    others = tuple(name for name in each.audience if name != event.dwarf)
                    told.append(replace(each, audience=others, occupants=None))
            told.append(self._happened(event, board, battle))
        if decision.events and board in self.tables:
            told += self._leave_exercises(self.tables[board])
        if decision.board and decision.player in self.people:
            self.people[decision.player].used = decision.board
        return told

    # --- applying ----------------------------------------------------------------------------

    def _happened(self, event: TableEvent, board: str, battle: int | None) -> Telling:
        """Apply an event at a board, and return who is to be told."""
        # Both those who give a seat up by it and those who take one are to be told.
        before = self.tables[board].seats.values()
        table = self._apply(board, event, battle)
        if isinstance(event, Moved):
            self._close_replays(table)
        occupants = self._rooms.occupants(board)
        concerned = (*table.seats.values(), *before, event.player)
        person = self.people.get(event.player)
        if person and isinstance(event, Joined):
            theirs = person.invitations.items()
            person.invitations = {by: each for by, each in theirs if each.board != board}
        if isinstance(event, Joined) and not table.full:  # who is in the hall may want to play
            concerned += self._hearers(event.player, self._rooms.occupants(None).names)
        return Telling(event, _audience(occupants, concerned), table, occupants)

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

    def _exercised(self, aside: Exercised | ExerciseLeft) -> Telling:
        """Put somebody's exercise where it has come to, or aside."""
        person = self.people[aside.player]
        if isinstance(aside, ExerciseLeft):
            person.exercise = None
            return Telling(aside, (person.name,))
        person.exercise, person.replay = aside.exercise, None
        person.studies = person.studies.after(aside.exercise)
        return Telling(aside, (person.name,), aside.exercise.table)

    def _leave_exercises(self, table: Table) -> list[Telling]:
        """End the exercises of those in whose battle something has happened: they play that."""
        players = table.seats.values() if table.running else ()
        people = [self.people[player] for player in players if player in self.people]
        return [
            self._told(ExerciseLeft(person.name, person.exercise))
            for person in people
            if person.exercise
        ]

    def _told(self, aside: Aside) -> Telling:
        """Apply an aside, and return who is to be told."""
        match aside:  # the most frequent come first, since the cases are tried in turn
            case Spoke(player, room) | Emoted(player, room):
                table, occupants = self._table(room), self._rooms.occupants(room)
                there = _audience(occupants, table.seats.values() if table else ())
                heard = self._hearers(player, there)
                is_all = len(heard) == len(there)
                return Telling(aside, heard, table, occupants if is_all else None)
            case Entered(player, room, member, styles, options, _, ignored):
                before = self.left.pop(player, None) or Person(player)
                chosen = before.styles | dict(styles)
                kept = options or before.options
                person = Person(player, member, room, styles=chosen, options=kept)
                self.people[player], self.names[player.lower()] = person, player
                self._rooms.enter(person)
                self.ignore(player, before.ignored if ignored is None else ignored)
                audience = (player,) if room else self._told_who_moves(player, None)
                return Telling(aside, audience, self._table(room))
            case CaughtUp(player, room) | TookOver(player, room):
                return Telling(aside, (player,), self._table(room))
            case Gone(player, room, _, told):
                audience = (player,) if told else self._told_who_moves(player, room)
                ignored = self.people[player].ignored
                self.ignore(player, ())
                person = self.people.pop(player)
                person.ignored = ignored
                del self.names[player.lower()]
                self._rooms.leave(person)
                if self.seats_of(player):
                    self.left[player] = person
                return Telling(aside, audience)
            case WentOut(player, room):
                told_of_it = self._told_who_moves(player, room)
                return Telling(aside, tuple(name for name in told_of_it if name != player))
            case CameIn(player, room):
                self._rooms.move(self.people[player], room)
                return Telling(aside, self._told_who_moves(player, room), self._table(room))
            case Told(player, to) | Invited(player, to) | TurnedDown(player, to):
                self._note_invitation(aside)
                return Telling(aside, self._hearers(player, (player, to)))
            case StyleChosen(player, board, style):
                self.people[player].styles[board] = style
                self._rooms.changed(self.people[player])
                return Telling(aside, (player,), self.board_seen(player, board))
            case OptionChosen(player, _, options):
                self.people[player].options = options
                self._rooms.changed(self.people[player])
                return Telling(aside, (player,))
            case IgnoreChosen(player, _, ignored):
                self.ignore(player, ignored)
                return Telling(aside, (player,))
            case Replayed(player):
                self.people[player].replay = aside
                return Telling(aside, (player,))
            case Analysing(player) | AnalysisCancelled(player):
                return Telling(aside, (player,))
            case CommentMade():
                return self._commented(aside)
            case Exercised() | ExerciseLeft():
                return self._exercised(aside)
            case Asked(player, _, board, answer):
                if isinstance(answer, AnalysedBattle):
                    self._show_in_replay(self.people[player], answer)
                table = self.board_seen(player, board) if board else None
                return Telling(aside, (player,), table)

    def _note_invitation(self, aside: Invited | TurnedDown | Told) -> None:
        """Remember, or forget, to which seat somebody was asked."""
        match aside:
            case Invited(player, to) if to in self.people:
                self.people[to].invitations[player] = aside
            case TurnedDown(player, to) if player in self.people:
                self.people[player].invitations.pop(to, None)

    def _show_in_replay(self, person: Person, found: AnalysedBattle) -> None:
        """Show somebody what the plies were worth, if it is that battle that they see again."""
        if person.replay and person.replay.game == found.game:
            person.replay = replace(person.replay, analysis=found.analysis)

    def _commented(self, made: CommentMade) -> Telling:
        """Note that a player has commented on a battle, and return who is to be told."""
        both = [self.people[name] for name in (made.player, made.other) if name in self.people]
        for person in both:
            if person.replay and person.replay.battle.number == made.battle:
                person.replay = replace(person.replay, comments=made.comments)
        told = tuple(person.name for person in (both if made.text else both[:1]))
        return Telling(made, self._hearers(made.player, told))

    def _hearers(
        self, player: str, names: tuple[str, ...], besides: Container[str] = ()
    ) -> tuple[str, ...]:
        """Return those of some people who do not ignore a player, or hear them all the same."""
        ignorers = self._ignorers.get(player.lower())
        if not ignorers:
            return names
        return tuple(name for name in names if name not in ignorers or name in besides)

    def _told_who_moves(self, player: str, room: str | None) -> tuple[str, ...]:
        """Return those in a room who are told that a player comes or goes.

        Those who have a seat there want to know even of somebody whom they ignore.
        """
        table = self._table(room)
        seated = tuple(table.seats.values()) if table else ()
        return self._hearers(player, self._rooms.occupants(room).names, seated)

    def _table(self, room: str | None) -> Table | None:
        return self.tables[room] if room else None


def _audience(occupants: Occupants, concerned: Iterable[str]) -> tuple[str, ...]:
    """Return those in a room and, once each, those whom it concerns wherever they are."""
    elsewhere = dict.fromkeys(name for name in concerned if name not in occupants.members)
    return (*occupants.names, *elsewhere)


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
