"""Rewrites lines that aren't commands, but can mean only one, in the words of the language.

They are lines of players who are used to other games: moves such as ``f1->f6`` and ``g7f7xf6``,
clocks such as ``5 3``, and verbs such as ``sought`` and ``/me``. A line is rewritten only after it
has failed to parse, and the result is parsed as if it had been typed. Whatever could mean two
things isn't rewritten; `thudmud.language.slips` explains it.
"""

from __future__ import annotations

import re
from enum import Enum

from thudmud.game.refusals import Mistake
from thudmud.language.slips import clock_length

_FIRST_WORDS = {
    word: ours
    for ours, words in {
        "clock": "turn",
        "emote": "me",
        "finger": "whoami",
        "go": "goto",
        "join": "sit",
        "look": "redraw refresh",
        "options colour": "ansi",
        "seeks": "sought",
        "shout": "yell",
        "tell": "msg",
        "withdraw": "unseek",
    }.items()
    for word in words.split()
}
"""First words of other games, with the words that mean exactly the same here."""

FIRST_WORDS = frozenset(_FIRST_WORDS)
"""The first words that are rewritten, which can't be players' names."""

_LINES = {
    line: ours
    for ours, lines in {
        "finger": ("who am i",),
        "clock": ("my turn", "whose move", "whose move is it", "whose turn", "whose turn is it"),
    }.items()
    for line in lines
}
"""Whole lines in lower case, with the commands that they mean."""

_SQUARE = "[a-o] ?(?:1[0-5]|[1-9])(?![0-9])"
_MOVE = re.compile(
    r"(?P<verb>(?:move|m|shove|hurl) |)(?:from )?(?P<piece>[dtr] ?(?=[a-h]1?[0-9])|)"
    rf"(?P<origin>{_SQUARE}) ?(?:to |[-=]{{1,2}}>? ?|[>/;\u2192\u21d2\u2010-\u2015] ?|)"
    rf"(?P<target>{_SQUARE})(?P<captures>.*)",
    re.IGNORECASE,
)
"""A move and its captures, joined by signs, or in the notation of game records. After the letter of
a piece, columns beyond H aren't matched: records and boards name them differently."""

_ON = re.compile(" on ", re.IGNORECASE)
_CAPTURES = re.compile(
    rf" ?(?:x|\*|takes?|taking|captures?|capturing)(?P<squares>(?: ?[x,]? ?{_SQUARE})*)",
    re.IGNORECASE,
)
_ALL = re.compile(" ?(?:(?:x|takes?|capture) ?)?all", re.IGNORECASE)
_NAMED = re.compile(_SQUARE, re.IGNORECASE)
_CONTENTS = re.compile(
    r"(?:(?:what|who)(?:'s| is|) (?:on |at )?|where (?:is )?|)"
    rf"(?P<square>{_SQUARE})(?P<on> on .+|)",
    re.IGNORECASE,
)
_SCREEN_READER = re.compile("(?:options? )?screen ?reader( on| off| auto|)", re.IGNORECASE)
_WITHOUT_WORDS = ("options ", "set board ", "scan ")
"""What players leave out at the beginning of a line."""


def rephrase(line: str, column: int, code: Enum, suggestion: str) -> str | None:
    """Return the command that a line means.

    Args:
        line: the cleaned line, which isn't a command.
        column: the start of the word that doesn't fit.
        code: the mistake.
        suggestion: the words that were probably meant; "" if unknown.

    Returns:
        The line in the words of the language, which still may not be a command; None if the line
        isn't of a known kind.
    """
    asked = line.lower().rstrip(" ?!.")
    first, blank, rest = line.partition(" ")
    if whole := _LINES.get(asked):
        return whole
    if line[0:1] == "/" and line[1:2].isalpha():
        return line[1:]
    if ours := _FIRST_WORDS.get(first.lower()):
        return f"{ours}{blank}{rest}"
    if found := _SCREEN_READER.fullmatch(asked):
        return f"options reader{found[1] or ' on'}"
    if found := _CONTENTS.fullmatch(asked):
        return f"around {found['square']}{found['on']}"
    return _move(line) or _mended(line, column, code, suggestion)


def _move(line: str) -> str | None:
    """Return a move in the words of the language; None if the line isn't one."""
    move, *places = _ON.split(line, maxsplit=1)
    found = _MOVE.fullmatch(move)
    if found is None:
        return None
    origin, target = (found[name].replace(" ", "") for name in ("origin", "target"))
    on = f" on {places[0]}" if places else ""
    piece = found["piece"].strip()
    begun, captures = f"{found['verb']}{origin} {target}", found["captures"]
    if not captures and not piece:
        return begun + on
    if _ALL.fullmatch(captures):
        return f"{begun}{on} capturing all"
    named = _CAPTURES.fullmatch(captures or "x")
    if named is None or (piece and not _is_before_i(target + named["squares"])):
        return None
    squares = [each.replace(" ", "") for each in _NAMED.findall(named["squares"])]
    if piece:
        return f"ply {piece}{origin}-{'x'.join((target, *squares))}{on}"
    if not found["verb"] and all(each.lower() == target.lower() for each in squares):
        return f"{origin}x{target}{on}"
    return f"{begun}{on} capturing {', '.join(squares)}" if squares else None


def _is_before_i(squares: str) -> bool:
    """Whether records and boards name all columns of some squares alike."""
    return not any(each in "ijklmnop" for each in squares.lower())


def _mended(line: str, column: int, code: Enum, suggestion: str) -> str | None:
    """Return a line with its mistake mended; None for other mistakes."""
    if code is Mistake.CLOCK_WRITTEN_OTHERWISE:
        behind = column + clock_length(line[column:])
        return f"{line[:column]}{suggestion}{line[behind:]}"
    if code is Mistake.PLAY_FOR_JOIN:
        return f"match {line[column:]}"
    if column == 0 and suggestion.startswith(_WITHOUT_WORDS):
        _, blank, rest = line.partition(" ")
        return f"{suggestion}{blank}{rest}"
    return None
