"""Queries about battles, their comments, and adjourned matches."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import cast

from thudmud.game.archive import (
    PAGE,
    AdjournedMatch,
    Battle,
    HistoryLookup,
    HistoryPage,
    State,
)
from thudmud.game.clocks import DAY
from thudmud.game.days import day_begins
from thudmud.game.events import Adjourned, BattleId, Commented, StoredEvent
from thudmud.rules import Comment
from thudmud.store.codec import to_text
from thudmud.store.database import Database
from thudmud.store.hall import hall_event_rows


def number_of(database: Database, began: BattleId) -> int | None:
    """Return the number of the battle with an id; None if there is none."""
    return database.projected.number_of(began)


def count(database: Database) -> int:
    """Return the number of the last battle; 0 if there is none."""
    return database.projected.count()


def battle(database: Database, number: int, *, realm: str = "") -> Battle | None:
    """Return the battle with the given number; None if there is none."""
    if not 0 < number < 1 << 63:
        return None  # too large for a column
    return next(iter(_battles(database, "where number = ? and realm = ?", number, realm)), None)


def battles(
    database: Database,
    player: str | None = None,
    after: int = 0,
    most: int = 1000,
    *,
    since: float = -math.inf,
    realm: str = "",
) -> Sequence[Battle]:
    """Return the first battles after a number, ordered by number.

    Args:
        database: the database.
        player: whose battles; None for everybody's. If the name has had several owners, such as
            guests who gave it up, the battles of all of them are returned.
        after: only battles with a higher number.
        most: the most battles to return.
        since: only battles that began at that time or later, in seconds since the epoch.
        realm: the players' realm.
    """
    if player is None:
        rest = "where realm = ? and number > ? and at >= ? order by number limit ?"
        return _battles(database, rest, realm, after, since, most)
    theirs = (
        "join player_battle on player_battle.battle = battle.number"
        " where player_battle.player = ? and player_battle.battle > ? and battle.at >= ?"
        " order by player_battle.battle limit ?"
    )
    found = {
        battle.number: battle
        for number in database.players.numbers_of_name(player, realm)
        for battle in _battles(database, theirs, number, after, since, most)
    }
    return [found[number] for number in sorted(found)[:most]]


def history(
    database: Database,
    player: str | None,
    before: int | None = None,
    most: int = 20,
    *,
    realm: str = "",
) -> Sequence[Battle]:
    """Return the last battles of a player, the latest first.

    Args:
        database: the database.
        player: whose battles; None for everybody's.
        before: only battles with a lower number; None for all.
        most: the most battles to return.
        realm: the players' realm.
    """
    before = 2**62 if before is None else before
    if player is None:
        rest = "where realm = ? and number < ? order by number desc limit ?"
        return _battles(database, rest, realm, before, most)
    found = database.players.find(player, realm)
    if found is None:
        return []
    rest = (
        "join player_battle on player_battle.battle = battle.number"
        " where player_battle.player = ? and player_battle.battle < ?"
        " order by player_battle.battle desc limit ?"
    )
    return _battles(database, rest, found[0], before, most)


def finished_battles(database: Database, player: str, most: int) -> Sequence[tuple[Battle, float]]:
    """Return the last finished battles of a player with the times of their ends, the latest first.

    Practice battles and imported battles are left out.
    """
    found = database.players.find(player)
    rest = (
        "join player_battle on player_battle.battle = battle.number"
        " where player_battle.player = ? and state = ? and imported = 0 and dwarf <> troll"
        " order by player_battle.battle desc limit ?"
    )
    told: list[tuple[Battle, float]] = []
    for each in _battles(database, rest, found[0], State.ENDED.value, most) if found else ():
        ends = database.read_stream(each.source.board, each.until or 1, 1)
        told.append((each, ends[0].event.at if ends else each.at))
    return told


def has_ended_one(database: Database, number: int) -> bool:
    """Return whether a player, by number, has finished a battle here against somebody else."""
    rest = (
        "join player_battle on player_battle.battle = battle.number"
        " where player_battle.player = ? and state = ? and imported = 0 and dwarf <> troll limit 1"
    )
    return bool(_battles(database, rest, number, State.ENDED.value))


def have_played(database: Database, one: int, other: int) -> bool:
    """Return whether two players, by number, have begun a battle with each other."""
    where = "where dwarf = ? and troll = ? limit 1"
    sides = (one, other), (other, one)
    return any(database.table.row("battle", where, *each) is not None for each in sides)


def history_page(database: Database, asked: HistoryLookup, realm: str) -> HistoryPage:
    """Return one page of the battles that a lookup asks for."""
    where: list[str] = []
    values: list[object] = []
    for name in (asked.player, asked.opponent):
        if name is not None:
            found = database.players.find(name, realm)
            if found is None:
                return HistoryPage((), 0)
            where.append("number in (select battle from player_battle where player = ?)")
            values.append(found[0])
    since = None if asked.day is None else day_begins(asked.day, database.now())
    conditions = {
        "realm = ?": realm,
        "rules = ?": asked.rules,
        "at >= ?": since,
        "at < ?": None if since is None else since + DAY,
    }
    # The plus keeps the planner from using an index on that column: a player's battles are found by
    # player.
    plus = database.backend.dialect.passed_over if where else ""
    where += [f"{plus}{each}" for each, value in conditions.items() if value is not None]
    values += [value for value in conditions.values() if value is not None]
    these = f"from battle where {' and '.join(where)}"
    in_all = database.table.number(f"select count(*) {these}", *values)
    skipped = (asked.page - 1) * PAGE
    if not 0 <= skipped < in_all:
        return HistoryPage((), in_all)
    numbers = f"select number {these} order by number desc limit ? offset ?"
    rest = f"where number in ({numbers}) order by number desc"
    return HistoryPage(tuple(_battles(database, rest, *values, PAGE, skipped)), in_all)


def battles_between(
    database: Database, dwarf: str, troll: str, since: float, until: float, *, realm: str = ""
) -> Sequence[Battle]:
    """Return the battles of two players that began in a span of time, ordered by number.

    Args:
        database: the database.
        dwarf: the player of the dwarfs; battles of all the name's owners count, as for `battles`.
        troll: the player of the trolls; likewise.
        since: the first time, in seconds since the epoch.
        until: the time before which the battles began.
        realm: the players' realm.
    """
    found = [
        battle
        for one in database.players.numbers_of_name(dwarf, realm)
        for two in database.players.numbers_of_name(troll, realm)
        for battle in _battles(
            database, "where dwarf = ? and troll = ? and at >= ? and at < ?", one, two, since, until
        )
    ]
    return sorted(found, key=lambda battle: battle.number)


def adjourned(database: Database, player: str, *, realm: str = "") -> Sequence[AdjournedMatch]:
    """Return a player's adjourned matches, each with its latest battle."""
    found = database.players.find(player, realm)
    if found is None:
        return []
    rest = "where dwarf = ? or troll = ? order by battle"
    away = [row[:2] for row in database.table.rows("adjourned", rest, found[0], found[0])]
    matches = []
    for number, position in away:
        (entry,) = database.streams.entries("where position = ?", position)
        last_battle = battle(database, cast("int", number), realm=realm)
        if last_battle and isinstance(entry.event, Adjourned):
            matches.append(AdjournedMatch(last_battle, entry.event.match))
    return matches


