"""The command ``tv``, and which battle is the best."""

from __future__ import annotations

from collections.abc import Iterable

from thudmud.errors import Refused
from thudmud.features.tv.model import TvRefusal, TvTurned, shown_to
from thudmud.play.archive import MIDDLE, PlayerScore, Pool, ScoresLookup
from thudmud.play.clocks import time_class
from thudmud.play.command import Command, verb
from thudmud.play.events import NO_BOTS
from thudmud.play.hall import Decision, Hall
from thudmud.play.people import Person
from thudmud.play.refusals import Refusal
from thudmud.play.rooms import MOST_OBSERVED
from thudmud.play.scene import Scene
from thudmud.play.table import Table
from thudmud.values import value


@verb(tv="turned_on", tv_off="turned_off")
class Tv(Command):
    """Watch the best battle under way, or no longer."""

    is_on: bool = True

    @classmethod
    def turned_on(cls) -> Tv:
        """Return the command that turns it on."""
        return cls()

    @classmethod
    def turned_off(cls, *_: object) -> Tv:
        """Return the command that turns it off, in whatever words."""
        return cls(is_on=False)

    def __str__(self) -> str:
        return "tv" if self.is_on else "tv off"

    def decide(self, scene: Scene) -> Decision:
        person = scene.person
        if not self.is_on:
            if shown_to(person) is None:
                raise Refused(TvRefusal.TV_IS_OFF)
            return scene.tell(turned(person, None))
        battles = list(battles_for(scene.hall, person))
        if len(battles) > 1:
            players = (player for table in battles for player in table.seats.values())
            scores = scene.found[ScoresLookup(tuple(sorted(players)))]
            battles.sort(key=lambda table: _merit(table, scores), reverse=True)
        if not battles:
            return scene.tell(turned(person, ""))
        others = [each for each in person.observed if each != shown_to(person)]
        if len(others) >= MOST_OBSERVED:
            boards = tuple(others)
            raise Refused(Refusal.OBSERVES_TOO_MANY, most=MOST_OBSERVED, boards=boards)
        return scene.tell(turned(person, battles[0].name))


@value
class Retune(Command):
    """Turn a tv that is on to the best battle, as the service does when one ends."""

    def decide(self, scene: Scene) -> Decision:
        return Tv().decide(scene) if shown_to(scene.person) is not None else scene.tell()


def turned(person: Person, to: str | None) -> TvTurned:
    """Return the aside that turns a player's tv to a board, to "" for none, or off for None."""
    before = shown_to(person)
    observed = tuple(each for each in person.observed if each != before)
    if to:
        observed = (*observed, to)
    return TvTurned(person.name, to or before or "", observed, to)


def battles_for(hall: Hall, person: Person) -> Iterable[Table]:
    """Yield the boards where a battle is played that the player does not see anyway."""
    seen = {person.room, *person.observed} - {shown_to(person) or None}
    for table in hall.tables.values():
        is_played = table.running and table.match and not table.is_practice and table.full
        if is_played and table.name not in seen and person.name not in table.seats.values():
            yield table


def _merit(table: Table, scores: dict[str, PlayerScore | None]) -> tuple[bool, float, int, int]:
    """Return how good a battle is: between people first, by their ratings, by how close it is."""
    match = table.match
    assert match is not None  # noqa: S101  (as it is played)
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
