"""Reference resolution: from the words that a player typed to a board, player, bot or battle.

A board's name ends in a noun, preceded by adjectives: ``oak board``, ``board``, ``2nd board`` and
``last board`` may all refer to the same board. "it" refers to the player's last board, and a
command that names no board has a default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import Enum

from thudmud.errors import RefusedError
from thudmud.game.archive import BattleLookup, FoundBattle, LookupResults, MemberLookup
from thudmud.game.command import CommandContext
from thudmud.game.hall import Decision, Hall
from thudmud.game.people import BotLevel, Person
from thudmud.game.refusals import Refusal
from thudmud.game.table import Table
from thudmud.rules import Game
from thudmud.values import Value

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
        "level",
        *ARTICLES,
        *ORDINAL_WORDS,
    }
)
"""Words that cannot be names, since they mean something else in the place of a name."""

_ORDINAL = re.compile(r"([0-9]{1,6})(?:st|nd|rd|th)?")


class Phrase(Value):
    """A parsed noun phrase.

    Attributes:
        words: the words in lower case, without articles and the ordinal.
        ordinal: which of the matching names, from 1; -1 for the last, None without an ordinal.
    """

    words: tuple[str, ...]
    ordinal: int | None = None

    @classmethod
    def parse(cls, text: str) -> Phrase:
        """Parse a noun phrase, ignoring case. The ordinal may come first or last."""
        words = list(_without_articles(text))
        for place in (0, -1):
            if words and (ordinal := _ordinal(words[place])) is not None:
                del words[place]
                return cls(tuple(words), ordinal)
        return cls(tuple(words))

    def is_subsequence_of(self, name: str) -> bool:
        """Whether the words are a subsequence of a name's words.

        An ordinal alone matches every name.
        """
        rest = iter(name.lower().split())
        return all(word in rest for word in self.words)

    def among(self, names: Sequence[str]) -> list[str]:
        """Return the matching names, in order, regardless of the ordinal.

        Without an ordinal, exact matches exclude all others.
        """
        exact = [name for name in names if tuple(name.lower().split()) == self.words]
        if exact and self.ordinal is None:
            return exact
        return [name for name in names if self.is_subsequence_of(name)]

    def pick(self, fitting: Sequence[str]) -> str | None:
        """Return the matching name that the ordinal selects; None if there is none.

        Without an ordinal, return the only name, or None if there are several.
        """
        if self.ordinal is None:
            return fitting[0] if len(fitting) == 1 else None
        index = self.ordinal if self.ordinal < 0 else self.ordinal - 1
        return fitting[index] if -len(fitting) <= index < len(fitting) and self.ordinal else None


def _without_articles(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.lower().split() if word not in ARTICLES)


def _ordinal(word: str) -> int | None:
    if word in ORDINAL_WORDS:
        return ORDINAL_WORDS[word]
    found = _ORDINAL.fullmatch(word)
    return int(found[1]) if found else None


def is_private_board_phrase(person: Person, words: str | None) -> bool:
    """Whether ``words``, the words for a board, refer to the person's current private board.

    None means the private board too, and "it" does if that was the last board mentioned.
    """
    if person.private is None:
        return False
    name = person.private.table.name
    if words is None or Phrase.parse(words).words == (name,):
        return True
    return words.lower() == "it" and person.last_board == name


def resolve_board(hall: Hall, person: Person, words: str | None) -> Table:
    """Resolve the words for a board to a table in the hall, or to the person's private board.

    Raises:
        RefusedError: no board or more than one fits.
    """
    if person.private and is_private_board_phrase(person, words):
        return person.private.table
    return resolve_hall_board(hall, person, words)


def resolve_query_board(hall: Hall, person: Person, words: str | None) -> Table:
    """Resolve the words for a board in a question to a table.

    The default is the current board, in a room or at a private board; elsewhere the board used
    last.

    Raises:
        RefusedError: no board or more than one fits.
    """
    is_anywhere = person.room is not None or person.private is not None
    used = None if words is not None or is_anywhere else hall.tables.get(person.last_board or "")
    return used or resolve_board(hall, person, words)


def resolve_hall_board(hall: Hall, person: Person, words: str | None) -> Table:
    """Resolve the words for a board to a table in the hall; None stands for the default board.

    Raises:
        RefusedError: no board or more than one fits.
    """
    if words is None:
        return _default_board(hall, person)
    if words.lower() == "it":
        if person.last_board is None or person.last_board not in hall.tables:
            raise RefusedError(Refusal.NOTHING_USED, boards=tuple(hall.tables))
        return hall.tables[person.last_board]
    return hall.tables[_resolve_named_board(hall, person, words)]


MOVE_SETTLES = 5.0
"""Seconds after the end of a battle for which a move typed in its room goes to no other board: the
player may not have noticed the end."""


def resolve_move_board(hall: Hall, person: Person, words: str | None, now: float) -> Table:
    """Resolve the words for a board in a move to a table.

    In a room without a running battle, the default is the only board where it is the player's turn,
    if there is exactly one.

    Raises:
        RefusedError: no board or more than one fits.
    """
    if words is not None or person.room is None:
        return resolve_hall_board(hall, person, words)
    table = hall.tables[person.room]
    if table.is_running or (table.match and now - table.waiting_since < MOVE_SETTLES):
        return table
    turns = [each for each in hall.tables.seats_of(person.name) if each.is_turn_of(person.name)]
    if len(turns) > 1:
        raise RefusedError(Refusal.SAY_WHICH, boards=tuple(each.name for each in turns))
    return turns[0] if turns else table


def decision_after_refusal(hall: Hall, player: str, words: str | None) -> Decision:
    """Return the decision that remains of a refused command.

    From now on, "it" refers to the board that the command named, if any.
    """
    board = None
    with suppress(RefusedError):
        if words is not None:
            board = resolve_board(hall, hall.people[player], words).name
    return Decision(player, board)


def is_board_phrase(hall: Hall, words: str) -> bool:
    """Whether a noun phrase matches any board, regardless of the ordinal."""
    phrase = Phrase.parse(words)
    # Two quick tests: nearly all phrases are a full name, or contain a word that no name has.
    if hall.tables.name_for_words(phrase.words) is not None:
        return True
    return hall.tables.words.issuperset(phrase.words) and any(
        map(phrase.is_subsequence_of, hall.tables)
    )


_ENDS_IN_BOARD = re.compile(r"(.+) on ((?:(?! on )[^.!])+)[.!]*", re.IGNORECASE)


def split_board(hall: Hall, text: str) -> tuple[str, str | None]:
    """Split words such as ``Well played on oak`` into the message and the words for a board.

    A noun alone isn't split off, as in "put pressure on the board"; it takes the first words of a
    name, or an ordinal.
    """
    found = _ENDS_IN_BOARD.fullmatch(text)
    if found is None or not is_board_phrase(hall, found[2]):
        return text, None
    phrase = Phrase.parse(found[2])
    size = len(phrase.words)
    begins = any(tuple(name.lower().split())[:size] == phrase.words for name in hall.tables)
    is_told = size and (begins or phrase.ordinal is not None)
    return (found[1], found[2]) if is_told else (text, None)


def resolve_watched_board(hall: Hall, person: Person, words: str | None) -> Table:
    """Resolve the words for a board to one where the player is, plays or observes.

    Raises:
        RefusedError: no such board or more than one fits.
    """
    seats = [table.name for table in hall.tables.seats_of(person.name)]
    watched = dict.fromkeys((*([person.room] if person.room else ()), *seats, *person.observed))
    if words is not None:
        table = resolve_hall_board(hall, person, words)
        if table.name not in watched:
            raise RefusedError(Refusal.NOT_WATCHING, board=table.name)
        return table
    last = person.last_board
    if last in person.observed and last in hall.tables:
        return hall.tables[last]  # as right after "observe"
    match list(watched):
        case []:
            raise RefusedError(Refusal.WATCHING_NOTHING)
        case [board, *others] if person.room or not others:
            return hall.tables[board]
        case several:
            raise RefusedError(Refusal.SAY_WHICH, boards=tuple(several))


_BATTLE = re.compile("battle ([1-9][0-9]{0,8})", re.IGNORECASE)


def resolve_observed_board(hall: Hall, person: Person, words: str) -> Table:
    """Resolve a board's name, a seated player's name, or ``battle`` and a number to a table.

    Raises:
        RefusedError: no board or more than one fits.
    """
    if words.lower() == "it" or is_board_phrase(hall, words):
        return resolve_hall_board(hall, person, words)
    if found := _BATTLE.fullmatch(words):
        for table in hall.tables.values():
            if table.is_running and table.match and table.match.number == int(found[1]):
                return table
        raise RefusedError(Refusal.NOT_RUNNING, number=int(found[1]))
    away = find_absent_player(hall, words)
    try:
        player = away[0] if away else resolve_player(hall, words)
    except RefusedError as refusal:
        if refusal.code is Refusal.NO_SUCH_PLAYER:
            raise RefusedError(Refusal.NOTHING_TO_OBSERVE, words=words) from None
        raise
    seats = hall.tables.seats_of(player)
    match [table for table in seats if table.is_running] or seats:
        case [table]:
            return table
        case []:
            raise RefusedError(Refusal.PLAYS_NOWHERE, player=player)
        case several:
            boards = tuple(table.name for table in several)
            raise RefusedError(Refusal.PLAYS_AT_SEVERAL, player=player, boards=boards)


def find_absent_player(hall: Hall, words: str) -> tuple[str, tuple[str, ...]] | None:
    """Find a seated player who is away, by the whole name, ignoring case.

    Returns:
        The name, and the boards where a seat is kept; None if there is no such player.
    """
    kept = [
        (table.seats[side], table.name) for table in hall.tables.values() for side in table.away
    ]
    for player, _ in kept:
        if player.lower() == words.lower():
            return player, tuple(board for name, board in kept if name == player)
    return None


_CURLY = "\N{RIGHT SINGLE QUOTATION MARK}"


def resolve_player(hall: Hall, words: str) -> str:
    """Resolve a name or an unambiguous prefix, ignoring case, to a player who is here.

    Raises:
        RefusedError: no player or more than one fits.
    """
    names = hall.people.names
    if words.lower() in names:
        return names[words.lower()]
    if _CURLY in words:  # as phones type the apostrophe in O'Brien
        words = words.replace(_CURLY, "'")
    return match_one_by_prefix(words, names.values(), Refusal.NO_SUCH_PLAYER)


def match_one_by_prefix(words: str, names: Iterable[str], none: Enum) -> str:
    """Return the name that equals ``words`` or is the only one with that prefix, ignoring case.

    Args:
        words: the words typed.
        names: the candidates.
        none: the refusal code if no name matches.

    Raises:
        RefusedError: no name or more than one matches.
    """
    match match_by_prefix(words, names):
        case [name]:
            return name
        case []:
            raise RefusedError(none, words=words)
        case several:
            raise RefusedError(Refusal.WHICH_PLAYER, words=words, players=tuple(several))


def match_by_prefix(words: str, names: Iterable[str]) -> list[str]:
    """Return the name that equals the words, or else all names with this prefix."""
    near = [name for name in names if name.lower().startswith(words.lower())]
    return [name for name in near if name.lower() == words.lower()] or near


def resolve_level(hall: Hall, bot: str, words: str) -> BotLevel:
    """Resolve the number or name of a level of a bot.

    Raises:
        RefusedError: there is no such level, or the bot has no levels.
    """
    if hall.bots.get(bot) is None:
        raise RefusedError(Refusal.PLAYS_AT_NO_LEVEL, player=bot)
    for level in hall.levels:
        if words.lower() in {str(level.number), level.name.lower()}:
            return level
    raise RefusedError(Refusal.NO_SUCH_LEVEL, words=words, levels=tuple(map(str, hall.levels)))


def _default_board(hall: Hall, person: Person) -> Table:
    if person.room:
        return hall.tables[person.room]
    seated = hall.tables.seats_of(person.name)
    if len(seated) == 1:
        return seated[0]
    if len(hall.tables) == 1:
        return next(iter(hall.tables.values()))
    # Offer the player's own boards if there are several, else those that could be meant.
    boards = tuple(table.name for table in seated) or tuple(_candidate_boards(hall, person))
    raise RefusedError(Refusal.SAY_WHICH, boards=boards)


def _candidate_boards(hall: Hall, person: Person) -> list[str]:
    """Return the boards that words without an ordinal may refer to.

    Boards that were opened for other players are left out unless nothing else fits.
    """
    others = set(hall.tables.made.values()) - {person.room}
    others -= {table.name for table in hall.tables.seats_of(person.name)}
    return [name for name in hall.tables if name not in others]


def _resolve_named_board(hall: Hall, person: Person, words: str) -> str:
    phrase = Phrase.parse(words)
    if phrase.ordinal is None:
        # Shortcuts for the two most frequent cases, which save a scan of all boards.
        if (exact := hall.tables.name_for_words(phrase.words)) is not None:
            return exact
        if person.room is not None and phrase.is_subsequence_of(person.room):
            return person.room
    elif (exact := hall.tables.name_for_words(_without_articles(words))) is not None:
        return exact  # boards opened before boards had names of materials: "5th board"
    if phrase.ordinal in hall.tables.made and phrase.is_subsequence_of(
        hall.tables.made[phrase.ordinal]
    ):
        return hall.tables.made[phrase.ordinal]
    counted = [name for name in hall.tables if name not in hall.tables.made.values()]
    fitting = phrase.among(_candidate_boards(hall, person) if phrase.ordinal is None else counted)
    if not fitting and phrase.ordinal is None:  # "ash" is the ash board, not the worn ash board
        whole = hall.tables.name_for_words((*phrase.words, "board"))
        fitting = [whole] if whole else phrase.among(tuple(hall.tables))
    if not fitting:
        raise RefusedError(Refusal.NO_BOARD_HERE, words=words, boards=tuple(hall.tables))
    picked = phrase.pick(fitting)
    if picked:
        return picked
    if phrase.ordinal is None:
        raise RefusedError(Refusal.WHICH_BOARD, words=words, boards=tuple(fitting))
    # Player-opened boards, which were tried by number above, are listed in the refusal as well.
    there = phrase.among(tuple(hall.tables))
    raise RefusedError(Refusal.NO_SUCH_ORDINAL, words=words, boards=tuple(there))


def resolve_player_here(context: CommandContext, words: str) -> str:
    """Resolve a name to a player who is here, like `resolve_player`, with better refusals.

    Raises:
        RefusedError: no player or more than one fits. If the player is known but absent, the
            refusal says since when, or from which boards.
    """
    try:
        return resolve_player(context.hall, words)
    except RefusedError as refusal:
        if refusal.code is Refusal.NO_SUCH_PLAYER:
            require_not_absent(context, words)
        raise


def require_not_absent(context: CommandContext, words: str) -> None:
    """Raise RefusedError if the words name an absent member or an absent seated player."""
    if known := context.found[MemberLookup(words)]:
        seconds = max(0.0, context.now - known.at)
        raise RefusedError(Refusal.NOT_HERE, player=known.name, seconds=seconds)
    if away := find_absent_player(context.hall, words):
        raise RefusedError(Refusal.AWAY_FROM, player=away[0], boards=away[1])


def find_known_name(context: CommandContext, words: str) -> str | None:
    """Return the exact spelling of a known name, ignoring case; None if unknown.

    Names of players here, of members and of absent seated players are known.
    """
    if words.lower() in context.hall.people.names:
        return context.hall.people.names[words.lower()]
    if member := context.found[MemberLookup(words)]:
        return member.name
    away = find_absent_player(context.hall, words)
    return away[0] if away else None


def resolve_battle(number: int, found: LookupResults) -> tuple[FoundBattle, Game]:
    """Return the battle with the given number, and its game.

    Raises:
        RefusedError: there is no such battle, or its moves were not kept.
        LookupNeededError: the battle has to be looked up first.
    """
    known = found[BattleLookup(number)]
    if known is None:
        raise RefusedError(Refusal.NO_SUCH_BATTLE, number=number)
    if known.game is None:
        raise RefusedError(Refusal.NOT_KEPT, number=number)
    return known, known.game
