"""Commands about letters, which players call messages."""

from __future__ import annotations

from thudmud.errors import RefusedError
from thudmud.features.letters.model import (
    Letter,
    LetterLimits,
    LetterSent,
    LettersForgotten,
    LettersLookup,
    LettersPage,
    LettersRead,
    LettersRefusal,
    PostboxLookup,
)
from thudmud.game.command import Asked, Command, CommandContext, verb
from thudmud.game.hall import Decision
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import match_one_by_prefix, resolve_player

LETTERS_PAGE = 10
"""The number of letters on a page."""


@verb("message")
class SendLetter(Command):
    """Write a letter to a member, who need not be here."""

    player: str
    text: str
    speaks = True

    def decide(self, context: CommandContext) -> Decision:
        _require_letters(context)
        hall, me, words, found = context.hall, context.me, self.player, context.found
        here = hall.people.get(hall.people.names.get(words.lower(), ""))
        box = found[PostboxLookup(words, me, here.followed if here else None)]
        if box is None:
            # It may be an abbreviation, which works for players who are here.
            try:
                name = resolve_player(hall, words)
            except RefusedError as refusal:
                if refusal.code is Refusal.NO_SUCH_PLAYER:
                    raise RefusedError(LettersRefusal.NO_SUCH_MEMBER, words=words) from None
                raise
            box = found[PostboxLookup(name, me, hall.people[name].followed)]
            if box is None:
                raise RefusedError(LettersRefusal.NOT_A_MEMBER, player=name)
        if box.name == me:
            raise RefusedError(LettersRefusal.LETTER_SELF)
        if (
            hall.people.is_ignoring(box.name, me)
            if box.name in hall.people
            else box.is_ignoring_sender
        ):
            raise RefusedError(Refusal.NOT_LISTENING, player=box.name)
        most, most_of_one = hall.limits(LetterLimits)
        if box.from_sender >= most_of_one:
            code = LettersRefusal.LETTERS_OF_YOURS_TOO_MANY
            raise RefusedError(code, player=box.name, most=most_of_one)
        if box.in_all >= most:
            raise RefusedError(LettersRefusal.LETTERS_TOO_MANY, player=box.name, most=most)
        # The other half of the box is reserved for players whom the recipient knows.
        for_strangers = (most + 1) // 2
        if box.from_strangers is not None and box.from_strangers >= for_strangers:
            code = LettersRefusal.LETTERS_OF_STRANGERS_TOO_MANY
            raise RefusedError(code, player=box.name, most=for_strangers)
        is_here = box.name in hall.people
        return context.decide_asides(LetterSent(me, box.name, self.text, is_here=is_here))


def _require_letters(context: CommandContext) -> None:
    """Refuse a player who isn't a member, and all if this server has no letters."""
    if not context.person.is_member:
        raise RefusedError(LettersRefusal.LETTERS_FOR_MEMBERS)
    if not context.hall.limits(LetterLimits).letters:
        raise RefusedError(LettersRefusal.NO_LETTERS)


@verb("messages")
class Letters(Command):
    """Read one's letters, or those of one sender, the latest page first."""

    sender: str | None = None
    page: int = 1

    def decide(self, context: CommandContext) -> Decision:
        _require_letters(context)
        every = _from(context.found[LettersLookup(context.me)], self.sender)
        end = max(0, len(every) - (self.page - 1) * LETTERS_PAGE)
        some = every[max(0, end - LETTERS_PAGE) : end]  # latest last
        page = LettersPage(some, sum(each.is_new for each in every), len(every))
        shown = Asked(context.me, self, answer=page)
        new = tuple(each.number for each in some if each.is_new)
        return (
            context.decide_asides(shown, LettersRead(context.me, new))
            if new
            else context.decide_asides(shown)
        )


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

    def decide(self, context: CommandContext) -> Decision:
        _require_letters(context)
        number, every = self.number, context.found[LettersLookup(context.me)]
        chosen = [each for each in _from(every, self.sender) if number in {None, each.number}]
        if number is not None and not chosen:
            raise RefusedError(LettersRefusal.NO_SUCH_LETTER, number=number)
        if not chosen:
            raise RefusedError(LettersRefusal.NOTHING_TO_FORGET)
        return context.decide_asides(
            LettersForgotten(context.me, tuple(each.number for each in chosen))
        )


def _from(letters: tuple[Letter, ...], words: str | None) -> tuple[Letter, ...]:
    """Return the letters of one sender, named in full or by an unambiguous prefix."""
    if words is None:
        return letters
    senders = dict.fromkeys(each.sender for each in letters if each.sender)
    sender = match_one_by_prefix(words, senders, LettersRefusal.NO_LETTERS_FROM)
    return tuple(each for each in letters if each.sender == sender)
