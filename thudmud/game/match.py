"""Matches of two battles, with seats swapped for the second; battles folded from events.

Points belong to seats, not to names: a player who takes over a seat gets its points.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from thudmud.errors import InvalidValueError
from thudmud.game import events
from thudmud.game.clocks import Clock, TimeControl
from thudmud.immutable import immutable
from thudmud.rules import RULESETS, Game, Move, Position, Side, read_record
from thudmud.values import replace

RATED_PLIES = 6
"""Minimum plies of a rated battle; in a match, of its first battle."""


class Unrated(Enum):
    """Reason why a battle or match changes no rating. The values are stable, for programs."""

    CASUAL = "casual"
    """The players agreed on a casual match, or nothing else is known."""
    GUEST = "guest"
    """A player has no account."""
    TOO_SHORT = "too_short"
    """The first battle had fewer plies than `RATED_PLIES`."""
    REPLACED = "replaced"
    """Another player took over a seat."""
    SET_UP = "set_up"
    """The battle began from a position that was set up."""
    TOO_OFTEN = "too_often"
    """The players have met too often recently."""


@immutable
@dataclass(frozen=True, slots=True)
class Match:
    """A match with its current battle.

    Attributes:
        game: the battle on the board.
        battle_id: the identity of the battle.
        dwarf: the player of the dwarfs; if the seat is free, its last player.
        troll: the player of the trolls; if the seat is free, its last player.
        rated: whether the match may count for ratings; false once a player was replaced.
        battle: 1 or 2.
        earlier_points: points from earlier battles, of the dwarfs' player and of the trolls'
            player.
        is_single_battle: whether the match has only one battle, like an imported one.
        number: the battle's number; None if unknown.
        levels: the levels of bots in the match.
        clock: the clock; None without one.
        tournament: the tournament round that the match belongs to, if any.
        unrated_reason: the reason why a rated match became unrated, if it did; lost on adjournment.
    """

    game: Game
    battle_id: events.BattleId
    dwarf: str
    troll: str
    rated: bool = False
    battle: int = 1
    earlier_points: tuple[int, int] = (0, 0)
    is_single_battle: bool = False
    number: int | None = None
    levels: events.Levels = events.NO_BOTS
    clock: Clock | None = None
    tournament: events.TournamentRound | None = None
    unrated_reason: Unrated | None = field(default=None, compare=False)
    is_running: bool = field(init=False, compare=False, repr=False)
    """Whether a battle is being played."""

    def __post_init__(self) -> None:
        events.require_match(self.battle, self.earlier_points)
        object.__setattr__(self, "is_running", self.game.outcome is None)

    @classmethod
    def restored(
        cls, saved: events.SavedMatch, number: int | None = None, at: float = 0.0
    ) -> Match:
        """Restore an adjourned match.

        Args:
            saved: the adjourned match.
            number: the number of its current battle.
            at: the time from which its clock runs, if it has one.
        """
        game = Game.start(RULESETS[saved.rules], saved.opening).play_all(saved.moves)
        game = replace(game, outcome=saved.outcome)
        return cls(
            game,
            saved.battle_id,
            saved.dwarf,
            saved.troll,
            saved.rated,
            saved.battle,
            saved.earlier_points,
            number=number,
            levels=saved.levels,
            clock=saved.clock and saved.clock.resumed(at),
        )

    def saved(self, at: float = 0.0) -> events.SavedMatch:
        """Return the state to store on adjournment, with the clock advanced to ``at``."""
        return events.SavedMatch(
            self.battle_id,
            self.battle,
            self.game.ruleset.name,
            self.earlier_points,
            self.dwarf,
            self.troll,
            self.rated,
            self.game.moves,
            self.game.outcome,
            self.levels,
            self.opening,
            self.clock.advanced_to(at) if self.clock and self.is_running else self.clock,
        )

    def with_game(self, game: Game, clock: Clock | None) -> Match:
        """Return the match with the state of its battle and clock replaced."""
        return Match(  # not `replace`, which is slower: this runs for each ply
            game,
            self.battle_id,
            self.dwarf,
            self.troll,
            self.rated,
            self.battle,
            self.earlier_points,
            self.is_single_battle,
            self.number,
            self.levels,
            clock,
            self.tournament,
            self.unrated_reason,
        )

    def with_player(self, side: Side, player: str, level: int | None) -> Match:
        """Return the match with ``player`` in a seat; unrated if that changes the seat.

        Args:
            side: the side of the seat.
            player: the player's name.
            level: the level, if the player is a bot.
        """
        before = self.dwarf if side is Side.DWARF else self.troll
        if (player, level) == (before, self.levels.of(side)):
            return self
        levels = self.levels.with_level(side, level)
        match = self.as_unrated(Unrated.REPLACED)
        if side is Side.DWARF:
            return replace(match, dwarf=player, levels=levels)
        return replace(match, troll=player, levels=levels)

    def as_unrated(self, why: Unrated) -> Match:
        """Return the match as unrated, with the reason."""
        return replace(self, rated=False, unrated_reason=why if self.rated else self.unrated_reason)

    def points(self, side: Side) -> int:
        """Return the points from finished battles of the player who now has ``side``."""
        outcome = self.game.outcome
        return self.earlier_points[side is Side.TROLL] + (outcome.score.of(side) if outcome else 0)

    @property
    def began_rated(self) -> bool:
        """Whether the match was rated when it began."""
        return self.rated or self.unrated_reason is not None

    def needs_confirmation_to_drop(self, side: Side) -> bool:
        """Whether dropping the match needs confirmation: the player leads, or play is advanced."""
        leads = self.projected_points(side) > self.projected_points(side.other)
        return leads or self.is_advanced or len(self.game.moves) >= RATED_PLIES

    @property
    def players(self) -> tuple[str, str]:
        """The players of the dwarfs and of the trolls."""
        return self.dwarf, self.troll

    @property
    def is_binding(self) -> bool:
        """Whether the match is rated and so far advanced that dropping out means losing."""
        return self.rated and (self.is_advanced or len(self.game.moves) >= RATED_PLIES)

    @property
    def is_advanced(self) -> bool:
        """Whether the first battle has ended, and the match isn't over."""
        return not self.is_over and (self.battle > 1 or not self.is_running)

    def projected_points(self, side: Side) -> int:
        """Return a player's points, with the current battle scored by its present position."""
        return self.points(side) + (self.game.score.of(side) if self.is_running else 0)

    @property
    def is_between_members(self) -> bool:
        """Whether the match may count for ratings between people."""
        return self.rated and self.levels == events.NO_BOTS

    @property
    def time(self) -> TimeControl | None:
        """The time control of the match's battles; None without a clock."""
        return self.clock.control if self.clock else None

    @property
    def opening(self) -> Position | None:
        """The initial position, if it was set up; None for the ruleset's own."""
        opening = self.game.initial_position
        return None if opening == self.game.ruleset.initial_position else opening

    @property
    def is_practice(self) -> bool:
        """Whether one player has both sides, in which case there is no second battle."""
        return self.dwarf == self.troll and not self.is_single_battle

    @property
    def battles(self) -> int:
        """Number of battles in the match."""
        return 1 if self.is_single_battle or self.is_practice else events.BATTLES

    @property
    def is_over(self) -> bool:
        """Whether all battles have ended."""
        return not self.is_running and self.battle == self.battles


