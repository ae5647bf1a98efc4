"""The hall: the mutable aggregate of boards, people and seeks.

All mutable state of this package is in the hall and its parts. A command runs in two steps.
`thudmud.game.decisions` computes a decision without changing anything; `Hall.commit` applies the
decision and returns the deliveries. Between the two steps the events are stored. `thudmud.views`
renders the deliveries for each player.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

from thudmud.errors import InvalidValueError
from thudmud.game import asides, events
from thudmud.game.archive import RatingChange
from thudmud.game.asides import Aside, AsideT
from thudmud.game.boards import TableRegister
from thudmud.game.clocks import TimeClass, time_class
from thudmud.game.delivery import Delivery
from thudmud.game.events import NO_BOTS, BattleEnded, HallEvent, TableEvent
from thudmud.game.match import Match, Unrated
from thudmud.game.options import Options, SetOption, Style, Toggle
from thudmud.game.people import BotLevel, People
from thudmud.game.rooms import Rooms
from thudmud.game.sanctions import Order
from thudmud.game.table import BoardSpec, Table, TimedMove
from thudmud.rules import Side
from thudmud.values import Value, replace

TOUCHED = 60.0
"""Seconds after the last ply during which the players of a board count as busy there."""

CROWD = 30
"""The number of people in the hall beyond which it is crowded, see `Hall.deliver_movement`."""

_EDITION = 16  # characters of a hash


class Decision(Value):
    """The effects of a command, to be stored and then applied by `Hall.commit`.

    The events in ``hall`` are applied first, since they may open the board; then come the asides,
    then the table's events. The versions are for optimistic concurrency control.

    Attributes:
        player: the player who caused the decision.
        board: the name of the table concerned, if any.
        version: the version of the table on which ``events`` were decided.
        events: the events of the table.
        asides: the asides.
        battle: the number of the battle that the events begin or resume; known once they are
            stored.
        hall: the events of the hall.
        hall_version: the version of the hall on which ``hall`` was decided.
        changes: the rating changes by the end of a battle; known once the events are stored.
        is_intermediate: as in `Delivery`.
        preferences: the changed preferences, by the fields of `Person`; stored first, if the player
            is a member.
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
    is_intermediate: bool = False
    preferences: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.events and self.board is None:
            raise InvalidValueError("a decision with table events needs a board")
        if self.version < 0:
            raise InvalidValueError(f"expected a non-negative version, got {self.version}")


MOST_MISSED = 30
"""The maximum number of events kept for an absent player; few can happen without the player."""


class Caps(Value):
    """Limits on a player's entries in the lists that others read; see also `Hall.limits`.

    Attributes:
        seeks: the maximum number of seeks for each player.
        boards: the maximum number of player-opened boards in use at which a player may sit.
        seeks_per_address: the maximum number of seeks for each address, beyond one for each player
            online.
        boards_per_address: the maximum number of player-opened boards in use for each address,
            beyond one for each player online.
        only_members_open_boards: whether only members may open boards without a match.
    """

    seeks: int = 3
    boards: int = 3
    seeks_per_address: int = 9
    boards_per_address: int = 9
    only_members_open_boards: bool = False


CAPS = Caps()

SAID_KEPT = 5
"""The number of a player's last lines that are kept for reports."""

MOST_SPEAKERS = 200
"""The maximum number of players whose lines are kept; the latest speakers win."""

TALK_KEPT, TALK_SHOWN = 500, 50
"""The number of last lines that are kept, and of those shown to one player again."""


class HallPart:
    """The state of a feature in the hall.

    Only events of the hall change it, and the feature itself during setup. The constructor takes no
    arguments and creates the initial state.

    Attributes:
        WHY_KEPT: the reason why the name of one of its `players` can't be removed, as a predicate.
    """

    WHY_KEPT: ClassVar[str] = ""

    def apply(self, event: HallEvent, hall: Hall) -> list[Delivery]:  # noqa: ARG002  (others use it)
        """Apply an event of a type registered with `handles`; return the deliveries, in order."""
        return []

    def players(self) -> Iterable[str]:
        """Yield the players with ongoing business here, online or not, in their spelling."""
        return ()

    def protected_players(self) -> Iterable[str]:
        """Yield all players named in ongoing business, whose accounts must not be removed."""
        return self.players()

    def past_players(self) -> Iterable[str]:
        """Yield the players named in finished business that is still kept, in their spelling."""
        return ()

    def forget(self, player: str) -> None:
        """Remove finished business that names a player whose account was erased."""


HallPartT = TypeVar("HallPartT", bound=HallPart)
LimitsT = TypeVar("LimitsT")

Applier: TypeAlias = Callable[[AsideT, "Hall"], Delivery]

_TAKERS: dict[type[HallEvent], type[HallPart]] = {}

_APPLIERS: dict[type[Aside], Applier[Any]] = {}


def handles(*kinds: type[HallEvent]) -> Callable[[type[HallPartT]], type[HallPartT]]:
    """Return a class decorator that makes a hall part handle events of exactly these types."""

    def register(part: type[HallPartT]) -> type[HallPartT]:
        _TAKERS.update(dict.fromkeys(kinds, part))
        return part

    return register


