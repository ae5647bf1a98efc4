"""Game records as files.

The headers of a record tell its rules, who played it and when, and how it ended. The name of its
file tells that once more, for those who look through a folder, and for bare records:
``000012_2026-11-20_discworld_Anna_Bert_resignation_troll.thud`` was won by the trolls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from thudmud.play.battles import Battle
from thudmud.rules import RULESETS, Ending, Game, Outcome, Side
from thudmud.rules.records import outcome_told
from thudmud.text.dates import day, day_begins

NOBODY = "nobody"
"""Stands in the name of a file for a player who is not known; no player is called that."""

_NAME = re.compile(
    r"\d+_(?P<day>\d{4}-\d\d-\d\d)_(?P<rules>[a-z-]+)_(?P<dwarf>[A-Za-z]{2,20})"
    r"_(?P<troll>[A-Za-z]{2,20})"
    r"(?:_(?P<ending>[a-z-]+)_(?P<winner>[a-z]+))?\.thud",
    re.ASCII,
)
_ENDINGS = {each.value.replace(" ", "-"): each for each in Ending}
_WINNERS = {"draw": None} | {each.value: each for each in Side}


@dataclass(frozen=True, slots=True)
class BattleDetails:
    """What is known of a battle but for its record.

    Attributes:
        at: when it was played, in seconds since the epoch.
        rules: its ruleset's name.
        dwarf: who played the dwarfs; "" if that is not known.
        troll: the same for the trolls.
        ending: how it ended; None if it has not, or if that is not known.
        winner: the side that won it; None for a draw, or if that is not known.
    """

    at: float | None = None
    rules: str | None = None
    dwarf: str = ""
    troll: str = ""
    ending: Ending | None = None
    winner: Side | None = None

    def outcome(self, game: Game) -> Outcome | None:
        """Return how a battle ended: by its plies, or else as is told; None if it is not known."""
        if game.outcome or self.ending is None:
            return game.outcome
        return outcome_told(game, self.ending, self.winner)


def file_name(battle: Battle) -> str:
    """Return the name of the file for a battle's record."""
    dwarf, troll = battle.dwarf or NOBODY, battle.troll or NOBODY
    rules = battle.rules.replace(" ", "-")
    ended = ""
    if battle.outcome:
        ending = battle.outcome.ending.value.replace(" ", "-")
        ended = f"_{ending}_{battle.outcome.winner.value if battle.outcome.winner else 'draw'}"
    return f"{battle.number:06}_{day(battle.at)}_{rules}_{dwarf}_{troll}{ended}.thud"


def details_in(name: str) -> BattleDetails:
    """Return what the name of a file tells; nothing if it is not one that `file_name` makes."""
    match = _NAME.fullmatch(name)
    at = day_begins(match["day"]) if match else None
    rules = match["rules"].replace("-", " ") if match else ""
    if match is None or at is None or rules not in RULESETS:
        return BattleDetails()
    dwarf, troll = ("" if name == NOBODY else name for name in (match["dwarf"], match["troll"]))
    ending, winner = _ENDINGS.get(match["ending"]), _WINNERS.get(match["winner"])
    return BattleDetails(at, rules, dwarf, troll, ending, winner)
