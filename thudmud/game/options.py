"""A player's options: display preferences and switches.

`thudmud.views` does the drawing. The value ``auto`` depends on the client's capabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from msgspec import field

from thudmud.errors import InvalidValueError
from thudmud.values import Value

WIDTHS = range(20, 501)
"""The valid screen widths, in columns."""
HEIGHTS = range(5, 501)
"""The heights of screens, in rows, at which long texts can stop."""


class Charset(Enum):
    """The character set for drawing boards."""

    AUTO = "auto"
    ASCII = "ascii"
    UTF_8 = "utf-8"


class Style(Enum):
    """The form in which a board is shown after a move: a drawing, or one status line."""

    __hash__ = object.__hash__  # see `thudmud.rules.moves.Side`

    FULL = "full"
    BRIEF = "brief"


class Switch(Enum):
    """On, off, or depending on the client."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class Orient(Enum):
    """The side of the board at the bottom. South is row 15."""

    __hash__ = object.__hash__  # see `thudmud.rules.moves.Side`

    SOUTH = "south"
    NORTH = "north"


class Size(Enum):
    """The size of drawn boards."""

    AUTO = "auto"
    SMALL = "small"
    LARGE = "large"


class Element(Enum):
    """A part of a board with its own colour."""

    DWARF = "dwarf"
    TROLL = "troll"
    STONE = "stone"
    ROCK = "rock"
    SQUARES = "squares"
    LAST_MOVE = "last move"
    CAPTURED = "captured"
    COORDINATES = "coordinates"
    TURN = "turn"


class Toggle(Enum):
    """An option that is on or off. The value is the word that players type."""

    __hash__ = object.__hash__  # see `thudmud.rules.moves.Side`

    MACHINE = "machine"
    """Lines for programs after each event."""
    PROMPT = "prompt"
    """A prompt where a line is expected."""
    BELL = "bell"
    """A bell at the player's turn, when their game begins, or when time is short."""
    SEEKS = "seeks"
    """News of seeks and free seats outside the hall, too."""
    KIBITZ = "kibitz"
    """Kibitzes about battles that the player plays or observes."""
    WHISPER = "whisper"
    """Whispers at boards that the player observes."""
    WATCHERS = "watchers"
    """Talk of observers while the player is playing."""
    SHOUT = "shout"
    """Shouts; while off, the player can't shout either."""
    TIMES = "times"
    """The time in front of other players' talk."""
    INVITATIONS = "invitations"
    """Invitations to matches and seats."""
    RESULTS = "results"
    """In the hall, results of other players' rated matches and of tournaments."""


class Scheme(Enum):
    """A predefined colour scheme."""

    __hash__ = object.__hash__  # see `thudmud.rules.moves.Side`

    PLAIN = "plain"
    VIVID = "vivid"
    DIM = "dim"
    SAFE = "safe"


_BRIGHTEST = 255

Shade = int | tuple[int, int, int]
"""A colour: an index from 0 to 255 into xterm's palette, or red, green and blue, each 0 to 255."""

SHADES = (
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    *(
        f"bright {name}"
        for name in ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
    ),
)
"""The usual names of the first 16 colours of the palette."""


def _shade(shade: Shade) -> str:
    if isinstance(shade, tuple):
        return "#{:02x}{:02x}{:02x}".format(*shade)
    return SHADES[shade] if shade < len(SHADES) else str(shade)


class Colour(Value):
    """The colours and weight of an element. ``str()`` is "none" if nothing is set."""

    foreground: Shade | None = None
    background: Shade | None = None
    bold: bool = False

    def __post_init__(self) -> None:
        for shade in (self.foreground, self.background):
            parts = shade if isinstance(shade, tuple) else (shade or 0,) * 3
            if len(parts) != 3 or not all(0 <= part <= _BRIGHTEST for part in parts):
                raise InvalidValueError(f"invalid colour: {shade}")

    def __str__(self) -> str:
        words = ["bold"] if self.bold else []
        if self.foreground is not None:
            words.append(_shade(self.foreground))
        if self.background is not None:
            words.append(f"on {_shade(self.background)}")
        return " ".join(words) or "none"


class Options(Value):
    """All options of a player.

    Attributes:
        charset: the character set for drawing boards.
        colour: whether to use colours.
        width: the screen width in columns; None for the width that the client reports.
        orient: the side of the board at the bottom.
        reader: whether to describe boards for a screen reader.
        scheme: the colour scheme.
        elements: the player's own colours, overriding the scheme.
        size: the size of drawn boards.
        on: the toggles that are on.
        rows: the screen height in rows, at which long texts stop; None for the height that the
            client reports, 0 for texts that never stop.
    """

    charset: Charset = Charset.AUTO
    colour: Switch = Switch.AUTO
    width: int | None = None
    orient: Orient = Orient.SOUTH
    reader: Switch = Switch.AUTO
    scheme: Scheme = Scheme.PLAIN
    elements: tuple[tuple[Element, Colour], ...] = ()
    size: Size = Size.AUTO
    on: frozenset[Toggle] = frozenset(
        {
            Toggle.PROMPT,
            Toggle.KIBITZ,
            Toggle.WHISPER,
            Toggle.SHOUT,
            Toggle.INVITATIONS,
            Toggle.RESULTS,
        }
    )
    rows: int | None = None

    def __post_init__(self) -> None:
        if self.width is not None and self.width not in WIDTHS:
            raise InvalidValueError(
                f"expected {WIDTHS[0]} to {WIDTHS[-1]} columns, got {self.width}"
            )
        if self.rows and self.rows not in HEIGHTS:
            raise InvalidValueError(
                f"expected {HEIGHTS[0]} to {HEIGHTS[-1]} rows, or 0, got {self.rows}"
            )
        if len(dict(self.elements)) != len(self.elements):
            raise InvalidValueError(f"expected one colour for each element, got {self.elements}")

    def has(self, toggle: Toggle) -> bool:
        """Whether a toggle is on."""
        return toggle in self.on

    def with_choices(self, choices: Iterable[SetOption]) -> Options:
        """Return the options after some choices."""
        options = self
        for choice in choices:
            options = choice.apply_to(options)
        return options


class Profile(Value):
    """The known preferences of a player at login; None for any that are unknown.

    Attributes:
        styles: the chosen styles, by case-insensitive board name.
        options: the options.
        ignored: the names of ignored players.
        news: the edition of the news last seen.
        followed: the names of followed players.
        plan: the player's description of themselves.
    """

    styles: Mapping[str, Style] = field(default_factory=dict)
    options: Options | None = None
    ignored: tuple[str, ...] | None = None
    news: str | None = None
    followed: tuple[str, ...] | None = None
    plan: str | None = None


UNKNOWN = Profile()
"""The profile of a player without known preferences."""


class SetOption:
    """A change of an option."""

    __slots__ = ()
    value: Any

    @property
    def subject(self) -> object:
        """The option chosen: of two choices with the same subject, the later one wins."""
        return type(self)

    def apply_to(self, options: Options) -> Options:
        """Return the options after the change."""
        raise NotImplementedError
