"""A hall for tests, and how people come to it, do things, and are gone."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.play.conftest import GRACE, NOW
from thudmud.play.commands import Command, Style
from thudmud.play.events import Parting
from thudmud.play.hall import Decision, Hall, Telling
from thudmud.play.hall_decisions import arrive, decide, part
from thudmud.play.refusals import Refusal, Refused
from thudmud.play.table import BoardSpec

BOARDS = (
    BoardSpec("oak board"),
    BoardSpec("pine board", style=Style.BRIEF),
    BoardSpec("elm table", "koom valley"),
)


def hall_of(*players: str, grace: float = GRACE) -> Hall:
    """Return a hall with players in it, who have no accounts."""
    hall = Hall(BOARDS, 200, grace)
    for player in players:
        enter(hall, player)
    return hall


def commit(hall: Hall, decisions: Iterable[Decision]) -> list[Telling]:
    return [told for made in decisions for told in hall.commit(made)]


def enter(
    hall: Hall,
    player: str,
    now: float = NOW,
    styles: dict[str, Style] | None = None,
    *,
    member: bool = False,
) -> list[Telling]:
    return commit(hall, arrive(hall, player, now, member=member, styles=styles or {}))


def do(hall: Hall, player: str, command: Command, now: float = NOW) -> list[Telling]:
    return commit(hall, decide(hall, player, command, now))


def lose(
    hall: Hall, player: str, now: float = NOW, parting: Parting = Parting.LOST
) -> list[Telling]:
    return commit(hall, part(hall, player, parting, now))


def refusal(hall: Hall, player: str, command: Command, now: float = NOW) -> Refusal:
    with pytest.raises(Refused) as refused:
        decide(hall, player, command, now)
    assert "{" not in str(refused.value)
    return refused.value.reason
