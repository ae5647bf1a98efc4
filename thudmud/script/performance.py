"""Playing a transcript, step by step.

Owns the order of things, and the values of variables. Must never open a socket: the stages that
players stand on are given to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from thudmud.errors import ThudmudError
from thudmud.script.comparing import Mismatch, Missed, matched, partly_matched, rewritten
from thudmud.script.expectations import Expectation
from thudmud.script.parts import Act, Inclusion, Part, Setting, TranscriptStep
from thudmud.script.stages import Seen, Stage, StageError, Stages
from thudmud.script.transcript import Transcript
from thudmud.script.variables import VariableError, filled


def perform(
    transcript: Transcript,
    stages: Stage | Mapping[str, Stage],
    variables: Mapping[str, str] | None = None,
) -> tuple[list[Mismatch], Transcript]:
    """Play a transcript.

    Args:
        transcript: what is played.
        stages: where; for each server that the transcript names a stage, else one stage.
        variables: what some variables stand for, whatever the transcript sets them to.

    Raises:
        StageError: a step could not be played; the message names its line.

    Returns:
        What did not fit, and the transcript with its expectations rewritten to what was seen: lines
        that fitted stay as they are, wildcards, variables and all. After a wait that was in vain,
        which is the last of what did not fit, nothing is played, and nothing rewritten.
    """
    company = Stages(stages if isinstance(stages, Mapping) else {"": stages})
    performance = _Performance(company, variables or {}, transcript.steps)
    try:
        return performance.mismatches, replace(transcript, parts=performance.play(transcript.parts))
    except _InVainError:
        return performance.mismatches, transcript
    except StageError as error:
        error.mismatches = performance.mismatches
        raise


class _InVainError(ThudmudError):
    """A wait that was in vain."""


class _Performance:
    """What is known while a transcript is played.

    Attributes:
        mismatches: what did not fit so far.
    """

    def __init__(
        self, stages: Stages, variables: Mapping[str, str], steps: Iterable[TranscriptStep]
    ) -> None:
        self.mismatches: list[Mismatch] = []
        self._stages, self._given = stages, frozenset(variables)
        self._variables = dict(variables)
        # What such a step shows is compared with what the wait below it says.
        self._open = {id(step) for step, then in pairwise(steps) if then.act is Act.WAIT}
        self._uncompared: dict[str, list[str]] = {}  # by this step and the waits, since the last
        self._heard: dict[str, list[str]] = {}  # what a wait may find has been seen already

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
        if step.act is Act.TYPE and step.who not in self._stages:
            self._hear(self._stages.enter(step.who))
        self._heard.pop(step.who, None)
        match step.act:
            case Act.ENTER:
                return self._stages.enter(step.who, step.text)
            case Act.TYPE:
                return self._stages.type(step.who, filled(step.text, self._variables))
            case Act.VANISH:
                return self._stages.vanish(step.who)

    def _wait(self, step: TranscriptStep, where: str) -> Seen:
        pattern = step.awaited.pattern(self._variables)
        heard = list(self._heard.get(step.who, ()))
        seen: Seen = {}
        if not any(map(pattern.fits, heard)):
            seen = self._stages.wait(step.who, pattern.fits, step.seconds)
            heard += seen.get(step.who, ())
        for at, line in enumerate(heard):
            values = pattern.match(line)
            if values is not None:
                self._variables |= values
                self._heard[step.who] = heard[at + 1 :]
                return seen
        missed = Missed(step, step.who, heard, (pattern,), where, awaited=pattern.text)
        self.mismatches.append(missed)
        raise _InVainError

    def _compared(
        self, step: TranscriptStep, seen: Seen, where: str
    ) -> Mapping[str, Sequence[Expectation]]:
        """Compare what has been seen with what is expected; return what should be."""
        for who, lines in seen.items():
            self._uncompared.setdefault(who, []).extend(lines)
        if step.expected:
            self._heard = {}
        else:
            # Whoever waits has looked through theirs already.
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
        return rewritten(expected, wanted, seen)
