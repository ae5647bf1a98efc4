"""Answers to questions about boards, in words and as facts."""

from __future__ import annotations

from collections.abc import Iterator

from thudmud.features.playing.queries import (
    PieceQuery,
    ViewClock,
    ViewGame,
    ViewPossible,
)
from thudmud.views import data, legal, reader, sentences
from thudmud.views.data import Fact
from thudmud.views.facts import place, whole
from thudmud.views.registry import Occasion, facts, words
from thudmud.views.standing import drawn, standing
from thudmud.views.view import View
from thudmud.views.words import wrapped


def _heading(occasion: Occasion, view: View) -> list[str]:
    """Return which board an answer is about, for a player who sees a replay."""
    if not occasion.hall.people[occasion.player].replay:
        return []
    return wrapped(f"At the {occasion.known_table.name}, not in the replay:", view.width)


@words.register
def _answered(
    query: PieceQuery,
    occasion: Occasion,
    view: View,
) -> list[str]:
    answer = reader.answered(occasion.known_table, query, occasion.player, view.display)
    return _heading(occasion, view) + answer


@words.register
def _possible(asked: ViewPossible, occasion: Occasion, view: View) -> list[str]:
    """Return the legal moves of the side to move, or of the piece on a square."""
    table, me, width = occasion.known_table, occasion.player, view.width
    game, lines = sentences.game_at(table), _heading(occasion, view)
    side = game.position.turn
    if asked.origin is None and side is not table.side_of(me):
        lines += wrapped(f"{sentences.turn(table, me)} The {side.plural}' moves:", width)
    return lines + legal.moves_by_piece(game, asked.origin, width, legal.range_word(view.display))


@facts.register
def _possible_facts(asked: ViewPossible, occasion: Occasion) -> Iterator[Fact]:
    table = occasion.known_table
    if table.game:
        known = {**place(table), "ply": len(table.game.moves)}
        if asked.origin is None:
            yield Fact("Thud.Plies", {**known, **data.plies(table.game)}, occasion.player)
        else:
            legal = data.legal(table.game, asked.origin)
            yield Fact("Thud.Legal", {**known, **legal}, occasion.player)


@words.register
def _game(_: ViewGame, occasion: Occasion, view: View) -> list[str]:
    table = occasion.known_table
    return drawn(table, view) + standing(table, view)


@facts.register
def _game_facts(_: ViewGame | ViewClock, occasion: Occasion) -> Iterator[Fact]:
    yield from whole(occasion.known_table, occasion.player)
