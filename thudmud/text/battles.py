"""A battle that was played, in a line: who, when, by which rules, and what came of it.

Owns what all lists and replays say of a battle. Must never know who else is on a list.
"""

from __future__ import annotations

from thudmud.play.battles import Battle, State
from thudmud.rules import Ending, Outcome, Side
from thudmud.rules.english import counted
from thudmud.text.dates import day

UNKNOWN = "somebody"

ENDINGS = {
    Ending.AGREEMENT: "ended by agreement",
    Ending.QUIET: "ended for want of captures",
    Ending.NO_MOVE: "ended without a move left",
    Ending.RESIGNATION: "{loser} resigned",
    Ending.ROCK_ESCAPED: "the Rock came home",
    Ending.ROCK_CAPTURED: "the Rock was surrounded",
    Ending.DESERTION: "ended alone",
    Ending.CLAIM: "claimed, {loser} being away",
}

STATES = {
    State.RUNNING: "still running",
    State.ADJOURNED: "adjourned",
    State.UNFINISHED: "never finished",
    State.ENDED: "its end is not known",
}
"""What is said of a battle without an outcome."""


def entry(battle: Battle) -> str:
    """Return what a list says of a battle."""
    plies = [] if battle.plies is None else [counted(battle.plies, "ply")]
    facts = [battle.rules, *plies, end(battle), *(["imported"] if battle.imported else [])]
    return f"{day(battle.at)}: {sides(battle)}; {', '.join(facts)}"


def sides(battle: Battle) -> str:
    """Return who played what, with the score if there is one: "Anna (dwarfs) 31, ..."."""
    return ", ".join(f"{_who(battle, side)} ({side.plural}){_count(battle, side)}" for side in Side)


def end(battle: Battle) -> str:
    """Return how a battle ended, or how far it has come, as a part of a sentence."""
    if battle.outcome is None:
        return STATES[battle.state]
    return ENDINGS[battle.outcome.ending].format(loser=_loser(battle, battle.outcome))


def _who(battle: Battle, side: Side) -> str:
    return battle.player(side) or UNKNOWN


def _count(battle: Battle, side: Side) -> str:
    return f" {battle.outcome.score.of(side)}" if battle.outcome else ""


def _loser(battle: Battle, outcome: Outcome) -> str:
    winner = outcome.winner
    return _who(battle, winner.other) if winner else UNKNOWN
