"""The search's evaluation, results and limits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

import thudmud.search.search
from tests.conftest import SOAKING
from tests.search.test_plies import positions
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    Game,
    Position,
    Ruleset,
    Side,
    read_position,
)
from thudmud.rules.board import BOARD, CENTRE, NEXT_TO, WIDTH, Square, neighbours_of, squares_in
from thudmud.search.fields import DISCS, lines_reach, neighbour_counts
from thudmud.search.search import Blunders, Limit, PruningOptions, Search, SearchResult
from thudmud.search.tactics import masks, tactics_of
from thudmud.search.thud import ThudTactics, Weights


def turned(bits: int, number: int) -> int:
    """Return a bitboard after one of the eight symmetries of the board."""
    squares = 0
    for each in squares_in(bits):
        column, row = each.column, each.row
        if number & 1:
            column = WIDTH - 1 - column
        if number & 2:
            row = WIDTH - 1 - row
        if number & 4:
            column, row = row, column
        squares |= Square(column, row).bit
    return squares


def evaluate(ruleset: Ruleset, position: Position, gather: int, number: int = 0) -> int:
    tactics = tactics_of(ruleset)
    tactics.use_weights_of(position.turn, turned(gather, number), 0)
    d, t, r = (turned(each, number) for each in (position.dwarfs, position.trolls, position.rock))
    empty = tactics.ground & ~(d | t | r)
    field = tactics.field(d, t, empty)
    return tactics.evaluate(d, t, r, empty, field, dwarfs_to_move=position.turn is Side.DWARF)


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=str)
def test_evaluation_is_invariant_under_board_symmetries(ruleset: Ruleset) -> None:
    # In Koom Valley the Rock heads north, so the only symmetry is the reflection of the columns.
    numbers = (1,) if ruleset is KOOM_VALLEY else range(1, 8)
    gather = Square.parse("F4").bit
    for position in positions(ruleset, seed=3):
        value = evaluate(ruleset, position, gather)
        assert [evaluate(ruleset, position, gather, each) for each in numbers] == [value] * len(
            numbers
        )


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_transposition_table_does_not_change_the_score(
    ruleset: Ruleset, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Delta pruning depends on the window, and so on the order of the plies.
    monkeypatch.setattr(thudmud.search.search, "_CAPTURE_MARGIN", 10**6)
    *_, position = positions(ruleset, seed, plies=30 + seed)
    game = Game.start(ruleset, position)
    exact = [
        Search(
            ruleset,
            options=PruningOptions(
                beam=5,
                root_beam=5,
                troll_beam=200,  # all steps: which ones a beam drops depends on the history
                uses_late_move_reductions=False,
                uses_transposition_table=keeps,
            ),
        )
        for keeps in (True, False)
    ]
    scores = [each.think(game, Limit(depth=3)).score for each in exact]
    assert scores[0] == scores[1]


def crowds(seed: int) -> Iterator[tuple[int, int, int]]:
    """Yield dwarfs, trolls and empty squares; often one side stays the same, so caches are hit."""
    random = Random(seed)  # noqa: S311  (no secret)
    ground = BOARD ^ CENTRE.bit
    squares = sorted(squares_in(ground))
    sets = [
        [sum(each.bit for each in random.sample(squares, count)) for _ in range(12)]
        for count in (40, 12)
    ]
    for d, t in itertools.product(*sets):
        yield d, t & ~d, ground & ~(d | t)


def test_gathering_squares_match_a_direct_count() -> None:
    tactics = tactics_of(CLASSIC)
    for d, t, _ in itertools.islice(crowds(seed=7), 0, None, 12):
        ratings = tactics.rate_gathering_squares(d, t)
        surplus = set()
        for bit, discs in DISCS.items():
            near = sum((d & disc).bit_count() for disc in discs)
            threats = sum((t & disc).bit_count() for disc in discs[1:5])
            surplus.add(ratings[bit] - (2 * near - 3 * threats))
        assert len(ratings) == len(DISCS)
        assert len(surplus) == 1  # the same for all squares


def test_neighbour_counts_match_a_direct_count() -> None:
    for d, _, _ in itertools.islice(crowds(seed=6), 0, None, 12):
        ones, twos, fours = neighbour_counts(d)
        for square in squares_in(BOARD):
            bit, count = square.bit, (NEXT_TO[square.bit] & d).bit_count()
            found = bool(ones & bit), bool(twos & bit), bool(fours & bit)
            least = min(count, 3)
            assert found == (bool(least & 1), bool(least & 2), count >= 4)
        assert not (ones | twos | fours) & ~BOARD


@pytest.mark.parametrize("ruleset", [DISCWORLD, CLASSIC], ids=str)
def test_cached_evaluation_terms_match_a_direct_count(ruleset: Ruleset) -> None:
    nothing = Weights(**dict.fromkeys(Weights.__dataclass_fields__, 0.0))
    each_of = [("commanded",), ("secure",), ("hanging", "second")]
    counting = [
        tactics_of(ruleset, dict.fromkeys(Side, replace(nothing, **dict.fromkeys(names, 1.0))))
        for names in each_of
    ]
    for d, t, empty in crowds(seed=4):
        reach = lines_reach(d, empty)
        unsafe = reach if ruleset is DISCWORLD else reach | neighbour_counts(d)[1]
        stops = neighbours_of(t) & empty & ~unsafe | lines_reach(t, empty) & empty & ~reach
        expected = (
            (reach & empty).bit_count(),
            sum(not NEXT_TO[each.bit] & empty & ~unsafe for each in squares_in(d)),
            -sum(bool(NEXT_TO[each.bit] & stops) for each in squares_in(d)),
        )
        for tactics, number in zip(counting, expected, strict=True):
            field = tactics.field(d, t, empty)
            score = tactics.evaluate(d, t, 0, empty, field, dwarfs_to_move=True)
            assert score == 100 * d.bit_count() + number


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=str)
def test_search_is_deterministic(ruleset: Ruleset) -> None:
    battles = []
    for _ in range(2):
        search, game = Search(ruleset), Game.start(ruleset)
        for _ in range(12):
            game = game.play(search.think(game, Limit(nodes=400)).move)
        battles.append(game)
    assert battles[0] == battles[1]


def test_search_stops_when_late() -> None:
    asked: list[None] = []

    def is_late() -> bool:
        asked.append(None)
        return len(asked) >= 5

    search, game = Search(DISCWORLD), Game.start(DISCWORLD)
    thought = search.think(game, Limit(should_stop=is_late))
    assert len(asked) == 5
    assert thought.move in game.legal_moves()


def test_search_respects_the_node_limit() -> None:
    game = Game.start(DISCWORLD)
    least = Search(DISCWORLD).think(game, Limit(nodes=0)).nodes
    assert Search(DISCWORLD).think(game, Limit(nodes=least + 500)).nodes == least + 500


def test_search_respects_the_depth_limit() -> None:
    told: list[SearchResult] = []
    thought = Search(DISCWORLD).think(Game.start(DISCWORLD), Limit(depth=2), told.append)
    assert [each.depth for each in told] == [1, 2]
    assert thought.principal_variation == told[-1].principal_variation
    assert len(thought.principal_variation) == 2


def test_principal_variation_is_legal() -> None:
    for ruleset in RULESETS.values():
        game = Game.start(ruleset)
        for move in Search(ruleset).think(game, Limit(depth=3)).principal_variation:
            assert move in game.legal_moves()
            game = game.play(move)


def test_search_of_a_finished_battle_raises_value_error() -> None:
    game = Game.start(DISCWORLD).resign(Side.DWARF)
    with pytest.raises(ValueError, match="no ply"):
        Search(DISCWORLD).think(game, Limit())


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=str)
def test_search_returns_only_legal_moves(ruleset: Ruleset) -> None:
    search, count = Search(ruleset, options=PruningOptions(root_beam=2)), 0
    hasty = Blunders(misses=lambda _: True)
    for seed in itertools.count(20):
        for position in positions(ruleset, seed):
            thought = search.think(Game.start(ruleset, position), Limit(depth=0), None, hasty)
            assert thought.move in ruleset.legal_moves(position, 64)
            count += 1
        if count > (4_000 if SOAKING else 400):
            break


def test_search_moves_the_rock_to_its_goal() -> None:
    position = read_position("dG2,dG3,TA9,RH2 dwarf", KOOM_VALLEY)
    thought = Search(KOOM_VALLEY).think(Game.start(KOOM_VALLEY, position), Limit(depth=1))
    assert KOOM_VALLEY.outcome(position.after(thought.move)) is not None


def test_search_surrounds_the_rock() -> None:
    position = read_position("dA10,TG7,TJ9,TH12,RH8 troll", KOOM_VALLEY)
    thought = Search(KOOM_VALLEY).think(Game.start(KOOM_VALLEY, position), Limit(depth=1))
    assert KOOM_VALLEY.outcome(position.after(thought.move)) is not None


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=str)
def test_ranking_has_the_exact_scores_of_the_first_plies(
    ruleset: Ruleset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thudmud.search.search, "_CAPTURE_MARGIN", 10**6)  # as above
    for position in itertools.islice(positions(ruleset, seed=8), 40, 60):
        search = Search(ruleset, options=PruningOptions(root_beam=10))
        search.think(Game.start(ruleset, position), Limit(depth=0))
        _, ranked = search._rank_plies(position, Blunders())
        first = search._tactics.ranked_exactly
        side = int(position.turn is Side.TROLL)
        exact = {}
        for ply in search._candidate_plies(position):
            dx, tx, rx = ply
            after = position.dwarfs ^ dx, position.trolls ^ tx, position.rock ^ rx
            exact[ply] = -search._quiescence(*after, 1 - side, -(10**6), 10**6, 2)
        best = sorted(exact.values(), reverse=True)
        assert [score for score, _ in ranked[:first]] == best[: min(first, len(ranked))]
        assert all(score >= exact[ply] for score, ply in ranked)  # the others are upper bounds
        assert len(ranked) == (len(exact) if side else min(10, len(exact)))


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=str)
def test_move_is_found_by_its_masks(ruleset: Ruleset) -> None:
    search = Search(ruleset)
    for position in positions(ruleset, seed=9, plies=30):
        for move in ruleset.legal_moves(position, 64):
            found = search._move_of(position, masks(move))
            assert found is not None
            assert masks(found) == masks(move)
        assert search._move_of(position, (0, 0, BOARD)) is None


def searched(ruleset: Ruleset, side: Side) -> tuple[int, int]:
    """Return the nodes and the total score of searches of a random battle to depth 3."""
    nodes = total = 0
    for position in itertools.islice(positions(ruleset, seed=11), 30, 70, 3):
        if position.turn is side:
            thought = Search(ruleset).think(Game.start(ruleset, position), Limit(depth=3))
            nodes, total = nodes + thought.nodes, total + thought.score
    return nodes, total


@pytest.mark.parametrize("side", Side)
def test_static_pruning_saves_nodes_and_hardly_changes_scores(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    pruned, score = searched(CLASSIC, side)
    monkeypatch.setattr(thudmud.search.search, "_STATIC_MARGINS", ())
    whole, exact = searched(CLASSIC, side)
    assert pruned < 0.9 * whole
    assert abs(score - exact) < 0.05 * abs(exact)


def test_static_pruning_leaves_koom_valley_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found = searched(KOOM_VALLEY, Side.DWARF)
    monkeypatch.setattr(thudmud.search.search, "_STATIC_MARGINS", ())
    assert searched(KOOM_VALLEY, Side.DWARF) == found


def test_troll_steps_out_of_danger_come_first_and_those_into_danger_last() -> None:
    position = read_position("dA8,dB8,dC8,TF8,TM12,RH8 troll", CLASSIC)
    danger = lines_reach(position.dwarfs, position.empty) | neighbours_of(position.dwarfs)
    plies = Search(CLASSIC)._ordered_plies(position.dwarfs, position.trolls, 0, 1, None, 0, None)
    ranks = [
        2 if troll & position.empty & danger else 0 if troll & position.trolls & danger else 1
        for _, troll, _ in (ply for ply, _ in plies)
    ]
    assert ranks == sorted(ranks)
    assert set(ranks) == {0, 1, 2}


@pytest.mark.parametrize("name", ["_TOO_LATE", "troll_beam"])
def test_late_steps_of_trolls_are_left_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few, _ = searched(CLASSIC, Side.DWARF)
    if name == "troll_beam":
        monkeypatch.setattr(ThudTactics, name, 200)
    else:
        monkeypatch.setattr(thudmud.search.search, name, 200)
    whole, _ = searched(CLASSIC, Side.DWARF)
    assert few < whole


_SEARCHED = {
    DISCWORLD: [
        "dG15-B10 -2322 1171",
        "TF5-E4xF3 2924 511",
        "dM9-K7xK7 -1440 1870",
        "TC12-D12xD13 1068 1059",
        "dN10-N8 844 1640",
        "TL9-M8 -1396 168",
        "dN4-F11 1261 455",
        "TP7-O7 -910 104",
    ],
    CLASSIC: [
        "dP10-B10 -2855 3851",
        "TH9-J9xK9 3422 483",
        "dK11-J12xJ12 -1967 1418",
        "TH7-J8 2643 289",
        "dJ9-H9xH9 -687 786",
        "TK7-L6xK6 1811 422",
        "dB9-A8xA8 -112 516",
        "TH10-H9 785 332",
    ],
    KOOM_VALLEY: [
        "dJ15-J7 -1466 724",
        "TF2-H4xG3 546 1505",
        "dF9-H7 -878 966",
        "TK2-N5 288 1141",
        "RH8-G7 -560 1011",
        "TK6-K8xK7 299 1947",
        "dE14-L8 -803 895",
        "TJ3-J6 65 1385",
    ],
}
"""The move, the score and the number of nodes of searches to depth 3, see below."""


@pytest.mark.parametrize("ruleset", _SEARCHED, ids=str)
def test_search_results_and_node_counts_stay_the_same(ruleset: Ruleset) -> None:
    # Whoever makes the search cheaper must not change any; whoever changes play updates them.
    search, lines = Search(ruleset), []
    for position in itertools.islice(positions(ruleset, seed=5, plies=90), 2, 90, 11):
        thought = search.think(Game.start(ruleset, position), Limit(depth=3))
        lines.append(f"{thought.move} {thought.score} {thought.nodes}")
    assert lines == _SEARCHED[ruleset]
