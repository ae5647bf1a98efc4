"""What members are told of while they are not here: a headline, by the kind of news.

Features register what finds those of their own kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from thudmud.game.archive import Lookup
from thudmud.game.hall import Hall

WIDTH = 72
"""The width of the lines of a headline."""


class Headline(NamedTuple):
    """Something that a member is told while they are not here.

    Attributes:
        kind: what it is about, see `finders`.
        title: it, in a few words.
        brief: it, in a sentence.
        lines: it, in some lines.
        path: where it is in the page.
    """

    kind: str
    title: str
    brief: str
    lines: tuple[str, ...] = ()
    path: str = "/"


LookUp = Callable[[Lookup[Any]], Coroutine[Any, Any, Any]]
FindHeadline = Callable[[Hall, LookUp, str, int], Coroutine[Any, Any, Headline | None]]

finders: dict[str, FindHeadline] = {}
"""By kind: returns the headline for a player; None if it is no news any more.

It gets the hall, what answers lookups, the player, and the number of what it is about.
"""


def board_path(name: str) -> str:
    """Return where a board is in the page. Names are letters and blanks."""
    return f"/board/{name.replace(' ', '%20')}"
