"""The terminals and keywords of the grammar, without importing Lark.

``grammar/thud.lark`` is read here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from thudmud.errors import ThudmudError
from thudmud.features import NAMES
from thudmud.language.tables import FLAGS, cached_tables

STOPS = ".!"
"""Punctuation that a player may put at the end of a line."""

END_OF_LINE = "$END"
"""Lark's name for the end-of-input terminal."""


class UnexpectedTokenError(ThudmudError):
    """Raised for an unexpected token.

    Attributes:
        column: the start of the token; the line's length if the line ends too early.
    """

    def __init__(self, column: int) -> None:
        super().__init__(column)
        self.column = column


def grammar_file() -> Traversable | Path:
    """Locate the grammar file: the installed package's copy, or the checkout's file."""
    installed = resources.files("thudmud") / "grammar" / "thud.lark"
    if installed.is_file():
        return installed
    return Path(__file__).parents[2] / "grammar" / "thud.lark"


_FEATURE_MARK = " // of "
"""The separator between a line of the grammar and the name of its feature."""


def grammar_with(grammar: str, features: Collection[str]) -> str:
    """Return the grammar without the lines that belong to features other than ``features``."""
    marked = (line.rpartition(_FEATURE_MARK) for line in grammar.splitlines(keepends=True))
    return "".join(
        rule + mark + name for rule, mark, name in marked if not mark or name.strip() in features
    )


@cache
def feature_terminals() -> Mapping[str, frozenset[str]]:
    """Return the names of the terminals of each feature, by the feature's name."""
    found: dict[str, set[str]] = {}
    for line in grammar_file().read_text(encoding="utf-8").splitlines():
        rule, mark, name = line.rpartition(_FEATURE_MARK)
        if mark and (terminal := re.match(r"(_?[A-Z_]+)[.0-9]*:", rule)):
            found.setdefault(name, set()).add(terminal[1])
    return {feature: frozenset(terminals) for feature, terminals in found.items()}


TABLES = cached_tables(grammar_with(grammar_file().read_text(encoding="utf-8"), NAMES))

_SPELLING = re.compile(r"\(\?i:([a-z0-9\\ -]+)\)|\|(\\?[':.?])\)")
"""One alternative of a keyword's pattern as Lark generates it: a case-insensitive word (group 1) or
a sign (group 2)."""

WORDS: dict[str, tuple[str, ...]] = {
    name: words
    for name, pattern in TABLES.terminals.items()
    if (words := tuple(
        (found[1] or found[2]).replace("\\", "") for found in _SPELLING.finditer(pattern)
    ))
}  # fmt: skip
"""The lower-case spellings of each keyword terminal, in the order of the grammar."""

FIRST = frozenset(TABLES.first)
"""The terminals that a line can begin with."""

_FREE_RULES = ("query", "setup", "option", "time_class", "tournament")
"""Prefixes of rules whose words may be players' names, since no name can stand in their place."""

_NEEDED = {
    name
    for rule, expansion in TABLES.rules
    if not rule.lstrip("_").startswith(_FREE_RULES)
    for name in expansion
}

RESERVED_WORDS: tuple[str, ...] = tuple(
    word for name, words in WORDS.items() if name in _NEEDED for word in words
)
"""The spellings of the keywords in all other rules: a name that is one of them would be misread."""


def terminal_word(terminal: str) -> str:
    """Convert a terminal's name to the word it is named after: ``_UTF_8`` -> ``utf-8``."""
    return re.sub("_(?=[0-9])", "-", terminal.strip("_")).replace("_", " ").lower()


def begins_with_terminal(terminals: frozenset[str], text: str) -> bool:
    """Whether ``text`` begins with one of these terminals; far faster than a trial parse."""
    return _opening_pattern(terminals).match(text) is not None


def first_terminals(rule: str) -> frozenset[str]:
    """Return the terminals that expansions of a rule begin with."""
    return frozenset(expansion[0] for origin, expansion in TABLES.rules if origin == rule)


