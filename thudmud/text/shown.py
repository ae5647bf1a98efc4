"""A board as it stands, as it is shown to one reader, and what can be done at it.

Owns the choice between a picture, a line and words. Must never know what has happened.
"""

from __future__ import annotations

from collections.abc import Iterable

from thudmud.play.commands import Style
from thudmud.play.events import Offered
from thudmud.play.table import Table
from thudmud.text import board, reader, sentences
from thudmud.text.phrases import turn, waiting
from thudmud.text.view import View
from thudmud.text.words import wrapped


def drawn(table: Table, view: View) -> list[str]:
    """Return all there is to see on a board, whatever style the reader has chosen."""
    if view.display.reader:
        return lines(reader.position(table, view.me), view)
    return board.full(table, view.display)


def shown(table: Table, view: View) -> list[str]:
    """Return the board in the reader's style."""
    if view.display.reader:
        return lines(reader.stands(table, view.me, view.style), view)
    if view.style is Style.FULL:
        return board.full(table, view.display)
    return wrapped(board.status(table), view.width)


def standing(table: Table, view: View) -> list[str]:
    """Return what could be done at a board where nothing goes on, or else the reader's turn."""
    return lines(standing_facts(table, view), view)


def standing_facts(table: Table, view: View) -> list[str]:
    """Return the same, a sentence or two for each fact."""
    facts = [waiting(table, view.me)]
    if table.running:
        facts = reader.turn(table, view.me) if view.display.reader else [turn(table, view.me)]
    for offer, side in table.offers.items():
        offered = sentences.facts(Offered(0, table.seats[side], offer), table, view.me)
        facts += offered if view.display.reader else [" ".join(offered)]
    return facts


def lines(facts: Iterable[str], view: View) -> list[str]:
    """Return facts as lines that fit the screen, each beginning one of its own."""
    return [line for fact in facts for line in wrapped(fact, view.width)]