def applies(kind: type[AsideT]) -> Callable[[Applier[AsideT]], Applier[AsideT]]:
    """Return a decorator that registers the function applying a type of aside to the hall.

    The function returns the delivery. Subclasses without a function of their own inherit it.
    """

    def register(applier: Applier[AsideT]) -> Applier[AsideT]:
        _APPLIERS[kind] = applier
        return applier

    return register


def _inherited_applier(kind: type[Aside]) -> Applier[Any]:
    applier = next(_APPLIERS[each] for each in kind.__mro__ if each in _APPLIERS)
    return _APPLIERS.setdefault(kind, applier)


class Hall:
    """The current state of all boards, people, seeks and features.

    Args:
        boards: the initial boards, in the order in which they are listed and counted. `apply` opens
            and closes others.
        quiet_plies: the number of plies without a capture after which one player may end a battle
            alone; 0 for never.
        seat_grace: the number of seconds that a player may be away before others needn't wait.
        idle_limit: the number of seconds without a ply after which a battle without a clock may be
            claimed; 0 for never.
        caps: the limits for each player.
        first_move: seconds for the first move of each side before its clock starts.
        opens_boards: whether players may ask for matches, for which boards are opened.

    Attributes:
        tables: the open boards, by name; only the hall modifies them.
        people: the people online, by name, in the order of arrival; only the hall moves them.
        rooms: the occupants and observers of each room.
        bots: the bots by name, with their usual levels; None for a bot with its own program.
        first_move: seconds for the first move of each side before its clock starts.
        levels: all levels at which bots can be asked to play, the weakest first.
        news: the lines of the operator's news.
        order: the operators and the sanctions; None if the host moderates players itself.
        origins: the known addresses or networks, by player. Includes offline players with a seek, a
            seat or anything else that a feature keeps for them.
        own_verbs: the verbs that only this hall has, by the first word of each.
        left_out: the first words of the standard verbs that are disabled.
        missed: the events missed by each absent seated player, with the tables after them.
        seeks: the open seeks, by number.
        started_at: the start time of the server, in seconds since the epoch; 0 before it serves.
        parts: the state of features, by type; see `HallPart`.
        version: the number of events in the hall's stream; None if the stream isn't followed, so
            that no hall events are possible.
    """

    def __init__(
        self,
        boards: Sequence[BoardSpec],
        quiet_plies: int = 200,
        seat_grace: float = 300.0,
        caps: Caps = CAPS,
        *,
        idle_limit: float = 600.0,
        first_move: float = 0.0,
        opens_boards: bool = True,
    ) -> None:
        self.first_move = first_move
        self.caps, self.opens_boards = caps, opens_boards
        self.tables = TableRegister(quiet_plies, seat_grace, idle_limit)
        self.people, self.rooms = People(), Rooms()
        self.quiet_plies, self.seat_grace = quiet_plies, seat_grace
        self.version: int | None = None
        self.seeks: dict[int, events.SeekMade] = {}
        self.parts: dict[type[HallPart], HallPart] = {}
        self._limits: dict[type[Any], Any] = {}
        self.started_at = 0.0
        self.missed: dict[tuple[str, Side], list[tuple[events.TableEvent, Table]]] = {}
        self.bots: Mapping[str, BotLevel | None] = {}
        self.levels: Sequence[BotLevel] = ()
        self.news: Sequence[str] = ()
        self.order: Order | None = None
        self.origins: dict[str, str] = {}
        self.own_verbs: Mapping[str, type] = {}
        self.left_out: frozenset[str] = frozenset()
        self._remembers_speech = False
        self._said: dict[str, deque[Delivery]] = {}
        """The last lines of players, by name; the latest speaker comes last."""
        self._keeps_talk = False
        self._talk: deque[Delivery] = deque(maxlen=TALK_KEPT)
        self._talked = 0
        """The number of lines so far."""
        self._talk_before: dict[str, int] = {}
        """The number of lines before each player came who is here, or is remembered for a seat."""
        self.tables.open(boards)

    # --- configuration by the host ------------------------------------------------------------

    def configure(
        self,
        *,
        news: Sequence[str] | None = None,
        caps: Caps | None = None,
    ) -> None:
        """Replace settings of the operator; None leaves a setting unchanged."""
        self.news = self.news if news is None else news
        self.caps = self.caps if caps is None else caps

    def set_limits(self, limits: object) -> None:
        """Replace the limits of a feature, keyed by their type."""
        self._limits[type(limits)] = limits

    def remember_speech(self, remembers: bool) -> None:  # noqa: FBT001  (all there is to say)
        """Switch the record of players' last lines on or off."""
        self._remembers_speech = remembers

    def keep_talk(self, keeps: bool) -> None:  # noqa: FBT001  (all there is to say)
        """Keep the last lines for players who reconnect, or keep none."""
        self._keeps_talk = keeps

    def use_order(self, order: Order) -> None:
        """Replace the operators and sanctions."""
        self.order = order

    def use_bots(self, levels: Sequence[BotLevel], bots: Mapping[str, BotLevel | None]) -> None:
        """Replace the known bots, and all levels at which bots play."""
        self.levels, self.bots = levels, bots

    def use_verbs(self, own: Mapping[str, type], left_out: frozenset[str]) -> None:
        """Replace the host's own verbs, and the first words of the disabled verbs."""
        self.own_verbs, self.left_out = own, left_out

    def set_start_time(self, at: float) -> None:
        """Set the start time of the server, in seconds since the epoch."""
        self.started_at = at

    def resume_from(
        self,
        version: int,
        seeks: Iterable[events.SeekMade] = (),
        parts: Iterable[HallPart] = (),
    ) -> None:
        """Restore the state of the hall's own stream from the store.

        Args:
            version: the version of the stream at which the state was saved.
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
        """Record the network address of a player."""
        self.origins[player] = origin

    def forget_origin(self, player: str) -> None:
        """Forget the network address of a player."""
        self.origins.pop(player, None)

    def keep_origins(self, keeps: Callable[[str], bool]) -> None:
        """Drop the network addresses of all players for whom ``keeps`` returns false."""
        self.origins = {name: each for name, each in self.origins.items() if keeps(name)}

    # --- features -----------------------------------------------------------------------------

    def part(self, kind: type[HallPartT]) -> HallPartT:
        """Return the state of a feature, creating the initial state on first use."""
        part = self.parts.get(kind)
        if part is None:
            part = self.parts[kind] = kind()
        return part  # type: ignore[return-value]  # the value has the type of its key

    def limits(self, kind: type[LimitsT]) -> LimitsT:
        """Return the limits of a feature; the defaults unless `set_limits` has set others."""
        return self._limits.get(kind) or kind()

    # --- the boards --------------------------------------------------------------------------

    def apply(self, event: events.HallEvent) -> list[Delivery]:
        """Apply an event of the hall and return the deliveries, in order.

        An event that changes nothing has no deliveries.
        """
        match event:
            case events.BoardOpened(key=key, name=name, rules=rules, version=version):
                if self.tables.with_key(key):
                    return []
                self.tables.open([BoardSpec(name, rules, key=key)], version)
                return [Delivery(event, tuple(self.people_in(None)), self.tables[name])]
            case events.BoardClosed(key=key) if table := self.tables.with_key(key):
                return self._close(event, table.name)
            case events.BoardRenamed(key=key, name=name) if table := self.tables.with_key(key):
                return self._rename(event, table.name, name) if table.name != name else []
            case events.SeekMade(number=number, player=player, to=to):
                self.seeks[number] = event
                return [Delivery(event, self.seek_recipients(player, to))]
            case events.SeekEnded(number=number, player=player, seeker=seeker, to=to):
                self.seeks.pop(number, None)
                audience = dict.fromkeys((*self.seek_recipients(seeker, to), player))
                return [Delivery(event, tuple(audience))]
        kind = _TAKERS.get(type(event))
        return self.part(kind).apply(event, self) if kind else []

    def seek_recipients(self, player: str, to: str) -> tuple[str, ...]:
        """Return the audience of a seek: the challenged player, or everybody who may accept."""
        if to:
            return tuple(dict.fromkeys((player, to)))
        names = (*self._waiting_recipients(), player)
        return self.people.without_ignorers(player, tuple(dict.fromkeys(names)))

    def _waiting_recipients(self) -> tuple[str, ...]:
        """Return the people in the hall, then people elsewhere with the option for seeks."""
        people = self.people.values()
        waits = (each for each in people if each.room and each.options.has(Toggle.SEEKS))
        return (*self.rooms.occupants(None).names, *(person.name for person in waits))

    def _close(self, event: events.BoardClosed, board: str) -> list[Delivery]:
        """Close a board and move its occupants to the hall."""
        here = self.people_in(board)
        told_of_it = dict.fromkeys(
            (*self.rooms.occupants_and_observers(board).names, *self.people_in(None))
        )
        told = [Delivery(event, tuple(told_of_it), self.tables[board])]
        told += [self._deliver_aside(asides.CameIn(player, None)) for player in here]
        for person in self.rooms.observers(board):
            others = tuple(each for each in person.observed if each != board)
            told.append(self._deliver_aside(asides.ObserveChosen(person.name, board, others)))
        self._forget_gone(self.tables.close(board))
        for side in Side:
            self.missed.pop((board, side), None)
        for person in self.people.present_and_remembered():
            person.parts = {kind: part.board_closed(board) for kind, part in person.parts.items()}
            person.last_board = None if person.last_board == board else person.last_board
            person.room = None if person.room == board else person.room
            person.forget_invitations(board)
        return told

    def _rename(self, event: events.BoardRenamed, board: str, name: str) -> list[Delivery]:
        """Rename a board, with all state that refers to the old name."""
        before = self.tables[board]
        seated = tuple(before.seats.values())
        self.tables.rename(board, name)
        for side in Side:
            if (missed := self.missed.pop((board, side), None)) is not None:
                self.missed[name, side] = missed
        self.rooms.rename(board, name)
        for person in self.people.present_and_remembered():
            parts = person.parts.items()
            person.parts = {kind: part.board_renamed(board, name) for kind, part in parts}
            person.last_board = name if person.last_board == board else person.last_board
            person.room = name if person.room == board else person.room
            for by, asked in person.invitations.items():
                if asked.board == board:
                    person.invitations[by] = replace(asked, board=name)
            if board in person.styles:
                person.styles[name] = person.styles.pop(board)
        here = (*self.rooms.occupants_and_observers(name).names, *self.people_in(None))
        return [Delivery(event, tuple(dict.fromkeys((*here, *seated))), before)]

    def _forget_gone(self, players: Iterable[str]) -> None:
        """Forget the offline players among some who no longer have a seat."""
        for player in players:
            if player not in self.people:
                self.people.forget(player)
                self._talk_before.pop(player, None)

    def is_idle(self, table: Table) -> bool:
        """Whether a player-opened board is no longer needed and may be closed."""
        if (
            not table.key.startswith(events.MADE)
            or table.has_match_under_way
            or self._has_people_at(table.name)
        ):
            return False
        return table.match is not None or not table.seats

    def is_deserted(self, table: Table) -> bool:
        """Whether a practice board is empty because its player is online in another room."""
        if not table.is_practice or self._has_people_at(table.name):
            return False
        return any(player in self.people for player in table.seats.values())

    def _has_people_at(self, board: str) -> bool:
        """Whether anybody except bots is at a board."""
        return any(name not in self.bots for name in self.people_in(board))

    @property
    def edition(self) -> str:
        """A hash of the news, which changes when the news does; "" without news."""
        text = "\n".join(self.news).encode()
        return hashlib.sha256(text).hexdigest()[:_EDITION] if self.news else ""

    # --- the people --------------------------------------------------------------------------

    def level(self, name: str, asked: int | None = None) -> int | None:
        """Return a bot's playing level, as in `Levels`; None for people.

        A requested level, ``asked``, replaces the usual one unless the bot has its own program.
        """
        if name not in self.bots:
            return None
        usual = self.bots[name]
        return asked or usual.number if usual else events.OWN_PROGRAM

    def hall_decision(self, player: str, *happened: HallEvent) -> Decision:
        """Build a decision with events of the hall, at its current version."""
        return Decision(player, hall=happened, hall_version=self.version or 0)

    def is_operator(self, name: str) -> bool:
        """Whether a player is an operator."""
        return self.order is not None and name.lower() in self.order.operators

    def style(self, player: str, board: str) -> Style:
        """Return the style in which ``player`` sees ``board``, which may have been closed."""
        return self.people[player].styles.get(board, self.tables.styles.get(board, Style.FULL))

    def apply_option_choices(
        self, player: str, options: Options | None, choices: Iterable[SetOption]
    ) -> Options:
        """Compute a player's options after some choices; apply them if the player is online.

        ``options`` are the options of an offline player, if known.
        """
        chosen = self.people.options_after_choices(player, options, choices)
        if here := self.people.get(player):
            here.options = chosen
            self.rooms.update(here)
        return chosen

    def observe(self, player: str, boards: tuple[str, ...]) -> None:
        """Replace the boards that a player observes."""
        self.rooms.observe(self.people[player], boards)

    def add_player(self, entered: asides.Entered) -> None:
        """Add a player who enters, perhaps returning to a seat."""
        self.rooms.enter(self.people.add_person(entered))
        self._talk_before.setdefault(entered.player, self._talked)
        observed = tuple(each for each in entered.observed if each in self.tables)
        self.observe(entered.player, observed)

    def remove_player(self, player: str) -> None:
        """Remove a player who leaves; one with a seat is still remembered."""
        self.observe(player, ())
        is_remembered = bool(self.tables.seats_of(player))
        if not is_remembered:
            self._talk_before.pop(player, None)
        self.rooms.leave(self.people.remove_person(player, is_remembered=is_remembered))

    def hears(self, player: str, talk: Toggle, table: Table) -> bool:
        """Whether a person receives a kind of talk at a table; its players get no whispers."""
        plays = player in table.seats.values()
        if plays and talk is Toggle.WHISPER:
            return False
        if not plays and talk is Toggle.WATCHERS:
            return True
        person = self.people.get(player)
        return person is not None and talk in person.options.on

    def talk_recipients(
        self, names: Iterable[str], talk: Toggle, table: Table, speaker: str
    ) -> tuple[str, ...]:
        """Filter names by who receives a kind of talk at a table; the speaker always does."""
        if talk is Toggle.WATCHERS:  # only players can turn this off
            seated = table.seats.values()
            return tuple(
                [name for name in names if name not in seated or self.hears(name, talk, table)]
            )
        return tuple([name for name in names if name == speaker or self.hears(name, talk, table)])

    def recent_lines_heard(self, player: str, speaker: str) -> tuple[str, ...]:
        """Return the last lines of a speaker that were delivered to a player."""
        return tuple(
            f"{aside.verb}: {aside.text}"
            for telling in self._said.get(speaker, ())
            if isinstance(aside := telling.event, asides.Spoke | asides.Emoted | asides.Told)
            if player in telling.recipients
        )

    def talk_heard(self, player: str) -> list[Aside]:
        """Return the last lines addressed to a player, or said by them, in order.

        They begin with the visit, or with the first of those since which a seat was theirs.
        """
        since = self._talk_before.get(player, self._talked)
        first = max(0, len(self._talk) - (self._talked - since))
        heard = [
            each.event for each in islice(self._talk, first, None) if player in each.recipients
        ]
        return cast("list[Aside]", heard[-TALK_SHOWN:])

    def _record_speech(self, delivery: Delivery, speaker: str) -> None:
        """Record a line of a player, for those who heard it and for possible reports."""
        line = Delivery(delivery.event, delivery.recipients)
        self._talk.append(line)
        self._talked += 1
        if not self._remembers_speech:
            return
        said = self._said.pop(speaker, None) or deque(maxlen=SAID_KEPT)
        said.append(line)
        self._said[speaker] = said
        if len(self._said) > MOST_SPEAKERS:
            del self._said[next(iter(self._said))]

    def visible_table(self, player: str, board: str) -> Table:
        """Return the table that a player sees by a name: a private board hides the real one."""
        private = self.people[player].private
        if private and private.table.name == board:
            return private.table
        return self.tables[board]

    def bots_here(self) -> list[str]:
        """Return the names of the connected bots, in the order of arrival."""
        here = self.bots.keys() & self.people.keys()
        return sorted(here, key=lambda name: self.people[name].number)

    def people_in(self, room: str | None) -> list[str]:
        """Return the names of the people in a room, in the order of arrival."""
        return list(self.rooms.occupants(room).names)

    def board_of_rated_battle(self, player: str) -> str | None:
        """Return the name of a board where a player is in a rated battle, if there is one.

        Such a player gets no help at any board: the help could be meant for the rated battle.
        """
        for each in self.tables.seats_of(player):
            if each.is_running and each.match and each.match.is_between_members:
                return each.name
        return None

    def restore(
        self, board: str, version: int, events: Iterable[tuple[TableEvent, int | None]]
    ) -> None:
        """Fold stored events into a table, without deliveries.

        Args:
            board: the name of the table.
            version: the version of the table before the first event. Unless it is 0, the first
                event has to be complete; see `thudmud.game.events.is_complete`.
            events: pairs of an event and the number of the battle that it begins or resumes, if
                any.
        """
        self.put(board, replace(self.tables[board], version=version))
        for event, battle in events:
            self._apply(self.tables[board], event, battle)

    def put(self, board: str, table: Table) -> None:
        """Replace a table."""
        if gone := self.tables.put(board, table):
            self._forget_gone(gone)

    def commit(self, decision: Decision) -> list[Delivery]:
        """Apply a decision and return the deliveries, in order."""
        told: list[Delivery] = []
        for of_hall in decision.hall:
            told += self.apply(of_hall)
        for aside in decision.asides:
            told.append(self._deliver_aside(aside))
            if isinstance(aside, asides.Entered):
                told += self._arrival_notice(aside, told[-1].recipients)
        board = str(decision.board)
        if decision.events:
            told += self._leave_private_boards(decision, self.tables[board])
        for event in decision.events:
            if isinstance(event, events.BattleStarted | events.Resumed):
                told += self._gather_players(event, board)
            told.append(self._apply_table_event(event, board, decision))
            if isinstance(event, events.BattleStarted | events.Resumed):
                told += self._match_notice(event, board, told[-1].recipients)
            elif isinstance(event, events.BattleEnded) and event.points:
                told += self._result_announcement(
                    event, self.tables[board], decision, told[-1].recipients
                )
        if decision.board and decision.player in self.people:
            self.people[decision.player].last_board = decision.board
        return told

    def may_defer_plies(self, board: str, here: AbstractSet[str]) -> bool:
        """Whether a ply at a board changes nothing except the table, for which there is no hurry.

        That is so if nobody on this node plays or watches, and if no player is absent, for whom it
        would be kept.

        Args:
            board: the name of the board.
            here: the names of the people on this node.
        """
        table = self.tables.without_deferred(board)
        if table.away or not (table.is_running and table.is_full):
            return False
        for player in table.seats.values():
            if player in here:
                return False
            person = self.people.get(player)
            if person and (person.parts or person.private):
                return False  # a ply interrupts their replay, and closes their private board
        return here.isdisjoint(self.rooms.occupants_and_observers(board).members)

    def defer_ply(self, board: str, side: Side, ply: TimedMove) -> bool:
        """Note a ply of a board where `may_defer_plies`; the table is updated once it is read.

        Returns:
            Whether it is the first since the table was read.
        """
        mover = self.people.get(self.tables.without_deferred(board).seats[side])
        if mover:
            mover.last_board = board
        return self.tables.defer(board, ply)

    # --- applying ----------------------------------------------------------------------------

    def _apply_table_event(
        self, event: events.TableEvent, board: str, decision: Decision
    ) -> Delivery:
        """Apply an event at a board and return its delivery."""
        before = self.tables[board]
        table = self._apply(before, event, decision.battle)
        if isinstance(event, events.Moved):
            for player in table.seats.values():  # "last" then means their own battle
                if (here := self.people.get(player)) and here.parts:
                    here.interrupt()
        occupants = self.rooms.occupants_and_observers(board)
        # The audience includes the seated players from before and after the event.
        concerned = (*table.seats.values(), *before.seats.values(), event.player)
        person = self.people.get(event.player)
        if person and isinstance(event, events.Joined):
            person.forget_invitations(board)
        if isinstance(event, events.Resumed):
            for player in table.seats.values():
                if here := self.people.get(player):
                    here.forget_invitations(board)
        if isinstance(event, events.Joined) and not table.is_full:
            concerned += self.people.without_ignorers(event.player, self._waiting_recipients())
        audience, changes = occupants.names_with(concerned), decision.changes
        return Delivery(
            event, audience, table, occupants, changes, is_intermediate=decision.is_intermediate
        )

    def _gather_players(
        self, begun: events.BattleStarted | events.Resumed, board: str
    ) -> list[Delivery]:
        """Move the players of a match to a newly opened board; return the deliveries.

        A tournament moves nobody for a correspondence match, and nobody whose clock is running in
        the current room. Other correspondence matches don't move an occupied player, except the one
        who began the match.
        """
        if self.tables[board].seats or board not in self.tables.made.values():
            return []
        match = begun.match if isinstance(begun, events.Resumed) else begun
        players = [match.dwarf, match.troll]
        paired = begun if isinstance(begun, events.BattleStarted) and begun.tournament else None
        if paired:
            if time_class(paired.time) is TimeClass.CORRESPONDENCE:
                return []
            players = [each for each in players if not self.is_at_own_live_board(each)]
        elif time_class(match.time) is TimeClass.CORRESPONDENCE:
            players = [
                each
                for each in players
                if each == begun.player or not self.is_occupied(each, begun.at)
            ]
        told: list[Delivery] = []
        for player in players:
            came = bool(told)  # the first player has already arrived and sees the second there
            for each in self._move_to_board(player, board, is_announced=paired is not None):
                others = tuple(name for name in each.recipients if name != players[0])
                told.append(replace(each, recipients=others, occupants=None) if came else each)
        return told

    def is_busy(self, player: str, now: float) -> bool:
        """Whether a player has to be asked before a match that they looked for begins.

        A player is busy with a running clock, and in a battle against a person if they are there or
        moved in the last `TOUCHED` seconds. Correspondence doesn't count.
        """
        person = self.people.get(player)
        for table in self.tables.seats_of(player):
            if table.is_by_correspondence or not table.is_running:
                continue
            if table.has_live_clock:
                return True
            if table.is_practice or table.levels != events.NO_BOTS:
                continue
            is_there = person is not None and person.room == table.name
            has_moved = table.game and table.game.moves and now - table.waiting_since < TOUCHED
            if is_there or has_moved:
                return True
        return False

    def is_occupied(self, player: str, now: float) -> bool:
        """Whether a player does something that a match which can wait must not interrupt.

        A player is occupied in a match under way in the same room or with a running clock, at a
        private board, and for `TOUCHED` seconds after a ply at their board. Correspondence doesn't
        count.
        """
        person = self.people.get(player)
        if person and person.private:
            return True
        for table in self.tables.seats_of(player):
            if table.is_by_correspondence:
                continue
            is_there = person is not None and person.room == table.name
            is_match = table.has_match_under_way and not table.is_practice
            if is_match and (is_there or table.has_live_clock):
                return True
            if table.game and table.game.moves and now - table.waiting_since < TOUCHED:
                return True
        return False

    def has_live_clock(self, player: str) -> bool:
        """Whether a clock is running in a match of a player, other than by correspondence.

        Always false for bots, which play at many boards at a time.
        """
        seats = () if player in self.bots else self.tables.seats_of(player)
        return any(each.has_live_clock for each in seats)

    def is_at_own_live_board(self, player: str) -> bool:
        """Whether a player is in the room of their own match while its clock is running.

        Always false for bots, which play from any room, and for correspondence.
        """
        person = None if player in self.bots else self.people.get(player)
        table = self.tables.get(person.room) if person and person.room else None
        return table is not None and table.has_live_clock and table.side_of(player) is not None

    def _move_to_board(self, player: str, board: str, *, is_announced: bool) -> list[Delivery]:
        """Move a player to the board opened for their match; return the deliveries.

        ``is_announced``: whether the pairing has been announced in the hall already.
        """
        person = self.people.get(player)
        if person is None or person.room == board:
            return []
        person.last_board = board
        went = asides.WentOut(
            player, person.room, board, is_silent=is_announced and person.room is None
        )
        return [
            self._deliver_aside(each)
            for each in (went, asides.CameIn(player, board, takes_seat=True))
        ]

    def _apply(self, before: Table, event: events.TableEvent, battle: int | None) -> Table:
        board, table = before.name, before.apply(event, battle)
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

    def _leave_private_boards(self, decision: Decision, table: Table) -> list[Delivery]:
        """Close the private boards of players who act in a battle or whose battle continues.

        A battle continues when it begins or resumes, and when a player takes a seat in it.
        """
        players = [decision.player] if table.is_running else []
        for event in decision.events:
            if isinstance(event, events.BattleStarted | events.Resumed):
                match = event.match if isinstance(event, events.Resumed) else event
                players += match.dwarf, match.troll
            elif isinstance(event, events.Joined) and table.is_running:
                players += table.seats.values()
        told: list[Delivery] = []
        for name in players:
            person = self.people.get(name)
            if person and person.private:
                told.append(self._deliver_aside(person.private.left))
        return told

    def _deliver_aside(self, aside: asides.Aside) -> Delivery:
        """Apply an aside and return its delivery."""
        applier = _APPLIERS.get(type(aside)) or _inherited_applier(type(aside))
        telling = applier(aside, self)
        if aside.is_speech and (self._keeps_talk or self._remembers_speech):
            self._record_speech(telling, aside.player)
        return telling

    def player_and_operators(self, player: str) -> tuple[str, ...]:
        """Return the names of a player and of all operators, without those who are offline."""
        names = (player, *filter(self.is_operator, self.people))
        return tuple(name for name in dict.fromkeys(names) if name in self.people)

    def _arrival_notice(self, entered: asides.Entered, told: Collection[str]) -> list[Delivery]:
        """Build the notice of an arrival for followers who don't see the arrival itself."""
        player, room = entered.player, entered.room
        there = self.rooms.occupants_and_observers(room).members if room else frozenset()
        others = [each for each in self.people.followers_of(player) if each not in {*there, *told}]
        return [Delivery(asides.FollowedCame(player, room), tuple(others))] if others else []

    def _match_notice(
        self, begun: events.BattleStarted | events.Resumed, board: str, told: Container[str]
    ) -> list[Delivery]:
        """Build the notice for followers that a match begins or is resumed.

        It skips the audience of the battle itself. Practice and second battles have no notice.
        """
        match = begun.match if isinstance(begun, events.Resumed) else begun
        is_second = isinstance(begun, events.BattleStarted) and begun.number > 1
        if is_second or match.dwarf == match.troll:
            return []
        followers = [*self.people.followers_of(match.dwarf), *self.people.followers_of(match.troll)]
        others = tuple(each for each in dict.fromkeys(followers) if each not in told)
        resumed = isinstance(begun, events.Resumed)
        began = asides.FollowedBegan(begun.player, board, match.dwarf, match.troll, resumed)
        return [Delivery(began, others)] if others else []

    def _result_announcement(
        self,
        ended: events.BattleEnded,
        table: Table,
        decision: Decision,
        told: Container[str],
    ) -> list[Delivery]:
        """Build the announcement in the hall for the end of a match.

        It skips the audience of the battle itself. A tournament match has no such announcement; its
        score is announced instead. Neither have matches between bots, nor battles that continue a
        past one. While the hall is crowded, it hears only of rated matches between people.
        """
        match = table.match
        if match is None or match.tournament or match.is_practice or match.is_single_battle:
            return []
        if None not in match.levels or (self.is_crowded and not match.is_between_members):
            return []
        others = tuple(
            name
            for name in self.rooms.occupants(None).names
            if name not in told and self.people[name].options.has(Toggle.RESULTS)
        )
        result = asides.ResultTold(
            ended.player,
            table.name,
            match.number,
            ended,
            decision.changes,
            rated=match.is_between_members,
        )
        return [Delivery(result, others)] if others else []

    @property
    def is_crowded(self) -> bool:
        """Whether there are too many people in the hall to tell all of them what each one does."""
        return self.rooms.count(None) > CROWD

    def deliver_movement(
        self, aside: asides.Aside, player: str, room: str | None, table: Table | None = None
    ) -> Delivery:
        """Return the delivery of an arrival or departure in a room.

        Seated players are told even if they ignore the player. In a crowded hall only those are
        told who follow the player or have a seat at the same board. Programs that show who is there
        always get the facts.
        """
        here = self.table_in(room)
        seated = tuple(here.seats.values()) if here else ()
        occupants = self.rooms.occupants(room)
        there = self.people.without_ignorers(player, occupants.names, seated)
        if room is not None or not self.is_crowded:
            return Delivery(aside, there, table)
        close = {player, *self.people.followers_of(player), *self.rooms.machine_readers}
        close.update(*(each.seats.values() for each in self.tables.seats_of(player)))
        # Only those are looked at who may be told: there may be thousands here.
        close &= occupants.members if there is occupants.names else {*there}
        told = sorted(close, key=lambda name: self.people[name].number)
        return Delivery(aside, tuple(told), table, programs=there)

    def table_in(self, room: str | None) -> Table | None:
        """Return the table of a room; None for the hall and for a closed board.

        A board can be closed between the decision to leave it and the delivery.
        """
        return self.tables.get(room) if room else None


