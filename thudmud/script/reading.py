"""Parses transcripts, and checks that servers and variables are defined before their use."""

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
    """A parsed transcript.

    Attributes:
        parts: the steps, settings and inclusions, in order.
        config: the configuration file named by ``@config``; None without one.
        after: the comments and empty lines after the last part.
        servers: the configuration files of the servers named by ``@server``, by the servers' names;
            None for a server without one.
    """

    parts: tuple[Part, ...]
    config: str | None = None
    after: Sequence[str] = ()
    servers: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def parse(
        cls, text: str, include: Include | None = None, variables: Collection[str] = ()
    ) -> Transcript:
        """Parse a transcript.

        Args:
            text: the transcript.
            include: the loader for included files; None forbids ``@include``.
            variables: the names of variables whose values come from outside the transcript.

        Raises:
            TranscriptError: a line is malformed, or inconsistent with the lines above it.
        """
        reader = _Reader(include)
        reader.read(text)
        _Checker(tuple(reader.servers), variables).check(reader.parts)
        return cls(reader.parts, reader.config, tuple(reader.loose), reader.servers)

    @property
    def steps(self) -> tuple[TranscriptStep, ...]:
        """All steps in order, including those of included files."""
        return tuple(steps_of(self.parts))

    @property
    def compared(self) -> int:
        """The number of steps that check anything: those with expectations, and waits."""
        return sum(bool(step.expected) or step.act is Act.WAIT for step in self.steps)

    @property
    def variables(self) -> frozenset[str]:
        """The names of all variables, including those in included files."""
        return frozenset(_variables_of(self.parts))

    def written(self) -> str:
        """Format the transcript as text, which parses to an equal transcript."""
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
    """Raised by an `Include` for a file that can't be included; ``str()`` is the reason."""


Include = Callable[[str], tuple[str, "Include"]]
"""A loader of included files. It takes the name in an ``@include``, and returns the file's text and
the loader for nested inclusions. Raises `IncludeError`."""


PLAYER = re.compile(r"[A-Z][A-Za-z]{1,19}")
SERVER = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

_LINE = re.compile(rf"(?P<who>{PLAYER.pattern})(?P<sign>\.\.\.|[+\-?]|[>|~])(?: (?P<text>.*))?")
_WAIT = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,3})?s +\S.*")
_FORMS = {
    "@config": '"@config" and a file name',
    "@include": '"@include" and a file name',
    "@server": '"@server", a name, and optionally the file of its configuration',
    "@set": '"@set", a variable name, and its value',
}


class _Reader:
    """Parses one file line by line into parts."""

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
        """The parts so far, steps with their expectations."""
        return (*self._ended, *self._current())

    def read(self, text: str) -> None:
        """Parse the text of a file; a byte order mark at its beginning is skipped.

        Raises:
            TranscriptError: a line is malformed.
        """
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
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
                "expected a name such as Anna and > | ~ ... + - or ?, or a comment with #, "
                f'got "{line}"',
            )

    def _current(self) -> tuple[Part, ...]:
        """Return the unfinished step with its expectations so far, or nothing."""
        if self._step is None:
            return ()
        expected = {who: tuple(lines) for who, lines in self._expected.items()}
        return (replace(self._step, expected=expected),)

    def _end(self) -> tuple[str, ...]:
        """Finish the current step; return the comments and empty lines above the next part."""
        self._ended += self._current()
        self._step, self._expected = None, {}
        before = tuple(self.loose)
        self.loose.clear()
        return before

    def _directive(self, number: int, line: str) -> None:
        key, *words = line.split(maxsplit=2 if line.startswith(("@set", "@server")) else 1)
        if key not in _FORMS:
            raise TranscriptError(number, f'expected one of {", ".join(_FORMS)}, got "{line}"')
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
                raise TranscriptError(number, f'expected {_FORMS[key]}, got "{line}"')

    def _whole(self, number: int, key: str) -> None:
        if self._included:
            raise TranscriptError(
                number, f'"{key}" belongs in the main transcript, not in an included file'
            )
        begun = not all(isinstance(part, Setting) for part in self.parts)
        if begun and key == "@server":
            raise TranscriptError(number, '"@server" must come before the first step')
        if begun or (key == "@config" and self.config):
            raise TranscriptError(number, '"@config" must come once, before the first step')
        if self.config or (key == "@config" and self.servers):
            raise TranscriptError(number, 'with "@server", name the configuration there')

    def _place(self, number: int, key: str, name: str, file: str | None) -> None:
        if key == "@config":
            self.config = name
        elif name in self.servers:
            raise TranscriptError(number, f'the server "{name}" is already defined')
        else:
            self.servers[name] = file

    def _inclusion(self, number: int, file: str, line: str) -> None:
        if self._include is None:
            raise TranscriptError(number, f"{file}: files cannot be included here")
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
            raise TranscriptError(number, f'expected nothing after "{who}{sign}"')
        if not text and sign in {"|", "~"}:
            raise TranscriptError(number, "empty lines are never compared")
        if sign == Act.WAIT.value and not _is(_WAIT, text):
            line = f"{who}? {text}".rstrip()
            right = f'expected "{who}? 5s" and a line to wait for'
            raise TranscriptError(number, f'{right}, got "{line}"')
        if sign in {act.value for act in Act}:
            before = self._end()
            self._step = TranscriptStep(number, who, Act(sign), text, before=before)
        elif self._step is None and not self._ended:
            raise TranscriptError(number, "expected a step before the first expectation")
        elif self._step is None or self.loose:
            # A comment between expectations would be lost when --update rewrites them.
            raise TranscriptError(number, "expected lines must directly follow their step")
        else:
            self._expected.setdefault(who, []).append(Expectation(sign, text, number))


def _is(form: re.Pattern[str], text: str) -> bool:
    return bool(form.fullmatch(text))


class _Checker:
    """Checks parts in order: each server and variable must be defined before its use."""

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
            # One player's lines are matched all at once, so that a variable captured there has its
            # value only from the next player's lines on.
            captured: set[str] = set()
            for each in lines:
                try:
                    captured |= self._lines([each])
                except VariableError as error:
                    raise TranscriptError(each.line, str(error)) from error
            self._variables |= captured

    def _enter(self, who: str, server: str) -> None:
        if server and not self._servers:
            raise _PartError(f'expected nothing after "{who}+" without "@server" lines')
        if server and server not in self._servers:
            raise _PartError(
                f'unknown server "{server}"; expected one of {", ".join(self._servers)}'
            )
        home = self._homes.get(who)
        if home and server and home != server:
            raise _PartError(f"{who} is on {home}, and cannot change servers")
        self._at_home(who, server)

    def _at_home(self, who: str, server: str = "") -> None:
        if self._servers:
            self._homes.setdefault(who, server or next(iter(self._servers)))

    def _text(self, text: str) -> None:
        self._lines([Expectation("|", text)])

    def _lines(self, lines: Iterable[Expectation]) -> set[str]:
        """Check the variables in some lines; return the names of those captured there."""
        captured: set[str] = set()
        for each in lines:
            for piece in pieces(each.text):
                match piece:
                    case Use(name) if name not in self._variables:
                        raise VariableError(f"${{{name}}} has no value here")
                    case Capture(name) if each.sign != "~":
                        wrong = "captures text, and is only valid in a line with ~ or ?"
                        raise VariableError(f"${{{name}=*}} {wrong}")
                    case Capture(name):
                        captured.add(name)
        return captured


class _PartError(ThudmudError):
    """Raised for a part that is inconsistent with the parts before it."""
