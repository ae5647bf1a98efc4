"""Seeks: how they end, and when a player is asked before a match takes them away from a battle.

A seek ends when its maker begins a match elsewhere, when their clock runs, and when they go. Only a
bot that fills the wait leaves it open. Whoever accepts the seek of a player who is busy asks that
player first, by a seek of their own that is answered within some seconds; `SeekMade.answers` says
which it is about. Seeks by correspondence take nobody away from anything, so all this is not for
them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from thudmud.errors import Refused
from thudmud.game import events
from thudmud.game.clocks import TimeClass, TimeControl, time_class
from thudmud.game.events import SeekEnd, SeekEnded, SeekMade
from thudmud.game.hall import Decision, Hall
from thudmud.game.refusals import Refusal
from thudmud.values import replace

ANSWER_WITHIN = 20.0
"""Seconds within which a busy player says whether they play whoever has accepted their seek."""


def ended(seek: SeekMade, player: str, why: SeekEnd, now: float) -> SeekEnded:
    """Return the end of a seek, by a player's doing; "" is the server, for whoever made it."""
    return SeekEnded(now, player or seek.player, seek.number, why, seek.player, seek.to)


def all_ended(
    hall: Hall, seeks: Iterable[SeekMade], player: str, why: SeekEnd, now: float
) -> tuple[SeekEnded, ...]:
    """Return the ends of some seeks, and of those by which their makers are being asked.

    Who goes has not answered; else it is a no, after which whoever asked looks on.
    """
    over = {each.number: each for each in seeks}
    asking = [each for each in hall.seeks.values() if each.answers in over]
    answer = why if why is SeekEnd.GONE else SeekEnd.DECLINED
    return (
        *(ended(each, player, why, now) for each in over.values()),
        *(ended(each, each.to, answer, now) for each in asking if each.number not in over),
    )


def unanswered(hall: Hall, asking: SeekMade, now: float) -> Decision:
    """Return the decision that a busy player has not said in time whether they play somebody."""
    ends = ended(asking, asking.to, SeekEnd.UNANSWERED, now)
    return hall.decision(asking.to, ends, *withdrawn(hall, asking, now))


def withdrawn(hall: Hall, asking: SeekMade, now: float) -> tuple[SeekEnded, ...]:
    """Return the end of the seek whose maker was asked, and does not play."""
    seek = hall.seeks.get(asking.answers or 0)
    return (ended(seek, seek.player, SeekEnd.WITHDRAWN, now),) if seek else ()


def gone(hall: Hall, player: str, now: float, *, for_good: bool = True) -> Decision:
    """Return the decision that ends the seeks by a player who left; if for good, also to them."""
    theirs = [
        seek
        for seek in hall.seeks.values()
        if seek.player == player or (for_good and seek.to == player)
    ]
    return hall.decision(player, *all_ended(hall, theirs, player, SeekEnd.GONE, now))


def look_no_longer(hall: Hall, decision: Decision, now: float) -> Decision:
    """Return a decision, in which the seeks of those end who begin a match by it."""
    begun = decision.events[-1] if decision.events else None
    if hall.version is None or not hall.seeks:
        return decision
    if not isinstance(begun, events.BattleStarted | events.Resumed):
        return decision
    match = begun.match if isinstance(begun, events.Resumed) else begun
    is_untimed_second = begun is match and match.time is None and begun.number > 1
    is_practice = match.dwarf == match.troll
    if is_untimed_second or is_practice or time_class(match.time) is TimeClass.CORRESPONDENCE:
        return decision
    players = {match.dwarf, match.troll}
    over = {each.number for each in decision.hall if isinstance(each, SeekEnded)}
    ends = all_ended(hall, sought_by(hall, players), decision.player, SeekEnd.PLAYING, now)
    more = tuple(each for each in ends if each.number not in over)
    return replace(decision, hall=(*decision.hall, *more), hall_version=hall.version)


def sought_by(hall: Hall, players: Collection[str]) -> list[SeekMade]:
    """Return the seeks of some players that would take them away from what they do."""
    return [each for each in hall.seeks.values() if each.player in players and not each.is_by_days]


def require_no_haste(hall: Hall, player: str, time: TimeControl | None = None) -> None:
    """Raise Refused if a player's clock runs, so that they can look for nobody.

    That does not matter to a match by correspondence, as ``time`` says.
    """
    if time_class(time) is TimeClass.CORRESPONDENCE:
        return
    for table in hall.tables.seats_of(player):
        if table.in_haste:
            raise Refused(Refusal.SEEK_IN_HASTE, board=table.name)


def asked_about(hall: Hall, seek: SeekMade, now: float) -> SeekMade | None:
    """Return the seek by which the maker of another is being asked; None if nobody asks."""
    for each in hall.seeks.values():
        if each.answers == seek.number and each.is_open(now):
            return each
    return None
