"""Queries about players' tallies, ratings and studies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import cast

from thudmud.game.archive import (
    CURVE,
    PAGE,
    Performance,
    PlayerScore,
    Pool,
    RankedPlayer,
    Ranking,
    Rating,
    StandingsLookup,
    Tally,
    TournamentPlace,
)
from thudmud.game.clocks import TimeClass
from thudmud.game.projections import ALL_PUZZLES, BOTS, MATCH, PEOPLE, PUZZLES
from thudmud.rules import DEFAULT_RULES, Side
from thudmud.store.database import Database
from thudmud.store.projected import strength_of
from thudmud.values import replace

TOURNAMENTS = 5
"""The number of tournaments listed in a score."""

STANDARD = Pool(DEFAULT_RULES.name)
"""The default pool of ratings."""


def standings(
    database: Database, pool: Pool = STANDARD, most: int = 50, *, realm: str = ""
) -> Sequence[RankedPlayer]:
    """Return the best players of a pool; provisional ratings are left out.

    Args:
        database: the database.
        pool: the pool of ratings.
        most: the most players to return.
        realm: the players' realm.
    """
    who, values = _ranked(pool, realm)
    # Ties are broken by name, which is not in the index. So read all players with at least the last
    # one's rating.
    least = database.table.execute(
        f"select min(proven) from (select proven from rating {who}"  # noqa: S608  (our own names)
        " and proven is not null order by proven desc limit ?) as best",
        (*values, most),
    ).fetchone()[0]
    if least is None:
        return []
    rows = list(database.table.rows("rating", f"{who} and proven >= ?", *values, least))
    ranked = [
        (strength_of(row).rating, database.players.name_of(cast("int", row[0]))) for row in rows
    ]
    ranked.sort(key=lambda each: (-each[0].proven, each[1].lower()))
    best = enumerate(ranked[:most], 1)
    return [RankedPlayer(place, name, rating) for place, (rating, name) in best]


def ranking(database: Database, asked: StandingsLookup, realm: str) -> Ranking:
    """Return the best players of a pool, and the asking player with their place."""
    counted = "where realm = ? and role = ? and proven is not null group by rules, time"
    counts = {
        Pool(rules, TimeClass(time)): count
        for rules, time, count in database.table.execute(
            f"select rules, time, count(*) from rating {counted}",  # noqa: S608  (our own names)
            (realm, PEOPLE),
        )
    }
    pool = Pool(asked.rules or DEFAULT_RULES.name, asked.time or TimeClass.UNTIMED)
    if asked.rules is None or asked.time is None:
        these = {
            each: count
            for each, count in counts.items()
            if asked.rules in {None, each.rules} and asked.time in {None, each.time}
        }
        pool = max([pool, *these], key=lambda each: these.get(each, 0))
    best = list(standings(database, pool, PAGE, realm=realm))
    found = database.players.find(asked.player, realm)
    mine = database.projected.strength(str(found[0]), PEOPLE, pool) if found else None
    rating = mine and mine.rating
    if found and rating and not rating.is_provisional:
        me = RankedPlayer(_place(database, found[1], rating, pool, realm), found[1], rating)
        best += [me] if me.place > len(best) else []
    in_all = counts.pop(pool, 0)
    others = tuple(sorted(counts.items(), key=lambda each: -each[1]))
    return Ranking(pool, tuple(best), in_all, rating, others)


def _place(database: Database, name: str, rating: Rating, pool: Pool, realm: str) -> int:
    """Return a player's place in a pool."""
    who, values = _ranked(pool, realm)
    rows = list(database.table.rows("rating", f"{who} and proven = ?", *values, rating.proven))
    as_good = [database.players.name_of(cast("int", row[0])) for row in rows]
    before = sum(each.lower() < name.lower() for each in as_good)
    better = f"select count(*) from rating {who} and proven > ?"  # noqa: S608  (our own names)
    return database.table.number(better, *values, rating.proven) + before + 1


def _ranked(pool: Pool, realm: str) -> tuple[str, tuple[str, ...]]:
    """Return the SQL condition for the ratings of a pool, and its values."""
    who = "where realm = ? and role = ? and rules = ? and time = ?"
    return who, (realm, PEOPLE, pool.rules, pool.time.value)


def score(
    database: Database, player: str, *, curves: bool = False, realm: str = ""
) -> PlayerScore | None:
    """Return a player's score; None if they have finished no battle and tried no puzzle.

    Args:
        database: the database.
        player: the player's name.
        curves: whether to include the history of the ratings, and the places in tournaments.
        realm: the player's realm.
    """
    found = database.players.find(player, realm)
    score = _score(database, *found) if found else None
    if found is None or score is None or score == PlayerScore(score.name):
        return None
    if not curves:
        return score
    pools = score.people.ratings
    drawn = {pool: database.projected.curve(found[0], pool, CURVE) for pool in pools}
    return replace(score, curves=drawn, tournaments=_places(database, found[0]))


def _score(database: Database, player: int, name: str) -> PlayerScore:
    battles: defaultdict[str, dict[tuple[str, Side], Tally]] = defaultdict(dict)
    matches: defaultdict[str, dict[str, Tally]] = defaultdict(dict)
    for row in database.table.rows("tally", "where player = ? order by rules, kind", player):
        _, role, rules, kind, *counts = cast("tuple[int, str, str, str, int, int, int]", row)
        if kind == MATCH:
            matches[role][rules] = Tally(*counts)
        else:
            battles[role][rules, Side(kind)] = Tally(*counts)
    ratings: defaultdict[str, dict[Pool, Rating]] = defaultdict(dict)
    for (role, pool), rating in database.projected.ratings(player).items():
        ratings[role][pool] = rating
    puzzles = ratings.pop(PUZZLES, {}).get(ALL_PUZZLES)
    roles = {
        role: Performance(battles[role], matches[role], ratings[role])
        for role in {*battles, *ratings}
    }
    people, bots = (roles.pop(role, Performance()) for role in (PEOPLE, BOTS))
    levels = {int(level): roles[level] for level in sorted(roles, key=int)}
    return PlayerScore(name, people, bots, levels, puzzles)


def _places(database: Database, player: int) -> tuple[TournamentPlace, ...]:
    """Return a player's places in the last tournaments, the latest first."""
    rest = "where player = ? order by tournament desc limit ?"
    rows = list(database.table.rows("tournament_place", rest, player, TOURNAMENTS))
    found = []
    for _, number, place in cast("list[tuple[int, int, int]]", rows):
        row = database.table.row("tournament", "where number = ?", number)
        if row:
            title, entrants = cast("str", row[1]), cast("int", row[7])
            found.append(TournamentPlace(number, title, place, entrants))
    return tuple(found)
