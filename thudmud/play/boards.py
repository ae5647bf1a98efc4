"""The boards that are up: by which names, keys and words they are found, and who sits where."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from thudmud.play.events import MADE
from thudmud.play.options import Style
from thudmud.play.people import ByPlayer
from thudmud.play.table import BoardSpec, Table

_NUMBERED = re.compile(r"([0-9]+)[a-z]+ ")


class TableRegister(dict[str, Table]):
    """The boards as they stand, by name, in the order in which they are listed and counted.

    Only the hall changes them.

    Args:
        quiet_plies: after how many plies without a capture one player may end a battle alone;
            0 for never.
        seat_grace: how many seconds a player may be away before others need not wait.
        idle_limit: after how many seconds without a ply a battle without a clock may be claimed;
            0 for never.

    Attributes:
        words: the lower-case words of their names.
        made: the names of those that players have opened, by their numbers.
        styles: how newcomers are shown each.
    """

    def __init__(self, quiet_plies: int, seat_grace: float, idle_limit: float) -> None:
        super().__init__()
        self._limits = quiet_plies, seat_grace, idle_limit
        self.words: frozenset[str] = frozenset()
        self.made: dict[int, str] = {}
        self._keys: dict[str, str] = {}
        self.styles: dict[str, Style] = {}
        self._by_words: dict[tuple[str, ...], str] = {}
        self._places: dict[str, int] = {}
        self._seats = ByPlayer()
        """At which boards each has a seat."""

    def open(self, specs: Iterable[BoardSpec], version: int = 0) -> None:
        """Put up boards, behind all others.

        Args:
            specs: what they are. No other board has the key or the name of one of them.
            version: how many events are stored of each, after which it is as new.
        """
        for spec in specs:
            self[spec.name] = replace(Table.set_up(spec, *self._limits), version=version)
            self.styles[spec.name] = spec.style
        self._index()

    def put(self, board: str, table: Table) -> list[str]:
        """Replace the state of a board; return who may have lost their last seat by that."""
        before, self[board] = self[board], table
        if table.seats is before.seats:
            return []
        self._seats.change(board, before.seats.values(), table.seats.values())
        return [player for player in before.seats.values() if not self.seats_of(player)]

    def close(self, board: str) -> list[str]:
        """Take a board down; return who may have lost their last seat by that."""
        lost = self.put(board, Table.set_up(BoardSpec(board)))
        del self[board]
        self.styles.pop(board, None)
        self._index()
        return lost

    def rename(self, board: str, name: str) -> None:
        """Call a board something else; its place stays."""
        table = replace(self[board], name=name)
        boards = [(name, table) if each == board else (each, other) for each, other in self.items()]
        self.clear()
        self.update(boards)
        seated = tuple(table.seats.values())
        self._seats.change(board, seated, ())
        self._seats.change(name, (), seated)
        self.styles[name] = self.styles.pop(board, Style.FULL)
        self._index()

    def _index(self) -> None:
        """Note by which words and keys boards are found, and their order."""
        self._keys = {table.key: name for name, table in self.items()}
        self._by_words = {tuple(name.lower().split()): name for name in self}
        self.words = frozenset(word for words in self._by_words for word in words)
        self._places = {name: place for place, name in enumerate(self)}
        self.made = {
            int(found[1]): table.name
            for table in self.values()
            if table.key.startswith(MADE) and (found := _NUMBERED.match(table.name))
        }

    def called(self, key: str) -> str:
        """Return the name of the board with a key; the key itself if it is not here."""
        return self._keys.get(key, key)

    def with_key(self, key: str) -> Table | None:
        """Return the board with a key, if it is here."""
        name = self._keys.get(key)
        return None if name is None else self[name]

    def spelt(self, board: str) -> str:
        """Return what a board is called that is named in any case; else the same again."""
        if board in self:
            return board
        return next((each for each in self if each.lower() == board.lower()), board)

    def named(self, words: tuple[str, ...]) -> str | None:
        """Return the board whose name is these lower-case words, if there is one."""
        return self._by_words.get(words)

    def seats_of(self, player: str) -> list[Table]:
        """Return the tables at which a player has a seat."""
        boards = sorted(self._seats.of(player), key=self._places.__getitem__)
        return [table for board in boards if (table := self[board]).side_of(player)]

    def has_seat(self, player: str) -> bool:
        """Whether a player of that name, in any case, has a seat."""
        return bool(self._seats.of(player))

    def made_of(self, player: str) -> list[str]:
        """Return the boards that players have opened at which somebody has a seat."""
        return [each.name for each in self.seats_of(player) if each.key.startswith(MADE)]
