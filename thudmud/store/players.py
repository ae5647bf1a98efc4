"""Players: which number is behind a name, and what a number is called.

What is cached here holds until another connection has written, see `thudmud.store.database`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar, cast

from thudmud.store.backend import Dialect
from thudmud.store.interface import Damaged
from thudmud.store.rows import SqlTable

K = TypeVar("K")
V = TypeVar("V")

MOST_CACHED = 10_000
"""How many streams, and how many players, are cached."""


class Players:
    """The rows of ``player``.

    Args:
        table: where they are.
        dialect: how a statement is written there.
    """

    def __init__(self, table: SqlTable, dialect: Dialect) -> None:
        self._table, self._dialect = table, dialect
        self._found: dict[tuple[str, str], tuple[int, str]] = {}
        self._names: dict[int, str] = {}

    def number_of(self, name: str, realm: str = "") -> int:
        """Return the number of the player who has a name now, who is made if there is none.

        A name is kept as it was last written; ``""`` is nobody's, and has 0.
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
        """Return the number and the name, as it was last written, of who has a name now."""
        place = realm, name.lower()
        if place not in self._found:
            row = self._table.row("player", "where realm = ? and key = ?", *place)
            if row is None:
                return None
            cache(self._found, place, (cast("int", row[0]), cast("str", row[3])))
        return self._found[place]

    def called(self, name: str, realm: str = "") -> list[int]:
        """Return the numbers of all who are called that, or were when they were last here."""
        where = f"where {self._dialect.same_name} and realm = ? order by id"
        return [cast("int", row[0]) for row in self._table.rows("player", where, name, realm)]

    def name_of(self, number: int) -> str:
        """Return what a player is called."""
        if number not in self._names:
            row = self._table.row("player", "where id = ?", number) if number else (0, "", "", "")
            if row is None:
                raise Damaged(f"there is no player {number}")
            cache(self._names, number, cast("str", row[3]))
        return self._names[number]

    def put(self, number: int, realm: str, key: str | None, name: str) -> None:
        """Keep what a player is called; without a key the name is free for another."""
        self._table.put("player", number, realm, key, name)
        self._found.clear()
        self._names[number] = name

    def learn(self, rows: Iterable[Sequence[object]]) -> None:
        """Cache rows that were read together with others."""
        for number, realm, key, name in cast("Iterable[tuple[int, str, str | None, str]]", rows):
            cache(self._names, number, name)
            if key is not None:
                cache(self._found, (realm, key), (number, name))

    def not_cached(self, realm: str, names: Iterable[str]) -> set[str]:
        """Return the keys of those names of which it is not cached who has them."""
        keys = {name.lower() for name in names if name}
        return {key for key in keys if (realm, key) not in self._found}

    def not_named(self, numbers: Collection[int]) -> set[int]:
        """Return those numbers of which it is not cached what they are called."""
        return {number for number in numbers if number and number not in self._names}

    def clear(self) -> None:
        """Forget what is cached."""
        self._found.clear()
        self._names.clear()


def cache(cached: dict[K, V], key: K, value: V) -> None:
    """Keep a value at hand, and all others no longer if there are too many."""
    if len(cached) >= MOST_CACHED:
        cached.clear()
    cached[key] = value
