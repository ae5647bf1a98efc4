"""Which board and which player somebody means by their words; and whether an event fits a table.

A board's name ends in its noun, and the words before that are adjectives: ``oak board``, ``board``,
``2nd board`` and ``last board`` may all mean one. What is meant where nothing is said, and what
"it" means, is found here, too.

Events are checked that somebody else has kept, line by line: a line may have been lost or changed.
What a store holds is what a table decided, and is not asked about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import assert_never

from thudmud.errors import InvalidValueError, Refused
from thudmud.play.events import (
    Absent,
    Adjourned,
    BattleEnded,
    BattleStarted,
    Cleared,
    Declined,
    Joined,
    Left,
    Moved,
    Offered,
    OfferLapsed,
    Resumed,
    Returned,
    RulesSet,
    TableEvent,
    TakenBack,
)
from thudmud.play.hall import Decision, Hall, Person
from thudmud.play.refusals import Refusal
from thudmud.play.table import Table
from thudmud.rules import Game, IllegalMove, Side


def require_fit(table: Table, event: TableEvent) -> None:
    """Raise InvalidValueError if an event cannot be what happens next at a table."""
    if problem := _problem(table, event):
        raise InvalidValueError(problem)


def require_ply(game: Game | None, event: Moved) -> None:
    """Raise InvalidValueError if a ply cannot be the next of a battle."""
    if problem := _of_ply(game, event):
        raise InvalidValueError(problem)


def _problem(table: Table, event: TableEvent) -> str | None:
    match event:
        case Moved():
            return _of_ply(table.game, event)
        case Joined(player=player, side=side):
            taken = side in table.seats or table.side_of(player)
            return f"{player} cannot sit down" if taken else None
        case Left(player=player, side=side) | Absent(player=player, side=side):
            return _of_seat(table, player, side)
        case Returned(player=player, side=side):
            return _of_seat(table, player, side)
        case Offered(player=player):
            return None if table.side_of(player) else f"{player} has no seat"
        case BattleStarted():
            return _of_start(table, event)
        case BattleEnded(outcome=outcome, plies=plies):
            game = table.game
            ends = game and len(game.moves) == plies and game.outcome in {None, outcome}
            return None if ends else "no such battle ends"
        case TakenBack(moves=moves):
            game = table.game if table.running else None
            last = game.moves[-len(moves) :] if game else ()
            return None if moves == last else "these plies were not the last"
        case RulesSet():
            return "a match is under way" if table.under_way else None
        case Adjourned(match=saved):
            there = table.match and table.match.saved()
            return None if saved == there else "another match was put away"
        case Resumed():
            return "a match is under way" if table.under_way else None
        case OfferLapsed() | Declined() | Cleared():
            return None
        case _:
            assert_never(event)


def _of_seat(table: Table, player: str, side: Side) -> str | None:
    return None if table.seats.get(side) == player else f"{player} has no such seat"


def _of_start(table: Table, event: BattleStarted) -> str | None:
    sit = event.dwarf, event.troll
    swapped = event.number > 1
    seats = tuple(table.seats.get(side) for side in Side)
    if table.half_played is not swapped:
        return f"battle {event.number} of a match cannot begin"
    return None if sit == (seats[::-1] if swapped else seats) else "others sit there"


def _of_ply(game: Game | None, event: Moved) -> str | None:
    if game is None:
        return "no battle has begun"
    if event.ply != len(game.moves) + 1:
        return f"ply {event.ply} comes after ply {len(game.moves)}"
    try:
        legal = game.resolve(event.move.attempt(), event.side)
    except IllegalMove as refusal:
        return str(refusal)
    return None if legal == event.move else f"{event.move} is not played so"


ORDINAL_WORDS = {
    word: number
    for number, word in enumerate(
        ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"), 1
    )
} | {"last": -1}
ARTICLES = {"the", "a", "an"}
RESERVED = frozenset(
    {
        "it",
        "hall",
        "here",
        "round",
        "around",
        "me",
        "myself",
        "capturing",
        *ARTICLES,
        *ORDINAL_WORDS,
    }
)
"""Words that mean something else where a name is expected."""

_ORDINAL = re.compile(r"([0-9]{1,6})(?:st|nd|rd|th)?")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase taken apart: its words, and which of those that fit it picks out.

    ``ordinal`` counts from 1; -1 is the last; None picks out none in particular.
    """

    words: tuple[str, ...]
    ordinal: int | None = None

    @classmethod
    def parse(cls, text: str) -> Phrase:
        """Return ``text`` as a phrase: any case, articles dropped, an ordinal before or behind."""
        words = [word for word in text.lower().split() if word not in ARTICLES]
        for place in (0, -1):
            if words and (ordinal := _ordinal(words[place])) is not None:
                del words[place]
                return cls(tuple(words), ordinal)
        return cls(tuple(words))

    def fits(self, name: str) -> bool:
        """Whether ``name`` holds these words in this order: adjectives, the noun, or both.

        A mere ordinal fits every name.
        """
        rest = iter(name.lower().split())
        return all(word in rest for word in self.words)

    def among(self, names: Sequence[str]) -> list[str]:
        """Return those of ``names`` that the words fit, in their order, the ordinal left out."""
        exact = [name for name in names if tuple(name.lower().split()) == self.words]
        if exact and self.ordinal is None:
            return exact
        return [name for name in names if self.fits(name)]

    def pick(self, fitting: Sequence[str]) -> str | None:
        """Return the one that is meant of those that fit; None if it is not one.

        Without an ordinal the only one that fits is meant.
        """
        if self.ordinal is None:
            return fitting[0] if len(fitting) == 1 else None
        index = self.ordinal if self.ordinal < 0 else self.ordinal - 1
        return fitting[index] if -len(fitting) <= index < len(fitting) and self.ordinal else None


