"""The tables of opening statistics, and their rebuild.

Most positions are reached by one battle only. Such a position has a single row, in ``reached``,
that names the battle; its plies are read from the battle's events when needed. Once a second battle
reaches the position, ``played`` gets a row with counts for each ply, and the battle in ``reached``
becomes null. This saves a third of the space that counts for all positions would take.

A battle is counted in the transaction that ends it. A rebuild counts old battles in the background,
in the order of their numbers. ``upto`` in ``explored`` is the last number it has reached: a battle
that ends with a higher number is left to the rebuild.
"""

from __future__ import annotations

from collections.abc import Collection
from time import monotonic
from typing import Any, cast
from weakref import WeakKeyDictionary

from thudmud.features.explorer.model import (
    COUNTED_PLIES,
    MOST_TOLD,
    ExploredPly,
    ExploreLookup,
    PlacedPly,
    PlyStatistics,
    PositionStatistics,
    is_better,
    place_of,
    placed_plies,
)
from thudmud.game.archive import Battle, State
from thudmud.game.events import BattleStarted, Imported, Moved, Resumed, TakenBack
from thudmud.game.projections import realm_of
from thudmud.rules import RULESETS, Move, Position, read_ply, read_record
from thudmud.store import hooks
from thudmud.store.backend import Backend
from thudmud.store.codec import KINDS, from_text
from thudmud.store.database import Database, battle_ended, rebuilt
from thudmud.store.lookups import answers
from thudmud.store.players import Players
from thudmud.store.projected import ProjectedRows, as_text
from thudmud.store.rows import SqlTable, add_projections

add_projections(
    # Opening statistics: ``place`` is the number of a position up to symmetry; ``battle`` in
    # ``reached`` is the only battle that has reached it, or null if ``played`` has counts.
    explored="id integer primary key, upto integer",
    reached="place integer primary key, battle integer",
    played="place integer, ply text, times integer, dwarf integer, troll integer,"
    " drawn integer, lead integer, battle integer, primary key (place, ply)",
)

ALL = (1 << 62) - 1
"""The value of ``upto`` without a rebuild in progress."""

BATCH = 20
"""The number of battles to count in a transaction. The server has to wait for it."""

_begun: WeakKeyDictionary[Backend, tuple[float, int]] = WeakKeyDictionary()
"""When this process began or continued the rebuild of each database, and at which number."""

_NAMES = {kind: f'["{name}",' for name, kind in KINDS.items()}
_FOLDED = {_NAMES[kind]: kind for kind in (BattleStarted, Resumed, Imported, Moved, TakenBack)}


