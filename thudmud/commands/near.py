"""Near misses: which of some words another was probably meant for.

Owns how alike is alike enough, and the words of other games that mean one of ours. Must never know
where in a line a word stands.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

_SYNONYMS = {
    "?": "help",
    "abandon": "resign",
    "archive": "history",
    "at": "on",
    "battles": "history",
    "begin": "start",
    "bye": "quit",
    "capture": "capturing",
    "captures": "capturing",
    "concede": "resign",
    "continue": "resume",
    "draw": "end",
    "e": "go",
    "east": "go",
    "enrol": "register",
    "enroll": "register",
    "every": "all",
    "everything": "all",
    "examine": "look",
    "exit": "quit",
    "forfeit": "resign",
    "forward": "next",
    "in": "on",
    "into": "to",
    "killing": "capturing",
    "ladder": "standings",
    "leaderboard": "standings",
    "load": "resume",
    "logout": "quit",
    "matches": "games",
    "n": "go",
    "nah": "no",
    "nope": "no",
    "north": "go",
    "notation": "record",
    "nothing": "none",
    "onto": "on",
    "oops": "undo",
    "past": "history",
    "pause": "adjourn",
    "points": "score",
    "postpone": "adjourn",
    "prev": "back",
    "previous": "back",
    "push": "shove",
    "rank": "standings",
    "ranking": "standings",
    "rankings": "standings",
    "ranks": "standings",
    "rating": "standings",
    "ratings": "standings",
    "reject": "no",
    "retract": "undo",
    "revert": "undo",
    "rewatch": "replay",
    "rewind": "first",
    "s": "go",
    "save": "adjourn",
    "shout": "say",
    "signup": "register",
    "sit": "join",
    "south": "go",
    "stand": "leave",
    "statistics": "score",
    "stats": "score",
    "stop": "end",
    "surrender": "resign",
    "suspend": "adjourn",
    "taking": "capturing",
    "throw": "hurl",
    "top": "standings",
    "unmove": "undo",
    "w": "go",
    "walk": "go",
    "watch": "go",
    "west": "go",
    "whisper": "tell",
    "x": "look",
}
"""Words that players try, and ours for them."""

_ALIKE = 0.7
"""The ``difflib`` ratio from which two words are taken for each other: "mvoe" and "move" have
0.75."""

_SHORT = 3
"""Words of fewer letters are all alike: as a first word they are no near miss, and no beginning."""

_PUNCTUATION = ".,;:!?"


def near_miss(word: str, candidates: Collection[str], *, first: bool = False) -> str | None:
    """Return the one of ``candidates`` that ``word`` was probably meant for, if any is near.

    ``first`` says that it is the first word of a line, where anything at all may be typed: there
    the shortest candidates are left out.
    """
    asked = word.lower().rstrip(_PUNCTUATION) or word
    if _SYNONYMS.get(asked) in candidates:
        return _SYNONYMS[asked]
    words = sorted(one for one in candidates if len(one) >= _SHORT or not first)
    if len(asked) >= _SHORT:
        for candidate in words:
            if candidate.startswith(asked):
                return candidate
    return next(iter(get_close_matches(asked, words, n=1, cutoff=_ALIKE)), None)
