"""The parts of a transcript: steps, directives, variables, and patterns of expected output.

``FORMAT`` and ``MORE``, at the end, document the format for authors of transcripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from thudmud.errors import ThudmudError
from thudmud.immutable import immutable


@immutable
@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern for one line of output, with the values of variables substituted.

    Attributes:
        text: the pattern as shown to people.
        pieces: the literal strings before, between and after the wildcards.
        captures: for each wildcard, the variable that captures the text there, or None.
        accepts_many_lines: whether the pattern matches any number of arbitrary lines.
    """

    text: str
    pieces: tuple[str, ...]
    captures: tuple[str | None, ...] = ()
    accepts_many_lines: bool = False

    def is_match(self, seen: str) -> bool:
        """Whether a line of output matches the pattern."""
        return self.match(seen) is not None

    def match(self, seen: str) -> Mapping[str, str] | None:
        """Match a line; return the captured variables, or None if the line doesn't match."""
        first, *others = self.pieces
        if not others:
            return {} if seen == first else None
        *middle, last = others
        if len(seen) < len(first) + len(last):
            return None
        if not (seen.startswith(first) and seen.endswith(last)):
            return None
        # Greedy is enough, without backtracking: the leftmost occurrence of a piece leaves the most
        # text for the pieces after it.
        begin, end = len(first), len(seen) - len(last)
        wild = []
        for piece in middle:
            at = seen.find(piece, begin, end)
            if at < 0:
                return None
            wild.append(seen[begin:at])
            begin = at + len(piece)
        wild.append(seen[begin:end])
        return {name: found for name, found in zip(self.captures, wild, strict=True) if name}


@immutable
@dataclass(frozen=True, slots=True)
class Expectation:
    """A line of expected output, as written in the transcript.

    Attributes:
        sign: ``|`` for literal text, ``~`` for wildcards, ``...`` for any number of lines.
        text: the text after the sign.
        line: the number of the line in the file, from 1; 0 for an expectation that isn't in a file.
    """

    sign: str
    text: str = ""
    line: int = field(default=0, compare=False)

    @property
    def accepts_many_lines(self) -> bool:
        """Whether any number of lines match."""
        return self.sign == "..."

    @property
    def is_loose(self) -> bool:
        """Whether other lines than the text itself can match, because of wildcards or variables."""
        return self.sign == "~" or "${" in self.text

    def pattern(self, variables: Mapping[str, str]) -> Pattern:
        """Compile the pattern with the values of variables.

        Raises:
            VariableError: a variable has no value.
        """
        stretches: list[str] = [""]
        takes: list[str | None] = []
        for piece in pieces(self.text):
            match piece:
                case Use(name):
                    stretches[-1] += value(name, variables)  # literally: a * in it isn't a wildcard
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
        return Pattern(
            substitute(self.text, variables),
            tuple(stretches),
            tuple(takes),
            self.accepts_many_lines,
        )

    def written(self, who: str) -> str:
        """Format the expectation as a line of the transcript."""
        return (
            f"{who}{self.sign}"
            if self.accepts_many_lines
            else f"{who}{self.sign} {self.text}".rstrip()
        )


NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")

_MARK = re.compile(rf"\$\$\{{|\$\{{(?P<name>{NAME.pattern})(?P<takes>=\*)?\}}|(?P<bad>\$\{{)")


class VariableError(ThudmudError, ValueError):
    """Raised for a malformed variable, or one without a value."""


@immutable
@dataclass(frozen=True, slots=True)
class Use:
    """A use of a variable, ``${NAME}``, which is replaced by its value."""

    name: str


@immutable
@dataclass(frozen=True, slots=True)
class Capture:
    """A wildcard, ``${NAME=*}``, whose match becomes the value of a variable."""

    name: str


def pieces(text: str) -> Iterator[str | Use | Capture]:
    """Split a text into plain text, uses of variables, and captures.

    Raises:
        VariableError: a variable is malformed.
    """
    at = 0
    for mark in _MARK.finditer(text):
        if mark["bad"]:
            right = "expected ${NAME}, ${NAME=*} to capture text, or $${ for a literal ${"
            raise VariableError(f'{right}, got "{text[mark.start() :]}"')
        yield text[at : mark.start()]
        at = mark.end()
        if mark["name"] is None:
            yield "${"
        else:
            yield Capture(mark["name"]) if mark["takes"] else Use(mark["name"])
    yield text[at:]


def substitute(text: str, variables: Mapping[str, str]) -> str:
    """Substitute the values of variables in a string; captures stay as written.

    Raises:
        VariableError: a variable is malformed or has no value.
    """
    return "".join(_written(each, variables) for each in pieces(text))


def value(name: str, variables: Mapping[str, str]) -> str:
    """Return a variable's value; raise VariableError if there is none."""
    if name not in variables:
        raise VariableError(f"${{{name}}} has no value")
    return variables[name]


def escaped(text: str) -> str:
    """Escape a string so that no part of it is read as a variable."""
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
    """Raised for a transcript that can't be parsed.

    Attributes:
        line: the number of the faulty line, from 1.
        problem: the description of the error.
    """

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(line, problem)
        self.line, self.problem = line, problem

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}"


