"""Projections of the events into rows: battles, tallies, ratings and more.

`project` updates the rows for an event, and `rate` computes two players' strengths after a result.
The store implements `Rows`, and calls `project` in the transaction that stores the event. So the
rows are never behind the events, and a starting server has nothing to fold.

Players are identified by whatever the rows use: a name in tests, a number in a database.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from thudmud.game import archive, events
from thudmud.game.clocks import time_class
from thudmud.rules import Comment, Side

if TYPE_CHECKING:
    from openskill.models import BradleyTerryFull

PROJECTION = 7
"""The version of the projection. Increment it if any row would come out differently, also because
of a new openskill. A server whose store has rows of another version rebuilds them at its start, in
about 0.4 ms a battle."""

PROJECTED = (
    *events.LANDMARKS,
    events.BoardOpened,
    events.BoardClosed,
    events.SeekMade,
    events.SeekEnded,
    events.LessonDone,
    events.PuzzleTried,
    events.Commented,
    events.Interrupted,
    *events.TOURNAMENTS,
)
"""The classes of events that change rows. They must never be pruned, since the rows are rebuilt
from them."""

HALL = "hall"
"""The key of the hall's own stream."""

MATCHES = "(match) "
"""The key prefix of the streams of adjourned matches."""

SCALE = 30
"""Rating points for each point of openskill. With this factor, a player who is rated 400 points
higher wins about ten battles for each one lost, as in Elo's system."""

MATCH = "match"
"""The kind of tally that counts matches. A tally of battles has a side as its kind."""

PEOPLE, BOTS, PUZZLES = "people", "bots", "puzzles"
"""The roles of people: against people, against bots, and at puzzles. A bot's role is the number of
its level. Tallies and ratings are kept by role, so battles against bots change no rating between
people, and each level of bots gets its own rating."""

ALL_PUZZLES = archive.Pool("")
"""The only pool of puzzles."""

LAST, MOST_OF_LAST = 10, archive.PROVISIONAL - 1
"""A limit on repeated opponents: of ``LAST`` consecutive rated matches in a pool, at most
``MOST_OF_LAST`` against the same opponent count.

So two players who meet only each other keep provisional ratings, and nobody can rise far through an
opponent who loses on purpose."""

_MU, _SIGMA = 25.0, 25.0 / 3
"""The initial mean and standard deviation, in openskill's points."""

_RANKS = {Side.DWARF: [1.0, 2.0], Side.TROLL: [2.0, 1.0], None: [1.0, 1.0]}


class EventPlace(NamedTuple):
    """The place of an event in the store."""

    stream: str
    version: int
    position: int


class Strength(NamedTuple):
    """A player's strength: a normal distribution, and the number of results behind it."""

    mu: float = _MU
    sigma: float = _SIGMA
    results: int = 0

    @property
    def rating(self) -> archive.Rating:
        """The rating on the scale of chess ratings.

        Players are ranked by these rounded points, so equal ratings mean equal ranks.
        """
        points = archive.MIDDLE + round(SCALE * (self.mu - _MU))
        return archive.Rating(points, round(SCALE * self.sigma), self.results)


