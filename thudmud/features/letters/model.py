"""Letters between members, and their lookups.

Players call letters messages. They are rows rather than events, so that they can be deleted for
good: see `thudmud.features.letters.storage`.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from thudmud.game.archive import Lookup
from thudmud.game.asides import Aside, StoredAside, ToAnother, aside
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall, applies


class LettersRefusal(Enum):
    """Reasons for refusing a command about letters. The values are a stable interface."""

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
        sender: the sender's name; "" if it has been erased.
        at: when it was sent, in seconds since the epoch.
        text: the text.
        is_new: whether it is unread.
    """

    number: int
    sender: str
    at: float
    text: str
    is_new: bool = True


class LetterLimits(NamedTuple):
    """The limits of a member's letters.

    Attributes:
        letters: the most letters; 0 if this server has none.
        from_one: the most letters from one sender.
    """

    letters: int = 0
    from_one: int = 0


class LettersPage(NamedTuple):
    """A page of a member's letters.

    Attributes:
        letters: the letters on the page.
        new: how many of all letters asked for are new.
        in_all: how many letters were asked for.
    """

    letters: tuple[Letter, ...]
    new: int
    in_all: int


class Postbox(NamedTuple):
    """The recipient of a letter, before it is sent.

    Attributes:
        name: the recipient's name.
        is_ignoring_sender: whether the recipient ignores the sender.
        in_all: how many letters the recipient has.
        from_sender: how many of these are from the sender.
        from_strangers: how many of these are from strangers, if the sender is one; None if the
            recipient follows the sender, or they have played each other.
    """

    name: str
    is_ignoring_sender: bool = False
    in_all: int = 0
    from_sender: int = 0
    from_strangers: int | None = None


class LettersLookup(Lookup[tuple[Letter, ...]]):
    """Look up all letters of a member, whose name is case-insensitive, oldest first."""

    player: str


class PostboxLookup(Lookup["Postbox | None"]):
    """Look up the recipient of a letter, ignoring case; None if there is none.

    Attributes:
        name: the recipient's name.
        sender: the sender's name.
        followed: the players whom the recipient follows, if the recipient is here; None for the
            stored ones.
    """

    name: str
    sender: str
    followed: tuple[str, ...] | None = None


@aside
class LetterSent(StoredAside, ToAnother):
    """A player writes a letter to a member, whether here or not."""

    text: str
    is_here: bool = False


@applies(LetterSent)
def _apply_letter_sent(sent: LetterSent, hall: Hall) -> Delivery:
    both = sent.player, sent.to
    return Delivery(sent, both if sent.to in hall.people else both[:1])


@aside
class LettersForgotten(StoredAside, Aside):
    """A player deletes some letters, given by number."""

    numbers: tuple[int, ...]


@aside
class LettersRead(StoredAside, Aside):
    """New letters, given by number, are shown to their recipient. It has no audience."""

    numbers: tuple[int, ...]


@applies(LettersRead)
def _apply_letters_read(read: LettersRead, _: Hall) -> Delivery:
    return Delivery(read, ())
