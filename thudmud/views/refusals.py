"""What is wrong with a line that could not be read, or was refused, for the one who typed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

import wcwidth

from thudmud.language import ParseError, near_miss
from thudmud.play import Refusal, Refused
from thudmud.rules import IllegalMove
from thudmud.views.words import wrapped

_GAP = "..."
_LONGEST_QUOTE = 30


def explain(error: ParseError, width: int, *, pointing: bool = True) -> list[str]:
    """Return rows of fewer than ``width`` columns (20 or more) that tell what is wrong with a line.

    First the line with a caret under the word that did not fit, of a long line only the part around
    it; then what was understood, what could stand there, and what was probably meant. An empty line
    gets the sentence alone, and so does who is not ``pointing``: a voice has no use for a caret.
    """
    sentences = _sentence(error)
    if error.suggestion is not None:
        sentences += f' Did you mean "{error.suggestion}"?'
    echo = _echo(error, width) if error.line and pointing else []
    return echo + wrapped(sentences, width)


def refused(refusal: Refused | IllegalMove) -> str:
    """Return the sentence of a refusal; where no board fits, with the word probably meant."""
    if isinstance(refusal, Refused) and refusal.reason is Refusal.NO_BOARD_HERE:
        said, known = refusal.details["said"], refusal.details["known"]
        return refusal.told(hint=_board_hint(said, known))
    return str(refusal)


def _board_hint(said: Iterable[str], known: Set[str]) -> str:
    words = known | {"capturing", "hall"}
    for word in said:
        meant = near_miss(word, words)
        if meant and meant != word:
            return f' Did you mean "{meant}"?'
    return ""


def _echo(error: ParseError, width: int) -> list[str]:
    line, column = _cells(error.line), len(_cells(error.line[: error.column]))
    before, after = "", ""
    if len(line) + len("^") >= width:
        room = width - 1 - 2 * len(_GAP)
        start = max(0, min(column - room // 2, len(line) + len("^") - room))
        before = _GAP if start else ""
        after = _GAP if start + room < len(line) else ""
        halved = line[start + room : start + room + 1] == [""]
        line, column = [*line[start : start + room]], column - start
        line[0] = line[0] or " "
        line[-1] = " " if halved else line[-1]
    underlined = max(1, min(len(_cells(error.word)), len(line) - column))
    return [before + "".join(line) + after, " " * (len(before) + column) + "^" * underlined]


def _cells(text: str) -> Sequence[str]:
    """Return ``text`` column by column; what takes two of them has an empty one behind it."""
    if text.isascii() and text.isprintable():
        return text
    cells: list[str] = []
    for character in wcwidth.iter_graphemes(text):
        cells += [character, *[""] * (wcwidth.width(character) - 1)]
    return cells


def _sentence(error: ParseError) -> str:
    if error.detail is not None:
        return error.detail
    if not error.line:
        return 'Type a command; "help" lists them.'
    word = _quote(error.word)
    if error.column == 0:
        known = ' "help" lists the commands, "syntax" how each is typed.'
        return f"There is no command {word}." + ("" if error.suggestion else known)
    understood, expected = _quote_end(error.understood), _either(error.expected)
    if error.word:
        return f"After {understood} comes {expected}, not {word}."
    return f"After {understood} something is missing: {expected}."


def _either(phrases: tuple[str, ...]) -> str:
    """Return ``a, b or c``."""
    *others, last = phrases
    return f"{', '.join(others)} or {last}" if others else last


def _quote(word: str) -> str:
    return f'"{word}"' if len(word) <= _LONGEST_QUOTE else f'"{word[:_LONGEST_QUOTE]}{_GAP}"'


def _quote_end(text: str) -> str:
    """Quote the last words of ``text``; all of it if it is short."""
    if len(text) <= _LONGEST_QUOTE:
        return f'"{text}"'
    _, _, words = text[-_LONGEST_QUOTE:].partition(" ")
    return f'"{_GAP} {words or text[-_LONGEST_QUOTE:]}"'
