"""Headlines: notifications of news for members who are offline.

Features register finders for their own kinds of news.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from thudmud.game.archive import Lookup
from thudmud.game.hall import Hall

WIDTH = 72
"""The width of the lines of a headline, in columns."""


class Headline(NamedTuple):
    """A notification for a member who is offline.

    Attributes:
        kind: the kind of news, see `finders`.
        title: the news in a few words.
        brief: the news in a sentence.
        lines: the news in full, as lines.
        path: the path of its page on the web.
    """

    kind: str
    title: str
    brief: str
    lines: tuple[str, ...] = ()
    path: str = "/"


LookUp = Callable[[Lookup[Any]], Coroutine[Any, Any, Any]]
FindHeadline = Callable[[Hall, LookUp, str, int], Coroutine[Any, Any, Headline | None]]

finders: dict[str, FindHeadline] = {}
"""Functions that return the headline of a piece of news, by kind; None if it is obsolete.

The arguments are the hall, a function that answers lookups, the player's name, and the number of
the subject."""


def board_path(name: str) -> str:
    """Return the path of a board's page. Names consist of letters and blanks."""
    return f"/board/{name.replace(' ', '%20')}"
