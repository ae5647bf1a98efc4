"""Seeks: how they end, and how a busy player is asked before a match begins.

A seek ends when its maker begins a match elsewhere, when their clock runs, and when they leave.
Only a match against a bot that fills the wait leaves the seek open. When somebody accepts a busy
player's seek, that player is asked first. The question is a second seek, which has to be answered
within `ANSWER_WITHIN`; its `SeekMade.answers` is the number of the first. None of this applies to
correspondence seeks, which interrupt nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from thudmud.errors import RefusedError
from thudmud.game import events
from thudmud.game.clocks import TimeClass, TimeControl, time_class
from thudmud.game.events import SeekEnd, SeekEnded, SeekMade
from thudmud.game.hall import Decision, Hall
from thudmud.game.refusals import Refusal
from thudmud.values import replace

ANSWER_WITHIN = 20.0
"""Seconds in which a busy player has to answer whether they play."""


def end_seek(seek: SeekMade, player: str, why: SeekEnd, now: float) -> SeekEnded:
    """Return the event that ends a seek.

    Args:
        seek: the seek.
        player: the player who ends it; "" if the server does so for its maker.
        why: the reason.
        now: the time.
    """
    return SeekEnded(now, player or seek.player, seek.number, why, seek.player, seek.to)


def end_seeks(
    hall: Hall, seeks: Iterable[SeekMade], player: str, why: SeekEnd, now: float
) -> tuple[SeekEnded, ...]:
    """Return events that end some seeks, and the questions about these to their makers.

    If the makers leave, the questions end as ``GONE``. Otherwise they end as declined, and the
    players who asked keep looking.
    """
    over = {each.number: each for each in seeks}
    asking = [each for each in hall.seeks.values() if each.answers in over]
    answer = why if why is SeekEnd.GONE else SeekEnd.DECLINED
    return (
        *(end_seek(each, player, why, now) for each in over.values()),
        *(end_seek(each, each.to, answer, now) for each in asking if each.number not in over),
    )


def expire_question(hall: Hall, asking: SeekMade, now: float) -> Decision:
    """Return the decision after a busy player hasn't answered a question in time."""
    ends = end_seek(asking, asking.to, SeekEnd.UNANSWERED, now)
    return hall.hall_decision(asking.to, ends, *withdraw_questioned_seek(hall, asking, now))


def withdraw_questioned_seek(hall: Hall, asking: SeekMade, now: float) -> tuple[SeekEnded, ...]:
    """Return the end of the seek that a question was about, whose maker doesn't play."""
    seek = hall.seeks.get(asking.answers or 0)
    return (end_seek(seek, seek.player, SeekEnd.WITHDRAWN, now),) if seek else ()


def end_seeks_of_departed(
    hall: Hall, player: str, now: float, *, for_good: bool = True
) -> Decision:
    """Return a decision that ends a departed player's seeks.

    Args:
        hall: the hall.
        player: the player who left.
        now: the time.
        for_good: whether seeks addressed to the player end, too, and those with a word, which
            others may be about to accept.
    """
    theirs = [
        seek
        for seek in hall.seeks.values()
        if (for_good and player in {seek.player, seek.to})
        or (seek.player == player and not seek.word)
    ]
    return hall.hall_decision(player, *end_seeks(hall, theirs, player, SeekEnd.GONE, now))


def end_seeks_of_players(hall: Hall, decision: Decision, now: float) -> Decision:
    """Add to a decision the ends of seeks by players for whom it begins a match."""
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
    ends = end_seeks(
        hall, interrupting_seeks_of(hall, players), decision.player, SeekEnd.PLAYING, now
    )
    more = tuple(each for each in ends if each.number not in over)
    return replace(decision, hall=(*decision.hall, *more), hall_version=hall.version)


def interrupting_seeks_of(hall: Hall, players: Collection[str]) -> list[SeekMade]:
    """Return the seeks of some players, without those for correspondence, which don't interrupt."""
    return [each for each in hall.seeks.values() if each.player in players and not each.is_by_days]


def require_no_live_clock(hall: Hall, player: str, time: TimeControl | None = None) -> None:
    """Raise RefusedError if a player's clock runs, since they can't look for an opponent then.

    Args:
        hall: the hall.
        player: the player.
        time: the time control that they seek; correspondence is always allowed.
    """
    if time_class(time) is TimeClass.CORRESPONDENCE:
        return
    for table in hall.tables.seats_of(player):
        if table.has_live_clock:
            raise RefusedError(Refusal.SEEK_IN_HASTE, board=table.name)


def open_question_about(hall: Hall, seek: SeekMade, now: float) -> SeekMade | None:
    """Return the open question to the maker of a seek; None if there is none."""
    for each in hall.seeks.values():
        if each.answers == seek.number and each.is_open(now):
            return each
    return None
