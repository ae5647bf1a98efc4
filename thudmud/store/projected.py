"""The rows of projections, and their rebuilding from the events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from thudmud.game.archive import Battle, Pool, Rating, RatingChange, State, Tally
from thudmud.game.clocks import TimeClass, TimeControl
from thudmud.game.events import (
    BattleId,
    StoredEvent,
    TournamentEnded,
    TournamentMade,
    TournamentRound,
)
from thudmud.game.projections import (
    BOTS,
    PEOPLE,
    PROJECTED,
    EventPlace,
    Strength,
    project,
    realm_of,
)
from thudmud.rules import Comment, Ending, Outcome, Score, Side
from thudmud.store.backend import Backend, Dialect
from thudmud.store.codec import KINDS, from_text
from thudmud.store.rows import SqlTable, reading_row, scan


class ProjectedRows:
    """The rows of projections in a database (`thudmud.game.projections.Rows`).

    Streams and players are numbers there. As arguments, players are such numbers as text.

    Args:
        table: the projections.
        durable: the streams, players and events, if they are in another database.
    """

    def __init__(self, table: SqlTable, durable: SqlTable | None = None) -> None:
        self._table = table
        self._durable = durable or table

    def open_board(self, board: str, rules: str) -> None:
        """Store that a board is open, and its first ruleset."""
        self._table.put("open_board", self._number(board), rules)

    def close_board(self, board: str) -> None:
        """Store that a board is closed."""
        self._table.delete("open_board", "where stream = ?", self._number(board))

    def put_seek(self, number: int, position: int) -> None:
        """Store an open seek, by the position of its event."""
        self._table.put("open_seek", number, position)

    def put_interruption(self, since: float, until: float) -> None:
        """Store an outage, a span of time in which no server ran."""
        self._table.put("interruption", until, since)

    def drop_seek(self, number: int) -> None:
        """Delete a seek that has ended."""
        self._table.delete("open_seek", "where number = ?", number)

    def count(self) -> int:
        """Return the number of the last battle; 0 if there is none."""
        return self._table.number("select coalesce(max(number), 0) from battle")

    def battle(self, number: int) -> Battle:
        """Return the battle with the given number, with players as numbers."""
        row = self._table.row("battle", "where number = ?", number)
        if row is None:
            raise LookupError(f"no battle {number}")
        return self._battle(row)

    def number_of(self, battle: BattleId) -> int | None:
        """Return the number of the battle with an id; None if there is none."""
        if not 0 < battle.version < 1 << 63:
            return None  # too large for a column
        where = "where stream = ? and version = ?"
        row = self._table.row("battle", where, self._number(battle.board), battle.version)
        return cast("int", row[0]) if row else None

    def put_battle(self, battle: Battle) -> None:
        """Store a battle."""
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
            *battle.earlier_points,
            battle.plies,
            outcome and outcome.ending.value,
            outcome.winner.value if outcome and outcome.winner else None,
            outcome and outcome.score.dwarf,
            outcome and outcome.score.troll,
            int(battle.rated),
            *points,
            int(battle.imported),
            int(battle.has_custom_opening),
            battle.time and str(battle.time),
            *(battle.tournament or (None, None)),
            *battle.ratings,
        )
        for player in {dwarf, troll} - {0}:
            self._table.put("player_battle", player, battle.number)

    def on_board(self, board: str) -> int | None:
        """Return the number of the last battle at a board; None if the board is as new."""
        row = self._table.row("on_board", "where stream = ?", self._number(board))
        return cast("int", row[1]) if row else None

    def put_on_board(self, board: str, number: int | None) -> None:
        """Store the number of the last battle at a board; None deletes the entry."""
        if number is None:
            self._table.delete("on_board", "where stream = ?", self._number(board))
        else:
            self._table.put("on_board", self._number(board), number)

    def put_away(self, number: int, position: int, dwarf: str, troll: str) -> None:
        """Store an adjourned match.

        Args:
            number: the number of its last battle.
            position: the position of the event that adjourned it.
            dwarf: the player of the dwarfs.
            troll: the player of the trolls.
        """
        self._table.put("adjourned", number, position, int(dwarf), int(troll))

    def take_up(self, number: int) -> bool:
        """Delete an adjourned match; return whether there was one."""
        return self._table.delete("adjourned", "where battle = ?", number) > 0

    def tally(self, player: str, role: str, rules: str, kind: str) -> Tally:
        """Return a player's tally in a role."""
        where = "where player = ? and role = ? and rules = ? and kind = ?"
        row = self._table.row("tally", where, int(player), role, rules, kind)
        return Tally(*cast("tuple[int, int, int]", row[4:])) if row else Tally()

    def put_tally(self, player: str, role: str, rules: str, kind: str, tally: Tally) -> None:
        """Store a player's tally in a role."""
        self._table.put("tally", int(player), role, rules, kind, *tally)

    def strength(self, player: str, role: str, pool: Pool) -> Strength | None:
        """Return a player's strength in a role; None if it is unknown."""
        where = "where player = ? and role = ? and rules = ? and time = ?"
        row = self._table.row("rating", where, int(player), role, pool.rules, pool.time.value)
        return strength_of(row) if row else None

    def put_strength(self, player: str, role: str, pool: Pool, strength: Strength) -> None:
        """Store a player's strength in a role."""
        row = self._durable.row("player", "where id = ?", int(player))
        realm, rating = row[1] if row else "", strength.rating
        key = int(player), role, pool.rules, pool.time.value
        proven = None if rating.is_provisional else rating.proven
        self._table.put("rating", *key, realm, *strength, proven)

    def ratings(self, player: int) -> dict[tuple[str, Pool], Rating]:
        """Return a player's ratings, by role and pool."""
        found = {}
        for row in self._table.rows("rating", "where player = ? order by rules, time", player):
            with reading_row("rating", row):
                found[cast("str", row[1]), _pool(row[2], row[3])] = strength_of(row).rating
        return found

    def last_opponents(self, player: str, pool: Pool, most: int) -> list[str]:
        """Return the opponents of the last matches with people that changed a player's rating."""
        return [str(row[5]) for row in self._changes(int(player), pool, most)]

    def put_change(self, change: RatingChange, opponent: str, position: int) -> None:
        """Store a change of a rating.

        Args:
            change: the change.
            opponent: the opponent.
            position: the position of the event that ended the match or battle.
        """
        player, pool, before, after, with_bot = change
        key = int(player), BOTS if with_bot else PEOPLE, pool.rules, pool.time.value, position
        rating = after.points, after.uncertainty, after.results
        self._table.put("rating_change", *key, int(opponent), before, *rating)

    def changes(self, position: int) -> list[RatingChange]:
        """Return the rating changes by the event at a position, with numbers for players."""
        rest = "where position = ? order by player"
        rows = self._table.rows("rating_change", rest, position)
        return [
            RatingChange(
                str(row[0]),
                _pool(row[2], row[3]),
                cast("int", row[6]),
                Rating(*cast("tuple[int, int, int]", row[7:])),
                with_bot=row[1] == BOTS,
            )
            for row in rows
        ]

    def curve(self, player: int, pool: Pool, most: int) -> tuple[int, ...]:
        """Return a rating's points before the first of the last matches, and after each."""
        rows = list(reversed(self._changes(player, pool, most)))
        points = [*(row[6] for row in rows[:1]), *(row[7] for row in rows)]
        return tuple(cast("list[int]", points))

    def _changes(self, player: int, pool: Pool, most: int) -> list[Sequence[object]]:
        """Return the rows of the last rating changes among people, the latest first."""
        rest = "where player = ? and role = ? and rules = ? and time = ?"
        rest += " order by position desc limit ?"
        values = player, PEOPLE, pool.rules, pool.time.value, most
        return list(self._table.rows("rating_change", rest, *values))

    def put_comment(self, number: int, position: int, comment: Comment) -> None:
        """Store a comment on a ply."""
        player = int(comment.player or 0)
        self._table.put("comment", number, comment.ply, player, position, comment.text)

    def remove_comment(self, number: int, ply: int, player: str) -> None:
        """Delete a player's comment on a ply."""
        where = "where battle = ? and ply = ? and player = ?"
        self._table.delete("comment", where, number, ply, int(player or 0))

    def comments(self, number: int) -> Iterator[tuple[int, int, str]]:
        """Yield the comments on a battle in order.

        Yields:
            The ply, the player's number, and the text.
        """
        rest = "where battle = ? order by ply, position"
        for _, ply, player, _, text in self._table.rows("comment", rest, number):
            yield cast("int", ply), cast("int", player), cast("str", text)

    def put_tournament(self, made: TournamentMade) -> None:
        """Store a tournament that has been announced."""
        known = made.title, made.kind.value, made.rules, str(made.time)
        self._table.put("tournament", made.number, *known, None, "", 0, 0)

    def put_tournament_event(self, number: int, position: int) -> None:
        """Store the position of an event of a tournament."""
        self._table.put("tournament_event", number, position)

    def end_tournament(self, ended: TournamentEnded) -> None:
        """Store the end of a tournament, and the places of its players."""
        row = self._table.row("tournament", "where number = ?", ended.number)
        if row is None:
            return
        players = [int(each) for each in ended.players]
        over = float(ended.at), ended.why.value, len(players), players[0] if players else 0
        self._table.put("tournament", *row[:5], *over)
        for player, place in zip(players, ended.places, strict=True):
            self._table.put("tournament_place", player, ended.number, place)

    def put_lesson(self, player: str, lesson: int) -> None:
        """Store that a player has completed a lesson."""
        self._table.put("lesson", int(player), lesson)

    def has_tried(self, player: str, puzzle: int) -> bool:
        """Return whether a player has tried a puzzle."""
        where = "where player = ? and puzzle = ?"
        return self._table.row("puzzle_try", where, int(player), puzzle) is not None

    def put_try(self, player: str, puzzle: int, *, solved: bool) -> None:
        """Store that a player has tried a puzzle, and whether it was solved."""
        self._table.put("puzzle_try", int(player), puzzle, int(solved))

    def difficulty(self, puzzle: int) -> Strength | None:
        """Return the difficulty of a puzzle; None if it is unknown."""
        row = self._table.row("puzzle", "where number = ?", puzzle)
        return Strength(*cast("tuple[float, float, int]", row[1:])) if row else None

    def put_difficulty(self, puzzle: int, strength: Strength) -> None:
        """Store the difficulty of a puzzle."""
        self._table.put("puzzle", puzzle, *strength)

    def battles(self, rest: str, *values: object) -> list[Battle]:
        """Return the battles that a query finds, with numbers for players."""
        return [self._battle(row) for row in self._table.rows("battle", rest, *values)]

    def bodies(self, battle: Battle) -> Iterator[tuple[int, float, str]]:
        """Yield the events from which a battle is folded, undecoded.

        Yields:
            The schema, the time in seconds since the epoch, and the text.
        """
        first = battle.source.version
        last = (1 << 62) if battle.until is None else battle.until
        rest = "where stream = ? and version between ? and ? order by version"
        stream = self._number(battle.source.board)
        for row in self._durable.rows("event", rest, stream, first, last):
            yield cast("int", row[3]), cast("float", row[4]), cast("str", row[6])

    def _number(self, stream: str) -> int:
        row = self._durable.row("stream", "where key = ?", stream)
        return cast("int", row[0]) if row else 0

    def _key(self, stream: object) -> str:
        row = self._durable.row("stream", "where id = ?", stream)
        if row is None:
            raise LookupError(f"no stream {stream}")
        return cast("str", row[1])

    def _battle(self, row: Any) -> Battle:
        with reading_row("battle", row):
            return self._battle_in(row)

    def _battle_in(self, row: Any) -> Battle:
        number, _, stream, version, at, rules, dwarf, troll, source, source_version = row[:10]
        until, state, part, *before, plies, ending, winner, of_dwarf, of_troll = row[10:20]
        rated, *points, imported, set_up, time, tournament, round_ = row[20:28]
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
            bool(set_up),
            TimeControl.of(cast("str", time)) if time else None,
            TournamentRound(tournament, round_) if tournament else None,
            self._title(tournament) if tournament else "",
            (row[28], row[29]),
        )

    def _title(self, tournament: int) -> str:
        row = self._table.row("tournament", "where number = ?", tournament)
        return cast("str", row[1]) if row else ""


