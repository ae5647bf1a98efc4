"""Features: self-contained packages of commands, messages and reactions.

`thudmud.features` lists them. Importing a feature registers its commands
(`thudmud.game.command.verb`), its asides, its words and facts (`thudmud.views.registry`) and the
texts of its refusals. Event handlers and timers are registered per service, by ``Feature.setup``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol

from thudmud.errors import RefusedError
from thudmud.game.archive import NOTHING_FOUND, FoundBattle, Lookup, LookupResults
from thudmud.game.asides import Aside, AsideT
from thudmud.game.command import COMMANDS, Command
from thudmud.game.evaluation import Adviser
from thudmud.game.events import HallEvent, TableEvent
from thudmud.game.hall import Decision, Hall
from thudmud.game.table import Table
from thudmud.values import Value


class AppliedEvent(Value):
    """An event that has been stored, applied to the hall, and delivered.

    Attributes:
        event: the event.
        table: the table right after the event; the table right before it if a board was closed or
            renamed; None if the event concerns no table.
        before: the table right before an event of a table.
        is_ours: whether this service decided it, as opposed to another node.
        cause: the front end's identifier of the line that caused the event.
    """

    event: TableEvent | HallEvent | Aside
    table: Table | None
    before: Table | None
    is_ours: bool
    cause: object = None


Handler = Callable[[AppliedEvent], None]


class ProgramQuestion(NamedTuple):
    """The cause of a question by a player's program, which is answered by facts alone.

    Attributes:
        number: the program's identifier of the question; None for none.
        in_words: whether it is answered in words.
    """

    number: int | str | None
    in_words: bool = False


class LookupRequest(NamedTuple):
    """The circumstances of the command that needs a lookup.

    Attributes:
        player: the player who gave the command.
        origin: the player's address; "" if it is unknown.
        cause: the cause of the command, to be passed to `FeatureContext.tell` and ``run_command``.
        is_late: whether the command already ran with a postponed answer and needs another one.
    """

    player: str
    origin: str
    cause: object
    is_late: bool


class Postponed(Value):
    """A placeholder for a lookup's answer that takes time; the line ends without the answer.

    The feature runs the command again once it has the answer; see `FeatureContext.run_command`.

    Attributes:
        decision: the decision to carry out in place of the command.
        seconds: the approximate work outside the event loop, in seconds.
        is_awaited: whether the player gets no output until the answer arrives.
    """

    decision: Decision
    seconds: float
    is_awaited: bool = False


LookupAnswerer = Callable[[LookupRequest, Any], Any]
"""Returns the answer to a lookup or `Postponed`, or raises RefusedError."""

FindWork = Callable[[Table | None, Decision], Callable[[Any], object] | None]
"""Returns extra database work (`thudmud.store.database.Work`) for a decision, or None.

The arguments are the table before the decision (None if all its events belong to the hall) and the
decision.
"""

PageAnswer = tuple[int, Mapping[str, str], str]
"""The status, header fields and text of an HTTP response; a sentence if it has no Content-Type."""

FindPreview = Callable[[str], Coroutine[Any, Any, tuple[str, str] | None]]
"""Returns the title and the summary of the page that a link names: ``/kind/name``.

It returns None if there is no such thing, and raises StoreError if the store can't be read.
"""

AnswerPage = Callable[..., Coroutine[Any, Any, PageAnswer]]
"""Handles a request; called with the path variables as keyword arguments."""


class PageRoute(NamedTuple):
    """A route of a feature's page: a path in werkzeug's rule syntax, and its handler."""

    path: str
    answer: AnswerPage
    methods: tuple[str, ...] = ("GET",)


class Figure(NamedTuple):
    """A number for monitoring systems, which may go up and down.

    Attributes:
        name: the metric's name, without the prefix ``thudmud_``.
        help: what it means.
        labels: the values of its labels, by name. All figures of a metric have the same labels.
        value: the number.
    """

    name: str
    help: str
    labels: Mapping[str, str]
    value: float


class Severity(Enum):
    """How bad the result of a check of a server's environment is."""

    OK = "ok"
    UNKNOWN = "unknown"
    WARNING = "warning"
    ERROR = "error"


class CheckResult(NamedTuple):
    """The result of a check of a server's environment, for ``thudmud doctor``.

    Attributes:
        severity: how bad it is.
        subject: what was checked, such as a setting.
        text: what was found, without a full stop.
        remedy: what to do about it, as sentences; "" if nothing has to be done.
    """

    severity: Severity
    subject: str
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        line = f"{self.severity.value} {self.subject}: {self.text}"
        return f"{line}. {self.remedy}" if self.remedy else line


