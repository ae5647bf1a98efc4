"""The hall: its boards, the people in it, and the seeks.

The hall, with its parts, is what changes in this package. A command takes two steps:
`thudmud.game.decisions` decides it and changes nothing, `Hall.commit` applies the decision and
says who is told. Events are stored between the two. `thudmud.views` makes what people are told.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, TypeVar

from thudmud.errors import InvalidValueError
from thudmud.game import asides, events
from thudmud.game.archive import RatingChange
from thudmud.game.asides import Aside, AsideT
from thudmud.game.boards import TableRegister
from thudmud.game.clocks import TimeClass, time_class
from thudmud.game.events import NO_BOTS, BattleEnded, HallEvent, TableEvent
from thudmud.game.match import Match, Unrated
from thudmud.game.options import Options, SetOption, Style, Toggle
from thudmud.game.people import BotLevel, People
from thudmud.game.rooms import Rooms
from thudmud.game.sanctions import Order
from thudmud.game.table import BoardSpec, Table
from thudmud.game.telling import Telling
from thudmud.rules import Side
from thudmud.values import Value, replace

TOUCHED = 60.0
"""Seconds after the last ply for which the players of a board are still busy there."""

_EDITION = 16  # characters of a hash


class Decision(Value):
    """What a command would do.

    ``hall`` are events of the hall, decided at its version ``hall_version``. They come first, since
    they may open the board. The ``asides`` come next, and then ``events``, those of the table
    ``board``, decided at its version ``version``. ``battle`` is the number of the battle that the
    events begin or resume, and ``changes`` are the changes of ratings by what they end: both are
    known once the events are stored. ``goes_on`` is as in `Telling`. ``preferences`` are those
    that it changes, by the fields of `Person`: stored first, if the player is a member.
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
    goes_on: bool = False
    preferences: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.events and self.board is None:
            raise InvalidValueError("events happen at a board, and this decision is about none")
        if self.version < 0:
            raise InvalidValueError(f"no board is at version {self.version}")


MOST_MISSED = 30
"""How many events are remembered for a player who is away. Few can happen without them."""


class Caps(Value):
    """Limits for each player on what others have to look through. Features add `Hall.limits`.

    Attributes:
        seeks: the most seeks.
        boards: the most player-opened boards in use at which a player may sit.
        seeks_per_address: the most seeks of all players from one address, beyond one for each here.
        boards_per_address: the most such boards at which players from one address may sit, beyond
            one for each here.
        new_boards_for_members: whether only members may open boards without a match.
    """

    seeks: int = 3
    boards: int = 3
    seeks_per_address: int = 9
    boards_per_address: int = 9
    new_boards_for_members: bool = False


CAPS = Caps()

SAID_KEPT = 5
"""How many of a player's last lines are remembered, for reports."""

MOST_SPEAKERS = 200
"""How many players' lines are remembered: those who spoke last."""


class HallPart:
    """A feature's state in the hall.

    Events of the hall change it, or its feature while it is set up. Its class has to be
    constructible without arguments: the initial state.

    Attributes:
        WHY_KEPT: why the name of one of its `players` cannot be removed, as a predicate.
    """

    WHY_KEPT: ClassVar[str] = ""

    def apply(self, event: HallEvent, hall: Hall) -> list[Telling]:  # noqa: ARG002  (others use it)
        """Apply an event of one of the types in `takes`, and return who is told, in order."""
        return []

    def players(self) -> Iterable[str]:
        """Yield the players, as spelt, for whom something goes on though they may be away."""
        return ()

    def named(self) -> Iterable[str]:
        """Yield `players`, and who else is named in what goes on: their accounts have to stay."""
        return self.players()

    def past_players(self) -> Iterable[str]:
        """Yield the players, as spelt, who are named in what is over and still remembered."""
        return ()

    def forget(self, player: str) -> None:
        """Forget what is over and names a player whose account was erased."""


HallPartT = TypeVar("HallPartT", bound=HallPart)
LimitsT = TypeVar("LimitsT")

Applier: TypeAlias = Callable[[AsideT, "Hall"], Telling]

_TAKERS: dict[type[HallEvent], type[HallPart]] = {}

_APPLIERS: dict[type[Aside], Applier[Any]] = {}


def takes(*kinds: type[HallEvent]) -> Callable[[type[HallPartT]], type[HallPartT]]:
    """Register a part of the hall for events of some types; subclasses don't match."""

    def register(part: type[HallPartT]) -> type[HallPartT]:
        _TAKERS.update(dict.fromkeys(kinds, part))
        return part

    return register


