"""Letters in words, which players call messages: those that are shown, and that some wait."""

from __future__ import annotations

from dataclasses import replace

from thudmud.english import counted, lasting
from thudmud.play.letters import Letter, LetterCount, LettersPage
from thudmud.verbs.letters import LETTERS_PAGE, ForgetLetters, Letters
from thudmud.views.archive import own_words
from thudmud.views.view import Display
from thudmud.views.words import wrapped

_FORMER = "a former member"


def waiting(letters: LetterCount, width: int) -> list[str]:
    """Return that there are letters which somebody who comes in has not read, if there are."""
    if not letters.new:
        return []
    has = f"You have {counted(letters.new, 'new message')}"
    return wrapped(f'{has}: "{Letters()}" shows {_them(letters.new)}.', width)


def listed(found: LettersPage, asked: Letters, display: Display, now: float) -> list[str]:
    """Return some letters, the last one at the end, and what can be done with them."""
    width, shown = display.width, found.letters
    if not found.in_all:
        return wrapped("You have no messages.", width)
    pages = -(-found.in_all // LETTERS_PAGE)
    if not shown:
        return wrapped(f"There are only {counted(pages, 'page')}.", width)
    are_new = found.new == found.in_all
    heading = f"You have {counted(found.in_all, 'new message' if are_new else 'message')}"
    if found.new and not are_new:
        heading += f", {found.new} of them new"
    lines = wrapped(f"{heading}{f'. Page {asked.page} of {pages}' if pages > 1 else ''}:", width)
    for each in shown:
        lines += own_words(_letter(each, now), display)
    older = ""
    if asked.page < pages:
        older = f'"{replace(asked, page=asked.page + 1)}" shows those before. '
    one, all_ = ForgetLetters(shown[-1].number), ForgetLetters(sender=asked.sender)
    which = "all" if asked.sender is None else "all of these"
    return lines + wrapped(f'{older}"{one}" deletes one, "{all_}" {which}.', width)


def _letter(letter: Letter, now: float) -> str:
    new = ", new" if letter.is_new else ""
    since = lasting(max(0.0, now - letter.at))
    return f"{letter.number:>2}. {letter.sender or _FORMER}, {since} ago{new}: {letter.text}"


def _them(number: int) -> str:
    return "it" if number == 1 else "them"
