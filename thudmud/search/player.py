"""Players of several strengths.

Nothing depends on time: limits are numbers of positions, and errors are drawn from a seed. So a
level plays the same on every machine.

A weak level chooses among the plies of the same search as a strong one, and errs as people do. It
looks less far, or plays after a first look; it is undecided between plies that are about as good;
it overlooks what comes from afar; it is greedy, or timid. From level 2 on, no error outweighs a
piece: such a player takes what is on offer, and leaves nothing to be taken for nothing, as far as a
first look shows.

**Temperature.** Gumbel noise times the temperature is added to the score of each ply. The best sum
is then a sample by the softmax of the scores (the Gumbel-max trick), and the alpha-beta search
finds it with shifted windows, without the exact score of every ply.

**No shuffling.** No level moves a piece back to the square that it has just left, unless something
was captured in between, the way back captures something, or the piece flees a capture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log
from random import Random

from thudmud.rules import Game, Move, Piece, Ruleset, Square, Verb
from thudmud.rules.board import distance, neighbours_of
from thudmud.search.levels import STRONGEST, Level
from thudmud.search.search import Blunders, Limit, Search, SearchResult

_NEAR = 3  # the longest hurls and shoves that nobody overlooks
_MOST_TRAMPLES = 8  # of each troll, among the replies to a ply
_TINY = 1e-12  # keeps the logarithms finite


class Player:
    """A computer player at a fixed level.

    Args:
        ruleset: the rules.
        level: the level; None for full strength without any preference, as analyses need it.
        seed: seeds the deliberate errors; the same seed gives the same plies.
    """

    def __init__(self, ruleset: Ruleset, level: Level | None = None, seed: int = 0) -> None:
        self._search, self._level = Search(ruleset), level
        self._seed = seed
        # People have good and bad days: the attention varies from battle to battle.
        day = Random(f"{seed} {level}")  # noqa: S311  (no secret)
        self._lapses = level.lapses * day.uniform(0.5, 1.5) if level else 0.0

    def think(
        self,
        game: Game,
        limit: Limit | None = None,
        report: Callable[[SearchResult], None] | None = None,
    ) -> SearchResult:
        """Choose a ply at this player's level.

        Args:
            game: a running battle.
            limit: when to stop, in place of the level's number of nodes; the level's depth still
                applies.
            report: called after each depth with the result so far.

        Raises:
            InvalidValueError: the battle is over.
        """
        level = self._level
        if level is None:
            return self._search.think(game, limit or Limit(nodes=STRONGEST.nodes), report)
        at = game.position
        # What happens at a ply depends only on the seed and the position.
        random = Random(f"{self._seed} {at.dwarfs} {at.trolls} {at.rock}")  # noqa: S311  (no secret)
        lapses = random.random() < self._lapses
        own = limit or Limit(nodes=level.nodes)
        own = replace(own, depth=min(own.depth, 0 if lapses else level.depth))
        errors = _Errors(level, game, random, is_blind=lapses and not level.depth)
        blunders = Blunders(errors.overlooks, errors.misses, errors.misjudges)
        return self._search.think(game, own, report, blunders)


class _Errors:
    """The errors of a level in one position.

    Args:
        level: the level.
        game: the battle.
        random: the source of the errors.
        is_blind: whether the player doesn't look at what the opponent could capture.
    """

    def __init__(self, level: Level, game: Game, random: Random, *, is_blind: bool) -> None:
        self._level, self._random, self._is_blind = level, random, is_blind
        self._ruleset, self._position = game.ruleset, game.position
        self._way_back = _way_back(game)
        next_to_enemies = neighbours_of(game.position.bits(Piece.of(game.turn.other)))
        self._near_enemies = next_to_enemies, neighbours_of(next_to_enemies)

    def overlooks(self, move: Move) -> bool:
        """Return whether the player doesn't consider a ply."""
        if not move.captures:
            return (move.piece, move.origin, move.target) == self._way_back
        return self._overlooks_far() and _is_far(move)

    def misses(self, move: Move) -> bool:
        """Return whether the player doesn't see the captures that a ply allows."""
        if self._is_blind:
            return True
        if not self._overlooks_far():
            return False
        replies = self._ruleset.legal_moves(self._position.after(move), _MOST_TRAMPLES)
        captures = [reply for reply in replies if reply.captures]
        return bool(captures) and all(map(_is_far, captures))

    def misjudges(self, move: Move) -> int:
        """Return by how many hundredths of a dwarf the player overrates a ply."""
        level = self._level
        error = float(level.greed * len(move.captures))
        if level.temperature:
            error -= level.temperature * log(_TINY - log(self._random.random() + _TINY))
        if level.timidity and not move.captures:
            error -= level.timidity * sum(
                bool(squares & move.target.bit) for squares in self._near_enemies
            )
        return round(max(-level.most, min(error, level.most)))

    def _overlooks_far(self) -> bool:
        """Draw whether the player overlooks captures from afar this time."""
        return self._random.random() < self._level.overlooks


def _is_far(capture: Move) -> bool:
    """Return whether a capture is a hurl or shove that people overlook."""
    return capture.verb is not Verb.MOVE and distance(capture.origin, capture.target) > _NEAR


def _way_back(game: Game) -> tuple[Piece, Square, Square] | None:
    """Return the piece, origin and target of the ply that would undo the mover's last one.

    None if there is a reason to go back: a capture since then, or a capture of the piece to flee.
    """
    if game.quiet_plies < 2:
        return None
    last = game.moves[-2]
    threats = game.ruleset.legal_moves(game.position.passed(), _MOST_TRAMPLES)
    if any(last.target in each.captures for each in threats):
        return None
    return last.piece, last.target, last.origin
