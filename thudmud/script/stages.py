"""Plays transcripts step by step on a stage, and provides a stage without sockets.

A stage carries out the steps: `HouseStage` in a `House` of this process,
`thudmud.cli.remote_stage` on a running server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from thudmud.errors import ThudmudError
from thudmud.script.comparing import (
    Mismatch,
    Missed,
    UnexpectedOutput,
    match_lines,
    match_some_lines,
    rewrite_expectations,
)
from thudmud.script.reading import Transcript
from thudmud.script.transcript import (
    Act,
    Expectation,
    Inclusion,
    Part,
    Setting,
    TranscriptStep,
    VariableError,
    substitute,
)
from thudmud.values import replace

if TYPE_CHECKING:  # importing a house would slow down "thudmud script --help"
    from thudmud.house import House
    from thudmud.views import Message

Seen = Mapping[str, Sequence[str]]
"""Lines of output by the names of the players who see them."""


class StageError(ThudmudError):
    """Raised for a step that can't be played: for instance with an invalid name, or no server.

    Attributes:
        mismatches: the mismatches of the steps before.
    """

    mismatches: Sequence[Mismatch] = ()


class Stage(Protocol):
    """A place where the players of a transcript act.

    Each method returns the output since the previous call, without empty lines. It raises
    StageError for an action that is impossible.
    """

    def enter(self, who: str) -> Seen:
        """Connect a player and log in."""

    def type(self, who: str, line: str) -> Seen:
        """Submit a line of input."""

    def vanish(self, who: str) -> Seen:
        """Cut a player's connection."""


@runtime_checkable
class RealTimeStage(Stage, Protocol):
    """A stage in real time, where output may arrive without any input."""

    def wait(self, who: str, fits: Callable[[str], bool], seconds: float) -> Seen:
        """Wait until a player sees a line for which ``fits`` returns True.

        Returns after ``seconds`` at the latest, whether there was such a line or not.
        """


@runtime_checkable
class MarkingStage(RealTimeStage, Protocol):
    """A stage that types lines of its own, to find the end of the output.

    Attributes:
        may_mark: whether it may do so after the next step. It may not before a wait, nor when the
            player answers a question next; then it returns what has come so far.
    """

    may_mark: bool


class HouseStage:
    """A stage without sockets, in a `House` of this process."""

    def __init__(self, house: House, clock: Callable[[], float]) -> None:
        self._house, self._clock = house, clock

    def enter(self, who: str) -> Seen:
        """Let a player enter the house."""
        problem = self._house.name_problem(who)
        if problem:
            raise StageError(problem)
        now = self._clock()
        try:
            return _lines_by_player(self._house.enter(who, now))
        except ValueError as error:
            raise StageError(str(error)) from error

    def type(self, who: str, line: str) -> Seen:
        """Submit a line of input."""
        self._check_presence(who)
        return _lines_by_player(self._house.obey(who, line, self._clock()))

    def vanish(self, who: str) -> Seen:
        """Remove a player from the house, as if the connection were lost."""
        self._check_presence(who)
        seen = dict(_lines_by_player(self._house.depart(who, self._clock())))
        seen.pop(who, None)
        return seen

    def _check_presence(self, who: str) -> None:
        if who not in self._house:
            raise not_entered_error(who)


def not_entered_error(who: str) -> StageError:
    """Return the error for a player who hasn't entered."""
    return StageError(f"{who} is not here; use {who}{Act.ENTER.value} to let them in")


def _lines_by_player(messages: Iterable[Message]) -> Seen:
    seen: dict[str, list[str]] = {}
    for message in messages:
        lines = [line.rstrip() for line in message.text.split("\n") if line.strip()]
        for name in message.to:
            seen.setdefault(name, []).extend(lines)
    return seen


def perform(
    transcript: Transcript,
    stages: Stage | Mapping[str, Stage],
    variables: Mapping[str, str] | None = None,
    *,
    strict: bool = False,
) -> tuple[list[Mismatch], Transcript]:
    """Play a transcript.

    Args:
        transcript: the transcript.
        stages: the stage, or the stages by the names of servers if the transcript names servers.
        variables: values of variables, which take precedence over the transcript's settings.
        strict: whether output after a step without expectations is a mismatch.

    Returns:
        The mismatches, and the transcript with its expectations rewritten to the actual output.
        Matching expectations stay as written, including wildcards and variables. A wait that times
        out is the last mismatch: no further steps are played, and nothing is rewritten.

    Raises:
        StageError: a step could not be played; the message names its line.
    """
    by_name = stages if isinstance(stages, Mapping) else {"": stages}
    performance = _Performance(by_name, variables or {}, transcript.steps, strict=strict)
    try:
        return performance.mismatches, replace(transcript, parts=performance.play(transcript.parts))
    except _TimeIsUpError:
        return performance.mismatches, transcript
    except StageError as error:
        error.mismatches = performance.mismatches
        raise


class _TimeIsUpError(ThudmudError):
    """Raised when a wait times out."""


