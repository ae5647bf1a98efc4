"""The vocabulary of a house: the language's verbs, minus those left out, plus the host's own.

The host's own verbs are command classes with a pattern of words, slots and optional parts in
``[...]``. The slots are ``<player>``, ``<number>`` and ``<text>``; they fill the fields of the same
names. ``<text>`` matches the rest of the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import Enum
from inspect import cleandoc
from typing import Any, ClassVar, TypeVar

from msgspec.structs import fields

from thudmud import features
from thudmud.errors import InvalidValueError
from thudmud.game.command import COMMANDS, Command
from thudmud.game.refusals import Mistake
from thudmud.language.cleaning import clean
from thudmud.language.parsing import THE_END, ParseError, diagnose, parse, speech_in_quotes
from thudmud.language.slips import near_miss
from thudmud.language.words import FIRST, STOPS, WORDS, begins_with_terminal, feature_terminals

_TOKEN = re.compile(
    r"(?P<opens>\[)|(?P<closes>\])|<(?P<slot>player|number|text)>|(?P<word>[a-z]+)|\S"
)

_NUMBER = re.compile("[0-9]{1,9}")

_Item = str | tuple["_Item", ...]
"""A word, a slot such as ``<player>``, or an optional part."""


class HostCommand(Command):
    """A command of the host's own. The docstring is the help page, and its first line the title.

    Attributes:
        syntax: the command's pattern.
        page: the text of the help page.
    """

    syntax: ClassVar[str]
    page: ClassVar[str]
    items: ClassVar[tuple[_Item, ...]]

    def __str__(self) -> str:
        chosen = {
            f"<{each.name}>": str(value)
            for each in fields(self)
            if (value := getattr(self, each.name)) != each.default
        }
        return " ".join(_typed(self.items, chosen))


def _typed(items: tuple[_Item, ...], chosen: Mapping[str, str]) -> Iterator[str]:
    """Yield the words of a command line; optional parts only if one of their slots has a value."""
    for item in items:
        if isinstance(item, str):
            yield chosen.get(item, item)
        elif any(each in chosen for each in item):
            yield from _typed(item, chosen)


OwnCommandT = TypeVar("OwnCommandT", bound=HostCommand)


def own_verb(syntax: str) -> Callable[[type[OwnCommandT]], type[OwnCommandT]]:
    """Return a class decorator that defines one of the host's own commands.

    Args:
        syntax: the command's pattern, such as ``beckon [to <player>]``.

    Raises:
        InvalidValueError: the pattern doesn't begin with a word; its slots and the fields differ;
            the field of an optional slot has no default; or the class has no docstring.
    """

    def make(kind: type[OwnCommandT]) -> type[OwnCommandT]:
        kind.syntax, kind.items = syntax, _read(syntax)
        kind.words, kind.page = str(kind.items[0]), cleandoc(kind.__doc__ or "")
        slots = re.findall("<([a-z]+)>", syntax)
        if not kind.words.isalpha() or sorted(slots) != sorted(kind.__struct_fields__):
            raise InvalidValueError(
                f"pattern {syntax!r} doesn't match the fields of {kind.__name__}"
            )
        needed = {each.name for each in fields(kind) if each.required}
        if left_out := needed - {str(each).strip("<>") for each in kind.items}:
            raise InvalidValueError(f"optional fields need a default: {', '.join(left_out)}")
        if not kind.page:
            raise InvalidValueError(f"{kind.__name__} needs a docstring, which is its help page")
        return kind

    return make


def _read(syntax: str) -> tuple[_Item, ...]:
    """Parse a pattern; raise InvalidValueError if it is malformed."""
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
            raise InvalidValueError(f"unexpected {token[0]!r} in the pattern {syntax!r}")
    if len(stack) > 1 or not stack[0]:
        raise InvalidValueError(f"unbalanced brackets in the pattern {syntax!r}, or nothing in it")
    return tuple(stack[0])


_ADVISED: Mapping[Enum, str] = {
    Mistake.NO_DIRECTIONS: "go",
    Mistake.NOTHING_TO_CARRY: "look",
    Mistake.SAY_IT: "say",
    Mistake.SAY_OR_SHOUT: "say",
    Mistake.NOTHING_ABOUT_THE_SERVER: "who",
    Mistake.LOGGED_IN_ALREADY: "quit",
    Mistake.EMOTE_FOR_SOCIAL: "emote",
}
"""The verbs that the advice for words typed by habit in MUDs, such as ``north``, names."""


def _first_words(commands: Iterable[type[Command]]) -> frozenset[str]:
    return frozenset(each.words.partition(" ")[0] for each in commands)


class Vocabulary:
    """The verbs of one house.

    Args:
        own: the host's own commands.
        without: features and verbs to leave out: names of features, and first words of verbs. The
            synonyms of such a verb go too, such as ``decline`` with ``no``.

    Raises:
        InvalidValueError: two verbs begin with the same word, or a word in ``without`` is neither a
            feature nor the first word of a verb.

    Attributes:
        own: the host's own commands, by their first words.
        first_words: the first words of the language's verbs that stay, synonyms included.
        without: the first words of all verbs that are left out, synonyms included.
        features_left_out: the names of the features that are left out.
    """

    def __init__(
        self, own: Iterable[type[HostCommand]] = (), without: Collection[str] = ()
    ) -> None:
        gone = features.left_out(without)
        self.features_left_out = tuple(each.name for each in gone)
        of_gone = {terminal for each in gone for terminal in feature_terminals().get(each.name, ())}
        # Lines that begin with one of these terminals are refused without being parsed.
        self._left = frozenset(
            name
            for name in FIRST
            if name in of_gone or any(word in without for word in WORDS.get(name, ()))
        )
        self.without = frozenset(word for name in self._left for word in WORDS[name])
        # Lines that parse to these commands are refused, too: some begin with a verb that stays, as
        # "resume tournament" does.
        self._of_gone = tuple(kind for each in gone for kind in each.commands)
        self._gone_words = frozenset(word for name in of_gone for word in WORDS.get(name, ()))
        kept = _first_words(each for each in COMMANDS if each not in self._of_gone)
        # A command that stays may begin with the same word.
        self.without |= _first_words(self._of_gone) - kept
        if unknown := set(without) - self.without - {each.name for each in gone}:
            raise InvalidValueError(f"unknown verbs: {', '.join(sorted(unknown))}")
        self.first_words = ours = frozenset(
            word for name in FIRST - self._left for word in WORDS.get(name, ())
        )
        self.own: dict[str, type[HostCommand]] = {}
        for kind in own:
            if kind.words in self.own or kind.words in ours:
                raise InvalidValueError(f"the verb {kind.words} exists already")
            self.own[kind.words] = kind

    def parse(self, line: str) -> Command:
        """Parse any string into a command of this house; raises only ``ParseError``."""
        cleaned = clean(line)
        if kind := self.own.get(cleaned.partition(" ")[0].lower().rstrip(STOPS)):
            return _Matching(cleaned.rstrip(f" {STOPS}"), kind).command()
        if self._left and begins_with_terminal(self._left, speech_in_quotes(cleaned)):
            raise self._unknown_word_error(cleaned, None)
        try:
            command = parse(line)
        except ParseError as error:
            if error.code is not Mistake.UNKNOWN_COMMAND and not self._is_left_to_host(error):
                raise
            raise self._unknown_word_error(
                error.line, error.suggestion, (*self.own, *error.expected)
            ) from None
        if isinstance(command, self._of_gone):
            raise self._left_out_error(cleaned)
        if self._left and begins_with_terminal(self._left, str(command)):
            raise self._unknown_word_error(cleaned, None)  # in other words for that verb
        return command

    def check_available(self, command: Command) -> None:
        """Raise ParseError if a command is left out of this vocabulary, or another house's own."""
        if isinstance(command, HostCommand):
            # Not by its words: it may have replaced a verb that was left out.
            is_available = type(command) is self.own.get(command.words)
        else:
            is_available = not isinstance(command, self._of_gone) and not (
                self._left and begins_with_terminal(self._left, str(command))
            )
        if not is_available:
            raise self._unknown_word_error(str(command), None)

    def _is_left_to_host(self, error: ParseError) -> bool:
        """Whether the advice for a word typed by habit would name a verb that is left out."""
        return _ADVISED.get(error.code) in self.without

    def _left_out_error(self, line: str) -> ParseError:
        """Return the error for a line of a left-out feature, at the first word of that feature."""
        column = 0
        for word in line.split(" "):
            if word.lower().rstrip(STOPS) in self._gone_words:
                break
            column += len(word) + 1
        if column in {0, len(line) + 1}:
            return self._unknown_word_error(line, None)
        expected = (
            each for each in diagnose(line, column).expected if each not in self._gone_words
        )
        return ParseError(Mistake.UNEXPECTED_WORD, line, column, word, expected=tuple(expected))

    def _unknown_word_error(
        self, line: str, suggestion: str | None, expected: Collection[str] = ()
    ) -> ParseError:
        word = line.partition(" ")[0]
        meant = near_miss(word, self.own, first=True) or suggestion
        meant = None if meant in self.without else meant
        begins = tuple(each for each in expected if each not in self.without)
        return ParseError(Mistake.UNKNOWN_COMMAND, line, 0, word, expected=begins, suggestion=meant)


