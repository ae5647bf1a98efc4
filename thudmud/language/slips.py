"""Detectors of known kinds of mistakes in lines, and suggestions of the intended words.

Each detector in `MISTAKE_DETECTORS` gets the `ErrorLocation` where parsing failed, and returns a
`Diagnosis`, or None if the mistake isn't of its kind. The docstring of a detector begins with
examples of lines, or of the words at the place. Suggestions come from similarity and from a list of
words of other games.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from thudmud.english import LENGTHS, parse_duration, typed_duration
from thudmud.errors import InvalidValueError
from thudmud.game.clocks import TimeControl
from thudmud.game.command import TERMINALS
from thudmud.game.options import HEIGHTS, SHADES, WIDTHS
from thudmud.game.refusals import Mistake
from thudmud.language.caching import cache_by_hash
from thudmud.language.words import SYNONYMS, WORDS, UnexpectedTokenError, begins_with_terminal
from thudmud.rules import RULESETS, Attempt, Square, Verb
from thudmud.rules.board import distance
from thudmud.values import Value

_OF_ELSEWHERE = {
    word: code
    for code, words in {
        Mistake.AGREE_BY_THE_SAME: "y yeah ok okay agree agreed accepted",
        Mistake.NO_DIRECTIONS: """
            n north ne northeast e east se southeast s south sw southwest w west nw northwest u up d
            down
        """,
        Mistake.NOTHING_TO_CARRY: "i inv inventory eq equipment get drop wear wield",
        Mistake.NO_ABORTING: "abort",
        Mistake.NO_MORE_TIME: "moretime addtime",
        Mistake.SEATS_SWAP_THEMSELVES: "swap switch",
        Mistake.NO_PASSING: "pass skip",
        Mistake.NOT_CHESS: "castle promote check checkmate mate",
        Mistake.CAPTURE_BY_A_MOVE: "attack eat kill take",
        Mistake.SAY_IT: "hello hi hey thanks thx ty goodnight lol wp",
        Mistake.SAY_OR_SHOUT: "chat gossip ooc",
        Mistake.NOTHING_ABOUT_THE_SERVER: "date ping uptime version",
        Mistake.STYLES_OF_BOARDS: "style",
        Mistake.NO_CLEARING: "clear cls",
        Mistake.LOGGED_IN_ALREADY: "co connect login logon signin",
        Mistake.RATED_IS_A_TERM: "rated unrated casual",
    }.items()
    for word in words.split()
}
"""Words that are commands in other games, with the mistake to report."""

_ALIKE = 0.7
"""The minimum ``difflib`` ratio of similar words: "mvoe" and "move" have 0.75."""

_SHORT = 3
"""The minimum length of a suggestion for the first word of a line, and of an abbreviation. Shorter
words resemble too many others."""

_PUNCTUATION = ".,;:!?"


def near_miss(word: str, candidates: Collection[str], *, first: bool = False) -> str | None:
    """Return the candidate closest to a mistyped word: a synonym, a completion or a similar word.

    Args:
        word: the mistyped word.
        candidates: the words to suggest.
        first: whether the word is the first of a line. Anything may be typed there, so that short
            candidates are not suggested.

    Returns:
        The suggestion, which may have further words; None if no candidate is close enough.
    """
    asked = word.lower().rstrip(_PUNCTUATION) or word
    meant = SYNONYMS.get(asked, "")  # such as "help scoring", which begins with a candidate
    if meant.partition(" ")[0] in candidates:
        return meant
    words = sorted(one for one in candidates if len(one) >= _SHORT or not first)
    if len(asked) >= _SHORT:
        for candidate in words:
            if candidate.startswith(asked):
                return candidate
    return next(iter(get_close_matches(asked, words, n=1, cutoff=_ALIKE)), None)


NO_FACTS: Mapping[str, object] = MappingProxyType({})


class Diagnosis(NamedTuple):
    """The diagnosis of a mistake.

    Attributes:
        code: the mistake; None for a word that merely doesn't fit.
        meant: the suggested words; None if unknown, "" to suggest nothing.
        facts: further details for the message.
    """

    code: Enum | None = None
    meant: str | None = None
    facts: Mapping[str, object] = NO_FACTS


def _mistake(code: Enum, meant: str | None = None, **facts: object) -> Diagnosis:
    return Diagnosis(code, meant, facts)


def _suggestion(word: str) -> Diagnosis:
    return Diagnosis(meant=word)


@cache_by_hash(256)
def possible_terminals(beginning: str) -> frozenset[str]:
    """Return the terminals that may follow the beginning of a line, with a cache.

    Raises:
        UnexpectedTokenError: the text is not the beginning of any line.
    """
    from thudmud.language.grammar import next_terminals  # noqa: PLC0415  (it brings Lark along)

    return next_terminals(beginning)


def can_follow(beginning: str, word: str) -> bool:
    """Whether a word may follow the beginning of a line."""
    return begins_with_terminal(possible_terminals(beginning), word) and is_valid_beginning(
        f"{beginning} {word}".strip()
    )


def is_valid_beginning(beginning: str) -> bool:
    """Whether a string is the beginning of some valid line."""
    try:
        possible_terminals(beginning)
    except UnexpectedTokenError:
        return False
    return True


class ErrorLocation(Value):
    """The location of a parse error.

    Attributes:
        line: the cleaned line.
        column: the column of the error, from 0.
        before: the valid part of the line, in front of the column.
        rest: the rest of the line.
        word: the word at the column, up to a blank or comma. A comma is a word of its own, and so
            is a number with a unit where a length of time may stand.
        terminals: the terminals that could have stood there.
    """

    line: str
    column: int
    before: str
    rest: str
    word: str
    terminals: frozenset[str]

    @classmethod
    def of(cls, line: str, column: int) -> ErrorLocation:
        """Locate an error at a column of a line that is valid up to there."""
        before, rest = line[:column].strip(), line[column:]
        word = "," if rest.startswith(",") else _unbroken(rest)
        terminals = possible_terminals(before)
        if "LENGTH" in terminals and (length := _MEANT_LENGTH.match(rest)):
            word = length[0]
        return cls(line, column, before, rest, word, terminals)

    @property
    def whole_word(self) -> str:
        """The whole word around the column, in case the error is in the middle of a word."""
        return _unbroken(self.line[: self.column][::-1])[::-1] + self.word

    @property
    def spellings(self) -> tuple[str, ...]:
        """All keywords and names of rulesets that could have stood there."""
        words = _spellings(self.terminals)
        return (*words, *RULESETS) if "RULESET" in self.terminals else words


_UNBROKEN = re.compile("[^ ,]*")
_BEHIND_ZEROS = "0*?(0|[1-9][0-9]*)(?![0-9])"
"""A number with leading zeros, of which the group skips the zeros. Matches in linear time."""

_MEANT_LENGTH = re.compile(
    rf"(?:an?|{_BEHIND_ZEROS})(?: ?(?!because(?![^ ,]))([A-Z]+))?(?![^ ,])",
    re.ASCII | re.IGNORECASE,
)


def _unbroken(text: str) -> str:
    found = _UNBROKEN.match(text)
    return found[0] if found else ""


@lru_cache(maxsize=256)
def _spellings(terminals: frozenset[str]) -> tuple[str, ...]:
    return tuple(word for name, words in WORDS.items() if name in terminals for word in words)


_ROWS = range(1, 16)
_POSITIONS = {"POSITION", "ORIGIN"}
_NAMED_POSITION = re.compile(r"([A-Z]) ?([0-9]{1,4})(?![0-9A-Z_])", re.ASCII | re.IGNORECASE)
_GLUED_POSITIONS = re.compile(
    r"([A-O][0-9]{1,2})[->;/]{0,2}([A-O][0-9]{1,2})", re.ASCII | re.IGNORECASE
)
_RECORDED = re.compile(
    r"([DTR]?)([A-P][0-9]{1,2})(?:-?([A-P][0-9]{1,2}))?((?:x[A-P][0-9]{1,2})*)",
    re.ASCII | re.IGNORECASE,
)
_ENDS_IN_POSITION = re.compile(r"\b[A-O] ?[0-9]{1,2}$", re.ASCII | re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]{1,4}(?=[ ,]|$)")
_MEANT_NUMBER = re.compile(r"#?0*+([0-9]*+)[.#]?", re.ASCII)
_MEANT_ROW = re.compile("-?0*+([0-9]{0,3}+)[0-9]*+", re.ASCII)
_LETTER = re.compile("[A-Z]", re.ASCII)
_PIECE_ON_I = re.compile("[dTR] ?I[0-9]{1,2}", re.ASCII | re.IGNORECASE)
_PLY_ON_I = re.compile(
    "[dTR](?=.*I)[A-P][0-9]{1,2}-[A-P][0-9]{1,2}(x[A-P][0-9]{1,2})*", re.ASCII | re.IGNORECASE
)
_MEANT_DAYS = re.compile(r"([0-9]{1,4}) ?-?(?:d|days?)(?![^ ,])", re.ASCII | re.IGNORECASE)
_MEANT_MINUTES = re.compile(
    r"([0-9]{1,4}) ?(?:m|mins?|minutes?)?(?: ?[+/:|-] ?| (?:and|plus) | )?([0-9]{1,4})?"
    r" ?(?:s|secs?|seconds?)?(?![^ ,])",
    re.ASCII | re.IGNORECASE,
)
_LEVEL_NUMBER = re.compile("[1-9]", re.ASCII)
_FILLERS = {"is", "are", "the"}
_LONGEST_NUMBER = 9
_HIDDEN = {"register", "password"}


def _split_number(place: ErrorLocation) -> Diagnosis | None:
    """``A1 5``: a blank between the digits of a row number."""
    position = _ENDS_IN_POSITION.search(place.before)
    digits = _DIGITS.match(place.rest)
    if position is None or digits is None:
        return None
    meant = position[0].upper().replace(" ", "") + digits[0]
    typed = f"{position[0]} {digits[0]}"
    is_row = int(meant[1:]) in _ROWS
    return _mistake(Mistake.BLANK_IN_NUMBER, meant if is_row else None, typed=typed)


def _no_such_position(place: ErrorLocation) -> Diagnosis | None:
    """``I16``, ``Z3``: a position outside the grid."""
    named = _NAMED_POSITION.match(place.rest)
    if named is None or not _POSITIONS & place.terminals:
        return None
    if named[1].upper() > "O":
        return _mistake(Mistake.NO_SUCH_COLUMN, letter=named[1].upper())
    if int(named[2]) not in _ROWS:
        return _mistake(Mistake.NO_SUCH_ROW, row=named[2])
    return None


def _as_in_records(place: ErrorLocation) -> Diagnosis | None:
    """``dA6-B6``, ``a6xb6``: a ply in record notation, or squares joined by its signs.

    With the letter of a piece, columns are read as in records, which skip the I; without it, as the
    board has them. The suggestion is the move in the command language.
    """
    ply = _RECORDED.fullmatch(place.whole_word)
    if ply is None or not (ply[1] or ply[4]) or not _POSITIONS & place.terminals:
        return None
    try:
        origin, *others = (
            Square.from_record(name.upper()) if ply[1] else Square.parse(name)
            for name in (ply[2], *filter(None, (ply[3], *ply[4].lower().split("x")[1:])))
        )
    except ValueError:
        return None
    if not others or (ply[3] is None and len(others) > 1):
        return None
    # In "a6xb6" nothing but the captured square can be the target.
    target, *captures = others if ply[3] else others * 2
    verb = Verb.MOVE
    if captures == [target]:
        verb, captures = Verb.HURL, []
    elif captures and ply[1].upper() == "T" and distance(origin, target) > 1:
        verb = Verb.SHOVE
    attempt = Attempt(verb, origin, target, tuple(captures) or None)
    is_lettered = bool(ply[1])
    return _mistake(Mistake.AS_IN_RECORDS, "", typed=str(attempt), is_lettered=is_lettered)


def _glued_positions(place: ErrorLocation) -> Diagnosis | None:
    """``a6b6``: two positions in one word."""
    glued = _GLUED_POSITIONS.fullmatch(place.whole_word)
    if glued is None or not (
        _POSITIONS & place.terminals or _ENDS_IN_POSITION.search(place.before)
    ):
        return None
    return _mistake(Mistake.POSITIONS_TOGETHER, one=glued[1].upper(), other=glued[2].upper())


def _no_such_number(place: ErrorLocation) -> Diagnosis | None:
    """``#12``, ``012``, ``0``, ``12345678901``: a number in another notation, or out of range."""
    digits = _MEANT_NUMBER.fullmatch(place.word)
    if digits is None or place.word in {"", "#"} or "NUMBER" not in place.terminals:
        return None
    if not digits[1]:
        return _mistake(Mistake.NUMBERS_BEGIN_WITH_1)
    if len(digits[1]) > _LONGEST_NUMBER:
        return _mistake(Mistake.NUMBER_TOO_LONG, most=_LONGEST_NUMBER)
    return _suggestion(digits[1])


