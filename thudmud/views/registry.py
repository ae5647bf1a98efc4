"""Registry of the functions that render events, asides and answers as text and as facts, by type.

An answer is registered by the type of its question. Each feature registers functions for its own
types. Features can also add lines and facts to those of others, see `add_lines_to`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import singledispatch
from typing import Any

from thudmud.errors import InvalidValueError
from thudmud.game.hall import Hall
from thudmud.game.table import Table
from thudmud.values import Value
from thudmud.views.data import Fact
from thudmud.views.view import View


class RenderContext(Value):
    """The context in which something is rendered.

    Attributes:
        hall: the current hall.
        table: the table concerned, right after the event; None if there is none.
        at: the time, in seconds since the epoch.
        player: the player who did it, or who asked.
        answer: the looked-up data of an answer.
    """

    hall: Hall
    table: Table | None
    at: float
    player: str
    answer: Any = None

    @property
    def known_table(self) -> Table:
        """The table, where there must be one; raises InvalidValueError otherwise."""
        if self.table is None:
            raise InvalidValueError("expected a table, got none")
        return self.table


@singledispatch
def words(told: object, context: RenderContext, view: View) -> list[str]:
    """Render something for one reader, as lines."""
    raise NotImplementedError(f"no renderer is registered for {told}")


@singledispatch
def facts(told: object, context: RenderContext) -> Iterable[Fact]:  # noqa: ARG001  (others use them)
    """Return the facts of something for programs; by default none."""
    return ()


LinesAdder = Callable[[Any, RenderContext, View], list[str]]
FactsAdder = Callable[[Any, RenderContext], Iterable[Fact]]

ADDED_LINES: dict[type, list[LinesAdder]] = {}
_ADDED_FACTS: dict[type, list[FactsAdder]] = {}


def add_lines_to(*kinds: type) -> Callable[[LinesAdder], LinesAdder]:
    """Return a decorator that registers a function whose lines are added to those of some types.

    Lines are added in the order of the features, each in the place that belongs to its type:

    - `Hall`: in the description of the hall, before its boards;
    - `thudmud.game.asides.Entered`, `TookOver`: for the player who has just arrived;
    - `thudmud.game.people.Person`: in a player's profile; the function gets their name;
    - `thudmud.game.archive.Fingered`: in a player's profile, after the ratings;
    - `Query`, a command of playing: before the answer to a question about a board;
    - `thudmud.features.archive.model.Replayed`: after a ply of a replay;
    - an event of a table: sentences after it; the function gets the `Delivery`;
    - `Table`: the same, for players of the table who are elsewhere, after an event that includes
      the side to move.
    """

    def register(make: LinesAdder) -> LinesAdder:
        for kind in kinds:
            ADDED_LINES.setdefault(kind, []).append(make)
        return make

    return register


def added_lines(kind: type, told: Any, context: RenderContext, view: View) -> list[str]:
    """Return the lines that features add to those of a type."""
    lines: list[str] = []
    for make in ADDED_LINES.get(kind, ()):
        lines += make(told, context, view)
    return lines


def add_facts_to(*kinds: type) -> Callable[[FactsAdder], FactsAdder]:
    """Return a decorator that registers a function whose facts follow those of some types."""

    def register(make: FactsAdder) -> FactsAdder:
        for kind in kinds:
            _ADDED_FACTS.setdefault(kind, []).append(make)
        return make

    return register


def added_facts(told: object, context: RenderContext) -> Iterable[Fact]:
    """Return the facts that features add to those of an aside or event."""
    return [fact for make in _ADDED_FACTS.get(type(told), ()) for fact in make(told, context)]
