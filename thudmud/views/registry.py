"""Which functions make words, and facts, of what is told: by the type of it.

Of an answer, that is the type of the question. Each family of verbs has its functions beside each
other, in a module of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import Any, NamedTuple

from thudmud.english import capitalised
from thudmud.play.asides import Aside, Asked
from thudmud.play.hall import Hall
from thudmud.play.table import Table
from thudmud.play.telling import Telling
from thudmud.views.data import Fact
from thudmud.views.view import View


class Occasion(NamedTuple):
    """Where and when something is told.

    Attributes:
        hall: as it stands.
        table: the table that it is about, as it stood right after; None if there is none.
        at: the time.
        player: who did it, or asked.
        answer: what was looked up for a question.
    """

    hall: Hall
    table: Table | None
    at: float
    player: str
    answer: Any = None

    @property
    def known_table(self) -> Table:
        """The table, where there has to be one."""
        if self.table is None:
            raise ValueError("this is about no table")
        return self.table


@singledispatch
def words(told: object, occasion: Occasion, view: View) -> list[str]:
    """Return the lines that one reader gets of what is told."""
    raise NotImplementedError(f"there are no words for {told}")


@singledispatch
def facts(told: object, occasion: Occasion) -> Iterable[Fact]:  # noqa: ARG001  (others use them)
    """Return the facts of it, for programs; not everything has any."""
    return ()


_WORDS, _FACTS = words.registry, facts.registry
"""By type. Looking here is quicker than calling `singledispatch`; base classes do not count."""


def words_of(hall: Hall, telling: Telling, view: View) -> list[str] | None:
    """Return the lines that one reader gets; None of an event for which nothing is registered.

    Raises:
        NotImplementedError: nothing is registered for an aside, or for a question.
    """
    event = telling.event
    if isinstance(event, Asked):
        make = _WORDS.get(type(event.question), words)
        occasion = Occasion(hall, telling.table, telling.at, event.player, event.answer)
        return make(event.question, occasion, view)
    if isinstance(event, Aside):
        make = _WORDS.get(type(event), words)
        lines = make(event, Occasion(hall, telling.table, telling.at, event.player), view)
        if lines and lines[0][:1].islower():  # it may begin with a name
            lines = [capitalised(lines[0]), *lines[1:]]
        return lines
    if of_event := _WORDS.get(type(event)):
        player = getattr(event, "player", "")
        return of_event(event, Occasion(hall, telling.table, telling.at, player), view)
    return None


def facts_of(hall: Hall, telling: Telling) -> Iterable[Fact] | None:
    """Return the facts; None if nothing is registered."""
    event = telling.event
    if isinstance(event, Asked):
        if make := _FACTS.get(type(event.question)):
            occasion = Occasion(hall, telling.table, telling.at, event.player, event.answer)
            return make(event.question, occasion)
    elif make := _FACTS.get(type(event)):
        return make(event, Occasion(hall, telling.table, telling.at, getattr(event, "player", "")))
    return None
