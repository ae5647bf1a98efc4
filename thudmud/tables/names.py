"""Whose a name is: names that differ only in capitals are the same name.

Owns who has something to come back to under a name. Must never say whether anybody may come in.
"""

from __future__ import annotations

from collections.abc import Iterator

from thudmud.tables.hall import Hall


def claimants(hall: Hall, name: str) -> Iterator[str]:
    """Yield the name as those spell it who have a seat, or a match that was put away, under it."""
    key = name.lower()
    if hall.has_seat(name):
        seated = (player for table in hall.tables.values() for player in table.seats.values())
        yield from (player for player in seated if player.lower() == key)
    for match in hall.archive.adjourned.values():
        yield from (player for player in (match.dwarf, match.troll) if player.lower() == key)


def kept_for(hall: Hall, name: str) -> str | None:
    """Return who has claims to a name in another spelling, if nobody has any in this very one."""
    claims = list(claimants(hall, name))
    return None if not claims or name in claims else claims[0]
