"""The format of transcripts, read and written.

Owns what a line of a transcript means. Must never play one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

NAME = re.compile(r"[A-Z][A-Za-z]{1,19}")
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
"""The format, for those who write transcripts."""

_LINE = re.compile(rf"(?P<who>{NAME.pattern})(?P<sign>\.\.\.|[+\-]|[>|~])(?: (?P<text>.*))?")


class TranscriptError(ValueError):
    """A transcript that cannot be read; ``line`` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        self.line = line
        super().__init__(f"line {line}: {problem}")


class Act(Enum):
    """What a player does in a step."""

    ENTER = "+"
    TYPE = ">"
    VANISH = "-"


@dataclass(frozen=True, slots=True)
class Expectation:
    """A line, or lines, that a player sees: as they stand in the transcript."""

    sign: str
    text: str = ""

    @property
    def many(self) -> bool:
        """Whether any number of lines fit."""
        return self.sign == "..."

    def fits(self, seen: str) -> bool:
        """Whether a line seen is one that was expected."""
        first, *others = self.text.split("*") if self.sign == "~" else [self.text]
        if not others:
            return seen == first
        *middle, last = others
        if len(seen) < len(first) + len(last):
            return False
        if not (seen.startswith(first) and seen.endswith(last)):
            return False
        # The first place where a piece stands leaves most room for the next.
        at, end = len(first), len(seen) - len(last)
        for piece in middle:
            at = seen.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True

    def written(self, who: str) -> str:
        """Return the line of the transcript that says so."""
        return f"{who}{self.sign}" if self.many else f"{who}{self.sign} {self.text}".rstrip()


@dataclass(frozen=True, slots=True)
class Step:
    """Something that a player does, and what each player then sees.

    ``line`` is where it stands, from 1; ``before`` are the lines above it that are no step.
    """

    line: int
    who: str
    act: Act
    text: str = ""
    expected: Mapping[str, Sequence[Expectation]] = field(default_factory=dict)
    before: Sequence[str] = ()

    def written(self) -> str:
        """Return the step's own line of the transcript."""
        return f"{self.who}{self.act.value} {self.text}".rstrip()


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript: its steps, the file of its configuration if any, and what stands behind."""

    steps: tuple[Step, ...]
    config: str | None = None
    after: Sequence[str] = ()

    @classmethod
    def parse(cls, text: str) -> Transcript:
        """Read a transcript.

        Raises:
            TranscriptError: a line means nothing.
        """
        reader = _Reader()
        for number, line in enumerate(text.splitlines(), 1):
            reader.read(number, line.rstrip())
        return cls(reader.steps, reader.config, tuple(reader.loose))

    def written(self) -> str:
        """Return the transcript as text; parsing it gives an equal one."""
        lines: list[str] = []
        for step in self.steps:
            lines += [*step.before, step.written(), *_expectations(step.expected)]
        return "\n".join([*lines, *self.after]) + "\n"


class _Reader:
    """Puts steps together, line by line."""

    def __init__(self) -> None:
        self.config: str | None = None
        self.loose: list[str] = []
        self._ended: list[Step] = []
        self._step: Step | None = None
        self._expected: dict[str, list[Expectation]] = {}

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps so far, with what is seen after each."""
        return (*self._ended, *self._current())

    def read(self, number: int, line: str) -> None:
        if not line or line.startswith("#"):
            self.loose.append(line)
        elif line.startswith("@"):
            self._setting(number, line)
        elif found := _LINE.fullmatch(line):
            self._player(number, found["who"], found["sign"], found["text"] or "")
        else:
            raise TranscriptError(
                number,
                f'"{line}" should begin with a name such as Anna and > | ~ ... + or -, or with #',
            )

    def _current(self) -> tuple[Step, ...]:
        """Return the step that is being read, if one is, with what is seen after it so far."""
        if self._step is None:
            return ()
        expected = {who: tuple(lines) for who, lines in self._expected.items()}
        return (replace(self._step, expected=expected),)

    def _setting(self, number: int, line: str) -> None:
        key, _, value = line.partition(" ")
        if key != "@config" or not value:
            raise TranscriptError(number, f'"{line}" should be "@config" and the name of a file')
        if self._step or self.config:
            raise TranscriptError(number, '"@config" stands once, before the first step')
        self.config = value
        self.loose.append(line)

    def _player(self, number: int, who: str, sign: str, text: str) -> None:
        if text and sign in {"...", Act.ENTER.value, Act.VANISH.value}:
            raise TranscriptError(number, f'nothing stands behind "{who}{sign}"')
        if not text and sign in {"|", "~"}:
            raise TranscriptError(number, "empty lines are not compared")
        if sign in {act.value for act in Act}:
            self._ended += self._current()
            self._expected = {}
            self._step = Step(number, who, Act(sign), text, before=tuple(self.loose))
            self.loose.clear()
        elif self._step is None:
            raise TranscriptError(number, "nothing has been done yet that could be seen")
        elif self.loose:
            # Comments between expectations would have no place to be kept when these are rewritten.
            raise TranscriptError(number, "what is seen stands right below the step, with no gap")
        else:
            self._expected.setdefault(who, []).append(Expectation(sign, text))


def _expectations(expected: Mapping[str, Iterable[Expectation]]) -> list[str]:
    return [each.written(who) for who, lines in expected.items() for each in lines]
