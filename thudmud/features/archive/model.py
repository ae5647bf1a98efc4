"""State of replays, and asides of replays and comments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from thudmud.game.archive import GOES_ON, Battle, FoundBattle
from thudmud.game.asides import Aside, aside
from thudmud.game.delivery import Delivery
from thudmud.game.hall import applies
from thudmud.game.people import Person, PersonPart
from thudmud.rules import Comment, Game
from thudmud.values import replace

if TYPE_CHECKING:
    from thudmud.game.command import CommandContext
    from thudmud.game.hall import Hall


class Annotation(Protocol):
    """A feature's evaluation of a finished battle, shown in its replay.

    To render it, the feature registers lines for `Replayed` by
    `thudmud.views.registry.add_lines_to`.

    Attributes:
        scores: the score of the position before each ply and after the last ply, in hundredths of
            a dwarf.
    """

    @property
    def scores(self) -> tuple[int, ...]: ...


annotators: list[Callable[[CommandContext, FoundBattle], Annotation | None]] = []
"""Functions of features that look up the annotation of a battle."""


class AnnotatedBattle(NamedTuple):
    """A battle with its annotation; None if there is none, or the player may not see it."""

    known: FoundBattle
    annotation: Annotation | None


def annotation_of(context: CommandContext, known: FoundBattle) -> Annotation | None:
    """Return the annotation of a battle.

    There is none before the battle is over, nor for players in a rated battle.

    Raises:
        LookupNeededError: the annotation has to be looked up first.
    """
    if known.battle.state in GOES_ON or context.hall.board_of_rated_battle(context.me):
        return None
    return next((each for look in annotators if (each := look(context, known))), None)


@aside
class Replayed(Aside):
    """A player sees a replay at one of its plies.

    Attributes:
        battle: the battle.
        game: the whole game, or a running game as of the start of the replay.
        ply: the number of plies played so far; 0 is the opening.
        is_autoplaying: whether autoplay is on.
        then: the game at that ply, if known. It saves replaying the game from its opening.
        comments: comments on all plies of the battle.
        annotation: the evaluation of the battle, if there is one and the player may see it.
        spent: the seconds that each ply took; empty if it was played without a clock.
    """

    battle: Battle
    game: Game
    ply: int
    is_autoplaying: bool = False
    then: Game | None = None
    comments: tuple[Comment, ...] = ()
    annotation: Annotation | None = None
    spent: tuple[float, ...] = ()


@applies(Replayed)
def _apply_replayed(replayed: Replayed, hall: Hall) -> Delivery:
    show_replay(hall.people[replayed.player], replayed)
    return Delivery(replayed, (replayed.player,))


class Replaying(PersonPart):
    """A player's open replay, as last shown; None without one."""

    seen: Replayed | None = None
    can_be_interrupted = True


def replay_of(person: Person) -> Replayed | None:
    """Return a player's open replay as last shown, or None."""
    return person.part(Replaying).seen


def show_replay(person: Person, seen: Replayed | None) -> None:
    """Store the state of a player's open replay; None closes the replay."""
    person.keep(Replaying(seen))


@aside
class ReplayLeft(Aside):
    """A player left a replay. `replay` is its last state."""

    replay: Replayed


@applies(ReplayLeft)
def _apply_replay_left(left: ReplayLeft, hall: Hall) -> Delivery:
    show_replay(hall.people[left.player], None)
    return Delivery(left, (left.player,))


@aside
class CommentMade(Aside):
    """A player commented on a ply of a battle, or removed the comment if `text` is "".

    The comment itself is stored as an event. This aside informs the author and `other`, their
    opponent in the battle. `comments` are all comments on the battle after the change.
    """

    reaches_other_nodes = is_limited = True

    other: str
    battle: int
    ply: int
    text: str
    comments: tuple[Comment, ...] = ()

    @property
    def involves(self) -> set[str]:
        return {self.player, self.other}


@applies(CommentMade)
def _apply_comment_made(made: CommentMade, hall: Hall) -> Delivery:
    both = [hall.people[name] for name in (made.player, made.other) if name in hall.people]
    for person in both:
        seen = replay_of(person)
        if seen and seen.battle.number == made.battle:
            show_replay(person, replace(seen, comments=made.comments))
    told = tuple(person.name for person in (both if made.text else both[:1]))
    return Delivery(made, hall.people.without_ignorers(made.player, told))
