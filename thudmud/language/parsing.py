"""Parses a line of text into a command, or raises a `ParseError` that locates the mistake.

Also validates names of boards and players.
"""

from __future__ import annotations

import re
from collections.abc import Container
from contextlib import suppress
from enum import Enum
from functools import cache, lru_cache
from typing import Any

from thudmud.errors import RefusedError, ThudmudError
from thudmud.game.command import Command
from thudmud.game.options import SetOption
from thudmud.game.refusals import Mistake, NameProblem
from thudmud.game.resolution import RESERVED
from thudmud.language.caching import cache_by_hash
from thudmud.language.cleaning import clean
from thudmud.language.rephrasing import FIRST_WORDS as REPHRASED_WORDS
from thudmud.language.rephrasing import rephrase
from thudmud.language.slips import (
    FIRST_WORD_MISTAKE_DETECTORS,
    MISTAKE_DETECTORS,
    Diagnosis,
    ErrorLocation,
    near_miss,
    possible_terminals,
)
from thudmud.language.words import (
    END_OF_LINE,
    FIRST,
    RESERVED_WORDS,
    STOPS,
    WORDS,
    UnexpectedTokenError,
    begins_with_terminal,
    opening_terminals,
    terminal_word,
)
from thudmud.rules import RULESETS


class ParseError(RefusedError):
    """Raised for a line that isn't a command. The refusal's details include the attributes.

    Attributes:
        code: the mistake.
        line: the cleaned line.
        column: the start of the word that doesn't fit, from 0; the line's length if a word is
            missing at the end.
        word: the word that doesn't fit; "" if one is missing at the end.
        expected: the alternatives at that column: words, and kinds of words such as ``<position>``.
        suggestion: the words that were probably meant; None if unknown.
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
    def understood_part(self) -> str:
        """The part of the line that made sense."""
        return self.line[: self.column].strip()


MAX_LINE = 1024
"""The maximum number of characters in a line, as typed."""

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
    "HEIGHT": ("<height>",),
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
    "WORD": ("<word>",),
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
"""The placeholders in `ParseError.expected` for terminals that aren't keywords; listed before
keywords."""

THE_END = "<end>"
"""The placeholder for the end of the line."""


def diagnose(line: str, column: int) -> ParseError:
    """Diagnose a cleaned line that is valid up to a column: the mistake, and what to suggest."""
    place = ErrorLocation.of(line, column)
    finding = Diagnosis()
    for slip in MISTAKE_DETECTORS if place.before else FIRST_WORD_MISTAKE_DETECTORS:
        if found := slip(place):
            finding = found
            break
    code, meant, facts = finding
    return ParseError(
        code or _general_mistake(place),
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


def _general_mistake(place: ErrorLocation) -> Mistake:
    if not place.line:
        return Mistake.EMPTY_LINE
    if place.column == 0:
        return Mistake.UNKNOWN_COMMAND
    return Mistake.UNEXPECTED_WORD if place.word else Mistake.MISSING_WORD


_nearest = cache_by_hash(1024)(near_miss)
"""Cached, since the same mistakes recur, and comparing words is slow."""


_ANY_PIECE = {"_THE", "DWARF", "TROLL", "ROCK"}


_UNFINISHED = {"_ON", END_OF_LINE}
"""Possible after the beginning of a ply, which then gets an example, but not what was meant."""


@lru_cache(maxsize=256)
def _expected(terminals: frozenset[str]) -> tuple[str, ...]:
    if "_CAPTURING" in terminals:
        terminals -= {"_COMMA"}  # may stand before "capturing", but isn't worth a mention
    if "MOVE" in terminals:
        terminals -= {"_MOVES"}  # "last moves" means the same as "last move"
    if terminals.issuperset(_ANY_PIECE):
        terminals -= _ANY_PIECE  # "move the dwarf from" means the same as "move from"
        terminals -= _UNFINISHED
    if "_DASH" in terminals:
        terminals -= _UNFINISHED
    # The element "last move" begins with the word of a verb, "last".
    more = {"LAST": " move"} if "SQUARES" in terminals else {}
    return (
        *(kind for name, kinds in _KINDS.items() if name in terminals for kind in kinds),
        *(f"{terminal_word(name)}{more.get(name, '')}" for name in WORDS if name in terminals),
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
"""The lower-case words of the command language, which can't be players' names."""


@cache
def second_words(verb: str) -> tuple[str, ...]:
    """Return the keywords that can follow the first word of a line."""
    return tuple(
        word for name, words in WORDS.items() if name in possible_terminals(verb) for word in words
    )


_REMEMBERED = 8192
"""The maximum number of lines cached with their commands: enough for all frequent moves."""

_LONGEST_REMEMBERED = 64
"""The maximum length of a cached line, so that the cache takes a few megabytes."""


def parse(line: str) -> Command:
    """Parse any string into a command; raises only ``ParseError``."""
    from thudmud.language.grammar import read_any_words  # noqa: PLC0415  (it brings Lark along)

    if len(line) > MAX_LINE:
        begun = clean(line[:MAX_LINE])
        raise ParseError(Mistake.LINE_TOO_LONG, begun, len(begun), most=MAX_LINE)
    cleaned = clean(line)
    if (command := read_any_words(cleaned)) is not None:
        return command
    try:  # as `_parse_as_typed` does, which would be one more call for each line
        if len(cleaned) > _LONGEST_REMEMBERED or not cleaned.isascii() or cleaned[:1] == '"':
            return parse_uncached(cleaned)
        try:
            return _parse_cached(cleaned)
        except _PrivateError:
            return parse_uncached(cleaned)
    except ParseError as error:
        command = _parse_rephrased(cleaned, error)
        if command is None:
            raise
    return command


_REPHRASED = 2
"""How often a line is rephrased: "/goto oak" is "goto oak", which is "go oak"."""


def _parse_rephrased(line: str, error: ParseError) -> Command | None:
    """Parse what a line that isn't a command means in other words; None if that is unknown."""
    for _ in range(_REPHRASED):
        meant = rephrase(line, error.column, error.code, error.suggestion or "")
        if meant is None:
            return None
        try:
            return _parse_as_typed(meant)
        except ParseError as wrong:
            line, error = meant, wrong
    return None