class _Matching:
    """A backtracking match of a line against the pattern of an own command.

    The furthest word that any attempt reached is where the error is reported, with the items that
    the attempts expected there.
    """

    def __init__(self, line: str, kind: type[HostCommand]) -> None:
        self._line, self._kind, self._words = line, kind, line.split(" ")
        self._furthest, self._expected = 0, list[str]()

    def command(self) -> Command:
        for at, values in self._match_items(self._kind.items, 0, {}):
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

    def _match_items(
        self, items: tuple[_Item, ...], at: int, values: dict[str, Any]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield all ways to match items, beginning with word ``at``.

        Yields:
            The index of the word after the match, and the values of all slots so far.
        """
        if not items:
            yield at, values
            return
        item, rest = items[0], items[1:]
        if isinstance(item, tuple):
            for then, found in self._match_items(item, at, values):
                yield from self._match_items(rest, then, found)
            yield from self._match_items(rest, at, values)
        elif at == len(self._words):
            self._expect(at, item)
        elif item == "<text>":
            yield from self._match_items(
                rest, len(self._words), {**values, "text": self._rest_of_line(at)}
            )
        elif item == "<player>":
            yield from self._match_items(rest, at + 1, {**values, "player": self._words[at]})
        elif item == "<number>" and _NUMBER.fullmatch(self._words[at]):
            yield from self._match_items(rest, at + 1, {**values, "number": int(self._words[at])})
        elif item == self._words[at].lower():
            yield from self._match_items(rest, at + 1, values)
        else:
            self._expect(at, item)

    def _rest_of_line(self, at: int) -> str:
        return " ".join(self._words[at:])
