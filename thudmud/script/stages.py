"""Where transcripts are played: the interface, and a stage without sockets.

Owns what a player can do on a stage. Must never know what a transcript says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from thudmud.errors import ThudmudError
from thudmud.script.comparing import Mismatch
from thudmud.script.parts import Act

if TYPE_CHECKING:  # "thudmud script --help" need not wait for a house
    from thudmud.house import House
    from thudmud.text import Message

Seen = Mapping[str, Sequence[str]]


class StageError(ThudmudError):
    """A step that cannot be played: a name that cannot be had, a server that is not there.

    ``mismatches`` are what did not fit before it.
    """

    mismatches: Sequence[Mismatch] = ()


class Stage(Protocol):
    """Where a transcript is played.

    Each method returns what each player has seen since the last one: lines, without empty ones. It
    raises StageError if the player cannot do that.
    """

    def enter(self, who: str) -> Seen:
        """Let a player come in."""

    def type(self, who: str, line: str) -> Seen:
        """Let a player type a line."""

    def vanish(self, who: str) -> Seen:
        """Cut a player's connection."""


@runtime_checkable
class PatientStage(Stage, Protocol):
    """A stage on which time passes: something may be seen although nobody does anything."""

    def wait(self, who: str, fits: Callable[[str], bool], seconds: float) -> Seen:
        """Let a player wait until they see a line that fits, or the time is up."""


class HouseStage:
    """A stage without sockets: the players stand in a house of this process.

    Args:
        house: where they stand.
        clock: gives the time, in seconds since the epoch.
    """

    def __init__(self, house: House, clock: Callable[[], float]) -> None:
        self._house, self._clock = house, clock

    def enter(self, who: str) -> Seen:
        """Let a player come in."""
        problem = self._house.name_problem(who)
        if problem:
            raise StageError(problem)
        now = self._clock()
        try:
            return _seen(self._house.enter(who, now))
        except ValueError as error:
            raise StageError(str(error)) from error

    def type(self, who: str, line: str) -> Seen:
        """Let a player type a line."""
        self._check_presence(who)
        return _seen(self._house.obey(who, line, self._clock()))

    def vanish(self, who: str) -> Seen:
        """Lose a player."""
        self._check_presence(who)
        seen = dict(_seen(self._house.depart(who, self._clock())))
        seen.pop(who, None)
        return seen

    def _check_presence(self, who: str) -> None:
        if who not in self._house:
            raise StageError(f"{who} is not here; a line {who}{Act.ENTER.value} lets them in")


class Stages:
    """The stages of one transcript, by name, each player on one of them.

    Args:
        stages: the stages; players who name none come in on the first.
    """

    def __init__(self, stages: Mapping[str, Stage]) -> None:
        self._stages = stages
        self._homes: dict[str, Stage] = {}

    def __contains__(self, who: str) -> bool:
        """Whether a player has come in here once."""
        return who in self._homes

    def enter(self, who: str, name: str = "") -> Seen:
        """Let a player come in, on the stage of that name or the one where they were."""
        first = next(iter(self._stages.values()))
        home = self._stages[name] if name else self._homes.get(who, first)
        self._homes[who] = home
        return home.enter(who)

    def type(self, who: str, line: str) -> Seen:
        """Let a player type a line."""
        return self._homes[who].type(who, line)

    def vanish(self, who: str) -> Seen:
        """Cut a player's connection."""
        return self._home(who).vanish(who)

    def wait(self, who: str, fits: Callable[[str], bool], seconds: float) -> Seen:
        """Let a player wait, where time passes; elsewhere there is nothing to wait for."""
        home = self._home(who)
        return home.wait(who, fits, seconds) if isinstance(home, PatientStage) else {}

    def _home(self, who: str) -> Stage:
        if who not in self._homes:
            raise StageError(f"{who} is not here; a line {who}{Act.ENTER.value} lets them in")
        return self._homes[who]


def _seen(messages: Iterable[Message]) -> Seen:
    seen: dict[str, list[str]] = {}
    for message in messages:
        lines = [line.rstrip() for line in message.text.split("\n") if line.strip()]
        for name in message.to:
            seen.setdefault(name, []).extend(lines)
    return seen
