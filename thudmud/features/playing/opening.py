"""Boards that are opened for a match, and decisions in the hall."""

from __future__ import annotations

from thudmud.english import nth
from thudmud.errors import Refused
from thudmud.features.playing.seats import require_boards
from thudmud.game import events
from thudmud.game.asides import Aside
from thudmud.game.command import Scene
from thudmud.game.hall import Decision, Hall
from thudmud.game.refusals import Refusal
from thudmud.game.seeks import look_no_longer
from thudmud.values import replace


def at_own_board(
    scene: Scene,
    first: tuple[events.HallEvent, ...],
    begun: events.BattleStarted | events.Resumed,
    *asides: Aside,
    level: int | None = None,
    waits: bool = False,
) -> Decision:
    """Return the decision that opens a board for a match to begin or resume, after other events.

    Args:
        scene: the player, and when.
        first: the other events of the hall.
        begun: how the match begins, or resumes.
        asides: what else is told.
        level: the level at which a bot plays; None for its usual one.
        waits: whether a bot only fills the wait for somebody else, who is still looked for.
    """
    hall, match = scene.hall, begun.match if isinstance(begun, events.Resumed) else begun
    names = match.dwarf, match.troll
    for each in names:
        if each not in hall.bots:
            require_boards(hall, each, asks=scene.me)
    if isinstance(begun, events.BattleStarted):
        begun = replace(begun, levels=events.Levels(*(hall.level(each, level) for each in names)))
    board = opened(hall, scene.me, match.rules, begun.at, len(first))
    decision = in_hall(scene, *first, board, board=board.name, at_board=(begun,), asides=asides)
    return decision if waits else look_no_longer(hall, decision, scene.now)


def opened(hall: Hall, player: str, rules: str, now: float, before: int) -> events.BoardOpened:
    """Return the event that opens a board, after so many other events of the hall."""
    number = len(hall.tables) - len(hall.tables.made) + 1  # configured boards are counted first
    names = set(map(str.lower, hall.tables))
    while (name := f"{nth(number)} board") in names:
        number += 1
    key = f"{events.MADE}{(hall.version or 0) + before + 1}"  # no other event has that number
    return events.BoardOpened(now, player, key, name, rules)


def in_hall(
    scene: Scene,
    *of_hall: events.HallEvent,
    board: str | None = None,
    at_board: tuple[events.TableEvent, ...] = (),
    asides: tuple[Aside, ...] = (),
) -> Decision:
    """Return a decision of events in the hall, perhaps at one of its boards.

    Raises:
        Refused: no boards are opened for matches here.
    """
    hall = scene.hall
    if hall.version is None or not hall.opens_boards:
        raise Refused(Refusal.NO_HALL, bots=tuple(hall.bots_here()))
    return Decision(scene.me, board, 0, at_board, asides, hall=of_hall, hall_version=hall.version)