Key = tuple[str, ...]
"""Identifies a timer: the feature or part of the service, followed by the timer's subject."""


PositionAnswerer = Callable[[FoundBattle, int], Coroutine[Any, Any, Any]]
"""Returns the fact (`thudmud.views.data.Fact`) about a battle after a number of plies."""


AsideStorer = Callable[[AsideT], Coroutine[Any, Any, None]]
"""Stores an aside; if it raises RefusedError or StoreError, the aside isn't delivered."""


class Bus(Protocol):
    """Publishes applied events to handlers."""

    def subscribe(self, kinds: type[Any] | tuple[type[Any], ...], handler: Handler) -> None:
        """Subscribe a handler to events of exactly these types; subclasses don't match.

        Handlers run once the line that caused the event is done, in the order of the events, and
        for one event in the order of subscription. Other players' lines may be in progress.
        """

    def defer(self, call: Callable[[], None]) -> None:
        """Queue a call after the handlers that are queued now."""


class Scheduler(Protocol):
    """One-shot timers, at most one per key."""

    def schedule(self, key: Key, time: float, call: Callable[[], object]) -> None:
        """Schedule a call, in seconds since the epoch; a time in the past means immediately.

        If the key is already scheduled, the earlier time wins.
        """

    def __contains__(self, key: Key) -> bool:
        """Whether a timer is set for the given key."""

    def cancel(self, key: Key) -> bool:
        """Cancel a timer; return whether there was one."""

    @property
    def has_timers(self) -> bool:
        """Whether timers fire, which requires an event loop."""


