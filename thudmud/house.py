"""Thudmud without sockets: takes players' lines and returns messages for players."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, SupportsIndex, TypeVar, cast

from thudmud.bots.opponent import Opponent, Task
from thudmud.english import pluralize
from thudmud.errors import InvalidValueError, RefusedError, ThudmudError, UnknownNameError
from thudmud.features.archive.reactors import is_replaying, play_on, stop_playing
from thudmud.features.playing.queries import ViewGame
from thudmud.features.playing.seats import Join
from thudmud.game.archive import Lookup
from thudmud.game.command import Asked, Command
from thudmud.game.delivery import Delivery
from thudmud.game.events import (
    MADE,
    Event,
    Imported,
    Moved,
    Parting,
    TableEvent,
    require_name,
    require_time,
)
from thudmud.game.hall import Hall, conflicting_spelling
from thudmud.game.match import fold_game
from thudmud.game.options import UNKNOWN, Profile
from thudmud.game.projections import HALL, MATCHES, is_board_key, is_of_a_match
from thudmud.game.table import BoardSpec, Table, require_applicable, require_ply
from thudmud.game.tables import next_due_time
from thudmud.language.parsing import board_problem, parse
from thudmud.language.vocabulary import HostCommand, Vocabulary
from thudmud.rules import DEFAULT_RULES, Game
from thudmud.service import Adviser, JoinRequest, Policy, Service, Visit, Watcher
from thudmud.service.boards import close_board, open_board, rename_board, update_open_boards
from thudmud.store import ConflictError, Entry, Store, StoreError, run_synchronously
from thudmud.store.codec import from_line, to_line
from thudmud.values import Value, replace
from thudmud.views import Message
from thudmud.views.refusals import refusal_text
from thudmud.views.view import Terminal

MOST_NAMED = 5
"""The maximum number of boards that an error names."""

AnswerT = TypeVar("AnswerT")


class BotTurn(Value):
    """A battle in which a bot is to move.

    Attributes:
        bot: the bot's name.
        task: the state of the battle.
    """

    bot: str
    task: Task


class BoardNameError(RefusedError, ValueError):
    """A board can't be opened, closed or renamed because of its name.

    ``str()`` is the sentence that an operator gets; ``code`` and ``details`` have the reason.
    """

    def __str__(self) -> str:
        return refusal_text(self)


class NotCopyableError(ThudmudError, TypeError):
    """A house can't be copied or pickled."""


