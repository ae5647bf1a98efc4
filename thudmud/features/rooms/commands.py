"""Commands for looking around, walking between rooms, observing boards, and reading the news."""

from __future__ import annotations

import re
from typing import Any

from thudmud.errors import RefusedError
from thudmud.features.matchmaking.commands import bots_here
from thudmud.features.people.commands import Finger, fingered
from thudmud.features.playing.queries import Around
from thudmud.game.asides import ObserveChosen
from thudmud.game.command import (
    Asked,
    Command,
    CommandContext,
    close_private_board,
    verb,
    walk_asides,
)
from thudmud.game.hall import Decision
from thudmud.game.people import Person
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import (
    find_known_name,
    resolve_board,
    resolve_hall_board,
    resolve_observed_board,
)
from thudmud.game.rooms import MOST_OBSERVED
from thudmud.rules import Square

_SQUARE = re.compile("[a-o](?:1[0-5]|[1-9])")
"""A square in lower case, as in "look f6"."""


@verb("look")
class Look(Command):
    """Look around, or at a board or a player."""

    at: str | None = None
    is_question = True

    def __str__(self) -> str:
        return "look" if self.at is None else f"look at {self.at}"

    def decide(self, context: CommandContext) -> Decision:
        match self.at and self.at.lower():
            case None | "here" | "round" | "around":
                return context.decide_answer(Look(), context.person.room)
            case "hall" | "the hall":
                return context.decide_answer(Look())
            case "me" | "myself":
                return Finger().decide(context)
            case str(words) if _SQUARE.fullmatch(words):
                return Around(Square.parse(words)).decide(context)
        try:
            return context.decide_answer(
                self, resolve_board(context.hall, context.person, self.at).name
            )
        except RefusedError as refusal:
            if refusal.code is not Refusal.NO_BOARD_HERE:
                raise
            name = find_known_name(context, str(self.at))
            if name is None:
                raise
            return context.decide_answer(Finger(name), answer=fingered(context, name))


@verb("go", "go_hall")
class Go(Command):
    """Walk to a board, or to the hall if ``to`` is None."""

    to: str | None = None

    def __str__(self) -> str:
        return "go hall" if self.to is None else f"go to {self.to}"

    def decide(self, context: CommandContext) -> Decision:
        person = context.person
        to = None if self.to is None else resolve_hall_board(context.hall, person, self.to).name
        if to == person.room:
            if to is None:
                raise RefusedError(Refusal.ALREADY_IN_HALL)
            raise RefusedError(Refusal.ALREADY_THERE, board=to)
        return Decision(
            context.me, to, asides=(*close_private_board(person), *walk_asides(person, to))
        )


@verb("boards")
class Boards(Command):
    """List a page of the boards."""

    page: int = 1
    is_question = True

    def __str__(self) -> str:
        return "boards" if self.page == 1 else f"boards {self.page}"


@verb("bots")
class ViewBots(Command):
    """List the bots with their results."""

    is_question = True

    def decide(self, context: CommandContext) -> Decision:
        return context.decide_answer(self, answer=bots_here(context.hall, context.found))


@verb("news")
class ViewNews(Command):
    """Read the operator's news."""

    def decide(self, context: CommandContext) -> Decision:
        edition = context.hall.edition
        asked = Asked(context.me, self, answer=edition)
        return context.decide_asides(asked, news=edition)

    def apply_answer(self, person: Person, answer: Any) -> None:
        person.news = answer


@verb("observe")
class Observe(Command):
    """Observe a board from elsewhere; None lists the observed boards.

    ``at`` is the name of a board or of one of its players, or "battle" and a number.
    """

    at: str | None = None

    def decide(self, context: CommandContext) -> Decision:
        if self.at is None:
            return context.decide_answer(self)
        person = context.person
        table = resolve_observed_board(context.hall, person, self.at)
        board, observed = table.name, person.observed
        if person.name in table.seats.values():
            raise RefusedError(Refusal.OBSERVES_OWN, board=board)
        if board in observed:
            raise RefusedError(Refusal.OBSERVED_ALREADY, board=board)
        if len(observed) >= MOST_OBSERVED:
            raise RefusedError(Refusal.OBSERVES_TOO_MANY, most=MOST_OBSERVED, boards=observed)
        chosen = ObserveChosen(person.name, board, (*observed, board))
        return Decision(person.name, board, asides=(chosen,))


@verb("unobserve")
class Unobserve(Command):
    """Stop observing a board, named as in `Observe`; None stops observing all boards."""

    at: str | None = None

    def decide(self, context: CommandContext) -> Decision:
        observed = context.person.observed
        if not observed:
            raise RefusedError(Refusal.OBSERVES_NOTHING)
        ends = observed
        if self.at is not None:
            ends = (resolve_observed_board(context.hall, context.person, self.at).name,)
        chosen: list[ObserveChosen] = []
        for board in ends:
            if board not in observed:
                raise RefusedError(Refusal.NOT_OBSERVED, board=board, boards=observed)
            observed = tuple(each for each in observed if each != board)
            ended = ObserveChosen(context.me, board, observed)
            for part in context.person.parts.values():
                ended = part.adapt_observe_aside(ended)
            chosen.append(ended)
        return context.decide_asides(*chosen)