def applies(kind: type[AsideT]) -> Callable[[Applier[AsideT]], Applier[AsideT]]:
    """Register the function that applies asides of a type to the hall, and returns who is told.

    It also applies those of derived types that have no function of their own.
    """

    def register(applier: Applier[AsideT]) -> Applier[AsideT]:
        _APPLIERS[kind] = applier
        return applier

    return register


def _inherited_applier(kind: type[Aside]) -> Applier[Any]:
    applier = next(_APPLIERS[each] for each in kind.__mro__ if each in _APPLIERS)
    return _APPLIERS.setdefault(kind, applier)


class Hall:
    """The boards and the people.

    Args:
        boards: the first boards, in the order in which they are listed and counted. `apply` opens
            and closes others.
        quiet_plies: after how many plies without a capture one player may end a battle alone;
            0 for never.
        seat_grace: how many seconds a player may be away before others need not wait.
        idle_limit: after how many seconds without a ply a battle without a clock may be claimed;
            0 for never.
        caps: the limits for each player.
        opens_boards: whether players may ask for matches, for which boards are opened.

    Attributes:
        tables: the boards as they stand, by name; only the hall itself changes them.
        people: the people who are here, by name, in the order of arrival; only the hall moves them.
        rooms: who is in which room, and who observes it.
        bots: the bots by name, with their usual levels; None for a bot with its own program.
        levels: all levels at which bots can be asked to play, the weakest first.
        news: the lines that the operator has written for all.
        order: the operators and the sanctions; None where others keep order.
        origins: by name, the address or network of players who are here, or left a seek, a seat or
            anything that a feature keeps for them behind, if known.
        own_verbs: the verbs that only this hall has, by the first word of each.
        left_out: the first words of our verbs that it does not have.
        missed: for each side whose player is away, what happened at the board, with the tables.
        seeks: the open seeks, by number.
        began: when this server began, in seconds since the epoch; 0 before it serves.
        parts: the state of features, by type, see `HallPart`.
        version: how many events of the hall have happened; None where the hall's events are not
            followed, so that nobody can cause any.
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
        self.tables = TableRegister(quiet_plies, seat_grace, idle_limit)
        self.people, self.rooms = People(), Rooms()
        self.quiet_plies, self.seat_grace = quiet_plies, seat_grace
        self.version: int | None = None
        self.seeks: dict[int, events.SeekMade] = {}
        self.parts: dict[type[HallPart], HallPart] = {}
        self._limits: dict[type[Any], Any] = {}
        self.began = 0.0
        self.missed: dict[tuple[str, Side], list[tuple[events.TableEvent, Table]]] = {}
        self.bots: Mapping[str, BotLevel | None] = {}
        self.levels: Sequence[BotLevel] = ()
        self.news: Sequence[str] = ()
        self.order: Order | None = None
        self.origins: dict[str, str] = {}
        self.own_verbs: Mapping[str, type] = {}
        self.left_out: frozenset[str] = frozenset()
        self._remembers_speech = False
        self._said: dict[str, deque[Telling]] = {}
        """The last lines of players, by name, the latest speaker last."""
        self.tables.open(boards)

    # --- set up by whoever runs it ------------------------------------------------------------

    def configure(
        self,
        *,
        news: Sequence[str] | None = None,
        caps: Caps | None = None,
    ) -> None:
        """Replace settings of the operator; None leaves one as it is."""
        self.news = self.news if news is None else news
        self.caps = self.caps if caps is None else caps

    def limit(self, limits: object) -> None:
        """Replace the limits of a feature, which are known by their type."""
        self._limits[type(limits)] = limits

    def remember_speech(self, remembers: bool) -> None:  # noqa: FBT001  (all there is to say)
        """Remember what players say from now on, or don't."""
        self._remembers_speech = remembers

    def use_order(self, order: Order) -> None:
        """Replace the operators and sanctions."""
        self.order = order

    def use_bots(self, levels: Sequence[BotLevel], bots: Mapping[str, BotLevel | None]) -> None:
        """Replace the known bots, and all levels at which bots play."""
        self.levels, self.bots = levels, bots

    def use_verbs(self, own: Mapping[str, type], left_out: frozenset[str]) -> None:
        """Replace the host's own verbs, and the first words of the verbs that are left out."""
        self.own_verbs, self.left_out = own, left_out

    def begin(self, at: float) -> None:
        """Note when the server began to serve, in seconds since the epoch."""
        self.began = at

    def resume_from(
        self,
        version: int,
        seeks: Iterable[events.SeekMade] = (),
        parts: Iterable[HallPart] = (),
    ) -> None:
        """Set the state of the hall's own stream, as stored, at a version of it.

        Args:
            version: the version.
            seeks: the open seeks.
            parts: the state of features.
        """
        self.version = version
        self.seeks = {seek.number: seek for seek in seeks}
        self.parts |= {type(part): part for part in parts}

    def advance(self, version: int | None) -> None:
        """Set the version of the hall's own stream; None if the stream isn't followed."""
        self.version = version

    def set_origin(self, player: str, origin: str) -> None:
        """Remember the network address that a player comes from."""
        self.origins[player] = origin

    def forget_origin(self, player: str) -> None:
        """Forget the network address of a player."""
        self.origins.pop(player, None)

    def keep_origins(self, keeps: Callable[[str], bool]) -> None:
        """Forget the network addresses of all players but those for whom ``keeps`` holds."""
        self.origins = {name: each for name, each in self.origins.items() if keeps(name)}

    # --- features -----------------------------------------------------------------------------

    def part(self, kind: type[HallPartT]) -> HallPartT:
        """Return a feature's state; the initial state if there is none yet."""
        part = self.parts.get(kind)
        if part is None:
            part = self.parts[kind] = kind()
        return part  # type: ignore[return-value]  # the value has the type of its key

    def limits(self, kind: type[LimitsT]) -> LimitsT:
        """Return the limits of a feature; the defaults unless `limit` has set others."""
        return self._limits.get(kind) or kind()

    # --- the boards --------------------------------------------------------------------------

    def apply(self, event: events.HallEvent) -> list[Telling]:
        """Apply an event of the hall, and return who is told, in order.

        Nobody is told if it changes nothing.
        """
        match event:
            case events.BoardOpened(key=key, name=name, rules=rules, version=version):
                if self.tables.with_key(key):
                    return []
                self.tables.open([BoardSpec(name, rules, key=key)], version)
                return [Telling(event, tuple(self.people_in(None)), self.tables[name])]
            case events.BoardClosed(key=key) if table := self.tables.with_key(key):
                return self._close(event, table.name)
            case events.BoardRenamed(key=key, name=name) if table := self.tables.with_key(key):
                return self._rename(event, table.name, name) if table.name != name else []
            case events.SeekMade(number=number, player=player, to=to):
                self.seeks[number] = event
                return [Telling(event, self.told_of_seek(player, to))]
            case events.SeekEnded(number=number, player=player, seeker=seeker, to=to):
                self.seeks.pop(number, None)
                audience = dict.fromkeys((*self.told_of_seek(seeker, to), player))
                return [Telling(event, tuple(audience))]
        kind = _TAKERS.get(type(event))
        return self.part(kind).apply(event, self) if kind else []

    def told_of_seek(self, player: str, to: str) -> tuple[str, ...]:
        """Return who is told of a seek: the player who is asked, or everybody who may accept it."""
        if to:
            return player, to
        names = (*self._told_who_waits(), player)
        return self.people.hearers(player, tuple(dict.fromkeys(names)))

    def _told_who_waits(self) -> tuple[str, ...]:
        """Return the people in the hall, and those elsewhere who want to be told of seeks."""
        people = self.people.values()
        waits = (each for each in people if each.room and each.options.has(Toggle.SEEKS))
        return (*self.rooms.occupants(None).names, *(person.name for person in waits))

    def _close(self, event: events.BoardClosed, board: str) -> list[Telling]:
        """Close a board. Those who are there come to the hall."""
        here = self.people_in(board)
        told_of_it = dict.fromkeys((*self.rooms.told_of(board).names, *self.people_in(None)))
        told = [Telling(event, tuple(told_of_it), self.tables[board])]
        told += [self._told(asides.CameIn(player, None)) for player in here]
        for person in self.rooms.observers(board):
            others = tuple(each for each in person.observed if each != board)
            told.append(self._told(asides.ObserveChosen(person.name, board, others)))
        self._forget_gone(self.tables.close(board))
        for side in Side:
            self.missed.pop((board, side), None)
        for person in self.people.known():
            person.parts = {kind: part.board_closed(board) for kind, part in person.parts.items()}
            person.used = None if person.used == board else person.used
            person.room = None if person.room == board else person.room
            person.forget_invitations(board)
        return told

    def _rename(self, event: events.BoardRenamed, board: str, name: str) -> list[Telling]:
        """Rename a board."""
        before = self.tables[board]
        seated = tuple(before.seats.values())
        self.tables.rename(board, name)
        for side in Side:
            if (missed := self.missed.pop((board, side), None)) is not None:
                self.missed[name, side] = missed
        self.rooms.rename(board, name)
        for person in self.people.known():
            parts = person.parts.items()
            person.parts = {kind: part.board_renamed(board, name) for kind, part in parts}
            person.used = name if person.used == board else person.used
            person.room = name if person.room == board else person.room
            for by, asked in person.invitations.items():
                if asked.board == board:
                    person.invitations[by] = replace(asked, board=name)
            if board in person.styles:
                person.styles[name] = person.styles.pop(board)
        here = (*self.rooms.told_of(name).names, *self.people_in(None))
        return [Telling(event, tuple(dict.fromkeys((*here, *seated))), before)]

    def _forget_gone(self, players: Iterable[str]) -> None:
        """Forget those of some players who are not here and have no seat any more."""
        for player in players:
            if player not in self.people:
                self.people.forget(player)

    def is_idle(self, table: Table) -> bool:
        """Whether a board was opened by players and nobody needs it any more."""
        if not table.key.startswith(events.MADE) or table.under_way or self._anybody_at(table.name):
            return False
        return table.match is not None or not table.seats

    def is_deserted(self, table: Table) -> bool:
        """Whether a player practises at a board, but has gone elsewhere in the hall."""
        if not table.is_practice or self._anybody_at(table.name):
            return False
        return any(player in self.people for player in table.seats.values())

    def _anybody_at(self, board: str) -> bool:
        """Whether any people are at a board."""
        return any(name not in self.bots for name in self.people_in(board))

    @property
    def edition(self) -> str:
        """A hash of the news, which changes when the news does; "" without news."""
        text = "\n".join(self.news).encode()
        return hashlib.sha256(text).hexdigest()[:_EDITION] if self.news else ""

    # --- the people --------------------------------------------------------------------------

    def level(self, name: str, asked: int | None = None) -> int | None:
        """Return the level at which a player plays, perhaps when asked for one, as in `Levels`."""
        if name not in self.bots:
            return None
        usual = self.bots[name]
        return asked or usual.number if usual else events.OWN_PROGRAM

    def decision(self, player: str, *happened: HallEvent) -> Decision:
        """Return the decision that some events of the hall happen, as it stands."""
        return Decision(player, hall=happened, hall_version=self.version or 0)

    def is_operator(self, name: str) -> bool:
        """Whether a player is an operator."""
        return self.order is not None and name.lower() in self.order.operators

    def style(self, player: str, board: str) -> Style:
        """Return the style in which ``player`` sees ``board``, which may have been closed."""
        return self.people[player].styles.get(board, self.tables.styles.get(board, Style.FULL))

    def choose(self, player: str, options: Options | None, choices: Iterable[SetOption]) -> Options:
        """Return a player's options after some choices, and apply them if the player is here.

        ``options`` are the options of a player who is not here, if known.
        """
        chosen = self.people.chosen(player, options, choices)
        if here := self.people.get(player):
            here.options = chosen
            self.rooms.changed(here)
        return chosen

    def observe(self, player: str, boards: tuple[str, ...]) -> None:
        """Replace the boards that a player observes."""
        self.rooms.observe(self.people[player], boards)

    def let_in(self, entered: asides.Entered) -> None:
        """Let a player in, who may be back at a seat they left."""
        self.rooms.enter(self.people.let_in(entered))
        observed = tuple(each for each in entered.observed if each in self.tables)
        self.observe(entered.player, observed)

    def take_leave(self, player: str) -> None:
        """See a player out, who is remembered while they have a seat."""
        self.observe(player, ())
        is_remembered = bool(self.tables.seats_of(player))
        self.rooms.leave(self.people.take_leave(player, is_remembered=is_remembered))

    def hears(self, player: str, talk: Toggle, table: Table) -> bool:
        """Whether somebody hears a kind of talk at a table. Its players hear no whispers."""
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
        """Return those of ``names`` who hear a kind of talk at a table; the speaker always does."""
        if talk is Toggle.WATCHERS:  # only players can turn this off
            seated = table.seats.values()
            return tuple(
                [name for name in names if name not in seated or self.hears(name, talk, table)]
            )
        return tuple([name for name in names if name == speaker or self.hears(name, talk, table)])

    def heard(self, player: str, speaker: str) -> tuple[str, ...]:
        """Return which of a speaker's last lines a player heard."""
        return tuple(
            f"{aside.verb}: {aside.text}"
            for telling in self._said.get(speaker, ())
            if isinstance(aside := telling.event, asides.Spoke | asides.Emoted | asides.Told)
            if player in telling.audience
        )

    def _note_said(self, telling: Telling, speaker: str) -> None:
        """Remember what a player said, in case it is reported."""
        said = self._said.pop(speaker, None) or deque(maxlen=SAID_KEPT)
        said.append(Telling(telling.event, telling.audience))
        self._said[speaker] = said
        if len(self._said) > MOST_SPEAKERS:
            del self._said[next(iter(self._said))]

    def board_seen(self, player: str, board: str) -> Table:
        """Return the table that ``player`` sees under a name, which may be their private board."""
        private = self.people[player].private
        if private and private.table.name == board:
            return private.table
        return self.tables[board]

    def bots_here(self) -> list[str]:
        """Return the names of the bots that are here."""
        return [name for name in self.people if name in self.bots]

    def people_in(self, room: str | None) -> list[str]:
        """Return the names of the people in a room, in the order of arrival."""
        return list(self.rooms.occupants(room).names)

    def rated_board(self, player: str) -> str | None:
        """Return the name of a board where a player is in a rated battle, if there is one.

        They get no help anywhere meanwhile: help asked for at one board could be meant for another.
        """
        for each in self.tables.seats_of(player):
            if each.running and each.match and each.match.between_members:
                return each.name
        return None

    def restore(
        self, board: str, version: int, events: Iterable[tuple[TableEvent, int | None]]
    ) -> None:
        """Fold the events after a table's ``version``. Nobody is told.

        Each comes with the number of the battle that it begins or resumes, if any. Either
        ``version`` is 0, or the first event is complete, see `thudmud.game.events.is_complete`.
        """
        self.tables[board] = replace(self.tables[board], version=version)
        for event, battle in events:
            self._apply(board, event, battle)

    def put(self, board: str, table: Table) -> None:
        """Replace a table."""
        self._forget_gone(self.tables.put(board, table))

    def commit(self, decision: Decision) -> list[Telling]:
        """Apply a decision, and return who is told what, in order."""
        told: list[Telling] = []
        for of_hall in decision.hall:
            told += self.apply(of_hall)
        for aside in decision.asides:
            told.append(self._told(aside))
            if isinstance(aside, asides.Entered):
                told += self._followed_came(aside, told[-1].audience)
        board = str(decision.board)
        if decision.events:
            told += self._leave_private_boards(decision, self.tables[board])
        for event in decision.events:
            if isinstance(event, events.BattleStarted | events.Resumed):
                told += self._gathered(event, board)
            told.append(self._happened(event, board, decision))
            if isinstance(event, events.BattleStarted | events.Resumed):
                told += self._followed_began(event, board, told[-1].audience)
            elif isinstance(event, events.BattleEnded) and event.points:
                told += self._resulted(event, self.tables[board], decision, told[-1].audience)
        if decision.board and decision.player in self.people:
            self.people[decision.player].used = decision.board
        return told

    # --- applying ----------------------------------------------------------------------------

    def _happened(self, event: events.TableEvent, board: str, decision: Decision) -> Telling:
        """Apply an event at a board, and return who is told."""
        # Tell both those who lose a seat by it and those who get one.
        before = self.tables[board].seats.values()
        table = self._apply(board, event, decision.battle)
        if isinstance(event, events.Moved):
            for player in table.seats.values():  # "last" is about their own battle again
                if (here := self.people.get(player)) and here.parts:
                    here.interrupt()
        occupants = self.rooms.told_of(board)
        concerned = (*table.seats.values(), *before, event.player)
        person = self.people.get(event.player)
        if person and isinstance(event, events.Joined):
            person.forget_invitations(board)
        if isinstance(event, events.Resumed):
            for player in table.seats.values():
                if here := self.people.get(player):
                    here.forget_invitations(board)
        if isinstance(event, events.Joined) and not table.full:
            concerned += self.people.hearers(event.player, self._told_who_waits())
        audience, changes = occupants.and_also(concerned), decision.changes
        return Telling(event, audience, table, occupants, changes, goes_on=decision.goes_on)

    def _gathered(self, begun: events.BattleStarted | events.Resumed, board: str) -> list[Telling]:
        """Return how the players of a match walk to the board that was opened for it.

        A tournament brings nobody to one by correspondence, nor out of a room where their clock
        runs. No other match by correspondence takes anybody away from what they play.
        """
        if self.tables[board].seats or board not in self.tables.made.values():
            return []
        match = begun.match if isinstance(begun, events.Resumed) else begun
        players = [match.dwarf, match.troll]
        paired = begun if isinstance(begun, events.BattleStarted) and begun.tournament else None
        if paired:
            if time_class(paired.time) is TimeClass.CORRESPONDENCE:
                return []
            players = [each for each in players if not self.is_by_clock(each)]
        elif time_class(match.time) is TimeClass.CORRESPONDENCE:
            players = [
                each for each in players if each == begun.player or not self.is_busy(each, begun.at)
            ]
        told: list[Telling] = []
        for player in players:
            came = bool(told)  # who has just come sees the other there
            for each in self._fetched(player, board, told=paired is not None):
                others = tuple(name for name in each.audience if name != players[0])
                told.append(replace(each, audience=others, occupants=None) if came else each)
        return told

    def is_busy(self, player: str, now: float) -> bool:
        """Whether a player plays, so that they are asked before a match takes them elsewhere.

        That is a match under way where they are or by a clock, a private board, or a ply within the
        last minute at a board where they sit. A match by correspondence occupies nobody.
        """
        person = self.people.get(player)
        if person and person.private:
            return True
        for table in self.tables.seats_of(player):
            if table.by_correspondence:
                continue
            is_there = person is not None and person.room == table.name
            is_match = table.under_way and not table.is_practice
            if is_match and (is_there or table.in_haste):
                return True
            if table.game and table.game.moves and now - table.since < TOUCHED:
                return True
        return False

    def in_haste(self, player: str) -> bool:
        """Return whether a clock runs in a match of a player, other than for correspondence.

        Bots play at many boards at a time.
        """
        seats = () if player in self.bots else self.tables.seats_of(player)
        return any(each.in_haste for each in seats)

    def is_by_clock(self, player: str) -> bool:
        """Return whether a player is in the room of a match of theirs in which a clock runs.

        Bots play wherever they are, and correspondence has time.
        """
        person = None if player in self.bots else self.people.get(player)
        table = self.tables.get(person.room) if person and person.room else None
        return table is not None and table.in_haste and table.side_of(player) is not None

    def _fetched(self, player: str, board: str, *, told: bool) -> list[Telling]:
        """Return how a player walks to the board that was opened for their match.

        ``told`` says that the hall knows of it already.
        """
        person = self.people.get(player)
        if person is None or person.room == board:
            return []
        person.used = board
        went = asides.WentOut(player, person.room, board, told=told and person.room is None)
        return [self._told(each) for each in (went, asides.CameIn(player, board, sits=True))]

    def _apply(self, board: str, event: events.TableEvent, battle: int | None) -> Table:
        table = self.tables[board].apply(event, battle)
        self.put(board, table)
        if not table.away and not self.missed:
            return table
        for side in Side:
            if side not in table.away:
                self.missed.pop((board, side), None)
            elif not isinstance(event, events.Absent):
                missed = self.missed.setdefault((board, side), [])
                missed.append((event, table))
                del missed[:-MOST_MISSED]
        return table

    def _leave_private_boards(self, decision: Decision, table: Table) -> list[Telling]:
        """Have players leave their private boards who act in a battle, or whose battle goes on.

        A battle goes on when it begins, and when somebody takes a seat in it.
        """
        players = [decision.player] if table.running else []
        for event in decision.events:
            if isinstance(event, events.BattleStarted | events.Resumed):
                match = event.match if isinstance(event, events.Resumed) else event
                players += match.dwarf, match.troll
            elif isinstance(event, events.Joined) and table.running:
                players += table.seats.values()
        told: list[Telling] = []
        for name in players:
            person = self.people.get(name)
            if person and person.private:
                told.append(self._told(person.private.left))
        return told

    def _told(self, aside: asides.Aside) -> Telling:
        """Apply an aside, and return who is told."""
        applier = _APPLIERS.get(type(aside)) or _inherited_applier(type(aside))
        telling = applier(aside, self)
        if aside.is_heard and self._remembers_speech:
            self._note_said(telling, aside.player)
        return telling

    def operators_and(self, player: str) -> tuple[str, ...]:
        """Return a player and all operators, those who are here."""
        names = (player, *filter(self.is_operator, self.people))
        return tuple(name for name in dict.fromkeys(names) if name in self.people)

    def _followed_came(self, entered: asides.Entered, told: Collection[str]) -> list[Telling]:
        """Return what the followers of a player are told who came in, unless they see it anyway."""
        player, room = entered.player, entered.room
        there = self.rooms.told_of(room).members if room else frozenset()
        others = [each for each in self.people.followers_of(player) if each not in {*there, *told}]
        return [Telling(asides.FollowedCame(player, room), tuple(others))] if others else []

    def _followed_began(
        self, begun: events.BattleStarted | events.Resumed, board: str, told: Container[str]
    ) -> list[Telling]:
        """Return what followers are told when a match begins or is resumed.

        Those who are told of the battle itself are left out. Practice is not told.
        """
        match = begun.match if isinstance(begun, events.Resumed) else begun
        is_second = isinstance(begun, events.BattleStarted) and begun.number > 1
        if is_second or match.dwarf == match.troll:
            return []
        followers = [*self.people.followers_of(match.dwarf), *self.people.followers_of(match.troll)]
        others = tuple(each for each in dict.fromkeys(followers) if each not in told)
        resumed = isinstance(begun, events.Resumed)
        began = asides.FollowedBegan(begun.player, board, match.dwarf, match.troll, resumed)
        return [Telling(began, others)] if others else []

    def _resulted(
        self,
        ended: events.BattleEnded,
        table: Table,
        decision: Decision,
        told: Container[str],
    ) -> list[Telling]:
        """Return what the hall is told of a rated match between people that has ended.

        Those who are told of the battle itself are left out. Of a match of a tournament the hall is
        told with the score.
        """
        match = table.match
        if match is None or match.tournament or not match.between_members:
            return []
        others = tuple(
            name
            for name in self.rooms.occupants(None).names
            if name not in told and self.people[name].options.has(Toggle.RESULTS)
        )
        result = asides.ResultTold(ended.player, table.name, match.number, ended, decision.changes)
        return [Telling(result, others)] if others else []

    def told_who_moves(self, player: str, room: str | None) -> tuple[str, ...]:
        """Return the people in a room who are told that a player comes or goes.

        Those with a seat there are told even about a player they ignore.
        """
        table = self.table_in(room)
        seated = tuple(table.seats.values()) if table else ()
        return self.people.hearers(player, self.rooms.occupants(room).names, seated)

    def table_in(self, room: str | None) -> Table | None:
        """Return the table of a room; None for the hall, and for a board that was closed.

        A board can be closed between the decision to leave it and the telling.
        """
        return self.tables.get(room) if room else None


