"""Which functions make words, and facts, of what is told: by the type of it.

Of an answer, that is the type of the question. Each family of verbs has its functions beside each
other, in a module of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, singledispatch
from typing import Any, NamedTuple

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


def teller_of(hall: Hall, telling: Telling) -> Callable[[View], list[str]] | None:
    """Return what makes the lines for one reader after another; None of an event without any.

    Raises:
        NotImplementedError: (when it is called) nothing is registered for an aside, or a question.
    """
    event = telling.event
    if isinstance(event, Asked):
        make = _WORDS.get(type(event.question), words)
        occasion = Occasion(hall, telling.table, telling.at, event.player, event.answer)
        return partial(make, event.question, occasion)
    player = getattr(event, "player", "")
    occasion = Occasion(hall, telling.table, telling.at, player)
    if isinstance(event, Aside):
        return partial(_WORDS.get(type(event), words), event, occasion)
    of_event = _WORDS.get(type(event))
    return of_event and partial(of_event, event, occasion)


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
