"""What a transcript is made of: steps, directives, variables, and patterns of what is seen.

Values only, as they are written. ``FORMAT`` tells the format to those who write transcripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from thudmud.errors import ThudmudError


@dataclass(frozen=True, slots=True)
class Pattern:
    """What lines fit, with the values of variables filled in.

    ``pieces`` stand around the wildcards, and ``takes`` names the variable that takes what is seen
    at each of these, if any. ``text`` is what people are shown of it. If ``many``, any number of
    lines fit.
    """

    text: str
    pieces: tuple[str, ...]
    takes: tuple[str | None, ...] = ()
    many: bool = False

    def fits(self, seen: str) -> bool:
        """Whether a line seen is one that was expected."""
        return self.match(seen) is not None

    def match(self, seen: str) -> Mapping[str, str] | None:
        """Return the values that variables take from a line; None if the line does not fit."""
        first, *others = self.pieces
        if not others:
            return {} if seen == first else None
        *middle, last = others
        if len(seen) < len(first) + len(last):
            return None
        if not (seen.startswith(first) and seen.endswith(last)):
            return None
        # The first place where a piece stands leaves most room for the next.
        begin, end = len(first), len(seen) - len(last)
        wild = []
        for piece in middle:
            at = seen.find(piece, begin, end)
            if at < 0:
                return None
            wild.append(seen[begin:at])
            begin = at + len(piece)
        wild.append(seen[begin:end])
        return {name: found for name, found in zip(self.takes, wild, strict=True) if name}


@dataclass(frozen=True, slots=True)
class Expectation:
    """A line, or lines, that a player sees: as they stand in the transcript, at ``line`` of it."""

    sign: str
    text: str = ""
    line: int = field(default=0, compare=False)

    @property
    def many(self) -> bool:
        """Whether any number of lines fit."""
        return self.sign == "..."

    @property
    def is_loose(self) -> bool:
        """Whether a line that fits may be written otherwise: with wildcards, or variables."""
        return self.sign == "~" or "${" in self.text

    def pattern(self, variables: Mapping[str, str]) -> Pattern:
        """Return the pattern that this comes to.

        Raises:
            VariableError: a variable has no value.
        """
        stretches: list[str] = [""]
        takes: list[str | None] = []
        for piece in pieces(self.text):
            match piece:
                case Use(name):
                    stretches[-1] += value(name, variables)  # to the letter, * included
                case Capture(name):
                    takes.append(name)
                    stretches.append("")
                case str() if self.sign == "~":
                    first, *others = piece.split("*")
                    stretches[-1] += first
                    stretches += others
                    takes += [None] * len(others)
                case str():
                    stretches[-1] += piece
        return Pattern(filled(self.text, variables), tuple(stretches), tuple(takes), self.many)

    def fits(self, seen: str) -> bool:
        """Whether a line seen is one that was expected, by somebody who uses no variables."""
        return self.pattern({}).fits(seen)

    def written(self, who: str) -> str:
        """Return the line of the transcript that says so."""
        return f"{who}{self.sign}" if self.many else f"{who}{self.sign} {self.text}".rstrip()


NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")

_MARK = re.compile(rf"\$\$\{{|\$\{{(?P<name>{NAME.pattern})(?P<takes>=\*)?\}}|(?P<bad>\$\{{)")


class VariableError(ThudmudError, ValueError):
    """A variable that is not written as they are, or that has no value."""


@dataclass(frozen=True, slots=True)
class Use:
    """A place where a variable's value stands."""

    name: str


@dataclass(frozen=True, slots=True)
class Capture:
    """A wildcard from which a variable takes its value."""

    name: str


def pieces(text: str) -> Iterator[str | Use | Capture]:
    """Yield what a text is made of.

    Raises:
        VariableError: a variable is not written as they are.
    """
    at = 0
    for mark in _MARK.finditer(text):
        if mark["bad"]:
            right = "should be ${NAME}, or ${NAME=*} to take what is seen; $${ stands for itself"
            raise VariableError(f'"{text[mark.start() :]}" {right}')
        yield text[at : mark.start()]
        at = mark.end()
        if mark["name"] is None:
            yield "${"
        else:
            yield Capture(mark["name"]) if mark["takes"] else Use(mark["name"])
    yield text[at:]


def filled(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with the values of its variables; wildcards that take one stay as they are.

    Raises:
        VariableError: a variable has no value.
    """
    return "".join(_written(each, variables) for each in pieces(text))


def value(name: str, variables: Mapping[str, str]) -> str:
    """Return a variable's value.

    Raises:
        VariableError: it has none.
    """
    if name not in variables:
        raise VariableError(f"${{{name}}} has no value")
    return variables[name]


def escaped(text: str) -> str:
    """Return what is written where a text itself is meant."""
    return text.replace("${", "$${")


def _written(piece: str | Use | Capture, variables: Mapping[str, str]) -> str:
    match piece:
        case Use(name):
            return value(name, variables)
        case Capture(name):
            return f"${{{name}=*}}"
        case str():
            return piece


class TranscriptError(ThudmudError, ValueError):
    """A transcript that cannot be read; ``line`` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(line, problem)
        self.line, self.problem = line, problem

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}"


