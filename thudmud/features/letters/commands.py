"""Letters, which players call messages, and reports to the operators."""

from __future__ import annotations

import re

from thudmud.errors import Refused
from thudmud.features.letters.model import (
    MOST_REPORTS,
    Letter,
    LettersLookup,
    LettersPage,
    PostboxLookup,
    ReportedLookup,
)
from thudmud.game.asides import LetterSent, LettersForgotten, ReportMade
from thudmud.game.command import Command, verb
from thudmud.game.hall import Decision
from thudmud.game.meaning import one_called, player_meant
from thudmud.game.refusals import Refusal
from thudmud.game.scene import Scene

LETTERS_PAGE = 10
"""How many letters a page has."""

LETTERS_TOLD = 3
"""How many letters of a player a report about them has with it: the last ones."""


@verb("message")
class SendLetter(Command):
    """Write a letter to a member, who need not be here."""

    player: str
    text: str
    speaks = True

    def decide(self, scene: Scene) -> Decision:
        _require_letters(scene)
        hall, me, words, found = scene.hall, scene.me, self.player, scene.found
        box = found[PostboxLookup(words, me)]
        if box is None:
            # It may be the first letters of the name of a player who is here.
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
        if hall.people.ignores(box.name, me) if box.name in hall.people else box.ignores:
            raise Refused(Refusal.NOT_LISTENING, player=box.name)
        most = hall.caps.letters_from_one
        if box.from_sender >= most:
            raise Refused(Refusal.LETTERS_OF_YOURS_TOO_MANY, player=box.name, most=most)
        if box.in_all >= hall.caps.letters:
            raise Refused(Refusal.LETTERS_TOO_MANY, player=box.name, most=hall.caps.letters)
        for_strangers = (hall.caps.letters + 1) // 2
        if box.from_strangers is not None and box.from_strangers >= for_strangers:
            code = Refusal.LETTERS_OF_STRANGERS_TOO_MANY
            raise Refused(code, player=box.name, most=for_strangers)
        is_here = box.name in hall.people
        return scene.tell(LetterSent(me, box.name, self.text, is_here=is_here))


def _require_letters(scene: Scene) -> None:
    """Raise Refused if no letters are kept here, or the player is no member."""
    if not scene.person.member:
        raise Refused(Refusal.LETTERS_FOR_MEMBERS)
    if not scene.hall.caps.letters:
        raise Refused(Refusal.NO_LETTERS)


@verb("messages")
class Letters(Command):
    """Read one's letters, or those of one sender, the latest page first."""

    sender: str | None = None
    page: int = 1

    def decide(self, scene: Scene) -> Decision:
        _require_letters(scene)
        every = _from(scene.found[LettersLookup(scene.me)], self.sender)
        end = max(0, len(every) - (self.page - 1) * LETTERS_PAGE)
        some = every[max(0, end - LETTERS_PAGE) : end]  # the last one at the end
        page = LettersPage(some, sum(each.is_new for each in every), len(every))
        return scene.answer(self, answer=page)


@verb("forget", forget_messages="of_sender")
class ForgetLetters(Command):
    """Delete a letter by its number, or those of one sender, or all."""

    number: int | None = None
    sender: str | None = None

    @classmethod
    def of_sender(cls, sender: str | None) -> ForgetLetters:
        return cls(sender=sender)

    def __str__(self) -> str:
        if self.number is not None:
            return f"forget {self.number}"
        return "forget messages" if self.sender is None else f"forget messages from {self.sender}"

    def decide(self, scene: Scene) -> Decision:
        _require_letters(scene)
        number, every = self.number, scene.found[LettersLookup(scene.me)]
        chosen = [each for each in _from(every, self.sender) if number in {None, each.number}]
        if number is not None and not chosen:
            raise Refused(Refusal.NO_SUCH_LETTER, number=number)
        if not chosen:
            raise Refused(Refusal.NOTHING_TO_FORGET)
        return scene.tell(LettersForgotten(scene.me, tuple(each.number for each in chosen)))


def _from(letters: tuple[Letter, ...], words: str | None) -> tuple[Letter, ...]:
    """Return the letters of the sender whose name is these words, or alone begins so."""
    if words is None:
        return letters
    senders = dict.fromkeys(each.sender for each in letters if each.sender)
    sender = one_called(words, senders, Refusal.NO_LETTERS_FROM)
    return tuple(each for each in letters if each.sender == sender)


_REASON = re.compile("because (?!of(?![^ ,]))", re.ASCII | re.IGNORECASE)
"""The start of a reason in a sentence. The reason is kept without it."""


@verb(report="of_words")
class FileReport(Command):
    """Report a player, who need not be here, to the operators."""

    player: str
    text: str

    @classmethod
    def of_words(cls, player: str, text: str) -> FileReport:
        return cls(player, _REASON.sub("", text))

    def decide(self, scene: Scene) -> Decision:
        hall, me, words, most = scene.hall, scene.me, self.player, scene.hall.caps.reports
        if not most:
            raise Refused(Refusal.NO_REPORTS)
        about = hall.people.names.get(words.lower())
        reported = scene.found[ReportedLookup(about or words, me)]
        about = about or reported.name or player_meant(hall, words)
        if about == me:
            raise Refused(Refusal.REPORT_SELF)
        if reported.open_by >= most:
            raise Refused(Refusal.REPORTS_TOO_MANY, most=most)
        if reported.open >= MOST_REPORTS:
            raise Refused(Refusal.REPORTS_FULL)
        said = hall.heard(me, about)
        if scene.person.member and hall.caps.letters:  # they may have come in a mail of ours
            letters = [each for each in scene.found[LettersLookup(me)] if each.sender == about]
            said += tuple(f"{SendLetter.words}: {each.text}" for each in letters[-LETTERS_TOLD:])
        return scene.tell(ReportMade(me, about, self.text, said))
