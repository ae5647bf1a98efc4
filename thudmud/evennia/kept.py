"""What has happened at a board, as rows of the MUD's database.

The rows are Attributes, since a MUD has no other place that need not be set up first, but of a type
of their own. So whoever examines a board is not shown them, and whoever copies one has a new board.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.db.transaction import atomic
from evennia.typeclasses.attributes import Attribute

TYPE = "thud"
"""What tells these rows from Attributes and nicks."""

MOST = 100
"""How many rows there are before they are made one, which takes less room and is read sooner."""

_NAMES, _NEW, _OLD = "names", "new", "old"
"""The kinds of rows: what is known of players; what was stored at once; and many of these."""


class KeptEvents:
    """The events of a board, as lines of text, and what is known of those who play there.

    Args:
        board: the object.

    Attributes:
        names: what is kept as known of the players; "" if nothing is.
        count: how many events are kept.
    """

    def __init__(self, board: Any) -> None:
        self._board = board
        self.names = ""
        self.count = 0
        self._new = 0

    def __bool__(self) -> bool:
        """Whether anything is kept."""
        return bool(self._rows().exists())

    def read(self) -> list[str]:
        """Return the events, in their order."""
        rows = self._rows().order_by("pk").values_list("db_category", "db_strvalue")
        kept = [(kind, text or "") for kind, text in rows]
        self.names = next((text for kind, text in kept if kind == _NAMES), "")
        lines = [line for kind, text in kept if kind != _NAMES for line in text.split("\n")]
        self.count = len(lines)
        self._new = sum(kind == _NEW for kind, _ in kept)
        return lines

    def add(self, names: str, lines: Sequence[str]) -> None:
        """Keep what has happened besides, and what is known of the players now: all or nothing."""
        new = self._new
        with atomic():
            if names != self.names and not self._rows(_NAMES).update(db_strvalue=names):
                self._write(_NAMES, names)
            if lines:
                new = self._make_one() if new >= MOST else new
                self._write(_NEW, "\n".join(lines))
                new += 1
        self.names, self.count, self._new = names, self.count + len(lines), new

    def remove(self) -> None:
        """Keep nothing any more."""
        self._rows().delete()

    def _rows(self, *kinds: str) -> QuerySet[Any]:
        rows = self._board.db_attributes.filter(db_attrtype=TYPE)
        return rows.filter(db_category__in=kinds) if kinds else rows

    def _write(self, kind: str, text: str) -> None:
        row = Attribute(
            db_key=TYPE,
            db_category=kind,
            db_model="objectdb",
            db_attrtype=TYPE,
            db_strvalue=text,
        )
        row.save()
        self._board.db_attributes.add(row)
        row.flush_from_cache(force=True)  # Evennia would keep it in memory for good

    def _make_one(self) -> int:
        """Make one row of those that are new; return how many there are then."""
        rows = self._rows(_NEW)
        texts = list(rows.order_by("pk").values_list("db_strvalue", flat=True))
        rows.delete()
        self._write(_OLD, "\n".join(texts))
        return 0