class Reactor:
    """The background behaviour of a feature in a service; returned by ``Feature.setup``."""

    def begin(self) -> None:
        """Start work, once the service has loaded everything from the store."""

    async def run_overdue(self) -> None:
        """Run overdue work; called by front ends without timers."""

    def next_run_time(self) -> float | None:
        """Return the time of the next useful call of `run_overdue`; None for never."""
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
        """Whether the node's lease is valid; without it other nodes may act in its place."""

    @property
    def replay_pause(self) -> float | None:
        """Seconds between two plies of an automatic replay.

        0 shows several plies at once; with None the front end requests each ply.
        """

    def clock(self) -> float:
        """Return the current time, in seconds since the epoch."""

    def local_players(self) -> Collection[str]:
        """Return the names of the players connected to this node."""

    def spawn(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Start a coroutine eagerly.

        Returns:
            its result if it finishes without blocking, else the `asyncio.Task` that runs the rest.
        """

    def has_screen(self, player: str) -> bool:
        """Whether a player on this node reads text; bots and some programs don't."""

    @property
    def adviser(self) -> Adviser | None:
        """The engine that suggests plies and evaluates positions; None without one."""

    @property
    def store(self) -> Any:
        """The `thudmud.store.Store`."""

    def register_transaction_work(self, find: FindWork) -> None:
        """Register a source of extra work for the transaction that stores a decision."""

    def register_onlooker_answer(self, request: str, answerer: PositionAnswerer) -> None:
        """Register the handler of an onlooker's client request about a position of a battle.

        ``request`` is the key of the request in ``Thud.Watch``. The handler may raise RefusedError.
        """

    def register_preview(self, kind: str, find: FindPreview) -> None:
        """Register the finder of previews for links of the form ``/kind/name``."""

    def tell(self, aside: Aside, cause: object = None) -> None:
        """Apply an aside and deliver it to players on this node."""

    def say(self, player: str, sentence: str, cause: object = None) -> None:
        """Send a sentence to a player on this node."""

    def refuse(self, player: str, refusal: RefusedError) -> None:
        """Send a refusal to a player on this node."""

    async def wait_for_line(self, player: str) -> None:
        """Wait until the line in progress, or the entry, of a player has been processed."""

    def disconnect(self, player: str) -> None:
        """Disconnect a player on this node; the player's seats are kept."""

    def stop_server(self, why: str) -> None:
        """Stop the server, if the service belongs to one; ``why`` is logged."""

    def register_aside_store(self, kind: type[AsideT], store: AsideStorer[AsideT]) -> None:
        """Register the function that stores asides of a `StoredAside` type before delivery."""

    def register_entry_lookup(self, make: Callable[[str], Lookup[Any] | None]) -> None:
        """Register a lookup that is answered for each member at entry; see `Entered.found`.

        ``make`` is called with the member's name and returns the lookup, or None to skip it.
        """

    def on_blank_line(self, call: Callable[[str], None]) -> None:
        """Register a callback for blank lines; its argument is the player's name."""

    async def look_up(self, lookup: Lookup[Any]) -> Any:
        """Answer a lookup; the result has the type that the lookup declares.

        Raises:
            StoreError: the store cannot be read.
        """

    def register_lookup(self, kind: type[Lookup[Any]], look_up: LookupAnswerer) -> None:
        """Register the function that answers a type of lookup for players' commands.

        The store answers all other types.
        """

    async def carry_out(self, decision: Decision) -> bool:
        """Commit a decision made without a player's command: store, apply and deliver its events.

        Returns:
            False on a version conflict: nothing was stored, and the caller should decide again.

        Raises:
            StoreError: the decision can't be stored.
        """

    async def run_command(
        self,
        player: str,
        command: Command,
        found: LookupResults = NOTHING_FOUND,
        cause: object = None,
        *,
        unless: Callable[[], bool] | None = None,
    ) -> None:
        """Execute a command on behalf of a player, if they are connected to this node.

        Args:
            player: the player.
            command: the command.
            found: a postponed answer. With one, the command doesn't change the meaning of "it".
            cause: the cause of the command.
            unless: called once the player's earlier lines are done; if true, the command is
                skipped.

        Raises:
            StoreError: the events can't be stored, or a lookup failed.
        """

    def on_stop(self, call: Callable[[], None]) -> None:
        """Register a callback for the stop of the service."""


class Serving(Protocol):
    """The server side of a feature, apart from its commands: background work and web pages.

    The function ``serve`` in a feature's ``serving`` module creates it from all settings and the
    base folder for relative file names. ``serve`` may raise StartError. With ``is_dry_run=True`` it
    makes no files: `thudmud config check` only asks whether a server could start.
    """

    @property
    def common(self) -> Mapping[str, str]:
        """The settings, by name, that must be equal on all servers of one database."""

    async def begin(
        self, service: FeatureContext, lock: Callable[[Any], Awaitable[Any]]
    ) -> Coroutine[None, None, None] | None:
        """Start up before any player can enter.

        Args:
            service: the service.
            lock: waits for the lock of the single server that acts for all; takes a
                `thudmud.store.Lock` and returns a queue of `thudmud.store.Holder`.

        Returns:
            a coroutine to run in the background, or None.
        """

    async def measure(self) -> Sequence[Figure]:
        """Return the feature's figures for monitoring systems.

        Raises:
            StoreError: the store can't be read.
        """

    @property
    def pages(self) -> Sequence[PageRoute]:
        """The routes of the feature's pages on the web port."""


def commands_in(package: str) -> tuple[type[Command], ...]:
    """Return the registered commands of a package, which must have been imported."""
    return tuple(each for each in COMMANDS if each.__module__.startswith(f"{package}."))


class UserAction(NamedTuple):
    """A subcommand of the shell command ``thudmud user``.

    Attributes:
        word: the name of the subcommand.
        help: the help text.
        act: takes a `thudmud.store.Store` and the options, and returns the lines to print; may
            raise CommandError.
        options: keyword arguments for ``ArgumentParser.add_argument``, by option name.
        reads: takes the options, and returns whether the store is only read.
    """

    word: str
    help: str
    act: Callable[[Any, Any], Coroutine[Any, Any, Iterable[str]]]
    options: Mapping[str, Mapping[str, Any]]
    reads: Callable[[Any], bool] = lambda _: False


class Feature(Value):
    """The description of a feature for the service and the grammar.

    Attributes:
        name: the name of its package; for an optional feature, also the name of its help page and
            its entry in ``[features] off``.
        commands: the commands that players can type.
        setup: registers event handlers and timers with a service, and may return a `Reactor`; None
            if there are none.
        needs: the optional features that this one imports.
        synonyms: pairs of a keyword and the space-separated words that players try instead of it.
        user_actions: its subcommands of ``thudmud user``.
        configure: sets the feature's `Hall.limits` from all settings of a server; None if it has no
            limits.
    """

    name: str
    commands: tuple[type[Command], ...]
    setup: Callable[[FeatureContext], object] | None = None
    needs: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, str], ...] = ()
    user_actions: tuple[UserAction, ...] = ()
    configure: Callable[[Hall, Any], None] | None = None