def claimants(hall: Hall, name: str, adjourned: Iterable[events.SavedMatch]) -> Iterator[str]:
    """Yield a name as it is spelt in seats, parts of the hall, and some matches put away."""
    key = name.lower()
    if hall.tables.has_seat(name):
        seated = (player for table in hall.tables.values() for player in table.seats.values())
        yield from (player for player in seated if player.lower() == key)
    for match in adjourned:
        yield from (player for player in (match.dwarf, match.troll) if player.lower() == key)
    for part in hall.parts.values():
        yield from (player for player in part.players() if player.lower() == key)


def kept_for(hall: Hall, name: str, adjourned: Iterable[events.SavedMatch]) -> str | None:
    """Return the spelling in which a name is taken; None if free, or taken in this spelling."""
    claims = list(claimants(hall, name, adjourned))
    return None if not claims or name in claims else claims[0]


def unrated(
    event: BattleEnded,
    match: Match | None,
    changes: Sequence[RatingChange],
    hall: Hall,
) -> Unrated | None:
    """Return why a battle, or the match that it ends, changed no rating.

    Returns:
        the reason; None if it changed one, in practice, between bots, and while a match goes on
        that can count. The later battles of one that cannot are told at its end.
    """
    if match is None or match.is_practice or None not in event.levels:
        return None
    is_over = bool(event.points) or event.levels != NO_BOTS
    if event.rated:
        return None if changes or not is_over else Unrated.TOO_OFTEN
    if match.spoilt is Unrated.TOO_SHORT or (match.spoilt and is_over):
        return match.spoilt
    if not is_over:
        return None
    if match.opening:
        return Unrated.SET_UP
    return Unrated.GUEST if event.levels == NO_BOTS and guests_of(event, hall) else Unrated.CASUAL