class Rows(Protocol):
    """The interface to the rows, implemented by the store. Each ``put`` replaces an earlier row."""

    def open_board(self, board: str, rules: str) -> None:
        """Store an open board and its initial ruleset."""

    def close_board(self, board: str) -> None:
        """Mark a board as closed."""

    def put_seek(self, number: int, position: int) -> None:
        """Store the position of an open seek's event."""

    def drop_seek(self, number: int) -> None:
        """Delete a seek that has ended."""

    def put_interruption(self, since: float, until: float) -> None:
        """Store an outage: an interval in which no server ran."""

    def count(self) -> int:
        """Return the number of the latest battle; 0 if there is none."""

    def battle(self, number: int) -> archive.Battle:
        """Return the battle with the given number, which must exist."""

    def number_of(self, battle: events.BattleId) -> int | None:
        """Return the number of a battle; None if unknown."""

    def put_battle(self, battle: archive.Battle) -> None:
        """Store a battle, by its number and by its players, current and earlier ones."""

    def on_board(self, board: str) -> int | None:
        """Return the number of the current battle at a board; None after a reset."""

    def put_on_board(self, board: str, number: int | None) -> None:
        """Store the number of the current battle at a board; None after a reset."""

    def put_away(self, number: int, position: int, dwarf: str, troll: str) -> None:
        """Store an adjourned match: its battle, the position of the event, and the players."""

    def take_up(self, number: int) -> bool:
        """Delete an adjourned match; return whether there was one."""

    def tally(self, player: str, role: str, rules: str, kind: str) -> archive.Tally:
        """Return a player's tally in a role under a ruleset; ``kind`` is a side or `MATCH`."""

    def put_tally(
        self, player: str, role: str, rules: str, kind: str, tally: archive.Tally
    ) -> None:
        """Store a player's tally."""

    def strength(self, player: str, role: str, pool: archive.Pool) -> Strength | None:
        """Return a player's strength in a role, if known."""

    def put_strength(self, player: str, role: str, pool: archive.Pool, strength: Strength) -> None:
        """Store a player's strength in a role."""

    def last_opponents(self, player: str, pool: archive.Pool, most: int) -> Sequence[str]:
        """Return a player's latest opponents in rated matches between people, at most ``most``."""

    def put_change(self, change: archive.RatingChange, opponent: str, position: int) -> None:
        """Store a rating change, with the opponent and the position of the battle's end."""

    def put_tournament(self, made: events.TournamentMade) -> None:
        """Store a tournament when it is announced."""

    def put_tournament_event(self, number: int, position: int) -> None:
        """Store the position of a tournament's event."""

    def end_tournament(self, ended: events.TournamentEnded) -> None:
        """Store the end of a tournament, and the places of its players."""

    def put_lesson(self, player: str, lesson: int) -> None:
        """Store a player's finished lesson."""

    def has_tried(self, player: str, puzzle: int) -> bool:
        """Return whether a player has tried a puzzle."""

    def put_try(self, player: str, puzzle: int, *, solved: bool) -> None:
        """Store a player's try at a puzzle."""

    def difficulty(self, puzzle: int) -> Strength | None:
        """Return the difficulty of a puzzle, if known."""

    def put_difficulty(self, puzzle: int, strength: Strength) -> None:
        """Store the difficulty of a puzzle."""

    def put_comment(self, number: int, position: int, comment: Comment) -> None:
        """Store a comment on a battle, and the position of the event."""

    def remove_comment(self, number: int, ply: int, player: str) -> None:
        """Delete a player's comment on a ply, if there is one."""


def realm_of(stream: str) -> str:
    """Return the realm of a stream: the part of its key before the first ``/``, or "".

    Players of different realms are different: the Bert of one gateway client, the Bert of another
    and the member Bert. All boards of a client are in one realm.
    """
    return stream[: max(stream.find("/"), 0)]


def match_stream(began: events.BattleId) -> str:
    """Return the key of an adjourned match's stream.

    Adjourning and resuming are appended both to this stream, at its version, and to the board's.
    So no two boards can resume the same match.
    """
    own = _own(began.board)
    return f"{began.board.removesuffix(own)}{MATCHES}{own} {began.version}"


def is_of_a_match(stream: str) -> bool:
    """Return whether a stream is an adjourned match's."""
    return _own(stream).startswith(MATCHES)


def is_board_key(key: str) -> bool:
    """Return whether a key is valid for a board outside a realm."""
    return key.isprintable() and "/" not in key and key != HALL and not is_of_a_match(key)


def _own(stream: str) -> str:
    """Return a key without the realm."""
    return stream[stream.find("/") + 1 :]