def _record_with_an_i(place: ErrorLocation) -> Diagnosis | None:
    """``setup dI5``, ``ply dI5-I6``: a column I, which record notation skips."""
    if "PIECE" in place.terminals and _PIECE_ON_I.fullmatch(place.word):
        return _mistake(Mistake.NO_I_IN_RECORDS)
    if "RECORD" in place.terminals and _PLY_ON_I.fullmatch(place.word):
        return _mistake(Mistake.NO_I_IN_PLIES)
    return None


def _capture_of_a_piece(place: ErrorLocation) -> Diagnosis | None:
    """``capture f6``: a square to capture, without a move."""
    is_one = place.word and place.before.lower() == "capture"
    return _mistake(Mistake.CAPTURE_BY_A_MOVE, "") if is_one else None


def _social_in_own_words(place: ErrorLocation) -> Diagnosis | None:
    """``laugh at the trolls``: a social with more than the name of a player."""
    is_one = place.word and begins_with_terminal(frozenset({"SMILE"}), place.before)
    return _mistake(Mistake.EMOTE_FOR_SOCIAL, "") if is_one else None


def _no_number(place: ErrorLocation) -> Diagnosis | None:
    """``replay``, ``analyse anna``: a missing battle number."""
    is_one = place.before.lower() in {"replay", "record", "analyse"}
    return _mistake(Mistake.NO_BATTLE_NUMBER) if is_one else None


