"""Rendering of a delivery as lines and as facts.

Events of tables are rendered here: the reader's style and room decide on sentences, board and
status line. For anything else, the feature that owns the type registers functions, see
`thudmud.views.registry`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import thudmud.views.help  # noqa: F401  (it registers its words)
from thudmud.english import rounded_duration
from thudmud.game import events
from thudmud.game.asides import Aside, TimeShort
from thudmud.game.command import Asked
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall
from thudmud.game.table import Table
from thudmud.views import reader, sentences
from thudmud.views.data import Fact
from thudmud.views.facts import DRAWN, table_facts
from thudmud.views.registry import ADDED_LINES, RenderContext, added_lines, words
from thudmud.views.registry import facts as facts_registered
from thudmud.views.standing import at_table, board_lines
from thudmud.views.view import View
from thudmud.views.words import wrap_each

_WORDS, _FACTS = words.registry, facts_registered.registry
"""Registered functions by exact type, which is faster than `singledispatch`. Base classes don't
count."""


def renderer_for(hall: Hall, delivery: Delivery) -> Callable[[View], list[str]]:
    """Return a function that renders a delivery for a reader's view.

    Raises:
        NotImplementedError: on calling it, if no function is registered for the aside or question.
    """
    event, table = delivery.event, delivery.table
    told, answer = (event.question, event.answer) if isinstance(event, Asked) else (event, None)
    if make := _WORDS.get(type(told), words if isinstance(event, Aside) else None):
        player = getattr(event, "player", "")
        return partial(make, told, RenderContext(hall, table, delivery.at, player, answer))
    if table is None or not isinstance(event, events.TableEvent):
        return lambda _: []  # no text
    return partial(_render_table_event, delivery, event, table, hall)


def _render_table_event(
    delivery: Delivery, event: events.TableEvent, table: Table, hall: Hall, view: View
) -> list[str]:
    """Render an event of a table: in sentences, followed by the board if that looks different."""
    hints, kind = list[str](), type(event)
    if delivery.is_intermediate and kind is events.BattleStarted:
        return []  # already over
    is_turn_elsewhere = view.is_elsewhere and view.me and isinstance(event, sentences.TURNED)
    if kind in ADDED_LINES or is_turn_elsewhere:
        context = RenderContext(hall, table, delivery.at, event.player)
        hints += added_lines(kind, delivery, context, view)
        hints += added_lines(Table, delivery, context, view) if is_turn_elsewhere else []
    if view.display.is_drawn_by_client and kind is events.BattleEnded:
        facts = sentences.event_sentences(event, table, view.me)  # it shows both scores
    elif view.display.is_for_reader:
        facts = reader.event_sentences_for_reader(event, table, view.me)
    else:
        facts = sentences.event_sentences(event, table, view.me)
        if isinstance(event, sentences.TURNED) and table.is_running:
            is_my_start = kind is events.BattleStarted and sentences.is_turn_of(table, view.me)
            turn = "Your move!" if is_my_start else sentences.turn_sentence(table, view.me)
            facts.append(turn)
    is_closing = kind is events.BattleEnded and hall.is_idle(table)
    if is_closing or delivery.is_intermediate:
        facts = [each for each in facts if each != sentences.next_step(table, view.me)]
    # Without sentences, the event is left to the next one.
    told = at_table([*facts, *hints], table, view) if any(facts) else []
    if view.display.is_for_reader:
        return told + wrap_each(_board_for_reader(event, table, view), view.width)
    sits = isinstance(event, events.Joined) and event.player == view.me
    return told + board_lines(table, view) if sits or isinstance(event, DRAWN) else told


def _board_for_reader(event: events.TableEvent, table: Table, view: View) -> list[str]:
    """Return what a screen reader reads of the board after an event, as sentences."""
    left = []
    if isinstance(event, events.Joined) and event.player == view.me:
        left = reader.board_on_arrival(table, view.me, view.style)
    elif isinstance(event, DRAWN):
        left = reader.board_after_event(event, table, view.me, view.style)
    if isinstance(event, sentences.TURNED):
        left += reader.turn_sentences(table, view.me)
    return left


@words.register
def _time_short(told: TimeShort, context: RenderContext, view: View) -> list[str]:
    left = f"You have less than {rounded_duration(told.seconds)} left."
    return at_table([left], context.known_table, view)


def delivery_facts(hall: Hall, delivery: Delivery) -> list[Fact]:
    """Return the facts of a delivery, in order."""
    event, table = delivery.event, delivery.table
    told, answer = (event.question, event.answer) if isinstance(event, Asked) else (event, None)
    if make := _FACTS.get(type(told)):
        player = getattr(event, "player", "")
        return list(make(told, RenderContext(hall, table, delivery.at, player, answer)))
    if table and isinstance(event, events.TableEvent):
        return list(table_facts(hall, event, table, delivery.changes))
    return []