def project(event: events.StoredEvent, place: EventPlace, rows: Rows) -> archive.Battle | None:
    """Update the rows for an event. Events must come in the order of the store.

    Args:
        event: the event.
        place: the place of the event in the store.
        rows: the rows, which are changed.

    Returns:
        The battle that the event ends or imports; None for any other event.
    """
    # Long: one case for each kind of event.
    at = events.BattleId(place.stream, place.version)
    if is_of_a_match(place.stream):
        return None  # the board's stream has the same event
    match event:
        case events.BoardOpened(key=key, rules=rules):
            rows.open_board(key, rules)
        case events.BoardClosed(key=key):
            rows.close_board(key)
        case events.SeekMade(number=number):
            rows.put_seek(number, place.position)
        case events.SeekEnded(number=number):
            rows.drop_seek(number)
        case events.BattleStarted():
            _begin(event, at, rows)
        case events.BattleEnded():
            return _end(event, at, place.position, rows)
        case events.Adjourned(match=saved):
            _put_away(saved, at, place.position, rows)
        case events.Resumed(match=saved):
            _resume(saved, at, rows)
        case events.Cleared():
            _give_up(at, rows)
        case events.Commented():
            _comment(event, place.position, rows)
        case events.Imported():
            imported = _new(event, at, rows)._replace(
                until=at.version,
                state=archive.State.ENDED,
                plies=event.plies,
                outcome=event.outcome,
                imported=True,
            )
            rows.put_battle(imported)
            return imported
        case events.LessonDone(player=player, lesson=lesson):
            rows.put_lesson(player, lesson)
        case events.PuzzleTried():
            _try_puzzle(event, rows)
        case events.Interrupted(at=until, since=since):
            rows.put_interruption(since, until)
        case _ if isinstance(event, events.TournamentEvent):
            rows.put_tournament_event(event.number, place.position)
            if isinstance(event, events.TournamentMade):
                rows.put_tournament(event)
            elif isinstance(event, events.TournamentEnded):
                rows.end_tournament(event)
    return None


@cache
def _model() -> BradleyTerryFull:
    from openskill.models import BradleyTerryFull  # noqa: PLC0415  (slow to import)

    return BradleyTerryFull(mu=_MU, sigma=_SIGMA)


def rate(a: Strength, b: Strength, winner: Side | None) -> tuple[Strength, Strength]:
    """Return the strengths of two players after a match or battle.

    Bradley-Terry model with full pairing, by R. C. Weng and C.-J. Lin, "A Bayesian approximation
    method for online ranking", JMLR 12 (2011), as implemented by openskill. A win, draw or loss
    moves and narrows both distributions.

    Args:
        a: the strength of the dwarfs' player before.
        b: the strength of the trolls' player before.
        winner: the winner's side; None for a draw.
    """
    model = _model()
    teams = [[model.rating(mu=each.mu, sigma=each.sigma)] for each in (a, b)]
    [[new_a], [new_b]] = model.rate(teams, ranks=_RANKS[winner])
    return (
        Strength(new_a.mu, new_a.sigma, a.results + 1),
        Strength(new_b.mu, new_b.sigma, b.results + 1),
    )


def _begin(event: events.BattleStarted, at: events.BattleId, rows: Rows) -> None:
    first = _leave_off(at, rows)
    before, rated = (0, 0), event.rated
    if event.number > 1:
        before = _points(first)[::-1] if first else before  # they have swapped seats
        rated = rated and first is not None and first.rated
    battle = _new(event, at, rows)._replace(
        part=event.number,
        earlier_points=before,
        rated=rated,
        has_custom_opening=event.opening is not None,
        time=event.time,
        tournament=event.tournament,
    )
    rows.put_battle(battle)
    rows.put_on_board(at.board, battle.number)


