"""What comes of writing to a member, of reading and forgetting that, and of a report."""

from __future__ import annotations

from thudmud.errors import Refused
from thudmud.play.archive import Found
from thudmud.play.asides import Asked, LetterSent, LettersForgotten, ReportMade
from thudmud.play.commands import FileReport, ForgetLetters, Letters, SendLetter
from thudmud.play.hall import Decision, Hall, Person
from thudmud.play.letters import (
    MOST_REPORTS,
    Letter,
    LettersLookup,
    LettersPage,
    PostboxLookup,
    ReportedLookup,
)
from thudmud.play.meaning import player_meant
from thudmud.play.refusals import Refusal

LETTERS_PAGE = 10
"""How many letters are listed at once."""


def decide(
    command: SendLetter | Letters | ForgetLetters | FileReport,
    hall: Hall,
    person: Person,
    found: Found,
) -> Decision:
    """Return what one of these commands brings about.

    Raises:
        Refused: nothing is kept here, or not for them, or not so much of it.
        Unread: what there is has to be looked up first.
    """
    if isinstance(command, FileReport):
        return _report(command, hall, person, found)
    if not person.member:
        raise Refused(Refusal.LETTERS_FOR_MEMBERS)
    if not hall.caps.letters:
        raise Refused(Refusal.NO_LETTERS)
    match command:
        case SendLetter():
            return _send(command, hall, person, found)
        case Letters():
            return _listed(command, person, found)
        case ForgetLetters():
            return _forget(command, person, found)


def _send(command: SendLetter, hall: Hall, person: Person, found: Found) -> Decision:
    """Return that somebody writes to a member, whether that one is here or not."""
    words, me, caps = command.player, person.name, hall.caps
    box = found[PostboxLookup(words, me)]
    if box is None:
        # It may be the beginning of a name, of somebody who is here.
        try:
            name = player_meant(hall, words)
        except Refused as refusal:
            if refusal.code is Refusal.NO_SUCH_PLAYER:
                raise Refused(Refusal.NO_SUCH_MEMBER, words=words) from None
            raise
        box = found[PostboxLookup(name, me)]
        if box is None:
            raise Refused(Refusal.NOT_A_MEMBER, player=name)
    if box.name == me:
        raise Refused(Refusal.LETTER_SELF)
    if hall.ignores(box.name, me) if box.name in hall.people else box.ignores:
        raise Refused(Refusal.NOT_LISTENING, player=box.name)
    if box.from_sender >= caps.letters_from_one:
        most = caps.letters_from_one
        raise Refused(Refusal.LETTERS_OF_YOURS_TOO_MANY, player=box.name, most=most)
    if box.in_all >= caps.letters:
        raise Refused(Refusal.LETTERS_TOO_MANY, player=box.name, most=caps.letters)
    sent = LetterSent(me, box.name, command.text, is_here=box.name in hall.people)
    return Decision(me, asides=(sent,))


def _listed(command: Letters, person: Person, found: Found) -> Decision:
    """Return some of somebody's letters: on the first page are the last, in their order."""
    every = _from(found[LettersLookup(person.name)], command.sender)
    end = max(0, len(every) - (command.page - 1) * LETTERS_PAGE)
    some = every[max(0, end - LETTERS_PAGE) : end]
    page = LettersPage(some, sum(each.is_new for each in every), len(every))
    return Decision(person.name, asides=(Asked(person.name, command, answer=page),))


def _forget(command: ForgetLetters, person: Person, found: Found) -> Decision:
    number, every = command.number, found[LettersLookup(person.name)]
    chosen = [each for each in _from(every, command.sender) if number in {None, each.number}]
    if number is not None and not chosen:
        raise Refused(Refusal.NO_SUCH_LETTER, number=number)
    if not chosen:
        raise Refused(Refusal.NOTHING_TO_FORGET)
    gone = tuple(each.number for each in chosen)
    return Decision(person.name, asides=(LettersForgotten(person.name, gone),))


def _from(letters: tuple[Letter, ...], words: str | None) -> tuple[Letter, ...]:
    """Return those letters whose sender's name is these words, or alone begins so."""
    if words is None:
        return letters
    beginning = words.lower()
    senders = dict.fromkeys(each.sender for each in letters if each.sender)
    near = [name for name in senders if name.lower().startswith(beginning)]
    match [name for name in near if name.lower() == beginning] or near:
        case [sender]:
            return tuple(each for each in letters if each.sender == sender)
        case []:
            raise Refused(Refusal.NO_LETTERS_FROM, words=words)
        case several:
            raise Refused(Refusal.WHICH_PLAYER, words=words, players=tuple(several))


def _report(command: FileReport, hall: Hall, person: Person, found: Found) -> Decision:
    """Return that somebody tells the operator of a player, who need not be here any more."""
    words, me, most = command.player, person.name, hall.caps.reports
    if not most:
        raise Refused(Refusal.NO_REPORTS)
    about = hall.names.get(words.lower())
    reported = found[ReportedLookup(about or words, me)]
    about = about or reported.name or player_meant(hall, words)
    if about == me:
        raise Refused(Refusal.REPORT_SELF)
    if reported.open_by >= most:
        raise Refused(Refusal.REPORTS_TOO_MANY, most=most)
    if reported.open >= MOST_REPORTS:
        raise Refused(Refusal.REPORTS_FULL)
    said = hall.heard(me, about)
    return Decision(me, asides=(ReportMade(me, about, command.text, said),))
