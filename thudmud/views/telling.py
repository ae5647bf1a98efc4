"""The lines that one reader gets of one thing that happened, or as an answer; and its facts.

What happens at a table is told here: which sentence, board and status line go together depends on
the reader's style, and on whether they are at the board. All else is told by what is registered for
it, see `thudmud.views.registry`, in the modules that are imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from thudmud.english import capitalised, lasting
from thudmud.play import events
from thudmud.play.asides import Asked, TimeShort
from thudmud.play.hall import Hall
from thudmud.play.table import Table
from thudmud.play.telling import Telling
from thudmud.verbs.archive import Replay
from thudmud.verbs.rooms import Unobserve
from thudmud.views import (
    analysis,
    archive,
    exercises,
    hints,
    letters,
    matchmaking,
    options,
    order,
    people,
    queries,
    ratings,
    reader,
    replays,
    rooms,
    sentences,
    talk,
)
from thudmud.views import help as help_pages
from thudmud.views.data import Fact
from thudmud.views.facts import DRAWN, table_facts
from thudmud.views.registry import Occasion, facts_of, teller_of, words
from thudmud.views.standing import at_table, shown
from thudmud.views.view import View
from thudmud.views.words import wrapped_each

_REGISTERED = (
    analysis, archive, exercises, help_pages, hints, letters, matchmaking, options, order, people,
    queries, ratings, replays, rooms, talk,
)  # fmt: skip


def teller(hall: Hall, telling: Telling) -> Callable[[View], list[str]]:
    """Return what makes the lines that a reader with a view is told of one thing that happened."""
    if told := teller_of(hall, telling):
        return told
    event, table = telling.event, telling.table
    if table is None or not isinstance(event, events.TableEvent):
        return lambda _: []  # what is shown says it, or nobody is told
    return partial(_told, telling, event, table, hall)


def tell(hall: Hall, telling: Telling, view: View) -> list[str]:
    """Return the lines that a reader with ``view`` is told."""
    lines = teller(hall, telling)(view)
    return begun(telling, lines) if lines and lines[0][:1].islower() else lines


def begun(telling: Telling, lines: list[str]) -> list[str]:
    """Return lines that begin small as a sentence begins, unless they are a list, or a board."""
    if isinstance(telling.event, Asked):
        return lines
    return [capitalised(lines[0]), *lines[1:]]


def _told(
    telling: Telling, event: events.TableEvent, table: Table, hall: Hall, view: View
) -> list[str]:
    told = _happened(hall, telling, event, table, view)
    sits = isinstance(event, events.Joined) and event.player == view.me
    if not view.display.reader:
        return told + shown(table, view) if sits or isinstance(event, DRAWN) else told
    left = []
    if sits:
        left = reader.stands(table, view.me, view.style)
    elif isinstance(event, DRAWN):
        left = reader.left_by(event, table, view.me, view.style)
    if isinstance(event, sentences.TURNED):
        left += reader.turn(table, view.me)
    return told + wrapped_each(left, view.width)


# What happened at a table.


def _happened(
    hall: Hall, telling: Telling, event: events.TableEvent, table: Table, view: View
) -> list[str]:
    """Return what happened at a table, without the board."""
    hints = []
    if isinstance(event, events.BattleEnded):
        hints = ratings.told(event, telling.changes, view.me, view.display)
    if isinstance(event, events.BattleEnded) and table.match and table.match.number:
        hints += [f'"{Replay(table.match.number)}" shows this battle again.']
        if table.match.over and view.away and view.me is None:  # so they observe it
            hints.append(f'You observe it still; "{Unobserve(table.name)}" ends that.')
    if view.away and view.me and isinstance(event, sentences.TURNED):
        hints += exercises.waited_for(hall.people.get(view.me), table)
    is_alone = isinstance(event, events.Joined) and not table.full and not table.running
    if is_alone and event.player == view.me:
        hints = rooms.seat_for_a_bot(hall)
    if view.display.reader:
        facts = reader.happened(event, table, view.me)
    else:
        facts = [sentences.event_text(event, table, view.me)]
    facts = [each for each in facts if each]
    if not facts:
        return []  # what comes next tells it
    return at_table([*facts, *hints], table, view)


@words.register
def _time_short(told: TimeShort, occasion: Occasion, view: View) -> list[str]:
    left = f"You have less than {lasting(told.seconds)} left."
    return at_table([left], occasion.known_table, view)


def facts(hall: Hall, telling: Telling) -> list[Fact]:
    """Return what a program is told of one thing that happened, in this order."""
    return list(_facts(hall, telling))


def _facts(hall: Hall, telling: Telling) -> Iterator[Fact]:
    event, table = telling.event, telling.table
    if (made := facts_of(hall, telling)) is not None:
        yield from made
    elif table and isinstance(event, events.TableEvent):
        yield from table_facts(hall, event, table, telling.changes)
