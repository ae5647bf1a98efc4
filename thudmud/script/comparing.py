"""Compares players' output with a transcript's expectations, and formats the differences."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

from thudmud.script.transcript import Expectation, Pattern, TranscriptStep, escaped
from thudmud.values import Value


class Mismatch(Value):
    """A step after which a player's output differs from the transcript.

    Attributes:
        step: the step.
        who: the player.
        seen: the actual output, line by line.
        wanted: the expected output, line by line.
        where: the location of the step, such as ``line 3: FILE: line 5`` in an included file.
    """

    step: TranscriptStep
    who: str
    seen: Sequence[str]
    wanted: Sequence[Pattern] = ()
    where: str = ""

    @property
    def heading(self) -> str:
        """The first line of the message."""
        place = self.where or f"line {self.step.line}"
        return f'{place}: after "{self.step.written()}", {self.who} should see (-) but saw (+):'

    def __str__(self) -> str:
        found = [each.text if each else line for line, each in _paired(self.wanted, self.seen)]
        wanted = [each.text for each in self.wanted if not each.accepts_many_lines]
        diff = "\n".join(line for line in difflib.ndiff(wanted, found) if line[0] != "?")
        return f"{self.heading}\n{diff}"


class Missed(Mismatch):
    """A wait that timed out, which ends the performance.

    Attributes:
        awaited: the pattern of the awaited line.
    """

    awaited: str = ""

    @property
    def heading(self) -> str:
        """The first line of the message."""
        place = self.where or f"line {self.step.line}"
        for_what = f'{self.step.seconds:g} s for "{self.awaited}"'
        instead = "but saw (+):" if self.seen else "but saw nothing"
        return f"{place}: {self.who} waited {for_what} {instead}"

    def __str__(self) -> str:
        return "\n".join([self.heading, *(f"+ {line}" for line in self.seen)])


class UnexpectedOutput(Mismatch):
    """Output after a step without expectations, in strict mode."""

    @property
    def heading(self) -> str:
        """The first line of the message."""
        place, step = self.where or f"line {self.step.line}", self.step.written()
        return f'{place}: nothing expected after "{step}", but {self.who} saw (+):'


class NothingCompared(Value):
    """A transcript without any expectations or waits, which any output would match."""

    heading = "nothing in it is compared: add expectations below the steps, or use --update"

    def __str__(self) -> str:
        return self.heading


def match_lines(wanted: Sequence[Pattern], seen: Sequence[str]) -> Mapping[str, str] | None:
    """Match patterns against all lines of output, in order.

    If there are several ways to match, each pattern matches as early as possible.

    Returns:
        The values of the captured variables; None if the output doesn't match.
    """
    # Once reversed, endings[i] has each index ``at`` for which wanted[i:] matches all of seen[at:].
    # Dynamic programming from the end: backtracking could take exponential time.
    endings = [{len(seen)}]
    for each in reversed(wanted):
        after = endings[-1]
        if each.accepts_many_lines:
            endings.append(set(range(max(after) + 1)) if after else set())
        else:
            endings.append({at - 1 for at in after if at and each.is_match(seen[at - 1])})
    endings.reverse()
    if 0 not in endings[0]:
        return None
    at = 0
    values: dict[str, str] = {}
    for each, after in zip(wanted, endings[1:], strict=True):
        if each.accepts_many_lines:
            at = min(end for end in after if end >= at)
        else:
            values |= each.match(seen[at]) or {}
            at += 1
    return values


def match_some_lines(wanted: Sequence[Pattern], seen: Sequence[str]) -> Mapping[str, str]:
    """Return the variables captured by patterns that match a line, even if the rest doesn't match.

    Later steps can then use as many variables as possible.
    """
    values: dict[str, str] = {}
    for line, each in _paired(wanted, seen):
        if each:
            values |= each.match(line) or {}
    return values


def rewrite_expectations(
    expected: Sequence[Expectation], wanted: Sequence[Pattern], seen: Sequence[str]
) -> Sequence[Expectation]:
    """Return expectations for the actual output; expectations that match stay as written."""
    written = {id(pattern): each for each, pattern in zip(expected, wanted, strict=True)}
    loose = [pattern for pattern in wanted if written[id(pattern)].is_loose]
    return [
        written[id(each)] if each else Expectation("|", escaped(line))
        for line, each in _first_fits(loose, seen)
    ]


def _paired(wanted: Sequence[Pattern], seen: Sequence[str]) -> Iterator[tuple[str, Pattern | None]]:
    """Yield each line of output with the wildcard pattern that it matches, or None."""
    return _first_fits([each for each in wanted if each.captures], seen)


def _first_fits(
    patterns: Sequence[Pattern], seen: Sequence[str]
) -> Iterator[tuple[str, Pattern | None]]:
    """Yield each line of output with the first pattern that it matches, or None.

    Patterns are used in order: a match skips all patterns before it, too.
    """
    left = list(patterns)
    for line in seen:
        found = next((at for at, each in enumerate(left) if each.is_match(line)), None)
        yield line, None if found is None else left[found]
        if found is not None:
            del left[: found + 1]
