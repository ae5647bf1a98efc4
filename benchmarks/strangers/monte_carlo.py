"""Monte Carlo tree search with short playouts and a static evaluation at their end.

Nodes get their children one by one, most promising first (progressive widening), since hundreds of
queen moves could not all be tried. Playouts are greedy: they capture while that pays, and otherwise
play random plies. After a few plies the evaluation counts pieces and adjacent dwarfs.
"""

from __future__ import annotations

import math
from random import Random

from benchmarks.strangers import IsLate
from thudmud.rules import Game, Move, Piece, Position, Ruleset, Side
from thudmud.rules.board import NEXT_TO, SHIFTS, SQUARES, Square, distance, neighbours_of

CURIOSITY = 0.35
"""Exploration constant of UCB1; results are from -1 to 1."""
WIDENING = 0.6
"""Exponent of progressive widening: after n visits, a node has about n to this power children."""
PLAYOUT = 4
"""Maximum quiet plies of a playout."""
LONGEST = 12
SCALE = 4.0
"""Advantage, in dwarfs, that is almost certain to win."""
GOAL = 50.0
PAIR, HANGING = 0.04, 0.5

NEAR = {one: {each: distance(one, each) for each in SQUARES} for one in SQUARES}


class Node:
    """A position, its statistics, and its unexpanded plies, most promising last."""

    __slots__ = ("children", "left", "position", "total", "visits")

    def __init__(self, position: Position, left: list[tuple[float, int, Move]]) -> None:
        self.position, self.left = position, left
        self.children: list[tuple[Move, Node]] = []
        self.visits, self.total = 0, 0.0


class MonteCarlo:
    """A player by Monte Carlo tree search."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._ruleset = ruleset
        opening = ruleset.initial_position
        self._troll = opening.count(Piece.DWARF) / max(1, opening.count(Piece.TROLL)) + 2.0
        self._goals = bool(ruleset.goals)
        self._chance = Random(1)

    def choose(self, game: Game, is_late: IsLate) -> Move:
        """Return the most visited ply."""
        root = self._node(game.position)
        while not is_late() or not root.children:
            self._visit(root)
        return max(root.children, key=lambda child: child[1].visits)[0]

    def _visit(self, root: Node) -> None:
        path = [root]
        node = root
        while node.visits or node is root:
            if node.left and len(node.children) <= node.visits**WIDENING:
                _, _, move = node.left.pop()
                child = self._node(node.position.after(move))
                node.children.append((move, child))
                path.append(child)
                node = child
                break
            if not node.children:
                break
            node = self._best(node)
            path.append(node)
        # Results are from the dwarfs' point of view, a node's total from that of the side that
        # moved there.
        result = self._judged(node.position)
        for each in path:
            each.visits += 1
            each.total += -result if each.position.turn is Side.DWARF else result

    def _best(self, node: Node) -> Node:
        log = math.log(node.visits + 1)
        best, most = node, -math.inf
        for _, child in node.children:
            bound = child.total / child.visits + CURIOSITY * math.sqrt(log / child.visits)
            if bound > most:
                best, most = child, bound
        return best

    def _node(self, position: Position) -> Node:
        if self._goals and self._ruleset.outcome(position):
            return Node(position, [])
        moves = self._ruleset.legal_moves(position, 8)
        # A heuristic of origin and target: friendly neighbours and adjacent enemies for both sides,
        # and the distance to the nearest dwarf for trolls. The number in between breaks ties, as
        # moves cannot be compared.
        values: dict[Square, float] = {}
        ours = position.dwarfs if position.turn is Side.DWARF else position.trolls
        theirs = position.trolls if position.turn is Side.DWARF else position.dwarfs
        danger = neighbours_of(theirs)
        targets = position.squares(Piece.DWARF)
        ranked = []
        for number, move in enumerate(moves):
            gain = 0.0
            for square in (move.target, move.origin):
                if square not in values:
                    value = 0.25 * (NEXT_TO[square.bit] & ours).bit_count()
                    if square.bit & danger:
                        value -= 1.0
                    if position.turn is Side.TROLL and targets:
                        near = NEAR[square]
                        value -= 0.2 * min(near[each] for each in targets)
                    values[square] = value
                gain = values[square] - gain
            worth = self._troll if position.turn is Side.DWARF else 1.5
            ranked.append((worth * len(move.captures) - gain, number, move))
        ranked.sort()
        return Node(position, ranked)

    def _judged(self, position: Position) -> float:
        """Return the result of a playout for the dwarfs, from -1 to 1."""
        quiet = 0
        for _ in range(LONGEST):
            if self._goals and (outcome := self._ruleset.outcome(position)):
                score = outcome.score
                return math.tanh(GOAL * (score.dwarf - score.troll))
            moves = self._ruleset.legal_moves(position, 8)
            captures = [move for move in moves if move.captures]
            if captures:
                move = max(captures, key=lambda each: len(each.captures))
                if position.turn is Side.TROLL and self._is_bad(position, move):
                    quiet += 1
                    move = self._chance.choice(moves)
            elif quiet >= PLAYOUT or not moves:
                break
            else:
                quiet += 1
                move = self._chance.choice(moves)
            position = position.after(move)
        return self._advantage(position)

    def _is_bad(self, position: Position, move: Move) -> bool:
        """Whether a troll's capture is a bad trade: too small, and open to recapture."""
        left = position.dwarfs & ~move.captured_bits & NEXT_TO[move.target.bit]
        return left != 0 and len(move.captures) < self._troll

    def _advantage(self, position: Position) -> float:
        d, t = position.dwarfs, position.trolls
        pairs = sum((d & d << shift).bit_count() for shift in SHIFTS)
        value = d.bit_count() - self._troll * t.bit_count() + PAIR * pairs
        value -= HANGING * (d & ~neighbours_of(d)).bit_count() * 0.5
        opening = self._ruleset.initial_position
        value -= opening.count(Piece.DWARF) - self._troll * opening.count(Piece.TROLL)
        if self._goals:
            for goal in self._ruleset.goals:
                worth = goal.progress(position) / 100
                value += worth if goal.side is Side.DWARF else -worth
        return math.tanh(value / SCALE / 2)
