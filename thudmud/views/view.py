"""Views: the display of a reader, which depends on their client, options and room.

Readers with equal views get the same text, which is rendered once for all of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import lru_cache

from thudmud.errors import InvalidValueError
from thudmud.game import events
from thudmud.game.asides import Aloud, Aside
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall
from thudmud.game.options import (
    HEIGHTS,
    WIDTHS,
    Charset,
    Colour,
    Element,
    Options,
    Orient,
    Scheme,
    Size,
    Style,
    Switch,
    Toggle,
)
from thudmud.game.people import DEFAULTS
from thudmud.game.table import Table
from thudmud.values import Value, replace

DEFAULT_WIDTH = 80
LARGE_FROM = 120, 40
"""The minimum columns and rows of a screen for large boards, if the size is automatic."""
PACKAGE = "thud"
"""The GMCP package that a client enables to receive all facts, in lower case."""
USUAL = ("Char.Name", "Room.Info", "Room.Players", "Comm.Channel.Text")
"""GMCP packages that are common on other MUDs. Those about rooms are enabled as a whole."""
SIXTEEN, PALETTE, TRUE_COLOUR = 16, 256, 1 << 24
"""Possible numbers of a terminal's colours, besides 0."""
COLOURS = (0, SIXTEEN, PALETTE, TRUE_COLOUR)


class Terminal(Value):
    """The known properties of a client.

    Attributes:
        width: columns of its screen; 0 if unknown.
        supports_utf8: whether it displays UTF-8.
        colours: the number of colours: 0, 16, 256 or 2 ** 24.
        has_reader: whether it reads text aloud.
        packages: the GMCP packages it has enabled, in lower case.
        height: rows of its screen; 0 if unknown.
        is_ascii_only: whether it has declared that it doesn't display UTF-8. Many that do declare
            nothing.
        can_draw: whether it draws clickable boards itself.

    Raises:
        InvalidValueError: a size is negative, no terminal has that number of colours, or the
            packages aren't a frozenset.
    """

    width: int = DEFAULT_WIDTH
    supports_utf8: bool = False
    colours: int = 0
    has_reader: bool = False
    packages: frozenset[str] = frozenset()
    height: int = 0
    is_ascii_only: bool = False
    can_draw: bool = False

    def __post_init__(self) -> None:
        if self.width < 0 or self.height < 0:
            raise InvalidValueError(
                "expected a width and a height of 0 or more (0 means unknown),"
                f" got {self.width} and {self.height}"
            )
        if self.colours not in COLOURS:
            known = ", ".join(map(str, COLOURS))
            raise InvalidValueError(f"expected one of {known} colours, got {self.colours}")
        if not isinstance(self.packages, frozenset):
            raise InvalidValueError(f"expected a frozenset of packages, got {self.packages!r:.50}")

    def wants(self, package: str) -> bool:
        """Whether the client has enabled a GMCP package, or one of its ancestors."""
        name = package.lower()
        while name not in self.packages:
            name = name.rpartition(".")[0]
            if not name:
                return False
        return True

    @property
    def wants_usual(self) -> bool:
        """Whether the client has enabled a package that is common on other MUDs."""
        return _wants_usual(self.packages)

    def nearest(self) -> Terminal:
        """Return the nearest terminal with a supported width. Width 0 means unknown."""
        return _nearest(self)


@lru_cache(maxsize=1024)  # makes equal ones a single object
def _nearest(terminal: Terminal) -> Terminal:
    width = terminal.width
    width = min(max(width, WIDTHS[0]), WIDTHS[-1]) if width else DEFAULT_WIDTH
    packages = frozenset(map(str.lower, terminal.packages))
    return replace(terminal, width=width, packages=packages)


@lru_cache(maxsize=256)
def _wants_usual(packages: frozenset[str]) -> bool:
    return any(map(Terminal(packages=packages).wants, USUAL))


