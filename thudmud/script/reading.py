"""Reading a transcript from text, and checking that its lines go together."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import field

from thudmud.errors import ThudmudError
from thudmud.script.transcript import NAME as VARIABLE
from thudmud.script.transcript import (
    Act,
    Capture,
    Expectation,
    Inclusion,
    Part,
    Setting,
    TranscriptError,
    TranscriptStep,
    Use,
    VariableError,
    pieces,
    steps_of,
    written,
)
from thudmud.values import Value, replace


class Transcript(Value):
    """A transcript.

    Attributes:
        parts: its steps, settings and inclusions, in order.
        config: the file of its configuration, if it has one of its own.
        after: the comments and empty lines behind the last part.
        servers: the servers that it names, each with the file of its configuration, if any.
    """

    parts: tuple[Part, ...]
    config: str | None = None
    after: Sequence[str] = ()
    servers: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def parse(
        cls, text: str, include: Include | None = None, variables: Collection[str] = ()
    ) -> Transcript:
        """Read a transcript.

        Args:
            text: the transcript.
            include: reads the files that it includes; if None, it may include none.
            variables: the names of the variables that are given values from elsewhere.

        Raises:
            TranscriptError: a line means nothing, or does not go together with the others.
        """
        reader = _Reader(include)
        reader.read(text)
        _Checker(tuple(reader.servers), variables).check(reader.parts)
        return cls(reader.parts, reader.config, tuple(reader.loose), reader.servers)

    @property
    def steps(self) -> tuple[TranscriptStep, ...]:
        """Its steps in order, with those of the files that it includes."""
        return tuple(steps_of(self.parts))

    @property
    def compared(self) -> int:
        """How many of its steps are compared with what stands below them, or wait for something."""
        return sum(bool(step.expected) or step.act is Act.WAIT for step in self.steps)

    @property
    def variables(self) -> frozenset[str]:
        """The names of all variables that it has, those of the files that it includes too."""
        return frozenset(_variables_of(self.parts))

    def written(self) -> str:
        """Return the transcript as text; parsing it gives an equal one."""
        return written(self.parts, self.after)


def _variables_of(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        texts: list[str] = []
        match part:
            case Setting(name=name, value=value):
                yield name
                texts.append(value)
            case Inclusion(parts=inner):
                yield from _variables_of(inner)
            case TranscriptStep(text=text, expected=expected):
                texts += [text, *(each.text for lines in expected.values() for each in lines)]
        for text in texts:
            yield from (each.name for each in pieces(text) if not isinstance(each, str))


class IncludeError(ThudmudError):
    """A file that cannot be included; ``str()`` says why."""


Include = Callable[[str], tuple[str, "Include"]]
"""Given what a transcript calls a file, returns its text, and what reads those that it includes in
turn. It raises `IncludeError`."""


PLAYER = re.compile(r"[A-Z][A-Za-z]{1,19}")
SERVER = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

_LINE = re.compile(rf"(?P<who>{PLAYER.pattern})(?P<sign>\.\.\.|[+\-?]|[>|~])(?: (?P<text>.*))?")
_WAIT = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,3})?s +\S.*")
_FORMS = {
    "@config": '"@config" and the name of a file',
    "@include": '"@include" and the name of a file',
    "@server": '"@server", a name, and the file of its configuration if it has one',
    "@set": '"@set", the name of a variable, and its value',
}


class _Reader:
    """Reads a file line by line, and puts its parts together."""

    def __init__(self, include: Include | None, *, included: bool = False) -> None:
        self.config: str | None = None
        self.servers: dict[str, str | None] = {}
        self.loose: list[str] = []
        self._include, self._included = include, included
        self._ended: list[Part] = []
        self._step: TranscriptStep | None = None
        self._expected: dict[str, list[Expectation]] = {}

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts so far, steps with what is seen after each."""
        return (*self._ended, *self._current())

    def read(self, text: str) -> None:
        """Read a file.

        Raises:
            TranscriptError: a line means nothing.
        """
        for number, line in enumerate(text.splitlines(), 1):
            self._read(number, line.rstrip())

    def _read(self, number: int, line: str) -> None:
        if not line or line.startswith("#"):
            self.loose.append(line)
        elif line.startswith("@"):
            self._directive(number, line)
        elif found := _LINE.fullmatch(line):
            self._player(number, found["who"], found["sign"], found["text"] or "")
        else:
            raise TranscriptError(
                number,
                f'"{line}" should begin with a name such as Anna and > | ~ ... + - or ?, or with #',
            )

    def _current(self) -> tuple[Part, ...]:
        """Return the step that is being read, if one is, with what is seen after it so far."""
        if self._step is None:
            return ()
        expected = {who: tuple(lines) for who, lines in self._expected.items()}
        return (replace(self._step, expected=expected),)

    def _end(self) -> tuple[str, ...]:
        """End the step that is being read; return the lines above the next part."""
        self._ended += self._current()
        self._step, self._expected = None, {}
        before = tuple(self.loose)
        self.loose.clear()
        return before

    def _directive(self, number: int, line: str) -> None:
        key, *words = line.split(maxsplit=2 if line.startswith(("@set", "@server")) else 1)
        if key not in _FORMS:
            raise TranscriptError(number, f'"{line}" should be one of {", ".join(_FORMS)}')
        match key, words:
            case "@config" | "@server", [name, *file] if key == "@config" or _is(SERVER, name):
                self._whole(number, key)
                self._place(number, key, name, file[0] if file else None)
                self.loose.append(line)
            case "@include", [file]:
                self._inclusion(number, file, line)
            case "@set", [name, value] if _is(VARIABLE, name):
                before = self._end()
                self._ended.append(Setting(number, name, value, line, before))
            case _:
                raise TranscriptError(number, f'"{line}" should be {_FORMS[key]}')

    def _whole(self, number: int, key: str) -> None:
        if self._included:
            raise TranscriptError(number, f'"{key}" stands in the transcript that includes this')
        begun = not all(isinstance(part, Setting) for part in self.parts)
        if begun and key == "@server":
            raise TranscriptError(number, '"@server" stands before the first step')
        if begun or (key == "@config" and self.config):
            raise TranscriptError(number, '"@config" stands once, before the first step')
        if self.config or (key == "@config" and self.servers):
            raise TranscriptError(number, "a server that is named has its configuration there")

    def _place(self, number: int, key: str, name: str, file: str | None) -> None:
        if key == "@config":
            self.config = name
        elif name in self.servers:
            raise TranscriptError(number, f'a server "{name}" is named already')
        else:
            self.servers[name] = file

    def _inclusion(self, number: int, file: str, line: str) -> None:
        if self._include is None:
            raise TranscriptError(number, f"{file}: no files can be included here")
        before = self._end()
        try:
            text, include = self._include(file)
            inner = _Reader(include, included=True)
            inner.read(text)
        except (IncludeError, TranscriptError) as error:
            raise TranscriptError(number, f"{file}: {error}") from error
        self._ended.append(Inclusion(number, file, inner.parts, line, before, tuple(inner.loose)))

    def _player(self, number: int, who: str, sign: str, text: str) -> None:
        if text and sign in {"...", Act.VANISH.value}:
            raise TranscriptError(number, f'nothing may follow "{who}{sign}"')
        if not text and sign in {"|", "~"}:
            raise TranscriptError(number, "empty lines are not compared")
        if sign == Act.WAIT.value and not _is(_WAIT, text):
            line = f"{who}? {text}".rstrip()
            right = f'should be "{who}? 5s", say, and the line that is waited for'
            raise TranscriptError(number, f'"{line}" {right}')
        if sign in {act.value for act in Act}:
            before = self._end()
            self._step = TranscriptStep(number, who, Act(sign), text, before=before)
        elif self._step is None and not self._ended:
            raise TranscriptError(number, "nothing has been done yet that could be seen")
        elif self._step is None or self.loose:
            # Comments between expectations would have no place to be kept when these are rewritten.
            raise TranscriptError(number, "what is seen stands right below the step, with no gap")
        else:
            self._expected.setdefault(who, []).append(Expectation(sign, text, number))


