"""Options: how a player wants to see things.

Drawing is up to `thudmud.views`. ``auto`` leaves an option to what is known of the client.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from msgspec import field

from thudmud.errors import InvalidValueError
from thudmud.values import Value

WIDTHS = range(20, 501)
"""The widths of screens that can be chosen, in columns."""


class Charset(Enum):
    """The characters that boards are drawn with."""

    AUTO = "auto"
    ASCII = "ascii"
    UTF_8 = "utf-8"


class Style(Enum):
    """How a board is shown after a move: drawn whole, or told in one status line."""

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
    """How large boards are drawn."""

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
    """An option that is on or off. The value is how it is typed."""

    __hash__ = object.__hash__  # see `thudmud.rules.moves.Side`

    MACHINE = "machine"
    """Lines for programs after each event."""
    PROMPT = "prompt"
    """A prompt where a line is expected."""
    BELL = "bell"
    """A bell at the player's turn, when their game begins, or when time is short."""
    SEEKS = "seeks"
    """Seeks and free seats are told outside the hall as well."""
    KIBITZ = "kibitz"
    """Kibitzes about battles that the player plays or watches are heard."""
    WHISPER = "whisper"
    """Whispers at boards that the player watches are heard."""
    WATCHERS = "watchers"
    """While playing, what observers say is heard."""
    SHOUT = "shout"
    """Shouts are heard, and the player can shout."""
    TIMES = "times"
    """What others say is shown with the time."""
    INVITATIONS = "invitations"
    """Others can invite the player to matches and seats."""
    RESULTS = "results"
    """Results of rated matches and of tournaments between others are told in the hall."""


class Scheme(Enum):
    """Ready-made schemes of colours."""

    __hash__ = object.__hash__  # see `thudmud.rules.moves.Side`

    PLAIN = "plain"
    VIVID = "vivid"
    DIM = "dim"
    SAFE = "safe"


_BRIGHTEST = 255

Shade = int | tuple[int, int, int]
"""A colour: a number from 0 to 255, of which the first 16 have names, or red, green and blue."""

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
"""The usual names of the first 16 colours."""


def _shade(shade: Shade) -> str:
    if isinstance(shade, tuple):
        return "#{:02x}{:02x}{:02x}".format(*shade)
    return SHADES[shade] if shade < len(SHADES) else str(shade)


class Colour(Value):
    """How an element looks. ``str()`` is "none" if nothing is set."""

    foreground: Shade | None = None
    background: Shade | None = None
    bold: bool = False

    def __post_init__(self) -> None:
        for shade in (self.foreground, self.background):
            parts = shade if isinstance(shade, tuple) else (shade or 0,) * 3
            if len(parts) != 3 or not all(0 <= part <= _BRIGHTEST for part in parts):
                raise InvalidValueError(f"no colour is {shade}")

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
        charset: the characters of a board.
        colour: whether there are colours.
        width: the columns of the screen; None for what the client says.
        orient: which side of the board is at the bottom.
        reader: whether boards are described for a screen reader.
        scheme: the scheme of colours.
        elements: the player's own colours, which differ from the scheme.
        size: how large boards are drawn.
        on: the toggles that are on.
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

    def __post_init__(self) -> None:
        if self.width is not None and self.width not in WIDTHS:
            raise InvalidValueError(
                f"a screen has {WIDTHS[0]} to {WIDTHS[-1]} columns, and not {self.width}"
            )
        if len(dict(self.elements)) != len(self.elements):
            raise InvalidValueError("an element has two colours")

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
    """The preferences of a player who comes in, as far as known.

    Attributes:
        styles: the styles they chose, by the boards' names in any case.
        options: their options.
        ignored: the names of those they ignore.
        news: the edition of the news they last saw.
        followed: the names of those they follow.
        plan: what they say about themselves.
    """

    styles: Mapping[str, Style] = field(default_factory=dict)
    options: Options | None = None
    ignored: tuple[str, ...] | None = None
    news: str | None = None
    followed: tuple[str, ...] | None = None
    plan: str | None = None


UNKNOWN = Profile()
"""The profile of a player of whom nothing is known."""


class SetOption:
    """A choice of an option."""

    __slots__ = ()
    value: Any

    @property
    def subject(self) -> object:
        """What is chosen: of two choices with one subject, only the later has an effect."""
        return type(self)

    def apply_to(self, options: Options) -> Options:
        """Return the options after it."""
        raise NotImplementedError
