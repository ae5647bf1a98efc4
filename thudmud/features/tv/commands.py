"""The ``tv`` command, and the ranking of battles."""

from __future__ import annotations

from collections.abc import Iterable

from thudmud.errors import RefusedError
from thudmud.features.tv.model import TvRefusal, TvTurned, tv_board
from thudmud.game.archive import MIDDLE, PlayerScore, Pool, ScoresLookup
from thudmud.game.clocks import time_class
from thudmud.game.command import Command, CommandContext, verb
from thudmud.game.events import NO_BOTS
from thudmud.game.hall import Decision, Hall
from thudmud.game.people import Person
from thudmud.game.refusals import Refusal
from thudmud.game.rooms import MOST_OBSERVED
from thudmud.game.table import Table


@verb(tv="turned_on", tv_off="turned_off")
class Tv(Command):
    """Switch the tv on or off."""

    is_on: bool = True

    @classmethod
    def turned_on(cls) -> Tv:
        """Return ``tv``."""
        return cls()

    @classmethod
    def turned_off(cls, *_: object) -> Tv:
        """Return ``tv off``; the words that were typed don't matter."""
        return cls(is_on=False)

    def __str__(self) -> str:
        return "tv" if self.is_on else "tv off"

    def decide(self, context: CommandContext) -> Decision:
        person = context.person
        if not self.is_on:
            if tv_board(person) is None:
                raise RefusedError(TvRefusal.TV_IS_OFF)
            return context.decide_asides(turn_tv(person, None))
        battles = list(watchable_battles(context.hall, person))
        if len(battles) > 1:
            players = (player for table in battles for player in table.seats.values())
            scores = context.found[ScoresLookup(tuple(sorted(players)))]
            battles.sort(
                key=lambda table: (_attendance(context.hall, table), _merit(table, scores)),
                reverse=True,
            )
        if not battles:
            return context.decide_asides(turn_tv(person, ""))
        others = [each for each in person.observed if each != tv_board(person)]
        if len(others) >= MOST_OBSERVED:
            boards = tuple(others)
            raise RefusedError(Refusal.OBSERVES_TOO_MANY, most=MOST_OBSERVED, boards=boards)
        return context.decide_asides(turn_tv(person, battles[0].name))


class Retune(Command):
    """Switch a tv that is on to the best battle; issued by the service, never typed."""

    def decide(self, context: CommandContext) -> Decision:
        if needs_retuning(context.hall, context.person):
            return Tv().decide(context)
        return context.decide_asides()


def needs_retuning(hall: Hall, person: Person) -> bool:
    """Whether a player's tv is on, and its battle is over, or left while others are played.

    The end of a battle of others stays on screen until another battle can be shown.
    """
    shown = tv_board(person)
    if shown is None:
        return False
    table, others = hall.tables.get(shown), watchable_battles(hall, person)
    if table is None or not table.is_running:
        is_end = table and table.match and person.name not in table.seats.values()
        return not is_end or any(others)
    return _attendance(hall, table) == 0 and any(_attendance(hall, each) for each in others)


def turn_tv(person: Person, to: str | None) -> TvTurned:
    """Return the aside that switches a player's tv to a state, see `TvState.board`."""
    before = tv_board(person)
    observed = tuple(each for each in person.observed if each != before)
    if to:
        observed = (*observed, to)
    return TvTurned(person.name, to or before or "", observed, to)


def watchable_battles(hall: Hall, person: Person) -> Iterable[Table]:
    """Yield the tables with a running battle that the player doesn't already see or play in."""
    seen = {person.room, *person.observed} - {tv_board(person) or None}
    for table in hall.tables.values():
        is_played = table.is_running and table.match and not table.is_practice and table.is_full
        if is_played and table.name not in seen and person.name not in table.seats.values():
            yield table


def _attendance(hall: Hall, table: Table) -> int:
    """Return how much of a battle is played: 2 if a person is there, 0 if they have all gone."""
    here = hall.people_in(table.name)
    people = [side for side in table.seats if table.levels.of(side) is None]
    if not people:
        return 1  # bots never go
    is_played = any(table.seats[side] in here and side not in table.away for side in people)
    return 2 if is_played else 0


def _merit(table: Table, scores: dict[str, PlayerScore | None]) -> tuple[bool, float, int, int]:
    """Return a sort key: people before bots, then the sum of ratings, then the closest score."""
    match = table.match
    assert match is not None  # noqa: S101  (a battle is running)
    pool = Pool(match.game.ruleset.name, time_class(match.time))
    are_people = match.levels == NO_BOTS
    points = 0
    for player in (match.dwarf, match.troll):
        score = scores.get(player)
        ratings = (score.people if are_people else score.bots).ratings if score else {}
        rating = ratings.get(pool if are_people else Pool(pool.rules))
        points += rating.points if rating else MIDDLE
    stands = match.game.score
    return are_people, points, -abs(stands.dwarf - stands.troll), -(match.number or 0)
