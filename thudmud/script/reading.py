"""Reading a transcript, line by line.

Owns what a line means. Must never know whether the lines go together; that is checked later.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Protocol

from thudmud.errors import ThudmudError
from thudmud.script.expectations import Expectation
from thudmud.script.parts import Act, Inclusion, Part, Setting, TranscriptError, TranscriptStep
from thudmud.script.variables import NAME as VARIABLE

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


class Unfetched(ThudmudError):
    """A file that cannot be included, and why."""


class Shelf(Protocol):
    """Where the files are that a transcript includes."""

    def fetch(self, file: str) -> tuple[str, Shelf]:
        """Return the text of a file, and the shelf of those that it includes in turn.

        Raises:
            Unfetched: it cannot be included.
        """


class Reader:
    """Puts parts together, line by line.

    Attributes:
        config: the file of the configuration.
        servers: those that are named, each with the file of its configuration.
        loose: the lines behind the last part.
    """

    def __init__(self, shelf: Shelf | None, *, included: bool = False) -> None:
        self.config: str | None = None
        self.servers: dict[str, str | None] = {}
        self.loose: list[str] = []
        self._shelf, self._included = shelf, included
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
                self._include(number, file, line)
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

    def _include(self, number: int, file: str, line: str) -> None:
        if self._shelf is None:
            raise TranscriptError(number, f"{file}: no files can be included here")
        before = self._end()
        try:
            text, shelf = self._shelf.fetch(file)
            inner = Reader(shelf, included=True)
            inner.read(text)
        except (Unfetched, TranscriptError) as error:
            raise TranscriptError(number, f"{file}: {error}") from error
        self._ended.append(Inclusion(number, file, inner.parts, line, before, tuple(inner.loose)))

    def _player(self, number: int, who: str, sign: str, text: str) -> None:
        if text and sign in {"...", Act.VANISH.value}:
            raise TranscriptError(number, f'nothing stands behind "{who}{sign}"')
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
