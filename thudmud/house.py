"""The whole of thudmud without a socket: players type lines, and messages say who is told what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from thudmud.bots.opponent import Opponent, Task
from thudmud.english import counted
from thudmud.errors import InvalidValueError, ThudmudError
from thudmud.language.parsing import board_problem, parse
from thudmud.language.vocabulary import OwnCommand, Vocabulary
from thudmud.play.archive import Lookup
from thudmud.play.asides import Asked
from thudmud.play.command import Command
from thudmud.play.events import (
    MADE,
    Event,
    Imported,
    Moved,
    Parting,
    TableEvent,
    require_name,
    require_time,
)
from thudmud.play.hall import Hall, kept_for
from thudmud.play.match import game_of
from thudmud.play.options import UNKNOWN, Profile
from thudmud.play.projections import HALL, is_board_key, is_of_a_match
from thudmud.play.table import BoardSpec, Table, require_fit, require_ply
from thudmud.play.telling import Telling
from thudmud.rules import DEFAULT_RULES, Game
from thudmud.service import Adviser, Arrival, Policy, Service, Visit, Watcher
from thudmud.service.boards import close_board, open_board, put_up, rename_board
from thudmud.store import Conflict, Entry, Store, StoreError, at_once
from thudmud.store.codec import from_line, to_line
from thudmud.values import value
from thudmud.verbs.queries import ViewGame
from thudmud.verbs.seats import Join
from thudmud.verbs.tables import due
from thudmud.views import Message
from thudmud.views.view import Terminal

AnswerT = TypeVar("AnswerT")


@value
class BotTurn:
    """A battle in which it is a bot's turn.

    Attributes:
        bot: its name.
        task: the battle, as it stands.
    """

    bot: str
    task: Task


class House:
    """A hall of boards, or a single one, and the people in it, in text.

    A house is told who comes in (`enter`), what they type (`obey`) and who is gone (`depart`), and
    answers each time with the messages that everybody is to be told. What has happened at the
    boards can be kept, line by line (`events`), and a house that is made of these lines goes on
    where the other was. Who is here, and how they want to see things, is not in them.

    It is a `thudmud.service.Service` on a store in memory, where nothing has to be waited for,
    driven to its end at each call.

    Times are seconds since the epoch; whoever gives one that has no date gets a ValueError. Nothing
    here asks a clock, and nothing is random: the same calls give the same answers. A house is for
    one thread, or for one at a time.

    Attributes:
        hall: the boards and the people as values of `thudmud.play`, to be looked at.

    Args:
        boards: the boards, in the order in which they are listed; at least one, each with a name of
            its own that players can type, and a key of its own.
        quiet_plies: after how many plies without a capture one player may end a battle alone;
            0 for never.
        seat_grace: how many seconds a player may be away before the others need not wait.
        events: what has happened before at these boards and others: all that `events` has handed
            out, in that order. Whoever had a seat then has it still: who is back is let in with
            `enter`, and for all others there is `settle`.
        idle_limit: how many seconds a player who is here may take for a ply without a clock before
            the other may claim the battle; 0 for any time.
        replays_at_once: whether "play" shows some plies of a battle at once; else `play_on` shows
            the next.
        any_names: whether boards may have names that players cannot type, since you find the board.
        adviser: who is asked for hints and analyses, and answers without waiting; None for nobody.
        opens_boards: whether players may ask each other for matches, for which boards are opened.
            These, and what happens at them, are not among `events`.
        left: until when people could play in the house before; None for the last of the events.
            From then until the first call with a time, clocks have stood still.
        verbs: commands of your own, see `thudmud.language.vocabulary`.
        without: the first words of verbs that players shall not have here, such as ``shout``.
        teaches: whether those who have never finished a battle here are told how to move, below the
            first board that waits for them.
        bots: the names of bots that players can invite, each with the name or the number of a level
            of `thudmud.search.levels`. They come in before anybody else, and do all by themselves
            but think: see `bot_turns`.

    Raises:
        InvalidValueError: there are no such boards, or these events do not fit together; or there
            is a verb twice, or none that is to be left out; or there is no such level.
        Misread: one of the events is none.
        TooNew: a later version of thudmud wrote one of them.
    """

    def __init__(
        self,
        boards: Sequence[BoardSpec],
        quiet_plies: int = 200,
        seat_grace: float = 300.0,
        events: Iterable[str] = (),
        *,
        idle_limit: float = 600.0,
        replays_at_once: bool = True,
        any_names: bool = False,
        adviser: Adviser | None = None,
        opens_boards: bool = False,
        left: float | None = None,
        verbs: Iterable[type[OwnCommand]] = (),
        without: Collection[str] = (),
        teaches: bool = False,
        bots: Mapping[str, str] = {},
    ) -> None:
        _require_boards(boards, any_names=any_names)
        self.hall = Hall(
            boards,
            quiet_plies,
            seat_grace,
            idle_limit=idle_limit,
            opens_boards=opens_boards,
        )
        verbs = tuple(verbs)
        vocabulary = Vocabulary(verbs, without)
        self.hall.own_verbs, self.hall.left_out = vocabulary.own, vocabulary.without
        self._now = 0.0
        self._told: list[Message] = []
        self._others: list[int] = []
        """The positions of what is stored of matches and of the hall, not of a board."""
        self._store = Store.in_memory(clock=lambda: self._now)
        last = self._bring_in(events)
        self._left = last if left is None else left
        """Since when nobody can have played, until somebody comes or does anything."""
        self._service = Service(
            self.hall,
            self._store,
            clock=lambda: self._now,
            told=lambda message, _: self._told.append(message),
            pause=0 if replays_at_once else None,
            adviser=adviser,
            policy=Policy(read=vocabulary.parse if verbs or without else parse),
            teaches=teaches,
        )
        self._visits = self._service.broadcaster.visits
        self._opponents = {name: Opponent(name, seat_grace) for name in bots}
        if bots:
            from thudmud.bots.naming import name_bots  # noqa: PLC0415  (only they have levels)

            name_bots(self.hall, bots)
        position = at_once(self._store.position())
        at_once(self._store.subscribe(None, position, self._note_others, _never))
        at_once(put_up(self._store, self.hall.tables.values(), self._now))
        at_once(self._service.follow())

    def events(self, after: int = 0) -> list[str]:
        """Return what has happened, at all boards: a line of text for each event, in ASCII.

        Args:
            after: how many of them you have already. The others are returned.

        Raises:
            InvalidValueError: it is less than none.
        """
        if after < 0:
            raise InvalidValueError(f"nobody has {after} events")
        position = after
        for other in self._others:
            if other > position:
                break
            position += 1
        entries: list[Entry] = []
        at_once(self._store.subscribe(None, position, entries.extend, _never)).close()
        return [
            to_line(entry.stream, cast("Event", entry.event))
            for entry in entries
            if not _is_other(entry)
        ]

    def open_board(self, name: str, now: float, rules: str = DEFAULT_RULES.name) -> list[Message]:
        """Open a board, behind all others, and return what is told.

        What happens at it is among `events`, but not that it is there:
        the next house has to be given it.

        Args:
            name: what it is called, its noun last. It is its key as well.
            now: the time.
            rules: the name of the ruleset that it begins with.

        Raises:
            Refused: nothing can be called that, or another board is.
            ValueError: there are no such rules.
        """
        require_time(now)
        spec = BoardSpec(name, rules)
        return self._drive(open_board(self._store, name, spec.rules, now), now)

    def rename_board(self, name: str, new: str, now: float) -> list[Message]:
        """Call a board something else, and return what is told. Its key, and all else, stays.

        Raises:
            Refused: there is no such board, nothing can be called that, or another board is.
        """
        require_time(now)
        return self._drive(rename_board(self._store, name, new, now), now)

    def close_board(self, name: str, now: float) -> list[Message]:
        """Close a board, and return what is told. A match that is under way there is put away.

        Raises:
            Refused: there is no such board.
        """
        require_time(now)
        return self._drive(close_board(self._store, name, now), now)

    def settle(self, now: float) -> list[Message]:
        """Mark as away all who have a seat and are not here, and return what is told."""
        require_time(now)
        return self._drive(self._service.settle(), now)

    @property
    def due(self) -> float | None:
        """When `pass_time` has something to do next, unless somebody does something before."""
        moments = [due(table) for table in self.hall.tables.values()]
        moments += [each.next_time(self._now) for each in self._opponents.values()]
        return min((moment for moment in moments if moment is not None), default=None)

    @property
    def bot_turns(self) -> list[BotTurn]:
        """Where it is a bot's turn. Find out what to play, however long that takes: `play_bot`."""
        bots = self._opponents.items()
        return [BotTurn(name, task) for name, opponent in bots for task in opponent.tasks()]

    def play_bot(
        self, turn: BotTurn, ply: str, now: float, worth: int | None = None
    ) -> list[Message]:
        """Let a bot play, and return what everybody is told: nothing if it is its turn no longer.

        Args:
            turn: one of `bot_turns`.
            ply: as records write it.
            now: the time.
            worth: what the bot thinks that its side is worth, in hundredths of a dwarf. By that it
                knows when to offer the end of a battle, or to resign.

        Raises:
            ValueError: it is no ply, or the rules refuse it.
        """
        if turn not in self.bot_turns:
            return []
        if worth is not None:
            self._opponents[turn.bot].weighed(turn.task, worth)
        return self.obey(turn.bot, turn.task.command(ply), now)

    def pass_time(self, now: float) -> list[Message]:
        """Return what is told since time has passed: flags fall, and who does not move is warned.

        Without it that comes with the next line about the board.
        """
        require_time(now)
        return self._drive(self._service.pass_time(), now)

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
        """Let a player in, and return what everybody is told.

        They come to where a seat of theirs was kept, or else to the hall, from where they walk up
        to a board; or to the board that you say, where they are shown it.

        Args:
            name: what they are called. A name that `name_problem` has nothing against can be typed
                in every command; others are shown, but nobody can tell them anything.
            now: the time.
            terminal: what their client can show, if it is not a plain one of 80 columns; `fit`
                changes it.
            room: the board where they are, in any case, if it is you who says who stands where.
            member: whether they have an account, so that their battles can count for ratings.
            profile: how they want to see things, whom they ignore and follow, and what they say
                about themselves, as far as that is known.
            quiet: whether they only stand about: nobody is told that they come or go, but at a
                seat.
            watcher: for a program that plays: what is called with all that happens and concerns
                it, as it happened. It has no screen then.

        Raises:
            ValueError: nobody can have that name, or somebody of that name, in any case, is here,
                or somebody has a seat or an adjourned match who spells it with other capitals; or
                there is no such board.
        """
        require_name(name)
        require_time(now)
        if here := self.hall.people.names.get(name.lower()):
            raise ValueError(f"{here} is here already")
        if kept := kept_for(self.hall, name, at_once(self._service.adjourned(name))):
            raise ValueError(f"{kept} has a seat or a match here, so {name} is no name to take")
        if room is not None and self.hall.tables.spelt(room) not in self.hall.tables:
            raise ValueError(f"there is no {room}")
        arrival = Arrival(
            name,
            None if watcher else terminal or Terminal(),
            watcher=watcher,
            room=room,
            member=member,
            profile=profile,
            quiet=quiet,
        )
        joining = self._service.join(arrival)
        return self._drive(joining, now)

    def take_over(self, name: str, terminal: Terminal, now: float) -> list[Message]:
        """Let a player who is here go on from another screen, and return what is told.

        Raises:
            ValueError: nobody of that name is here.
        """
        self._require(name, now)
        return self._drive(self._service.join(Arrival(name, terminal)), now)

    def obey(self, name: str, line: str | Command, now: float) -> list[Message]:
        """Do what a player's line asks for, and return what everybody is told.

        Any line will do: what cannot be read, or is against the rules, is answered to the player,
        and changes nothing. After they have quit, a player is here no longer.

        Raises:
            ValueError: nobody of that name is here; or the line is neither text nor a command.
        """
        visit = self._require(name, now)
        if not isinstance(line, str | Command):
            raise InvalidValueError(f"a line should be a str, not {type(line).__name__}")
        return self._drive(self._service.submit(visit, line), now)

    def ask(self, name: str, line: str, now: float) -> list[Message]:
        """Return the facts that a program of a player's asks for; see ``Terminal.packages``.

        A line that is no question, such as ``moves a6``, does nothing: nothing is changed by this.

        Raises:
            ValueError: nobody of that name is here.
        """
        visit = self._require(name, now)
        return self._drive(self._service.ask(visit, line), now)

    def depart(self, name: str, now: float, parting: Parting = Parting.LOST) -> list[Message]:
        """See out a player who is gone, and return what everybody is told; a seat is kept.

        Args:
            name: who.
            now: the time.
            parting: how they left. Who has lost the connection is told nothing more. With
                ``Parting.QUIT``, as by typing "quit", or ``Parting.LEFT``, as by walking away, a
                seat is given up where no match is under way.

        Raises:
            ValueError: nobody of that name is here.
        """
        visit = self._require(name, now)
        return self._drive(self._service.leave(visit, parting), now)

    def fit(self, name: str, terminal: Terminal) -> None:
        """Take note of what the terminal of a player who is here can show."""
        self._service.fit(name, terminal)

    def brief(self, name: str) -> list[Message]:
        """Return how things stand for a player, for a program of theirs that has just come."""
        return self._service.brief(name)

    def play_on(self, name: str) -> list[Message]:
        """Return the next ply of a battle that a player is being shown again; nothing if none."""
        self._service.play_on(name)
        return self._taken()

    def is_replaying(self, name: str) -> bool:
        """Whether a player is being shown a battle again, ply after ply."""
        return self._service.is_replaying(name)

    def stop_playing(self, name: str) -> None:
        """Stop at the ply that is shown."""
        self._service.stop_playing(name)

    def __contains__(self, name: object) -> bool:
        """Whether a player of that name is here."""
        return name in self._service

    def name_problem(self, name: str) -> str | None:
        """Return why nobody can be called that, as a sentence, or None if somebody can."""
        return self._service.name_problem(name)

    def needs(self, name: str) -> bool:
        """Whether a seat is kept, or a match put away, for a player of that name, in any case."""
        return at_once(self._service.needs(name))

    def is_waiting(self, name: str) -> bool:
        """Whether a player is in a battle, and it is the other one's turn in all of theirs."""
        return self._service.is_waiting(name)

    def look_up(self, lookup: Lookup[AnswerT]) -> AnswerT:
        """Return what is known of the battles that were played.

        Args:
            lookup: one of those in `thudmud.play.archive`, such as ``ScoreLookup("Anna")``.
        """
        return cast("AnswerT", at_once(self._service.look_up(lookup)))

    def game(self, board: str) -> Game | None:
        """Return the battle on a board, named in any case, running or ended; None before the first.

        Raises:
            KeyError: there is no such board.
        """
        return self.hall.tables[self.hall.tables.spelt(board)].game

    @property
    def people(self) -> tuple[str, ...]:
        """The names of those who are here, in the order in which they came."""
        return tuple(self.hall.people)

    def _drive(self, work: Coroutine[Any, Any, object], now: float) -> list[Message]:
        """Do something at a time, and return what everybody is told."""
        self._now = now
        if self._left is not None:
            left, self._left = self._left, None
            at_once(self._service.hold_clocks(left))
        for name, opponent in self._opponents.items():
            if name not in self._visits:
                self._let_in(name, opponent)
        at_once(work)
        while self._opponents and self._bots_act():
            pass
        told, self._told = self._told, []  # that is `_taken`, for each line
        return told

    def _let_in(self, name: str, bot: Opponent) -> None:
        def watch(telling: Telling) -> None:
            bot.told(telling, self._now)

        at_once(self._service.join(Arrival(name, None, watcher=watch, quiet=True)))
        for table in self.hall.tables.seats_of(name):
            watch(Telling(Asked(name, ViewGame(), table.name), (name,), table))

    def _bots_act(self) -> bool:
        """Do what bots do by themselves; return whether any of them has done something."""
        acted = False
        for name, bot in self._opponents.items():
            commands = bot.commands(self._now)
            while bot.invitations:
                asked = bot.invitations.pop(0)
                commands.append(Join(asked.side, asked.board, asked.level))
            for command in commands:
                at_once(self._service.submit(self._visits[name], command))
                acted = True
        return acted

    def _taken(self) -> list[Message]:
        told, self._told = self._told, []
        return told

    def _note_others(self, entries: Iterable[Entry]) -> None:
        self._others += [each.position for each in entries if _is_other(each)]

    def _bring_in(self, lines: Iterable[str]) -> float | None:
        """Store and fold what has happened before; nobody is told. Return when the last was."""
        past = _Past(self.hall)
        try:
            at_once(self._store.bring_in(past.events(lines), past.stored.append))
        except (ThudmudError, ValueError, LookupError) as error:
            if past.place is None:
                raise
            key, version = past.place
            why = "the match is not put away" if isinstance(error, Conflict) else error
            what = f"{key!r:.50}, event {version}: {why}"
            raise InvalidValueError(f"the events of a house do not fit together: {what}") from error
        self._others = past.copies
        return past.last

    def _require(self, name: str, now: float) -> Visit:
        require_time(now)
        visit = self._visits.get(name)
        if visit is None:
            raise ValueError(f"{name} is not here")
        return visit


