"""The house of one board, and which of its players is which character of the MUD.

Owns who is about the board, and under which name. Must never send anything, nor store it: it
returns messages, and what is to be stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evennia.utils.ansi import strip_ansi

from thudmud.evennia import preferences
from thudmud.evennia.screens import terminal
from thudmud.house import House
from thudmud.play.asides import Entered, OptionChosen, StyleChosen
from thudmud.play.commands import Command, Style
from thudmud.play.events import Parting
from thudmud.play.hall import Decision
from thudmud.play.options import Options
from thudmud.play.table import BoardSpec, Table
from thudmud.play.table_decisions import part
from thudmud.text import Message
from thudmud.text.display import Display, Terminal
from thudmud.text.messages import fitted
from thudmud.text.shown import drawn, standing
from thudmud.text.view import View

_LONGEST_NAME = 60

Characters = Mapping[int, Any]
"""Characters by their ids."""


class BoardHouse(House):
    """The house of one board, which is called whatever its builder wants."""

    def _require_boards(self, boards: Sequence[BoardSpec]) -> None:
        """Accept any name: Evennia finds the board, not a player's words."""


class BoardHost:
    """Lets the characters about a board play on its house.

    Args:
        house: the house, of one board. Nobody is in it until they `meet`.
        board: what the board's style is kept under, with those who have chosen one.
        names: what those are called there who are known already, by their characters' ids.
    """

    def __init__(self, house: House, board: str, names: Mapping[int, str]) -> None:
        self.house = house
        self._board = board
        self.names = dict(names)
        self._here: dict[int, Any] = {}
        self._gone: dict[int, Any] = {}
        self._glancing: set[str] = set()
        """Who has not come to play: they are not shown the whole board time and again."""

    @property
    def table(self) -> Table:
        """The board as it stands."""
        return next(iter(self.house.hall.tables.values()))

    @property
    def kept_names(self) -> dict[int, str]:
        """What those are called, by their ids, who have something here to come back to."""
        return {number: name for number, name in self.names.items() if self.house.needs(name)}

    def knows(self, character: Any) -> bool:
        """Whether somebody is about, or has a seat or a match that was put away."""
        return character.id in self.names

    def sits(self, number: int) -> bool:
        """Whether the character with an id has a seat."""
        name = self.names.get(number)
        return name is not None and self.table.side_of(name) is not None

    def player(self, character: Any) -> str | None:
        """Return what somebody who is about is called."""
        return self.names[character.id] if character.id in self._here else None

    def meet(self, characters: Characters, now: float) -> list[Message]:
        """Let those who are about be the ones who are told of things, and return what is told.

        Whoever else was about is gone; a seat is kept in a match under way.
        """
        told = []
        for number in [each for each in self._here if each not in characters]:
            told += self._leave(number, now)
        for number, character in characters.items():
            if number not in self._here:
                told += self._come(character, now)
            self.house.fit(self.names[number], terminal(character.sessions.all()))
        return told + self._miss(now)

    def follow(self, before: BoardHost, now: float) -> None:
        """Let those be about who were when the board was called something else."""
        self.names = dict(before.names)
        for number, character in before._here.items():
            name = self.names[number]
            self._come(character, now)
            was, person = before.house.hall.people[name], self.house.hall.people[name]
            person.replay = was.replay
            if name in self._glancing - before._glancing:
                self._take_part(name)

    def obey(self, character: Any, command: Command, now: float) -> list[Message]:
        """Do what somebody who is about asks for, and return what everybody is told."""
        name = self.names[character.id]
        self.house.stop_playing(name)
        if name in self._glancing:
            self._take_part(name)
        plan = self.house.plan_command(name, command, now)
        chosen = any(
            isinstance(aside, OptionChosen | StyleChosen)
            for decision in plan.decisions
            for aside in decision.asides
        )
        told = [*plan.messages, *self._carried_out(plan.decisions)]
        if chosen:
            person = self.house.hall.people[name]
            _, styles = preferences.kept(character)
            if self.table.name in person.styles:
                styles[self._board] = person.styles[self.table.name]
            preferences.keep(character, person.options, styles)
        return told

    def heed(self, character: Any) -> None:
        """Show things to somebody as they want to see everything now."""
        name = self.player(character)
        if name:
            self.house.hall.people[name].options, _ = preferences.kept(character)

    def seen_from_afar(self, screen: Terminal) -> str:
        """Return the board as it stands, for who is not about."""
        view = View(None, Style.FULL, Display.of(screen, Options()))
        rows = drawn(self.table, view) + standing(self.table, view)
        return "\n".join(fitted(rows, view.display))

    def play_on(self, character: Any) -> list[Message]:
        """Show the next ply of a replay to somebody, if one is going on."""
        name = self.player(character)
        return self.house.play_on(name) if name and self.house.is_playing(name) else []

    def is_playing(self, character: Any) -> bool:
        """Whether somebody is shown a replay, ply after ply."""
        name = self.player(character)
        return name is not None and self.house.is_playing(name)

    def is_replaying(self, character: Any) -> bool:
        """Whether somebody is seeing a battle again, going on or not."""
        name = self.player(character)
        return name is not None and self.house.hall.people[name].replay is not None

    def addressed(self, messages: Iterable[Message]) -> Iterator[tuple[Any, Message]]:
        """Yield who is to be sent which message; those who have just gone, for the last time."""
        characters = self._here | self._gone
        self._gone = {}
        to = {self.names[number]: one for number, one in characters.items() if number in self.names}
        self._forget()
        for message in messages:
            yield from ((to[name], message) for name in message.to if name in to)

    def _come(self, character: Any, now: float) -> list[Message]:
        """Let somebody in, and return what is told: nothing, but for who was away from a seat."""
        name = self.names[character.id] = self._name(character)
        self._here[character.id] = character
        options, known = preferences.kept(character)
        style = known.get(self._board)
        side = self.table.side_of(name)
        if side is None and style is None:
            style = Style.BRIEF
            self._glancing.add(name)
        styles = {self.table.name: style} if style else {}
        self.house.fit(name, terminal(character.sessions.all()))
        if side in self.table.away:
            back = self.house.arrive(name, now, member=True, styles=styles, options=options)
            return self._carried_out(back)
        entered = Entered(name, self.table.name, True, tuple(styles.items()), options)  # noqa: FBT003 (a field)
        self._carried_out([Decision(name, asides=(entered,))])
        return []

    def _take_part(self, name: str) -> None:
        """Show the whole board, from now on, to somebody who has only glanced at it."""
        self._glancing.discard(name)
        self.house.hall.people[name].styles.clear()

    def _leave(self, number: int, now: float) -> list[Message]:
        """Let somebody go, and return what is told."""
        character, name = self._here.pop(number), self.names[number]
        self._gone[number] = character
        walked = character.pk is not None and bool(character.sessions.count())
        parting = Parting.LEFT if walked else Parting.LOST
        told = []
        if walked and self.table.side_of(name) and not self.table.under_way:
            events = part(self.table, name, parting, now)
            told = self._carried_out([Decision(name, self.table.name, self.table.version, events)])
        return told + self._see_out(name, parting, now)

    def _miss(self, now: float) -> list[Message]:
        """Note who has a seat and is not about since the MUD was stopped; return what is told."""
        missing = [name for name in self.table.seats.values() if name not in self.house]
        return [
            message
            for name in missing
            for message in self._carried_out(
                self.house.presence(name, self.table.name, now, Parting.RESTART)
            )
        ]

    def _see_out(self, name: str, parting: Parting, now: float) -> list[Message]:
        *seats, gone = self.house.part(name, now, parting)
        told = self._carried_out(seats)
        self._glancing.discard(name)
        self._carried_out([gone])
        return told

    def _name(self, character: Any) -> str:
        """Return what to call somebody: as they are called, unless another is called so here."""
        kept = self.names.get(character.id)
        if kept is not None:
            return kept
        shown = "".join(filter(str.isprintable, strip_ansi(character.key)))
        name = " ".join(shown.split())[:_LONGEST_NAME].strip() or "somebody"
        others = {known.lower() for known in self.names.values()}
        return f"{name} #{character.id}" if name.lower() in others else name

    def _forget(self) -> None:
        """Forget the names of those who are not about and have nothing here to come back to."""
        self.names = {
            number: name
            for number, name in self.names.items()
            if number in self._here or self.house.needs(name)
        }

    def _carried_out(self, decisions: Iterable[Decision]) -> list[Message]:
        return [message for each in decisions for message in self.house.carry_out(each)]
