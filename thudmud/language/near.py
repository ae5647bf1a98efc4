"""Near misses: which of some words another was probably meant for.

The words of other games that mean one of ours are here, and how alike is alike enough.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

_SYNONYMS = {
    "?": "help",
    "abandon": "resign",
    "archive": "history",
    "at": "on",
    "automatic": "auto",
    "battles": "history",
    "begin": "start",
    "brown": "yellow",
    "bye": "quit",
    "capture": "capturing",
    "captures": "capturing",
    "colors": "colour",
    "colours": "colour",
    "columns": "width",
    "concede": "resign",
    "config": "options",
    "configure": "options",
    "continue": "resume",
    "dark": "dim",
    "disable": "off",
    "disabled": "off",
    "draw": "end",
    "e": "go",
    "east": "go",
    "enable": "on",
    "enabled": "on",
    "encoding": "charset",
    "enrol": "register",
    "enroll": "register",
    "every": "all",
    "everything": "all",
    "examine": "look",
    "exit": "quit",
    "false": "off",
    "file": "column",
    "find": "where",
    "forfeit": "resign",
    "forward": "next",
    "gold": "yellow",
    "in": "on",
    "into": "to",
    "killing": "capturing",
    "labels": "coordinates",
    "ladder": "standings",
    "leaderboard": "standings",
    "light": "bright",
    "load": "resume",
    "locate": "where",
    "logout": "quit",
    "matches": "games",
    "n": "go",
    "nah": "no",
    "near": "around",
    "nearby": "around",
    "nope": "no",
    "normal": "default",
    "north": "go",
    "notation": "record",
    "nothing": "none",
    "onto": "on",
    "oops": "undo",
    "orange": "yellow",
    "orientation": "orient",
    "palette": "scheme",
    "past": "history",
    "pause": "adjourn",
    "pink": "magenta",
    "points": "score",
    "postpone": "adjourn",
    "preferences": "options",
    "prefs": "options",
    "prev": "back",
    "previous": "back",
    "purple": "magenta",
    "push": "shove",
    "rank": "standings",
    "ranking": "standings",
    "rankings": "standings",
    "ranks": "standings",
    "rating": "standings",
    "ratings": "standings",
    "reject": "no",
    "reset": "default",
    "retract": "undo",
    "revert": "undo",
    "rewatch": "replay",
    "rewind": "first",
    "s": "go",
    "save": "adjourn",
    "screenreader": "reader",
    "settings": "options",
    "shout": "say",
    "signup": "register",
    "sit": "join",
    "south": "go",
    "stand": "leave",
    "statistics": "score",
    "stats": "score",
    "stop": "end",
    "surrender": "resign",
    "surroundings": "around",
    "suspend": "adjourn",
    "taking": "capturing",
    "theme": "scheme",
    "threats": "captures",
    "throw": "hurl",
    "top": "standings",
    "true": "on",
    "turquoise": "cyan",
    "unicode": "utf-8",
    "unmove": "undo",
    "utf": "utf-8",
    "violet": "magenta",
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