class _Past:
    """What has happened before, at the boards of a hall and at others.

    It is folded to see whether it can have happened. Most of it is plies in a row: only the battle
    is folded with these, and the table when something else happens at the board.

    Args:
        hall: the boards, which come to stand as what has happened left them.

    Attributes:
        place: the key of the board of the event that is being looked at, and which of its events it
            is; None while a line is read.
        stored: the entries of that event, once it is stored.
        copies: the positions of what is stored of matches besides what is stored of the boards.
        last: when the last of it happened; None if nothing has.
    """

    def __init__(self, hall: Hall) -> None:
        self.place: tuple[str, int] | None = None
        self.stored: list[Entry] = []
        self.copies: list[int] = []
        self.last: float | None = None
        self._hall = hall
        self._here = {table.key: name for name, table in hall.tables.items()}
        self._elsewhere: dict[str, Table] = {}
        """Boards that stand here no longer, by key."""
        self._versions: Counter[str] = Counter()
        self._runs: dict[str, tuple[Game, float]] = {}
        """By key, the battles that may have come further than their tables, and since when."""

    def events(self, lines: Iterable[str]) -> Iterator[tuple[str, Event]]:
        """Yield what has happened, and where; before the next is asked for, it has to be stored.

        Raises:
            InvalidValueError: it cannot have happened, or another ThudmudError, or LookupError.
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
                self._take(entry)
            self.stored.clear()
            self.last = event.at if self.last is None else max(self.last, event.at)
            self.place = None
        for key in list(self._runs):
            self._end_run(key)

    def _take(self, entry: Entry) -> None:
        """Fold what was stored of an event."""
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
        """Bring a table to where the plies in a row have brought its battle."""
        run, table = self._runs.pop(key, None), self._table(key)
        if run and table.match and run[0] is not table.game:
            match, version = table.match.with_game(run[0], None), self._versions[key]
            self._put(
                replace(table, match=match, version=version, since=run[1], excused=0.0, warned=None)
            )

    def _require(self, key: str, event: Event) -> None:
        if not is_board_key(key):
            raise InvalidValueError("it is of no board")
        self._end_run(key)
        if not isinstance(event, Imported):
            require_fit(self._table(key), event)
        elif key in self._here or key in self._elsewhere:
            raise InvalidValueError("it was played elsewhere")
        else:
            game_of([event])

    def _fold(self, key: str, event: TableEvent, entry: Entry) -> None:
        if key in self._here:
            self._hall.restore(self._here[key], entry.version - 1, [(event, entry.battle)])
        else:
            self._elsewhere[key] = self._table(key).apply(event, entry.battle)
        table = self._table(key)
        # Who is away misses each ply, and a clock is pressed by it.
        if table.game and table.running and not table.away and table.clock is None:
            self._runs[key] = table.game, table.since

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
    """Whether an entry is not of a board that stays: a match put away is stored in two streams."""
    is_made = entry.stream.startswith(MADE)
    return entry.stream == HALL or is_made or is_of_a_match(entry.stream)


def _require_boards(boards: Sequence[BoardSpec], *, any_names: bool) -> None:
    if not boards:
        raise InvalidValueError("a house should have at least one board")
    for spec in boards:
        if not any_names and (problem := board_problem(spec.name)):
            raise InvalidValueError(f"the name of a board {problem}: {spec.name!r:.50}")
    name, times = Counter(spec.name.lower() for spec in boards).most_common(1)[0]
    if times > 1:
        raise InvalidValueError(f"each board should have a name of its own, not {name!r} twice")
    for key, times in Counter(spec.key for spec in boards).items():
        if times > 1 or not is_board_key(key):
            raise InvalidValueError(f"{key!r:.50} cannot be the key of {counted(times, 'board')}")


def _never(error: StoreError) -> None:
    raise error  # what is in memory can be read