def _is(form: re.Pattern[str], text: str) -> bool:
    return bool(form.fullmatch(text))


class _Checker:
    """Checks the parts of a transcript, one after the other: what they use is there by then."""

    def __init__(self, servers: Collection[str], variables: Collection[str]) -> None:
        self._servers, self._variables = servers, set(variables)
        self._homes: dict[str, str] = {}

    def check(self, parts: Iterable[Part]) -> None:
        for part in parts:
            try:
                self._part(part)
            except (VariableError, _PartError) as error:
                raise TranscriptError(part.line, str(error)) from error

    def _part(self, part: Part) -> None:
        match part:
            case Setting(name=name, value=value):
                self._text(value)
                self._variables.add(name)
            case Inclusion(file=file, parts=inner):
                try:
                    self.check(inner)
                except TranscriptError as error:
                    raise _PartError(f"{file}: {error}") from error
            case TranscriptStep():
                self._step(part)

    def _step(self, step: TranscriptStep) -> None:
        match step.act:
            case Act.ENTER:
                self._enter(step.who, step.text)
            case Act.TYPE:
                self._at_home(step.who)
                self._text(step.text)
            case Act.WAIT:
                self._at_home(step.who)
                self._variables |= self._lines([step.awaited])
        for lines in step.expected.values():
            # The lines of one player are compared at once, those of the next only then.
            captured: set[str] = set()
            for each in lines:
                try:
                    captured |= self._lines([each])
                except VariableError as error:
                    raise TranscriptError(each.line, str(error)) from error
            self._variables |= captured

    def _enter(self, who: str, server: str) -> None:
        if server and not self._servers:
            raise _PartError(f'nothing may follow "{who}+" where no servers are named')
        if server and server not in self._servers:
            raise _PartError(f'no server "{server}" is named, only {", ".join(self._servers)}')
        home = self._homes.get(who)
        if home and server and home != server:
            raise _PartError(f"{who} is on {home}, and stays on one server")
        self._at_home(who, server)

    def _at_home(self, who: str, server: str = "") -> None:
        if self._servers:
            self._homes.setdefault(who, server or next(iter(self._servers)))

    def _text(self, text: str) -> None:
        self._lines([Expectation("|", text)])

    def _lines(self, lines: Iterable[Expectation]) -> set[str]:
        """Check the variables of some lines; return those that take a value there."""
        captured: set[str] = set()
        for each in lines:
            for piece in pieces(each.text):
                match piece:
                    case Use(name) if name not in self._variables:
                        raise VariableError(f"${{{name}}} has no value here")
                    case Capture(name) if each.sign != "~":
                        wrong = "takes what is seen, and stands in a line with ~ or ?"
                        raise VariableError(f"${{{name}=*}} {wrong}")
                    case Capture(name):
                        captured.add(name)
        return captured


class _PartError(ThudmudError):
    """A part that does not go together with those before it."""
