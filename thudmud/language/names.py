"""What a board may be called, so that players can type its name."""

from __future__ import annotations

import re

from thudmud.language import KEYWORDS
from thudmud.play.meaning import RESERVED

LONGEST_NAME = 30
_NAME = re.compile(r"[A-Za-z]+( [A-Za-z]+)*")


def is_name(name: str) -> bool:
    """Whether a text is of a form that players can type as a board's name."""
    return len(name) <= LONGEST_NAME and _NAME.fullmatch(name) is not None


def other_meaning(name: str) -> str | None:
    """Return a word of such a name that means something else to players; None if none does."""
    words = name.lower().split(" ")
    reserved = RESERVED.intersection(words) or (KEYWORDS - {"board"}).intersection(
        [" ".join(words)]
    )
    return min(reserved, default=None)
