"""Lines and facts that features add to the messages of others."""

from __future__ import annotations

from thudmud.game.hall import Hall
from thudmud.game.options import Style
from thudmud.game.table import BoardSpec
from thudmud.views.data import Fact
from thudmud.views.registry import (
    ADDED_LINES,
    RenderContext,
    add_facts_to,
    add_lines_to,
    added_facts,
    added_lines,
)
from thudmud.views.view import Display, View

VIEW = View("Anna", Style.FULL, Display(width=60))


class Kettle:
    """A message that no feature knows."""


def test_lines_and_facts_are_added_in_order_of_registration() -> None:
    @add_lines_to(Kettle)
    def _first(_: Kettle, context: RenderContext, view: View) -> list[str]:
        return [f"{context.player} hears it whistle.", f"{view.width} columns."]

    @add_lines_to(Kettle)
    def _second(_: Kettle, __: RenderContext, ___: View) -> list[str]:
        return ["It is hot."]

    @add_facts_to(Kettle)
    def _fact(_: Kettle, context: RenderContext) -> list[Fact]:
        return [Fact("Thud.Kettle", {}, context.player)]

    try:
        context = RenderContext(Hall([BoardSpec("oak board")]), None, 0.0, "Anna")
        lines = added_lines(Kettle, Kettle(), context, VIEW)
        assert lines == ["Anna hears it whistle.", "60 columns.", "It is hot."]
        assert list(added_facts(Kettle(), context)) == [Fact("Thud.Kettle", {}, "Anna")]
        assert list(added_facts(0, context)) == []
    finally:
        del ADDED_LINES[Kettle]
    assert added_lines(Kettle, Kettle(), context, VIEW) == []
