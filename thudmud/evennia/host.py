"""The house of one board, and which of the people in it is which character of the MUD.

Nothing is sent or stored here: messages are returned, and so is what is to be stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evennia.utils.ansi import strip_ansi

from thudmud.evennia import preferences
from thudmud.evennia.screens import terminal
from thudmud.house import House
from thudmud.play.commands import Command, Style
from thudmud.play.events import Parting
from thudmud.play.hall import Person
from thudmud.play.options import Options
from thudmud.play.table import BoardSpec, Table
from thudmud.text import Message
from thudmud.text.display import Display, Terminal
from thudmud.text.messages import fitted
from thudmud.text.shown import drawn, standing
from thudmud.text.view import View

_LONGEST_NAME = 60


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
        self.names = dict(names)
        self._board = board
        self._characters: dict[int, Any] = {}
        """Those who are about, and those who have just gone, until they are told so."""

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

    def person(self, character: Any) -> Person | None:
        """Return who a character is in the house; None if they are not about."""
        return self.house.hall.people.get(self.names.get(character.id, ""))

    def meet(self, characters: Mapping[int, Any], now: float) -> list[Message]:
        """Let those who are about, by their ids, be in the house, and return what is told.

        Whoever else was about has walked away if somebody plays them still, else they are lost.
        """
        told = []
        for number, character in self._characters.items():
            if number not in characters and self.names[number] in self.house:
                walked = character.pk is not None and character.sessions.count()
                parting = Parting.LEFT if walked else Parting.LOST
                told += self.house.depart(self.names[number], now, parting)
        for character in characters.values():
            person = self.person(character)
            if person:
                self.house.fit(person.name, terminal(character.sessions.all()))
            else:
                told += self._come(character, now)
        return told + self.house.settle(now)

    def follow(self, before: BoardHost, now: float) -> None:
        """Let those be about who were when the board was called something else."""
        self.names = dict(before.names)
        for character in before._characters.values():
            was = before.person(character)
            if was:
                self._come(character, now)
                person = self.house.hall.people[was.name]
                person.replay = was.replay
                if not was.styles:
                    person.styles.clear()

    def obey(self, character: Any, command: Command, now: float) -> list[Message]:
        """Do what somebody asks for, and return what everybody is told; nothing if they are gone.

        What they choose by it is kept with the character.
        """
        person = self.person(character)
        if not person:
            return []
        chosen = preferences.styles(character)
        if self._board not in chosen:
            person.styles.clear()  # they use it: from now on they are shown all of it
        before = person.options, dict(person.styles)
        self.house.stop_playing(person.name)
        told = self.house.obey(person.name, command, now)
        if (person.options, person.styles) != before:
            if person.styles:
                chosen[self._board] = person.styles[self.table.name]
            preferences.keep(character, person.options, chosen)
        return told

    def heed(self, character: Any) -> None:
        """Show things to somebody as they want to see everything now."""
        person = self.person(character)
        if person:
            person.options = preferences.options(character)

    def seen_from_afar(self, screen: Terminal) -> str:
        """Return the board as it stands, for who is not about."""
        view = View(None, Style.FULL, Display.of(screen, Options()))
        rows = drawn(self.table, view) + standing(self.table, view)
        return "\n".join(fitted(rows, view.display))

    def addressed(self, messages: Iterable[Message]) -> Iterator[tuple[Any, Message]]:
        """Yield who is to be sent which message; those who have just gone, for the last time."""
        to = {self.names[number]: each for number, each in self._characters.items()}
        self._forget()
        for message in messages:
            yield from ((to[name], message) for name in message.to if name in to)

    def _come(self, character: Any, now: float) -> list[Message]:
        """Let somebody in, and return what is told: nothing, but for who was away from a seat.

        Who has no seat, and has chosen no style, is shown one line of the board, not all of it,
        until they use it.
        """
        name = self.names[character.id] = self._name(character)
        self._characters[character.id] = character
        unchosen = None if self.sits(character.id) else Style.BRIEF
        style = preferences.styles(character).get(self._board, unchosen)
        return self.house.enter(
            name,
            now,
            terminal(character.sessions.all()),
            room=self.table.name,
            member=True,
            styles={self.table.name: style} if style else {},
            options=preferences.options(character),
            quiet=True,
        )

    def _name(self, character: Any) -> str:
        """Return what to call somebody: as they are called, unless another is called so here."""
        kept = self.names.get(character.id)
        if kept is not None:
            return kept
        shown = "".join(filter(str.isprintable, strip_ansi(character.key)))
        name = " ".join(shown.split())[:_LONGEST_NAME].strip() or "somebody"
        others = {known.lower() for known in self.names.values()}
        while name.lower() in others:
            name = f"{name} #{character.id}"
        return name

    def _forget(self) -> None:
        """Forget those who are not about, and their names if they have nothing to come back to."""
        self._characters = {
            number: character
            for number, character in self._characters.items()
            if self.names[number] in self.house
        }
        self.names = {
            number: name
            for number, name in self.names.items()
            if number in self._characters or self.house.needs(name)
        }
