"""Whether the lines of a transcript go together: variables with values, servers that are named.

Owns that nothing of this is found out only in the middle of playing. Must never play.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from thudmud.errors import ThudmudError
from thudmud.script.expectations import Expectation
from thudmud.script.parts import Act, Inclusion, Part, Setting, TranscriptError, TranscriptStep
from thudmud.script.variables import Capture, Use, VariableError, pieces


def check(parts: Iterable[Part], servers: Collection[str], variables: Collection[str]) -> None:
    """Check the parts of a transcript.

    Args:
        parts: what is checked.
        servers: the names of those that the transcript names.
        variables: the names of those that have values before the first part.

    Raises:
        TranscriptError: a line does not go together with the others.
    """
    _Check(servers, variables).parts(parts)


class _Check:
    """What is known so far, part by part."""

    def __init__(self, servers: Collection[str], variables: Collection[str]) -> None:
        self._servers, self._variables = servers, set(variables)
        self._homes: dict[str, str] = {}

    def parts(self, parts: Iterable[Part]) -> None:
        for part in parts:
            try:
                self._part(part)
            except (VariableError, _UnfitError) as error:
                raise TranscriptError(part.line, str(error)) from error

    def _part(self, part: Part) -> None:
        match part:
            case Setting(name=name, value=value):
                self._text(value)
                self._variables.add(name)
            case Inclusion(file=file, parts=inner):
                try:
                    self.parts(inner)
                except TranscriptError as error:
                    raise _UnfitError(f"{file}: {error}") from error
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
            raise _UnfitError(f'nothing stands behind "{who}+" where no servers are named')
        if server and server not in self._servers:
            raise _UnfitError(f'no server "{server}" is named, only {", ".join(self._servers)}')
        home = self._homes.get(who)
        if home and server and home != server:
            raise _UnfitError(f"{who} is on {home}, and stays on one server")
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


class _UnfitError(ThudmudError):
    """What does not go together with the rest."""
