"""The search: finds the best ply by looking ahead within a limit.

The chosen ply is one of the ruleset's. Plies generated inside the tree are trusted; tests compare
them with the rules.

**The tree.** Negamax with alpha-beta pruning. All scores and windows are from the point of view of
the side to move; the opponent's score is the negative, and the window (alpha, beta) becomes (-beta,
-alpha). Alpha is a score that the side to move has elsewhere already, beta one that the opponent
can hold it to. Once a ply scores beta or more, the opponent would avoid the position, so its other
plies are skipped: a *cutoff*. The search is fail-soft: a score outside the window is returned as a
bound, not clipped to the window.

**Iterative deepening.** The depth grows ply by ply. Each iteration orders the plies of the next, by
the transposition table and the history, and cutoffs need good order. Before the first one, a short
quiescence search ranks the plies at the root; in classic, only the first few get exact scores. If
the limit stops an iteration, its best ply so far counts: the previous best ply was searched first,
so only a better one can have replaced it.

**Why a node may be skipped**, in the order in which `_negamax` asks:

- *Repetition*: the position was on the board since the last capture. Searching it would only repeat
  the battle so far, so its static score counts, at a cost to the side that chooses.
- *Depth 0*: quiescence search instead, captures only, since a score in the middle of an exchange
  says nothing. Nobody has to capture, so the static score is a lower bound (stand pat). Captures
  that can't reach alpha even with `_CAPTURE_MARGIN` to spare are skipped (delta pruning), and so
  are those that lose the troll for too few dwarfs.
- *Transposition table*: an entry of at least this depth answers if it's exact, a lower bound of
  beta or more, or an upper bound of alpha or less. Of any other entry, only the best ply is used,
  as the first to search.
- *Win*: a goal is reached, or the next ply reaches it.
- *Static pruning* (reverse futility), at depth 1 to 3 and in null windows: if the static score is
  beta or more with a margin to spare (`_STATIC_MARGINS`), it counts as the score. Most sides have a
  ply that doesn't make matters worse. Not in Koom Valley, whose goals no static score foresees.
- *Futility*, at depth 1: if the static score is so far below alpha that no quiet ply can make up
  for it, only captures of enough dwarfs are searched.
- *Cutoff*, see above.
- *Null window*: after the first ply, the others are only asked whether they are better (principal
  variation search). That takes a window of width 1, which cuts off almost everywhere. Those that
  are better are searched again in full.
- *Late move reductions*: from depth 3 on, quiet plies late in the list are searched at a lower
  depth first; if one then seems better, the full depth decides. The first `_LATE` plies and good
  captures are always searched at full depth.
- *Late move pruning*, at depth 1 and in null windows: quiet plies of the trolls from the index
  `_TOO_LATE` on aren't searched. Not in Koom Valley either.
- *Beam*: of the hundreds of queen moves that dwarfs have, only the most promising are generated.
  Of the trolls' steps, the first ones by rating and history are searched.

Reductions, the beam, and all pruning but the cutoffs can be wrong; they buy depth. There is no
null-move pruning: it assumes that passing is worse than the best ply, and a side with nothing good
to do in Thud would often rather not move at all (zugzwang).

**Wins** score `WIN_SCORE` plus the depth left to search, so that an earlier win scores higher, and
a later loss is less bad. In quiescence no depth is left.

**Transposition table.** Per side to move, keyed by the bitboards. An entry has the depth, the
score, the kind of bound and the best ply. A score of beta or more is a lower bound, as plies were
skipped that might score higher. One of the original alpha or less is an upper bound, as every ply
was only shown to be no better. Anything between is exact, up to the forward pruning above. Scores
depend on the weights, the gathering square and the boldness, so the tables are cleared when these
change. Repetitions return before the table is used, but their scores enter those of nodes above
them, so an entry may remember a repetition that's no longer one: the usual imprecision of such
tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heappush, heapreplace
from itertools import chain
from operator import itemgetter
from typing import Any

from thudmud.errors import InvalidValueError, ThudmudError
from thudmud.immutable import immutable
from thudmud.rules import Game, Move, Position, Ruleset, Side
from thudmud.rules.board import CENTRE, square_at
from thudmud.search.masks import ENOUGH, Ply
from thudmud.search.tactics import AnyWeights, masks, tactics_of

WIN_SCORE = 100_000
"""The score of a won battle; earlier wins score more."""

_INFINITY = 10 * WIN_SCORE  # infinity: beyond any score
_MAX_DEPTH = 60
_QUIESCENCE_DEPTH = 8  # the most plies of a quiescence search
_RANKING_QUIESCENCE_DEPTH = 2  # the same for the first ranking of the plies at the root
_NODES_PER_CHECK = 128  # nodes between two checks of the limit
_REPETITION_COSTS = (0, 25, 100)  # the cost of reaching a position for the second time, the third
_TT_MAX_ENTRIES = 200_000  # positions in the transposition table of each side, 110 MiB at most
# Positions with a cached static score, for each side, 41 MiB at most.
_EVALUATION_CACHE_SIZE = 100_000
# How much better another gathering square has to be to replace the current one.
_GATHERING_HYSTERESIS = 12

_ROOT_LATE, _ROOT_VERY_LATE = 6, 24
_LATE, _VERY_LATE = 6, 24  # the index of the first ply reduced by one, and by two (trolls only)
_FUTILITY_MARGIN = 200  # the most that a quiet ply at depth 1 is expected to gain
# By depth: how far above beta the static score has to be for it to count as the score.
_STATIC_MARGINS = (0, 25, 200, 400)
_TOO_LATE = 10  # the index of the trolls' first quiet ply that isn't searched at depth 1
_CAPTURE_MARGIN = 300  # the most that a capture is expected to gain besides the captured dwarfs
_MOST_TRAMPLES = 64  # the most tramples of a troll that are listed to find a ply's move
_NEVER = 1 << 62

_EXACT, _LOWER, _UPPER = 0, 1, 2  # kinds of bounds in the transposition table

_Entry = tuple[int, int, int, Ply | None]
_UNKNOWN: _Entry = -1, 0, _UPPER, None  # instead of a missing entry: too shallow for any search

_Table = dict[Ply, _Entry]
"""A transposition table: by position, the searched depth, the score, the bound and the best ply."""


@immutable
@dataclass(frozen=True, slots=True)
class Limit:
    """When to stop. The initial ranking of the plies is always completed.

    Attributes:
        nodes: the maximum number of positions.
        depth: the maximum depth in plies.
        should_stop: returns whether to answer now; called every hundred positions or so.
    """

    nodes: int = 1_000_000_000
    depth: int = _MAX_DEPTH
    should_stop: Callable[[], bool] = lambda: False


@immutable
@dataclass(frozen=True, slots=True)
class PruningOptions:
    """How much of the tree is searched. The default plays best.

    Attributes:
        beam: the maximum number of the dwarfs' queen moves, except at the root.
        root_beam: the maximum number of the dwarfs' plies at the root.
        troll_beam: the maximum number of the trolls' moves without captures, except at the root; by
            default that of the tactics.
        uses_late_move_reductions: whether late move reductions and futility pruning are used.
        uses_transposition_table: whether the transposition table is used.
    """

    beam: int = 14
    root_beam: int = 60
    troll_beam: int | None = None
    uses_late_move_reductions: bool = True
    uses_transposition_table: bool = True


@immutable
@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search.

    Attributes:
        move: the best ply found.
        score: the position's score for the side to move, in hundredths of a dwarf.
        depth: the depth searched in full, in plies.
        nodes: the number of positions.
        principal_variation: the principal variation, the plies expected from ``move`` on, up to the
            last one known.
    """

    move: Move
    score: int
    depth: int
    nodes: int
    principal_variation: tuple[Move, ...]


