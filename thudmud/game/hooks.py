"""What features add to the decisions of others; they register it as they are imported."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thudmud.game.command import Command, Scene
    from thudmud.game.events import HallEvent, TableEvent
    from thudmud.game.hall import Decision, Hall
    from thudmud.game.table import Table

consequences: list[Callable[[Hall, Table, tuple[TableEvent, ...], float], Sequence[HallEvent]]] = []
"""Called with a table, what is decided there, and the time; each returns the events of the hall
that follow from that, and are to be stored with it."""

shares: list[Callable[[Hall, Decision, Collection[str]], None]] = []
"""Called with a decision, and the players from the address of who decides; each raises Refused if
it gives them more than their share."""

private_deciders: list[Callable[[Scene, Command], Decision | None]] = []
"""Called with commands of players at a private board; each raises what `Command.decide` raises, and
returns None if it leaves the command to others."""