class Display(Value):
    """The appearance of everything for a reader. Readers with equal displays can share text.

    Attributes:
        width: the columns that every line is shorter than.
        screen_width: columns of the screen, at which a client breaks lines; fewer than ``width``
            for screen readers.
        uses_utf8: whether boards are drawn in UTF-8 rather than ASCII.
        is_ascii_only: whether all text is ASCII, including what players write.
        colours: the number of colours: 0, 16, 256 or 2 ** 24.
        scheme: the colour scheme.
        elements: the player's own colours for elements.
        orient: the side of the board at the bottom.
        is_large: whether boards are drawn large, if they fit the width.
        is_for_reader: whether boards are described for a screen reader.
        with_machine_lines: whether machine lines for a program follow each event.
        shows_times: whether messages of other players show the time.
        is_drawn_by_client: whether the client draws boards, so that texts are for a player who
            clicks.
        shows_results: whether results of other players are shown.
    """

    width: int = DEFAULT_WIDTH
    screen_width: int = DEFAULT_WIDTH
    uses_utf8: bool = False
    is_ascii_only: bool = False
    colours: int = 0
    scheme: Scheme = Scheme.PLAIN
    elements: tuple[tuple[Element, Colour], ...] = ()
    orient: Orient = Orient.SOUTH
    is_large: bool = False
    is_for_reader: bool = False
    with_machine_lines: bool = False
    shows_times: bool = False
    is_drawn_by_client: bool = False
    shows_results: bool = True

    @classmethod
    def of(cls, terminal: Terminal, options: Options) -> Display:
        """Return the display of a terminal with some options."""
        reader = _is_switched_on(options.reader, can=terminal.has_reader)
        wants_utf8 = options.charset is Charset.UTF_8
        is_auto = options.charset is Charset.AUTO
        # A badly configured screen reader reads escape sequences and line drawing aloud.
        colours = terminal.colours or (SIXTEEN if options.colour is Switch.ON else 0)
        coloured = options.colour is Switch.ON or (options.colour is Switch.AUTO and not reader)
        # Screen readers pause where a line ends, so theirs are only broken by the player's program.
        width = options.width or (WIDTHS[-1] if reader else terminal.width)
        has_room = width >= LARGE_FROM[0] and terminal.height >= LARGE_FROM[1]
        return cls(
            width=width,
            screen_width=options.width or terminal.width,
            uses_utf8=wants_utf8 or (is_auto and terminal.supports_utf8),
            is_ascii_only=options.charset is Charset.ASCII or (is_auto and terminal.is_ascii_only),
            colours=colours if coloured else 0,
            scheme=options.scheme if coloured and colours else Scheme.PLAIN,
            elements=options.elements if coloured and colours else (),
            orient=options.orient,
            is_large=options.size is Size.LARGE or (options.size is Size.AUTO and has_room),
            is_for_reader=reader,
            with_machine_lines=options.has(Toggle.MACHINE),
            shows_times=options.has(Toggle.TIMES),
            is_drawn_by_client=terminal.can_draw
            and options.reader is Switch.AUTO,  # else they want words
            shows_results=options.has(Toggle.RESULTS),
        )


@lru_cache(maxsize=1024)
def _one(display: Display) -> Display:
    """Return a single shared object for all equal displays, so that identity can be compared.

    Beyond the size of the cache, equal displays may be separate objects. Their readers then get
    separate messages with the same text.
    """
    return display


@lru_cache(maxsize=1024)
def _shared(terminal: Terminal, options: Options) -> Display:
    return _one(Display.of(terminal, options))


_PLAIN = Terminal()

Readers = Mapping[tuple[object, ...], "tuple[View, tuple[str, ...]]"]
"""Views with their readers, by a key for each view."""


def page_rows(terminal: Terminal, options: Options) -> int:
    """Return the height of the screen at which long texts stop; 0 if they don't.

    Programs read everything at once, and a screen reader has its own way to stop.
    """
    if terminal.packages or options.has(Toggle.MACHINE):
        return 0
    if options.rows is not None:
        return options.rows
    has_reader = _is_switched_on(options.reader, can=terminal.has_reader)
    return 0 if has_reader or terminal.height < HEIGHTS[0] else terminal.height


class Screens:
    """The terminals of players online.

    Attributes:
        programs: names of players whose clients have enabled any of our GMCP packages.
        terminals: terminals by name.
        edition: an object that is replaced whenever a terminal changes.
    """

    def __init__(self) -> None:
        self.programs: set[str] = set()
        self.edition = object()
        self.terminals: dict[str, Terminal] = {}
        self._displays: dict[str, tuple[Options, Display]] = {}

    def fit(self, name: str, terminal: Terminal) -> None:
        """Set the terminal of a player."""
        self.forget(name)
        self.terminals[name] = terminal
        is_ours = any(package.partition(".")[0] == PACKAGE for package in terminal.packages)
        if is_ours or terminal.wants_usual:
            self.programs.add(name)

    def forget(self, name: str) -> None:
        """Remove the terminal of a player who left."""
        self.edition = object()
        self.programs.discard(name)
        self.terminals.pop(name, None)
        self._displays.pop(name, None)

    def display(self, name: str, options: Options) -> Display:
        """Return the display of a player with some options.

        Players without a terminal get a plain one.
        """
        before = self._displays.get(name)
        if before is not None and before[0] is options:
            return before[1]
        display = _shared(self.terminals.get(name, _PLAIN), options)
        self._displays[name] = options, display
        return display


