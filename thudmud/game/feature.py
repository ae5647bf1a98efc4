"""Features: self-contained packages of commands, messages and reactions.

`thudmud.features` lists them. Importing a feature registers its commands
(`thudmud.game.command.verb`), its asides, its words and facts (`thudmud.views.registry`) and the
texts of its refusals. Event handlers and timers are registered per service, by ``Feature.setup``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from thudmud.errors import Refused
from thudmud.game.archive import NOTHING_FOUND, Found, FoundBattle, Lookup
from thudmud.game.asides import Aside, AsideT
from thudmud.game.command import COMMANDS, Command
from thudmud.game.evaluation import Adviser
from thudmud.game.events import HallEvent, TableEvent
from thudmud.game.hall import Decision, Hall
from thudmud.game.table import Table
from thudmud.values import Value


class AppliedEvent(NamedTuple):
    """An event that has been stored, applied to the hall, and delivered.

    Attributes:
        event: the event.
        table: the table right after the event; the table right before it if a board was closed or
            renamed; None if the event concerns no table.
        before: the table right before an event of a table.
        is_ours: whether this service decided it, as opposed to another node.
        cause: what caused it, as the front end calls the line.
    """

    event: TableEvent | HallEvent | Aside
    table: Table | None
    before: Table | None
    is_ours: bool
    cause: object = None


Handler = Callable[[AppliedEvent], None]


class LookupRequest(NamedTuple):
    """What a feature knows of the command that a lookup is for.

    Attributes:
        player: who gave it.
        origin: their address; "" if it is not known.
        cause: what caused it, to be passed on to `FeatureContext.tell` and ``run_command``.
        is_late: whether it was run with a late answer, and needs another one.
    """

    player: str
    origin: str
    cause: object
    is_late: bool


class Postponed(Value):
    """Instead of the answer to a lookup: it takes time, and the line ends without it.

    The feature runs the command once it has the answer, see `FeatureContext.run_command`.

    Attributes:
        decision: what is carried out in place of the command.
        seconds: roughly how many seconds of work it causes outside the event loop.
        is_awaited: whether the player is told nothing until then.
    """

    decision: Decision
    seconds: float
    is_awaited: bool = False


LookupAnswerer = Callable[[LookupRequest, Any], Any]
"""Returns the answer to a lookup or `Postponed`, or raises Refused."""

FindWork = Callable[[Table | None, Decision], Callable[[Any], object] | None]
"""Returns work on the database, `thudmud.store.database.Work`, that stores more of a decision.

It gets the table before the decision, or None if that has only events of the hall.
"""

PageAnswer = tuple[int, Mapping[str, str], str]
"""The status, header fields and text of an HTTP response; a sentence if it has no Content-Type."""

AnswerPage = Callable[..., Coroutine[Any, Any, PageAnswer]]
"""Answers a request, which it gets as the variables of the path, by their names."""


class PageRoute(NamedTuple):
    """A page of a feature: its path, in the form of werkzeug's rules, and what answers there."""

    path: str
    answer: AnswerPage
    methods: tuple[str, ...] = ("GET",)


Key = tuple[str, ...]
"""Identifies a timer: the feature, or the part of the service, then what the timer is about."""


PositionAnswerer = Callable[[FoundBattle, int], Coroutine[Any, Any, Any]]
"""Returns the fact (`thudmud.views.data.Fact`) about a battle after a number of plies."""


AsideStorer = Callable[[AsideT], Coroutine[Any, Any, None]]
"""Stores an aside, or raises Refused or StoreError; then nobody is told."""


class Bus(Protocol):
    """Publishes applied events to handlers."""

    def on(self, kinds: type[Any] | tuple[type[Any], ...], handler: Handler) -> None:
        """Subscribe a handler to events of exactly these types; subclasses don't match.

        Handlers run once the line that caused the event is done, in the order of the events, and
        for one event in the order of subscription. Other players' lines may be in progress.
        """

    def defer(self, call: Callable[[], None]) -> None:
        """Queue a call behind the handlers that are queued now."""


class Scheduler(Protocol):
    """One-shot timers, at most one per key."""

    def at(self, key: Key, time: float, call: Callable[[], object]) -> None:
        """Schedule a call, in seconds since the epoch; a time in the past means immediately.

        If the key is already scheduled, the earlier time wins.
        """

    def __contains__(self, key: Key) -> bool:
        """Whether a timer is set for a key."""

    def cancel(self, key: Key) -> bool:
        """Cancel a timer; return whether there was one."""

    @property
    def has_timers(self) -> bool:
        """Whether timers fire: they need an event loop."""


class Reactor:
    """What ``Feature.setup`` may return: what a feature does by itself in a service."""

    def begin(self) -> None:
        """Begin, once the service has read everything that is stored."""

    async def look(self) -> None:
        """Do what is due by now, for a front end without timers."""

    def next_look(self) -> float | None:
        """Return when `look` may next have something to do; None for never."""
        return None


