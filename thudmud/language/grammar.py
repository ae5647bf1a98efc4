"""The grammar: a cleaned line -> a command, or Lark's own error.

``grammar/thud.lark`` is read here, and each of its rules has a builder, which makes a command of
the words that the rule matched. What is known of the grammar's words is here, too. No line is
cleaned here, nor is it explained what is wrong with one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import cast

from lark import Lark, Token, Transformer, UnexpectedInput, UnexpectedToken, v_args
from lark.common import LexerConf
from lark.lexer import ContextualLexer

from thudmud.play.commands import (
    Adjourn,
    Around,
    Boards,
    Captures,
    Claim,
    Command,
    Emote,
    End,
    Games,
    Go,
    Help,
    History,
    Invite,
    Join,
    LastMove,
    Leave,
    Lines,
    Look,
    No,
    Password,
    Play,
    Query,
    Quit,
    Register,
    Replay,
    Resign,
    Resume,
    Say,
    ScanColumn,
    ScanRow,
    SetBoard,
    SetRules,
    Start,
    Step,
    Style,
    Syntax,
    Tell,
    Undo,
    ViewGame,
    ViewPossible,
    ViewRecord,
    ViewScore,
    ViewStandings,
    Way,
    Where,
    Who,
)
from thudmud.play.options import (
    SHADES,
    Charset,
    Colour,
    Element,
    OptionCommand,
    Orient,
    Scheme,
    SetCharset,
    SetColour,
    SetElement,
    SetMachine,
    SetOrient,
    SetReader,
    SetScheme,
    SetWidth,
    Shade,
    ShowOptions,
    ShowScheme,
    Switch,
)
from thudmud.rules import EVERY, Attempt, Every, Piece, Side, Square, Verb, ruleset_called
from thudmud.rules.board import LETTERS

# ruff: noqa: D102 (a method says no more than its name, which is that of a rule)


_GREY = SHADES.index("bright black")


def spoken(terminal: str) -> str:
    """Return the word that a terminal is named for: ``_UTF_8`` -> utf-8."""
    return re.sub("_(?=[0-9])", "-", terminal.strip("_")).replace("_", " ").lower()


def square(position: Token) -> Square:
    """Return the square of a position, which may hold a blank."""
    return Square.parse(position.replace(" ", ""))


@v_args(inline=True)
class QueryBuilder(Transformer[Token, Query]):
    """Builds the queries."""

    def where(self, piece: Token, on: str | None) -> Where:
        return Where(Piece[piece.type], on)

    def scan_row(self, row: Token, on: str | None) -> ScanRow:
        return ScanRow(int(row) - 1, on)

    def scan_column(self, column: Token, on: str | None) -> ScanColumn:
        return ScanColumn(LETTERS.index(column.upper()), on)

    def around(self, centre: Token, on: str | None) -> Around:
        return Around(square(centre), on)

    def lines(self, side: Token | None, on: str | None) -> Lines:
        return Lines(None if side is None else Side[side.type], on)

    def captures(self, origin: Token | None, on: str | None) -> Captures:
        return Captures(None if origin is None else square(origin), on)

    def last_move(self, *words: Token | str | None) -> LastMove:
        return LastMove(words[-1])


@v_args(inline=True)
class OptionBuilder(Transformer[Token, OptionCommand]):
    """Builds the commands about options, and the values in them."""

    def show_options(self) -> ShowOptions:
        return ShowOptions()

    def set_charset(self, value: Token) -> SetCharset:
        return SetCharset(Charset[value.type])

    def set_colour(self, value: Switch) -> SetColour:
        return SetColour(value)

    def set_scheme(self, value: Token) -> SetScheme:
        return SetScheme(Scheme[value.type])

    def show_scheme(self) -> ShowScheme:
        return ShowScheme()

    def set_element(self, element: Element, colour: Colour | None) -> SetElement:
        return SetElement(element, colour)

    def set_width(self, columns: Token) -> SetWidth:
        return SetWidth(None if columns.type == "AUTO" else int(columns))

    def set_orient(self, value: Token) -> SetOrient:
        return SetOrient(Orient[value.type])

    def set_reader(self, value: Switch) -> SetReader:
        return SetReader(value)

    def set_machine(self, value: Switch) -> SetMachine:
        return SetMachine(value is Switch.ON)

    def option_switch(self, value: Token) -> Switch:
        return Switch(spoken(value.type))

    option_whether = option_switch

    def option_element(self, *words: Token) -> Element:
        return Element.LAST_MOVE if words[0].type == "LAST" else Element[words[0].type]

    def option_colour(self, *parts: Token | Colour | None) -> Colour:
        foreground, background, bold = None, None, False
        for part in parts:
            if isinstance(part, Colour):
                background = part.background
            elif part is not None and part.type == "BOLD":
                bold = True
            elif part is not None:
                foreground = _shade(part)
        return Colour(foreground, background, bold)

    def option_ground(self, shade: Token) -> Colour:
        return Colour(background=_shade(shade))

    def option_plain(self) -> Colour:
        return Colour()

    def option_default(self, _: Token) -> None:
        return None


def _shade(words: Token) -> Shade:
    text = words.lower()
    if text in SHADES:
        return SHADES.index(text)
    if text in {"grey", "gray"}:
        return _GREY
    if text.startswith("#"):
        red, green, blue = bytes.fromhex(text[1:])
        return red, green, blue
    return int(text)


_Captures = tuple[Square, ...] | Every


@v_args(inline=True)
class _GameBuilder(Transformer[Token, Command]):
    """Builds the commands about games, battles and rooms."""

    def join(self, side: Token, on: str | None) -> Join:
        return Join(Side[side.type], on)

    def leave(self, on: str | None) -> Leave:
        return Leave(on)

    def end(self, on: str | None) -> End:
        return End(on)

    def begin(self, on: str | None) -> Start:
        return Start(on)

    def resign(self, on: str | None) -> Resign:
        return Resign(on)

    def undo(self, on: str | None) -> Undo:
        return Undo(on)

    def no(self, on: str | None) -> No:
        return No(on)

    def claim(self, on: str | None) -> Claim:
        return Claim(on)

    def adjourn(self, on: str | None) -> Adjourn:
        return Adjourn(on)

    def resume(self, number: Token | None, on: str | None) -> Resume:
        return Resume(None if number is None else int(number), on)

    def set_board(self, style: Token, on: str | None) -> SetBoard:
        return SetBoard(Style[style.type], on)

    def set_rules(self, rules: Token, on: str | None) -> SetRules:
        return SetRules(str(rules), on)

    def view_game(self, on: str | None) -> ViewGame:
        return ViewGame(on)

    def view_possible(self, origin: Token | None, on: str | None) -> ViewPossible:
        return ViewPossible(None if origin is None else square(origin), on)

    def play(
        self, verb: Token, origin: Token, target: Token, on: str | None, captures: _Captures | None
    ) -> Play:
        return Play(Attempt(Verb[verb.type], square(origin), square(target), captures), on)

    def play_turned(
        self, verb: Token, origin: Token, target: Token, captures: _Captures, on: str
    ) -> Play:
        return self.play(verb, origin, target, on, captures)

    def on(self, words: Token) -> str:
        return str(words)

    def capturing(self, *positions: Token) -> _Captures:
        return tuple(map(square, positions))

    def capturing_all(self) -> _Captures:
        return EVERY

    def capturing_none(self) -> _Captures:
        return ()

    def games(self) -> Games:
        return Games()

    def history(self, player: Token | None, page: Token | None) -> History:
        return History(_text(player), 1 if page is None else int(page))

    def replay(self, number: Token) -> Replay:
        return Replay(int(number))

    def step(self, way: Token) -> Step:
        return Step(Way[way.type])

    def record(self, number: Token) -> ViewRecord:
        return ViewRecord(int(number))

    def score(self, player: Token | None) -> ViewScore:
        return ViewScore(_text(player))

    def standings(self) -> ViewStandings:
        return ViewStandings()

    def look(self, words: Token | None) -> Look:
        return Look(_text(words))

    def go(self, words: Token) -> Go:
        return Go(str(words))

    def go_hall(self) -> Go:
        return Go()

    def boards(self) -> Boards:
        return Boards()

    def who(self) -> Who:
        return Who()

    def say(self, speech: Token) -> Say:
        return Say(str(speech))

    def emote(self, deed: Token) -> Emote:
        return Emote(str(deed))

    def tell(self, player: Token, speech: Token) -> Tell:
        return Tell(str(player), str(speech))

    def invite(self, player: Token, side: Token | None, on: str | None) -> Invite:
        return Invite(str(player), None if side is None else Side[side.type], on)

    def help(self, topic: Token | None) -> Help:
        return Help(_text(topic))

    def syntax(self, topic: Token | None) -> Syntax:
        return Syntax(_text(topic))

    def register(self) -> Register:
        return Register()

    def password(self) -> Password:
        return Password()

    def quit(self) -> Quit:
        return Quit()


def _text(token: Token | None) -> str | None:
    return None if token is None else str(token)


class Builder(_GameBuilder, QueryBuilder, OptionBuilder):
    """Builds the commands while the line is read; each method is named for a rule."""


END_OF_LINE = "$END"
"""Lark's name for the terminal that follows the last word."""

