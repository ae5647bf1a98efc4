"""The tv in words and as facts."""

from __future__ import annotations

from collections.abc import Iterator

from thudmud.play.asides import TvTurned
from thudmud.verbs.tv import Tv
from thudmud.views.data import Fact
from thudmud.views.facts import observed_fact, tv_fact, whole
from thudmud.views.registry import Occasion, facts, words
from thudmud.views.standing import board_line, stands
from thudmud.views.view import View
from thudmud.views.words import wrapped

ENDS = f'"{Tv.turned_off()}" turns it off.'


@words.register
def _turned(turned: TvTurned, occasion: Occasion, view: View) -> list[str]:
    if turned.tv is None:
        return wrapped("Your tv is off.", view.width)
    if not turned.tv:
        nothing = "No battle is being played that you do not see anyway."
        return wrapped(f"{nothing} Your tv shows the next one that begins. {ENDS}", view.width)
    table = occasion.known_table
    lines = wrapped(f"Your tv shows the {board_line(occasion.hall, table)}. {ENDS}", view.width)
    return lines + stands(table, view)


@facts.register
def _turned_facts(turned: TvTurned, occasion: Occasion) -> Iterator[Fact]:
    yield tv_fact(occasion.hall, turned.player)
    yield observed_fact(occasion.hall, turned.player)
    if occasion.table:
        yield from whole(occasion.table, turned.player)
