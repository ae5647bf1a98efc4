"""Which functions make words, and facts, of what is told: by the type of it.

Of an answer, that is the type of the question. Each feature has its functions beside each other.
Features also add lines and facts to what others tell, see `add_lines_to`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import singledispatch
from typing import Any, NamedTuple

from thudmud.game.hall import Hall
from thudmud.game.table import Table
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


LinesAdder = Callable[[Any, Occasion, View], list[str]]
FactsAdder = Callable[[Any, Occasion], Iterable[Fact]]

ADDED_LINES: dict[type, list[LinesAdder]] = {}
_ADDED_FACTS: dict[type, list[FactsAdder]] = {}


def add_lines_to(*kinds: type) -> Callable[[LinesAdder], LinesAdder]:
    """Return a decorator that registers a function whose lines are added to those of some types.

    They come in the order of the features, each after those of the feature that it adds to:

    - `Hall`: what a player sees who comes to the hall or looks round there, before the boards;
    - `thudmud.game.asides.Entered`, `TookOver`: what a player is told who has just come;
    - `thudmud.game.people.Person`: who a player is, told to another; the function gets their name;
    - `thudmud.game.archive.Fingered`: what is known about a player, after their ratings;
    - `Query`, a command of playing: above the answer to a question about a board;
    - `thudmud.features.archive.model.Replayed`: what is known of the ply that is shown;
    - an event of a table: sentences that follow it; the function gets the `Telling`;
    - `Table`: the same for the table's players, after an event that says whose turn it is, if they
      are elsewhere.
    """

    def register(make: LinesAdder) -> LinesAdder:
        for kind in kinds:
            ADDED_LINES.setdefault(kind, []).append(make)
        return make

    return register


def added_lines(kind: type, told: Any, occasion: Occasion, view: View) -> list[str]:
    """Return the lines that features add to those of a type."""
    lines: list[str] = []
    for make in ADDED_LINES.get(kind, ()):
        lines += make(told, occasion, view)
    return lines


def add_facts_to(*kinds: type) -> Callable[[FactsAdder], FactsAdder]:
    """Return a decorator that registers a function whose facts follow those of some types."""

    def register(make: FactsAdder) -> FactsAdder:
        for kind in kinds:
            _ADDED_FACTS.setdefault(kind, []).append(make)
        return make

    return register


def added_facts(told: object, occasion: Occasion) -> Iterable[Fact]:
    """Return the facts that features add to those of something told."""
    return [fact for make in _ADDED_FACTS.get(type(told), ()) for fact in make(told, occasion)]
