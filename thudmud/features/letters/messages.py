"""Letters, which players call messages, and reports, in words and as facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from thudmud.english import counted, lasting
from thudmud.features.letters.commands import LETTERS_PAGE, ForgetLetters, Letters
from thudmud.features.letters.model import Letter, LetterCount, LettersPage
from thudmud.features.talk.messages import own_words
from thudmud.game.asides import Entered, LetterSent, LettersForgotten, ReportMade, TookOver
from thudmud.views.data import Fact
from thudmud.views.registry import Occasion, add_facts_to, add_lines_to, facts, words
from thudmud.views.view import Display, View
from thudmud.views.words import pages_of, wrapped

_FORMER = "a former member"


@add_lines_to(Entered, TookOver)
def _waiting(told: Entered | TookOver, _: Occasion, view: View) -> list[str]:
    return waiting(told.letters, view.width)


def waiting(letters: LetterCount, width: int) -> list[str]:
    """Return that a player who comes in has unread letters, if they have."""
    if not letters.new:
        return []
    has = f"You have {counted(letters.new, 'new message')}"
    return wrapped(f'{has}: "{Letters()}" shows {_them(letters.new)}.', width)


@words.register
def _listed(asked: Letters, occasion: Occasion, view: View) -> list[str]:
    return listed(occasion.answer, asked, view.display, occasion.at)


@facts.register
def _listed_facts(asked: Letters, occasion: Occasion) -> Iterator[Fact]:
    yield letters_fact(occasion.answer, asked.page, occasion.player)


def listed(found: LettersPage, asked: Letters, display: Display, now: float) -> list[str]:
    """Return a page of letters, the latest at the end, and what can be done with them."""
    width, shown = display.width, found.letters
    if not found.in_all:
        return wrapped("You have no messages.", width)
    pages = pages_of(found.in_all, LETTERS_PAGE)
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


@words.register
def _sent(sent: LetterSent, _: Occasion, view: View) -> list[str]:
    if sent.player != view.me:
        return wrapped(f'{sent.player} has left you a message: "{Letters()}" shows it.', view.width)
    when = "They have been told." if sent.is_here else "They are told when they come in."
    return wrapped(f"Your message to {sent.to} is kept. {when}", view.width)


@facts.register
def _sent_facts(sent: LetterSent, _: Occasion) -> Iterator[Fact]:
    yield Fact("Thud.Message", {"player": sent.player, "to": sent.to})


@words.register
def _forgotten(gone: LettersForgotten, _: Occasion, view: View) -> list[str]:
    if len(gone.numbers) == 1:
        return wrapped(f"Message {gone.numbers[0]} is deleted.", view.width)
    return wrapped(f"{counted(len(gone.numbers), 'message')} are deleted.", view.width)


@words.register
def _report_made(made: ReportMade, _: Occasion, view: View) -> list[str]:
    last = "line" if len(made.said) == 1 else f"{len(made.said)} lines"
    lines = f", with the last {last} that you heard from them" if made.said else ""
    return wrapped(f"Your report about {made.about} is kept for the operators{lines}.", view.width)


@add_facts_to(Entered, TookOver)
def _waiting_facts(came: Entered | TookOver, _: Occasion) -> Iterator[Fact]:
    """Yield how many letters a player has who came in, if any."""
    if came.letters.in_all:
        yield letters_fact(LettersPage((), *came.letters), 0, came.player)


def letters_fact(found: LettersPage, page: int, player: str) -> Fact:
    """Return the fact of a page of letters, or with page 0 of their numbers."""
    letters = [
        {
            "number": each.number,
            "player": each.sender or None,
            "at": int(each.at),
            "text": each.text,
            "new": each.is_new,
        }
        for each in found.letters
    ]
    known = {"in_all": found.in_all, "new": found.new, "page": page or None, "messages": letters}
    return Fact("Thud.Messages", known, player)
