"""Playing a transcript, step by step, on a stage; and a stage without sockets.

`thudmud.cli.remote_stage` is a stage on a running server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from thudmud.errors import ThudmudError
from thudmud.script.comparing import Mismatch, Missed, Unstated, matched, partly_matched, rewritten
from thudmud.script.reading import Transcript
from thudmud.script.transcript import (
    Act,
    Expectation,
    Inclusion,
    Part,
    Setting,
    TranscriptStep,
    VariableError,
    filled,
)
from thudmud.values import replace

if TYPE_CHECKING:  # "thudmud script --help" need not wait for a house
    from thudmud.house import House
    from thudmud.views import Message

Seen = Mapping[str, Sequence[str]]


class StageError(ThudmudError):
    """A step that cannot be played: a name that cannot be had, a server that is not there.

    ``mismatches`` are what did not fit before that.
    """

    mismatches: Sequence[Mismatch] = ()


class Stage(Protocol):
    """Where a transcript is played.

    Each method returns the lines that each player has seen since the one before, without empty
    ones. It raises StageError if the player cannot do that.
    """

    def enter(self, who: str) -> Seen:
        """Let a player come in."""

    def type(self, who: str, line: str) -> Seen:
        """Let a player type a line."""

    def vanish(self, who: str) -> Seen:
        """Cut a player's connection."""


@runtime_checkable
class PatientStage(Stage, Protocol):
    """A stage on which time passes: something may be seen although nobody does anything."""

    def wait(self, who: str, fits: Callable[[str], bool], seconds: float) -> Seen:
        """Let a player wait until they see a line that fits, or the time is up."""


class HouseStage:
    """A stage without sockets: the players are in a `House` of this process."""

    def __init__(self, house: House, clock: Callable[[], float]) -> None:
        self._house, self._clock = house, clock

    def enter(self, who: str) -> Seen:
        """Let a player come in."""
        problem = self._house.name_problem(who)
        if problem:
            raise StageError(problem)
        now = self._clock()
        try:
            return _seen(self._house.enter(who, now))
        except ValueError as error:
            raise StageError(str(error)) from error

    def type(self, who: str, line: str) -> Seen:
        """Let a player type a line."""
        self._check_presence(who)
        return _seen(self._house.obey(who, line, self._clock()))

    def vanish(self, who: str) -> Seen:
        """Cut a player's connection."""
        self._check_presence(who)
        seen = dict(_seen(self._house.depart(who, self._clock())))
        seen.pop(who, None)
        return seen

    def _check_presence(self, who: str) -> None:
        if who not in self._house:
            raise not_here(who)


def not_here(who: str) -> StageError:
    """Return the error of a player who is not on the stage."""
    return StageError(f"{who} is not here; a line {who}{Act.ENTER.value} lets them in")


def _seen(messages: Iterable[Message]) -> Seen:
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
        transcript: what is played.
        stages: where; for each server that the transcript names a stage, else one stage.
        variables: the values of some variables, whatever the transcript sets them to.
        strict: whether a step without expectations does not fit if anything is seen then.

    Returns:
        What did not fit, and the transcript with its expectations rewritten to what was seen: lines
        that fitted stay as they are, wildcards, variables and all. If the time of a wait is up,
        that is the last of what did not fit: nothing is played after it, and nothing rewritten.

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
    """The time of a wait is up."""


class _Performance:
    """What is known while a transcript is played."""

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
        self._homes: dict[str, Stage] = {}  # the stage of each player who has ever come in
        self._variables = dict(variables)
        # What such a step shows is compared with what the wait below it says.
        self._open = {id(step) for step, then in pairwise(steps) if then.act is Act.WAIT}
        self._uncompared: dict[str, list[str]] = {}  # seen by each since the last comparison
        self._heard: dict[str, list[str]] = {}  # seen by each, where a wait looks first

    def play(self, parts: Iterable[Part], place: str = "") -> tuple[Part, ...]:
        """Play some parts; return them rewritten to what was seen."""
        return tuple(self._play(part, f"{place}line {part.line}") for part in parts)

    def _play(self, part: Part, where: str) -> Part:
        match part:
            case Setting():
                if part.name not in self._given:
                    self._variables[part.name] = filled(part.value, self._variables)
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
            self._hear(self._enter(step.who))
        self._heard.pop(step.who, None)
        match step.act:
            case Act.ENTER:
                return self._enter(step.who, step.text)
            case Act.TYPE:
                return self._home(step.who).type(step.who, filled(step.text, self._variables))
            case Act.VANISH:
                return self._home(step.who).vanish(step.who)

    def _enter(self, who: str, name: str = "") -> Seen:
        """Let a player come in on a stage: the one that is named, theirs, or else the first."""
        first = next(iter(self._stages.values()))
        home = self._stages[name] if name else self._homes.get(who, first)
        self._homes[who] = home
        return home.enter(who)

    def _home(self, who: str) -> Stage:
        if who not in self._homes:
            raise not_here(who)
        return self._homes[who]

    def _wait(self, step: TranscriptStep, where: str) -> Seen:
        pattern = step.awaited.pattern(self._variables)
        heard = list(self._heard.get(step.who, ()))
        seen: Seen = {}
        home = self._home(step.who)
        # Where no time passes there is nothing to wait for.
        if isinstance(home, PatientStage) and not any(map(pattern.fits, heard)):
            seen = home.wait(step.who, pattern.fits, step.seconds)
            heard += seen.get(step.who, ())
        for at, line in enumerate(heard):
            values = pattern.match(line)
            if values is not None:
                self._variables |= values
                self._heard[step.who] = heard[at + 1 :]
                return seen
        missed = Missed(step, step.who, heard, (pattern,), where, awaited=pattern.text)
        self.mismatches.append(missed)
        raise _TimeIsUpError

    def _compared(
        self, step: TranscriptStep, seen: Seen, where: str
    ) -> Mapping[str, Sequence[Expectation]]:
        """Compare what has been seen with what is expected; return what is to be expected."""
        for who, lines in seen.items():
            self._uncompared.setdefault(who, []).extend(lines)
        if step.expected:
            self._heard = {}
        else:
            # Who waits has looked through what they have seen already.
            waiting = step.who if step.act is Act.WAIT else ""
            self._hear({who: lines for who, lines in seen.items() if who != waiting})
            if id(step) in self._open:
                return {}
        shown, self._uncompared = self._uncompared, {}
        expected = {
            who: self._compare(step, who, shown.get(who, ()), where)
            for who in dict.fromkeys([*step.expected, *shown])
        }
        return {who: lines for who, lines in expected.items() if lines}

    def _hear(self, seen: Seen) -> None:
        for who, lines in seen.items():
            self._heard.setdefault(who, []).extend(lines)

    def _compare(
        self, step: TranscriptStep, who: str, seen: Sequence[str], where: str
    ) -> Sequence[Expectation]:
        expected = step.expected.get(who, ())
        wanted = [each.pattern(self._variables) for each in expected]
        values = matched(wanted, seen)
        if values is not None:
            self._variables |= values
            return expected
        self._variables |= partly_matched(wanted, seen)
        if step.expected:
            self.mismatches.append(Mismatch(step, who, seen, wanted, where))
        elif self._is_strict and step.act is not Act.WAIT:
            self.mismatches.append(Unstated(step, who, seen, wanted, where))
        return rewritten(expected, wanted, seen)
