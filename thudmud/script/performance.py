"""Playing a transcript, and comparing what is seen with what it says.

Owns the comparison. Must never open a socket: the stage that players stand on is given to it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from thudmud.script.transcript import Act, Expectation, Step, Transcript
from thudmud.text import House, Message

Seen = Mapping[str, Sequence[str]]


class StageError(Exception):
    """A step that cannot be played: a name that cannot be had, a server that is not there."""


class Stage(Protocol):
    """Where a transcript is played.

    Each method returns what each player has seen since the last one: lines, without empty ones. It
    raises StageError if the player cannot do that.
    """

    def enter(self, who: str) -> Seen:
        """Let a player come in."""

    def type(self, who: str, line: str) -> Seen:
        """Let a player type a line."""

    def vanish(self, who: str) -> Seen:
        """Cut a player's connection."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A step after which a player saw something else than the transcript says."""

    step: Step
    who: str
    seen: Sequence[str]

    def __str__(self) -> str:
        expected = self.step.expected.get(self.who, ())
        found = [each.text if each else line for line, each in _as_expected(expected, self.seen)]
        wanted = [each.text for each in expected if not each.many]
        diff = "\n".join(line for line in difflib.ndiff(wanted, found) if line[0] != "?")
        heading = f'line {self.step.line}: after "{self.step.written()}" {self.who} should see (-)'
        return f"{heading} but saw (+):\n{diff}"


class HouseStage:
    """A stage without sockets: the players stand in a house of this process.

    Args:
        house: where they stand.
        clock: gives the time, in seconds since the epoch.
    """

    def __init__(self, house: House, clock: Callable[[], float]) -> None:
        self._house, self._clock = house, clock

    def enter(self, who: str) -> Seen:
        """Let a player come in."""
        problem = self._house.name_problem(who)
        if problem:
            raise StageError(problem)
        here = self._house.hall.names.get(who.lower())
        if here:
            raise StageError(f"{here} is here already")
        return _seen(self._house.enter(who, now=self._clock()))

    def type(self, who: str, line: str) -> Seen:
        """Let a player type a line."""
        self._check_presence(who)
        return _seen(self._house.obey(who, line, self._clock()))

    def vanish(self, who: str) -> Seen:
        """Lose a player."""
        self._check_presence(who)
        seen = dict(_seen(self._house.depart(who, self._clock())))
        seen.pop(who, None)
        return seen

    def _check_presence(self, who: str) -> None:
        if who not in self._house:
            raise StageError(f"{who} is not here; a line {who}{Act.ENTER.value} lets them in")


def perform(transcript: Transcript, stage: Stage) -> tuple[list[Mismatch], Transcript]:
    """Play a transcript.

    Raises:
        StageError: a step could not be played; the message names its line.

    Returns:
        What did not fit, and the transcript with its expectations rewritten to what was seen: lines
        that fitted stay as they are, wildcards and all.
    """
    mismatches: list[Mismatch] = []
    steps = []
    for step, seen in _played(transcript.steps, stage):
        if step.expected:
            mismatches += _compared(step, seen)
        steps.append(replace(step, expected=_updated(step, seen)))
    return mismatches, replace(transcript, steps=tuple(steps))


def _played(steps: Iterable[Step], stage: Stage) -> Iterator[tuple[Step, Seen]]:
    known: set[str] = set()
    for step in steps:
        try:
            if step.who not in known and step.act is Act.TYPE:
                stage.enter(step.who)
            known.add(step.who)
            yield step, _act(step, stage)
        except StageError as error:
            raise StageError(f"line {step.line}: {error}") from error


def _act(step: Step, stage: Stage) -> Seen:
    match step.act:
        case Act.ENTER:
            return stage.enter(step.who)
        case Act.TYPE:
            return stage.type(step.who, step.text)
        case Act.VANISH:
            return stage.vanish(step.who)


def _seen(messages: Iterable[Message]) -> Seen:
    seen: dict[str, list[str]] = {}
    for message in messages:
        lines = [line.rstrip() for line in message.text.split("\n") if line.strip()]
        for name in message.to:
            seen.setdefault(name, []).extend(lines)
    return seen


def _compared(step: Step, seen: Seen) -> list[Mismatch]:
    everybody = dict.fromkeys([*step.expected, *seen])
    return [
        Mismatch(step, who, seen.get(who, ()))
        for who in everybody
        if not _fit(step.expected.get(who, ()), seen.get(who, ()))
    ]


def _fit(expected: Sequence[Expectation], seen: Sequence[str]) -> bool:
    """Whether all of ``expected`` fits all of ``seen``, in order."""
    matched = {0}  # how many lines seen the expectations so far can account for
    for each in expected:
        if each.many:
            matched = set(range(min(matched, default=len(seen) + 1), len(seen) + 1))
        else:
            matched = {at + 1 for at in matched if at < len(seen) and each.fits(seen[at])}
    return len(seen) in matched


def _as_expected(
    expected: Sequence[Expectation], seen: Sequence[str]
) -> Iterator[tuple[str, Expectation | None]]:
    """Yield the lines seen, each with the pattern it fits; patterns are used once, in order."""
    patterns = [each for each in expected if each.sign == "~"]
    for line in seen:
        found = next((each for each in patterns if each.fits(line)), None)
        if found:
            del patterns[: patterns.index(found) + 1]
        yield line, found


def _updated(step: Step, seen: Seen) -> Mapping[str, Sequence[Expectation]]:
    updated = {}
    for who in dict.fromkeys([*step.expected, *seen]):
        expected, lines = step.expected.get(who, ()), seen.get(who, ())
        if _fit(expected, lines):
            updated[who] = expected
        else:
            updated[who] = [
                each or Expectation("|", line) for line, each in _as_expected(expected, lines)
            ]
    return {who: lines for who, lines in updated.items() if lines}
