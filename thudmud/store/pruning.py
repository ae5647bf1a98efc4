"""Pruning: dropping unneeded events, so that a store can be used for years.

Dropped at boards, if they are older than the board's last match: joining, leaving, absences,
offers, warnings and set-ups. Dropped in the hall: seeks that have ended, boards that were closed,
and comments that were replaced. Of an adjourned match, only its last state is kept. All events from
which a battle, a clock, a rating or a board is folded stay.

Remaining events keep their positions and versions. ``gap`` records the positions that are missing
on purpose, and the check accepts these alone. Each batch is dropped in one transaction with its
gaps, so the store stays consistent if the process is killed. A server may run meanwhile: no
appended event can make an unneeded one needed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from thudmud.game.events import (
    Absent,
    Adjourned,
    BattleEnded,
    BattleStarted,
    BoardClosed,
    BoardOpened,
    BoardRenamed,
    Cleared,
    Commented,
    Declined,
    IdleWarned,
    Joined,
    Left,
    Offered,
    OfferLapsed,
    PositionSet,
    Resumed,
    Returned,
    RulesSet,
    SeekEnded,
    SeekMade,
    StoredEvent,
    TimeSet,
)
from thudmud.game.projections import HALL, is_of_a_match, realm_of
from thudmud.store.codec import from_text
from thudmud.store.database import Database
from thudmud.store.projected import of_kinds

YOUNG = 3600.0
"""Seconds. Younger events are always kept."""

LOOK, BATCH = 20_000, 200
"""The positions examined at a time, and the events dropped in one transaction, which blocks a
running server for that long."""

_AT_BOARDS = (
    Joined, Left, Absent, Returned, RulesSet, PositionSet, TimeSet, Offered, OfferLapsed, Declined,
    IdleWarned,
)  # fmt: skip
_MOVE_CLOCKS = (Joined, Left, Absent, Returned)
_BEGIN_AND_END = (BattleStarted, BattleEnded, Cleared, Adjourned, Resumed)
_LOOKED_AT = (
    *_AT_BOARDS, *_BEGIN_AND_END, SeekMade, SeekEnded, BoardOpened, BoardRenamed, BoardClosed,
    Commented,
)  # fmt: skip


class PruneReport(NamedTuple):
    """The progress of pruning.

    Attributes:
        looked: the position up to which events have been examined.
        last: the position up to which they are to be examined.
        dropped: the number of dropped events, by the names of their kinds.
        bytes: the length of the dropped events.
    """

    looked: int
    last: int
    dropped: Counter[str]
    bytes: int = 0


class _Spare(NamedTuple):
    """An event that may be dropped."""

    position: int
    kind: str
    bytes: int


class Pruning:
    """A scan for unneeded events, from the first event on.

    Args:
        before: only events before that time are dropped, in seconds since the epoch.
    """

    def __init__(self, before: float) -> None:
        self._before = before
        self._looked = 0
        self._last: int | None = None
        self._timed: set[int] = set()
        """The streams with a running battle that has a clock, which absences move."""
        self._seeks: dict[int, _Spare] = {}
        self._boards: dict[str, list[_Spare]] = {}
        """By seek number and by board key: events to drop once the seek ends or the board is
        closed."""
        self._comments: dict[tuple[object, ...], _Spare] = {}
        """By battle, ply and player: the event to drop once the player replaces the comment."""
        self._dropped: Counter[str] = Counter()
        self._bytes = 0

    def find(self, database: Database) -> tuple[PruneReport, list[int]]:
        """Examine some more events; return the progress, and the positions of those to drop."""
        if self._last is None:
            young = database.now() - YOUNG
            self._last = database.streams.last_before(
                min(self._before, young), database.head.position
            )
        until = min(self._looked + LOOK, self._last)
        these, names = of_kinds(_LOOKED_AT, database.backend.dialect)
        rest = f"where position > ? and position <= ? and {these} order by position"
        found: list[_Spare] = []
        kept = (
            set(self._timed),
            dict(self._seeks),
            {key: [*spare] for key, spare in self._boards.items()},
            dict(self._comments),
        )
        try:
            for row in database.table.rows("event", rest, self._looked, until, *names):
                found += self._examine(database, row)
        except BaseException:  # called again if the connection was lost
            self._timed, self._seeks, self._boards, self._comments = kept
            raise
        self._looked = until
        self._dropped.update(each.kind for each in found)
        self._bytes += sum(each.bytes for each in found)
        report = PruneReport(until, self._last, self._dropped, self._bytes)
        return report, [each.position for each in found]

    def _examine(self, database: Database, row: Sequence[object]) -> Iterable[_Spare]:
        """Examine an event; return the events that are now known to be unneeded."""
        position, number, version, schema, at, _, body = cast(
            "tuple[int, int, int, int, float, int, str]", row
        )
        event = from_text(schema, body, at, str)
        spare = _Spare(position, body[2 : body.index('"', 2)], len(body))
        stream = database.streams.with_number(number)
        if is_of_a_match(stream.key):
            return [spare] if version < stream.version else []
        if stream.key == HALL:
            return self._examine_hall_event(event, spare)
        match event:
            case BattleStarted(time=time):
                self._note_clock(number, is_timed=time is not None)
            case Resumed(match=saved):
                self._note_clock(number, is_timed=saved.clock is not None)
            case BattleEnded() | Cleared() | Adjourned():
                self._note_clock(number, is_timed=False)
        moves_a_clock = number in self._timed and isinstance(event, _MOVE_CLOCKS)
        is_spare = version < stream.beginning and isinstance(event, _AT_BOARDS)
        return [spare] if is_spare and not moves_a_clock else []

    def _note_clock(self, stream: int, *, is_timed: bool) -> None:
        (self._timed.add if is_timed else self._timed.discard)(stream)

    def _examine_hall_event(self, event: StoredEvent, spare: _Spare) -> Iterable[_Spare]:
        match event:
            case SeekMade(number=number):
                self._seeks[number] = spare
            case SeekEnded(number=number):
                made = self._seeks.pop(number, None)
                return [made, spare] if made else [spare]
            case Commented(player=player, key=key, version=version, ply=ply, text=text):
                before = self._comments.pop((key, version, ply, player), None)
                if text:
                    self._comments[key, version, ply, player] = spare
                return [each for each in (before, None if text else spare) if each]
            # The opening of a gateway's board is the only record of its owner.
            case BoardOpened(key=key) | BoardRenamed(key=key) if not realm_of(key):
                self._boards.setdefault(key, []).append(spare)
            case BoardClosed(key=key) if not realm_of(key):
                return [*self._boards.pop(key, ()), spare]
        return []


def drop(database: Database, positions: Iterable[int]) -> None:
    """Drop the events at some positions, and record the gaps."""
    table = database.table
    there = [
        each
        for each in sorted(positions)
        if table.row("event", "where position = ?", each) is not None
    ]
    runs: list[list[int]] = []
    for position in there:
        if runs and runs[-1][1] == position - 1:
            runs[-1][1] = position
        else:
            runs.append([position, position])
    for first, last in runs:
        table.delete("event", "where position between ? and ?", first, last)
        _record(database, first, last)


def _record(database: Database, first: int, last: int) -> None:
    """Record a gap, merging it with adjacent ones."""
    table = database.table
    before = table.row("gap", "where first < ? order by first desc limit 1", first)
    if before and before[1] == first - 1:
        first = cast("int", before[0])
    if behind := table.row("gap", "where first = ?", last + 1):
        table.delete("gap", "where first = ?", last + 1)
        last = cast("int", behind[1])
    table.put("gap", first, last)