class _Performance:
    """The state of one run of a transcript."""

    def __init__(
        self,
        stages: Mapping[str, Stage],
        variables: Mapping[str, str],
        steps: Iterable[TranscriptStep],
        *,
        strict: bool,
    ) -> None:
        self.mismatches: list[Mismatch] = []
        self._is_strict = strict
        self._stages, self._given = stages, frozenset(variables)
        self._homes: dict[str, Stage] = {}  # by player: the stage that they are on
        self._variables = dict(variables)
        # Steps right above a wait. Their output is compared together with that of the wait.
        pairs = list(pairwise(steps))
        self._open = {id(step) for step, then in pairs if then.act is Act.WAIT}
        # Those, and waits for a question that the same player answers next.
        self._unanswered = self._open | {
            id(step)
            for step, then in pairs
            if step.act is Act.WAIT and not step.expected
            if then.act is Act.TYPE and then.who == step.who
        }
        self._uncompared: dict[str, list[str]] = {}  # by player: output for the next comparison
        self._heard: dict[str, list[str]] = {}  # by player: output that a wait searches first

    def play(self, parts: Iterable[Part], place: str = "") -> tuple[Part, ...]:
        """Play some parts; return them with their expectations rewritten to the actual output."""
        return tuple(self._play(part, f"{place}line {part.line}") for part in parts)

    def _play(self, part: Part, where: str) -> Part:
        match part:
            case Setting():
                if part.name not in self._given:
                    self._variables[part.name] = substitute(part.value, self._variables)
                return part
            case Inclusion():
                return replace(part, parts=self.play(part.parts, f"{where}: {part.file}: "))
            case TranscriptStep():
                return self._step(part, where)

    def _step(self, step: TranscriptStep, where: str) -> TranscriptStep:
        try:
            seen = self._act(step, where)
            return replace(step, expected=self._compared(step, seen, where))
        except (StageError, VariableError) as error:
            raise StageError(f"{where}: {error}") from error

    def _act(self, step: TranscriptStep, where: str) -> Seen:
        if step.act is Act.WAIT:
            return self._wait(step, where)
        self._uncompared = {}
        if step.act is Act.TYPE and step.who not in self._homes:
            self._collect_output(self._enter(step.who))
        self._heard.pop(step.who, None)  # a wait ignores output before its player's last action
        match step.act:
            case Act.ENTER:
                return self._enter(step.who, step.text)
            case Act.TYPE:
                home = self._home(step.who)
                self._allow_mark(home, step)
                return home.type(step.who, substitute(step.text, self._variables))
            case Act.VANISH:
                return self._home(step.who).vanish(step.who)

    def _enter(self, who: str, name: str = "") -> Seen:
        """Enter a player on the named stage, or else on their previous or the first stage."""
        first = next(iter(self._stages.values()))
        home = self._stages[name] if name else self._homes.get(who, first)
        self._homes[who] = home
        return home.enter(who)

    def _home(self, who: str) -> Stage:
        if who not in self._homes:
            raise not_entered_error(who)
        return self._homes[who]

    def _may_mark(self, home: Stage, step: TranscriptStep) -> bool:
        return not (isinstance(home, MarkingStage) and id(step) in self._unanswered)

    def _allow_mark(self, home: Stage, step: TranscriptStep) -> None:
        if isinstance(home, MarkingStage):
            home.may_mark = self._may_mark(home, step)

    def _wait(self, step: TranscriptStep, where: str) -> Seen:
        pattern = step.awaited.pattern(self._variables)
        heard = list(self._heard.get(step.who, ()))
        seen: Seen = {}
        home = self._home(step.who)
        # On a stage without time no further output can arrive.
        if isinstance(home, RealTimeStage) and not any(map(pattern.is_match, heard)):
            self._allow_mark(home, step)
            seen = home.wait(step.who, pattern.is_match, step.seconds)
            heard += seen.get(step.who, ())
        for at, line in enumerate(heard):
            values = pattern.match(line)
            if values is not None:
                self._variables |= values
                self._heard[step.who] = heard[at + 1 :]  # the next wait goes on after the line
                return seen
        missed = Missed(step, step.who, heard, (pattern,), where, awaited=pattern.text)
        self.mismatches.append(missed)
        raise _TimeIsUpError

    def _compared(
        self, step: TranscriptStep, seen: Seen, where: str
    ) -> Mapping[str, Sequence[Expectation]]:
        """Compare the output with the expectations of a step; return the rewritten expectations."""
        for who, lines in seen.items():
            self._uncompared.setdefault(who, []).extend(lines)
        if step.expected:
            self._heard = {}
        else:
            # The wait itself has already searched this output of its player.
            waiting = step.who if step.act is Act.WAIT else ""
            self._collect_output({who: lines for who, lines in seen.items() if who != waiting})
            if id(step) in self._open or not self._may_mark(self._home(step.who), step):
                return {}
        shown, self._uncompared = self._uncompared, {}
        expected = {
            who: self._compare(step, who, shown.get(who, ()), where)
            for who in dict.fromkeys([*step.expected, *shown])
        }
        return {who: lines for who, lines in expected.items() if lines}

    def _collect_output(self, seen: Seen) -> None:
        for who, lines in seen.items():
            self._heard.setdefault(who, []).extend(lines)

    def _compare(
        self, step: TranscriptStep, who: str, seen: Sequence[str], where: str
    ) -> Sequence[Expectation]:
        expected = step.expected.get(who, ())
        wanted = [each.pattern(self._variables) for each in expected]
        values = match_lines(wanted, seen)
        if values is not None:
            self._variables |= values
            return expected
        self._variables |= match_some_lines(wanted, seen)
        if step.expected:
            self.mismatches.append(Mismatch(step, who, seen, wanted, where))
        elif self._is_strict and step.act is not Act.WAIT:
            self.mismatches.append(UnexpectedOutput(step, who, seen, wanted, where))
        return rewrite_expectations(expected, wanted, seen)