def claimants(hall: Hall, name: str, adjourned: Iterable[events.SavedMatch]) -> Iterator[str]:
    """Yield the spellings of a name in seats, adjourned matches, and parts of the hall."""
    key = name.lower()
    if hall.tables.has_seat(name):
        seated = (player for table in hall.tables.values() for player in table.seats.values())
        yield from (player for player in seated if player.lower() == key)
    for match in adjourned:
        yield from (player for player in (match.dwarf, match.troll) if player.lower() == key)
    for part in hall.parts.values():
        yield from (player for player in part.players() if player.lower() == key)


def conflicting_spelling(
    hall: Hall, name: str, adjourned: Iterable[events.SavedMatch]
) -> str | None:
    """Return a conflicting spelling of a name in use; None if the name is free as spelt."""
    claims = list(claimants(hall, name, adjourned))
    return None if not claims or name in claims else claims[0]


def unrated_reason(
    event: BattleEnded,
    match: Match | None,
    changes: Sequence[RatingChange],
    hall: Hall,
) -> Unrated | None:
    """Explain why a battle, or the match that it ends, changed no rating.

    Returns:
        the reason; None if a rating changed, in practice, between bots, and while an unfinished
        match can still count. If the match can't count, the reason is reported at its end.
    """
    if match is None or match.is_practice or None not in event.levels:
        return None
    is_over = bool(event.points) or event.levels != NO_BOTS
    if event.rated:
        return None if changes or not is_over else Unrated.TOO_OFTEN
    if match.unrated_reason is Unrated.TOO_SHORT or (match.unrated_reason and is_over):
        return match.unrated_reason
    if not is_over:
        return None
    if match.opening:
        return Unrated.SET_UP
    return Unrated.GUEST if guest_players(event, hall) else Unrated.CASUAL


