"""Messages: the text and data that the recipients of an event get.

Each distinct text is rendered only once. The service sends the messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from thudmud.english import capitalised
from thudmud.errors import RefusedError
from thudmud.game.asides import Aside, TimeShort
from thudmud.game.command import Asked
from thudmud.game.delivery import Delivery
from thudmud.game.events import BattleStarted, IdleWarned, Joined, Moved, Resumed, TakenBack
from thudmud.game.hall import Hall
from thudmud.game.options import Toggle
from thudmud.language import ParseError
from thudmud.values import Value
from thudmud.views.data import Fact
from thudmud.views.facts import as_json, machine_line, refusal_fact, set_apart
from thudmud.views.refusals import ASKED_BY_DIALOG, explain, refusal_text
from thudmud.views.telling import delivery_facts, renderer_for
from thudmud.views.usual import usual
from thudmud.views.view import Display, Screens, Terminal, readers_by_view
from thudmud.views.words import plain, without_commands, wrap


class Message(Value):
    """A message to players or to their programs.

    Attributes:
        to: the names of the recipients.
        text: lines joined by line feeds; for programs, the JSON of a GMCP message.
        package: the name of the GMCP package; "" for text.
        with_bell: whether to ring the bell.
        is_answer: whether it answers the reader's own line, and no board has changed.
    """

    to: tuple[str, ...]
    text: str
    package: str = ""
    with_bell: bool = False
    is_answer: bool = False

    @property
    def data(self) -> Any:
        """The decoded content of a GMCP message; None for text."""
        return json.loads(self.text) if self.package else None


def messages(hall: Hall, delivery: Delivery, screens: Screens) -> list[Message]:
    """Return all messages of a delivery. Players without a screen get none."""
    readers = readers_by_view(hall, delivery, screens)
    programs: list[str] = []
    if screens.programs:
        there = delivery.programs or delivery.recipients
        programs = [name for name in there if name in screens.programs]
    known = delivery_facts(hall, delivery) if programs else None
    make, may_ring = renderer_for(hall, delivery), type(delivery.event) in _RINGING
    asker = delivery.event.player if isinstance(delivery.event, Aside) else None
    told = []
    for view, names in readers.values():
        display, lines = view.display, make(view)
        if lines and lines[0][:1].islower() and not isinstance(delivery.event, Asked):
            lines = [capitalised(lines[0]), *lines[1:]]
        if display.is_ascii_only or display.with_machine_lines:
            lines = fit_lines(lines, display)
        if display.with_machine_lines:
            known = delivery_facts(hall, delivery) if known is None else known
            lines += [machine_line(fact) for fact in known if fact.to in {None, view.me}]
        if lines:
            bell = may_ring and view.me is not None and _is_bell_due(hall, delivery, view.me)
            is_answer = view.me is not None and view.me == asker
            told.append(Message(names, "\n".join(lines), "", bell, is_answer))
    return told + fact_messages(known, programs, screens.terminals) if programs and known else told


_RINGING = {TimeShort, IdleWarned, BattleStarted, Resumed, Moved, TakenBack, Joined}


def _is_bell_due(hall: Hall, delivery: Delivery, me: str) -> bool:
    """Whether the reader's bell rings: their turn, the start of their battle, or time pressure."""
    event, table = delivery.event, delivery.table
    if table is None or me not in hall.people:
        return False
    match event:
        case TimeShort() | IdleWarned():
            rings = event.player == me
        case BattleStarted() | Resumed():
            rings = event.player != me and me in table.seats.values()
        case Moved() | TakenBack() | Joined() if table.is_running and table.game:
            rings = event.player != me == table.seats.get(table.game.position.turn)
        case _:
            return False
    return rings and hall.people[me].options.has(Toggle.BELL)


def refusal_messages(
    refusal: RefusedError,
    name: str,
    display: Display,
    terminal: Terminal | None,
    *,
    board: Callable[[], str | None] = lambda: None,
    advice: Iterable[str] = (),
    left_out: frozenset[str] = frozenset(),
) -> list[Message]:
    """Return the messages of a refusal, for the player and for their programs.

    Args:
        refusal: the refusal.
        name: the player's name.
        display: the player's display.
        terminal: the player's terminal, if any.
        board: returns the name of the board concerned, if known; only called for programs.
        advice: sentences to append.
        left_out: verbs that must not be suggested.
    """
    draws = terminal is not None and terminal.can_draw
    if isinstance(refusal, ParseError):
        lines = explain(refusal, display.width, pointing=not display.is_for_reader)
        told = refusal_text(refusal) if draws else ""
    else:
        told = refusal_sentences(refusal, name, display, advice=advice, left_out=left_out)
        lines = wrap(told, display.width)
    if display.is_ascii_only or display.with_machine_lines:
        lines = fit_lines(lines, display)
    # Skip the fact unless it is wanted: it may have a long list of verbs.
    if not display.with_machine_lines and not (terminal and terminal.packages):
        return [Message((name,), "\n".join(lines))]
    asks = draws and refusal.code in ASKED_BY_DIALOG
    told = without_commands(told) if asks else told
    known = [refusal_fact(refusal, name, board(), told if draws else None)]
    if display.with_machine_lines:
        lines += map(machine_line, known)
    screens = {name: terminal} if terminal else {}
    sent = fact_messages(known, [name], screens)
    if asks:
        return sent
    return [Message((name,), "\n".join(lines)), *sent]


def answer_in_words(hall: Hall, delivery: Delivery, screens: Screens) -> list[Fact]:
    """Return the text of an answer as a fact; none if the player has no screen."""
    return [
        Fact("Thud.Answer", {"text": each.text}, delivery.recipients[0])
        for each in messages(hall, delivery, screens)
        if not each.package
    ]


def refusal_sentences(
    refusal: RefusedError,
    name: str,
    display: Display,
    *,
    advice: Iterable[str] = (),
    left_out: frozenset[str] = frozenset(),
) -> str:
    """Return the text of a refusal, unwrapped; the arguments are those of `refusal_messages`.

    Players who click can't have caused a parse error. They get all other texts without advice on
    what to type, unless nothing else is left.
    """
    clicks = display.is_drawn_by_client and not isinstance(refusal, ParseError)
    told = refusal_text(refusal, name, left_out=left_out, clicks=clicks)
    if clicks and (kept := without_commands(told)):
        return kept
    return " ".join([told, *advice])


def fact_messages(
    known: Iterable[Fact], names: Sequence[str], terminals: Mapping[str, Terminal]
) -> list[Message]:
    """Return facts as messages to those players whose programs have enabled their packages."""
    told, here = [], [name for name in names if name in terminals]
    if any(terminals[name].wants_usual for name in here):
        known = [*known]
        known += usual(known)
    for fact in known:
        to = [
            name for name in here if fact.to in {None, name} and terminals[name].wants(fact.package)
        ]
        if to:
            told.append(Message(tuple(to), as_json(fact.data), fact.package))
    return told


def fit_lines(lines: list[str], display: Display) -> list[str]:
    """Restrict lines to the display's characters, and indent any that look like machine lines."""
    if display.is_ascii_only:
        lines = [spelled for each in lines for spelled in _spelled(each, display.width)]
    return set_apart(lines) if display.with_machine_lines else lines


def _spelled(line: str, width: int) -> list[str]:
    """Spell out a line in ASCII, and wrap it if it gets too long."""
    spelled = plain(line)
    if line.isascii() or len(spelled) < width:
        return [spelled]
    return wrap(spelled, width, glued=False)
