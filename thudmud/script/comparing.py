"""What players see, compared with what a transcript says; and what is told of a difference."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

from thudmud.script.transcript import Expectation, Pattern, TranscriptStep, escaped
from thudmud.values import Value


class Mismatch(Value):
    """A step after which a player saw something else than the transcript says.

    Attributes:
        seen: the lines that they saw.
        wanted: the lines that they should have seen.
        where: the place of the step, in the file that is played and in those that it includes.
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
        return f'{place}: after "{self.step.written()}" {self.who} should see (-) but saw (+):'

    def __str__(self) -> str:
        found = [each.text if each else line for line, each in _paired(self.wanted, self.seen)]
        wanted = [each.text for each in self.wanted if not each.many]
        diff = "\n".join(line for line in difflib.ndiff(wanted, found) if line[0] != "?")
        return f"{self.heading}\n{diff}"


class Missed(Mismatch):
    """A wait whose time was up: the transcript ends there. ``awaited`` is what was waited for."""

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


class Unstated(Mismatch):
    """A step without expectations, after which a player saw something."""

    @property
    def heading(self) -> str:
        """The first line of the message."""
        place, step = self.where or f"line {self.step.line}", self.step.written()
        return f'{place}: nothing is expected after "{step}", but {self.who} saw (+):'


class NothingCompared(Value):
    """A transcript in which nothing is compared: whatever is seen, it would fit."""

    heading = "nothing in it is compared: write below a step what is seen, or let --update do that"

    def __str__(self) -> str:
        return self.heading


def matched(wanted: Sequence[Pattern], seen: Sequence[str]) -> Mapping[str, str] | None:
    """Return the values that variables take if all of ``wanted`` fits all of ``seen``, in order.

    None if it does not. Where it does in several ways, each line fits as early as it can.
    """
    endings = [{len(seen)}]  # how many lines seen may stand before what is left of ``wanted``
    for each in reversed(wanted):
        after = endings[-1]
        if each.many:
            endings.append(set(range(max(after) + 1)) if after else set())
        else:
            endings.append({at - 1 for at in after if at and each.fits(seen[at - 1])})
    endings.reverse()
    if 0 not in endings[0]:
        return None
    at = 0
    values: dict[str, str] = {}
    for each, after in zip(wanted, endings[1:], strict=True):
        if each.many:
            at = min(end for end in after if end >= at)
        else:
            values |= each.match(seen[at]) or {}
            at += 1
    return values


def partly_matched(wanted: Sequence[Pattern], seen: Sequence[str]) -> Mapping[str, str]:
    """Return the values that variables take from lines that fit, although not all do."""
    values: dict[str, str] = {}
    for line, each in _paired(wanted, seen):
        if each:
            values |= each.match(line) or {}
    return values


def rewritten(
    expected: Sequence[Expectation], wanted: Sequence[Pattern], seen: Sequence[str]
) -> Sequence[Expectation]:
    """Return what should be expected instead: lines that fit stay as they are written."""
    written = {id(pattern): each for each, pattern in zip(expected, wanted, strict=True)}
    loose = [pattern for pattern in wanted if written[id(pattern)].is_loose]
    return [
        written[id(each)] if each else Expectation("|", escaped(line))
        for line, each in _first_fits(loose, seen)
    ]


def _paired(wanted: Sequence[Pattern], seen: Sequence[str]) -> Iterator[tuple[str, Pattern | None]]:
    """Yield the lines seen, each with the pattern with wildcards that it fits."""
    return _first_fits([each for each in wanted if each.takes], seen)


def _first_fits(
    patterns: Sequence[Pattern], seen: Sequence[str]
) -> Iterator[tuple[str, Pattern | None]]:
    """Yield the lines seen, each with the pattern it fits; patterns are used once, in order."""
    left = list(patterns)
    for line in seen:
        found = next((at for at, each in enumerate(left) if each.fits(line)), None)
        yield line, None if found is None else left[found]
        if found is not None:
            del left[: found + 1]