def guest_players(event: BattleEnded, hall: Hall) -> list[str]:
    """Return the names of the players of a battle who are online as guests."""
    here = [hall.people[each] for each in (event.dwarf, event.troll) if each in hall.people]
    return [each.name for each in here if not (each.is_member or each.name in hall.bots)]


# Functions that apply asides


@applies(Aside)
def _apply_aside(aside: Aside, _: Hall) -> Delivery:
    return Delivery(aside, (aside.player,))


@applies(asides.Entered)
def _apply_entered(entered: asides.Entered, hall: Hall) -> Delivery:
    hall.add_player(entered)
    if entered.room:
        return Delivery(entered, (entered.player,), hall.table_in(entered.room))
    return hall.deliver_movement(entered, entered.player, None)


@applies(asides.AtBoard)
def _apply_at_board(aside: asides.AtBoard, hall: Hall) -> Delivery:
    return Delivery(aside, (aside.player,), hall.table_in(aside.board))


@applies(asides.TookOver)
def _apply_took_over(took: asides.TookOver, hall: Hall) -> Delivery:
    return Delivery(took, (took.player,), hall.table_in(took.room))


@applies(asides.Gone)
def _apply_gone(gone: asides.Gone, hall: Hall) -> Delivery:
    player = gone.player
    delivery = Delivery(gone, (player,))
    if not gone.is_announced:
        delivery = hall.deliver_movement(gone, player, gone.room)
    hall.remove_player(player)
    return delivery


