"""Hears what other nodes tell of their players, who are in this hall as well."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from thudmud.play.asides import (
    Aside,
    CameIn,
    Emoted,
    Entered,
    Gone,
    ObserveChosen,
    Spoke,
    StyleChosen,
    WentOut,
)
from thudmud.play.hall import Decision, Hall
from thudmud.play.people import Person
from thudmud.service.broadcasting import Broadcaster


class Neighbours:
    """Applies and tells what happened on other nodes and is not stored.

    Args:
        hall: the boards and the people.
        broadcaster: tells those who are here.
    """

    def __init__(self, hall: Hall, broadcaster: Broadcaster) -> None:
        self._hall, self._broadcaster = hall, broadcaster
        self._on_the_way: dict[str, CameIn] = {}
        """By name, players who came to a board on another node that is unknown here yet."""

    def people_here(self) -> tuple[Entered, ...]:
        """Return who is here, where, and with which preferences, for another node."""
        return tuple(entered(self._hall.people[name]) for name in self._broadcaster.visits)

    def hear(self, asides: Iterable[Aside]) -> None:
        """Apply and tell what happened on another node, or note who is there."""
        for aside in asides:
            name = aside.player
            person = self._hall.people.get(name)
            if isinstance(aside, CameIn | Gone):
                self._on_the_way.pop(name, None)  # they have gone elsewhere by now
            if name in self._broadcaster.visits:
                continue  # they came in here before this was heard
            match aside:
                case Entered() if person:
                    room = aside.room if aside.room in self._hall.tables else None
                    if room != person.room:  # the aside that told it was lost
                        self._broadcaster.carry_out(
                            Decision(name, asides=(CameIn(name, room),)), told=False, crosses=False
                        )
                    person.member, person.active = aside.member, aside.active
                    self._hall.people.adopt(person, aside)
                    self._hall.observe(name, self._known_boards(aside.observed))
                    continue
                case Gone() if person:
                    aside = self._gone(aside, person)  # noqa: PLW2901
                case ObserveChosen(observed=observed):
                    aside = replace(aside, observed=self._known_boards(observed))  # noqa: PLW2901
                case StyleChosen(_, board, style) if person and board not in self._hall.tables:
                    person.styles[board] = style
                    continue
                case Entered(room=str(room)) if room not in self._hall.tables:
                    aside = replace(aside, room=None)  # noqa: PLW2901
                case CameIn(room=str(room)) if room not in self._hall.tables:
                    self._on_the_way[name] = aside  # the board may be opened here soon
                    continue
                case Spoke(room=str(room)) | Emoted(room=str(room)) | WentOut(room=str(room)):
                    if room not in self._hall.tables:
                        continue
            if person or isinstance(aside, Entered):
                self._broadcaster.carry_out(Decision(name, asides=(aside,)), crosses=False)

    def _known_boards(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of some boards that are known here."""
        return tuple(name for name in names if name in self._hall.tables)

    def _gone(self, gone: Gone, person: Person) -> Gone:
        """Return the aside with the room as it is known here. At a seat it was told already."""
        table = self._hall.tables.get(person.room) if person.room else None
        is_told = gone.told or bool(table and table.side_of(person.name) in table.away)
        return replace(gone, room=person.room, told=is_told)

    def opened(self, board: str) -> None:
        """Move those to a newly opened board who came to it on other nodes."""
        for name, came in list(self._on_the_way.items()):
            if came.room == board:
                self.hear([self._on_the_way.pop(name)])


def entered(person: Person) -> Entered:
    """Return what another node has to know of a player who is here."""
    styles = tuple(person.styles.items())
    return Entered(
        person.name,
        person.room,
        person.member,
        styles,
        person.options,
        ignored=person.ignored,
        news=person.news,
        followed=person.followed,
        plan=person.plan,
        observed=person.observed,
        active=person.active,
    )