def guests_of(event: BattleEnded, hall: Hall) -> list[str]:
    """Return which players of a battle are guests, as far as they are here."""
    here = [hall.people[each] for each in (event.dwarf, event.troll) if each in hall.people]
    return [each.name for each in here if not each.member]


# How asides are applied


@applies(Aside)
def _apply_aside(aside: Aside, _: Hall) -> Telling:
    return Telling(aside, (aside.player,))


@applies(asides.Entered)
def _apply_entered(entered: asides.Entered, hall: Hall) -> Telling:
    hall.let_in(entered)
    audience = (entered.player,) if entered.room else hall.told_who_moves(entered.player, None)
    return Telling(entered, audience, hall.table_in(entered.room))


@applies(asides.AtBoard)
def _apply_at_board(aside: asides.AtBoard, hall: Hall) -> Telling:
    return Telling(aside, (aside.player,), hall.table_in(aside.board))


@applies(asides.TookOver)
def _apply_took_over(took: asides.TookOver, hall: Hall) -> Telling:
    return Telling(took, (took.player,), hall.table_in(took.room))


@applies(asides.Gone)
def _apply_gone(gone: asides.Gone, hall: Hall) -> Telling:
    player, room = gone.player, gone.room
    audience = (player,) if gone.told else hall.told_who_moves(player, room)
    hall.take_leave(player)
    return Telling(gone, audience)


