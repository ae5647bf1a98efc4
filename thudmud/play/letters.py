"""What players write to one another, and of one another to the operator; and how it is looked up.

Players call a letter a message. Letters and reports are rows that go when they are forgotten, and
no events: see `thudmud.store.letters`.
"""

from __future__ import annotations

from typing import NamedTuple

from thudmud.play.archive import Lookup
from thudmud.values import value

MOST_REPORTS = 1000
"""How many reports may be open in all."""


class Letter(NamedTuple):
    """What somebody has written to a member.

    Attributes:
        number: which of the member's it is, from 1; it stays until the letter is forgotten.
        sender: who has written it; "" if their name has been erased since.
        at: when, in seconds since the epoch.
        text: what it says.
        is_new: whether the member has not read it yet.
    """

    number: int
    sender: str
    at: float
    text: str
    is_new: bool = True


class LettersPage(NamedTuple):
    """Some of a member's letters, and how many of those that were asked for there are."""

    letters: tuple[Letter, ...]
    new: int
    in_all: int


class LetterCount(NamedTuple):
    """How many letters a member has."""

    new: int = 0
    in_all: int = 0


NO_LETTERS = LetterCount()


class Postbox(NamedTuple):
    """A member to whom somebody would write.

    Attributes:
        name: what they are called.
        ignores: whether they do not want to hear who would write.
        in_all: how many letters they have.
        from_sender: how many of these are from who would write.
    """

    name: str
    ignores: bool = False
    in_all: int = 0
    from_sender: int = 0


class Report(NamedTuple):
    """What somebody has told the operator of a player.

    Attributes:
        number: which one it is, from 1.
        at: when it was made, in seconds since the epoch.
        by: who has made it; "" if their name has been erased since.
        about: whom it is about.
        text: what it says.
        said: what who made it had last heard from that player, as the server heard it.
        is_open: whether the operator has not closed it yet.
    """

    number: int
    at: float
    by: str
    about: str
    text: str
    said: tuple[str, ...] = ()
    is_open: bool = True


class Reported(NamedTuple):
    """A player about whom somebody would make a report.

    Attributes:
        name: what they are called; None if nobody has ever been called that here.
        open_by: how many reports of who would make it are open.
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
    """The member with a name, in any case, to whom somebody would write; None if there is none."""

    name: str
    sender: str


@value
class ReportsLookup(Lookup[tuple[Report, ...]]):
    """All reports that are open, the last one first."""


@value
class ReportedLookup(Lookup[Reported]):
    """The player with a name, in any case, about whom somebody would make a report."""

    name: str
    by: str