_WHATEVER = "[^ ].*"
"""The pattern of a terminal that takes all that is left of a line."""

_SAMPLE = "these words"

_SPELLING = re.compile(r"\(\?i:([a-z0-9\\ -]+)\)|\|([':])\)")
"""A quoted string of the grammar, as Lark writes it into a keyword's pattern: a word, or a sign
that may stand for one."""


def read(line: str) -> Command:
    """Return the command that a cleaned line asks for; ``lark.UnexpectedInput`` if it asks none."""
    return cast("Command", _LARK.parse(line))


def read_any_words(line: str) -> Command | None:
    """Return what `read` does of a verb that takes any words; None for every other line.

    To ask Lark each time what comes of such words takes as long as all the rest.
    """
    verb, _, words = line.partition(" ")
    if words and verb.lower() in _SPELLINGS and (made := _of_any_words(verb)) is not None:
        return made(words)
    return None


def following(beginning: str) -> frozenset[str]:
    """Return the terminals that may follow the beginning of a line that ``read`` understood."""
    reading = _LARK.parse_interactive(beginning)
    reading.exhaust_lexer()
    return frozenset(reading.accepts())  # type: ignore[no-untyped-call]  # Lark's own


def opens(terminals: frozenset[str], text: str) -> bool:
    """Whether a text begins with one of these terminals. To ask Lark in vain takes far longer."""
    return _opening(terminals).match(text) is not None