@applies(asides.WentOut)
def _apply_went_out(went: asides.WentOut, hall: Hall) -> Delivery:
    delivery = hall.deliver_movement(went, went.player, went.room)
    others, programs = (
        tuple(name for name in names if name != went.player)
        for names in (delivery.recipients, delivery.programs)
    )
    return replace(delivery, recipients=others, programs=programs)


@applies(asides.CameIn)
def _apply_came_in(came: asides.CameIn, hall: Hall) -> Delivery:
    hall.rooms.move(hall.people[came.player], came.room)
    return hall.deliver_movement(came, came.player, came.room, hall.table_in(came.room))


@applies(asides.Aloud)
def _apply_aloud(aloud: asides.Aloud, hall: Hall) -> Delivery:
    """Compute the audience of speech or an emote.

    Everybody who watches a board, observers included, hears its players, kibitzes and whispers.
    Other speech stays in the room.
    """
    player, room, talk, rooms = aloud.player, aloud.room, aloud.talk, hall.rooms
    table = hall.tables.get(room) if room else None
    if room is None or table is None:
        occupants = rooms.occupants(room)
        there = occupants.names
        if talk is Toggle.SHOUT:
            there = tuple(each.name for each in hall.people.values() if each.options.has(talk))
    else:
        seated = table.seats.values()
        is_observed = player in seated or talk is Toggle.KIBITZ or talk is Toggle.WHISPER
        occupants = (rooms.occupants_and_observers if is_observed else rooms.occupants)(room)
        there = occupants.names_with((*seated, player) if talk else seated)
        if talk:
            there = hall.talk_recipients(there, talk, table, player)
    heard = hall.people.without_ignorers(player, there)
    is_all = heard[: len(occupants.names)] == occupants.names
    return Delivery(aloud, heard, table, occupants if is_all else None)


