"""The verbs of one house: ours, perhaps without some, and perhaps with some of its own.

A verb of a house's own is a class, as ours are, with the pattern by which it is typed: words,
``<player>``, ``<number>`` and ``<text>``, which are the fields of those names, and ``[...]`` round
what may be left out. ``<text>`` takes the rest of the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar, dataclass_transform

from thudmud.errors import InvalidValueError
from thudmud.language.cleaning import clean
from thudmud.language.parsing import THE_END, ParseError, parse
from thudmud.language.slips import near_miss
from thudmud.language.words import STOPS
from thudmud.play.command import COMMANDS, Command
from thudmud.play.refusals import Mistake

_TOKEN = re.compile(
    r"(?P<opens>\[)|(?P<closes>\])|<(?P<slot>player|number|text)>|(?P<word>[a-z]+)|\S"
)

_Item = str | tuple["_Item", ...]
"""A word, a slot such as ``<player>``, or what may be left out."""


class OwnCommand(Command):
    """A command of a house's own; the first line of its docstring is what help says of it.

    Attributes:
        syntax: how it is typed.
    """

    __slots__ = ()
    syntax: ClassVar[str]
    items: ClassVar[tuple[_Item, ...]]


OwnCommandT = TypeVar("OwnCommandT", bound=OwnCommand)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def own_verb(syntax: str) -> Callable[[type[OwnCommandT]], type[OwnCommandT]]:
    """Return what makes a class a command of a house's own, a frozen dataclass.

    Args:
        syntax: how it is typed, such as ``bow [to <player>]``.

    Raises:
        InvalidValueError: it does not begin with a word, or what it leaves open are not the fields.
    """

    def make(kind: type[OwnCommandT]) -> type[OwnCommandT]:
        kind.syntax, kind.items = syntax, _read(syntax)
        kind.words = str(kind.items[0])
        made = dataclass(frozen=True, slots=True)(kind)
        slots = re.findall("<([a-z]+)>", syntax)
        if not kind.words.isalpha() or sorted(slots) != sorted(each.name for each in fields(made)):
            raise InvalidValueError(f"{syntax!r} does not fit the fields of {kind.__name__}")
        return made

    return make


def _read(syntax: str) -> tuple[_Item, ...]:
    """Return the items of a pattern; raises InvalidValueError if it is none."""
    stack: list[list[_Item]] = [[]]
    for token in _TOKEN.finditer(syntax):
        if token["opens"]:
            stack.append([])
        elif token["closes"] and len(stack) > 1:
            group = tuple(stack.pop())
            stack[-1].append(group)
        elif token["slot"] or token["word"]:
            stack[-1].append(token[0])
        else:
            raise InvalidValueError(f"{token[0]!r} means nothing in the pattern {syntax!r}")
    if len(stack) > 1 or not stack[0]:
        raise InvalidValueError(f"{syntax!r} is not a whole pattern")
    return tuple(stack[0])


class Vocabulary:
    """The verbs of one house.

    Args:
        own: those of its own.
        without: the first words of those of ours that it has not.

    Raises:
        InvalidValueError: one of its own begins as another does that it has; or none of ours
            begins with such a word.
    """

    def __init__(self, own: Iterable[type[OwnCommand]] = (), without: Collection[str] = ()) -> None:
        ours = {kind.words.split()[0] for kind in COMMANDS}
        if unknown := set(without) - ours:
            raise InvalidValueError(f"no verb is called {', '.join(sorted(unknown))}")
        self.own: dict[str, type[OwnCommand]] = {}
        self.without = frozenset(without)
        for kind in own:
            if kind.words in self.own or kind.words in ours - self.without:
                raise InvalidValueError(f"there is a verb {kind.words} already")
            self.own[kind.words] = kind

    def parse(self, line: str) -> Command:
        """Return the command that a line asks for; raises only ``ParseError``, for any text."""
        cleaned = clean(line)
        if kind := self.own.get(cleaned.partition(" ")[0].lower().rstrip(STOPS)):
            return _Matching(cleaned.rstrip(f" {STOPS}"), kind).command()
        try:
            command = parse(line)
        except ParseError as error:
            if error.code is not Mistake.UNKNOWN_COMMAND:
                raise
            raise self._unknown(error.line, error.suggestion) from None
        if command.words.split()[0] in self.without:
            raise self._unknown(cleaned, None)
        return command

    def _unknown(self, line: str, suggestion: str | None) -> ParseError:
        word = line.partition(" ")[0]
        meant = near_miss(word, self.own, first=True) or suggestion
        meant = None if meant in self.without else meant
        return ParseError(Mistake.UNKNOWN_COMMAND, line, 0, word, suggestion=meant)


class _Matching:
    """A line that is matched with a pattern, and where it stopped making sense at the latest."""

    def __init__(self, line: str, kind: type[OwnCommand]) -> None:
        self._line, self._kind, self._words = line, kind, line.split(" ")
        self._furthest, self._expected = 0, list[str]()

    def command(self) -> Command:
        for at, values in self._ways(self._kind.items, 0, {}):
            if at == len(self._words):
                return self._kind(**values)
            self._expect(at, THE_END)
        at = self._furthest
        column = len(" ".join(self._words[:at])) + (1 if at else 0)
        code = Mistake.MISSING_WORD if at == len(self._words) else Mistake.UNEXPECTED_WORD
        word = "" if at == len(self._words) else self._words[at]
        expected = tuple(dict.fromkeys(self._expected))
        raise ParseError(code, self._line, min(column, len(self._line)), word, expected=expected)

    def _expect(self, at: int, what: str) -> None:
        if at > self._furthest:
            self._furthest, self._expected = at, []
        if at == self._furthest:
            self._expected.append(what)

    def _ways(
        self, items: tuple[_Item, ...], at: int, values: dict[str, Any]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield up to which word some items can match from one on, and what the slots hold."""
        if not items:
            yield at, values
            return
        item, rest = items[0], items[1:]
        if isinstance(item, tuple):
            for then, found in self._ways(item, at, values):
                yield from self._ways(rest, then, found)
            yield from self._ways(rest, at, values)
        elif at == len(self._words):
            self._expect(at, item)
        elif item == "<text>":
            yield from self._ways(rest, len(self._words), {**values, "text": self._from(at)})
        elif item == "<player>":
            yield from self._ways(rest, at + 1, {**values, "player": self._words[at]})
        elif item == "<number>" and self._words[at].isdecimal() and self._words[at].isascii():
            yield from self._ways(rest, at + 1, {**values, "number": int(self._words[at][:9])})
        elif item == self._words[at].lower():
            yield from self._ways(rest, at + 1, values)
        else:
            self._expect(at, item)

    def _from(self, at: int) -> str:
        return " ".join(self._words[at:])
