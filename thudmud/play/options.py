"""The options: how somebody wants to see what they are shown.

How anything is drawn is not known here. An option that is ``auto`` leaves it to what is known of
the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum
from typing import Any

from thudmud.errors import InvalidValueError
from thudmud.play.command import Command
from thudmud.values import value

WIDTHS = range(20, 501)
"""The widths that a screen may be said to have, in columns."""


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
    """Something that is wanted, or not, or where the screen can show it."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class Orient(Enum):
    """The side of the board that is at the bottom: the south is row 15."""

    __hash__ = object.__hash__  # see `thudmud.rules.moves.Side`

    SOUTH = "south"
    NORTH = "north"


class Size(Enum):
    """How large boards are drawn."""

    AUTO = "auto"
    SMALL = "small"
    LARGE = "large"


class Element(Enum):
    """What is drawn in a colour of its own."""

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
    """Something that is on or off; the value is how it is typed."""

    __hash__ = object.__hash__  # see `thudmud.rules.moves.Side`

    MACHINE = "machine"
    """Whether each event is told for a program, too."""
    PROMPT = "prompt"
    """Whether there is a prompt where a line is expected."""
    BELL = "bell"
    """Whether a bell rings when it is their turn, or time that they did something."""
    SEEKS = "seeks"
    """Whether they are told of seeks and seats that wait outside the hall, too."""
    KIBITZ = "kibitz"
    """Whether they hear what others say by `kibitz` about a battle that they play or watch."""
    WHISPER = "whisper"
    """Whether they hear what is said by `whisper` where they watch."""
    WATCHERS = "watchers"
    """Whether they hear, while they play, what those say who only watch."""
    SHOUT = "shout"
    """Whether they hear what is shouted, and can shout."""
    TIMES = "times"
    """Whether they are told at what time others say something."""
    INVITATIONS = "invitations"
    """Whether others may ask them to a match or to a seat."""


class Scheme(Enum):
    """The colours that are ready to be chosen together."""

    __hash__ = object.__hash__  # see `thudmud.rules.moves.Side`

    PLAIN = "plain"
    VIVID = "vivid"
    DIM = "dim"
    SAFE = "safe"


_BRIGHTEST = 255

Shade = int | tuple[int, int, int]
"""0 to 255 of the 256 colours, of which the first 16 have names; or red, green and blue."""

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
"""The names of the first 16 colours, as ECMA-48 and its users have them."""


def _shade(shade: Shade) -> str:
    if isinstance(shade, tuple):
        return "#{:02x}{:02x}{:02x}".format(*shade)
    return SHADES[shade] if shade < len(SHADES) else str(shade)


@value
class Colour:
    """How an element looks; ``none`` where nothing is set."""

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


@value
class Options:
    """All that somebody has chosen.

    Attributes:
        charset: the characters of a board.
        colour: whether there are colours.
        width: the columns of the screen; None is what the client tells.
        orient: which side of the board is at the bottom.
        reader: whether boards are told for a screen reader.
        scheme: the ready scheme of colours.
        elements: the colours of elements that are not the scheme's.
        size: how large boards are drawn.
        on: what they have switched on, of all that is on or off.
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
        {Toggle.PROMPT, Toggle.KIBITZ, Toggle.WHISPER, Toggle.SHOUT, Toggle.INVITATIONS}
    )

    def __post_init__(self) -> None:
        if self.width is not None and self.width not in WIDTHS:
            raise InvalidValueError(
                f"a screen has {WIDTHS[0]} to {WIDTHS[-1]} columns, and not {self.width}"
            )
        if len(dict(self.elements)) != len(self.elements):
            raise InvalidValueError("an element has two colours")

    def has(self, toggle: Toggle) -> bool:
        """Whether it is on."""
        return toggle in self.on

    def chosen(self, choices: Iterable[SetOption]) -> Options:
        """Return the options after some choices."""
        options = self
        for choice in choices:
            options = choice.after(options)
        return options


@value
class Profile:
    """How a player wants things, as far as that is known before they come in.

    Attributes:
        styles: how they want to see boards, by the boards' names in any case.
        options: how they want to see everything.
        ignored: the names of those whom they do not want to hear.
        news: which edition of the news they have seen last.
        followed: the names of those whom they follow.
        plan: what they say about themselves.
    """

    styles: Mapping[str, Style] = field(default_factory=dict)
    options: Options | None = None
    ignored: tuple[str, ...] | None = None
    news: str | None = None
    followed: tuple[str, ...] | None = None
    plan: str | None = None


UNKNOWN = Profile()
"""That of somebody of whom nothing is known."""


class OptionCommand(Command):
    """What is about how somebody is shown everything."""

    __slots__ = ()


class SetOption(OptionCommand):
    """A choice of how to be shown everything."""

    __slots__ = ()
    value: Any

    def after(self, options: Options) -> Options:
        """Return the options that hold after it."""
        raise NotImplementedError