def _enter_a_board(place: ErrorLocation) -> Diagnosis | None:
    """``enter oak board``: a board's name in place of a tournament's number."""
    return _mistake(Mistake.NO_TOURNAMENT_NUMBER) if place.before.lower() == "enter" else None


def _pause_a_match(place: ErrorLocation) -> Diagnosis | None:
    """``pause``: tournaments are paused, but matches are adjourned."""
    return _mistake(Mistake.PAUSE_FOR_ADJOURN) if place.before.lower() == "pause" else None


def _no_such_row_or_column(place: ErrorLocation) -> Diagnosis | None:
    """``scan row 16``, ``scan column p``: outside the grid, or a row and a column confused."""
    word = place.word.upper()
    row, column = _MEANT_ROW.fullmatch(word), _LETTER.fullmatch(word)
    if not word:
        return None
    if "ROW" in place.terminals and row is not None:
        if int(row[1] or 0) in _ROWS:
            return _suggestion(row[1])
        return _mistake(Mistake.NO_SUCH_ROW, row=word[:4])
    if "COLUMN" in place.terminals and column is not None:
        return _mistake(Mistake.NO_SUCH_COLUMN, letter=word)
    if "ROW" in place.terminals and column is not None and word <= "O":
        return _mistake(Mistake.COLUMN_FOR_ROW, letter=word)
    if "COLUMN" in place.terminals and row is not None and int(row[1] or 0) in _ROWS:
        return _mistake(Mistake.ROW_FOR_COLUMN, row=row[1])
    return None