@applies(asides.ToAnother)
def apply_to_another(aside: asides.ToAnother, hall: Hall) -> Delivery:
    """Deliver an aside to both players, or only to a sender whom the other ignores."""
    return Delivery(aside, hall.people.without_ignorers(aside.player, (aside.player, aside.to)))


@applies(asides.Invited)
def _apply_invited(invited: asides.Invited, hall: Hall) -> Delivery:
    if asked := hall.people.get(invited.to):
        hall.people.add_invitation(asked, invited)
    return apply_to_another(invited, hall)


@applies(asides.Active)
def _apply_active(active: asides.Active, hall: Hall) -> Delivery:
    hall.people[active.player].last_active = active.at
    return Delivery(active, ())


@applies(asides.ObserveChosen)
def apply_observe_chosen(chosen: asides.ObserveChosen, hall: Hall) -> Delivery:
    """Replace the boards that a player observes, and show a newly observed board."""
    hall.observe(chosen.player, chosen.observed)
    table = hall.tables[chosen.board] if chosen.board in chosen.observed else None
    return Delivery(chosen, (chosen.player,), table)


@applies(asides.BoardListed)
def _apply_board_listed(listed: asides.BoardListed, hall: Hall) -> Delivery:
    return Delivery(listed, hall.rooms.occupants(None).names, hall.tables[listed.board])