def strength_of(row: Sequence[object]) -> Strength:
    """Return the strength in a row of ``rating``."""
    return Strength(*cast("tuple[float, float, int]", row[5:8]))


def _pool(rules: object, time: object) -> Pool:
    return Pool(cast("str", rules), TimeClass(time))


def project_all(
    backend: Backend, rows: ProjectedRows, advance: Callable[[int], None] = lambda _: None
) -> None:
    """Compute the rows of the projections from all events.

    Args:
        backend: the events.
        rows: the projections.
        advance: called with the position of each event that is done.
    """
    streams = SqlTable(backend.connection).rows("stream")
    keys = {row[0]: cast("str", row[1]) for row in streams}
    these, names = of_kinds(PROJECTED, backend.dialect)
    for position, stream, version, schema, at, _, body in scan(
        backend, "event", f"where {these} order by position", *names
    ):
        event = from_text(cast("int", schema), cast("str", body), cast("float", at), as_text)
        place = EventPlace(keys[stream], cast("int", version), cast("int", position))
        project(event, place, rows)
        advance(place.position)


def of_kinds(kinds: tuple[type[StoredEvent], ...], dialect: Dialect) -> tuple[str, list[str]]:
    """Return the SQL condition for events of some kinds, and its values."""
    names = [f'["{name}",' for name, kind in KINDS.items() if issubclass(kind, kinds)]
    kind = f"substr(body, 1, {dialect.find}(body, ','))"
    return f"{kind} in ({', '.join('?' * len(names))})", names


def as_text(number: int) -> str:
    """Return a player's number as text, the form in projections; "" for nobody."""
    return str(number or "")
