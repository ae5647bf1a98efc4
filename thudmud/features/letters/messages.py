"""Texts and facts about letters, which players call messages."""

from __future__ import annotations

from collections.abc import Iterator

from thudmud.english import capitalised, pluralize, rounded_duration
from thudmud.features.letters.commands import LETTERS_PAGE, ForgetLetters, Letters
from thudmud.features.letters.model import (
    Letter,
    LetterSent,
    LettersForgotten,
    LettersPage,
    LettersRefusal,
)
from thudmud.features.talk.messages import own_words
from thudmud.game.archive import LetterCount, LetterCountLookup
from thudmud.game.asides import Entered, TookOver
from thudmud.game.hall import Hall
from thudmud.values import replace
from thudmud.views.data import Fact
from thudmud.views.headlines import WIDTH, Headline, LookUp, finders
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import RenderContext, add_facts_to, add_lines_to, facts, words
from thudmud.views.standing import wrap_clickable
from thudmud.views.view import Display, View
from thudmud.views.words import pages_of, sentences_without, wrap

_FORMER = "a former member"

add_refusal_texts(
    {
        LettersRefusal.LETTERS_FOR_MEMBERS: (
            'Only registered players get messages: "register" keeps your name. "tell" speaks to'
            " players who are here."
        ),
        LettersRefusal.NO_LETTERS: "This server doesn't keep messages.",
        LettersRefusal.NO_SUCH_MEMBER: 'Nobody called "{words}" is registered here.',
        LettersRefusal.NOT_A_MEMBER: (
            "{player} isn't registered, so you can't leave them a message."
            ' "tell" speaks to them while they are here.'
        ),
        LettersRefusal.LETTER_SELF: "That's you. Messages are for other people.",
        LettersRefusal.LETTERS_TOO_MANY: (
            "{player}'s box is full, with {most} messages. They'll have to delete some first."
        ),
        LettersRefusal.LETTERS_OF_STRANGERS_TOO_MANY: (
            "{player} has {most} messages from players they haven't met at a board. The rest of"
            " the box is for players they've played with, or follow."
        ),
        LettersRefusal.LETTERS_OF_YOURS_TOO_MANY: (
            "{player} already has {most} messages from you. They'll have to delete some first."
        ),
        LettersRefusal.NO_SUCH_LETTER: 'You have no message {number}. "messages" lists yours.',
        LettersRefusal.NO_LETTERS_FROM: (
            'You have no messages from "{words}". "messages" lists them all.'
        ),
        LettersRefusal.NOTHING_TO_FORGET: "You have no messages.",
    }
)


@add_lines_to(Entered, TookOver)
def _waiting(told: Entered | TookOver, _: RenderContext, view: View) -> list[str]:
    """Return the line about new letters for a player who comes in, if there are any."""
    new = _count(told).new
    if not new:
        return []
    has = f"You have {pluralize(new, 'new message')}"
    return wrap_clickable(f'{has}: "{Letters()}" shows {_them(new)}.', view)


def _count(told: Entered | TookOver) -> LetterCount:
    return told.found.get(LetterCountLookup(told.player)) or LetterCount()


@words.register
def _render_letters(asked: Letters, context: RenderContext, view: View) -> list[str]:
    return letter_list_lines(context.answer, asked, view.display, context.at)


@facts.register
def _listed_facts(asked: Letters, context: RenderContext) -> Iterator[Fact]:
    yield letters_fact(context.answer, asked.page, context.player)


def letter_list_lines(
    found: LettersPage, asked: Letters, display: Display, now: float
) -> list[str]:
    """Return a page of letters, latest last, with the commands for deletion."""
    width, shown = display.width, found.letters
    if not found.in_all:
        return wrap("You have no messages.", width)
    pages = pages_of(found.in_all, LETTERS_PAGE)
    if not shown:
        return wrap(f"The last page is page {pages}.", width)
    are_new = found.new == found.in_all
    heading = f"You have {pluralize(found.in_all, 'new message' if are_new else 'message')}"
    if found.new and not are_new:
        heading += f", {found.new} of them new"
    lines = wrap(f"{heading}{f'. Page {asked.page} of {pages}' if pages > 1 else ''}:", width)
    for each in shown:
        lines += own_words(_letter(each, now), display)
    older = ""
    if asked.page < pages:
        older = f'"{replace(asked, page=asked.page + 1)}" shows earlier ones. '
    one, all_ = ForgetLetters(shown[-1].number), ForgetLetters(sender=asked.sender)
    which = "all" if asked.sender is None else "all of these"
    return lines + wrap(f'{older}"{one}" deletes one, "{all_}" {which}.', width)


def _letter(letter: Letter, now: float) -> str:
    new = ", new" if letter.is_new else ""
    since = rounded_duration(max(0.0, now - letter.at))
    return f"{letter.number:>2}. {letter.sender or _FORMER}, {since} ago{new}: {letter.text}"


def _them(number: int) -> str:
    return "it" if number == 1 else "them"


@words.register
def _render_letter_sent(sent: LetterSent, _: RenderContext, view: View) -> list[str]:
    if sent.player != view.me:
        told = f'{sent.player} has left you a message: "{Letters()}" shows it.'
        return wrap_clickable(told, view)
    when = "They've been told." if sent.is_here else "They'll be told when they come in."
    return wrap(f"Your message to {sent.to} is saved. {when}", view.width)


@facts.register
def _sent_facts(sent: LetterSent, _: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Message", {"player": sent.player, "to": sent.to})


@words.register
def _forgotten(gone: LettersForgotten, _: RenderContext, view: View) -> list[str]:
    if len(gone.numbers) == 1:
        return wrap(f"Message {gone.numbers[0]} deleted.", view.width)
    return wrap(f"{pluralize(len(gone.numbers), 'message')} deleted.", view.width)


@add_facts_to(Entered, TookOver)
def _waiting_facts(came: Entered | TookOver, _: RenderContext) -> Iterator[Fact]:
    """Yield the numbers of letters of a player who comes in, if there are any."""
    if (count := _count(came)).in_all:
        yield letters_fact(LettersPage((), *count), 0, came.player)


def letters_fact(found: LettersPage, page: int, player: str) -> Fact:
    """Return the fact about a page of letters; page 0 has only their numbers."""
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


async def _headline(hall: Hall, look_up: LookUp, player: str, __: int) -> Headline | None:
    """Return the notification about unread letters; None if there are none."""
    letters: LetterCount = await look_up(LetterCountLookup(player))
    if not letters.new:
        return None
    has, them = pluralize(letters.new, "new message"), _them(letters.new)
    brief = f'You have {has}: "{Letters()}" shows {them}.'
    report = '"report" and a name tells the operators about somebody who should leave you alone.'
    lines = wrap(" ".join(sentences_without(f"{brief} {report}", hall.left_out)), WIDTH)
    return Headline("message", capitalised(has), brief, tuple(lines))


finders["message"] = _headline