def battle_events(database: Database, battle: Battle) -> Sequence[StoredEvent]:
    """Return the events from which a battle is folded."""
    return [entry.event for entry in database.read_stream(*battle.source, battle.length)]


def last_version(database: Database, battle: Battle) -> int:
    """Return the version of the last event from which a battle is folded, so far."""
    return battle.until or database.streams.version(battle.source.board)


def comments(database: Database, number: int) -> tuple[Comment, ...]:
    """Return the comments on a battle, in the order of its plies."""
    return tuple(
        Comment(ply, database.players.name_of(player), text)
        for ply, player, text in database.projected.comments(number)
    )


def forget_comments(database: Database, player: int) -> None:
    """Erase the text of all comments by a player."""
    # Comments of this very transaction may still be queued.
    database.streams.write()
    for row in hall_event_rows(database, Commented, player):
        *place, body = row
        *array, _ = json.loads(cast("str", body))
        database.table.put("event", *place, to_text([*array, ""]))
    database.table.delete("comment", "where player = ?", player)


def current_name_owners(database: Database, battle: Battle, *, realm: str = "") -> frozenset[str]:
    """Return the players of a battle who still own their names.

    A guest's name may have been freed, and belong to another player by now.
    """
    where = "where player = ? and battle = ?"
    return frozenset(
        name
        for name in battle.players
        if (found := database.players.find(name, realm))
        and database.table.row("player_battle", where, found[0], battle.number)
    )


def _battles(database: Database, rest: str, *values: object) -> list[Battle]:
    return [
        battle._replace(
            dwarf=database.players.name_of(int(battle.dwarf or 0)),
            troll=database.players.name_of(int(battle.troll or 0)),
        )
        for battle in database.projected.battles(rest, *values)
    ]
