"""A register of the open boards, indexed by name, key, words and seated player."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable

from thudmud.game.board_names import board_index
from thudmud.game.events import MADE
from thudmud.game.options import Style
from thudmud.game.table import BoardSpec, Table
from thudmud.values import replace

_NUMBERED = re.compile(r"([0-9]+)[a-z]+ ")
"""Names of player-opened boards before they were materials: ``5th board``."""


class TableRegister(dict[str, Table]):
    """The tables by name, in the order in which they are listed and counted.

    Only the hall may modify the register.

    Args:
        quiet_plies: the number of plies without a capture after which one player may end a battle
            alone; 0 for never.
        seat_grace: the number of seconds that a player may be away before others needn't wait.
        idle_limit: the number of seconds without a ply after which a battle without a clock may be
            claimed; 0 for never.

    Attributes:
        words: all words of the boards' names, in lower case.
        own_words: the same for the boards that players did not open.
        made: the names of player-opened boards, by number. Renamed ones are counted with the
            others.
        styles: the default style of each board.
        descriptions: the operator's descriptions of boards.
    """

    def __init__(self, quiet_plies: int, seat_grace: float, idle_limit: float) -> None:
        super().__init__()
        self._limits = quiet_plies, seat_grace, idle_limit
        self.words: frozenset[str] = frozenset()
        self.own_words: frozenset[str] = frozenset()
        self.made: dict[int, str] = {}
        self._first = 1
        """The number of the first player-opened board."""
        self._keys: dict[str, str] = {}
        self.styles: dict[str, Style] = {}
        self.descriptions: dict[str, str] = {}
        self._by_words: dict[tuple[str, ...], str] = {}
        self._places: dict[str, int] = {}
        self._seats = ByPlayer()
        """The boards at which each player has a seat."""

    def open(self, specs: Iterable[BoardSpec], version: int = 0) -> None:
        """Add boards at the end.

        Args:
            specs: the boards, with new keys and names.
            version: the number of events already stored under each board's key.
        """
        for spec in specs:
            self[spec.name] = replace(Table.set_up(spec, *self._limits), version=version)
            self.styles[spec.name] = spec.style
            self.descriptions[spec.name] = spec.description
        self._index()

    def put(self, board: str, table: Table) -> list[str]:
        """Replace a table; return the players who may have lost their last seat."""
        before, self[board] = self[board], table
        if table.seats is before.seats:
            return []
        self._seats.change(board, before.seats.values(), table.seats.values())
        return [player for player in before.seats.values() if not self.seats_of(player)]

    def close(self, board: str) -> list[str]:
        """Remove a board; return the players who may have lost their last seat."""
        lost = self.put(board, Table.set_up(BoardSpec(board)))
        del self[board]
        self.styles.pop(board, None)
        self.descriptions.pop(board, None)
        self._index()
        return lost

    def rename(self, board: str, name: str) -> None:
        """Rename a board without changing its place in the order."""
        table = replace(self[board], name=name)
        boards = [(name, table) if each == board else (each, other) for each, other in self.items()]
        self.clear()
        self.update(boards)
        seated = tuple(table.seats.values())
        self._seats.change(board, seated, ())
        self._seats.change(name, (), seated)
        self.styles[name] = self.styles.pop(board, Style.FULL)
        self.descriptions[name] = self.descriptions.pop(board, "")
        self._index()

    def _index(self) -> None:
        """Build the indexes by words, keys and places."""
        self._keys = {table.key: name for name, table in self.items()}
        self._by_words = {tuple(name.lower().split()): name for name in self}
        self.words = frozenset(word for words in self._by_words for word in words)
        self._places = {name: place for place, name in enumerate(self)}
        self.own_words = frozenset(
            word
            for table in self.values()
            if not table.key.startswith(MADE)
            for word in table.name.lower().split()
        )
        made = [each.name for each in self.values() if _is_made(each)]
        self._first = len(self) - len(made) + 1
        self.made = {}
        for name in made:
            number = self.number_for_name(name)
            while number in self.made:
                number += 1
            self.made[number] = name

    def number_for_name(self, name: str) -> int:
        """Return the number of a player-opened board with such a name, unless it is in use."""
        if found := _NUMBERED.match(name):
            return max(int(found[1]), self._first)
        return self._first + (board_index(name) or 0)

    def name_for_key(self, key: str) -> str:
        """Return the name of the board with the given key, or the key if there is no such board."""
        return self._keys.get(key, key)

    def with_key(self, key: str) -> Table | None:
        """Return the table with the given key; None if there is none."""
        name = self._keys.get(key)
        return None if name is None else self[name]

    def exact_name(self, board: str) -> str:
        """Return the exact spelling of a board's name, ignoring case; unknown names as given."""
        if board in self:
            return board
        return next((each for each in self if each.lower() == board.lower()), board)

    def name_for_words(self, words: tuple[str, ...]) -> str | None:
        """Return the name of the board with these lower-case words, if there is one."""
        return self._by_words.get(words)

    def seats_of(self, player: str) -> list[Table]:
        """Return the tables at which a player has a seat."""
        boards = sorted(self._seats.holders_of(player), key=self._places.__getitem__)
        return [table for board in boards if (table := self[board]).side_of(player)]

    def has_seat(self, player: str) -> bool:
        """Whether a player of that name, ignoring case, has a seat."""
        return bool(self._seats.holders_of(player))

    def player_boards_of(self, player: str) -> list[str]:
        """Return the names of player-opened boards at which a player has a seat."""
        return [each.name for each in self.seats_of(player) if each.key.startswith(MADE)]

    def first_empty_standing_board(self) -> str | None:
        """Return the first board without seated players that isn't player-opened, if any."""
        of_hall = (each for each in self.values() if not each.key.startswith(MADE))
        return next((each.name for each in of_hall if not each.seats), None)

    def player_boards_in_use_by(self, player: str) -> list[str]:
        """Return the names in `player_boards_of` that count towards the limits on boards."""
        return [board for board in self.player_boards_of(player) if self[board].is_in_use]


def _is_made(table: Table) -> bool:
    """Whether a player-opened board still has the name that it was opened under."""
    is_named = board_index(table.name) is not None or _NUMBERED.match(table.name)
    return table.key.startswith(MADE) and bool(is_named)


class ByPlayer:
    """A reverse index from players to holders: boards or people that list the player."""

    def __init__(self) -> None:
        self._known: defaultdict[str, set[str]] = defaultdict(set)

    def holders_of(self, player: str) -> Collection[str]:
        """Return the holders that list ``player``, ignoring case."""
        return self._known.get(player.lower(), ())

    def change(self, holder: str, before: Iterable[str], after: Iterable[str]) -> None:
        """Update the index after a holder's list changed."""
        for player in before:
            holders = self._known[player.lower()]
            holders.discard(holder)
            if not holders:
                del self._known[player.lower()]
        for player in after:
            self._known[player.lower()].add(holder)
