"""Which of the boards about somebody they mean by their words.

The boards are objects of Evennia, and several may have one name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from thudmud.errors import Refused, ThudmudError
from thudmud.play.meaning import Phrase, listed
from thudmud.play.refusals import Refusal
from thudmud.views.refusals import refused

_NUMBERED = re.compile(r"(?P<number>[0-9]{1,6})-(?P<name>.+)|(?P<name2>.+)-(?P<number2>[0-9]{1,6})")
"""How Evennia itself lets people tell things of one name apart."""

Holds = Callable[[Any], bool]


class Unclear(ThudmudError):
    """No board, or more than one, fits what was said; ``str()`` is the sentence for the typist."""


def board_meant(
    boards: Sequence[Any], words: str | None, *, used: Any, sits_at: Holds, sayable: bool = True
) -> Any:
    """Return the board that is meant.

    Args:
        boards: those that are about, in their order.
        words: what the player called it, if anything.
        used: the one that they have used last, if it is one of them.
        sits_at: whether they have a seat at a board.
        sayable: whether their command has a place for the name of a board.

    Raises:
        Unclear: none or more than one fits.
    """
    if not boards:
        raise Unclear("There is no board here.")
    if words is None:
        return _unsaid(boards, used, sits_at, sayable=sayable)
    if words.lower() == "it":
        if used is None:
            raise _unclear(Refusal.NOTHING_USED, boards=_labels(boards))
        return used
    return _named(boards, words, sits_at)


def label(board: Any, boards: Sequence[Any]) -> str:
    """Return what a board can be called so that no other is meant."""
    name = board.name_in_text
    same = [each for each in boards if each.name_in_text.lower() == name.lower()]
    if len(same) == 1:
        return str(name)
    fitting = [each for each in boards if _fits(Phrase.parse(name), each)]
    return f"{_ordinal(fitting.index(board) + 1)} {name}"


def _unsaid(boards: Sequence[Any], used: Any, sits_at: Holds, *, sayable: bool) -> Any:
    if not sayable and used is not None:
        return used
    if len(boards) == 1:
        return boards[0]
    seated = [board for board in boards if sits_at(board)]
    if len(seated) == 1:
        return seated[0]
    if not sayable:
        either = listed(_labels(boards), "or")
        raise Unclear(f"Which board? Use one of them first, as by looking at it: {either}.")
    raise _unclear(Refusal.SAY_WHICH, boards=_labels(seated or boards, among=boards))


def _named(boards: Sequence[Any], words: str, sits_at: Holds) -> Any:
    phrase = _phrase(words)
    exact = [board for board in boards if _is_called(phrase, board)]
    fitting = [board for board in boards if _fits(phrase, board)]
    if exact and phrase.ordinal is None:
        fitting = exact
    if not fitting:
        raise _unclear(Refusal.NO_BOARD_HERE, words=words, boards=_labels(boards))
    places = [str(place) for place in range(len(fitting))]
    picked = phrase.pick(places)
    if picked is not None:
        return fitting[int(picked)]
    seated = [board for board in fitting if sits_at(board)]
    if phrase.ordinal is None and len(seated) == 1:
        return seated[0]
    code = Refusal.WHICH_BOARD if phrase.ordinal is None else Refusal.NO_SUCH_ORDINAL
    raise _unclear(code, words=words, boards=_labels(fitting, among=boards))


def _unclear(code: Refusal, **details: Any) -> Unclear:
    return Unclear(refused(Refused(code, **details)))


def _phrase(words: str) -> Phrase:
    found = _NUMBERED.fullmatch(words)
    if found:
        number, name = found["number"] or found["number2"], found["name"] or found["name2"]
        return Phrase.parse(f"{number} {name}")
    return Phrase.parse(words)


def _fits(phrase: Phrase, board: Any) -> bool:
    return any(phrase.fits(name) for name in board.names)


def _is_called(phrase: Phrase, board: Any) -> bool:
    return any(tuple(name.lower().split()) == phrase.words for name in board.names)


def _labels(boards: Sequence[Any], among: Sequence[Any] | None = None) -> tuple[str, ...]:
    return tuple(label(board, among or boards) for board in boards)


def _ordinal(number: int) -> str:
    teens = number % 100 in range(11, 14)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