def openings(rule: str) -> frozenset[str]:
    """Return the terminals that a rule of the grammar can begin with, if it begins with one."""
    return frozenset(each.expansion[0].name for each in _LARK.rules if each.origin.name == rule)


@lru_cache(maxsize=256)
def _opening(terminals: frozenset[str]) -> re.Pattern[str]:
    patterns = [each.pattern.to_regexp() for each in _LARK.terminals if each.name in terminals]
    return re.compile("|".join(f"(?:{each})" for each in patterns) or "(?!)", _FLAGS)


@lru_cache(maxsize=256)
def _of_any_words(verb: str) -> Callable[[str], Command] | None:
    """Return what makes a command of a verb and any words behind it, if the grammar has one such.

    That is so if nothing may follow the verb but one terminal that takes whatever comes, and the
    command holds what it has taken and nothing else.
    """
    try:
        terminals = following(verb) - {END_OF_LINE}
    except UnexpectedInput:
        return None
    patterns = {each.name: each.pattern.value for each in _LARK.terminals}
    if [patterns[name] for name in terminals] != [_WHATEVER]:
        return None
    found = _LARK.parse(f"{verb} {_SAMPLE}")
    made = cast("Callable[[str], Command]", type(found))
    return made if found == made(_SAMPLE) else None


def _ruleset(words: Token) -> Token:
    """Return the name of the ruleset that the words are.

    Raises:
        UnexpectedToken: there is none. If a name is followed by more words, these are unexpected.
    """
    if rules := ruleset_called(words):
        return words.update(value=rules.name)
    name, _, _ = words.rpartition(" ")
    while name and not ruleset_called(name):
        name, _, _ = name.rpartition(" ")
    beginning = len(name) + 1 if name else 0
    place = (words.start_pos or 0) + beginning
    rest = Token(words.type, words[beginning:], place)
    raise UnexpectedToken(rest, {words.type})  # type: ignore[no-untyped-call]  # Lark's own


def grammar_file() -> Traversable | Path:
    """Return the grammar: in an installed package its own copy, in a checkout the only one."""
    installed = resources.files("thudmud") / "grammar" / "thud.lark"
    if installed.is_file():
        return installed
    return Path(__file__).parents[2] / "grammar" / "thud.lark"


_FLAGS = re.ASCII
"""Or U+017F would do for "s" and U+212A for "k"."""


class _Lexer(ContextualLexer):
    """Takes the grammar as it is: a test checks it once, in Lark's strict mode.

    Wherever there is ``interegular``, Lark would search all terminals for collisions as it loads.
    """

    def __init__(
        self, conf: LexerConf, states: dict[int, Collection[str]], always_accept: Collection[str]
    ) -> None:
        conf.skip_validation = True
        super().__init__(conf, states, always_accept)


_LARK = Lark(
    grammar_file().read_text(encoding="utf-8"),
    parser="lalr",
    lexer="contextual",
    transformer=Builder(),
    g_regex_flags=_FLAGS,
    lexer_callbacks={"RULESET": _ruleset},
    _plugins={"ContextualLexer": _Lexer},
)

WORDS: dict[str, tuple[str, ...]] = {
    terminal.name: words
    for terminal in _LARK.terminals
    if (words := tuple(
        (found[1] or found[2]).replace("\\", "")
        for found in _SPELLING.finditer(terminal.pattern.to_regexp())
    ))
}  # fmt: skip
"""The lower-case spellings of every keyword's terminal, in the order of the grammar."""

_SPELLINGS = frozenset(word for words in WORDS.values() for word in words)

_FREE_RULES = ("query", "option")
"""How the rules begin whose own words nobody would misread in the place of a name."""

RESERVED_WORDS: tuple[str, ...] = tuple(
    word
    for name, words in WORDS.items()
    if any(
        symbol.name == name and not rule.origin.name.startswith(_FREE_RULES)
        for rule in _LARK.rules
        for symbol in rule.expansion
    )
    for word in words
)
"""The spellings of those terminals that stand in other rules, too."""