def _parse_as_typed(line: str) -> Command:
    """Parse a cleaned line, with the cache if that is allowed to keep it."""
    if len(line) > _LONGEST_REMEMBERED or not line.isascii() or line[:1] == '"':
        return parse_uncached(line)
    try:
        return _parse_cached(line)
    except _PrivateError:
        return parse_uncached(line)


PLAIN_SIGNS = (
    dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032"), "'")
    | dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033"), '"')
    | dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-")
)
"""The signs that phones type in place of quotation marks, apostrophes and hyphens."""


def parse_uncached(line: str) -> Command:
    """Parse a cleaned line as ``parse`` does, without the cache.

    Typographic quotation marks and dashes are replaced by plain ones only if the line doesn't parse
    otherwise, and a mark that begins speech is replaced alone, so that speech stays as typed.
    """
    try:
        return _parsed(line)
    except ParseError:
        is_speech = line[:1] in _OPENING
        plain = speech_in_quotes(line) if is_speech else line.translate(PLAIN_SIGNS)
        if plain == line:
            raise
    return _parsed(plain)


_OPENING = {"'", '"'} | {chr(sign) for sign, plain in PLAIN_SIGNS.items() if plain != "-"}
_CLOSING = {"\u2018": "\u2019", "\u201a": "\u2018", "\u201c": "\u201d", "\u201e": "\u201c"}


def speech_in_quotes(line: str) -> str:
    """Return a line that begins with a quotation mark as speech, and any other line as it is.

    The opening mark is the verb; its closing counterpart isn't part of the words.
    """
    opening = line[:1]
    if opening not in _OPENING:
        return line
    return f"'{line[1:].removesuffix(_CLOSING.get(opening, opening))}"


def _parsed(line: str) -> Command:
    from thudmud.language.grammar import read  # noqa: PLC0415  (as above)

    stopped = line.rstrip(f" {STOPS}")
    if stopped and stopped != line:
        if begins_with_terminal(FIRST, line):  # first with the stop, which may be part of speech
            with suppress(UnexpectedTokenError):
                return read(line)
        line = stopped
    if not begins_with_terminal(FIRST, line):  # Lark would fail at the first word, only slower
        raise diagnose(line, 0)
    try:
        return read(line)
    except UnexpectedTokenError as error:
        raise diagnose(line, error.column) from None