@applies(asides.WentOut)
def _apply_went_out(went: asides.WentOut, hall: Hall) -> Telling:
    audience = hall.told_who_moves(went.player, went.room)
    return Telling(went, tuple(name for name in audience if name != went.player))


@applies(asides.CameIn)
def _apply_came_in(came: asides.CameIn, hall: Hall) -> Telling:
    hall.rooms.move(hall.people[came.player], came.room)
    audience = hall.told_who_moves(came.player, came.room)
    return Telling(came, audience, hall.table_in(came.room))


@applies(asides.Aloud)
def _apply_aloud(aloud: asides.Aloud, hall: Hall) -> Telling:
    """Tell those who hear or see it.

    What the players of a board say there is heard by all who watch it. What others say stays in
    the room, except kibitzes and whispers.
    """
    player, room, talk = aloud.player, aloud.room, aloud.talk
    occupants, table = hall.rooms.occupants(room), hall.table_in(room)
    if talk is Toggle.SHOUT:
        there = tuple(each.name for each in hall.people.values() if each.options.has(talk))
    elif room is None or table is None:
        there = occupants.names
    else:
        seated = table.seats.values()
        if player in seated or talk is Toggle.KIBITZ or talk is Toggle.WHISPER:
            occupants = hall.rooms.told_of(room)
        there = occupants.and_also((*seated, player) if talk else seated)
        if talk:
            there = hall.who_hears(there, talk, table, player)
    heard = hall.people.hearers(player, there)
    is_all = heard[: len(occupants.names)] == occupants.names
    return Telling(aloud, heard, table, occupants if is_all else None)


@applies(asides.ToAnother)
def apply_to_another(aside: asides.ToAnother, hall: Hall) -> Telling:
    """Tell both players, unless the other ignores them."""
    return Telling(aside, hall.people.hearers(aside.player, (aside.player, aside.to)))


@applies(asides.Invited)
def _apply_invited(invited: asides.Invited, hall: Hall) -> Telling:
    if asked := hall.people.get(invited.to):
        asked.invitations[invited.player] = invited
    return apply_to_another(invited, hall)


@applies(asides.Active)
def _apply_active(active: asides.Active, hall: Hall) -> Telling:
    hall.people[active.player].active = active.at
    return Telling(active, ())


@applies(asides.ObserveChosen)
def apply_observe_chosen(chosen: asides.ObserveChosen, hall: Hall) -> Telling:
    """Replace the boards that a player observes, and show them a new one."""
    hall.observe(chosen.player, chosen.observed)
    table = hall.tables[chosen.board] if chosen.board in chosen.observed else None
    return Telling(chosen, (chosen.player,), table)


@applies(asides.BoardListed)
def _apply_board_listed(listed: asides.BoardListed, hall: Hall) -> Telling:
    return Telling(listed, hall.rooms.occupants(None).names, hall.tables[listed.board])
