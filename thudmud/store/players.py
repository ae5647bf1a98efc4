"""Players in the database: their numbers and names.

Caches hold until another connection has written, see `thudmud.store.database`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar, cast

from thudmud.store.backend import Dialect
from thudmud.store.interface import DamagedStoreError, NoSuchAccountError
from thudmud.store.rows import SqlTable

K = TypeVar("K")
V = TypeVar("V")

MOST_CACHED = 10_000
"""The most streams, and the most players, that are cached."""


class Players:
    """The rows of ``player``.

    A player's key is the name in lower case. A player without a key has given up the name, and
    another player may have it.
    """

    def __init__(self, table: SqlTable, dialect: Dialect) -> None:
        self._table, self._dialect = table, dialect
        self._found: dict[tuple[str, str], tuple[int, str]] = {}
        self._names: dict[int, str] = {}

    def number_of(self, name: str, realm: str = "") -> int:
        """Return the number of the current player called ``name``; create one if it is free.

        The spelling of the name is updated. The name ``""`` stands for nobody and has the number 0.
        """
        if not name:
            return 0
        number, as_written = self.find(name, realm) or (0, name)
        if not number:
            number = self._table.number("select coalesce(max(id), 0) + 1 from player")
        elif as_written == name:
            return number
        self.put(number, realm, name.lower(), name)
        return number

    def find(self, name: str, realm: str = "") -> tuple[int, str] | None:
        """Return the number of the current player called ``name``, and the name as last spelled."""
        place = realm, name.lower()
        if place not in self._found:
            row = self._table.row("player", "where realm = ? and key = ?", *place)
            if row is None:
                return None
            cache(self._found, place, (cast("int", row[0]), cast("str", row[3])))
        return self._found[place]

    def member(self, name: str) -> int:
        """Return the player number of the member called ``name``.

        Raises:
            NoSuchAccountError: there is no such member.
        """
        found = self.find(name)
        row = found and self._table.row("account", "where player = ?", found[0])
        if not found or not row or not row[1]:
            raise NoSuchAccountError(f"There is no account {name}.")
        return found[0]

    def numbers_of_name(self, name: str, realm: str = "") -> list[int]:
        """Return the numbers of all players called ``name``, including those who gave it up."""
        where = f"where {self._dialect.same_name} and realm = ? order by id"
        return [cast("int", row[0]) for row in self._table.rows("player", where, name, realm)]

    def name_of(self, number: int) -> str:
        """Return the name of the player with the given number."""
        if number not in self._names:
            row = self._table.row("player", "where id = ?", number) if number else (0, "", "", "")
            if row is None:
                raise DamagedStoreError(f"no player {number}")
            cache(self._names, number, cast("str", row[3]))
        return self._names[number]

    def put(self, number: int, realm: str, key: str | None, name: str) -> None:
        """Store a player's name; without a key the name is free for another player."""
        self._table.put("player", number, realm, key, name)
        self._found.clear()
        self._names[number] = name

    def learn(self, rows: Iterable[Sequence[object]]) -> None:
        """Cache rows of ``player``."""
        for number, realm, key, name in cast("Iterable[tuple[int, str, str | None, str]]", rows):
            cache(self._names, number, name)
            if key is not None:
                cache(self._found, (realm, key), (number, name))

    def not_cached(self, realm: str, names: Iterable[str]) -> set[str]:
        """Return the keys of those names whose players are not cached."""
        keys = {name.lower() for name in names if name}
        return {key for key in keys if (realm, key) not in self._found}

    def not_named(self, numbers: Collection[int]) -> set[int]:
        """Return those numbers whose names are not cached."""
        return {number for number in numbers if number and number not in self._names}

    def clear(self) -> None:
        """Empty the caches."""
        self._found.clear()
        self._names.clear()


def cache(cached: dict[K, V], key: K, value: V) -> None:
    """Add a value to a cache, emptying it first if it is full."""
    if len(cached) >= MOST_CACHED:
        cached.clear()
    cached[key] = value
