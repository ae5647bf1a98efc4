"""Parses a cleaned line by the grammar into a command, or locates the unexpected token.

Lark's LALR parser calls `_VERBS`, the transformer, while it reads. The transformer has a callback
for each rule of a command, which builds the command from the matched parts, and one for each
terminal with a value. This module imports all of Lark, so it isn't imported before the first line
is parsed. Apart from it, only `thudmud.language.tables` uses Lark, to make the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import lru_cache
from inspect import signature
from itertools import zip_longest
from typing import Any, cast, get_args, get_type_hints

from lark import Token, Transformer, UnexpectedInput, UnexpectedToken, v_args
from msgspec.structs import fields

from thudmud import features
from thudmud.english import parse_duration
from thudmud.errors import InvalidValueError
from thudmud.game import more  # noqa: F401  (registers its verbs)
from thudmud.game.clocks import TimeClass, TimeControl
from thudmud.game.command import PARTS, TERMINALS, VERBS, Command
from thudmud.game.days import day_begins
from thudmud.game.options import SHADES, Colour, Element, Shade, Switch, Toggle
from thudmud.language.tables import load_parser
from thudmud.language.words import (
    END_OF_LINE,
    STOPS,
    SYNONYMS,
    TABLES,
    WORDS,
    UnexpectedTokenError,
    terminal_word,
)
from thudmud.rules import EVERY, RULESETS, Every, Piece, Side, Square, find_ruleset


def _square(position: Token) -> Square:
    return Square.parse(position.replace(" ", ""))


def _record(ply: Token) -> str:
    mark, squares = ply[0], ply[1:].strip().upper().replace("X", "x")
    return ("d" if mark in "dD" else mark.upper()) + squares


def _unstopped(words: Token) -> str:
    """Strip the full stop or exclamation mark that ends the line; no name ends in one."""
    return words.rstrip(STOPS) or str(words)


def _shade(words: Token) -> Shade:
    text = words.lower()
    if text in SHADES:
        return SHADES.index(text)
    if text in {"grey", "gray"}:
        return SHADES.index("bright black")
    if text.startswith("#"):
        red, green, blue = bytes.fromhex(text[1:])
        return red, green, blue
    return int(text)


_Captures = tuple[Square, ...] | Every


def _term(given: Any) -> Mapping[str, Any]:
    match given:
        case dict():
            return given
        case TimeControl():
            return {"time": given}
        case Token():
            return {"rated": given.type == "RATED"}
    return {"rules": given}


@v_args(inline=True)
class _Builder(Transformer[Token, Command]):
    """The transformer for parts of commands; `_VERBS` adds the commands themselves."""

    # Terminals with values. Other terminals stay tokens: their types name members of enumerations.
    POSITION = ORIGIN = staticmethod(_square)
    SHADE = staticmethod(_shade)
    ROW = COLUMNS = HEIGHT = NUMBER = int
    COLUMN = SPEECH = DEED = TOPIC = RULESET = str
    OBJECT = PLACE = PLAYER = WHOSE = LEVEL = staticmethod(_unstopped)
    WHOSE_BY_RULES = str
    BANNED = staticmethod(_unstopped)
    CLOCK = TimeControl.of
    RECORD = staticmethod(_record)
    LENGTH = staticmethod(parse_duration)
    TIME_OF_DAY = str
    WORD = PAGE = SMILE = staticmethod(str.lower)

    # Rules that several commands share.
    on = piece = because = str

    def capturing(self, *squares: Square) -> _Captures:
        return squares

    def capturing_all(self, _: Token) -> _Captures:
        return EVERY

    def capturing_none(self) -> _Captures:
        return ()

    # Rules of particular commands.
    def setup_squares(self, *words: Token | Square) -> list[tuple[Piece, Square]]:
        standing: list[tuple[Piece, Square]] = []
        piece = Piece.DWARF
        for word in words:
            if isinstance(word, Square):
                standing.append((piece, word))
            else:
                piece = Piece[word.type]
        return standing

    def setup_text(self, *words: Token) -> list[tuple[Piece, Square]]:
        """Parse a setup in record notation, where R can denote the Thudstone."""
        marks = {piece.mark.lower(): piece for piece in (Piece.DWARF, Piece.TROLL, Piece.ROCK)}
        return [
            (marks[word[0].lower()], Square.from_record(word[1:].strip().upper())) for word in words
        ]

    def setup_removed(self, *squares: Square) -> tuple[Square, ...]:
        return squares

    def setup_turn(self, _: Token | None, side: Token) -> Side:
        return Side[side.type]

    setup_first = setup_turn

    def side(self, word: Token) -> Mapping[str, Side]:
        return {"side": Side[word.type]}

    def level(self, words: str) -> Mapping[str, str]:
        return {"level": words}

    def on_place(self, words: str) -> Mapping[str, str]:
        return {"on": words}

    def terms(self, *given: Any) -> Mapping[str, Any]:
        """Merge the terms of a match, given in any order, into a mapping of field names."""
        return {name: value for each in given for name, value in _term(each).items()}

    def day(self, word: Token) -> str:
        return word.lower()

    def time_class(self, word: Token) -> TimeClass:
        return TimeClass[word.type]

    def option_switch(self, value: Token) -> Switch:
        return Switch(terminal_word(value.type))

    option_whether = option_switch

    def option_toggle(self, value: Token) -> Toggle:
        return Toggle(terminal_word(value.type))

    def option_element(self, *words: Token) -> Element:
        return Element.LAST_MOVE if words[0].type == "LAST" else Element[words[0].type]

    def option_colour(self, *parts: Token | Shade | Colour | None) -> Colour:
        foreground, background, bold = None, None, False
        for part in parts:
            if isinstance(part, Colour):
                background = part.background
            elif isinstance(part, Token):
                bold = True
            elif part is not None:
                foreground = part
        return Colour(foreground, background, bold)

    def option_ground(self, shade: Shade) -> Colour:
        return Colour(background=shade)

    option_plain = Colour

    def option_default(self, _: Token) -> None:
        return None


def _maker(kind: Callable[..., Command]) -> Callable[..., Command]:
    """Return the callback that builds a command from the matched parts of its rule.

    Omitted parts get their defaults. A token becomes the enumeration member that its type names, if
    the field's type hint has an enumeration.
    """
    if isinstance(kind, type):
        names = [each.name for each in fields(kind)]
        defaults = [None if each.required else each.default for each in fields(kind)]
    else:
        names, defaults = [*signature(kind).parameters], []
    hints = get_type_hints(kind)
    members = [_members(hints.get(name)) for name in names]
    if not any(each is not None for each in defaults) and not any(members):
        return kind

    def make(*words: Any) -> Command:
        found = []
        for word, default, named in zip_longest(words, defaults, members):
            if isinstance(word, Token) and named:
                found.append(named[word.type.strip("_")])
            else:
                found.append(default if word is None else word)
        return kind(*found)

    return make


def _members(hint: Any) -> Mapping[str, Enum] | None:
    """Return the members of the enumeration in a type hint, by name; None without one."""
    for each in (hint, *get_args(hint)):
        if isinstance(each, type) and issubclass(each, Enum):
            return each.__members__
    return None


for _feature in features.load():
    SYNONYMS.update((word, own) for own, words in _feature.synonyms for word in words.split())

_PARTS = {rule: _maker(kind) for rule, kind in VERBS.items()}
_PARTS |= PARTS
_PARTS |= {name: each.read for name, each in TERMINALS.items()}
_VERBS = v_args(inline=True)(
    type("_Verbs", (_Builder,), {name: staticmethod(make) for name, make in _PARTS.items()})
)

_WHATEVER = "[^ ].*"
"""The pattern of the terminals that match the rest of a line."""

_SAMPLE = "these words"


def read(line: str) -> Command:
    """Parse a cleaned line into a command.

    Raises:
        UnexpectedTokenError: the line isn't a command.
    """
    try:
        return cast("Command", _LARK.parse(line))
    except UnexpectedInput as error:
        raise UnexpectedTokenError(_column(line, error)) from None


def _column(line: str, error: UnexpectedInput) -> int:
    at_end = isinstance(error, UnexpectedToken) and error.token.type == END_OF_LINE
    if at_end or error.pos_in_stream is None:
        return len(line)  # Lark reports the last word's position for the end of the line
    return error.pos_in_stream


def read_any_words(line: str) -> Command | None:
    """Parse a line whose verb takes free text, as `read` would; None for other lines.

    A fast path: with Lark, parsing would take as long as all other work for such a line.
    """
    verb, _, words = line.partition(" ")
    if words and verb.lower() in _SPELLINGS and (made := _of_any_words(verb)) is not None:
        return made(words)
    return None


def next_terminals(beginning: str) -> frozenset[str]:
    """Return the terminals that may follow the beginning of a line.

    Raises:
        UnexpectedTokenError: the text is not the beginning of any line.
    """
    reading = _LARK.parse_interactive(beginning)
    try:
        reading.exhaust_lexer()
    except UnexpectedInput as error:
        raise UnexpectedTokenError(_column(beginning, error)) from None
    return frozenset(reading.accepts())  # type: ignore[no-untyped-call]  # Lark's own


@lru_cache(maxsize=256)
def _of_any_words(verb: str) -> Callable[[str], Command] | None:
    """Return the command class of a verb that takes free text; None for other verbs.

    Such a verb may only be followed by a terminal that matches the rest of the line, and its
    command has that text as its only field.
    """
    try:
        terminals = next_terminals(verb) - {END_OF_LINE}
    except UnexpectedTokenError:
        return None
    if [TABLES.terminals[name] for name in terminals] != [_WHATEVER]:
        return None
    found = _LARK.parse(f"{verb} {_SAMPLE}")
    made = cast("Callable[[str], Command]", type(found))
    return made if found == made(_SAMPLE) else None


def _ruleset(words: Token) -> Token:
    """Replace the words of a ruleset by its name.

    Raises:
        UnexpectedToken: the words name no ruleset. If they begin with the name of one, the token is
            the rest of them.
    """
    if rules := find_ruleset(words):
        return words.update(value=rules.name)
    parts, most = words.split(" "), 1 + max(each.count(" ") for each in RULESETS)
    begun = (" ".join(parts[:count]) for count in range(most, 0, -1))
    name = next(filter(find_ruleset, begun), "")
    beginning = len(name) + 1 if name else 0
    place = (words.start_pos or 0) + beginning
    rest = Token(words.type, words[beginning:], place)
    raise UnexpectedToken(rest, {words.type})  # type: ignore[no-untyped-call]  # Lark's own


def _whose(words: Token) -> Token:
    """Return a player's name unchanged, or retype it as ``WHOSE_BY_RULES`` if a ruleset is named.

    A lone ruleset is retyped too, since it can't be a player's name.

    Raises:
        UnexpectedToken: the words after the player's name aren't a ruleset.
    """
    player, _, rest = words.partition(" ")
    if rest and not find_ruleset(words):
        behind = Token("RULESET", rest, (words.start_pos or 0) + len(player) + 1)
        if find_ruleset(player):
            raise UnexpectedToken(behind, set())  # type: ignore[no-untyped-call]  # Lark's own
        return words.update("WHOSE_BY_RULES", f"{player} {_ruleset(behind)}")
    return words.update("WHOSE_BY_RULES") if find_ruleset(words) else words


def _day(word: Token) -> Token:
    """Validate a day; raise UnexpectedToken for a day that isn't in the calendar."""
    if day_begins(word) is None:
        raise UnexpectedToken(word, {"DAY"})  # type: ignore[no-untyped-call]  # Lark's own
    return word


def _sound(words: Token) -> Token:
    """Validate a token of a feature's terminal; raise UnexpectedToken if it has no valid value."""
    try:
        TERMINALS[words.type].read(words)
    except InvalidValueError:
        raise UnexpectedToken(words, {words.type}) from None  # type: ignore[no-untyped-call]  # Lark's own
    return words


_LARK = load_parser(
    TABLES,
    _VERBS(),
    {
        **dict.fromkeys(TERMINALS, _sound),
        "RULESET": _ruleset,
        "WHOSE": _whose,
        "DAY": _day,
    },
)

_SPELLINGS = frozenset(word for words in WORDS.values() for word in words)