@immutable
@dataclass(frozen=True, slots=True)
class Blunders:
    """The errors of a weaker player about its own plies.

    Attributes:
        overlooks: returns whether the player doesn't see a ply.
        misses: returns whether the player doesn't see the reply to a ply, at a depth of one.
        misjudges: returns by how many hundredths of a dwarf the player overrates a ply.
    """

    overlooks: Callable[[Move], bool] = lambda _: False
    misses: Callable[[Move], bool] = lambda _: False
    misjudges: Callable[[Move], int] = lambda _: 0


def _is_bound_sufficient(bound: int, value: int, alpha: int, beta: int) -> bool:
    """Return whether an entry of the transposition table answers for a window."""
    if bound == _EXACT:
        return True
    return value >= beta if bound == _LOWER else value <= alpha


class _SearchStoppedError(ThudmudError):
    """Raised inside the tree when the limit is reached."""


class Search:
    """The search for one ruleset. Its tables carry over from ply to ply of a battle.

    Args:
        ruleset: the ruleset.
        weights: the weights for each side; the tuned ones by default.
        options: how much of the tree is searched; by default what plays best.

    Attributes:
        gathering_square: the bit of the dwarfs' gathering square; 0 for none.
    """

    def __init__(
        self,
        ruleset: Ruleset,
        weights: Mapping[Side, AnyWeights] | None = None,
        options: PruningOptions | None = None,
    ) -> None:
        self._ruleset = ruleset
        self._options = options or PruningOptions()
        self._tactics = tactics_of(ruleset, weights)
        self._ground, self._has_goals = self._tactics.ground, self._tactics.has_goals
        self._troll_beam = self._options.troll_beam or self._tactics.troll_beam
        self._transpositions: tuple[_Table, _Table] = {}, {}
        self._evaluations: tuple[dict[Ply, tuple[int, Any]], dict[Ply, tuple[int, Any]]] = {}, {}
        self._evaluation_key: tuple[Side, int, int] | None = None
        self._history: tuple[dict[int, int], dict[int, int]] = {}, {}
        self._nodes = 0
        self.gathering_square = 0
        self._followed: tuple[Move, ...] = ()
        self._repetitions: tuple[dict[Ply, int], dict[Ply, int]] = {}, {}
        self._misjudged: dict[Ply, int] = {}
        self._root_side = 0
        """The side that chooses a ply: 0 for the dwarfs, 1 for the trolls."""

    def think(
        self,
        game: Game,
        limit: Limit,
        report: Callable[[SearchResult], None] | None = None,
        blunders: Blunders | None = None,
    ) -> SearchResult:
        """Return the best ply of a running battle.

        Args:
            game: the battle.
            limit: when to stop.
            report: called after each depth with the result so far.
            blunders: the errors to make.

        Raises:
            InvalidValueError: the battle is over.
        """
        if game.outcome:
            raise InvalidValueError("there is no ply to choose")
        position = game.position
        self._prepare(game)
        self._limit, self._nodes, self._next_look = limit, 0, _NEVER
        self._best: tuple[Ply, int, int] | None = None
        moves, ranked = self._rank_plies(position, blunders or Blunders())
        plies = [ply for _, ply in ranked]
        found = plies[0], ranked[0][0], 0
        self._next_look = min(self._nodes + _NODES_PER_CHECK, max(limit.nodes, self._nodes + 1))
        try:
            for depth in range(1, min(limit.depth, _MAX_DEPTH) + 1):
                plies, value = self._search_root(position, plies, depth)
                found = plies[0], value, depth
                if report:
                    report(self._search_result(position, moves, *found))
                if abs(value) >= WIN_SCORE or len(plies) == 1:
                    break
        except _SearchStoppedError:
            # The previous best ply is searched first, so what replaced it is better.
            if self._best is not None:
                ply, value, depth = self._best
                found = ply, value, depth - 1
        return self._search_result(position, moves, *found)

    # The root.

    def _candidate_plies(self, position: Position) -> dict[Ply, Move]:
        """Return the plies to choose from, by their masks."""
        moves = {masks(move): move for move in self._ruleset.legal_moves(position, _MOST_TRAMPLES)}
        d, t, r, empty = position.dwarfs, position.trolls, position.rock, position.empty
        field = self._tactics.field(d, t, empty)
        if position.turn is Side.TROLL:
            kept = [ply for _, _, ply in self._tactics.troll_captures(d, t, r, empty, field)]
            kept += [ply for _, ply in self._tactics.troll_moves(d, t, r, empty, field)]
        else:
            kept = self._tactics.dwarf_captures(d, t, r, empty, field)
            kept += self._tactics.dwarf_moves(d, t, r, empty, field, 2 * self._options.root_beam)
        # Only legal plies: the ruleset has the last word on the tactics' own generator.
        return {ply: moves[ply] for ply in dict.fromkeys(kept) if ply in moves} or moves

    def _prepare(self, game: Game) -> None:
        """Update the gathering square, the repetitions and the weights for a battle."""
        seen: tuple[dict[Ply, int], dict[Ply, int]] = {}, {}
        count = len(self._followed)
        if self._followed != game.moves[:count]:
            self.gathering_square, count = 0, 0
        positions = [game.position]
        for move in reversed(game.moves[min(count, len(game.moves) - game.quiet_plies) :]):
            positions.append(positions[-1].before(move))
        for position in reversed(positions[: len(game.moves) + 1 - count]):
            self._update_gathering_square(position)
        self._followed = game.moves
        for at in positions[1 : game.quiet_plies + 1]:  # a capture rules out repetitions
            counts = seen[at.turn is Side.TROLL]
            key = (at.dwarfs, at.trolls, at.rock)
            counts[key] = counts.get(key, 0) + 1
        self._repetitions = seen
        boldness = self._tactics.boldness(game.quiet_plies)
        weighed_for = game.turn, self.gathering_square or CENTRE.bit, boldness
        if weighed_for != self._evaluation_key:
            self._evaluation_key = weighed_for
            self._tactics.use_weights_of(*weighed_for)
            for table in (*self._transpositions, *self._evaluations):
                table.clear()
        one, other = (  # the history fades, as the position has changed
            {mask: count // 8 for mask, count in each.items() if count >= 8}
            for each in self._history
        )
        self._history = one, other
        self._root_side = int(game.turn is Side.TROLL)

    def _update_gathering_square(self, position: Position) -> None:
        """Keep the gathering square unless another has become clearly better.

        If the square changed easily, the dwarfs would never come together.
        """
        ratings = self._tactics.rate_gathering_squares(position.dwarfs, position.trolls)
        if not ratings:
            return
        best = max(ratings, key=ratings.__getitem__)
        if (
            not self.gathering_square
            or ratings[best] > ratings[self.gathering_square] + _GATHERING_HYSTERESIS
        ):
            self.gathering_square = best

    def _rank_plies(
        self, position: Position, blunders: Blunders
    ) -> tuple[dict[Ply, Move], list[tuple[int, Ply]]]:
        """Return the plies to choose from, and the score of each by itself, the best first."""
        d, t, r, side = position.dwarfs, position.trolls, position.rock, self._root_side
        plies = self._candidate_plies(position)
        moves = {ply: move for ply, move in plies.items() if not blunders.overlooks(move)} or plies
        guesses: list[tuple[int, Ply]] = []
        changes, self._misjudged = {}, {}
        for ply, move in moves.items():
            dx, tx, rx = ply
            at = d ^ dx, t ^ tx, r ^ rx
            change = -_REPETITION_COSTS[min(self._repetitions[1 - side].get(at, 0), 2)]
            if wrong := blunders.misjudges(move):
                self._misjudged[ply] = wrong
                change += wrong
            changes[ply] = change
            guesses.append((change - self._evaluate(*at, 1 - side)[0], ply))
        # Captures of the opponent can only lower these scores. From the best one down, soon all
        # other plies are known not to be among the first: an upper bound is enough for them.
        guesses.sort(reverse=True, key=itemgetter(0))
        ranked = []
        most = len(moves) if side else self._options.root_beam
        exact = min(most, self._tactics.ranked_exactly)
        best: list[int] = []
        for _, ply in guesses:
            dx, tx, rx = ply
            change = changes[ply]
            left = 0 if blunders.misses(moves[ply]) else _RANKING_QUIESCENCE_DEPTH
            high = change - best[0] if len(best) == exact else _INFINITY
            value = change - self._quiescence(
                d ^ dx, t ^ tx, r ^ rx, 1 - side, -_INFINITY, high, left
            )
            ranked.append((value, ply))
            if len(best) < exact:
                heappush(best, value)
            elif value > best[0]:
                heapreplace(best, value)
        ranked.sort(reverse=True, key=itemgetter(0))
        return moves, ranked[:most]

    def _search_root(
        self, position: Position, plies: list[Ply], depth: int
    ) -> tuple[list[Ply], int]:
        """Search the plies to a depth; return them with the best first, and its score."""
        d, t, r, side = position.dwarfs, position.trolls, position.rock, self._root_side
        self._best = None
        alpha = -_INFINITY
        order: list[tuple[int, Ply]] = []
        for number, ply in enumerate(plies):
            dx, tx, rx = ply
            d2, t2, r2 = d ^ dx, t ^ tx, r ^ rx
            # The error of a weak player is added to the score, so the window moves by as much.
            wrong = self._misjudged.get(ply, 0)
            low, high = alpha - wrong, _INFINITY - wrong
            late = 0
            if (
                self._options.uses_late_move_reductions
                and number >= _ROOT_LATE
                and depth > 2
                and not ply[1 - side]
            ):
                late = 1 + (number >= _ROOT_VERY_LATE)
            value = low + 1
            if late:
                value = -self._negamax(d2, t2, r2, 1 - side, depth - 1 - late, -low - 1, -low)
            if number and value > low:
                value = -self._negamax(d2, t2, r2, 1 - side, depth - 1, -low - 1, -low)
            if value > low:
                value = -self._negamax(d2, t2, r2, 1 - side, depth - 1, -high, -low)
            value += wrong
            if value > alpha:
                alpha = value
                self._best = ply, value, depth
                order.insert(0, (value, ply))
            else:
                order.append((value, ply))
        return [ply for _, ply in order], alpha

    def _search_result(
        self, position: Position, moves: dict[Ply, Move], ply: Ply, value: int, depth: int
    ) -> SearchResult:
        line = [moves[ply]]
        at = position.after(moves[ply])
        for _ in range(depth):
            known = self._transpositions[at.turn is Side.TROLL].get((at.dwarfs, at.trolls, at.rock))
            if known is None or known[3] is None or self._ruleset.outcome(at):
                break
            move = self._move_of(at, known[3])
            if move is None:
                break
            line.append(move)
            at = at.after(move)
        return SearchResult(moves[ply], value, depth, self._nodes, tuple(line))

    def _move_of(self, position: Position, ply: Ply) -> Move | None:
        """Return the legal move with these masks; None if there is none."""
        dx, tx, rx = ply
        is_troll = position.turn is Side.TROLL
        origin = tx & position.trolls if is_troll else dx & position.dwarfs | rx & position.rock
        # A trample that comes full circle flips no bit of its troll.
        moves = (
            self._ruleset.moves_from(position, square_at(origin), _MOST_TRAMPLES)
            if origin
            else self._ruleset.legal_moves(position, _MOST_TRAMPLES)
        )
        return {masks(move): move for move in moves}.get(ply)

    def _check_limits(self) -> None:
        if self._nodes >= self._limit.nodes or self._limit.should_stop():
            raise _SearchStoppedError
        self._next_look = min(self._nodes + _NODES_PER_CHECK, self._limit.nodes)

    # The tree.

    def _negamax(self, d: int, t: int, r: int, side: int, depth: int, alpha: int, beta: int) -> int:  # noqa: PLR0917
        """Return a position's score for the side to move: 0 the dwarfs, 1 the trolls.

        The recursive part of the search. The module's docstring explains why a node may be skipped.

        Args:
            d: the dwarfs' bitboard.
            t: the trolls' bitboard.
            r: the Rock's bitboard.
            side: the side to move.
            depth: the plies still to search; with 0 or less, only captures.
            alpha: the score that the side to move has already.
            beta: the score that makes the opponent avoid this position.

        Returns:
            The score if it's between alpha and beta. A score of alpha or less is an upper bound of
            the true one, a score of beta or more a lower bound.
        """
        # Long: once per node, where a call for each phase would slow the search.
        key = d, t, r
        if (counts := self._repetitions[side]) and (count := counts.get(key)):
            # Repetition: the search from here is the battle so far. The cost goes to the side that
            # chooses a ply, whoever repeats: otherwise it would move back and forth when ahead.
            cost = _REPETITION_COSTS[min(count, 2)]
            return self._evaluate(d, t, r, side)[0] - (cost if side == self._root_side else -cost)
        if depth <= 0:
            return self._quiescence(d, t, r, side, alpha, beta, _QUIESCENCE_DEPTH)
        self._nodes += 1
        if self._nodes >= self._next_look:
            self._check_limits()
        known_depth, value, bound, first = self._transpositions[side].get(key, _UNKNOWN)
        if known_depth >= depth and _is_bound_sufficient(bound, value, alpha, beta):
            return value
        # Too shallow, or a bound on the wrong side of the window: `first` is still likely best.
        if self._has_goals and (won := self._tactics.winner_sign(d, t, r, dwarfs_to_move=not side)):
            return (-won if side else won) * (WIN_SCORE + depth)
        best, best_ply, start = -_INFINITY, None, alpha
        reduces, least = self._options.uses_late_move_reductions, 0
        prunes, field = reduces and beta - alpha == 1 and not self._has_goals, None
        is_static = prunes and depth < len(_STATIC_MARGINS)
        if is_static or (depth == 1 and reduces):
            still, field = self._evaluate(d, t, r, side)
            if is_static and still - _STATIC_MARGINS[depth] >= beta:
                return still - _STATIC_MARGINS[depth]
            # Futility: if a quiet ply can't gain enough to reach alpha, only captures can, of at
            # least `least` dwarfs. Most of the work would be in the quiet plies. The static score
            # stands for those not searched. While less than `_CAPTURE_MARGIN` is missing, `least`
            # is 0, and everything is still searched.
            if depth == 1 and still + _FUTILITY_MARGIN <= alpha:
                best, least = still, (alpha - still - _CAPTURE_MARGIN) // 100 + 1
        plies = self._ordered_plies(d, t, r, side, first, least, field)
        for number, (ply, is_quiet) in enumerate(plies):
            dx, tx, rx = ply
            d2, t2, r2 = d ^ dx, t ^ tx, r ^ rx
            if not number:
                value = -self._negamax(d2, t2, r2, 1 - side, depth - 1, -beta, -alpha)
            else:
                # The first ply is most likely the best. A null window asks of the others only if
                # they are better, which is cheap, and mostly they aren't. A score above alpha from
                # a reduced depth proves nothing yet, and one inside the window is just a bound.
                late = 0
                if reduces and is_quiet and number >= _LATE and depth > 2:
                    late = 2 if side and number >= _VERY_LATE else 1
                elif prunes and is_quiet and side and number >= _TOO_LATE and depth == 1:
                    break
                value = -self._negamax(d2, t2, r2, 1 - side, depth - 1 - late, -alpha - 1, -alpha)
                if value > alpha and (late or value < beta):
                    value = -self._negamax(d2, t2, r2, 1 - side, depth - 1, -beta, -alpha)
            if value <= best:
                continue
            best, best_ply = value, ply
            if value > alpha:
                alpha = value
                if value >= beta:  # cutoff: the opponent would avoid this position
                    if is_quiet:
                        self._credit(side, ply, depth)
                    break
        if best_ply is None:  # no plies, or by futility none above the static score
            return best if least else self._evaluate(d, t, r, side)[0]
        if self._options.uses_transposition_table:
            # By the original alpha, as it has risen to `best` meanwhile.
            bound = _LOWER if best >= beta else _EXACT if best > start else _UPPER
            self._remember(side, key, (depth, best, bound, best_ply))
        return best

    def _remember(self, side: int, key: Ply, entry: _Entry) -> None:
        """Store an entry in the transposition table."""
        table = self._transpositions[side]
        if len(table) >= _TT_MAX_ENTRIES:
            table.clear()
        table[key] = entry

    def _credit(self, side: int, ply: Ply, depth: int) -> None:
        """Raise a quiet ply's history: it will more likely cut off in similar positions, too."""
        history = self._history[side]
        history[ply[side]] = history.get(ply[side], 0) + depth * depth

    def _ordered_plies(  # noqa: PLR0917
        self, d: int, t: int, r: int, side: int, first: Ply | None, least: int, field: Any
    ) -> Iterator[tuple[Ply, bool]]:
        """Yield a side's plies, the best first, and whether each is quiet.

        Lazy, so that nothing is generated before it is needed: the first ply settles most
        positions. The order is the table's best ply, captures, quiet plies by history, and captures
        that lose the troll for too little; these count as quiet. If ``least`` isn't 0, only
        captures follow the table's ply, and the trolls' captures of fewer dwarfs may be left out.
        ``field`` is that of the tactics, or None.
        """
        if first is not None:
            yield first, False
        tactics, history = self._tactics, self._history[side]
        empty = self._ground ^ (d | t | r)
        if field is None:
            field = tactics.field(d, t, empty)
        bad: list[Ply] = []
        if side:
            found = tactics.troll_captures(d, t, r, empty, field, least=least)
            found.sort(key=itemgetter(0), reverse=True)
            captures = [ply for number, is_hit, ply in found if number >= ENOUGH or not is_hit]
            bad = [ply for number, is_hit, ply in found if number < ENOUGH and is_hit]
        else:
            captures = tactics.dwarf_captures(d, t, r, empty, field)
        for ply in captures:
            if ply != first:
                yield ply, False
        if least:
            return
        if side:
            steps = [
                (history.get(ply[1], 0) + gain, ply)
                for gain, ply in tactics.troll_moves(d, t, r, empty, field)
            ]
            steps.sort(reverse=True)
            moves = [ply for _, ply in steps[: self._troll_beam]]
        else:
            moves = tactics.dwarf_moves(d, t, r, empty, field, self._options.beam)
            moves.sort(key=lambda ply: -history.get(ply[0], 0))
        for ply in chain(moves, bad):
            if ply != first:
                yield ply, True

    def _evaluate(self, d: int, t: int, r: int, side: int) -> tuple[int, Any]:
        """Return the static score of a position, and its field; both are cached."""
        table, key = self._evaluations[side], (d, t, r)
        known = table.get(key)
        if known is None:
            tactics = self._tactics
            empty = self._ground ^ (d | t | r)
            field = tactics.field(d, t, empty)
            score = tactics.evaluate(d, t, r, empty, field, dwarfs_to_move=not side)
            if len(table) >= _EVALUATION_CACHE_SIZE:
                table.clear()
            table[key] = known = -score if side else score, field
        return known

    def _quiescence(  # noqa: PLR0917
        self, d: int, t: int, r: int, side: int, alpha: int, beta: int, left: int
    ) -> int:
        """Return a position's score after the best exchange, if any (quiescence search).

        Args:
            d: the dwarfs' bitboard.
            t: the trolls' bitboard.
            r: the Rock's bitboard.
            side: the side to move.
            alpha: as for `_negamax`.
            beta: as for `_negamax`.
            left: the plies still to search.
        """
        self._nodes += 1
        if self._nodes >= self._next_look:
            self._check_limits()
        if self._has_goals and (won := self._tactics.winner_sign(d, t, r, dwarfs_to_move=not side)):
            return -won * WIN_SCORE if side else won * WIN_SCORE
        # Stand pat: no capture is forced, so the static score is a lower bound.
        still, field = self._evaluate(d, t, r, side)
        best = still
        if best >= beta or not left:
            return best
        alpha = max(alpha, best)
        empty = self._ground ^ (d | t | r)
        if side:
            # Delta pruning: a capture of fewer dwarfs can't raise the score above alpha.
            least = max(1, (alpha - still - _CAPTURE_MARGIN) // 100 + 1)
            captures = self._tactics.troll_captures(d, t, r, empty, field, least=least)
            captures.sort(key=itemgetter(0), reverse=True)
        else:
            plies = self._tactics.dwarf_captures(d, t, r, empty, field)
            if not plies:
                return best
            captures = [(_INFINITY, False, ply) for ply in plies]  # a troll is worth any hurl
        for number, is_hit, (dx, tx, rx) in captures:
            # Captures are sorted by the number of dwarfs: if one can't raise the score enough, none
            # after it can. Nor is one worth the troll that captures fewer than `ENOUGH`.
            if still + 100 * number + _CAPTURE_MARGIN <= alpha:
                break
            if is_hit and number < ENOUGH:
                continue
            value = -self._quiescence(d ^ dx, t ^ tx, r ^ rx, 1 - side, -beta, -alpha, left - 1)
            if value > best:
                best = value
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        break
        return best
