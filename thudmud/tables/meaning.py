"""Which board and which player somebody means by their words.

Owns what is meant where nothing is said, and what "it" means. Must never change anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from thudmud.commands.near import near_miss
from thudmud.tables.hall import Hall
from thudmud.tables.objects import Phrase, listed, shortened
from thudmud.tables.outcome import Decision
from thudmud.tables.people import Person
from thudmud.tables.refusals import Refusal, Refused
from thudmud.tables.table import Table


def board_meant(hall: Hall, person: Person, words: str | None) -> Table:
    """Return the table that ``words`` mean to ``person``; None means they said nothing.

    Raises:
        Refused: no board or more than one fits.
    """
    if words is None:
        return _unsaid_board(hall, person)
    if words.lower() == "it":
        if person.used is None:
            raise Refused(Refusal.NOTHING_USED, boards=listed(hall.tables))
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


def away_from(hall: Hall, words: str) -> tuple[str, list[str]] | None:
    """Return who of those that have seats and are away is called so, and from which boards."""
    kept = [
        (table.seats[side], table.name) for table in hall.tables.values() for side in table.away
    ]
    for player, _ in kept:
        if player.lower() == words.lower():
            return player, [board for name, board in kept if name == player]
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
            raise Refused(Refusal.NO_SUCH_PLAYER, words=shortened(words))
        case several:
            raise Refused(
                Refusal.WHICH_PLAYER, words=shortened(words), players=listed(several, "or")
            )


def _unsaid_board(hall: Hall, person: Person) -> Table:
    if person.room:
        return hall.tables[person.room]
    seated = hall.seats_of(person.name)
    if len(seated) == 1:
        return seated[0]
    if len(hall.tables) == 1:
        return next(iter(hall.tables.values()))
    # Whoever plays several games is asked about those.
    boards = [table.name for table in seated] or list(hall.tables)
    raise Refused(Refusal.SAY_WHICH, boards=listed(boards, "or"))


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
        hint = _hint(phrase, list(hall.tables))
        boards = listed(hall.tables)
        raise Refused(Refusal.NO_BOARD_HERE, words=shortened(words), hint=hint, boards=boards)
    picked = phrase.pick(fitting)
    if picked:
        return picked
    if phrase.ordinal is None:
        raise Refused(Refusal.WHICH_BOARD, words=shortened(words), boards=listed(fitting, "or"))
    raise Refused(Refusal.NO_SUCH_ORDINAL, words=shortened(words), boards=listed(fitting))


def _hint(phrase: Phrase, names: Sequence[str]) -> str:
    """Return a question after the board that was probably meant, if one is near."""
    words = {word for name in names for word in name.lower().split()} | {"capturing", "hall"}
    for said in phrase.words:
        meant = near_miss(said, words)
        if meant and meant != said:
            return f' Did you mean "{meant}"?'
    return ""