def _moves_of_a_move(place: ErrorLocation) -> Diagnosis | None:
    """``moves a6 b6``: "moves", which lists moves, for "move"."""
    first, _, rest = place.line.partition(" ")
    if first.lower() != "moves" or not is_valid_beginning(f"move {rest}"):
        return None
    return _mistake(Mistake.MOVES_FOR_MOVE)


def _where_is_a_player(place: ErrorLocation) -> Diagnosis | None:
    """``where anna``: "where" finds pieces only. ``where are the trolls``: superfluous words."""
    word = place.word
    if place.before.lower() != "where" or not word.isalpha() or near_miss(word, place.spellings):
        return None
    if word.lower() in _FILLERS:
        return _mistake(Mistake.WHERE_WITH_FILLERS)
    return _mistake(Mistake.WHERE_FINDS_PIECES)


def _page_without_a_word(place: ErrorLocation) -> Diagnosis | None:
    """``history 2``: a page number without "page"."""
    digits = _MEANT_NUMBER.fullmatch(place.word)
    if digits is None or not digits[1] or "_PAGE" not in place.terminals:
        return None
    return _suggestion(f"page {digits[1]}")


_MEANT_TIME_OF_DAY = re.compile(
    r"([0-9]{1,2})(?:[.:h]?([0-9]{2}))?(?: ?([ap])m| ?h| ?o'clock)?(?![^ ,])",
    re.ASCII | re.IGNORECASE,
)