def _is_switched_on(switch: Switch, *, can: bool) -> bool:
    return can if switch is Switch.AUTO else switch is Switch.ON


_MOST_KEPT = 4
"""The number of cached groupings of the readers in a room."""


class View(Value):
    """The appearance of an event for a reader. Readers with equal views get the same text.

    Attributes:
        me: the reader's name if they are involved or sit at the table, else None.
        style: the reader's style for the board; full if there is no board.
        display: the reader's display.
        is_elsewhere: whether the reader is elsewhere than the board.
    """

    me: str | None
    style: Style
    display: Display
    is_elsewhere: bool = False

    @property
    def width(self) -> int:
        """Columns of the reader's screen."""
        return self.display.width


def readers_by_view(hall: Hall, delivery: Delivery, screens: Screens) -> Readers:
    """Group the recipients of a delivery by view, leaving out players without a screen.

    The groups of a room are cached: they only depend on its occupants, their terminals and which of
    them are involved.
    """
    table, occupants = delivery.table, delivery.occupants
    event = delivery.event
    involved = event.involves if isinstance(event, Aside) else _names_in(event)
    if table and not isinstance(event, Aloud):  # talk looks the same to all but the speaker
        involved.update(table.seats.values())
    if occupants is None:
        return _grouped(hall, table, delivery.recipients, involved, screens)
    # A change of any terminal replaces `edition`, which makes all cached groupings obsolete.
    known: dict[frozenset[str], Readers] | None = occupants.cache.get(screens.edition)
    if known is None:
        occupants.cache.clear()
        known = occupants.cache[screens.edition] = {}
    here = occupants.members & involved
    found = known.get(here)
    if found is None:
        if len(known) == _MOST_KEPT:
            known.clear()
        found = known[here] = _grouped(hall, table, occupants.names, here, screens)
    # Others concerned come last in the audience; they join the groups with an equal view.
    elsewhere = delivery.recipients[len(occupants.names) :]
    if not elsewhere:
        return found
    told = dict(found)
    for key, (view, names) in _grouped(hall, table, elsewhere, involved, screens).items():
        told[key] = view, (*told.get(key, (view, ()))[1], *names)
    return told


def _grouped(
    hall: Hall,
    table: Table | None,
    names: Iterable[str],
    involved: Container[str],
    screens: Screens,
) -> Readers:
    """Group readers by view.

    Args:
        hall: the hall.
        table: the table concerned, if any.
        names: names of the readers.
        involved: names of players who are involved in the event.
        screens: the terminals.
    """
    groups: dict[tuple[object, ...], tuple[View, list[str]]] = {}
    terminals, people, board = screens.terminals, hall.people, table and table.name
    for name in names:
        if name not in terminals:
            continue
        person = people.get(name)
        display = screens.display(name, person.options if person else DEFAULTS)
        me = name if name in involved else None
        style, away = Style.FULL, False
        if board:
            style = hall.style(name, board) if person else Style.BRIEF
            if person and person.private:
                away = board != person.private.table.name
                style = Style.BRIEF if away else style  # they have another board on screen
            else:
                away = person is not None and board != person.room
        if display.is_drawn_by_client:
            style = Style.BRIEF  # the board is beside the text
        key = me, style, away, id(display)  # equal displays are the same object
        group = groups.get(key)
        if group is None:
            groups[key] = View(me, style, display, away), [name]
        else:
            group[1].append(name)
    return {key: (view, tuple(readers)) for key, (view, readers) in groups.items()}


def _names_in(event: events.TableEvent | events.HallEvent) -> set[str]:
    """Return the names in an event, including players who may no longer have a seat."""
    match event:
        case events.SeekMade(player=player, to=to):
            return {player, to}
        case events.SeekEnded(player=player, seeker=seeker, to=to):
            return {player, seeker, to}
        case (
            events.Adjourned(player=player, match=saved)
            | events.Resumed(player=player, match=saved)
        ):
            return {player, saved.dwarf, saved.troll}
        case events.Interrupted():
            return set()
        case events.RoundPaired(players=players, missing=missing):
            return {*players, *missing}
        case events.TournamentEnded(players=players):
            return {event.player, *players}
        case events.TournamentLeft(player=player, by=by):
            return {player, by}
        case events.PairingBegun() | events.PairingScored():
            return {event.first, event.second}
    return {event.player}
