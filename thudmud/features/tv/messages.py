"""Messages and facts about the tv."""

from __future__ import annotations

from collections.abc import Iterator

from thudmud.features.tv.commands import Tv
from thudmud.features.tv.model import TvRefusal, TvTurned, tv_board
from thudmud.game.hall import Hall
from thudmud.views.data import Fact
from thudmud.views.facts import observed_fact, state_facts, table_facts_in_full
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import RenderContext, facts, words
from thudmud.views.standing import board_and_status_lines, board_line, wrap_clickable
from thudmud.views.view import View
from thudmud.views.words import wrap

ENDS = f'"{Tv.turned_off()}" turns it off.'

add_refusal_texts({TvRefusal.TV_IS_OFF: 'Your tv is off. "tv" turns it on.'})


@words.register
def _render_tv_turned(turned: TvTurned, context: RenderContext, view: View) -> list[str]:
    if turned.shown is None:
        return wrap("Your tv is off.", view.width)
    if not turned.shown:
        nothing = "No other battle is under way."
        until = "Your tv will show the next battle that begins."
        return wrap_clickable(f"{nothing} {until} {ENDS}", view)
    table = context.known_table
    lines = wrap_clickable(f"Your tv shows the {board_line(context.hall, table)}. {ENDS}", view)
    return lines + board_and_status_lines(table, view)


@facts.register
def _turned_facts(turned: TvTurned, context: RenderContext) -> Iterator[Fact]:
    yield _state(context.hall, turned.player)
    yield observed_fact(context.hall, turned.player)
    if context.table:
        yield from table_facts_in_full(context.table, turned.player)


@state_facts
def _presently(hall: Hall, player: str) -> Iterator[Fact]:
    if tv_board(hall.people[player]) is not None:
        yield _state(hall, player)


def _state(hall: Hall, player: str) -> Fact:
    """Return the ``Thud.Tv`` fact: whether the tv is on, and the board on screen."""
    shown = tv_board(hall.people[player])
    return Fact("Thud.Tv", {"on": shown is not None, "board": shown or None}, player)
