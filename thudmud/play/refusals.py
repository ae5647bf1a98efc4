"""Why a table or the hall says no: the reasons, and the exception that carries one.

The rules of the game refuse with `thudmud.rules.IllegalMove` instead. When either is raised,
nothing has changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from thudmud.errors import ThudmudError


class Refusal(Enum):
    """One reason each, as the sentence that the typist reads."""

    NO_BOARD_HERE = 'There is no "{words}" here.{hint} The boards are: {boards}.'
    NO_SUCH_ORDINAL = 'There is no "{words}", only {boards}.'
    WHICH_BOARD = 'Which one do you mean by "{words}": {boards}?'
    SAY_WHICH = 'Which board? Add "on" and one of: {boards}.'
    NOTHING_USED = 'You have not used a board yet for "it" to mean. The boards are: {boards}.'
    ALREADY_THERE = "You are at the {board} already."
    ALREADY_IN_HALL = "You are in the hall already."
    NO_SUCH_PLAYER = 'There is no player called "{words}" here. "who" lists the players.'
    WHICH_PLAYER = 'Which player do you mean by "{words}": {players}?'
    AWAY_FROM = "{player} is away from the {boards}."
    TELL_SELF = 'That is you. To speak to the room, use "say".'

    INVITE_SELF = 'That is you. "{words}" takes a seat.'
    PLAYS_THERE = "{other} plays the {side} at the {board} already."
    NO_SEAT_FREE = "Both seats at the {board} are taken. {seats}"

    NO_ACCOUNTS = "Names cannot be registered here."

    SEAT_TAKEN = "{holder} plays the {side} at the {board} already. {hint}"
    SAME_SEAT = "You play the {side} at the {board} already."
    ONE_SEAT_EACH = 'You play the {side} at the {board}. To change sides, "leave game" first.'
    NOT_SEATED = "You are not playing at the {board}. {seats}"
    NEEDS_OPPONENT = "A battle needs two players. {seats}"
    NOBODY_TO_AGREE = "There is nobody to agree to that. {seats}"
    NO_BATTLE = "No battle is being played at the {board}. {hint}"
    BATTLE_OVER = "The battle at the {board} is over. {hint}"
    NOT_YOUR_TURN = "It is {other}'s turn ({side})."
    OVER_FOR_GOOD = "The battle at the {board} is over, and what is over stays."
    AWAY = "{other} is away. A battle needs you both."
    NOT_AWAY = "{other} is here, so there is nothing to claim."
    TOO_SOON = "{other} may still come back. You need not wait longer than another {wait}."
    NOTHING_TO_CLAIM = (
        'There is no battle to claim between the two of a match; "{words}" puts the match away.'
    )
    NOBODY_TO_CLAIM_FROM = 'The other seat is free: you may say "{words}" alone.'
    NO_MATCH = "No match is under way at the {board}."
    NO_PLY_YET = "You have no move in this battle to take back yet."
    NOTHING_OFFERED = "Nothing has been offered at the {board}."
    BOARD_IN_USE = "The {board} is in use. Any other board that is free will do."
    NOTHING_ADJOURNED = 'You have no adjourned match. "adjourn game" puts one away.'
    GOES_ON_ALREADY = "Your match goes on at the {board}; none of yours is put away."
    NOT_YOURS_TO_RESUME = (
        'You have no adjourned match with the number {number}: "games" lists them.'
    )
    RESUME_THERE = 'A match goes on when you both are at the board: "{words}".'
    OPPONENT_NOT_THERE = "It goes on when you both are at the {board}; {others} not here."
    WHICH_ADJOURNED = 'Which one? "{words}" or another number; "games" lists them.'
    NO_SUCH_BATTLE = 'There is no battle {number}. "history" lists those that were played.'
    NOT_KEPT = "The moves of battle {number} are no longer kept here."
    NOT_REPLAYING = 'You are not replaying a battle. Begin with "replay" and its number.'
    REPLAY_AT_START = 'This is where battle {number} begins. "next" goes on.'
    REPLAY_AT_END = 'Battle {number} has no further ply. "back" and "first" go back.'
    REPLAY_GONE_ON = 'More has happened since; "{words}" shows it.'
    ALREADY_OFFERED = 'You have offered that already; it takes {other} to say "{words}" too.'
    RULES_RUNNING = (
        "The {board} keeps the {rules} rules while a battle is being played. "
        "They can be set again when the match is over."
    )
    RULES_MID_MATCH = (
        "The {board} keeps the {rules} rules for the second battle of the match. "
        "They can be set again when the match is over."
    )
    RULES_SEATED_ONLY = "The rules of the {board} are for its players to choose. {seats}"
    RULES_ALREADY = "The {board} has the {rules} rules already."
    RULES_UNKNOWN = 'There are no "{words}" rules. There are: {known}.'


class Refused(ThudmudError):
    """A command that changes nothing; ``str()`` is the sentence for the typist.

    Attributes:
        reason: why.
        details: what the sentence says of this case, by the names in its template.
    """

    def __init__(self, reason: Refusal, **details: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.details: Mapping[str, Any] = details

    def __str__(self) -> str:
        return self.told()

    def told(self, **more: object) -> str:
        """Return the sentence, with more details where the typist's words are understood."""
        return self.reason.value.format(**{"hint": "", **self.details, **more}).strip()
