"""The search: finds the best ply by looking ahead within a limit.

Negamax: each worth and each window is in the view of the side to move. `_value` calls itself down
to the last ply of the depth, and `_calm` goes on from there as long as something is captured,
because a worth in the middle of an exchange says nothing. The depth grows ply by ply, and what one
depth has found orders the plies of the next.

The parts, by their names in chess programming: transposition table, principal variation search with
null windows, late move reductions, history heuristic, quiescence search, and a beam: of the
hundreds of queen moves that dwarfs have, only the most promising are searched inside the tree.
There is no null move: a side with nothing good to do in Thud would often rather not move at all.

The chosen ply is one of the ruleset's; plies generated inside the tree are trusted, and tests
compare them with the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

from thudmud.errors import ThudmudError
from thudmud.rules import Game, Move, Position, Ruleset, Side
from thudmud.rules.board import CENTRE
from thudmud.search.masks import ENOUGH, Ply
from thudmud.search.tactics import AnyWeights, masks, tactics_of

WON = 100_000
"""The worth of a won battle; more, the sooner it is won."""

_ENDLESS = 10 * WON
_DEEPEST = 60
_CALM = 8  # plies of an exchange that are followed at most
_CALM_FIRST = 2  # the same where each ply at the root is weighed by itself
_LOOK = 128  # nodes between two checks of the limit
_REPEATED = (0, 25, 100)  # the cost of reaching a position for the second time, the third
_KEPT = 200_000  # positions in the transposition table of each side, 110 MiB at most
_WEIGHED = 100_000  # positions whose static worth is kept, for each side, 41 MiB at most
_STEADY = 12  # by how much another gathering square has to be better to be chosen

_ROOT_LATE, _ROOT_VERY_LATE = 6, 24
_LATE, _VERY_LATE = 6, 24  # how many plies come before those that are reduced
_FUTILE = 200  # the most that a last ply without a capture is expected to gain
_CALM_GAIN = 300  # the most that a capture is expected to gain beside the dwarfs that it takes
_NEVER = 1 << 62

_EXACT, _LOWER, _UPPER = 0, 1, 2

_Table = dict[Ply, tuple[int, int, int, Ply | None]]
"""By position: the depth of its search, its worth, the kind of bound, and the best ply."""


@dataclass(frozen=True, slots=True)
class Limit:
    """When to stop. Each ply is weighed by itself in any case.

    Attributes:
        nodes: the most positions.
        depth: the most plies.
        is_late: returns whether to answer now; called every hundred positions or so.
    """

    nodes: int = 1_000_000_000
    depth: int = _DEEPEST
    is_late: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Width:
    """How much of the tree is searched. The default plays best.

    Attributes:
        beam: the queen moves of the dwarfs in each position but the root.
        root_beam: the same at the root.
        troll_beam: the trolls' moves without captures.
        reduces: whether late plies of a list are searched less deeply.
        keeps: whether the transposition table is used.
    """

    beam: int = 14
    root_beam: int = 60
    troll_beam: int = 64
    reduces: bool = True
    keeps: bool = True


@dataclass(frozen=True, slots=True)
class Thought:
    """The result of a search.

    Attributes:
        move: the best ply found.
        worth: the position's worth to the side to move, in hundredths of a dwarf.
        depth: the plies that were searched in full.
        nodes: the number of positions.
        line: the expected plies, beginning with ``move``, as far as they are known.
    """

    move: Move
    worth: int
    depth: int
    nodes: int
    line: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Blunders:
    """The errors of a weaker player about its plies.

    Attributes:
        overlooks: returns whether it does not see a ply.
        misses: returns whether it does not see the answer to a ply, at a depth of one.
        misjudges: returns by how many hundredths of a dwarf it overrates a ply.
    """

    overlooks: Callable[[Move], bool] = lambda _: False
    misses: Callable[[Move], bool] = lambda _: False
    misjudges: Callable[[Move], int] = lambda _: 0


def _settles(bound: int, value: int, alpha: int, beta: int) -> bool:
    """Return whether a known worth settles a window."""
    if bound == _EXACT:
        return True
    return value >= beta if bound == _LOWER else value <= alpha


class _Stop(ThudmudError):
    """The limit is reached."""


class Search:
    """The search for one ruleset. What it has learnt in a battle helps with later plies.

    Args:
        ruleset: the ruleset.
        weights: the weights for each side that it plays; the tuned ones by default.
        width: how much of the tree is searched.

    Attributes:
        gather: the bit of the dwarfs' gathering square; 0 for none.
    """

    def __init__(
        self,
        ruleset: Ruleset,
        weights: Mapping[Side, AnyWeights] | None = None,
        width: Width | None = None,
    ) -> None:
        self._ruleset = ruleset
        self._width = width or Width()
        self._tactics = tactics_of(ruleset, weights)
        self._ground, self._has_goals = self._tactics.ground, self._tactics.has_goals
        self._known: tuple[_Table, _Table] = {}, {}
        self._weighed: tuple[dict[Ply, tuple[int, Any]], dict[Ply, tuple[int, Any]]] = {}, {}
        self._weighed_for: tuple[Side, int, int] | None = None
        self._history: tuple[dict[int, int], dict[int, int]] = {}, {}
        self._nodes = 0
        self.gather = 0
        self._followed: tuple[Move, ...] = ()
        self._seen: tuple[dict[Ply, int], dict[Ply, int]] = {}, {}
        self._misjudged: dict[Ply, int] = {}
        self._root_side = 0
        """The side that chooses a ply: 0 for the dwarfs, 1 for the trolls."""

    def think(
        self,
        game: Game,
        limit: Limit,
        report: Callable[[Thought], None] | None = None,
        blunders: Blunders | None = None,
    ) -> Thought:
        """Return the best ply of a running battle.

        Args:
            game: the battle.
            limit: when to stop.
            report: called after each depth with what was found.
            blunders: the errors to make.

        Raises:
            ValueError: the battle is over.
        """
        if game.outcome:
            raise ValueError("there is no ply to choose")
        position = game.position
        self._prepare(game)
        self._limit, self._nodes, self._next_look = limit, 0, _NEVER
        self._best: tuple[Ply, int, int] | None = None
        moves, ranked = self._ranked(position, blunders or Blunders())
        plies = [ply for _, ply in ranked]
        found = plies[0], ranked[0][0], 0
        self._next_look = min(self._nodes + _LOOK, max(limit.nodes, self._nodes + 1))
        try:
            for depth in range(1, min(limit.depth, _DEEPEST) + 1):
                plies, value = self._root(position, plies, depth)
                found = plies[0], value, depth
                if report:
                    report(self._thought(position, moves, *found))
                if abs(value) >= WON or len(plies) == 1:
                    break
        except _Stop:
            if self._best is not None:
                ply, value, depth = self._best
                found = ply, value, depth - 1
        return self._thought(position, moves, *found)

    # The root.

    def _plies(self, position: Position) -> dict[Ply, Move]:
        """Return the plies to choose from, by their masks."""
        moves = {masks(move): move for move in self._ruleset.legal_moves(position, 64)}
        d, t, r, empty = position.dwarfs, position.trolls, position.rock, position.empty
        field = self._tactics.field(d, t, empty)
        if position.turn is Side.TROLL:
            kept = [ply for _, _, ply in self._tactics.troll_captures(d, t, r, empty, field)]
            kept += [ply for _, ply in self._tactics.troll_moves(d, t, r, empty, field)]
        else:
            kept = self._tactics.dwarf_captures(d, t, r, empty, field)
            kept += self._tactics.dwarf_moves(d, t, r, empty, field, 2 * self._width.root_beam)
        return {ply: moves[ply] for ply in dict.fromkeys(kept) if ply in moves} or moves

    def _prepare(self, game: Game) -> None:
        """Find the gathering square, and which positions have been on the board already."""
        seen: tuple[dict[Ply, int], dict[Ply, int]] = {}, {}
        count = len(self._followed)
        if self._followed != game.moves[:count]:
            self.gather, count = 0, 0
        positions = [game.position]
        for move in reversed(game.moves[min(count, len(game.moves) - game.quiet_plies) :]):
            positions.append(positions[-1].before(move))
        for position in reversed(positions[: len(game.moves) + 1 - count]):
            self._settle(position)
        self._followed = game.moves
        for at in positions[1 : game.quiet_plies + 1]:
            counts = seen[at.turn is Side.TROLL]
            key = (at.dwarfs, at.trolls, at.rock)
            counts[key] = counts.get(key, 0) + 1
        self._seen = seen
        boldness = self._tactics.boldness(game.quiet_plies)
        weighed_for = game.turn, self.gather or CENTRE.bit, boldness
        if weighed_for != self._weighed_for:
            self._weighed_for = weighed_for
            self._tactics.weigh_for(*weighed_for)
            for table in (*self._known, *self._weighed):
                table.clear()
        one, other = (
            {mask: count // 8 for mask, count in each.items() if count >= 8}
            for each in self._history
        )
        self._history = one, other
        self._root_side = int(game.turn is Side.TROLL)

    def _settle(self, position: Position) -> None:
        """Keep the gathering square, unless another has become clearly better."""
        worth = self._tactics.gathering(position.dwarfs, position.trolls)
        if not worth:
            return
        best = max(worth, key=worth.__getitem__)
        if not self.gather or worth[best] > worth[self.gather] + _STEADY:
            self.gather = best

    def _ranked(
        self, position: Position, blunders: Blunders
    ) -> tuple[dict[Ply, Move], list[tuple[int, Ply]]]:
        """Return the plies to choose from, and the worth of each by itself, the best first."""
        d, t, r, side = position.dwarfs, position.trolls, position.rock, self._root_side
        plies = self._plies(position)
        moves = {ply: move for ply, move in plies.items() if not blunders.overlooks(move)} or plies
        ranked, self._misjudged = [], {}
        for ply, move in moves.items():
            dx, tx, rx = ply
            d2, t2, r2 = d ^ dx, t ^ tx, r ^ rx
            left = 0 if blunders.misses(move) else _CALM_FIRST
            value = -self._calm(d2, t2, r2, 1 - side, -_ENDLESS, _ENDLESS, left)
            value -= _REPEATED[min(self._seen[1 - side].get((d2, t2, r2), 0), 2)]
            if wrong := blunders.misjudges(move):
                self._misjudged[ply] = wrong
                value += wrong
            ranked.append((value, ply))
        ranked.sort(reverse=True, key=itemgetter(0))
        return moves, ranked if side else ranked[: self._width.root_beam]

    def _root(self, position: Position, plies: list[Ply], depth: int) -> tuple[list[Ply], int]:
        """Search the plies to a depth; return them with the best first, and its worth."""
        d, t, r, side = position.dwarfs, position.trolls, position.rock, self._root_side
        self._best = None
        alpha = -_ENDLESS
        order: list[tuple[int, Ply]] = []
        for number, ply in enumerate(plies):
            dx, tx, rx = ply
            d2, t2, r2 = d ^ dx, t ^ tx, r ^ rx
            wrong = self._misjudged.get(ply, 0)
            low, high = alpha - wrong, _ENDLESS - wrong
            late = 0
            if self._width.reduces and number >= _ROOT_LATE and depth > 2 and not ply[1 - side]:
                late = 1 + (number >= _ROOT_VERY_LATE)
            value = low + 1
            if late:
                value = -self._value(d2, t2, r2, 1 - side, depth - 1 - late, -low - 1, -low)
            if number and value > low:
                value = -self._value(d2, t2, r2, 1 - side, depth - 1, -low - 1, -low)
            if value > low:
                value = -self._value(d2, t2, r2, 1 - side, depth - 1, -high, -low)
            value += wrong
            if value > alpha:
                alpha = value
                self._best = ply, value, depth
                order.insert(0, (value, ply))
            else:
                order.append((value, ply))
        return [ply for _, ply in order], alpha

    def _thought(
        self, position: Position, moves: dict[Ply, Move], ply: Ply, value: int, depth: int
    ) -> Thought:
        line = [moves[ply]]
        at = position.after(moves[ply])
        for _ in range(depth):
            known = self._known[at.turn is Side.TROLL].get((at.dwarfs, at.trolls, at.rock))
            if known is None or known[3] is None or self._ruleset.outcome(at):
                break
            move = self._plies(at).get(known[3])
            if move is None:
                break
            line.append(move)
            at = at.after(move)
        return Thought(moves[ply], value, depth, self._nodes, tuple(line))

    def _look(self) -> None:
        if self._nodes >= self._limit.nodes or self._limit.is_late():
            raise _Stop
        self._next_look = min(self._nodes + _LOOK, self._limit.nodes)

    # The tree.

    def _value(self, d: int, t: int, r: int, side: int, depth: int, alpha: int, beta: int) -> int:  # noqa: PLR0917
        """Return a position's worth to the side to move: 0 the dwarfs, 1 the trolls."""
        key = d, t, r
        if count := self._seen[side].get(key, 0):
            # Not searched: what follows was on the board already. It costs the side that chooses a
            # ply, whoever repeats: else that would move back and forth where it is ahead.
            cost = _REPEATED[min(count, 2)]
            return self._weigh(d, t, r, side)[0] - (cost if side == self._root_side else -cost)
        if depth <= 0:
            return self._calm(d, t, r, side, alpha, beta, _CALM)
        self._nodes += 1
        if self._nodes >= self._next_look:
            self._look()
        first = None
        known = self._known[side].get(key)
        if known is not None:
            known_depth, value, bound, first = known
            if known_depth >= depth and _settles(bound, value, alpha, beta):
                return value
        if self._has_goals and (decided := self._decided(d, t, r, side)):
            return decided * (WON + depth)
        best, best_ply, start = -_ENDLESS, None, alpha
        reduces, least = self._width.reduces, 0
        if depth == 1 and reduces:
            # Futility: where the last ply of the depth would have to gain too much, only captures
            # can, and most of the work is in the other plies.
            still = self._weigh(d, t, r, side)[0]
            if still + _FUTILE <= alpha:
                best, least = still, (alpha - still - _CALM_GAIN) // 100 + 1
        plies = self._ordered(d, t, r, side, first, least)
        for number, (ply, is_quiet) in enumerate(plies):
            dx, tx, rx = ply
            d2, t2, r2 = d ^ dx, t ^ tx, r ^ rx
            if not number:
                value = -self._value(d2, t2, r2, 1 - side, depth - 1, -beta, -alpha)
            else:
                # The first ply is most likely the best one. So of the others it is only asked, with
                # a null window, whether they are better; that is cheap, and mostly they are not.
                late = 0
                if reduces and is_quiet and number >= _LATE and depth > 2:
                    late = 2 if side and number >= _VERY_LATE else 1
                value = -self._value(d2, t2, r2, 1 - side, depth - 1 - late, -alpha - 1, -alpha)
                if value > alpha and (late or value < beta):
                    value = -self._value(d2, t2, r2, 1 - side, depth - 1, -beta, -alpha)
            if value > best:
                best, best_ply = value, ply
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        if is_quiet:
                            history = self._history[side]
                            history[ply[side]] = history.get(ply[side], 0) + depth * depth
                        break
        if best_ply is None:
            return best if least else self._weigh(d, t, r, side)[0]
        if self._width.keeps:
            bound = _LOWER if best >= beta else _EXACT if best > start else _UPPER
            table = self._known[side]
            if len(table) >= _KEPT:
                table.clear()
            table[key] = depth, best, bound, best_ply
        return best

    def _ordered(  # noqa: PLR0917
        self, d: int, t: int, r: int, side: int, first: Ply | None, least: int
    ) -> Iterator[tuple[Ply, bool]]:
        """Yield a side's plies, and whether each can be expected to do little, the best first.

        Nothing is generated before it is needed: the first ply settles most positions. If ``least``
        is not 0, only captures are yielded, and of the trolls' only those that take as many.
        """
        if first is not None:
            yield first, False
        tactics, history = self._tactics, self._history[side]
        empty = self._ground ^ (d | t | r)
        known = self._weighed[side].get((d, t, r))
        field = known[1] if known else tactics.field(d, t, empty)
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
            moves = [ply for _, ply in steps[: self._width.troll_beam]]
        else:
            moves = tactics.dwarf_moves(d, t, r, empty, field, self._width.beam)
            moves.sort(key=lambda ply: -history.get(ply[0], 0))
        for ply in chain(moves, bad):
            if ply != first:
                yield ply, True

    def _decided(self, d: int, t: int, r: int, side: int) -> int:
        decided = self._tactics.decided(d, t, r, dwarfs_to_move=not side)
        return -decided if side else decided

    def _weigh(self, d: int, t: int, r: int, side: int) -> tuple[int, Any]:
        """Return the static worth of a position, and its field."""
        table, key = self._weighed[side], (d, t, r)
        known = table.get(key)
        if known is None:
            tactics = self._tactics
            empty = self._ground ^ (d | t | r)
            field = tactics.field(d, t, empty)
            worth = tactics.worth(d, t, r, empty, field, dwarfs_to_move=not side)
            if len(table) >= _WEIGHED:
                table.clear()
            table[key] = known = -worth if side else worth, field
        return known

    def _calm(self, d: int, t: int, r: int, side: int, alpha: int, beta: int, left: int) -> int:  # noqa: PLR0917
        """Return a position's worth after the best exchange of the side to move, if any."""
        self._nodes += 1
        if self._nodes >= self._next_look:
            self._look()
        if self._has_goals and (decided := self._decided(d, t, r, side)):
            return decided * WON
        # Nobody has to capture, so the worth as it stands is a lower bound.
        still, field = self._weigh(d, t, r, side)
        best = still
        if best >= beta or not left:
            return best
        alpha = max(alpha, best)
        empty = self._ground ^ (d | t | r)
        if side:
            # One that takes too few to raise the worth enough need not be looked at.
            least = max(1, (alpha - still - _CALM_GAIN) // 100 + 1)
            captures = self._tactics.troll_captures(d, t, r, empty, field, least=least)
            captures.sort(key=itemgetter(0), reverse=True)
        else:
            plies = self._tactics.dwarf_captures(d, t, r, empty, field)
            captures = [(_ENDLESS, False, ply) for ply in plies]  # none is skipped
        for number, is_hit, (dx, tx, rx) in captures:
            # Captures come in order of what they take: if one cannot raise the worth enough, none
            # after it can. And where the troll would be lost, it has to take four for that.
            if still + 100 * number + _CALM_GAIN <= alpha:
                break
            if is_hit and number < ENOUGH:
                continue
            value = -self._calm(d ^ dx, t ^ tx, r ^ rx, 1 - side, -beta, -alpha, left - 1)
            if value > best:
                best = value
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        break
        return best
