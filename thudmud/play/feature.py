"""What a feature is: something that players can do, in a folder of its own that nothing else names.

`thudmud.features` lists them. Importing a feature registers its commands (`thudmud.play.command`),
its words and facts (`thudmud.views.registry`) and its asides; what it does by itself are handlers
and timers that it sets up in each service, see `Reach`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine
from typing import Any, NamedTuple, Protocol

from thudmud.play.asides import Aside
from thudmud.play.command import Command
from thudmud.play.events import HallEvent, TableEvent
from thudmud.play.hall import Hall
from thudmud.play.table import Table
from thudmud.values import value


class Happening(NamedTuple):
    """Something that has happened, been applied, and been told.

    Attributes:
        event: what happened.
        table: the table that it was about, as it stood right after; None if there is none.
        before: the same before it; None if that is not known.
        is_ours: whether it was decided by this service.
    """

    event: TableEvent | HallEvent | Aside
    table: Table | None
    before: Table | None
    is_ours: bool


Handler = Callable[[Happening], None]
"""Called after something has happened."""

Key = tuple[str, ...]
"""What a timer is for: the feature, or the part of the service, and what it is about there."""


class Bus(Protocol):
    """Tells handlers what has happened."""

    def on(self, kinds: type[Any] | tuple[type[Any], ...], handler: Handler) -> None:
        """Call a handler for each happening whose event is of one of these very types.

        It is called when whoever caused it holds no lock, in the order in which things happened,
        and of several handlers in the order in which they were added.
        """


class Timers(Protocol):
    """Calls functions at set times, one for each key."""

    def at(self, key: Key, time: float, call: Callable[[], object]) -> None:
        """Call a function at a time, in seconds since the epoch, or at once if it is past.

        Of two times for one key the earlier stands: the function can look again, and set a later
        one.
        """

    def cancel(self, key: Key) -> bool:
        """Cancel the call for a key; return whether there was one."""


class Reach(Protocol):
    """What a feature reaches of a service: what has happened, the time, and whom it may act for."""

    @property
    def hall(self) -> Hall:
        """The hall, for reading."""

    @property
    def bus(self) -> Bus:
        """Tells what has happened."""

    @property
    def scheduler(self) -> Timers:
        """Calls at set times; where there are no timers it never does."""

    def clock(self) -> float:
        """Return the time, in seconds since the epoch."""

    def names_here(self) -> Collection[str]:
        """Return the names of the players who are on this node."""

    def start(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine in the background; at once, as far as it waits for nothing."""

    async def act(self, player: str, command: Command) -> None:
        """Carry out a command for a player, as if they had typed it, if they are on this node.

        Raises:
            StoreError: it cannot be stored, or something that it needs cannot be read.
        """


@value
class Feature:
    """A feature.

    Attributes:
        name: its name, which is that of its folder, and of its help page.
        commands: its commands.
        react: sets up in a service what it does by itself; None if it does nothing by itself.
        needs: the names of the features that it imports.
        synonyms: words of its own, each with others that players try, with blanks between them.
    """

    name: str
    commands: tuple[type[Command], ...]
    react: Callable[[Reach], object] | None = None
    needs: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, str], ...] = ()
