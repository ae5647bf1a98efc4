"""What a player should see: a line as it is written, and the pattern that it comes to.

Owns when a line fits. Must never know who sees it, or when.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from thudmud.script.variables import Capture, Use, filled, pieces, value


@dataclass(frozen=True, slots=True)
class Pattern:
    """What lines fit, with the values of variables filled in.

    ``pieces`` stand around the wildcards, and ``takes`` names the variable that takes what is seen
    at each of these, if any. ``text`` is what people are shown of it. If ``many``, any number of
    lines fit.
    """

    text: str
    pieces: tuple[str, ...]
    takes: tuple[str | None, ...] = ()
    many: bool = False

    def fits(self, seen: str) -> bool:
        """Whether a line seen is one that was expected."""
        return self.match(seen) is not None

    def match(self, seen: str) -> Mapping[str, str] | None:
        """Return the values that variables take from a line; None if the line does not fit."""
        first, *others = self.pieces
        if not others:
            return {} if seen == first else None
        *middle, last = others
        if len(seen) < len(first) + len(last):
            return None
        if not (seen.startswith(first) and seen.endswith(last)):
            return None
        # The first place where a piece stands leaves most room for the next.
        begin, end = len(first), len(seen) - len(last)
        wild = []
        for piece in middle:
            at = seen.find(piece, begin, end)
            if at < 0:
                return None
            wild.append(seen[begin:at])
            begin = at + len(piece)
        wild.append(seen[begin:end])
        return {name: found for name, found in zip(self.takes, wild, strict=True) if name}


@dataclass(frozen=True, slots=True)
class Expectation:
    """A line, or lines, that a player sees: as they stand in the transcript, at ``line`` of it."""

    sign: str
    text: str = ""
    line: int = field(default=0, compare=False)

    @property
    def many(self) -> bool:
        """Whether any number of lines fit."""
        return self.sign == "..."

    @property
    def is_loose(self) -> bool:
        """Whether a line that fits may be written otherwise: with wildcards, or variables."""
        return self.sign == "~" or "${" in self.text

    def pattern(self, variables: Mapping[str, str]) -> Pattern:
        """Return the pattern that this comes to.

        Raises:
            VariableError: a variable has no value.
        """
        stretches: list[str] = [""]
        takes: list[str | None] = []
        for piece in pieces(self.text):
            match piece:
                case Use(name):
                    stretches[-1] += value(name, variables)  # to the letter, * included
                case Capture(name):
                    takes.append(name)
                    stretches.append("")
                case str() if self.sign == "~":
                    first, *others = piece.split("*")
                    stretches[-1] += first
                    stretches += others
                    takes += [None] * len(others)
                case str():
                    stretches[-1] += piece
        return Pattern(filled(self.text, variables), tuple(stretches), tuple(takes), self.many)

    def fits(self, seen: str) -> bool:
        """Whether a line seen is one that was expected, by somebody who uses no variables."""
        return self.pattern({}).fits(seen)

    def written(self, who: str) -> str:
        """Return the line of the transcript that says so."""
        return f"{who}{self.sign}" if self.many else f"{who}{self.sign} {self.text}".rstrip()
