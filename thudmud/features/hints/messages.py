"""Hints as text and as facts for programs."""

from __future__ import annotations

from collections.abc import Iterator

from thudmud.english import capitalised
from thudmud.features.hints.commands import Hint
from thudmud.features.hints.model import HintGiven, HintRefusal
from thudmud.game.advice import Advice, Merit
from thudmud.views import data
from thudmud.views.data import Fact
from thudmud.views.facts import board_reference
from thudmud.views.reasons import because, clauses, danger, short_command
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import RenderContext, facts, words
from thudmud.views.view import View
from thudmud.views.words import in_few_words, wrap, wrap_each

add_refusal_texts(
    {
        HintRefusal.NO_HINTS: (
            'There are no hints here. "captures" and "moves" list what you can play.'
        ),
        HintRefusal.NO_HINTS_RATED: (
            "Your battle at the {board} is rated, so there are no hints until it's over."
        ),
        HintRefusal.NO_HINTS_CLOCK: (
            "Your battle at the {board} is against a person and has a clock, so there are no hints"
            " until it's over."
        ),
        HintRefusal.HINT_PENDING: "Thinking ... Your hint will be here in a moment.",
        HintRefusal.HINT_FAILED: 'No hint this time. "hint on {board}" tries again.',
        HintRefusal.HINT_OUT_OF_DATE: (
            "Things have moved on at the {board} since you asked for a hint."
            ' "hint on {board}" tries again.'
        ),
    }
)


@words.register
def _hint(_: Hint, context: RenderContext, view: View) -> list[str]:
    """Render a hint; a screen reader gets each reason on its own line."""
    advice: Advice = context.answer
    table = context.known_table
    typed = f'"{short_command(advice.move, table.name if view.is_elsewhere else None)}"'
    if view.display.is_drawn_by_client:
        typed = in_few_words(advice.move)
    reply = _expected(advice)
    if view.display.is_for_reader:
        facts = [capitalised(f"{each}.") for each in (*clauses(advice), danger(advice)) if each]
        return wrap_each([f"Try {typed}.", *facts, *reply], view.width)
    return wrap_each([f"Try {typed}: {because(advice)}.", *reply], view.width)


def _expected(advice: Advice) -> list[str]:
    """Return a sentence on the reply; none if it is the loss that the reasons name."""
    reply = advice.reply
    if reply is None or any(
        each.merit is Merit.LOSES and each.capture == reply for each in advice.reasons
    ):
        return []
    return [f"The likely reply: {in_few_words(reply)}."]


@words.register
def _hint_given(given: HintGiven, _: RenderContext, view: View) -> list[str]:
    where = f" at the {given.board}" if view.is_elsewhere else ""
    return wrap(f"{given.player} asks for a hint{where}.", view.width)


@facts.register
def _hint_given_facts(given: HintGiven, _: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Hinted", {"board": given.board, "player": given.player, "to": given.to})


@facts.register
def _hint_facts(_: Hint, context: RenderContext) -> Iterator[Fact]:
    advice: Advice = context.answer
    known = {
        **board_reference(context.known_table),
        "side": advice.side.value,
        **data.move_data(advice.move),
        "record": str(advice.move),
        "reasons": [
            {
                "reason": each.merit.value,
                "number": each.number or None,
                "capture": data.move_data(each.capture) if each.capture else None,
            }
            for each in advice.reasons
        ],
        "reply": data.move_data(advice.reply) if advice.reply else None,
        "because": because(advice),
    }
    yield Fact("Thud.Hint", known, context.player)
