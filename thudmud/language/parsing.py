"""Parses a line of text into a command, or a `ParseError` that says where it went wrong.

Also checks names of boards and players.
"""

from __future__ import annotations

import re
from collections.abc import Container
from contextlib import suppress
from enum import Enum
from functools import cache, lru_cache
from typing import Any

from thudmud.errors import Refused, ThudmudError
from thudmud.game.command import Command
from thudmud.game.meaning import RESERVED
from thudmud.game.options import SetOption
from thudmud.game.refusals import Mistake, NameProblem
from thudmud.language.caching import cache_by_hash
from thudmud.language.cleaning import clean
from thudmud.language.slips import (
    SLIPS,
    SLIPS_AT_FIRST,
    Finding,
    Place,
    near_miss,
    possible,
)
from thudmud.language.words import (
    END_OF_LINE,
    FIRST,
    RESERVED_WORDS,
    STOPS,
    WORDS,
    Stumbled,
    opens,
    opens_with,
    spoken,
)
from thudmud.rules import RULESETS


class ParseError(Refused):
    """A line is no command. The details have the attributes, too.

    Attributes:
        code: the mistake.
        line: the cleaned line.
        column: where the word that does not fit begins, from 0; the line's length if a word is
            missing at the end.
        word: the word that does not fit; "" if one is missing at the end.
        expected: what could stand there: words, and kinds of words such as ``<position>``.
        suggestion: the words probably meant; None if not known.
    """

    code: Enum

    def __init__(
        self,
        code: Enum,
        line: str,
        column: int,
        word: str = "",
        *,
        expected: tuple[str, ...] = (),
        suggestion: str | None = None,
        **facts: object,
    ) -> None:
        known: dict[str, Any] = {"line": line, "column": column, "word": word, **facts}
        super().__init__(code, **known, expected=expected, suggestion=suggestion)
        self.args = (code, line, column, word)
        self.line = line
        self.column = column
        self.word = word
        self.expected = expected
        self.suggestion = suggestion

    @property
    def understood(self) -> str:
        """The part of the line that made sense."""
        return self.line[: self.column].strip()


MAX_LINE = 1024
"""The most characters that a line may have, as typed."""

_KINDS = {
    "POSITION": ("<position>",),
    "ORIGIN": ("<position>",),
    "OBJECT": ("<object>",),
    "PLACE": ("<object>",),
    "PLAYER": ("<player>",),
    "WHOSE": ("<player>",),
    "LEVEL": ("<level>",),
    "NUMBER": ("<number>",),
    "DAY": ("<day>",),
    "ROW": ("<row>",),
    "COLUMN": ("<column>",),
    "COLUMNS": ("<width>",),
    "CLOCK": ("<clock>",),
    "LENGTH": ("<time>",),
    "ROUNDS": ("<rounds>",),
    "TITLE": ("<title>",),
    "TIME_OF_DAY": ("<hour>",),
    "BANNED": ("<player>", "<address>", "<network>"),
    "SHADE": ("<colour>",),
    "ADDRESS": ("<mail>",),
    "CODE": ("<code>",),
    "HOURS": ("<hours>",),
    "ENDPOINT": ("<url>",),
    "KEY": ("<key>",),
    "PIECE": ("<piece>",),
    "RECORD": ("<record>",),
    "BATTLE_AND_PLY": ("<ply>",),
    "COMMENT_TEXT": ("<text>",),
    "SPEECH": ("<text>",),
    "DEED": ("<deed>",),
    "_COMMA": (",", "and"),
}
"""What is expected for terminals that are no keywords. These are told before keywords."""

THE_END = "<end>"
"""What is expected where the line could end."""


def diagnose(line: str, column: int) -> ParseError:
    """Return the error of a cleaned line that makes sense up to a column."""
    place = Place.of(line, column)
    finding = Finding()
    for slip in SLIPS if place.before else SLIPS_AT_FIRST:
        if found := slip(place):
            finding = found
            break
    code, meant, facts = finding
    return ParseError(
        code or _general(place),
        line,
        place.column,
        place.word,
        expected=_expected(place.terminals),
        suggestion=(
            _nearest(place.word, place.spellings, first=place.column == 0)
            if meant is None
            else meant or None
        ),
        **facts,
    )


