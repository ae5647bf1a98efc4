"""Replays, and comments on plies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from thudmud.game.archive import Battle, FoundBattle
from thudmud.game.asides import Aside, aside
from thudmud.game.hall import applies
from thudmud.game.people import Person, PersonPart
from thudmud.game.telling import Telling
from thudmud.rules import Comment, Game
from thudmud.values import replace

if TYPE_CHECKING:
    from thudmud.game.command import Scene
    from thudmud.game.hall import Hall


class Annotation(Protocol):
    """What a feature knows of the plies of a battle that is over.

    It says it by `thudmud.views.registry.add_lines_to`, of `Replayed`.

    Attributes:
        worths: the worth before each ply, and at the end, in hundredths of a dwarf.
    """

    @property
    def worths(self) -> tuple[int, ...]: ...


annotators: list[Callable[[Scene, FoundBattle], Annotation | None]] = []
"""Functions of features that look up annotations of battles that are replayed."""


@aside
class Replayed(Aside):
    """A player replays a battle, and sees it as it stood after ``ply`` plies.

    ``playing`` says that the next plies follow by themselves. ``then`` is the battle at that ply,
    if known: the next ply need not be replayed from the opening. ``comments`` are those on all
    plies. ``annotation`` is what is known of the plies besides, if that may be told. ``spent`` is
    how many seconds each ply took, if a clock ran.
    """

    battle: Battle
    game: Game
    ply: int
    playing: bool = False
    then: Game | None = None
    comments: tuple[Comment, ...] = ()
    annotation: Annotation | None = None
    spent: tuple[float, ...] = ()


@applies(Replayed)
def _apply_replayed(replayed: Replayed, hall: Hall) -> Telling:
    show_replay(hall.people[replayed.player], replayed)
    return Telling(replayed, (replayed.player,))


class Replaying(PersonPart):
    """What a player sees of the battle they are replaying; None if they replay none."""

    seen: Replayed | None = None
    can_be_interrupted = True


def replay_of(person: Person) -> Replayed | None:
    """Return what a player sees of the battle they are replaying."""
    return person.part(Replaying).seen


def show_replay(person: Person, seen: Replayed | None) -> None:
    """Note what a player sees of the battle they are replaying; None ends the replay."""
    person.keep(Replaying(seen))


@aside
class ReplayLeft(Aside):
    """A player left a replay. ``replay`` is what they saw last."""

    replay: Replayed


@applies(ReplayLeft)
def _apply_replay_left(left: ReplayLeft, hall: Hall) -> Telling:
    show_replay(hall.people[left.player], None)
    return Telling(left, (left.player,))


@aside
class CommentMade(Aside):
    """A player commented on a ply of a battle, or removed the comment if ``text`` is "".

    The comment itself is stored as an event; this tells the player and ``other``, their opponent in
    the battle. ``comments`` are all comments on the battle now.
    """

    crosses = is_limited = True

    other: str
    battle: int
    ply: int
    text: str
    comments: tuple[Comment, ...] = ()

    @property
    def involves(self) -> set[str]:
        return {self.player, self.other}


@applies(CommentMade)
def _apply_comment_made(made: CommentMade, hall: Hall) -> Telling:
    both = [hall.people[name] for name in (made.player, made.other) if name in hall.people]
    for person in both:
        seen = replay_of(person)
        if seen and seen.battle.number == made.battle:
            show_replay(person, replace(seen, comments=made.comments))
    told = tuple(person.name for person in (both if made.text else both[:1]))
    return Telling(made, hall.people.hearers(made.player, told))