def _ordinal(word: str) -> int | None:
    if word in ORDINAL_WORDS:
        return ORDINAL_WORDS[word]
    found = _ORDINAL.fullmatch(word)
    return int(found[1]) if found else None


def board_meant(hall: Hall, person: Person, words: str | None) -> Table:
    """Return the table that ``words`` mean to ``person``; None means they said nothing.

    Raises:
        Refused: no board or more than one fits.
    """
    if words is None:
        return _unsaid_board(hall, person)
    if words.lower() == "it":
        if person.used is None:
            raise Refused(Refusal.NOTHING_USED, boards=tuple(hall.tables))
        return hall.tables[person.used]
    return hall.tables[_named_board(hall, person, words)]


def named(hall: Hall, player: str, words: str | None) -> Decision:
    """Return what comes of a command that was refused.

    The board that its words name, if they name one, is "it" for ``player`` from now on.
    """
    board = None
    with suppress(Refused):
        if words is not None:
            board = board_meant(hall, hall.people[player], words).name
    return Decision(player, board)


def fits_a_board(hall: Hall, words: str) -> bool:
    """Whether a noun phrase fits any board, its ordinal left out."""
    phrase = Phrase.parse(words)
    # Nearly all phrases are a board's whole name, or hold a word that is in none.
    if hall.board_called(phrase.words) is not None:
        return True
    return hall.board_words.issuperset(phrase.words) and any(map(phrase.fits, hall.tables))


def away_from(hall: Hall, words: str) -> tuple[str, tuple[str, ...]] | None:
    """Return who of those that have seats and are away is called so, and from which boards."""
    kept = [
        (table.seats[side], table.name) for table in hall.tables.values() for side in table.away
    ]
    for player, _ in kept:
        if player.lower() == words.lower():
            return player, tuple(board for name, board in kept if name == player)
    return None


def player_meant(hall: Hall, words: str) -> str:
    """Return the name of the one player here whose name is ``words``, or begins so, in any case.

    Raises:
        Refused: nobody fits, or more than one.
    """
    beginning, names = words.lower(), hall.names
    if beginning in names:
        return names[beginning]
    near = [name for lower, name in names.items() if lower.startswith(beginning)]
    match near:
        case [name]:
            return name
        case []:
            raise Refused(Refusal.NO_SUCH_PLAYER, words=words)
        case several:
            raise Refused(Refusal.WHICH_PLAYER, words=words, players=tuple(several))


def _unsaid_board(hall: Hall, person: Person) -> Table:
    if person.room:
        return hall.tables[person.room]
    seated = hall.seats_of(person.name)
    if len(seated) == 1:
        return seated[0]
    if len(hall.tables) == 1:
        return next(iter(hall.tables.values()))
    # Whoever plays several games is asked about those.
    boards = tuple(table.name for table in seated) or tuple(hall.tables)
    raise Refused(Refusal.SAY_WHICH, boards=boards)


def _named_board(hall: Hall, person: Person, words: str) -> str:
    phrase = Phrase.parse(words)
    if phrase.ordinal is None:
        # The two that are meant most need no look at all the others.
        if (exact := hall.board_called(phrase.words)) is not None:
            return exact
        if person.room is not None and phrase.fits(person.room):
            return person.room
    fitting = phrase.among(list(hall.tables))
    if not fitting:
        raise Refused(Refusal.NO_BOARD_HERE, words=words, boards=tuple(hall.tables))
    picked = phrase.pick(fitting)
    if picked:
        return picked
    code = Refusal.WHICH_BOARD if phrase.ordinal is None else Refusal.NO_SUCH_ORDINAL
    raise Refused(code, words=words, boards=tuple(fitting))
