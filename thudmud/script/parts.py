"""What a transcript is made of: steps, and directives among them. Values, as they are written.

Owns how each is written. Must never play one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from thudmud.errors import ThudmudError
from thudmud.script.expectations import Expectation


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