def _end(
    event: events.BattleEnded, at: events.BattleId, position: int, rows: Rows
) -> archive.Battle | None:
    battle = _on_board(at.board, rows)
    if battle is None or battle.state is not archive.State.RUNNING:
        return None  # a battle counts only once
    battle = battle._replace(
        state=archive.State.ENDED,
        until=at.version,
        dwarf=event.dwarf,
        troll=event.troll,
        plies=event.plies,
        outcome=event.outcome,
        rated=event.rated and battle.rated,
        points=event.points,
    )
    if event.dwarf == event.troll:
        rows.put_battle(battle)
        return battle  # practice does not count
    dwarf, troll = zip((event.dwarf, event.troll), _roles(event.levels), strict=True)
    is_between_people = event.levels == events.NO_BOTS
    pool = archive.Pool(battle.rules)
    if is_between_people:
        pool = archive.Pool(battle.rules, time_class(battle.time))
    before = rows.strength(*dwarf, pool), rows.strength(*troll, pool)
    battle = battle._replace(
        ratings=(_established_points(before[0]), _established_points(before[1]))
    )
    rows.put_battle(battle)
    if battle.has_custom_opening:
        return battle  # positions that were set up do not count
    if None in event.levels:  # battles between bots count for ratings only
        for who, side in ((dwarf, Side.DWARF), (troll, Side.TROLL)):
            _put_tallies(event, battle.rules, who, side, rows)
    if battle.rated and is_between_people:
        _rate_match(battle, position, rows)
    elif battle.rated:
        _rate_battle(event, battle, before, position, rows)
    return battle


def _put_tallies(
    event: events.BattleEnded, rules: str, who: tuple[str, str], side: Side, rows: Rows
) -> None:
    """Count a battle, and the match that it may end, for the player of a side.

    Args:
        event: the end of the battle.
        rules: the name of the ruleset.
        who: the player's name and role.
        side: the player's side.
        rows: the rows, which are changed.
    """
    winner = event.outcome.winner
    tally = rows.tally(*who, rules, side.value)
    tally = tally.plus_result(mine=winner is side, theirs=winner is side.other)
    rows.put_tally(*who, rules, side.value, tally)
    if event.points:
        mine, theirs = event.points if side is Side.DWARF else event.points[::-1]
        tally = rows.tally(*who, rules, MATCH)
        tally = tally.plus_result(mine=mine > theirs, theirs=theirs > mine)
        rows.put_tally(*who, rules, MATCH, tally)


def _rate_battle(
    event: events.BattleEnded,
    battle: archive.Battle,
    before: tuple[Strength | None, Strength | None],
    position: int,
    rows: Rows,
) -> None:
    """Rate a battle with a bot. Not by match, since most people play only one battle with a bot.

    Args:
        event: the end of the battle.
        battle: the battle.
        before: the strengths of the dwarfs' and the trolls' player before.
        position: the position of the event in the store.
        rows: the rows, which are changed.
    """
    known = before[0] or Strength(), before[1] or Strength()
    after = rate(*known, event.outcome.winner)
    names, roles = (event.dwarf, event.troll), _roles(event.levels)
    pool = archive.Pool(battle.rules)
    for place, (player, role) in enumerate(zip(names, roles, strict=True)):
        rows.put_strength(player, role, pool, after[place])
        if role == BOTS:
            points, rating = known[place].rating.points, after[place].rating
            change = archive.RatingChange(player, pool, points, rating, with_bot=True)
            rows.put_change(change, battle.players[1 - place], position)


def _established_points(strength: Strength | None) -> int | None:
    """Return the points of a rating; None if there is none, or if it is provisional."""
    rating = strength and strength.rating
    return None if rating is None or rating.is_provisional else rating.points


def _rate_match(battle: archive.Battle, position: int, rows: Rows) -> None:
    """Rate a match between people by its points, after its last battle.

    Nothing changes for players who have met too often lately, see `LAST`.
    """
    if battle.points is None:
        return
    pool, players = archive.Pool(battle.rules, time_class(battle.time)), battle.players
    pairs = players, players[::-1]
    if any(
        rows.last_opponents(player, pool, LAST - 1).count(other) >= MOST_OF_LAST
        for player, other in pairs
    ):
        return
    lead = battle.points[0] - battle.points[1]
    winner = (Side.DWARF if lead > 0 else Side.TROLL) if lead else None
    before = tuple(rows.strength(player, PEOPLE, pool) or Strength() for player in players)
    after = rate(before[0], before[1], winner)
    known = [not each.rating.is_provisional for each in before]
    for (player, other), place in zip(pairs, (0, 1), strict=True):
        # A match with a provisional player says little about an established one.
        if known[1 - place] or not known[place]:
            rows.put_strength(player, PEOPLE, pool, after[place])
            points = before[place].rating.points
            change = archive.RatingChange(player, pool, points, after[place].rating)
            rows.put_change(change, other, position)


