"""Decisions that open a board for a match, and decisions with events of the hall."""

from __future__ import annotations

from itertools import count

from thudmud.errors import RefusedError
from thudmud.features.playing.seats import require_boards
from thudmud.game import events
from thudmud.game.asides import Aside
from thudmud.game.board_names import board_name
from thudmud.game.command import CommandContext
from thudmud.game.hall import Decision, Hall
from thudmud.game.refusals import Refusal
from thudmud.game.seeks import end_seeks_of_players
from thudmud.values import replace


def decide_at_new_board(
    context: CommandContext,
    first: tuple[events.HallEvent, ...],
    begun: events.BattleStarted | events.Resumed,
    *asides: Aside,
    level: int | None = None,
    waits: bool = False,
) -> Decision:
    """Decide to open a board for a match that begins or resumes there.

    Args:
        context: the player who gave the command, the hall and the time.
        first: hall events that precede the opening of the board.
        begun: the event that begins or resumes the match.
        asides: transient events to deliver with the decision.
        level: the bot's playing strength; None for its default.
        waits: whether the opponent is a stopgap bot, so the player's search for an opponent goes
            on.
    """
    hall, match = context.hall, begun.match if isinstance(begun, events.Resumed) else begun
    names = match.dwarf, match.troll
    for each in names:
        if each not in hall.bots:
            require_boards(hall, each, asks=context.me)
    if isinstance(begun, events.BattleStarted):
        begun = replace(begun, levels=events.Levels(*(hall.level(each, level) for each in names)))
    board = board_opened_event(hall, context.me, match.rules, begun.at, len(first))
    at_board: tuple[events.TableEvent, ...] = (begun,)
    if isinstance(begun, events.BattleStarted) and begun.opening:
        at_board = (events.PositionSet(begun.at, context.me, begun.rules, begun.opening), begun)
    decision = decide_in_hall(
        context, *first, board, board=board.name, at_board=at_board, asides=asides
    )
    return decision if waits else end_seeks_of_players(hall, decision, context.now)


def board_opened_event(
    hall: Hall, player: str, rules: str, now: float, before: int
) -> events.BoardOpened:
    """Return the event that opens a board under an unused name and key.

    Args:
        hall: the hall, whose version makes the key unique.
        player: the player who opens the board.
        rules: the name of the ruleset.
        now: seconds since the epoch.
        before: the number of hall events that the decision puts before this one.
    """
    name = next(each for each in map(board_name, count()) if _is_free(hall, each))
    key = f"{events.MADE}{(hall.version or 0) + before + 1}"  # no other event has this number
    return events.BoardOpened(now, player, key, name, rules)


def _is_free(hall: Hall, name: str) -> bool:
    """Whether a board can have a name: no other board has it or its number, and no player."""
    tables = hall.tables
    is_taken = (
        tables.name_for_words(tuple(name.split())) or tables.number_for_name(name) in tables.made
    )
    material = name.split()[-2]
    return not (is_taken or material in hall.people.names or tables.has_seat(material))


def decide_in_hall(
    context: CommandContext,
    *of_hall: events.HallEvent,
    board: str | None = None,
    at_board: tuple[events.TableEvent, ...] = (),
    asides: tuple[Aside, ...] = (),
) -> Decision:
    """Return a decision with hall events, and optionally events at one board.

    Args:
        context: the player who gave the command, and the hall.
        of_hall: the hall events, in order.
        board: the name of the board for `at_board`.
        at_board: events at that board.
        asides: transient events to deliver.

    Raises:
        RefusedError: this hall doesn't open boards for matches.
    """
    hall = context.hall
    if hall.version is None or not hall.opens_boards:
        raise RefusedError(Refusal.NO_HALL, bots=tuple(hall.bots_here()))
    return Decision(context.me, board, 0, at_board, asides, hall=of_hall, hall_version=hall.version)
