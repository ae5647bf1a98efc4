"""Letters between members, and how they are looked up.

Players call letters messages. They are no events but rows, which are deleted for good: see
`thudmud.features.letters.storage`.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from thudmud.game.archive import Lookup
from thudmud.game.asides import Aside, StoredAside, ToAnother, aside
from thudmud.game.hall import Hall, applies
from thudmud.game.telling import Telling


class LettersRefusal(Enum):
    """Reasons for refusing a command about letters. The values are stable, for programs."""

    LETTERS_FOR_MEMBERS = "letters_for_members"
    NO_LETTERS = "no_letters"
    NO_SUCH_MEMBER = "no_such_member"
    NOT_A_MEMBER = "not_a_member"
    LETTER_SELF = "letter_self"
    LETTERS_TOO_MANY = "letters_too_many"
    LETTERS_OF_STRANGERS_TOO_MANY = "letters_of_strangers_too_many"
    LETTERS_OF_YOURS_TOO_MANY = "letters_of_yours_too_many"
    NO_SUCH_LETTER = "no_such_letter"
    NO_LETTERS_FROM = "no_letters_from"
    NOTHING_TO_FORGET = "nothing_to_forget"


class Letter(NamedTuple):
    """A letter to a member.

    Attributes:
        number: its number among the member's letters, from 1. It never changes.
        sender: who wrote it; "" if their name has been erased.
        at: when, in seconds since the epoch.
        text: what it says.
        is_new: whether it is unread.
    """

    number: int
    sender: str
    at: float
    text: str
    is_new: bool = True


class LetterLimits(NamedTuple):
    """How many letters a member may have, 0 if none are kept; and how many from one sender."""

    letters: int = 0
    from_one: int = 0


class LettersPage(NamedTuple):
    """A page of a member's letters, with the numbers of new ones and of all that were asked for."""

    letters: tuple[Letter, ...]
    new: int
    in_all: int


class Postbox(NamedTuple):
    """What is known of a member before a letter is sent.

    Attributes:
        name: what they are called.
        ignores: whether they ignore the sender.
        in_all: how many letters they have.
        from_sender: how many of these are from the sender.
        from_strangers: how many are from strangers, if the sender is one; None if the member has
            played with the sender or follows them.
    """

    name: str
    ignores: bool = False
    in_all: int = 0
    from_sender: int = 0
    from_strangers: int | None = None


class LettersLookup(Lookup[tuple[Letter, ...]]):
    """All letters of a member, named in any case, in the order in which they were written."""

    player: str


class PostboxLookup(Lookup["Postbox | None"]):
    """The member with a name, in any case, before a letter is sent; None if there is none.

    ``followed`` are those whom the member follows, if they are here; None for what is stored.
    """

    name: str
    sender: str
    followed: tuple[str, ...] | None = None


@aside
class LetterSent(StoredAside, ToAnother):
    """A player wrote a letter to a member, who need not be here."""

    text: str
    is_here: bool = False


@applies(LetterSent)
def _apply_letter_sent(sent: LetterSent, hall: Hall) -> Telling:
    both = sent.player, sent.to
    return Telling(sent, both if sent.to in hall.people else both[:1])


@aside
class LettersForgotten(StoredAside, Aside):
    """A player deleted some of their letters. ``numbers`` says which."""

    numbers: tuple[int, ...]


@aside
class LettersRead(StoredAside, Aside):
    """A player has been shown letters that were new. ``numbers`` says which; nobody is told."""

    numbers: tuple[int, ...]


@applies(LettersRead)
def _apply_letters_read(read: LettersRead, _: Hall) -> Telling:
    return Telling(read, ())
