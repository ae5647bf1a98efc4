"""Pruning: what nothing needs any more is dropped, so that a store can be kept for years.

What nothing needs any more: who sat down, got up, was away and came back, offers, warnings and what
was set up at a board before the last match there began; seeks that have ended, boards that were
closed and comments that were replaced; and of a match that was put away, all but how it stood last.
Whatever a battle, a clock, a rating or a board is made of stays.

Events keep their positions and versions. ``gap`` tells which positions are missing on purpose, and
the check accepts these alone. What is dropped at once is one transaction with its gaps, so a
process that is killed leaves a store that is in order. It may be done beside a server: what is
found can be needed no more, however much is appended meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from thudmud.play.events import (
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
from thudmud.play.projections import HALL, is_of_a_match, realm_of
from thudmud.store.codec import from_text
from thudmud.store.database import Database
from thudmud.store.projected import of_kinds

YOUNG = 3600.0
"""Seconds. What happened since then is left alone, whatever is asked for."""

LOOK, BATCH = 20_000, 200
"""Positions that are looked at in one go, and events that are dropped in one transaction, for which
a server beside us waits."""

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
    """What pruning has come to so far.

    Attributes:
        looked: up to which position it has looked.
        last: up to which it is to look.
        dropped: how many events, by the names of their kinds.
        bytes: how long their texts were in all.
    """

    looked: int
    last: int
    dropped: Counter[str]
    bytes: int = 0


class _Spare(NamedTuple):
    """An event that may go."""

    position: int
    kind: str
    bytes: int


class Pruning:
    """Finds what is needed no more, from the first event on.

    Args:
        before: only what happened before that time, in seconds since the epoch.
    """

    def __init__(self, before: float) -> None:
        self._before = before
        self._looked = 0
        self._last: int | None = None
        self._timed: set[int] = set()
        """The streams in which a battle with a clock is played: who is away there moves it."""
        self._seeks: dict[int, _Spare] = {}
        self._boards: dict[str, list[_Spare]] = {}
        """By number and by key: what goes with the end of a seek, or when the board is closed."""
        self._comments: dict[tuple[object, ...], _Spare] = {}
        """By battle, ply and player: what goes when they comment on it once more."""
        self._dropped: Counter[str] = Counter()
        self._bytes = 0

    def find(self, database: Database) -> tuple[PruneReport, list[int]]:
        """Look at some more events; return how far that is, and the positions of those to drop."""
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
                found += self._looked_at(database, row)
        except BaseException:  # it may be asked for again, if a link was lost
            self._timed, self._seeks, self._boards, self._comments = kept
            raise
        self._looked = until
        self._dropped.update(each.kind for each in found)
        self._bytes += sum(each.bytes for each in found)
        report = PruneReport(until, self._last, self._dropped, self._bytes)
        return report, [each.position for each in found]

    def _looked_at(self, database: Database, row: Sequence[object]) -> Iterable[_Spare]:
        """Return what is known to be needed no more, now that an event has been looked at."""
        position, number, version, schema, at, _, body = cast(
            "tuple[int, int, int, int, float, int, str]", row
        )
        event = from_text(schema, body, at, str)
        spare = _Spare(position, body[2 : body.index('"', 2)], len(body))
        stream = database.streams.numbered(number)
        if is_of_a_match(stream.key):
            return [spare] if version < stream.version else []
        if stream.key == HALL:
            return self._in_the_hall(event, spare)
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

    def _in_the_hall(self, event: StoredEvent, spare: _Spare) -> Iterable[_Spare]:
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
            # Whose a board of the gateway is, its registration tells forever.
            case BoardOpened(key=key) | BoardRenamed(key=key) if not realm_of(key):
                self._boards.setdefault(key, []).append(spare)
            case BoardClosed(key=key) if not realm_of(key):
                return [*self._boards.pop(key, ()), spare]
        return []


def drop(database: Database, positions: Iterable[int]) -> None:
    """Drop the events at some positions, and record that they are gone: one transaction."""
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
    """Record a gap, as one with those that it touches."""
    table = database.table
    before = table.row("gap", "where first < ? order by first desc limit 1", first)
    if before and before[1] == first - 1:
        first = cast("int", before[0])
    if behind := table.row("gap", "where first = ?", last + 1):
        table.delete("gap", "where first = ?", last + 1)
        last = cast("int", behind[1])
    table.put("gap", first, last)