_FREE_TEXT = {"SPEECH", "DEED", "COMMENT_TEXT", "TITLE"}
"""The terminals for players' own words. ``TOPIC`` isn't among them: topics are our help pages."""

_SECRETS = {"ADDRESS", "CODE", "ENDPOINT", "KEY"}
"""The terminals for secrets and mail addresses."""

_WITH_PRIVATE_WORDS = opening_terminals(_FREE_TEXT | _SECRETS)
"""The terminals that begin lines with possibly private words, which must not be cached."""


class _PrivateError(ThudmudError):
    """Raised for a line that must not be cached, since it may hold free text or a secret."""


@lru_cache(maxsize=_REMEMBERED)
def _parse_cached(line: str) -> Command:
    """Parse a cleaned line, with a cache.

    An exception keeps a line out of the cache. That covers lines that may hold free text or
    secrets, and lines that don't parse, which may be anything: a password typed in the wrong place.

    Raises:
        ParseError: the line isn't a command.
        _PrivateError: the line must be parsed by ``parse_uncached``.
    """
    if begins_with_terminal(_WITH_PRIVATE_WORDS, line):
        raise _PrivateError
    return parse_uncached(line)


LONGEST_NAME = 30
"""The maximum length of a board's name."""

NAME_LENGTHS = range(2, 21)
"""The possible lengths of a player's name."""

_SENTENCES_BEGIN = """
    above add after also and another any anybody anyone as ask battle battles begin better
    between both bots bring but by capture change choose colours column come did do each east either
    elsewhere every everyone everything examples for four give good goodbye how if in instead keep
    lesson make many match more name names no north northeast northwest not note nothing now
    numbers of old once one only options or other others over part pieces players playing please
    ply put puzzles ratings ready really row safe saying see seeing so sorry south southeast
    southwest squares still take tell that then there these they this those three thudstone too
    trample trap try turn two type walk watch welcome well west what whatever when whenever where
    which while who whoever with write yes keeping bytes connections open plies seats standing
    hello times whether past people find matches sit beyond got click press
    small things adjourned carry down found less meanwhile notifications plans points thinking
    long under colour programs addresses codes comeback occupied refused rows
    seconds without
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

TAKEN_WORDS = (
    KEYWORDS | RESERVED | REPHRASED_WORDS | set(f"{_SENTENCES_BEGIN} {_IN_CHARGE}".split())
)
"""Lower-case words that can't be players' names: commands would be misread, or the player mistaken
for the server or somebody else."""

_NAME = re.compile(r"[A-Za-z]+( [A-Za-z]+)*")


def is_name(name: str) -> bool:
    """Whether players can type a string as a board's name."""
    return len(name) <= LONGEST_NAME and _NAME.fullmatch(name) is not None


def board_problem(name: str) -> str | None:
    """Return the problem with a board's name, as the end of a sentence; None for a valid name."""
    if not is_name(name):
        return f"should be at most {LONGEST_NAME} letters and single spaces"
    words = name.lower().split(" ")
    reserved = RESERVED.intersection(words) or (KEYWORDS - {"board"}).intersection(
        [" ".join(words)]
    )
    if reserved:
        return f'should not contain "{min(reserved)}", which is a word in commands'
    return None


def player_problem(name: str, board_words: Container[str] = ()) -> RefusedError | None:
    """Return the refusal of a player's name; None for a valid name.

    Players can't have the lower-case words of boards' names either.
    """
    least, most = NAME_LENGTHS[0], NAME_LENGTHS[-1]
    if name.lower() == "help":
        return RefusedError(NameProblem.ASKS_FOR_HELP, least=least, most=most)
    if not (name.isascii() and name.isalpha() and len(name) in NAME_LENGTHS):
        return RefusedError(NameProblem.NO_NAME, least=least, most=most)
    if name.lower() in TAKEN_WORDS or name.lower() in board_words:
        return RefusedError(NameProblem.HAS_A_MEANING, words=name)
    return None


def parse_option(line: str) -> SetOption | None:
    """Parse a line that sets an option; None for any other line, such as a name."""
    try:
        command = parse(line) if " " in line.strip() else None  # one word can't set an option
    except ParseError:
        return None
    return command if isinstance(command, SetOption) else None