class House:
    """A hall with boards and people, driven by lines of text.

    The host reports arrivals (`enter`), typed lines (`obey`) and departures (`depart`). Each call
    returns the messages for all players. `events` exports what happened at the boards as lines
    of text, and a house created from these lines continues from there. The lines don't say who is
    present, and don't contain players' preferences.

    A house wraps a `thudmud.service.Service` on a store in memory. Nothing ever waits there, so
    each call completes before it returns.

    Times are seconds since the epoch; a time out of range raises InvalidValueError. A house has no
    clock and no randomness: the same calls give the same results. It isn't thread-safe.

    Attributes:
        hall: the boards and people as values of `thudmud.game`, to be read only.

    Args:
        boards: the boards, in the order in which they are listed. At least one, with unique names
            that players can type, and unique keys.
        quiet_plies: number of plies without a capture after which one player may end a battle
            alone; 0 for never.
        seat_grace: seconds for which the others have to wait for a player who is away.
        events: earlier events at these boards and others: all lines that `events` returned, in
            order. Seated players still have their seats: call `enter` for those who are back, and
            then `mark_absent_players` for the others.
        idle_limit: seconds without a ply after which a battle without a clock can be claimed; 0 for
            never.
        first_move: seconds for the first move of each side before its clock starts.
        replays_at_once: whether "play" shows several plies at once; otherwise
            `next_replay_messages` shows the next.
        any_names: whether boards may have names that players can't type, because the host finds the
            board.
        adviser: source of hints and analyses, which has to answer without waiting; None for none.
        opens_boards: whether players may challenge each other to matches at new boards. `events`
            omits these boards and their events.
        left: time at which the earlier house stopped; None for the time of the last event. Clocks
            stand still from then until the first call with a time.
        verbs: the host's own commands, see `thudmud.language.vocabulary`.
        without: names of features to leave out, such as ``tv``, and the first words of other verbs,
            such as ``shout``.
        teaches: whether players who have never finished a battle are shown how to move, below the
            first board where it is their turn.
        bots: names of bots that players can invite, each with the name or number of a level of
            `thudmud.search.levels`. They arrive before anybody else, and do everything by
            themselves except thinking: see `bot_turns`.

    Raises:
        InvalidValueError: the boards are invalid, the events are inconsistent, a verb is defined
            twice, a feature or verb to leave out doesn't exist, a bot's name is invalid or its
            level doesn't exist, or a number is negative.
        MalformedTextError: one of the lines isn't an event.
        NewerSchemaError: a later version of thudmud wrote one of the lines.
    """

    def __init__(
        self,
        boards: Sequence[BoardSpec],
        quiet_plies: int = 200,
        seat_grace: float = 300.0,
        events: Iterable[str] = (),
        *,
        idle_limit: float = 600.0,
        first_move: float = 0.0,
        replays_at_once: bool = True,
        any_names: bool = False,
        adviser: Adviser | None = None,
        opens_boards: bool = False,
        left: float | None = None,
        verbs: Iterable[type[HostCommand]] = (),
        without: Collection[str] = (),
        teaches: bool = False,
        bots: Mapping[str, str] = {},
    ) -> None:
        # Long: one line for each argument and each attribute.
        _require_boards(boards, any_names=any_names)
        _require_non_negative(
            quiet_plies=quiet_plies,
            seat_grace=seat_grace,
            idle_limit=idle_limit,
            first_move=first_move,
        )
        _require_bots(bots)
        if left is not None:
            require_time(left)
        self.hall = Hall(
            boards,
            quiet_plies,
            seat_grace,
            idle_limit=idle_limit,
            first_move=first_move,
            opens_boards=opens_boards,
        )
        verbs = tuple(verbs)
        vocabulary = self._vocabulary = Vocabulary(verbs, without)
        self.hall.use_verbs(vocabulary.own, vocabulary.without)
        self._now = 0.0
        self._messages: list[Message] = []
        self._others: list[int] = []
        """Store positions of entries that aren't of a board of the host's: see `_is_other`."""
        self._store = Store.in_memory(clock=lambda: self._now)
        last = self._load_events(events)
        self._left = last if left is None else left
        """Time since which clocks have stood still; None after the first call with a time."""
        self._service = Service(
            self.hall,
            self._store,
            clock=lambda: self._now,
            told=lambda messages, _: self._messages.extend(messages),
            replay_pause=0 if replays_at_once else None,
            adviser=adviser,
            policy=Policy(
                read=vocabulary.parse if verbs or without else parse,
                check_available=vocabulary.check_available,
            ),
            without=without if teaches else (*without, "teaching"),
        )
        self._visits = self._service.broadcaster.visits
        self._opponents = {name: Opponent(name, seat_grace) for name in bots}
        if bots:
            from thudmud.bots.naming import name_bots  # noqa: PLC0415  (only bots have levels)

            name_bots(self.hall, bots)
        self._start_service()

    def events(self, after: int = 0) -> list[str]:
        """Return the events of all boards, each as a line of ASCII text.

        Args:
            after: number of events that the caller already has, which are omitted.

        Raises:
            InvalidValueError: ``after`` is negative.
        """
        if after < 0:
            raise InvalidValueError(f"expected a non-negative number of events, got {after}")
        position = after
        for other in self._others:
            if other > position:
                break
            position += 1
        entries: list[Entry] = []
        run_synchronously(
            self._store.subscribe(None, position, entries.extend, _raise_store_error)
        ).close()
        return [
            to_line(entry.stream, cast("Event", entry.event))
            for entry in entries
            if not _is_other(entry)
        ]

    def open_board(self, name: str, now: float, rules: str = DEFAULT_RULES.name) -> list[Message]:
        """Open a board at the end of the list, and return the messages.

        `events` contains the events at the board, but not the board: pass it to the next house.

        Args:
            name: the board's name, with the noun last; also its key.
            now: the time.
            rules: the name of the board's initial ruleset.

        Raises:
            BoardNameError: the name is invalid, or another board has it.
            InvalidValueError: no ruleset has that name.
        """
        spec = BoardSpec(name, rules)
        return self._change_boards(open_board, name, spec.rules, now)

    def rename_board(self, name: str, new: str, now: float) -> list[Message]:
        """Rename a board, and return the messages. Its other properties stay as they are.

        Raises:
            BoardNameError: no board has the old name, or the new one is invalid or taken.
        """
        return self._change_boards(rename_board, name, new, now)

    def close_board(self, name: str, now: float) -> list[Message]:
        """Close a board, adjourning any match under way there, and return the messages.

        Raises:
            BoardNameError: no board has that name.
        """
        return self._change_boards(close_board, name, now)

    def mark_absent_players(self, now: float) -> list[Message]:
        """Mark seated players who aren't here as away, and return the messages."""
        require_time(now)
        return self._run_service(self._service.finish_start(), now)

    @property
    def due(self) -> float | None:
        """Earliest time at which `pass_time` may have something to do; None for never."""
        moments = [next_due_time(table) for table in self.hall.tables.values()]
        moments += [each.next_time(self._now) for each in self._opponents.values()]
        moments += [seek.until for seek in self.hall.seeks.values()]
        moments += [reactor.next_run_time() for reactor in self._service.reactors]
        return min((moment for moment in moments if moment is not None), default=None)

    @property
    def bot_turns(self) -> list[BotTurn]:
        """Battles in which a bot is to move.

        The host chooses the ply, for which it may take any length of time, and passes it to
        `play_bot`.
        """
        bots = self._opponents.items()
        return [BotTurn(name, task) for name, opponent in bots for task in opponent.tasks()]

    def pause_before_bot(self, turn: BotTurn, pause: float) -> float:
        """Return the seconds that should pass between the opponent's ply and a bot's.

        A weak level that plays a person takes up to three times the pause. With little time on its
        clock, a bot plays at once.

        Args:
            turn: one of `bot_turns`.
            pause: the usual pause in seconds.
        """
        opponent = self._opponents.get(turn.bot)
        return opponent.pause_before(turn.task, pause, turn.task.level) if opponent else pause

    def play_bot(
        self, turn: BotTurn, ply: str, now: float, score: int | None = None
    ) -> list[Message]:
        """Play a ply for a bot, and return the messages; none if the bot's turn is over.

        Args:
            turn: one of `bot_turns`.
            ply: the ply in the notation of records.
            now: the time.
            score: the bot's evaluation, in hundredths of a dwarf from its side's point of view. It
                decides whether the bot offers to end a battle, or resigns.

        Raises:
            InvalidValueError: the ply can't be read.
            IllegalMoveError: the rules refuse the ply.
        """
        if turn not in self.bot_turns:
            return []
        if score is not None:
            self._opponents[turn.bot].record_score(turn.task, score)
        return self.obey(turn.bot, turn.task.command(ply), now)

    def pass_time(self, now: float) -> list[Message]:
        """Do everything that is due by now, and return the messages.

        Flags fall, idle players are warned, questions to busy players expire, and tournaments go
        on. Without this call, that happens with the next line about the board, or never.
        """
        require_time(now)
        return self._run_service(self._service.pass_time(), now)

    def enter(
        self,
        name: str,
        now: float,
        terminal: Terminal | None = None,
        *,
        room: str | None = None,
        member: bool = False,
        profile: Profile = UNKNOWN,
        quiet: bool = False,
        watcher: Watcher | None = None,
    ) -> list[Message]:
        """Let a player in, and return the messages.

        They arrive in ``room`` and see that board. By default they arrive where a seat was kept for
        them, or else in the hall.

        Args:
            name: the player's name. Other players can type it in every command if `name_problem`
                returns None for it; other names are shown, but can't be typed.
            now: the time.
            terminal: what the client can show, by default plain text of 80 columns; `set_terminal`
                changes it.
            room: the board where the player is, ignoring case, if the host tracks where players
                are.
            member: whether the player has an account, so that their battles can be rated.
            profile: the player's known preferences.
            quiet: whether the player's arrivals and departures aren't announced, except at a seat.
            watcher: for a program that plays, called with every telling for it. It has no screen
                then.

        Raises:
            UnknownNameError: ``room`` isn't a board.
            InvalidValueError: the name is invalid, or a player here has it, ignoring case; or a
                seat or adjourned match is kept for it in another spelling; or ``terminal`` isn't a
                `Terminal`, or ``profile`` a `Profile`.
        """
        require_name(name)
        require_time(now)
        if terminal is not None:
            _require_terminal(terminal)
        if not isinstance(profile, Profile):
            raise InvalidValueError(f"expected a Profile, got {profile!r:.50}")
        if here := self.hall.people.names.get(name.lower()):
            raise InvalidValueError(f"{here} is already here")
        if kept := conflicting_spelling(
            self.hall, name, run_synchronously(self._service.adjourned(name))
        ):
            raise InvalidValueError(
                f"{kept} has a seat or a match here, and {name} differs only in capitals"
            )
        if room is not None:
            self._board_name(room)
        arrival = JoinRequest(
            name,
            None if watcher else terminal or Terminal(),
            watcher=watcher,
            room=room,
            is_member=member,
            profile=profile,
            quiet=quiet,
        )
        joining = self._service.join(arrival)
        return self._run_service(joining, now)

    def take_over(self, name: str, terminal: Terminal, now: float) -> list[Message]:
        """Move a player who is here to another screen, and return the messages.

        Raises:
            UnknownNameError: no player here has that name.
            InvalidValueError: ``terminal`` isn't a `Terminal`.
        """
        self._require(name, now)
        _require_terminal(terminal)
        return self._run_service(self._service.join(JoinRequest(name, terminal)), now)

    def parse(self, line: str) -> Command:
        """Parse a line with this house's vocabulary: its own verbs, and none that it leaves out.

        Raises:
            ParseError: the line isn't a command of this house.
        """
        return self._vocabulary.parse(line)

    def obey(self, name: str, line: str | Command, now: float) -> list[Message]:
        """Execute a line that a player typed, and return the messages.

        Any text is valid: a message to the player says why a line can't be read or is refused.
        A command that `parse` returned is valid, too; one of a verb that this house leaves out is
        refused like its line. After "quit" the player is no longer here.

        Raises:
            UnknownNameError: no player here has that name.
            InvalidValueError: the line is neither text nor a command.
        """
        visit = self._require(name, now)
        if not isinstance(line, str | Command):
            raise InvalidValueError(f"expected a line of type str, got {type(line).__name__}")
        return self._run_service(self._service.submit(visit, line), now)

    def ask(self, name: str, line: str, now: float) -> list[Message]:
        """Return the facts that a player's program asks for; see ``Terminal.packages``.

        A line that isn't a question, such as ``move a6 b6``, changes nothing: the answer says so.

        Raises:
            UnknownNameError: no player here has that name.
            InvalidValueError: the line isn't text.
        """
        visit = self._require(name, now)
        if not isinstance(line, str):
            raise InvalidValueError(f"expected a line of type str, got {type(line).__name__}")
        return self._run_service(self._service.ask(visit, line), now)

    def depart(self, name: str, now: float, parting: Parting = Parting.LOST) -> list[Message]:
        """Let a player leave, keeping their seat, and return the messages.

        Args:
            name: the player's name.
            now: the time.
            parting: the reason. After a lost connection there are no more messages for the player.
                With ``Parting.QUIT`` (typed "quit") or ``Parting.LEFT`` (walked away) the player
                gives up a seat unless a match is under way.

        Raises:
            UnknownNameError: no player here has that name.
            InvalidValueError: ``parting`` isn't a `Parting`.
        """
        visit = self._require(name, now)
        if not isinstance(parting, Parting):
            partings = ", ".join(map(str, Parting))
            raise InvalidValueError(f"expected one of {partings}, got {parting!r}")
        return self._run_service(self._service.leave(visit, parting), now)

    def set_terminal(self, name: str, terminal: Terminal) -> None:
        """Set the terminal of a player who is here.

        Raises:
            UnknownNameError: no player here has that name.
            InvalidValueError: ``terminal`` isn't a `Terminal`.
        """
        self._require_here(name)
        _require_terminal(terminal)
        self._service.set_terminal(name, terminal)

    def current_facts(self, name: str) -> list[Message]:
        """Return the current state for a player's program that has just connected.

        Raises:
            UnknownNameError: no player here has that name.
        """
        self._require_here(name)
        return self._service.current_facts(name)

    def next_replay_messages(self, name: str) -> list[Message]:
        """Return the messages with the next ply of a player's replay, if it advances by itself."""
        play_on(self._service, name)
        return self._take_messages()

    def is_replaying(self, name: str) -> bool:
        """Whether a player's replay advances by itself."""
        return is_replaying(self.hall, name)

    def stop_replay(self, name: str) -> None:
        """Stop a player's replay at the current ply."""
        stop_playing(self.hall, name)

    def __contains__(self, name: object) -> bool:
        """Whether a player of that name is here."""
        return name in self._service

    def name_problem(self, name: str) -> str | None:
        """Return a sentence that says why a player can't have this name; None if they can."""
        return self._service.name_problem(name)

    def is_name_needed(self, name: str) -> bool:
        """Whether a seat or an adjourned match is kept under a name, ignoring case."""
        return run_synchronously(self._service.is_name_needed(name))

    def is_waiting(self, name: str) -> bool:
        """Whether a player has battles, with the opponent to move in each."""
        return self._service.is_waiting(name)

    def is_asked(self, name: str) -> bool:
        """Whether a player's next "yes" or "no" will confirm or reject a suggested command."""
        visit = self._service.visit(name)
        return bool(
            visit and visit.pending_confirmation and visit.pending_confirmation.is_fresh(self._now)
        )

    def look_up(self, lookup: Lookup[AnswerT]) -> AnswerT:
        """Return the answer to a query of the archive.

        Args:
            lookup: a query of `thudmud.game.archive`, such as ``ScoreLookup("Anna")``.

        Raises:
            InvalidValueError: the argument isn't a lookup.
        """
        if not isinstance(lookup, Lookup):
            raise InvalidValueError(f"expected a Lookup, got {lookup!r:.50}")
        return cast("AnswerT", run_synchronously(self._service.look_up(lookup)))

    def game(self, board: str) -> Game | None:
        """Return the running or last battle on a board; None before the first.

        Args:
            board: the board's name, case-insensitive.

        Raises:
            UnknownNameError: no board has that name.
        """
        return self.hall.tables[self._board_name(board)].game

    @property
    def people(self) -> tuple[str, ...]:
        """Names of the people here, in order of arrival."""
        return tuple(self.hall.people)

    def __reduce_ex__(self, _protocol: SupportsIndex) -> NoReturn:
        """Refuse to be copied or pickled: a copy would share the store and its callbacks."""
        raise NotCopyableError(
            "a House can't be copied or pickled; House(boards, events=house.events()) makes one "
            "with the same boards, seats and battles"
        )

    def _start_service(self) -> None:
        """Let the service follow the store, where the boards are opened that are new."""
        position = run_synchronously(self._store.position())
        run_synchronously(
            self._store.subscribe(None, position, self._note_others, _raise_store_error)
        )
        run_synchronously(update_open_boards(self._store, self.hall.tables.values(), self._now))
        run_synchronously(self._service.follow())

    def _change_boards(
        self, change: Callable[..., Coroutine[Any, Any, object]], *details: Any
    ) -> list[Message]:
        """Open, close or rename a board, and return the messages; the last detail is the time."""
        now: float = details[-1]
        require_time(now)
        try:
            return self._run_service(change(self._store, *details), now)
        except RefusedError as refusal:
            raise BoardNameError(refusal.code, **refusal.details) from None

    def _board_name(self, name: str) -> str:
        """Return a board's name in its own capitals; raise UnknownNameError for another name."""
        exact = self.hall.tables.exact_name(name)
        if exact not in self.hall.tables:
            first = ", ".join(list(self.hall.tables)[:MOST_NAMED])
            others = ", ..." if len(self.hall.tables) > MOST_NAMED else ""
            raise UnknownNameError(f"unknown board {name}; expected one of {first}{others}")
        return exact

    def _run_service(self, work: Coroutine[Any, Any, object], now: float) -> list[Message]:
        """Run a coroutine of the service, then the bots, and return the messages."""
        self._now = now
        if self._left is not None:
            left, self._left = self._left, None
            run_synchronously(self._service.hold_clocks(left))
        for name, opponent in self._opponents.items():
            if name not in self._visits:
                self._let_in(name, opponent)
        run_synchronously(work)
        while self._opponents and self._run_bots():
            pass
        # `_take_messages`, inlined because this runs for each line.
        told, self._messages = self._messages, []
        return told

    def _let_in(self, name: str, bot: Opponent) -> None:
        def watch(telling: Delivery) -> None:
            bot.observe_delivery(telling, self._now)

        run_synchronously(self._service.join(JoinRequest(name, None, watcher=watch, quiet=True)))
        for table in self.hall.tables.seats_of(name):
            watch(Delivery(Asked(name, ViewGame(), table.name), (name,), table))

    def _run_bots(self) -> bool:
        """Execute the bots' own commands; return whether there were any."""
        acted = False
        for name, bot in self._opponents.items():
            commands = bot.commands(self._now)
            while bot.invitations:
                asked = bot.invitations.pop(0)
                commands.append(Join(asked.side, asked.board, asked.level))
            for command in commands:
                run_synchronously(self._service.submit(self._visits[name], command))
                acted = True
        return acted

    def _take_messages(self) -> list[Message]:
        told, self._messages = self._messages, []
        return told

    def _note_others(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if _is_other(entry):
                self._others.append(entry.position)

    def _load_events(self, lines: Iterable[str]) -> float | None:
        """Store and fold earlier events without messages, and return the time of the last one."""
        past = _Past(self.hall)
        try:
            run_synchronously(self._store.import_events(past.events(lines), past.stored.append))
        except (ThudmudError, ValueError, LookupError) as error:
            if past.place is None:
                raise
            key, version = past.place
            why = "the match is not adjourned" if isinstance(error, ConflictError) else error
            what = f"{key!r:.50}, event {version}: {why}"
            raise InvalidValueError(f"the events do not fit together: {what}") from error
        self._others = past.copies
        return past.last

    def _require(self, name: str, now: float) -> Visit:
        require_time(now)
        visit = self._visits.get(name)
        if visit is None:
            raise _not_here(name)
        return visit

    def _require_here(self, name: str) -> None:
        if name not in self._visits:
            raise _not_here(name)


class _Past:
    """Validates and folds earlier events of the boards of a hall and of others.

    Folding an event checks that it's possible. Most events are consecutive plies, for which only
    the game is folded. The table catches up when another kind of event happens at the board.

    Args:
        hall: the hall, whose tables end in the state after the last event.

    Attributes:
        place: the board's key and the version of the current event; None while a line is read.
        stored: the store's entries for the current event, filled in by the caller.
        copies: store positions of the copies in streams of matches.
        last: the latest time of an event; None without events.
    """

    def __init__(self, hall: Hall) -> None:
        self.place: tuple[str, int] | None = None
        self.stored: list[Entry] = []
        self.copies: list[int] = []
        self.last: float | None = None
        self._hall = hall
        self._here = {table.key: name for name, table in hall.tables.items()}
        self._elsewhere: dict[str, Table] = {}
        """Tables of boards that aren't in the hall, by key."""
        self._versions: Counter[str] = Counter()
        self._runs: dict[str, tuple[Game, float]] = {}
        """By key, games that may be ahead of their tables, and the time of the last ply."""

    def events(self, lines: Iterable[str]) -> Iterator[tuple[str, Event]]:
        """Yield each event with its key; the caller stores it before asking for the next.

        Raises:
            InvalidValueError: an event is impossible. Other ThudmudErrors and LookupError may be
                raised.
        """
        for line in lines:
            key, event = from_line(line)
            self.place = key, self._versions[key] + 1
            if isinstance(event, Moved) and key in self._runs:
                require_ply(self._runs[key][0], event)
            else:
                self._require(key, event)
            yield key, event
            for entry in self.stored:
                self._fold_stored(entry)
            self.stored.clear()
            self.last = event.at if self.last is None else max(self.last, event.at)
            self.place = None
        for key in list(self._runs):
            self._end_run(key)

    def _fold_stored(self, entry: Entry) -> None:
        """Fold a stored entry."""
        event, key = cast("Event", entry.event), entry.stream
        if is_of_a_match(key):
            self.copies.append(entry.position)
            return
        self._versions[key] = entry.version
        if isinstance(event, Moved) and key in self._runs:
            self._runs[key] = self._runs[key][0].play(event.move), event.at
        elif not isinstance(event, Imported):
            self._fold(key, event, entry)

    def _end_run(self, key: str) -> None:
        """Bring a table up to date with its game."""
        run, table = self._runs.pop(key, None), self._table(key)
        if run and table.match and run[0] is not table.game:
            match, version = table.match.with_game(run[0], None), self._versions[key]
            self._put(
                replace(
                    table,
                    match=match,
                    version=version,
                    waiting_since=run[1],
                    excused_seconds=0.0,
                    warned_at=None,
                )
            )

    def _require(self, key: str, event: Event) -> None:
        if not is_board_key(key):
            raise InvalidValueError("it does not belong to a board")
        self._end_run(key)
        if not isinstance(event, Imported):
            require_applicable(self._table(key), event)
        elif key in self._here or key in self._elsewhere:
            raise InvalidValueError("it was played elsewhere")
        else:
            fold_game([event])

    def _fold(self, key: str, event: TableEvent, entry: Entry) -> None:
        if key in self._here:
            self._hall.restore(self._here[key], entry.version - 1, [(event, entry.battle)])
        else:
            self._elsewhere[key] = self._table(key).apply(event, entry.battle)
        table = self._table(key)
        # Plies need the table if there is a clock, or if a player is away and misses them.
        if table.game and table.is_running and not table.away and table.clock is None:
            self._runs[key] = table.game, table.waiting_since

    def _table(self, key: str) -> Table:
        if key in self._here:
            return self._hall.tables[self._here[key]]
        if key in self._elsewhere:
            return self._elsewhere[key]
        return replace(Table.set_up(BoardSpec(key)), version=self._versions[key])

    def _put(self, table: Table) -> None:
        if table.key in self._here:
            self._hall.put(table.name, table)
        else:
            self._elsewhere[table.key] = table


def _is_other(entry: Entry) -> bool:
    """Whether an entry is of the hall, of a board that players opened, or of an adjourned match."""
    return entry.stream.startswith((MADE, MATCHES)) or entry.stream == HALL


def _not_here(name: str) -> UnknownNameError:
    return UnknownNameError(f"{name} is not here; enter() lets a player in")


def _require_boards(boards: Sequence[BoardSpec], *, any_names: bool) -> None:
    if not boards:
        raise InvalidValueError("expected at least one board")
    for spec in boards:
        if not any_names and (problem := board_problem(spec.name)):
            raise InvalidValueError(f"board {spec.name!r:.50}: the name {problem}")
    name, times = Counter(spec.name.lower() for spec in boards).most_common(1)[0]
    if times > 1:
        raise InvalidValueError(f"two boards are called {name!r}; each needs its own name")
    for key, times in Counter(spec.key for spec in boards).items():
        if times > 1 or not is_board_key(key):
            raise InvalidValueError(
                f"{key!r:.50} is not a valid key for {pluralize(times, 'board')}"
            )


def _require_terminal(terminal: Terminal) -> None:
    if not isinstance(terminal, Terminal):
        raise InvalidValueError(f"expected a Terminal, got {terminal!r:.50}")


def _require_non_negative(**numbers: float) -> None:
    for name, number in numbers.items():
        if not number >= 0:  # NaN is neither
            raise InvalidValueError(f"expected {name} to be 0 or more, got {number}")


def _require_bots(names: Collection[str]) -> None:
    for name in names:
        require_name(name)
    name, times = Counter(map(str.lower, names)).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise InvalidValueError(f"two bots are called {name!r}; each needs its own name")


def _raise_store_error(error: StoreError) -> None:
    raise error  # reading a store in memory can't fail