class Act(Enum):
    """The kinds of steps. The values are the signs after the player's name."""

    ENTER = "+"
    TYPE = ">"
    VANISH = "-"
    WAIT = "?"


@immutable
@dataclass(frozen=True, slots=True)
class TranscriptStep:
    """An action of a player, and the expected output.

    Attributes:
        line: the number of the step's line in the file, from 1.
        who: the player.
        act: the kind of action.
        text: the text after the sign: the input, the server to enter, or the duration of a wait
            and the awaited line.
        expected: the expected output, by player.
        before: the comments and empty lines above the step.
    """

    line: int
    who: str
    act: Act
    text: str = ""
    expected: Mapping[str, Sequence[Expectation]] = field(default_factory=dict)
    before: Sequence[str] = ()

    @property
    def seconds(self) -> float:
        """The timeout of a wait, in seconds."""
        return float(self.text.partition(" ")[0].removesuffix("s"))

    @property
    def awaited(self) -> Expectation:
        """The line that a wait waits for."""
        return Expectation("~", self.text.partition(" ")[2].lstrip())

    def written(self) -> str:
        """Format the step as a line of the transcript, without the expectations."""
        return f"{self.who}{self.act.value} {self.text}".rstrip()


@immutable
@dataclass(frozen=True, slots=True)
class Setting:
    """An ``@set``: the value of a variable. ``source`` is the line as written."""

    line: int
    name: str
    value: str
    source: str
    before: Sequence[str] = ()

    def written(self) -> str:
        """Return the line of the transcript."""
        return self.source


@immutable
@dataclass(frozen=True, slots=True)
class Inclusion:
    """An ``@include``: the parts of another file.

    Attributes:
        line: the number of the line, from 1.
        file: the name of the included file.
        parts: the parts of the included file.
        source: the line as written.
        before: the comments and empty lines above the line.
        after: the comments and empty lines at the end of the included file.
    """

    line: int
    file: str
    parts: tuple[Part, ...]
    source: str
    before: Sequence[str] = ()
    after: Sequence[str] = ()

    def written(self) -> str:
        """Return the line of the including transcript."""
        return self.source


Part = TranscriptStep | Setting | Inclusion


def steps_of(parts: Iterable[Part]) -> Iterator[TranscriptStep]:
    """Yield all steps in playing order, including those of included files."""
    for part in parts:
        match part:
            case TranscriptStep():
                yield part
            case Inclusion():
                yield from steps_of(part.parts)


def written(parts: Iterable[Part], after: Iterable[str]) -> str:
    """Format the text of a file: the parts, and the lines after the last part."""
    lines: list[str] = []
    for part in parts:
        lines += [*part.before, part.written()]
        if isinstance(part, TranscriptStep):
            lines += [each.written(who) for who, seen in part.expected.items() for each in seen]
    return "\n".join([*lines, *after]) + "\n"


FORMAT = """\
A transcript is text, line by line:

    # A comment. Comments and empty lines are kept by --update.
    # The server's configuration comes first, if the transcript needs one. The
    # path is relative to the transcript:
    @config FILE
    # Anna comes in. (So does anybody who types a line without it.)
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

">" begins typed text, and "|" expected output, to the letter. "~" begins
expected output with wildcards: * stands for any characters. "..." stands for
any number of lines. Expected output follows the step that causes it, the lines
of each player in their order. A step with any expectations must list all of
them: the other players must see nothing. A step without any is not compared;
--update fills it in. Empty lines are never compared, so leave them out. Names
have 2 to 20 letters, the first a capital.
"""
"""The basic format of transcripts, as help text."""

MORE = """\
For tests, there are also variables, included files, waits and servers:

    # A variable and its value, unless --set gives it another.
    @set greeting hello, everybody
    # The value can be typed, and expected. In a line with wildcards a variable
    # can also capture the text at a *.
    Anna> say ${greeting}
    Anna~ You say: ${first=*}, everybody
    Bert| Anna says: ${first}, everybody
    # The steps of another file. The path is relative to this file.
    @include FILE
    # Anna waits until she sees a matching line, but at most 5 seconds.
    Anna? 5s It is your turn*

    # Several servers, named before the first step, each with its configuration
    # file if it has one. Players stay on the server where they come in; the
    # first one is the default.
    @server north
    @server south FILE
    Anna+ north
    Bert+ south

The name of a variable consists of letters, digits and _. The value must be set
above the line that uses it. Write $${ for a literal ${. Variables in the value
of an @set are substituted at once.

A wait ends at once if the player has seen such a line since their last action,
or since the last step that was compared. So transcripts with waits also work
without a server, where nothing takes time. Give the step above a wait no
expectations: those below the wait are compared with all output of both. If the
time runs out, the transcript ends there.

Give a file that is only for inclusion another extension than .thud-script.
@config and @server belong in the main transcript. With --connect, each server
that it names needs an address, such as --connect north=HOST:PORT.
"""
"""The advanced format of transcripts, as help text."""