class FeatureContext(Protocol):
    """The part of a service that features may use."""

    @property
    def hall(self) -> Hall:
        """The hall, read-only."""

    @property
    def bus(self) -> Bus:
        """The event bus."""

    @property
    def scheduler(self) -> Scheduler:
        """The timers; they never fire in a service without an event loop."""

    @property
    def is_alive(self) -> bool:
        """Whether the node's lease holds: otherwise others may act in its place."""

    @property
    def replay_pause(self) -> float | None:
        """Seconds between two plies of a replay that goes on by itself.

        0 shows several at once; with None the front end shows the next.
        """

    def clock(self) -> float:
        """Return the current time, in seconds since the epoch."""

    def local_players(self) -> Collection[str]:
        """Return the names of the players connected to this node."""

    def spawn(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Start a coroutine eagerly.

        Returns:
            its result; the `asyncio.Task` that runs the rest if it blocks.
        """

    def has_screen(self, player: str) -> bool:
        """Whether a player on this node reads text; bots and some programs don't."""

    @property
    def adviser(self) -> Adviser | None:
        """Finds plies, and weighs positions; None if nothing does."""

    @property
    def store(self) -> Any:
        """The `thudmud.store.Store`."""

    def store_with_decisions(self, find: FindWork) -> None:
        """Have what a function finds for a decision done in the transaction that stores it."""

    def answer_onlookers(self, request: str, answerer: PositionAnswerer) -> None:
        """Register the answer to a request of onlookers' programs about a position of a battle.

        ``request`` is its key in ``Thud.Watch``. The answerer may raise Refused.
        """

    def tell(self, aside: Aside, cause: object = None) -> None:
        """Apply an aside, and deliver it to players on this node."""

    def say(self, player: str, sentence: str, cause: object = None) -> None:
        """Tell a player on this node a sentence."""

    def refuse(self, player: str, refusal: Refused) -> None:
        """Tell a player on this node that something was refused."""

    async def wait_for_line(self, player: str) -> None:
        """Wait until a player's line in progress, or their joining, is done."""

    def disconnect(self, player: str) -> None:
        """End the visit of a player on this node, whose seats are kept."""

    def stop_server(self, why: str) -> None:
        """Stop the server, where the service is one's; ``why`` is logged."""

    def store_asides(self, kind: type[AsideT], store: AsideStorer[AsideT]) -> None:
        """Have a function store the asides of a type, a `StoredAside`, before they are told."""

    def look_up_at_entry(self, make: Callable[[str], Lookup[Any] | None]) -> None:
        """Have something looked up about each member who comes in, see `Entered.found`.

        ``make`` gets the name, and returns the lookup; None if nothing need be known of them.
        """

    def at_blank_line(self, call: Callable[[str], None]) -> None:
        """Have a function called with the name of each player who enters a blank line."""

    async def look_up(self, lookup: Lookup[Any]) -> Any:
        """Return the answer to a lookup, of the type that the lookup declares.

        Raises:
            StoreError: the store cannot be read.
        """

    def answer(self, kind: type[Lookup[Any]], look_up: LookupAnswerer) -> None:
        """Have a function answer the lookups of a type that players' commands need.

        All others are answered by the store.
        """

    async def carry_out(self, decision: Decision) -> bool:
        """Store a decision that no player made, apply it, and tell of it.

        Returns:
            False if something else came first, so that nothing was stored: decide again.

        Raises:
            StoreError: it cannot be stored.
        """

    async def run_command(
        self,
        player: str,
        command: Command,
        found: Found = NOTHING_FOUND,
        cause: object = None,
        *,
        unless: Callable[[], bool] | None = None,
    ) -> None:
        """Execute a command on behalf of a player, if they are connected to this node.

        Args:
            player: the player.
            command: the command.
            found: an answer that was postponed. Then "it" means the same after the command.
            cause: what caused the command.
            unless: asked when the player's lines before it are done; if it is true, nothing is run.

        Raises:
            StoreError: its events cannot be stored, or a lookup failed.
        """

    def at_stop(self, call: Callable[[], None]) -> None:
        """Have a function called when the service stops."""


class Serving(Protocol):
    """What a feature does in a server besides commands.

    ``serve`` in the module ``serving`` of a feature makes it of all settings and the folder of
    files whose names are relative. It may raise StartError.
    """

    @property
    def common(self) -> Mapping[str, str]:
        """The settings that all servers on one database must share, as texts by name."""

    async def begin(
        self, service: FeatureContext, lock: Callable[[Any], Awaitable[Any]]
    ) -> Coroutine[None, None, None] | None:
        """Begin, before anybody can come in; return what is to run in the background, if anything.

        ``lock`` waits for the lock of the one server that does something for all: it gets a
        `thudmud.store.Lock`, and returns a queue of `thudmud.store.Holder`.
        """

    @property
    def pages(self) -> Sequence[PageRoute]:
        """What it has at the web port."""


def commands_in(package: str) -> tuple[type[Command], ...]:
    """Return the commands that a package, which has been imported, defines."""
    return tuple(each for each in COMMANDS if each.__module__.startswith(f"{package}."))


class UserAction(NamedTuple):
    """An action of ``thudmud user``, in a shell.

    Attributes:
        word: what is typed.
        help: what it does.
        act: returns the lines to print, from a `thudmud.store.Store` and the options; may raise
            CommandError.
        options: the arguments of ``ArgumentParser.add_argument``, by the options' names.
    """

    word: str
    help: str
    act: Callable[[Any, Any], Coroutine[Any, Any, Iterable[str]]]
    options: Mapping[str, Mapping[str, Any]]


class Feature(Value):
    """A feature.

    Attributes:
        name: the name of its package and, if it may be left out, of its help page and its entry in
            ``[features] off``.
        commands: the commands that players can type.
        setup: registers event handlers and timers with a service, and may return a `Reactor`; None
            if there are none.
        needs: the features that this one imports, of those that may be left out.
        synonyms: pairs of a keyword and the space-separated words that players try instead of it.
        user_actions: its actions of ``thudmud user``.
        configure: has a hall know its limits, see `Hall.limits`, which it reads from all settings
            of a server; None if it has none.
    """

    name: str
    commands: tuple[type[Command], ...]
    setup: Callable[[FeatureContext], object] | None = None
    needs: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, str], ...] = ()
    user_actions: tuple[UserAction, ...] = ()
    configure: Callable[[Hall, Any], None] | None = None