def _general(place: Place) -> Mistake:
    if not place.line:
        return Mistake.EMPTY_LINE
    if place.column == 0:
        return Mistake.UNKNOWN_COMMAND
    return Mistake.UNEXPECTED_WORD if place.word else Mistake.MISSING_WORD


_nearest = cache_by_hash(1024)(near_miss)
"""Cached, since the same slips recur, and comparing words is slow."""


_ANY_PIECE = {"_THE", "DWARF", "TROLL", "ROCK"}


@lru_cache(maxsize=256)
def _expected(terminals: frozenset[str]) -> tuple[str, ...]:
    if "_CAPTURING" in terminals:
        terminals -= {"_COMMA"}  # it may stand before "capturing", but need not be told
    if "MOVE" in terminals:
        terminals -= {"_MOVES"}  # "last moves" is "last move"
    if terminals.issuperset(_ANY_PIECE):
        terminals -= _ANY_PIECE  # "move the dwarf from" is "move from"
    more = {"LAST": " move"} if "SQUARES" in terminals else {}  # an element, not the verb
    return (
        *(kind for name, kinds in _KINDS.items() if name in terminals for kind in kinds),
        *(f"{spoken(name)}{more.get(name, '')}" for name in WORDS if name in terminals),
        *(RULESETS if "RULESET" in terminals else ()),
        *([THE_END] if END_OF_LINE in terminals else []),
    )


VERBS: tuple[str, ...] = tuple(
    word for name, words in WORDS.items() if name in FIRST for word in words
)
"""The words and signs that a line can begin with, in the order of the grammar."""

KEYWORDS: frozenset[str] = frozenset(
    word for phrase in (*RESERVED_WORDS, *VERBS, *RULESETS) for word in phrase.split()
)
"""The lower-case words of the command language, which cannot be players' names."""


@cache
def second_words(verb: str) -> tuple[str, ...]:
    """Return the keywords that can follow the first word of a line."""
    return tuple(word for name, words in WORDS.items() if name in possible(verb) for word in words)


_REMEMBERED = 8192
"""How many lines are cached with their commands: enough for all frequent moves."""

_LONGEST_REMEMBERED = 64
"""The most characters of a cached line, so that the cache takes a few megabytes."""


def parse(line: str) -> Command:
    """Return the command of a line, which may be any text; raises only ``ParseError``."""
    from thudmud.language.grammar import read_any_words  # noqa: PLC0415  (it brings Lark along)

    if len(line) > MAX_LINE:
        begun = clean(line[:MAX_LINE])
        raise ParseError(Mistake.LINE_TOO_LONG, begun, len(begun), most=MAX_LINE)
    cleaned = clean(line)
    if (command := read_any_words(cleaned)) is not None:
        return command
    if len(cleaned) > _LONGEST_REMEMBERED or not cleaned.isascii():
        return parse_afresh(cleaned)
    try:
        return _remembered(cleaned)
    except _PrivateError:
        return parse_afresh(cleaned)


PLAIN_SIGNS = (
    dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032"), "'")
    | dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033"), '"')
    | dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-")
)
"""The signs that phones type in place of a quotation mark, an apostrophe or a hyphen."""


def parse_afresh(line: str) -> Command:
    """Parse a clean line as ``parse`` does, without the cache.

    Typographic quotation marks and dashes are read as their plain signs where the line makes no
    sense as it is, so that what players say stays as they typed it.
    """
    try:
        return _parsed(line)
    except ParseError:
        plain = line.translate(PLAIN_SIGNS)
        if plain == line:
            raise
    if (line[0], line[-1]) == ("\u2018", "\u2019"):  # the mark that says something, then closed
        plain = plain[:-1]
    return _parsed(plain)


def _parsed(line: str) -> Command:
    from thudmud.language.grammar import read  # noqa: PLC0415  (as above)

    stopped = line.rstrip(f" {STOPS}")
    if stopped and stopped != line:
        if opens(FIRST, line):  # the stop may be part of what is said
            with suppress(Stumbled):
                return read(line)
        line = stopped
    if not opens(FIRST, line):  # so Lark would not get any further
        raise diagnose(line, 0)
    try:
        return read(line)
    except Stumbled as error:
        raise diagnose(line, error.column) from None


_FREE_TEXT = {"SPEECH", "DEED", "COMMENT_TEXT", "TITLE"}
"""The terminals of players' own words. That of topics is not among them: it is about our pages."""