class Act(Enum):
    """What a player does in a step."""

    ENTER = "+"
    TYPE = ">"
    VANISH = "-"
    WAIT = "?"


@dataclass(frozen=True, slots=True)
class TranscriptStep:
    """Something that a player does, and what each player then sees.

    ``line`` is where it stands, from 1; ``before`` are the lines above it that are no step. Behind
    the sign stands ``text``: what is typed, the server that is entered, or how long is waited for
    what.
    """

    line: int
    who: str
    act: Act
    text: str = ""
    expected: Mapping[str, Sequence[Expectation]] = field(default_factory=dict)
    before: Sequence[str] = ()

    @property
    def seconds(self) -> float:
        """How long the player waits, at most."""
        return float(self.text.partition(" ")[0].removesuffix("s"))

    @property
    def awaited(self) -> Expectation:
        """The line that the player waits for."""
        return Expectation("~", self.text.partition(" ")[2].lstrip())

    def written(self) -> str:
        """Return the step's own line of the transcript."""
        return f"{self.who}{self.act.value} {self.text}".rstrip()


@dataclass(frozen=True, slots=True)
class Setting:
    """A variable that is given a value; ``source`` is the line that says so."""

    line: int
    name: str
    value: str
    source: str
    before: Sequence[str] = ()

    def written(self) -> str:
        """Return its line of the transcript."""
        return self.source


@dataclass(frozen=True, slots=True)
class Inclusion:
    """The parts of another file, and what stands behind them there.

    ``source`` is the line that includes it.
    """

    line: int
    file: str
    parts: tuple[Part, ...]
    source: str
    before: Sequence[str] = ()
    after: Sequence[str] = ()

    def written(self) -> str:
        """Return its line of the transcript that includes it."""
        return self.source


Part = TranscriptStep | Setting | Inclusion


def steps_of(parts: Iterable[Part]) -> Iterator[TranscriptStep]:
    """Yield the steps in the order in which they are played, with those of included files."""
    for part in parts:
        match part:
            case TranscriptStep():
                yield part
            case Inclusion():
                yield from steps_of(part.parts)


def written(parts: Iterable[Part], after: Iterable[str]) -> str:
    """Return the text of a file: its parts, and what stands behind the last."""
    lines: list[str] = []
    for part in parts:
        lines += [*part.before, part.written()]
        if isinstance(part, TranscriptStep):
            lines += [each.written(who) for who, seen in part.expected.items() for each in seen]
    return "\n".join([*lines, *after]) + "\n"


FORMAT = """\
A transcript is text, line by line:

    # A comment, kept as it is; so are empty lines.
    # First of all the server's configuration, beside the transcript, if it
    # has one of its own:
    @config FILE
    # Anna comes in, as anyone does at their first line:
    Anna+
    # She types a line, and sees one; Bert sees one, with a wildcard.
    Anna> join game as dwarf on oak board
    Anna| You walk to the oak board.
    Bert~ Anna * to the oak board.
    # She types another. Bert sees it, and may see any number of lines more.
    Anna> say Hello!
    Anna| You say: Hello!
    Bert...
    # Her connection is lost.
    Anna-

What stands behind > is typed. What stands behind | is seen, exactly; behind ~
it is a line with wildcards, where * stands for any characters; ... is any
number of lines. What is seen stands right below the step that brought it
about, the lines of one player in their order. A step with expectations is
told whole: who is not named must see nothing. A step without any is not
compared, until --update fills it in. Empty lines are never compared, so none
are written. Names have 2 to 20 letters, the first a capital.
"""
"""The format of a plain transcript."""

MORE = """\
More, for those who test with it:

    # A variable, and what it stands for, unless --set gives it a value.
    @set greeting hello, everybody
    # Its value is typed, or seen. Where * stands in a wildcard, a variable
    # can take what is seen there.
    Anna> say ${greeting}
    Anna~ You say: ${first=*}, everybody
    Bert| Anna says: ${first}, everybody
    # The steps of another file, which is looked for beside this one.
    @include FILE
    # Anna waits, for 5 seconds at most, until she sees a line that fits.
    Anna? 5s It is your turn*

    # Several servers, named before the first step, each with a configuration
    # if it has one. A player stays on the server where they first come in:
    # the first one, if none is named.
    @server north
    @server south FILE
    Anna+ north
    Bert+ south

Names of variables have letters, digits and _, and are set or captured above
the line that uses them; $${ is written where ${ itself is meant. What is used
in a value is filled in where the @set stands.

A wait is over at once if the player has seen such a line since they last did
something, or since the last step that was compared. So a transcript with
waits can also be played in a house without a server, where nothing takes
time. The step above a wait has no expectations of its own as a rule: those
below the wait are then compared with all that both have shown. If the time
is up, the transcript ends there.

A file that is only included is best given another ending than .thud-script.
@config and @server stand in the transcript that is played. With --connect,
every server that it names needs an address: --connect north=HOST:PORT.
"""
"""The format of what goes beyond that."""