def fold_game(stream: Iterable[events.Event], before: Game | None = None) -> Game:
    """Fold a battle from its events.

    Args:
        stream: the events of the stream of the battle's ``source``, from there on. Events after the
            battle's end, and other events of the board, are ignored.
        before: the battle before these events, if they don't begin at its source.

    Raises:
        InvalidValueError: no battle can begin with the first event.
    """
    following = iter(stream)
    game = before or _initial_game(next(following, None))
    played: list[Move] = []  # after ``game``; playing them in one go takes a fraction of the time
    for event in following:
        match event:
            case events.Moved(move=move):
                played.append(move)
            case events.TakenBack(moves=moves) if len(moves) <= len(played):
                del played[-len(moves) :]
            case events.TakenBack(moves=moves):
                game, played = game.play_all(played), []
                game = game.after(len(game.moves) - len(moves))
            case events.BattleEnded(outcome=outcome):
                return replace(game.play_all(played), outcome=outcome)
            case (
                events.BattleStarted()
                | events.Adjourned()
                | events.Resumed()
                | events.Cleared()
                | events.Imported()
            ):
                break
    return game.play_all(played)


def replay_imported(event: events.Imported, plies: int) -> Iterator[Game]:
    """Yield an imported battle after every ``plies`` plies, and at its end.

    The rules check each ply, so that reading a long battle takes a while. The steps let the caller
    pause in between.
    """
    lines = event.record.splitlines()
    first = plies + 1 + sum(each.startswith("[") for each in lines)
    game = read_record("\n".join(lines[:first]), RULESETS[event.rules]).game
    for start in range(first, len(lines), plies):
        yield game
        for line in lines[start : start + plies]:
            game = game.push(line)
    yield replace(game, outcome=event.outcome)


def _initial_game(event: events.Event | None) -> Game:
    match event:
        case events.BattleStarted(rules=rules, opening=opening):
            return Game.start(RULESETS[rules], opening)
        case events.Imported(rules=rules, record=record, outcome=outcome):
            return replace(read_record(record, RULESETS[rules]).game, outcome=outcome)
        case events.Resumed(match=saved):
            return Match.restored(saved).game
    raise InvalidValueError(f"expected the start of a battle as the first event, got {event}")