def opening_terminals(terminals: Collection[str]) -> frozenset[str]:
    """Return the terminals that begin lines in which any of the given terminals may stand."""
    found, begun = set(terminals), set[str]()
    size = 0
    # Repeat until nothing is added: a rule with one of the terminals may be part of other rules.
    while size < len(found):
        size = len(found)
        for origin, expansion in TABLES.rules:
            if not found.isdisjoint(expansion):
                begins_line = expansion[0] in FIRST
                (begun if begins_line else found).add(expansion[0] if begins_line else origin)
    return frozenset(begun)


@lru_cache(maxsize=256)
def _opening_pattern(terminals: frozenset[str]) -> re.Pattern[str]:
    patterns = [each for name, each in TABLES.terminals.items() if name in terminals]
    return re.compile("|".join(f"(?:{each})" for each in patterns) or "(?!)", FLAGS)


_TOPICS = """
    absence accounts capturing classic discworld notation objects peace privacy ratings records
    rules scoring socials squares thud
"""
"""Help topics that are suggested to players who type more than the topic."""


SYNONYMS = {
    word: ours
    for ours, words in {
        "adjourn": "postpone save suspend",
        "analyse": "analysis analyze",
        "all": "every everything",
        "around": "near nearby surroundings",
        "auto": "automatic",
        "back": "prev previous",
        "bell": "beep sound sounds",
        "bright": "light",
        "captures": "threats",
        "capturing": "capture captures killing taking",
        "casual": "friendly nonrated unranked",
        "charset": "encoding",
        "claim": "flag timeout",
        "clock": "clocks time timer",
        "colour": "colors colours",
        "column": "file",
        "coordinates": "labels",
        "cyan": "turquoise",
        "default": "normal reset",
        "dim": "dark",
        "emote": "me pose",
        "end": "drawn stop",
        "finger": "profile whois",
        "first": "rewind",
        "follow": "buddy friend notify",
        "games": "matches",
        "go": "walk",
        "help": "info man manual usage",
        **{f"help {topic}": topic for topic in _TOPICS.split()},
        "help ratings": "elo rating ratings",
        "help thud": "howto intro newbie thud",
        "history": "archive battles oldmoves past",
        "hurl": "throw",
        "ignore": "block gag squelch",
        "match": "challenge",
        "leave": "stand",
        "logout": "disconnect log logoff signout",
        "look": "display read show",
        "move": "mv",
        "magenta": "pink purple violet",
        "next": "forward",
        "news": "motd",
        "no": "nah nope reject",
        "large": "big bigger larger",
        "none": "nothing",
        "off": "disable disabled false",
        "on": "at enable enabled in onto true",
        "options": "config configure preferences prefs settings variables vars",
        "orient": "orientation",
        "practice": "alone hotseat solitaire solo",
        "quit": "logoff q signoff",
        "rated": "ranked",
        "reader": "screenreader",
        "register": "enrol enroll signup",
        "replay": "rewatch",
        "resign": "abandon concede forfeit surrender",
        "resume": "continue load",
        "messages": "inbox mail",
        "observe": "allobservers obs spectate",
        "say": "shout",
        "scheme": "palette theme",
        "score": "points statistics",
        "shove": "push",
        "small": "smaller",
        "standings": "ladder leaderboard rank ranking rankings ranks top",
        "start": "begin",
        "tell": "answer page t",
        "times": "timestamp timestamps",
        "to": "into",
        "tournament": "tourney",
        "tournaments": "mamer tourneys",
        "unfollow": "unfriend unnotify",
        "unignore": "unblock ungag unsquelch",
        "undo": "oops retract revert unmove",
        "utf-8": "unicode utf",
        "where": "find locate",
        "who": "players users",
        "options rows": "more pager paging",
        "rows": "height",
        "width": "columns",
        "with": "against versus vs",
        "yellow": "brown gold orange",
    }.items()
    for word in words.split()
}
"""Words that players try instead of the language's own, with those to suggest for them."""