def _roles(levels: events.Levels) -> tuple[str, str]:
    """Return the roles of the dwarfs' and of the trolls' player."""
    person = PEOPLE if levels == events.NO_BOTS else BOTS
    dwarf, troll = (person if level is None else str(level) for level in levels)
    return dwarf, troll


def _try_puzzle(event: events.PuzzleTried, rows: Rows) -> None:
    """Rate a player and a puzzle as opponents: an unsolved puzzle counts as a win for the puzzle.

    Only the first try counts.
    """
    if rows.has_tried(event.player, event.puzzle):
        return
    rows.put_try(event.player, event.puzzle, solved=event.solved)
    before = rows.strength(event.player, PUZZLES, ALL_PUZZLES), rows.difficulty(event.puzzle)
    winner = Side.DWARF if event.solved else Side.TROLL  # the player stands in for the dwarfs
    player, puzzle = rate(before[0] or Strength(), before[1] or Strength(), winner)
    rows.put_strength(event.player, PUZZLES, ALL_PUZZLES, player)
    rows.put_difficulty(event.puzzle, puzzle)


def _put_away(match: events.SavedMatch, at: events.BattleId, position: int, rows: Rows) -> None:
    battle = _on_board(at.board, rows)
    if battle is None or battle.id != match.battle_id:
        _give_up(at, rows)
        return
    rows.put_on_board(at.board, None)
    rows.put_away(battle.number, position, match.dwarf, match.troll)
    if battle.state is archive.State.RUNNING:
        away = battle._replace(
            state=archive.State.ADJOURNED, until=at.version, plies=len(match.moves)
        )
        rows.put_battle(away._replace(dwarf=match.dwarf, troll=match.troll))


def _resume(match: events.SavedMatch, at: events.BattleId, rows: Rows) -> None:
    _give_up(at, rows)
    number = rows.number_of(match.battle_id)
    if number is None or not rows.take_up(number):
        return  # already resumed at another board
    rows.put_on_board(at.board, number)
    battle = rows.battle(number)
    if battle.state is archive.State.ADJOURNED:
        rows.put_battle(
            battle._replace(state=archive.State.RUNNING, source=at, until=None, plies=None)
        )


def _comment(event: events.Commented, position: int, rows: Rows) -> None:
    number = rows.number_of(events.BattleId(event.key, event.version))
    if number is None:
        return  # the battle is unknown
    rows.remove_comment(number, event.ply, event.player)
    if event.text:
        rows.put_comment(number, position, Comment(event.ply, event.player, event.text))


def _give_up(at: events.BattleId, rows: Rows) -> None:
    """Record the reset of a board: its battle is abandoned and leaves the board."""
    if _leave_off(at, rows):
        rows.put_on_board(at.board, None)


def _leave_off(at: events.BattleId, rows: Rows) -> archive.Battle | None:
    """Mark a running battle at a board as unfinished; return the board's battle, if any."""
    battle = _on_board(at.board, rows)
    if battle and battle.state is archive.State.RUNNING:
        rows.put_battle(battle._replace(state=archive.State.UNFINISHED, until=at.version))
    return battle


def _new(
    event: events.BattleStarted | events.Imported, at: events.BattleId, rows: Rows
) -> archive.Battle:
    number = rows.count() + 1
    return archive.Battle(number, at, event.at, event.rules, event.dwarf, event.troll, at)


def _on_board(board: str, rows: Rows) -> archive.Battle | None:
    number = rows.on_board(board)
    return None if number is None else rows.battle(number)


def _points(battle: archive.Battle) -> tuple[int, int]:
    """Return the match points after a battle, of the dwarfs' and of the trolls' player."""
    if battle.outcome is None:
        return battle.earlier_points
    score = battle.outcome.score
    return battle.earlier_points[0] + score.dwarf, battle.earlier_points[1] + score.troll
