"""Letters between members, reports to the operators, and how they are looked up.

Players call letters messages. Letters and reports are no events but rows, which are deleted for
good: see `thudmud.features.letters.storage`.
"""

from __future__ import annotations

from typing import NamedTuple

from thudmud.game.archive import Lookup
from thudmud.values import value

MOST_REPORTS = 1000
"""How many reports may be open in all."""


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


class LettersPage(NamedTuple):
    """A page of a member's letters, with the numbers of new ones and of all that were asked for."""

    letters: tuple[Letter, ...]
    new: int
    in_all: int


class LetterCount(NamedTuple):
    """How many letters a member has."""

    new: int = 0
    in_all: int = 0


NO_LETTERS = LetterCount()


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


class Report(NamedTuple):
    """A report of a player to the operators.

    Attributes:
        number: its number, from 1.
        at: when it was made, in seconds since the epoch.
        by: who made it; "" if their name has been erased.
        about: the player it is about.
        text: what it says.
        said: what the reporter last heard from that player, as the server recorded it.
        is_open: whether no operator has closed it yet.
    """

    number: int
    at: float
    by: str
    about: str
    text: str
    said: tuple[str, ...] = ()
    is_open: bool = True


class Reported(NamedTuple):
    """What is known of a player before a report about them.

    Attributes:
        name: their name; None if no player has ever had it here.
        open_by: how many reports by the reporter are open.
        open: how many are open in all.
    """

    name: str | None
    open_by: int = 0
    open: int = 0


@value
class LettersLookup(Lookup[tuple[Letter, ...]]):
    """All letters of a member, named in any case, in the order in which they were written."""

    player: str


@value
class LetterCountLookup(Lookup[LetterCount]):
    """How many letters a member has, named in any case."""

    player: str


@value
class PostboxLookup(Lookup["Postbox | None"]):
    """The member with a name, in any case, before a letter is sent; None if there is none."""

    name: str
    sender: str


@value
class ReportsLookup(Lookup[tuple[Report, ...]]):
    """All open reports, the latest first."""


@value
class ReportedLookup(Lookup[Reported]):
    """The player with a name, in any case, before a report about them."""

    name: str
    by: str
