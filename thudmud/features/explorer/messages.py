"""Opening statistics as text and as facts for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thudmud.english import pluralize, rounded_duration
from thudmud.features.archive import messages as archive
from thudmud.features.archive.commands import Replay
from thudmud.features.explorer.commands import Explore
from thudmud.features.explorer.model import (
    ExploredPly,
    ExploredPosition,
    ExplorerRefusal,
    PositionStatistics,
)
from thudmud.game.archive import Battle
from thudmud.rules import Side
from thudmud.views import data
from thudmud.views.data import Data, Fact
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import RenderContext, facts, words
from thudmud.views.view import Display, View
from thudmud.views.words import in_few_words, wrap, wrap_each

add_refusal_texts(
    {
        ExplorerRefusal.NO_EXPLORING_RATED: (
            "Your battle at the {board} is rated, so there's no exploring until it's over."
        ),
        ExplorerRefusal.NO_EXPLORING_PLAYING: (
            "You're playing at the {board}. You can explore that battle when it's over."
        ),
        ExplorerRefusal.EXPLORE_LATER: (
            "Battle {number} isn't over yet. You can explore it afterwards."
        ),
    }
)

MOST_IN_WORDS = 10
"""The maximum number of plies to list as text."""

_LEAST_FOR_A_TABLE = 60
"""The minimum width of a table, in columns. On narrower screens each ply is a sentence."""

_HEADINGS = "times", "dwarfs won", "drawn", "trolls won", "points", "best"


@words.register
def _render_answer(_: Explore, context: RenderContext, view: View) -> list[str]:
    return render_statistics(context.answer, context, view.display)


@facts.register
def _told_facts(_: Explore, context: RenderContext) -> Iterator[Fact]:
    board = context.table.name if context.table else None
    yield explored(context.answer, board, context.player)


def explored(position: ExploredPosition, board: str | None, player: str = "") -> Fact:
    """Return the statistics of a position as a fact.

    Args:
        position: the position, with its statistics.
        board: the name of its board; None for a position of a past battle.
        player: the player who asked; "" for an onlooker.
    """
    game, number, found, following = position
    known = {
        "board": board,
        "battle": number,
        "rules": game.ruleset.name,
        "ply": len(game.moves),
        "turn": data.side_to_move(game),
        "times": found.times,
        "plies": [
            {
                "record": str(each.move),
                **data.move_data(each.move),
                "times": each.tried.times,
                "dwarf": each.tried.dwarf,
                "drawn": each.tried.drawn,
                "troll": each.tried.troll,
                "lead": None if each.lead is None else round(each.lead, 1),
                "best": _best(each.best),
            }
            for each in found.plies
        ],
        "others": found.others,
        "next": str(following) if following else None,
        "best": found.best and _best(found.best),
        "left": found.left,
    }
    return Fact("Thud.Explored", known, player)


def _best(battle: Battle) -> Data:
    ratings = zip(Side, battle.ratings, strict=True)
    return {
        "battle": battle.number,
        "at": int(battle.at),
        "dwarf": battle.dwarf or None,
        "troll": battle.troll or None,
        "ratings": {side.value: rating for side, rating in ratings},
    }


def render_statistics(
    position: ExploredPosition, context: RenderContext, display: Display
) -> list[str]:
    """Render the statistics of a position as a table, or as a sentence for each ply."""
    game, number, found, _ = position
    width = display.width
    here = f"after {pluralize(len(game.moves), 'move')}" if game.moves else "at the start"
    here = f"at the {context.table.name}" if context.table else f"{here} of battle {number}"
    lines = []
    if not found.plies:
        lines += wrap(f"No finished battle has gone on from the position {here}.", width)
        return lines + _left(found, width)
    shown = found.plies[:MOST_IN_WORDS]
    played = f"Moves played from the position {here}, {_times(found.times)} in all:"
    lines += wrap(played, width)
    if display.is_for_reader or width < _LEAST_FOR_A_TABLE:
        lines += wrap_each(map(_sentence, shown), width, archive.INDENT)
    else:
        lines += _table(shown, width)
    if others := len(found.plies) - len(shown) + found.others:
        lines += wrap(f"Less often: {pluralize(others, 'other move')}.", width)
    if found.best:
        best = f"The best known is battle {found.best.number}, {archive.entry(found.best)}."
        lines += wrap(f'{best} "{Replay(found.best.number)}" shows it.', width)
    return lines + _left(found, width)


def _left(found: PositionStatistics, width: int) -> list[str]:
    if not found.left:
        return []
    counting = f"Not all battles are counted yet: {pluralize(found.left, 'battle')} to go"
    if found.seconds_left is not None:
        counting += f", which takes about {rounded_duration(found.seconds_left)}"
    counting += "."
    return wrap(counting, width)


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _sentence(each: ExploredPly) -> str:
    tried = each.tried
    known = f"the dwarfs won {tried.dwarf}, the trolls {tried.troll}, {tried.drawn} drawn"
    ahead = "" if each.lead is None else f"; {_ahead(each.lead)}"
    best = f"battle {each.best.number} is the best known"
    return f"{in_few_words(each.move)}: {_times(tried.times)}; {known}{ahead}; {best}."


def _ahead(lead: float) -> str:
    """Return the side with the higher average final score and its margin, as a clause."""
    if not round(lead, 1):
        return "even on average"
    return f"the {'dwarfs' if lead > 0 else 'trolls'} ahead by {abs(lead):.1f} on average"


def _table(plies: Sequence[ExploredPly], width: int) -> list[str]:
    """Render the plies as a table. A ply too long for its column gets a line of its own."""
    rows = [
        (
            str(each.tried.times),
            str(each.tried.dwarf),
            str(each.tried.drawn),
            str(each.tried.troll),
            "" if each.lead is None else f"{each.lead:+.1f}",
            str(each.best.number),
        )
        for each in plies
    ]
    columns = [max(map(len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    room = width - 1 - sum(columns) - 2 * len(columns)
    names = [in_few_words(each.move) for each in plies]
    first = min(room, max(map(len, names)))
    lines = [_row("", _HEADINGS, columns, first)]
    for name, row in zip(names, rows, strict=True):
        if len(name) > first:
            lines += wrap(name, width, archive.INDENT)
        lines.append(_row(name if len(name) <= first else "", row, columns, first))
    shows = "Points: the final score, dwarfs minus trolls, on average."
    return [*lines, *wrap(shows, width)]


def _row(name: str, row: Sequence[str], columns: Sequence[int], first: int) -> str:
    cells = "".join(f"  {cell:>{column}}" for cell, column in zip(row, columns, strict=True))
    return f"{name:<{first}}{cells}"