class ExploredRows:
    """The tables ``explored``, ``reached`` and ``played``."""

    def __init__(self, backend: Backend, table: SqlTable, projected: ProjectedRows) -> None:
        self._backend, self._table, self._projected = backend, table, projected

    def begin_anew(self) -> None:
        """Start a rebuild in the background. The tables must be empty."""
        if self._projected.count():
            self._put_upto(0)

    def count_ended_battle(self, battle: Battle) -> None:
        """Count a battle that has just ended, unless the rebuild is yet to reach its number."""
        if battle.number <= self.upto():
            self._count(battle)

    def count_next_batch(self, most: int = BATCH) -> bool:
        """Count the next batch of the rebuild; return whether there is more to do."""
        if (upto := self.upto()) == ALL:
            return False
        _begun.setdefault(self._backend, (monotonic(), upto))
        upto = self._count_some(upto, ALL, most)
        self._put_upto(upto)
        return upto != ALL

    def count_all(self, last: int) -> None:
        """Count all battles up to the given number. The tables must be empty."""
        upto = 0
        while upto < last:
            upto = self._count_some(upto, last, BATCH)

    def _count_some(self, upto: int, last: int, most: int) -> int:
        """Count at most `most` battles above `upto`; return the last number that is done."""
        rest = "where number > ? and number <= ? order by number limit ?"
        some = self._projected.battles(rest, upto, last, most)
        for battle in some:
            if battle.state is State.ENDED:
                self._count(battle)
        return some[-1].number if len(some) == most else last

    def statistics_of(
        self, lookup: ExploreLookup, realm: str, players: Players
    ) -> PositionStatistics:
        """Return the statistics of a position."""
        place, symmetry = place_of(lookup.rules, lookup.position, realm)
        upto = self.upto()
        left = 0 if upto == ALL else max(0, self._projected.count() - upto)
        seconds = self._seconds_for(left, upto) if left else None
        tried, battles = self._tried(place)
        if not tried:
            return PositionStatistics(left=left, seconds_left=seconds)
        named: dict[int, Battle] = {}

        def with_names(number: int) -> Battle:
            if number not in named:
                battle = battles[number]
                dwarf, troll = (players.name_of(int(each or 0)) for each in battle.players)
                named[number] = battle._replace(dwarf=dwarf, troll=troll)
            return named[number]

        rules, position = RULESETS[lookup.rules], symmetry.map_position(lookup.position)
        plies = []
        often = sorted(tried.items(), key=lambda each: (-each[1].times, each[0]))
        for ply, each in often[:MOST_TOLD]:
            try:
                move = symmetry.inverse.map_move(read_ply(ply, rules, position))
            except ValueError:  # hash collision: the ply is from another position
                continue
            plies.append(ExploredPly(move, each, with_names(each.battle)))
        best = next(iter(battles.values()))
        for battle in battles.values():
            best = battle if is_better(battle, best) else best
        times = sum(each.times for each in tried.values())
        others = max(0, len(tried) - MOST_TOLD)
        return PositionStatistics(
            tuple(plies), others, times, with_names(best.number), left, seconds
        )

    def _seconds_for(self, left: int, upto: int) -> float | None:
        """Return the seconds that the rest of the rebuild will take, if its speed is known."""
        since, first = _begun.get(self._backend, (0.0, upto))
        return (monotonic() - since) / (upto - first) * left if upto > first else None

    def _tried(self, place: int) -> tuple[dict[str, PlyStatistics], dict[int, Battle]]:
        """Return the plies played from a place by record, and the best battle of each by number."""
        reached = self._table.row("reached", "where place = ?", place)
        if reached is None:
            return {}, {}
        number = cast("int | None", reached[1])
        if number is not None:
            battle = self._projected.battle(number)
            own = (each.ply for each in self._placed_plies(battle) if each.place == place)
            return dict.fromkeys(own, PlyStatistics.by(battle)), {number: battle}
        rows = self._table.rows("played", "where place = ?", place)
        tried = {cast("str", row[1]): PlyStatistics(*cast("Any", row[2:])) for row in rows}
        return tried, self._battles({each.battle for each in tried.values()})

    def upto(self) -> int:
        """Return the number of the last battle that the rebuild has reached, or `ALL`."""
        row = self._table.row("explored", "where id = 1")
        return cast("int", row[1]) if row else ALL

    def _put_upto(self, upto: int) -> None:
        self._table.put("explored", 1, upto)

    def _count(self, battle: Battle) -> None:
        """Add a finished battle to the statistics of all places it has reached."""
        own = self._placed_plies(battle)
        if not own:
            return
        reached, tried = self._rows_of(own)
        alone = {place: number for place, number in reached.items() if number is not None}
        battles = self._battles({*alone.values(), *(each.battle for each in tried.values())})
        # Places reached by a single battle so far get counts now: its plies move to ``played``.
        changed: list[tuple[object, ...]] = [("reached", place, None) for place in alone]
        for number in set(alone.values()):
            first = [
                each
                for each in self._placed_plies(battles[number])
                if alone.get(each.place) == number
            ]
            tried |= dict.fromkeys(first, PlyStatistics.by(battles[number]))
            changed += [("played", *each, *tried[each]) for each in first if each not in own]
        # New places get this battle as their only one; all others get counts for its plies.
        places = dict.fromkeys(each.place for each in own)
        changed += [("reached", place, battle.number) for place in places if place not in reached]
        for step in own:
            if step.place in reached:
                before = tried.get(step)
                after = (
                    before.and_one(battle, battles[before.battle])
                    if before
                    else PlyStatistics.by(battle)
                )
                changed.append(("played", *step, *after))
        with self._backend.pipelined():
            for table, *row in changed:
                self._table.put(cast("str", table), *row)

    def _rows_of(
        self, own: Collection[PlacedPly]
    ) -> tuple[dict[int, int | None], dict[PlacedPly, PlyStatistics]]:
        """Return the stored places that a battle has reached, and the statistics of its plies.

        For each place: the number of the only battle that has reached it; None if there are more.
        """
        # A battle has up to `COUNTED_PLIES` places, so read all rows concerned in one round trip.
        places, plies = ({each[column]: None for each in own} for column in (0, 1))
        where = f"where place in ({_marks(places)})"
        reached, played = self._table.several(
            self._backend,
            ("reached", where, tuple(places)),
            ("played", f"{where} and ply in ({_marks(plies)})", (*places, *plies)),
        )
        # The query also finds plies that this battle played from other places; leave these out.
        tried = {
            step: PlyStatistics(*cast("Any", row[2:]))
            for row in played
            if (step := PlacedPly(*cast("Any", row[:2]))) in own
        }
        return dict(cast("Any", reached)), tried

    def _battles(self, numbers: Collection[int]) -> dict[int, Battle]:
        if not numbers:
            return {}
        rest = f"where number in ({_marks(numbers)})"
        return {each.number: each for each in self._projected.battles(rest, *sorted(numbers))}

    def _placed_plies(self, battle: Battle) -> tuple[PlacedPly, ...]:
        """Return the plies that a finished battle played, with their places."""
        try:
            opening, moves = self._first_plies(battle)
        except ValueError:  # an imported record that this version's rules can't read
            return ()
        return placed_plies(battle.rules, opening, moves, realm_of(battle.id.board))

    def _first_plies(self, battle: Battle) -> tuple[Position | None, list[Move]]:
        """Return a battle's opening, None for its ruleset's own, and its first plies.

        Events are folded from their stored text; only those of the types in `_FOLDED` are parsed.
        """
        opening: Position | None = None
        moves: list[Move | None] = []
        for schema, at, body in self._projected.bodies(battle):
            kind = _FOLDED.get(body[: body.index(",") + 1])
            if kind is Moved and len(moves) >= COUNTED_PLIES:
                moves.append(None)  # a placeholder, so that plies taken back are counted right
                continue
            match kind and from_text(schema, body, at, as_text):
                case BattleStarted(opening=setup):
                    opening = setup
                case Resumed(match=saved):
                    opening, moves = saved.opening, list(saved.moves)
                case Imported(rules=rules, record=record):
                    # The header and the setup come first. Parsing all plies would take longer.
                    first = "\n".join(record.splitlines()[: COUNTED_PLIES + 2])
                    game = read_record(first, RULESETS[rules]).game
                    opening, moves = game.initial_position, list(game.moves)
                case Moved(move=move):
                    moves.append(move)
                case TakenBack(moves=back):
                    del moves[len(moves) - len(back) :]
        return opening, [each for each in moves[:COUNTED_PLIES] if each]


def _marks(values: Collection[object]) -> str:
    """Return placeholders for a list of SQL parameters."""
    return ", ".join("?" * len(values))


def explored_rows(database: Database) -> ExploredRows:
    """Return the statistics tables of a database."""
    return ExploredRows(database.backend, database.table, database.projected)


@answers(ExploreLookup)
def _answer_explore_lookup(
    database: Database, lookup: ExploreLookup, realm: str
) -> PositionStatistics:
    return explored_rows(database).statistics_of(lookup, realm, database.players)


def _make_anew(stored: SqlTable, anew: Backend, projected: ProjectedRows) -> None:
    """Rebuild the statistics for comparison, up to the battle that the stored ones have reached."""
    table = SqlTable(anew.connection)
    for row in stored.rows("explored"):
        table.put("explored", *row)
    rows = ExploredRows(anew, table, projected)
    rows.count_all(rows.upto())


battle_ended.append(lambda database, battle: explored_rows(database).count_ended_battle(battle))
rebuilt.append(lambda database: explored_rows(database).begin_anew())
hooks.unfinished.append(lambda database: explored_rows(database).count_next_batch())
hooks.made_anew.append(_make_anew)
