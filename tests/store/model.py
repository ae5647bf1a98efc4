"""Reference model of battles and players: a plain fold of all events.

It knows neither rows nor realms and recomputes everything each time. Names ignore case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from openskill.models import BradleyTerryFull

from thudmud.game import archive
from thudmud.game.archive import (
    Battle,
    Performance,
    PlayerScore,
    Pool,
    RankedPlayer,
    Rating,
    State,
    Tally,
)
from thudmud.game.clocks import time_class
from thudmud.game.events import (
    NO_BOTS,
    Adjourned,
    BattleEnded,
    BattleId,
    BattleStarted,
    Cleared,
    Imported,
    Levels,
    Resumed,
    SavedMatch,
    StoredEvent,
)
from thudmud.game.projections import is_of_a_match
from thudmud.rules import Side
from thudmud.store import Entry


class Model:
    """The battles that follow from the events, ordered by number."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.battles: list[Battle] = []
        self.ended: list[Battle] = []
        """Battles in the order in which they ended here."""
        self.adjourned: dict[int, SavedMatch] = {}
        self._levels: dict[int, Levels] = {}
        """Levels of the bots involved, by the number of the ended battle."""
        self._boards: dict[str, int] = {}
        self._players: defaultdict[str, set[int]] = defaultdict(set)
        for entry in entries:
            if not is_of_a_match(entry.stream):
                self._happen(BattleId(entry.stream, entry.version), entry.event)

    def of(self, player: str) -> list[Battle]:
        """Return the battles that a player has begun or ended."""
        return [self.battles[number - 1] for number in sorted(self._players[player.lower()])]

    def pools(self) -> set[Pool]:
        """Return the pools in which people have ratings."""
        return {pool for _, role, pool in self._ratings() if role == "people"}

    def standings(self, pool: Pool) -> list[RankedPlayer]:
        """Return all players with an established rating in a pool, the best first."""
        ranked = [
            (name, rating)
            for (name, role, of), rating in self._ratings().items()
            if (role, of) == ("people", pool) and not rating.is_provisional
        ]
        ranked.sort(key=lambda each: (-each[1].proven, each[0].lower()))
        return [RankedPlayer(place, *each) for place, each in enumerate(ranked, 1)]

    def score(self, player: str) -> PlayerScore:
        """Return a player's tallies and ratings."""
        roles = {
            role: Performance(
                *self._tallies(player, role),
                {
                    pool: rating
                    for (name, of, pool), rating in self._ratings().items()
                    if (name, of) == (player, role)
                },
            )
            for role in ("people", "bots", *map(str, range(10)))
        }
        people, bots = roles.pop("people"), roles.pop("bots")
        levels = {int(role): each for role, each in roles.items() if each != Performance()}
        return PlayerScore(player, people, bots, levels)

    def _tallies(
        self, player: str, role: str
    ) -> tuple[dict[tuple[str, Side], Tally], dict[str, Tally]]:
        """Return a player's tallies in a role, by battle and by match."""
        battles: dict[tuple[str, Side], Tally] = {}
        matches: dict[str, Tally] = {}
        for battle in self.ended:
            for side in Side:
                if (battle.player(side), self._role(battle, side)) != (player, role):
                    continue
                if None not in self._levels[battle.number]:
                    continue
                winner = battle.outcome.winner if battle.outcome else None
                key = battle.rules, side
                battles[key] = _counted(battles.get(key), [side, None, side.other].index(winner))
                if battle.points:
                    mine, theirs = battle.points if side is Side.DWARF else battle.points[::-1]
                    how = 0 if mine > theirs else 1 if mine == theirs else 2
                    matches[battle.rules] = _counted(matches.get(battle.rules), how)
        return battles, matches

    def _role(self, battle: Battle, side: Side) -> str:
        """Return the key of the rating that a battle changes for a side's player."""
        levels = self._levels[battle.number]
        if (level := levels.of(side)) is not None:
            return str(level)
        return "people" if levels.of(side.other) is None else "bots"

    def _ratings(self) -> dict[tuple[str, str, Pool], Rating]:
        """Return all ratings by player, role and pool."""
        model = BradleyTerryFull()
        known: defaultdict[tuple[str, str, Pool], Any] = defaultdict(model.rating)
        opponents: defaultdict[tuple[str, str, Pool], list[str]] = defaultdict(list)
        ranks = {Side.DWARF: [1.0, 2.0], Side.TROLL: [2.0, 1.0], None: [1.0, 1.0]}
        for battle in self.ended:
            if not battle.rated or battle.outcome is None or battle.dwarf == battle.troll:
                continue
            winner, pool = battle.outcome.winner, Pool(battle.rules)
            between_people = self._levels[battle.number] == NO_BOTS
            if between_people:
                if battle.points is None:
                    continue
                pool = Pool(battle.rules, time_class(battle.time))
                dwarf, troll = battle.points
                winner = Side.DWARF if dwarf > troll else Side.TROLL if troll > dwarf else None
            both = [(battle.player(side), self._role(battle, side), pool) for side in Side]
            names = battle.troll, battle.dwarf
            if between_people and any(
                opponents[each][-9:].count(name) >= 5
                for each, name in zip(both, names, strict=True)
            ):
                continue
            after = model.rate([[known[each]] for each in both], ranks=ranks[winner])
            few = [len(opponents[each]) < archive.PROVISIONAL for each in both]
            for each, name, [rating], is_new, is_other_new in zip(
                both, names, after, few, reversed(few), strict=True
            ):
                if not between_people or is_new or not is_other_new:
                    known[each] = rating
                    opponents[each].append(name)
        return {
            each: Rating(
                1500 + round(30 * (rating.mu - model.mu)),
                round(30 * rating.sigma),
                len(opponents[each]),
            )
            for each, rating in known.items()
            if opponents[each]
        }

    def _happen(self, at: BattleId, event: StoredEvent) -> None:
        here = self._boards.get(at.board)
        there = self.battles[here - 1] if here else None
        running = there if there and there.state is State.RUNNING else None
        match event:
            case BattleEnded():
                if running:
                    self._end(running, at, event)
            case Adjourned(match=match) if there and there.id == match.battle_id:
                self._boards.pop(at.board)
                self.adjourned[there.number] = match
                if running:
                    self._put(
                        running._replace(
                            state=State.ADJOURNED,
                            until=at.version,
                            plies=len(match.moves),
                            dwarf=match.dwarf,
                            troll=match.troll,
                        )
                    )
            case BattleStarted() | Adjourned() | Resumed() | Cleared():
                if running:
                    self._put(running._replace(state=State.UNFINISHED, until=at.version))
                self._boards.pop(at.board, None)
                if isinstance(event, BattleStarted):
                    self._boards[at.board] = self._begin(at, event, there)
                elif isinstance(event, Resumed):
                    self._resume(at, event.match)
            case Imported():
                self._put(
                    self._new(at, event)._replace(
                        state=State.ENDED,
                        until=at.version,
                        plies=event.plies,
                        outcome=event.outcome,
                        imported=True,
                    )
                )

    def _begin(self, at: BattleId, event: BattleStarted, first: Battle | None) -> int:
        before = (0, 0)
        if first and event.number == 2:
            score = first.outcome.score if first.outcome else None
            dwarf, troll = (score.dwarf, score.troll) if score else (0, 0)
            before = first.earlier_points[1] + troll, first.earlier_points[0] + dwarf
        is_first = event.number == 1
        battle = self._new(at, event)._replace(
            part=event.number,
            earlier_points=before,
            has_custom_opening=event.opening is not None,
            rated=event.rated and (is_first or (first is not None and first.rated)),
            time=event.time,
        )
        self._put(battle)
        return battle.number

    def _end(self, battle: Battle, at: BattleId, event: BattleEnded) -> None:
        ended = battle._replace(
            state=State.ENDED,
            until=at.version,
            dwarf=event.dwarf,
            troll=event.troll,
            plies=event.plies,
            outcome=event.outcome,
            rated=event.rated and battle.rated,
            points=event.points,
        )
        self._levels[ended.number] = event.levels
        if ended.dwarf != ended.troll:
            ended = ended._replace(ratings=self._before(ended))
        self._put(ended)
        if not ended.has_custom_opening:
            self.ended.append(ended)

    def _before(self, battle: Battle) -> tuple[int | None, int | None]:
        """Return the players' established ratings before a battle counts."""
        known, pool = self._ratings(), Pool(battle.rules)
        if self._levels[battle.number] == NO_BOTS:
            pool = Pool(battle.rules, time_class(battle.time))
        of_both = [
            known.get((battle.player(side), self._role(battle, side), pool)) for side in Side
        ]
        dwarf, troll = (
            None if each is None or each.is_provisional else each.points for each in of_both
        )
        return dwarf, troll

    def _resume(self, at: BattleId, match: SavedMatch) -> None:
        found = [battle for battle in self.battles if battle.id == match.battle_id]
        if not found or found[0].number not in self.adjourned:
            return
        (battle,) = found
        del self.adjourned[battle.number]
        self._boards[at.board] = battle.number
        if battle.state is State.ADJOURNED:
            self._put(battle._replace(state=State.RUNNING, source=at, until=None, plies=None))

    def _new(self, at: BattleId, event: BattleStarted | Imported) -> Battle:
        number = len(self.battles) + 1
        return Battle(number, at, event.at, event.rules, event.dwarf, event.troll, at)

    def _put(self, battle: Battle) -> None:
        self.battles[battle.number - 1 : battle.number] = [battle]
        for player in battle.players:
            if player:
                self._players[player.lower()].add(battle.number)


def _counted(before: Tally | None, place: int) -> Tally:
    counts = list(before or Tally())
    counts[place] += 1
    return Tally(*counts)
