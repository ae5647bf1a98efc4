"""The rows of the projections, for `thudmud.play.projections.project` and for queries.

A player is called by their number here, as text: names are looked up when a battle is handed out.
"""

from __future__ import annotations

from typing import Any, cast

from thudmud.play.battles import Battle, State
from thudmud.play.events import BattleId
from thudmud.play.projections import Strength, realm_of
from thudmud.play.standings import Count
from thudmud.rules import Ending, Outcome, Score, Side
from thudmud.store.schema import SqlTable


class ProjectedRows:
    """The rows of projections in a database. Streams are told apart by number there.

    Args:
        table: the database.
        durable: the one that has the streams and the players, if that is another.
    """

    def __init__(self, table: SqlTable, durable: SqlTable | None = None) -> None:
        self._table = table
        self._durable = durable or table

    def open_board(self, board: str) -> None:
        """Note that a board is up."""
        self._table.put("open_board", self._number(board))

    def close_board(self, board: str) -> None:
        """Note that a board is not up any more."""
        self._table.delete("open_board", "where stream = ?", self._number(board))

    def count(self) -> int:
        """Return the number of the last battle."""
        return self._table.number("select coalesce(max(number), 0) from battle")

    def battle(self, number: int) -> Battle:
        """Return a battle that is there, the players by number."""
        row = self._table.row("battle", "where number = ?", number)
        if row is None:
            raise LookupError(f"there is no battle {number}")
        return self._battle(row)

    def number_of(self, battle: BattleId) -> int | None:
        """Return the number of the battle that began there, if one did."""
        if not 0 < battle.version < 1 << 63:
            return None  # nor could it be looked for
        where = "where stream = ? and version = ?"
        row = self._table.row("battle", where, self._number(battle.board), battle.version)
        return cast("int", row[0]) if row else None

    def put_battle(self, battle: Battle) -> None:
        """Keep a battle."""
        outcome, points = battle.outcome, battle.points or (None, None)
        dwarf, troll = int(battle.dwarf or 0), int(battle.troll or 0)
        self._table.put(
            "battle",
            battle.number,
            realm_of(battle.id.board),
            self._number(battle.id.board),
            battle.id.version,
            float(battle.at),
            battle.rules,
            dwarf,
            troll,
            self._number(battle.source.board),
            battle.source.version,
            battle.until,
            battle.state.value,
            battle.part,
            *battle.before,
            battle.plies,
            outcome and outcome.ending.value,
            outcome.winner.value if outcome and outcome.winner else None,
            outcome and outcome.score.dwarf,
            outcome and outcome.score.troll,
            int(battle.rated),
            *points,
            int(battle.imported),
        )
        for player in {dwarf, troll} - {0}:
            self._table.put("player_battle", player, battle.number)

    def on_board(self, board: str) -> int | None:
        """Return the number of the last battle at a board, unless that is as new."""
        row = self._table.row("on_board", "where stream = ?", self._number(board))
        return cast("int", row[1]) if row else None

    def put_on_board(self, board: str, number: int | None) -> None:
        """Keep the number of the last battle at a board."""
        if number is None:
            self._table.delete("on_board", "where stream = ?", self._number(board))
        else:
            self._table.put("on_board", self._number(board), number)

    def put_away(self, number: int, position: int, dwarf: str, troll: str) -> None:
        """Keep where the match that came to a battle was put away, and whose it is."""
        self._table.put("adjourned", number, position, int(dwarf), int(troll))

    def take_up(self, number: int) -> bool:
        """Forget that a match was put away; return whether it was."""
        return self._table.delete("adjourned", "where battle = ?", number) > 0

    def tally(self, player: str, rules: str, kind: str) -> Count:
        """Return how a player fared."""
        where = "where player = ? and rules = ? and kind = ?"
        row = self._table.row("tally", where, int(player), rules, kind)
        return Count(*cast("tuple[int, int, int]", row[3:])) if row else Count()

    def put_tally(self, player: str, rules: str, kind: str, tally: Count) -> None:
        """Keep how a player fared."""
        self._table.put("tally", int(player), rules, kind, *tally)

    def strength(self, player: str) -> Strength | None:
        """Return how good a player is, if that is known."""
        row = self._table.row("rating", "where player = ?", int(player))
        return Strength(*cast("tuple[float, float, int]", row[2:5])) if row else None

    def put_strength(self, player: str, strength: Strength) -> None:
        """Keep how good a player is."""
        row = self._durable.row("player", "where id = ?", int(player))
        realm = row[1] if row else ""
        self._table.put("rating", int(player), realm, *strength, strength.rating.proven)

    def battles(self, rest: str, *values: object) -> list[Battle]:
        """Return the battles that a query finds, the players by number."""
        return [self._battle(row) for row in self._table.rows("battle", rest, *values)]

    def _number(self, stream: str) -> int:
        row = self._durable.row("stream", "where key = ?", stream)
        return cast("int", row[0]) if row else 0

    def _key(self, stream: object) -> str:
        row = self._durable.row("stream", "where id = ?", stream)
        if row is None:
            raise LookupError(f"there is no stream {stream}")
        return cast("str", row[1])

    def _battle(self, row: Any) -> Battle:
        number, _, stream, version, at, rules, dwarf, troll, source, source_version = row[:10]
        until, state, part, *before, plies, ending, winner, of_dwarf, of_troll = row[10:20]
        rated, *points, imported = row[20:]
        outcome = ending and Outcome(
            Ending(ending), Side(winner) if winner else None, Score(of_dwarf, of_troll)
        )
        return Battle(
            number,
            BattleId(self._key(stream), version),
            at,
            rules,
            str(dwarf or ""),
            str(troll or ""),
            BattleId(self._key(source), source_version),
            until,
            State(state),
            part,
            (before[0], before[1]),
            plies,
            outcome,
            bool(rated),
            None if points[0] is None else (points[0], points[1]),
            bool(imported),
        )