_SECRETS = {"ADDRESS", "CODE", "ENDPOINT", "KEY"}
"""The terminals of secrets, and of addresses of mail."""

_WITH_PRIVATE_WORDS = opens_with(_FREE_TEXT | _SECRETS)
"""The terminals that begin lines in which there may be words that are not to be remembered."""


class _PrivateError(ThudmudError):
    """A line is not to be remembered, since it may hold free text or a secret."""


@lru_cache(maxsize=_REMEMBERED)
def _remembered(line: str) -> Command:
    """Return the command of a clean line.

    What raises is not cached: lines that may hold free text or secrets, and lines that cannot be
    read, which may be anything: a password that was typed in the wrong place.

    Raises:
        ParseError: the line is no command.
        _PrivateError: it has to be parsed by ``parse_afresh``.
    """
    if opens(_WITH_PRIVATE_WORDS, line):
        raise _PrivateError
    return parse_afresh(line)


LONGEST_NAME = 30
"""The most characters that the name of a board may have."""

NAME_LENGTHS = range(2, 21)
"""How many letters the name of a player may have."""

_SENTENCES_BEGIN = """
    above add after also and another any anybody anyone as ask battle battles begin better
    between both bots bring but by capture change choose colours column come did do each east either
    elsewhere every everyone everything examples for four give goodbye how if in instead keep
    lesson make many match more name names no north northeast northwest not note nothing now
    numbers of old once one only options or other others over part pieces players playing please
    ply put puzzles ratings ready really row safe saying see seeing so sorry south southeast
    southwest squares still take tell that then there these they this those three thudstone too
    trample trap try turn two type walk watch welcome well west what whatever when whenever where
    which while who whoever with write yes keeping bytes connections open plies seats standing
    hello times whether past people find matches sit beyond got click press
    small things
"""
"""First words of the server's sentences. A test finds missing ones."""

_IN_CHARGE = """
    admin administrator admins bot client console daemon error everybody god gods guest guests
    he her hers him his host i info its mine mod moderator moderators mods mud my nobody none
    notice operator operators ops our ours owner player root server she somebody someone staff
    superuser support sysadmin sysop system team their theirs them thud thudmud us warning we
    webmaster wizard wizards you your yours yourself
"""
"""Words for people in charge, programs, readers and speakers."""

TAKEN_WORDS = KEYWORDS | RESERVED | set(f"{_SENTENCES_BEGIN} {_IN_CHARGE}".split())
"""Lower-case words that cannot be players' names: they would be misread in commands, or the player
mistaken for the server or somebody else."""

_NAME = re.compile(r"[A-Za-z]+( [A-Za-z]+)*")


def is_name(name: str) -> bool:
    """Whether players can type a text as a board's name."""
    return len(name) <= LONGEST_NAME and _NAME.fullmatch(name) is not None


def board_problem(name: str) -> str | None:
    """Return what is wrong with the name of a board, or None if nothing is."""
    if not is_name(name):
        return f"should be at most {LONGEST_NAME} letters and single blanks"
    words = name.lower().split(" ")
    reserved = RESERVED.intersection(words) or (KEYWORDS - {"board"}).intersection(
        [" ".join(words)]
    )
    if reserved:
        return f'should not hold "{min(reserved)}", which means something else to players'
    return None


def player_problem(name: str, board_words: Container[str] = ()) -> Refused | None:
    """Return why that cannot be a player's name, or None if it can.

    Players cannot have the lower-case words of boards' names either.
    """
    least, most = NAME_LENGTHS[0], NAME_LENGTHS[-1]
    if name.lower() == "help":
        return Refused(NameProblem.ASKS_FOR_HELP, least=least, most=most)
    if not (name.isascii() and name.isalpha() and len(name) in NAME_LENGTHS):
        return Refused(NameProblem.NO_NAME, least=least, most=most)
    if name.lower() in TAKEN_WORDS or name.lower() in board_words:
        return Refused(NameProblem.HAS_A_MEANING, words=name)
    return None


def chosen_by(line: str) -> SetOption | None:
    """Return the choice of an option in a line; None for any other line, such as a name."""
    try:
        command = parse(line) if " " in line.strip() else None  # one word chooses nothing
    except ParseError:
        return None
    return command if isinstance(command, SetOption) else None
