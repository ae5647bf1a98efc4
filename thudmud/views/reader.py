"""Boards in words for screen readers: events, positions and clocks.

Facts are short, each on its own line, and have no symbols that would be read out.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile

from thudmud.english import capitalised, join_words, rounded_duration
from thudmud.game import events
from thudmud.game.options import Style
from thudmud.game.table import Table
from thudmud.rules import Piece, Side, Square
from thudmud.rules.board import squares_in, walk
from thudmud.views import sentences
from thudmud.views.legal import COMPASS

SHORTEST_RUN = 3
"""The minimum number of pieces in a line to describe it by its ends."""


def clock_sentences(table: Table, me: str) -> list[str]:
    """Describe the clock of a board: time control, time left, and the running side."""
    clock, time, battle = table.clock, table.time, "first battle"
    if clock is None and time:
        if table.is_running:
            return [f"The clock at the {table.name} is stopped while a seat is empty."]
        if table.match:
            battle = "second battle" if table.half_played else "next match"
        gives = sentences.time_control_in_words(time)
        return [f"No clock is running at the {table.name}. {capitalised(battle)}: {gives}."]
    if clock is None:
        return _without_clock(table, me)
    turn = clock.turn
    sides = sorted(sentences.timed_sides(clock), key=lambda side: side is not turn)
    left = [sentences.has_left(table, clock, side, me) for side in sides]
    whose = (
        "Your"
        if table.seats.get(turn) == me
        else f"{sentences.player_or_description(table, turn)}'s"
    )
    runs = f"{whose} clock is running."
    if clock.until_start:
        limit = rounded_duration(clock.until_start)
        move = "your first move" if whose == "Your" else "the first move"
        runs = f"{whose} clock starts with {move}, or in {limit}."
    if clock.remaining_standstill:
        away = join_words(table.seats[side] for side in table.away)
        why = f"{away} {'is' if len(table.away) == 1 else 'are'} away"
        limit = f"for at most another {rounded_duration(clock.remaining_standstill)}"
        runs = f"The clock is stopped while {why}, {limit}."
    return [
        f"{capitalised(table.name)}: {sentences.time_control_in_words(clock.control)}.",
        *left,
        runs,
    ]


def _without_clock(table: Table, me: str) -> list[str]:
    told = [sentences.turn_sentence(table, me)] if table.is_running else []
    told.append(f"There's no clock at the {table.name}: take as long as you like.")
    other = next((name for name in table.seats.values() if name != me), None)
    is_among_people = table.levels == events.NO_BOTS and me in table.seats.values()
    if table.is_running and table.idle_limit and other and is_among_people:
        claims = f'you can claim the battle by typing "claim game on {table.name}"'
        told.append(f"If {other} doesn't move for {rounded_duration(table.idle_limit)}, {claims}.")
    if not table.has_match_under_way:
        told.append(f'"set clock 10+5 on {table.name}" sets one for the next match.')
    return told


def event_sentences_for_reader(event: events.TableEvent, table: Table, me: str | None) -> list[str]:
    """Return the sentences about an event, without the resulting board."""
    told = sentences.event_sentences(event, table, me)
    if isinstance(event, events.Moved):
        return [sentences.last_ply(table, me), *told[1:]]
    if isinstance(event, events.BattleEnded) and table.match:
        scores = [f"{_side(table, side, me)}: {event.outcome.score.of(side)}." for side in Side]
        return [told[0], "The battle is over.", *scores, *told[1:]]
    return told


def board_after_event(
    event: events.TableEvent, table: Table, me: str | None, style: Style
) -> list[str]:
    """Describe the board after an event that changed the position."""
    if isinstance(event, events.Resumed | events.PositionSet):
        return board_on_arrival(table, me, style)
    if isinstance(event, events.Moved) and style is Style.BRIEF and not event.move.captures:
        return []
    return [piece_counts(table)]


def board_on_arrival(table: Table, me: str | None, style: Style) -> list[str]:
    """Describe the board for a player who arrives."""
    if style is Style.BRIEF or (table.match is None and table.opening is None):
        return [_heading(table), piece_counts(table)]
    return whole_board(table, me)


def whole_board(table: Table, me: str | None) -> list[str]:
    """Describe the whole board."""
    game = sentences.game_at(table)
    told = [_heading(table)]
    for side in Side:
        left, lost = sentences.left_and_lost(table, side)
        told.append(f"{_side(table, side, me)}: {left} left{f', {lost} lost' if lost else ''}.")
    for piece in Piece:
        if pieces := game.position.bits(piece):
            kind = f"{piece.noun}s" if piece.side else piece.phrase
            told.append(f"{capitalised(kind)} at {describe_squares(pieces)}.")
    told.append(f"{sentences.score_phrase(game.score)}.")
    match, clock = table.match, table.clock
    if match is None:
        return told
    if clock and clock.turn.other in sentences.timed_sides(
        clock
    ):  # `turn_sentences` adds the time of the side to move
        told.append(sentences.has_left(table, clock, clock.turn.other, me))
    if match.battles > 1 and (match.battle > 1 or match.is_over):
        told.append(f"Match: {sentences.match_points(table, match, me)}.")
    return [*told, sentences.last_ply(table, me)]


def piece_counts(table: Table) -> str:
    """Return the numbers of pieces, and the square of any Rock."""
    pieces = sentences.game_at(table).position
    left = ", ".join(f"{side.plural} {pieces.count(Piece.of(side))}" for side in Side)
    rock = "".join(f", the Rock on {square}" for square in pieces.squares(Piece.ROCK))
    return f"{capitalised(left)}{rock}."


def turn_sentences(table: Table, me: str | None) -> list[str]:
    """Return the side to move and its time left; empty without a running battle."""
    if not table.is_running or table.game is None:
        return []
    side = table.game.position.turn
    player = table.seats.get(side)
    if player is None:
        return [f"The {side.plural}' turn; their seat is empty."]
    left = [sentences.has_left(table, table.clock, side, me)] if table.clock else []
    if player == me:
        return [f"Your turn, {side.plural}." if table.is_practice else "Your turn.", *left]
    away = f"; {player} is away" if side in table.away else ""
    plays = "" if me in table.seats.values() else f", {side.plural}"
    return [f"{player}'s turn{plays}{away}.", *left]


def _heading(table: Table) -> str:
    """Return the board's name, rules, time control and progress."""
    kind = f"{sentences.time_control_phrase(table.time)}{sentences.rated_suffix(table)}"
    return f"{sentences.heading(table)}{kind}. {sentences.progress(table)}."


def _side(table: Table, side: Side, me: str | None) -> str:
    """Return a side and its player."""
    return f"{side.plural.capitalize()}, {sentences.player_or_description(table, side, me)}"


@lru_cache(maxsize=1024)
def describe_squares(bits: int) -> str:
    """Return the squares of a bitboard, describing straight lines by their ends.

    The longest lines come first, then the remaining squares. Cached, because the search is slow.
    """
    left, told = set(squares_in(bits)), []
    while len(longest := max(_straight_lines(left), key=len, default=())) >= SHORTEST_RUN:
        left -= set(longest)
        first, last = longest[0], longest[-1]
        is_diagonal = first.row != last.row and first.column != last.column
        told.append(f"{'diagonal ' if is_diagonal else ''}{first} to {last}")
    return ", ".join([*told, *map(str, sorted(left))])


def _straight_lines(squares: set[Square]) -> Iterable[tuple[Square, ...]]:
    """Yield the unbroken line from each square in each of four directions."""
    for first in sorted(squares):
        for direction in (
            COMPASS["east"],
            COMPASS["south"],
            COMPASS["southeast"],
            COMPASS["southwest"],
        ):
            walked = takewhile(squares.__contains__, walk(first, direction))
            yield first, *walked
