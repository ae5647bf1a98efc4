"""Which functions make words, and facts, of what is told: by the type of it.

Of an answer, that is the type of the question. Each family of verbs has its functions beside each
other, in a module of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
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
