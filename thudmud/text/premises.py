"""A hall and its people in text, for whoever stores what happens: each line in two steps.

Owns the way of a line, from the words that were typed to the words that everybody is told, each
distinct text made once. Must never know a socket, a clock or a disk: servers, scripts, tests and
other people's MUDs drive this very code.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from thudmud.language import ParseError, parse
from thudmud.language.names import player_problem
from thudmud.play.asides import TookOver
from thudmud.play.commands import Command, Go, Invite, Look, Step, Style, Way
from thudmud.play.events import Parting, SavedMatch, TableEvent
from thudmud.play.hall import Decision, Hall, claimants
from thudmud.play.hall_decisions import arrive, decide, part
from thudmud.play.lookups import Found
from thudmud.play.meaning import named
from thudmud.play.options import Options
from thudmud.play.refusals import Refusal, Refused
from thudmud.play.table import BoardSpec
from thudmud.play.table_decisions import come_back, vanish
from thudmud.rules import IllegalMove
from thudmud.text import rooms
from thudmud.text.display import Display, Screens, Terminal
from thudmud.text.facts import concerning
from thudmud.text.messages import display_of, fitted, messages, sent
from thudmud.text.mistakes import explain, refused
from thudmud.text.plan import Message, Plan
from thudmud.text.words import wrapped

GREETING = (
    "Welcome to thudmud, where people\n"
    "play Thud, the board game of dwarfs\n"
    "and trolls. Come in with a name of\n"
    'your own; then "help" tells the rest.\n'
    "With a screen reader, say\n"
    '"options reader on", now or later.'
)
NARROWEST = 40
"""How many columns the greeting fits."""

PLIES_AT_ONCE = 20
"""How many plies of a battle a line shows where there are no pauses between them."""


class Premises:
    """A hall of boards, and the people in it, in text; every line in two steps.

    `plan` says what a line would bring about, `carry_out` makes that so. Whoever must write events
    down first does so between the two. `thudmud.house.House` is both at once.

    Args:
        boards: the boards, in the order in which they are listed.
        quiet_plies: after how many plies without a capture one player may end a battle alone;
            0 for never.
        seat_grace: how many seconds a player may be away before the others need not wait.
    """

    def __init__(
        self,
        boards: Sequence[BoardSpec],
        quiet_plies: int = 200,
        seat_grace: float = 300.0,
    ) -> None:
        self.hall = Hall(boards, quiet_plies, seat_grace)
        self._terminals = Screens()

    @property
    def greeting(self) -> str:
        """What is shown before anything is known of a screen."""
        bot = min(self.hall.bots, default=None)
        if bot is None:
            return GREETING
        alone = f'Nobody to play with? Take a seat at a board, and type "{Invite(bot.lower())}".'
        return "\n".join([GREETING, *wrapped(alone, NARROWEST)])

    def __contains__(self, name: object) -> bool:
        """Whether a player of that name is here."""
        return name in self.hall.people

    def name_problem(self, name: str) -> str | None:
        """Return why nobody can be called that, as a sentence, or None if somebody can."""
        return player_problem(name, self.hall.board_words)

    # People.

    def arrive(
        self,
        name: str,
        now: float,
        *,
        member: bool = False,
        styles: Mapping[str, Style] | None = None,
        options: Options | None = None,
        room: str | None = None,
        adjourned: bool = False,
    ) -> tuple[Decision, ...]:
        """Return what happens when a player whose name has no problem comes in.

        What is known of their terminal is to be told before, see `fit`.

        Args:
            name: what they are called; nobody of that name is here.
            now: the time, in seconds since the epoch.
            member: whether they have an account.
            styles: how they want to see boards, by the boards' names in any case.
            options: how they want to see everything, if that is known.
            room: the board that they come to, in any case; without one they come to where a seat of
                theirs was kept, or else to the hall.
            adjourned: whether a match of theirs is put away.
        """
        styles = {self._called(board): style for board, style in (styles or {}).items()}
        room = None if room is None else self._called(room)
        arriving = arrive(
            self.hall,
            name,
            now,
            member=member,
            styles=styles,
            options=options,
            room=room,
            adjourned=adjourned,
        )
        return tuple(arriving)

    def part(self, name: str, now: float, parting: Parting = Parting.LOST) -> tuple[Decision, ...]:
        """Return what happens when a player is gone."""
        return tuple(part(self.hall, name, parting, now))

    def take_over(self, name: str) -> list[Message]:
        """Let a player go on from another screen, which is told of before, see `fit`."""
        taken = TookOver(name, self.hall.people[name].room)
        return self.carry_out(Decision(name, asides=(taken,)))

    def enrol(self, name: str) -> None:
        """Take note that a player has an account now."""
        self.hall.people[name].member = True

    def fit(self, name: str, terminal: Terminal) -> None:
        """Take note of what a player's terminal can show, now or as soon as they come in."""
        self._terminals.fit(name, terminal.nearest())

    def brief(self, name: str) -> list[Message]:
        """Return how things stand for a player, for a program of theirs that has just come."""
        known = concerning(self.hall, name) if name in self else ()
        return sent(known, (name,), self._terminals)

    def close(self, sentence: str) -> list[Message]:
        """Tell everybody the same."""
        return [Message(tuple(self.hall.people), sentence)] if self.hall.people else []

    def is_waiting(self, name: str) -> bool:
        """Whether a player is in a battle, and it is the other one's turn in all of theirs."""
        running = [table for table in self.hall.seats_of(name) if table.running and table.game]
        turns = [table.game.position.turn is table.side_of(name) for table in running if table.game]
        return bool(running) and not any(turns)

    # Lines.

    def plan(self, name: str, line: str, now: float, found: Found | None = None) -> Plan:
        """Return what a player's line comes to, and change nothing.

        Args:
            name: a player who is here.
            line: what they typed. Any text will do; a blank line does nothing.
            now: the time, in seconds since the epoch.
            found: what has been looked up for it.

        Raises:
            Unread: something has to be looked up first.
        """
        if not line.strip():
            return Plan()
        try:
            command = parse(line)
        except ParseError as error:
            display = self._display(name)
            lines = explain(error, display.width, pointing=not display.reader)
            return Plan(messages=(self._lines(name, lines),))
        return self.plan_command(name, command, now, found)

    def plan_command(
        self, name: str, command: Command, now: float, found: Found | None = None
    ) -> Plan:
        """Return what a command comes to, as `plan` does."""
        try:
            return Plan(command, tuple(decide(self.hall, name, command, now, found)))
        except (Refused, IllegalMove) as refusal:
            meant = named(self.hall, name, _words(command))
            said = " ".join([refused(refusal), *self._advice(refusal)])
            return Plan(command, (meant,), (self.answer(name, said),))

    def answer(self, name: str, sentence: str) -> Message:
        """Return a sentence for one player, as it fits their screen."""
        return self._lines(name, wrapped(sentence, self._display(name).width))

    def carry_out(self, decision: Decision) -> list[Message]:
        """Make a decision so, and return what everybody is told.

        After they have quit, a player is here no longer.
        """
        tellings = self.hall.commit(decision)
        told = [each for one in tellings for each in messages(self.hall, one, self._terminals)]
        if decision.player not in self.hall.people:
            self._terminals.forget(decision.player)
        return told

    def is_playing(self, name: str) -> bool:
        """Whether a player is being shown a battle again, ply after ply."""
        person = self.hall.people.get(name)
        return bool(person and person.replay and person.replay.playing)

    def play_on(self, name: str) -> list[Message]:
        """Show such a player the next ply."""
        return self._all(self.plan_command(name, Step(Way.PLAY), 0).decisions)

    def play_at_once(self, name: str) -> list[Message]:
        """Show such a player a few plies, and stop: everybody else waits meanwhile."""
        told: list[Message] = []
        for _ in range(1, PLIES_AT_ONCE):
            if not self.is_playing(name):
                return told
            told += self.play_on(name)
        if self.is_playing(name):
            self.stop_playing(name)
            told.append(self.answer(name, '"play" goes on.'))
        return told

    def stop_playing(self, name: str) -> None:
        """Stop at the ply that is shown."""
        person = self.hall.people.get(name)
        if person and person.replay:
            person.replay = replace(person.replay, playing=False)

    # What happened elsewhere, or before.

    @property
    def boards(self) -> Collection[str]:
        """The names of the boards."""
        return self.hall.tables.keys()

    def version(self, board: str) -> int:
        """Return how many events have come to a board."""
        return self.hall.tables[self._called(board)].version

    def restore(
        self, board: str, version: int, events: Iterable[tuple[TableEvent, int | None]]
    ) -> None:
        """Make events at a board so that nobody here has seen, see `Hall.restore`."""
        self.hall.restore(self._called(board), version, events)

    def seated(self, board: str) -> tuple[str, ...]:
        """Return the names of those who have seats at a board."""
        return tuple(self.hall.tables[self._called(board)].seats.values())

    def presence(self, name: str, board: str, now: float, parting: Parting) -> tuple[Decision, ...]:
        """Return what it takes to note, at a board, that a player is here, or is not.

        Args:
            name: who; nothing has to be noted of who has no seat there.
            board: which one.
            now: the time, in seconds since the epoch.
            parting: how they left, if they are not here.
        """
        table = self.hall.tables[self._called(board)]
        if not table.side_of(name):
            return ()
        here = name in self
        events = come_back(table, name, now) if here else vanish(table, name, parting, now)
        return (Decision(name, table.name, table.version, events),) if events else ()

    def is_claimed(self, name: str, adjourned: Iterable[SavedMatch]) -> bool:
        """Whether a seat is kept for a player of that name, in any case, or one of these matches.

        Args:
            name: the name.
            adjourned: the matches of a player of that name that are put away.
        """
        return any(claimants(self.hall, name, adjourned))

    def _advice(self, refusal: Refused | IllegalMove) -> list[str]:
        """Return what may help somebody who plays alone."""
        alone = isinstance(refusal, Refused) and refusal.reason is Refusal.NEEDS_OPPONENT
        return rooms.seat_for_a_bot(self.hall) if alone else []

    def _called(self, board: str) -> str:
        """Return what a board is called that somebody names in any case; else the same again."""
        tables = self.hall.tables
        if board in tables:
            return board
        return next((each for each in tables if each.lower() == board.lower()), board)

    def _all(self, decisions: Iterable[Decision]) -> list[Message]:
        return [message for decision in decisions for message in self.carry_out(decision)]

    def _lines(self, name: str, lines: list[str]) -> Message:
        """Return lines for one player, in characters that their screen shows."""
        return Message((name,), "\n".join(fitted(lines, self._display(name))))

    def _display(self, name: str) -> Display:
        return display_of(self.hall, name, self._terminals)


def _words(command: Command) -> str | None:
    """Return the words for a board that a command holds, if any."""
    match command:
        case Look(words) | Go(words):
            return words
    return getattr(command, "on", None)