def _no_such_time_of_day(place: ErrorLocation) -> Diagnosis | None:
    """``starts 20.00``, ``starts 8 pm``, ``starts 24:00``: a time in another notation, or none."""
    time = _MEANT_TIME_OF_DAY.match(place.rest) if "TIME_OF_DAY" in place.terminals else None
    if time is None:
        return None
    hour, minute = int(time[1]), int(time[2] or 0)
    if time[3] and 1 <= hour <= 12:
        hour = hour % 12 + (12 if time[3] in "pP" else 0)
    meant = f"{hour}:{minute:02}" if hour < 24 and minute < 60 else ""
    return _mistake(Mistake.NO_SUCH_TIME_OF_DAY, meant)


_MEANT_DAY = re.compile(r"[0-9]{1,4}([-./])[0-9]{1,2}(\1[0-9]{0,4})?[.]?", re.ASCII)


def _no_such_day(place: ErrorLocation) -> Diagnosis | None:
    """``history 2026-02-30``, ``history 20.11.2026``: no day, or a date in another notation."""
    is_one = "DAY" in place.terminals and _MEANT_DAY.fullmatch(place.word)
    return _mistake(Mistake.NO_SUCH_DAY) if is_one else None


def _opponent_without_a_word(place: ErrorLocation) -> Diagnosis | None:
    """``history anna bert``: an opponent without "with"."""
    word = place.word
    # The cheap tests come first, since every line that doesn't parse gets here.
    if "_WITH" not in place.terminals or "TITLE" in place.terminals or not word.isalpha():
        return None
    return None if near_miss(word, place.spellings) else _suggestion(f"with {word}")


def _command_of_other_games(place: ErrorLocation) -> Diagnosis | None:
    """``north``, ``inventory``, ``ok``: commands of other games."""
    code = None if place.column else _OF_ELSEWHERE.get(place.word.lower())
    return code and _mistake(code, "")


def _level_without_a_word(place: ErrorLocation) -> Diagnosis | None:
    """``match grog 1``: a bot's level without "level"."""
    if "_LEVEL" not in place.terminals or not _LEVEL_NUMBER.fullmatch(place.rest):
        return None
    return _suggestion(f"level {place.word}")


def _clock_in_other_notation(place: ErrorLocation) -> Diagnosis | None:
    """``10 5``, ``10m``, ``5+``, ``3d``, ``200+5``: a time control in another notation, or none."""
    days, minutes = _MEANT_DAYS.match(place.rest), _MEANT_MINUTES.match(place.rest)
    if "CLOCK" not in place.terminals or not (days or minutes):
        return None
    try:
        if days:
            return _mistake(Mistake.CLOCK_WRITTEN_OTHERWISE, str(TimeControl(days=int(days[1]))))
        given, increment = (int(each or 0) for each in minutes.groups()) if minutes else (0, 0)
        return _mistake(Mistake.CLOCK_WRITTEN_OTHERWISE, str(TimeControl(given, increment)))
    except InvalidValueError:
        return _mistake(Mistake.NO_SUCH_CLOCK, "")


def clock_length(text: str) -> int:
    """Return the length of the time control in another notation that a text begins with."""
    found = _MEANT_DAYS.match(text) or _MEANT_MINUTES.match(text)
    return len(found[0]) if found else 0


def _match_for_an_invitation(place: ErrorLocation) -> Diagnosis | None:
    """``invite anna classic 10+5``: "invite" with the terms of a match, which "match" takes."""
    verb, _, rest = place.line.partition(" ")
    if (
        verb.lower() != "invite"
        or not place.word
        or not is_valid_beginning(typed := f"match {rest}")
    ):
        return None
    return _mistake(Mistake.MATCH_FOR_INVITE, "", typed=typed)


