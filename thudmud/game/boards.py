"""A register of the open boards, indexed by name, key, words and seated player.

Deferred plies. Where several nodes share a store, most plies concern nobody on this node, and most
of its tables aren't looked at between two plies. So such a ply is only noted here
(`TableRegister.defer`), and its table is brought up to date when somebody reads it: every way to a
table leads through the register. Several plies at once take a fraction of the time that each would
take alone. Readers see no difference. Two things have to work without reading the table: its
version, for which there is `TableRegister.version_of`; and the timers of its clock, see
`thudmud.service.clock_timers`.

Only plies are deferred. They change nothing but a table's match and times: no seats, names or
indexes. At most `MOST_DEFERRED` of them wait for each board, so a list of all boards isn't slow.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, ItemsView, Iterable, Iterator, Mapping, ValuesView

from thudmud.errors import InvalidValueError, ThudmudError
from thudmud.game.board_names import board_index
from thudmud.game.events import MADE
from thudmud.game.options import Style
from thudmud.game.table import BoardSpec, Table, TimedMove
from thudmud.values import replace

MOST_DEFERRED = 16
"""The most plies of a board that are deferred. More save little: the plies of a board are applied
together, which costs as much as a single one and a little for each."""


def _ignore(error: Exception) -> None:
    pass


_NUMBERED = re.compile(r"([0-9]+)[a-z]+ ")
"""Names of player-opened boards before they were materials: ``5th board``."""


class TableRegister(Mapping[str, Table]):
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
        self._tables: dict[str, Table] = {}
        """The tables, without the deferred plies."""
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
        self._deferred: dict[str, list[TimedMove]] = {}
        """By board, the plies that its table lacks."""
        self.failed: Callable[[Exception], None] = _ignore
        """Called if deferred plies don't fit their table: then the store is damaged."""

    # Reading

    def __getitem__(self, board: str) -> Table:
        if board in self._deferred:
            self._apply_deferred(board)
        return self._tables[board]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __contains__(self, board: object) -> bool:
        return board in self._tables

    def get(self, board: str, default: None = None) -> Table | None:  # type: ignore[override]  # there is no other default
        """Return a board's table; None if there is no such board."""
        if board in self._deferred:
            self._apply_deferred(board)
        return self._tables.get(board, default)

    def values(self) -> ValuesView[Table]:
        """Return the tables."""
        self._apply_all_deferred()
        return self._tables.values()

    def items(self) -> ItemsView[str, Table]:
        """Return the names and tables."""
        self._apply_all_deferred()
        return self._tables.items()

    # Deferred plies

    def defer(self, board: str, ply: TimedMove) -> bool:
        """Note the next ply of a board whose seats are taken, without reading its table.

        Returns:
            Whether it is the first since the table was read.
        """
        plies = self._deferred.get(board)
        if plies is None:
            self._deferred[board] = [ply]
            return True
        plies.append(ply)
        if len(plies) >= MOST_DEFERRED:
            self._apply_deferred(board)
        return False

    def without_deferred(self, board: str) -> Table:
        """Return a table without the deferred plies: its seats are right, its battle may be old."""
        return self._tables[board]

    def version_of(self, key: str) -> int | None:
        """Return the version of the table with the given key; None if there is none."""
        name = self._keys.get(key)
        if name is None:
            return None
        return self._tables[name].version + len(self._deferred.get(name, ()))

    def _apply_deferred(self, board: str) -> None:
        try:
            self._tables[board] = self._tables[board].apply_plies(self._deferred[board])
        except ThudmudError as error:
            # Whoever reads the table now has done nothing wrong, so this is no refusal.
            unfit = InvalidValueError(f"could not apply the stored plies of the {board}")
            self.failed(unfit)
            raise unfit from error
        del self._deferred[board]

    def _apply_all_deferred(self) -> None:
        for board in [*self._deferred]:
            self._apply_deferred(board)

    # Changes

    def open(self, specs: Iterable[BoardSpec], version: int = 0) -> None:
        """Add boards at the end.

        Args:
            specs: the boards, with new keys and names.
            version: the number of events already stored under each board's key.
        """
        for spec in specs:
            self._tables[spec.name] = replace(Table.set_up(spec, *self._limits), version=version)
            self.styles[spec.name] = spec.style
            self.descriptions[spec.name] = spec.description
        self._index()

    def put(self, board: str, table: Table) -> list[str]:
        """Replace a table; return the players who may have lost their last seat."""
        before, self._tables[board] = self[board], table
        if table.seats is before.seats:
            return []
        self._seats.change(board, before.seats.values(), table.seats.values())
        return [player for player in before.seats.values() if not self.seats_of(player)]

    def close(self, board: str) -> list[str]:
        """Remove a board; return the players who may have lost their last seat."""
        lost = self.put(board, Table.set_up(BoardSpec(board)))
        del self._tables[board]
        self.styles.pop(board, None)
        self.descriptions.pop(board, None)
        self._index()
        return lost

    def rename(self, board: str, name: str) -> None:
        """Rename a board without changing its place in the order."""
        table = replace(self[board], name=name)
        boards = [(name, table) if each == board else (each, other) for each, other in self.items()]
        self._tables = dict(boards)
        seated = tuple(table.seats.values())
        self._seats.change(board, seated, ())
        self._seats.change(name, (), seated)
        self.styles[name] = self.styles.pop(board, Style.FULL)
        self.descriptions[name] = self.descriptions.pop(board, "")
        self._index()

    def _index(self) -> None:
        """Build the indexes by words, keys and places."""
        tables = self._tables.values()
        self._keys = {table.key: table.name for table in tables}
        self._by_words = {tuple(name.lower().split()): name for name in self}
        self.words = frozenset(word for words in self._by_words for word in words)
        self._places = {name: place for place, name in enumerate(self)}
        self.own_words = frozenset(
            word
            for table in tables
            if not table.key.startswith(MADE)
            for word in table.name.lower().split()
        )
        made = [each.name for each in tables if _is_made(each)]
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
        if name in self._deferred:
            self._apply_deferred(name)
        return None if name is None else self._tables[name]

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
        for board in self._deferred.keys() & boards:
            self._apply_deferred(board)
        return [table for board in boards if (table := self._tables[board]).side_of(player)]

    def has_seat(self, player: str) -> bool:
        """Whether a player of that name, ignoring case, has a seat."""
        return bool(self._seats.holders_of(player))

    def player_boards_of(self, player: str) -> list[str]:
        """Return the names of player-opened boards at which a player has a seat."""
        return [each.name for each in self.seats_of(player) if each.key.startswith(MADE)]

    def first_empty_standing_board(self) -> str | None:
        """Return the first board without seated players that isn't player-opened, if any."""
        of_hall = (each for each in self._tables.values() if not each.key.startswith(MADE))
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
