"""Why an attempt is refused: the reasons and their sentences."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from operator import attrgetter

from thudmud.errors import ThudmudError
from thudmud.rules.board import Square


class Reason(Enum):
    """Why an attempt is refused; the value is the template of the sentence."""

    GAME_OVER = "This battle is over."
    NOT_YOUR_TURN = "It is the {side}' turn."
    OFF_BOARD = "{square} is off the octagon; that row runs from {first} to {last}."
    NO_PIECE = "Nothing stands on {square}."
    THUDSTONE_STAYS = "The Thudstone on {square} never moves."
    NOT_YOUR_ROCK = "Only the dwarfs move the Rock on {square}."
    NOT_YOUR_PIECE = "{piece} stands on {square}; you move the {side}."
    NO_SUCH_VERB = "{rules} knows no {verb}; there you can {verbs}."
    NOT_THIS_SIDES_VERB = "The {side} cannot {verb}; they can {verbs}."

    SAME_SQUARE = "The piece on {square} has to go somewhere else."
    NOT_STRAIGHT = "{target} is not in a straight line with {origin}."
    BLOCKED = "The way from {origin} to {target} is blocked at {square} by {piece}."
    TARGET_TAKEN = "{target} is taken by {piece}; only an empty square will do."
    MOVE_ONTO_TROLL = (
        "A dwarf moves to empty squares only; to capture the troll on {target}, hurl it."
    )
    TOO_FAR = "{piece} moves at most {reach}; {target} is {far} away."
    LINE_TOO_SHORT = "The line of {line} can be {gone} at most {reach}; {target} is {far} away."
    SHOVE_NEEDS_LINE = (
        "A shove needs a line of {shortest} trolls; no troll stands straight behind {origin}."
    )
    LANDS_ON_NO_TROLL = "A hurled dwarf has to land on a troll; {target} holds {piece}."

    NAMED_TWICE = "{square} is named twice; once is enough."
    CAPTURES_NOTHING = "Nothing can be captured by going to {target}: {why}."
    CAPTURE_UNSAID = (
        'A shove has to capture; add "capturing" and one or more of {choices}, or "all".'
    )
    NO_ENEMY_THERE = "No {enemy} stands on {square} to be captured."
    CAPTURE_NOT_ADJACENT = "{square} is not next to {target}, where the {piece} would stand."
    TOO_MANY_CAPTURES = "A move captures at most {most} here; choose among {choices}{instead}."
    MOVE_CAPTURES = "A dwarf that moves captures nothing; a hurl captures the troll it lands on."
    HURL_CAPTURES = "A hurl captures the troll it lands on, here {target}, and nothing else."

    NOT_TRAPPED = "The troll on {square} is not trapped; {behind} behind it holds no dwarf."
    NOT_TRAPPED_AT_EDGE = "The troll on {square} cannot be trapped from {target}: the board ends."
    ROCK_NOT_ESCORTED = (
        "The Rock goes from beside a dwarf to beside a dwarf; none is next to {square}."
    )
    ROCK_CAPTURES = "The Rock takes no part in captures; move it without."

    MUST_TRAMPLE = 'Only a trample leads from {origin} to {target}; add "capturing {path}".'
    TRAMPLE_NOT_NEXT = "{square} is not next to {at}, where the trample has come to."
    TRAMPLE_NO_LANDING = "{square} cannot be trampled from {at}: {landing} beyond it is not empty."
    TRAMPLE_AT_EDGE = "{square} cannot be trampled from {at}: beyond it the board ends."
    TRAMPLE_ENDS_ELSEWHERE = "That trample ends on {end}, not on {target}."
    TRAMPLES_TOO_MANY = (
        "There are too many ways to trample to {target} to try them all; name the dwarfs in the "
        'order trampled: "capturing {path}", say.'
    )
    TRAMPLE_AMBIGUOUS = (
        "More than one trample fits; name the dwarfs in order: "
        '"capturing {one}" or "capturing {other}", say.'
    )


class IllegalMove(ThudmudError, ValueError):
    """An attempt that the rules refuse.

    Attributes:
        reason: why.
        squares: the squares that make it so.
    """

    def __init__(self, reason: Reason, squares: tuple[Square, ...] = (), **words: object) -> None:
        super().__init__(reason, squares)
        self.reason = reason
        self.squares = squares
        self._words = words

    def __str__(self) -> str:
        return self.told(str)

    def told(self, name: Callable[[Square], str]) -> str:
        """Return the sentence with squares named by ``name``."""
        words = {key: _told(value, name) for key, value in self._words.items()}
        return self.reason.value.format(**words)

    def told_for_records(self) -> str:
        """Return the sentence with squares as game records name them, which skip the letter I."""
        return self.told(attrgetter("record_name"))


def _told(value: object, name: Callable[[Square], str]) -> str:
    if isinstance(value, Square):
        return name(value)
    if isinstance(value, tuple):
        return ", ".join(_told(each, name) for each in value)
    return str(value)