def _duration_in_other_notation(place: ErrorLocation) -> Diagnosis | None:
    """``10``, ``2 minuts``, ``010 hours``: a duration in another notation, or without "for"."""
    behind = _MEANT_LENGTH.match(place.rest) if "_FOR" in place.terminals else None
    if behind and is_valid_beginning(f"{place.before} for {behind[0]}"):
        return _suggestion(f"for {behind[0]}")
    found = _MEANT_LENGTH.fullmatch(place.word)
    if "LENGTH" not in place.terminals or found is None:
        return None
    number, unit = found[1] or "", found[2]
    meant = near_miss(unit, [*LENGTHS, *(f"{each}s" for each in LENGTHS)]) if unit else "minutes"
    typed = f"{number or 1} {meant}"
    if not (meant and (number or unit) and is_valid_beginning(f"{place.before} {typed}")):
        return None
    return _suggestion(typed_duration(parse_duration(typed)))


def _play_for_join(place: ErrorLocation) -> Diagnosis | None:
    """``play oak``: "play", which finds an opponent, for "join", which takes a seat."""
    return _mistake(Mistake.PLAY_FOR_JOIN) if place.before.lower() == "play" else None


def _secret_in_line(place: ErrorLocation) -> Diagnosis | None:
    """``register swordfish``: a password after a verb that asks for it separately."""
    verb = place.before.lower()
    return _mistake(Mistake.REST_IS_ASKED_FOR, verb=verb) if verb in _HIDDEN else None


_HUES = SHADES[:8]
_NUMBER = re.compile(f"(-?){_BEHIND_ZEROS}", re.ASCII)
_SIX_DIGITS = re.compile("[0-9a-f]{6}", re.ASCII | re.IGNORECASE)
_THREE_DIGITS = re.compile("#([0-9a-f]{3})", re.ASCII | re.IGNORECASE)
_PLURALS = {"colours": "colour", "colors": "colour"}
_SWITCHED = {"yes": "on", "no": "off", "none": "off"}
_LEFT_OUT = {
    "": ("scan", "options", "set board"),
    "scan": ("row", "column"),
    "set": ("board", "rules"),
    "options": (
        "charset",
        "width",
        "rows",
        "orient",
        "size",
        "colour scheme",
        "colour special thud",
    ),
    "options colour": ("scheme", "special thud"),
    "options colour special": ("thud",),
}
"""Words that players omit, by the beginning of the line in front of them. A beginning whose rest
would be ambiguous, as "on" would, isn't listed."""


def _no_such_size(place: ErrorLocation) -> Diagnosis | None:
    """``options width 7``, ``options rows 3``: a size in another notation, or out of range."""
    number = _NUMBER.fullmatch(place.word)
    is_height = "HEIGHT" in place.terminals
    if number is None or not (is_height or "COLUMNS" in place.terminals):
        return None
    sign, digits = number.groups()
    if not sign and is_valid_beginning(f"{place.before} {digits}"):
        return _suggestion(digits)
    code = Mistake.NO_SUCH_HEIGHT if is_height else Mistake.NO_SUCH_WIDTH
    valid = HEIGHTS if is_height else WIDTHS
    return _mistake(code, least=valid[0], most=valid[-1])


def _no_such_number_of_a_colour(place: ErrorLocation) -> Diagnosis | None:
    """``256``, ``#ff8``, ``ff8800``: a colour number in another notation, or out of range."""
    if "SHADE" not in place.terminals:
        return None
    word = place.word
    number, short = _NUMBER.fullmatch(word), _THREE_DIGITS.fullmatch(word)
    if _SIX_DIGITS.fullmatch(word):
        return _suggestion(f"#{word.lower()}")
    if short is not None:
        return _suggestion("#" + "".join(digit * 2 for digit in short[1].lower()))
    if word.startswith("#"):
        return _mistake(Mistake.NOT_SIX_DIGITS)
    if number is None:
        return None
    sign, digits = number.groups()
    if not sign and is_valid_beginning(f"{place.before} {digits}"):
        return _suggestion(digits)
    return _mistake(Mistake.NO_SUCH_COLOUR_NUMBER)


