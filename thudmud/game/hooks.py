"""Hooks by which features extend decisions; features register them on import."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thudmud.game.command import Command, CommandContext
    from thudmud.game.events import HallEvent, TableEvent
    from thudmud.game.hall import Decision, Hall
    from thudmud.game.table import Table

consequences: list[Callable[[Hall, Table, tuple[TableEvent, ...], float], Sequence[HallEvent]]] = []
"""Called with the hall, a table, the events decided there, and the time. Each returns the hall
events that follow, which are stored in the same transaction."""

shares: list[Callable[[Hall, Decision, Collection[str]], None]] = []
"""Called with the hall, a decision, and the players who share the deciding player's address. Each
raises RefusedError if the decision gives those players more than their share."""

private_deciders: list[Callable[[CommandContext, Command], Decision | None]] = []
"""Called with commands from players at a private board. Each returns None if it doesn't handle the
command, and raises the same exceptions as `Command.decide`."""
