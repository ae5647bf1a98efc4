"""What a transcript is made of: steps, directives, variables, and patterns of what is seen.

``FORMAT`` and ``MORE``, at the end, describe the format to those who write transcripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from thudmud.errors import ThudmudError


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a line seen has to look like, with the values of variables filled in.

    Attributes:
        text: the pattern as people are shown it.
        pieces: what stands around the wildcards.
        takes: for each wildcard, the variable that takes what is seen there, if any.
        many: whether any number of lines fit, whatever is in them.
    """

    text: str
    pieces: tuple[str, ...]
    takes: tuple[str | None, ...] = ()
    many: bool = False

    def fits(self, seen: str) -> bool:
        """Whether a line that was seen fits."""
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
    """A line that a player should see, or any number of them, as the transcript says."""

    sign: str
    text: str = ""
    line: int = field(default=0, compare=False)

    @property
    def many(self) -> bool:
        """Whether any number of lines fit."""
        return self.sign == "..."

    @property
    def is_loose(self) -> bool:
        """Whether lines that differ from the text can fit: it has wildcards or variables."""
        return self.sign == "~" or "${" in self.text

    def pattern(self, variables: Mapping[str, str]) -> Pattern:
        """Return the pattern that this makes; VariableError if a variable has no value."""
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

    def written(self, who: str) -> str:
        """Return the expectation as a line of the transcript."""
        return f"{who}{self.sign}" if self.many else f"{who}{self.sign} {self.text}".rstrip()


NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")

_MARK = re.compile(rf"\$\$\{{|\$\{{(?P<name>{NAME.pattern})(?P<takes>=\*)?\}}|(?P<bad>\$\{{)")


class VariableError(ThudmudError, ValueError):
    """A variable that is written wrongly, or has no value."""


@dataclass(frozen=True, slots=True)
class Use:
    """A place where a variable's value stands."""

    name: str


@dataclass(frozen=True, slots=True)
class Capture:
    """A wildcard from which a variable takes its value."""

    name: str


def pieces(text: str) -> Iterator[str | Use | Capture]:
    """Yield the pieces of a text: plain text, uses of variables, and captures.

    Raises:
        VariableError: a variable is written wrongly.
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
    """Return a variable's value; VariableError if it has none."""
    if name not in variables:
        raise VariableError(f"${{{name}}} has no value")
    return variables[name]


def escaped(text: str) -> str:
    """Return a text written so that nothing in it is taken for a variable."""
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

    Attributes:
        line: its line in the file, from 1.
        who: the player.
        act: what they do.
        text: what comes after the sign: what is typed, the server that is entered, or how long
            the player waits for what.
        expected: what each player should see.
        before: the comments and empty lines above it.
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
    """The parts of another file; ``after`` are the comments and empty lines at its end.

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
    """Return the text of a file: its parts, and the lines after the last."""
    lines: list[str] = []
    for part in parts:
        lines += [*part.before, part.written()]
        if isinstance(part, TranscriptStep):
            lines += [each.written(who) for who, seen in part.expected.items() for each in seen]
    return "\n".join([*lines, *after]) + "\n"


FORMAT = """\
A transcript is text, line by line:

    # A comment, kept as it is; so are empty lines.
    # The server's configuration comes first, if it has one of its own. The
    # file is looked for beside the transcript:
    @config FILE
    # Anna comes in. (So does anyone who types a line for the first time.)
    Anna+
    # She types a line, and sees one; Bert sees one, with a wildcard.
    Anna> join game as dwarf on oak board
    Anna| You walk to the oak board.
    Bert~ Anna * to the oak board.
    # She types another. Bert sees any number of lines.
    Anna> say Hello!
    Anna| You say: Hello!
    Bert...
    # Her connection is cut.
    Anna-

What comes after > is typed. What comes after | is seen, to the letter. After
~ comes a line with wildcards, where * stands for any characters. And ... is
any number of lines. What is seen stands right below the step that causes it,
the lines of each player in their order. If a step has any expectations it has
to have all: players who are not named must see nothing. A step without any is
not compared; --update fills it in. Empty lines are never compared, so leave
them out. Names have 2 to 20 letters, the first a capital.
"""
"""The format of a plain transcript, for people."""

MORE = """\
More, for those who write tests:

    # A variable and its value, unless --set gives it another.
    @set greeting hello, everybody
    # The value can be typed, and seen. In a line with wildcards a variable
    # can also take what is seen in the place of a *.
    Anna> say ${greeting}
    Anna~ You say: ${first=*}, everybody
    Bert| Anna says: ${first}, everybody
    # The steps of another file, which is looked for beside this one.
    @include FILE
    # Anna waits until she sees a line that fits, but at most 5 seconds.
    Anna? 5s It is your turn*

    # Several servers, named before the first step, each with the file of its
    # configuration if it has one. Players stay on the server that they come
    # in on: the first of all, if they name none.
    @server north
    @server south FILE
    Anna+ north
    Bert+ south

The name of a variable is made of letters, digits and _. It gets its value
above the line that uses it. Write $${ where ${ itself is meant. Variables in
the value of an @set are filled in there and then.

A wait is over at once if the player has seen such a line since they last did
something, or since the last step that was compared. So a transcript with
waits can also be played without a server, where nothing takes time. Leave the
step above a wait without expectations: those below the wait are then compared
with all that both of them have shown. When the time is up, the transcript
ends there.

Give a file that is only there to be included another ending than
.thud-script. @config and @server belong in the transcript that is played.
With --connect, every server that it names needs an address, such as
--connect north=HOST:PORT.
"""
"""The rest of the format."""