def _no_such_colour(place: ErrorLocation) -> Diagnosis | None:
    """``orange``, ``bright``: not a colour."""
    word = place.word.lower()
    if "SHADE" not in place.terminals or not word.isalnum():
        return None
    if word == "bright":
        following = place.rest[len(word) :].split(" ")
        meant = near_miss(following[1], _HUES) if len(following) > 1 else None
        return _mistake(Mistake.BRIGHT_ALONE, meant and f"bright {meant}", colours=_HUES)
    meant = near_miss(word, [*place.spellings, *_HUES, "bright", "grey"])
    if meant is not None and meant not in _HUES:
        return _suggestion(meant)
    return _mistake(Mistake.NO_SUCH_COLOUR, meant, colours=_HUES)


def _second_colour(place: ErrorLocation) -> Diagnosis | None:
    """``red blue``: a background colour without "on"."""
    before, word = place.before.lower(), place.word
    if not re.match("options? colou?r special ", before) or "_ON" not in place.terminals:
        return None
    return _suggestion(f"on {word}") if word and is_valid_beginning(f"{before} on {word}") else None


def _words_left_out(place: ErrorLocation) -> Diagnosis | None:
    """``options vivid``, ``colour off``, ``colours``, ``scan 5``, ``brief``: words left out."""
    before = place.before.lower()
    if before:
        before = re.sub(r"\boption\b", "options", before)
        before = re.sub(r"\bcolor\b", "colour", before)
    word = _PLURALS.get(place.word.lower(), place.word)
    # The cheap test comes first, since most lines that don't parse get here.
    if not word or not begins_with_terminal(_behind_words_left_out(before), word):
        return None
    for words in _LEFT_OUT.get(before, ()):
        if can_follow(f"{before} {words}".strip(), word):
            return _suggestion(f"{words} {word}")
    return None


@cache_by_hash(256)
def _behind_words_left_out(before: str) -> frozenset[str]:
    """Return the terminals that may follow any words that could have been left out."""
    return frozenset().union(
        *(possible_terminals(f"{before} {words}".strip()) for words in _LEFT_OUT.get(before, ()))
    )


def _yes_or_no(place: ErrorLocation) -> Diagnosis | None:
    """``options colour yes``: "yes" or "no" for "on" or "off"."""
    meant = _SWITCHED.get(place.word.lower())
    return _suggestion(meant) if meant and {"_ON", "OFF"} <= place.terminals else None


def _set_like_an_option(place: ErrorLocation) -> Diagnosis | None:
    """``set width 60``: "set" for "options"."""
    option = f"options {place.rest}"
    if place.before.lower() != "set" or not place.rest or not is_valid_beginning(option):
        return None
    return _mistake(Mistake.SET_FOR_OPTIONS, option=option)


def _invalid_feature_value(place: ErrorLocation) -> Diagnosis | None:
    """``notify quiet 25 to 7``: an invalid value for a feature's own terminal."""
    possible = (TERMINALS[name].mistake for name in TERMINALS if name in place.terminals)
    wrong = next(filter(None, possible), None)
    if wrong is None or not place.word or near_miss(place.word, place.spellings):
        return None
    return _mistake(wrong)


MISTAKE_DETECTORS: tuple[Callable[[ErrorLocation], Diagnosis | None], ...] = (
    _split_number,
    _no_such_position,
    _record_with_an_i,
    _as_in_records,
    _glued_positions,
    _no_such_number,
    _capture_of_a_piece,
    _social_in_own_words,
    _no_number,
    _enter_a_board,
    _pause_a_match,
    _no_such_row_or_column,
    _moves_of_a_move,
    _where_is_a_player,
    _page_without_a_word,
    _no_such_time_of_day,
    _no_such_day,
    _opponent_without_a_word,
    _command_of_other_games,
    _level_without_a_word,
    _clock_in_other_notation,
    _match_for_an_invitation,
    _duration_in_other_notation,
    _play_for_join,
    _secret_in_line,
    _no_such_size,
    _no_such_number_of_a_colour,
    _no_such_colour,
    _second_colour,
    _words_left_out,
    _yes_or_no,
    _set_like_an_option,
    _invalid_feature_value,
)
"""The detectors in order of precedence: the first `Diagnosis` counts."""

FIRST_WORD_MISTAKE_DETECTORS = (
    _no_such_position,
    _as_in_records,
    _glued_positions,
    _command_of_other_games,
    _words_left_out,
)
"""The detectors for an error in the first word. Most lines that don't parse begin with a mistyped
verb, which the other detectors can't explain."""
