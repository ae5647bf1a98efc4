"""The counts of what was played from which positions, as rows; and how they are made anew.

Most positions were reached by one battle alone. Then one row, of ``reached``, says by which, and
what that battle played is read from its events. Once another battle gets there, a row of ``played``
for each ply has the counts. So a battle takes a third less room than with counts of all.

A battle is counted in the transaction that ends it. Where the rows are to be made anew, that is
done in the background, by the numbers of the battles: ``upto`` is the last that was looked at, and
those above it are counted when it is their turn. ``sum`` combines the CRCs of all rows, so that the
check of a store notices when one is missing, or is as it was before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, cast

from thudmud.features.explorer.model import (
    COUNTED_PLIES,
    MOST_TOLD,
    Explored,
    ExploredPly,
    ExploreLookup,
    PlacedPly,
    Tried,
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
from thudmud.store.database import Database
from thudmud.store.interface import Damaged
from thudmud.store.lookups import answers
from thudmud.store.players import Players
from thudmud.store.projected import ProjectedRows, as_text
from thudmud.store.rows import SqlTable, crc, scan

ALL = (1 << 62) - 1
"""The value of ``upto`` once every battle was looked at."""

BATCH = 20
"""Battles that are counted in one transaction, which a server has to wait for."""

_NAMES = {kind: f'["{name}",' for name, kind in KINDS.items()}
_FOLDED = {_NAMES[kind]: kind for kind in (BattleStarted, Resumed, Imported, Moved, TakenBack)}


class _State(NamedTuple):
    """The one row of ``explored``."""

    id: int = 1
    upto: int = ALL
    sum: int = 0


class ExploredRows:
    """The rows of ``explored``, ``reached`` and ``played``."""

    def __init__(self, backend: Backend, table: SqlTable, projected: ProjectedRows) -> None:
        self._backend, self._table, self._projected = backend, table, projected

    def begin_anew(self) -> None:
        """Count all battles again, in the background; the tables are empty."""
        if self._projected.count():
            self._table.put("explored", *_State(upto=0))

    def ended(self, battle: Battle) -> None:
        """Count a battle that has ended just now, unless it will be looked at later."""
        state = self._state()
        if battle.number <= state.upto:
            self._table.put("explored", *self._counted(battle, state))

    def go_on(self, most: int = BATCH) -> bool:
        """Count some more battles; return whether there may be more to count."""
        state = self._state()
        if state.upto == ALL:
            return False
        rest = "where number > ? order by number limit ?"
        some = self._projected.battles(rest, state.upto, most)
        for battle in some:
            if battle.state is State.ENDED:
                state = self._counted(battle, state)
        upto = some[-1].number if len(some) == most else ALL
        self._table.put("explored", *state._replace(upto=upto))
        return upto != ALL

    def found(self, lookup: ExploreLookup, realm: str, players: Players) -> Explored:
        """Return what has been played from a position."""
        place, symmetry = place_of(lookup.rules, lookup.position, realm)
        state = self._state()
        left = 0 if state.upto == ALL else max(0, self._projected.count() - state.upto)
        tried, battles = self._tried(place)
        if not tried:
            return Explored(left=left)
        named: dict[int, Battle] = {}

        def called(number: int) -> Battle:
            if number not in named:
                battle = battles[number]
                dwarf, troll = (players.name_of(int(each or 0)) for each in battle.players)
                named[number] = battle._replace(dwarf=dwarf, troll=troll)
            return named[number]

        rules, position = RULESETS[lookup.rules], symmetry.position(lookup.position)
        plies = []
        often = sorted(tried.items(), key=lambda each: (-each[1].times, each[0]))
        for ply, each in often[:MOST_TOLD]:
            try:
                move = symmetry.inverse.move(read_ply(ply, rules, position))
            except ValueError:  # another position has the same number, by chance
                continue
            plies.append(ExploredPly(move, each, called(each.battle)))
        best = next(iter(battles.values()))
        for battle in battles.values():
            best = battle if is_better(battle, best) else best
        times = sum(each.times for each in tried.values())
        others = max(0, len(tried) - MOST_TOLD)
        return Explored(tuple(plies), others, times, called(best.number), left)

    def _tried(self, place: int) -> tuple[dict[str, Tried], dict[int, Battle]]:
        """Return the plies played from a place, and the best battles with each, by number."""
        reached = self._table.row("reached", "where place = ?", place)
        if reached is None:
            return {}, {}
        number = cast("int | None", reached[1])
        if number is not None:
            battle = self._projected.battle(number)
            own = (each.ply for each in self._placed_plies(battle) if each.place == place)
            return dict.fromkeys(own, Tried.by(battle)), {number: battle}
        rows = self._table.rows("played", "where place = ?", place)
        tried = {cast("str", row[1]): Tried(*cast("Any", row[2:])) for row in rows}
        return tried, self._battles({each.battle for each in tried.values()})

    def _state(self) -> _State:
        row = self._table.row("explored", "where id = 1")
        return _State(*cast("Any", row)) if row else _State()

    def _counted(self, battle: Battle, state: _State) -> _State:
        """Count a battle; return the state after that."""
        own = self._placed_plies(battle)
        if not own:
            return state
        places, plies = ({each[column]: None for each in own} for column in (0, 1))
        where = f"where place in ({_marks(places)})"
        reached, played = self._table.several(
            self._backend,
            ("reached", where, tuple(places)),
            ("played", f"{where} and ply in ({_marks(plies)})", (*places, *plies)),
        )
        rows: dict[PlacedPly, Sequence[object]] = {
            PlacedPly(*cast("Any", row[:2])): row for row in played
        }
        tried = {step: Tried(*cast("Any", row[2:])) for step, row in rows.items() if step in own}
        alone = {cast("int", row[0]): cast("int", row[1]) for row in reached if row[1] is not None}
        battles = self._battles({*alone.values(), *(each.battle for each in tried.values())})
        changed: list[tuple[str, Sequence[object] | None, Sequence[object]]] = []
        for place, number in alone.items():  # it has company now
            changed.append(("reached", (place, number), (place, None)))
        for number in set(alone.values()):
            first = [
                each
                for each in self._placed_plies(battles[number])
                if alone.get(each.place) == number
            ]
            tried |= dict.fromkeys(first, Tried.by(battles[number]))
            changed += [
                ("played", None, (*each, *tried[each])) for each in first if each not in own
            ]
        shared = {row[0] for row in reached}
        changed += [
            ("reached", None, (place, battle.number)) for place in places if place not in shared
        ]
        for step in own:
            if step.place in shared:
                before = tried.get(step)
                after = (
                    before.and_one(battle, battles[before.battle]) if before else Tried.by(battle)
                )
                changed.append(("played", rows.get(step), (*step, *after)))
        total = state.sum
        with self._backend.together():
            for table, old, new in changed:
                self._table.put(table, *new)
                total ^= crc(new) ^ (crc(old) if old else 0)
        return state._replace(sum=total)

    def _battles(self, numbers: Collection[int]) -> dict[int, Battle]:
        if not numbers:
            return {}
        rest = f"where number in ({_marks(numbers)})"
        return {each.number: each for each in self._projected.battles(rest, *sorted(numbers))}

    def _placed_plies(self, battle: Battle) -> tuple[PlacedPly, ...]:
        """Return what a battle that has ended has played from which places."""
        try:
            opening, moves = self._first_plies(battle)
        except ValueError:  # an imported record that cannot be read by these rules
            return ()
        return placed_plies(battle.rules, opening, moves, realm_of(battle.id.board))

    def _first_plies(self, battle: Battle) -> tuple[Position | None, list[Move]]:
        """Return the opening of a battle, None for its ruleset's own, and its first plies."""
        opening: Position | None = None
        moves: list[Move | None] = []
        for schema, at, body in self._projected.bodies(battle):
            kind = _FOLDED.get(body[: body.index(",") + 1])
            if kind is Moved and len(moves) >= COUNTED_PLIES:
                moves.append(None)  # it only has to be known how many there are
                continue
            match kind and from_text(schema, body, at, as_text):
                case BattleStarted(opening=setup):
                    opening = setup
                case Resumed(match=saved):
                    opening, moves = saved.opening, list(saved.moves)
                case Imported(rules=rules, record=record):
                    # A header and the setup come first. To check all plies would take longer.
                    first = "\n".join(record.splitlines()[: COUNTED_PLIES + 2])
                    game = read_record(first, RULESETS[rules]).game
                    opening, moves = game.opening, list(game.moves)
                case Moved(move=move):
                    moves.append(move)
                case TakenBack(moves=back):
                    del moves[len(moves) - len(back) :]
        return opening, [each for each in moves[:COUNTED_PLIES] if each]


def _marks(values: Collection[object]) -> str:
    """Return the placeholders of some values."""
    return ", ".join("?" * len(values))


def explored_rows(database: Database) -> ExploredRows:
    """Return the rows of a database."""
    return ExploredRows(database.backend, database.table, database.projected)


@answers(ExploreLookup)
def _found(database: Database, lookup: ExploreLookup, realm: str) -> Explored:
    return explored_rows(database).found(lookup, realm, database.players)


def check(backend: Backend) -> None:
    """Check that the rows are those that were written last.

    To count all battles again would take longer than everything else.

    Raises:
        Damaged: a row is missing, or as it was before.
    """
    state = SqlTable(backend.connection).row("explored", "where id = 1")
    total = 0
    for name in ("reached", "played"):
        for row in scan(backend, name):
            total ^= crc(row)
    if total != (state[2] if state else 0):
        raise Damaged("something of what was played from which positions is as it was before")


hooks.battle_ended.append(lambda database, battle: explored_rows(database).ended(battle))
hooks.rebuilt.append(lambda database: explored_rows(database).begin_anew())
hooks.unfinished.append(lambda database: explored_rows(database).go_on())
hooks.checks.append(check)
