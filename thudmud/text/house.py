"""The whole of thudmud without a socket: named players type lines, readers are told text.

Owns what is done at once for whoever keeps no journal, and the state of it all, to be kept and gone
on with. Must never know a socket, a clock or a disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from thudmud.errors import InvalidValueError
from thudmud.language.names import board_problem
from thudmud.play.commands import Style
from thudmud.play.events import Parting, require_name, require_time
from thudmud.play.hall import Unread, kept_for
from thudmud.play.options import Options
from thudmud.play.refusals import Refusal, Refused
from thudmud.play.table import BoardSpec
from thudmud.rules import Game
from thudmud.text.display import Terminal
from thudmud.text.plan import Message
from thudmud.text.premises import Premises
from thudmud.text.state import read_state, write_state


class House(Premises):
    """A hall of boards, or a single one, and the people in it, in text.

    A house is told who comes in (`enter`), what they type (`obey`) and who is gone (`depart`), and
    answers each time with the messages that everybody is to be told. All of it is kept as JSON
    (`state`), and gone on with (`from_state`).

    Times are seconds since the epoch; nothing here asks a clock. Nothing here is random: the same
    calls give the same answers. A house is for one thread, or for one at a time.

    Attributes:
        hall: the boards and the people as values of `thudmud.play`, to be looked at.

    Args:
        boards: the boards, in the order in which they are listed; at least one, each with a name of
            its own that players can type.
        quiet_plies: after how many plies without a capture one player may end a battle alone;
            0 for never.
        seat_grace: how many seconds a player may be away before the others need not wait.
        most_games: how many battles that have ended are kept whole, for whoever wants to see one.

    Raises:
        InvalidValueError: there are no such boards. It says what would have been right.
    """

    def __init__(
        self,
        boards: Sequence[BoardSpec],
        quiet_plies: int = 200,
        seat_grace: float = 300.0,
        most_games: int = 100,
    ) -> None:
        _require_boards(boards)
        super().__init__(boards, quiet_plies, seat_grace, most_games)

    def enter(
        self,
        name: str,
        now: float,
        terminal: Terminal | None = None,
        *,
        room: str | None = None,
        member: bool = False,
        styles: Mapping[str, Style] | None = None,
        options: Options | None = None,
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
            styles: how they want to see boards, by the boards' names in any case.
            options: how they want to see everything, if that is known.

        Raises:
            ValueError: nobody can have that name, or somebody of that name, in any case, is here,
                or somebody has a seat or an adjourned match who spells it with other capitals; or
                there is no such board, or no such time.
        """
        require_name(name)
        require_time(now)
        if here := self.hall.names.get(name.lower()):
            raise ValueError(f"{here} is here already")
        if kept := kept_for(self.hall, name):
            raise ValueError(f"{kept} has a seat or a match here, so {name} is no name to take")
        if room is not None and self._called(room) not in self.hall.tables:
            raise ValueError(f"there is no {room}")
        self.fit(name, terminal or Terminal())
        return self._all(
            self.arrive(name, now, member=member, styles=styles, options=options, room=room)
        )

    def obey(self, name: str, line: str, now: float) -> list[Message]:
        """Do what a player's line asks for, and return what everybody is told.

        Any line will do: what cannot be read, or is against the rules, is answered to the player,
        and changes nothing. After they have quit, a player is here no longer.

        Raises:
            ValueError: nobody of that name is here, or there is no such time; or the line is no
                str.
        """
        self._require(name, now)
        if not isinstance(line, str):
            raise InvalidValueError(f"a line should be a str, not {type(line).__name__}")
        try:
            plan = self.plan(name, line, now)
        except Unread as unread:
            return [self.answer(name, str(Refused(Refusal.NOT_KEPT, number=unread.battle.number)))]
        told = [*plan.messages, *self._all(plan.decisions)]
        return told + self.play_at_once(name)

    def depart(self, name: str, now: float, parting: Parting = Parting.LOST) -> list[Message]:
        """See out a player who is gone, and return what everybody is told; a seat is kept.

        Args:
            name: who.
            now: the time.
            parting: how they left. Who has lost the connection is told nothing more. With
                ``Parting.QUIT``, as by typing "quit", a seat is given up where no match is under
                way.

        Raises:
            ValueError: nobody of that name is here, or there is no such time.
        """
        self._require(name, now)
        told = self._all(self.part(name, now, parting))
        return _without(name, told) if parting is Parting.LOST else told

    def game(self, board: str) -> Game | None:
        """Return the battle on a board, named in any case, running or ended; None before the first.

        Raises:
            KeyError: there is no such board.
        """
        return self.hall.tables[self._called(board)].game

    @property
    def people(self) -> tuple[str, ...]:
        """The names of those who are here, in the order in which they came."""
        return tuple(self.hall.people)

    def state(self) -> dict[str, Any]:
        """Return all of the house, of nothing but what JSON holds.

        Boards, battles and what can be seen of past ones, scores, who is here, who is away, how
        they want to see things and what they have missed.
        """
        return write_state(self.hall, self._terminals)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return a house that goes on where one of that state was, for everybody in it.

        Args:
            state: what `state` has returned, or what JSON has made of it; the order of keys does
                not matter.

        Raises:
            StateError: it is not the state of a house, or is damaged, or a later version of thudmud
                wrote it.
        """
        hall, terminals = read_state(state)
        # Any board will do. Those of the state are not refused for their names: they may be from
        # before these were looked at, or be called what the board of another MUD is called.
        house = cls((BoardSpec("board"),), hall.quiet_plies, hall.seat_grace, hall.most_games)
        house.hall = hall
        for name, terminal in terminals.items():
            house.fit(name, terminal)
        return house

    def _require(self, name: str, now: float) -> None:
        require_time(now)
        if name not in self:
            raise ValueError(f"{name} is not here")


def _require_boards(boards: Sequence[BoardSpec]) -> None:
    if not boards:
        raise InvalidValueError("a house should have at least one board")
    for spec in boards:
        if problem := board_problem(spec.name):
            raise InvalidValueError(f"the name of a board {problem}: {spec.name!r:.50}")
    name, times = Counter(spec.name.lower() for spec in boards).most_common(1)[0]
    if times > 1:
        raise InvalidValueError(f"each board should have a name of its own, not {name!r} twice")


def _without(name: str, told: Iterable[Message]) -> list[Message]:
    """Return what all others are told."""
    others = [replace(each, to=tuple(to for to in each.to if to != name)) for each in told]
    return [each for each in others if each.to]
