"""The benchmark of the bots: table rows, third-party opponents, and fits of the weights."""

from __future__ import annotations

from dataclasses import asdict
from itertools import count
from random import Random
from typing import Any

import pytest

from benchmarks import blunders, factors, levels, outcomes
from benchmarks.bots import THUD, Contest, row
from benchmarks.strangers.__main__ import STRANGERS
from benchmarks.tune import aside, fit_changes, sampled
from thudmud.bots.referee import random_opening
from thudmud.rules import CLASSIC, RULESETS, Game, Side
from thudmud.search.levels import LEVELS
from thudmud.search.search import Limit, Search
from thudmud.search.tactics import tuned_weights
from thudmud.search.thud import ThudTactics
from thudmud.values import replace


def summary(dwarfs: float | None, failures: int) -> dict[str, Any]:
    """Return the summary of a match that the player won 3 to 1."""
    one = {
        "margin_as_dwarfs": dwarfs, "error_as_dwarfs": None,
        "margin_as_trolls": 4.25, "error_as_trolls": 1.75, "cpu_seconds_a_ply": None,
        "illegal_plies": 0, "time_outs": 0, "failures": failures,
    }  # fmt: skip
    return {"matches": {"won": 3, "drawn": 0, "lost": 1}, "bots": [one, one]}


def test_row_marks_a_share_below_the_target() -> None:
    contest = Contest("greedy", "classic", ("thudmud", "x"), (), 4, 0.75)
    assert row(contest, summary(-5.0, 0)) == (
        "| greedy | classic | 3 | 0 | 1 | 75% | -5.0 | +4.2 ± 1.8 |  /  |  |"
    )
    wanted = replace(contest, share=0.8)
    assert "| 80% ! | -5.0 |" in row(wanted, summary(-5.0, 0))


def test_row_of_a_side_that_only_failed_has_no_margin() -> None:
    contest = Contest("greedy", "classic", ("thudmud", "x"), (), 4, 0.75)
    assert row(contest, summary(None, 4)).endswith("| 75% |  | +4.2 ± 1.8 |  /  | 4 |")


def test_level_against_itself_draws_its_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "LENGTH", 12)
    chalk, *_ = LEVELS
    found = levels.row(chalk, chalk, RULESETS["classic"], range(2))
    assert found.startswith("| Chalk | Chalk | classic | 0, 2, 0 | ")


@pytest.mark.parametrize("name", STRANGERS)
@pytest.mark.parametrize("rules", THUD)
def test_strangers_play_legal_plies(name: str, rules: str) -> None:
    game = Game.start(RULESETS[rules])
    player = STRANGERS[name](game.ruleset)
    for _ in range(6):
        looks = count()
        move = player.choose(game, lambda looks=looks: next(looks) >= 3)  # type: ignore[misc]
        assert move in game.legal_moves()
        game = game.play(move)


def test_fit_recovers_the_errors_of_the_weights() -> None:
    random = Random(1)  # noqa: S311  (no secret)
    xs = [(1.0, random.gauss(0, 2), random.gauss(3, 5), 0.0) for _ in range(2000)]
    ys = [7 + 3 * x[1] - 2 * x[2] + random.gauss(0, 30) for x in xs]
    ys[:20] = [5_000.0] * 20  # surprises
    constant, one, other, unseen = fit_changes(xs, ys)
    assert constant == pytest.approx((7, 1), abs=4)
    assert one == pytest.approx((3, 0.4), abs=1)
    assert other == pytest.approx((-2, 0.2), abs=1)
    assert unseen[0] == 0


@pytest.mark.parametrize("rules", THUD)
def test_sample_parts_add_up_to_the_evaluation(rules: str) -> None:
    ruleset, random, count = RULESETS[rules], Random(2), 0  # noqa: S311  (no secret)
    for seed in range(6):
        game = aside(random_opening(ruleset, 10, str(seed)), random)
        for side, is_dwarfs, error, parts in sampled(game, 1):
            weights = tuned_weights(ruleset)[side]
            found = Search(ruleset, dict.fromkeys(tuned_weights(ruleset), weights)).think(
                game, Limit(depth=1)
            )
            score = (found.score if is_dwarfs else -found.score) - error
            weighed = sum(a * b for a, b in zip(parts, asdict(weights).values(), strict=True))
            assert abs(score - 100 * game.position.dwarfs.bit_count() - weighed) < 5
            count += 1
    assert count


def test_outcomes_fit_recovers_the_weights_of_results() -> None:
    random = Random(1)  # noqa: S311  (no secret)
    worth = {"troll": 500.0, "commanded": 12.0, "hanging": -40.0}
    samples = []
    for battle in range(1500):
        trolls, dwarfs = random.randint(1, 8), random.randint(5, 32)
        counts = dict.fromkeys(outcomes.NAMES, 0.0) | {"dwarf": dwarfs, "troll": -trolls}
        counts["commanded"], counts["hanging"] = random.randint(0, 60), random.randint(0, 1)
        end = 100 * dwarfs + sum(counts[name] * value for name, value in worth.items())
        gain = round(end - 100 * dwarfs + 400 * trolls + 70 + random.gauss(0, 300))
        samples.append(outcomes.Sample(battle, tuple(counts.values()), 0, 0.0, gain))
    fitted = dict(zip(outcomes.NAMES, outcomes.weights_fitted(samples), strict=True))
    assert fitted["dwarf"] == 100
    assert fitted["troll"] == pytest.approx(500, abs=40)
    assert fitted["commanded"] == pytest.approx(12, abs=2)
    assert fitted["hanging"] == pytest.approx(-40, abs=35)
    assert fitted["secure"] == 0


@pytest.mark.parametrize("rules", outcomes.RULES)
def test_outcomes_counts_add_up_to_the_evaluation(rules: str) -> None:
    ruleset = RULESETS[rules]
    for seed in range(8):
        game = random_opening(ruleset, 12 + seed, str(seed))
        search = Search(ruleset)
        search.think(game, Limit(depth=0))
        at, weights = game.position, tuned_weights(ruleset)[game.turn]
        values = (100.0, *asdict(weights).values())
        counts = outcomes.counts_of(ruleset, game, search.gathering_square)
        total = sum(a * b for a, b in zip(counts, values, strict=True))
        score = search._evaluate(at.dwarfs, at.trolls, 0, int(game.turn is Side.TROLL))[0]
        assert abs(total - (score if game.turn is Side.DWARF else -score)) < 3


def test_outcomes_gains_are_those_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "MOST_PLIES", 24)
    monkeypatch.setattr(outcomes, "NODES", (10,))
    monkeypatch.setattr(outcomes, "SAMPLED", 1)
    found = outcomes.samples("classic", 3)
    ends = {100 * each.counts[0] + 400 * each.counts[1] + each.gain for each in found}
    assert len(ends) == 1
    assert found


def test_blunder_is_found_and_has_a_cause() -> None:
    game, random = random_opening(CLASSIC, blunders.OPENING, "1"), Random(4)  # noqa: S311
    while len(game.moves) < 40:
        game = game.play(random.choice(game.legal_moves()))
    deep = Limit(nodes=1_500)
    found = blunders.first_blunder(game, Side.TROLL, Limit(nodes=200), deep)
    assert found
    assert found.loss >= blunders.LOSS
    assert game.moves[len(found.game.moves)] == found.played
    assert found.game.turn is Side.TROLL
    assert blunders.cause(found) == "pruning"  # played by chance: any search sees it


def test_factorial_experiment_recovers_effects() -> None:
    random, battles = Random(5), []  # noqa: S311  (no secret)
    for number in range(600):
        dwarfs, trolls = ((random.random() < 0.5, random.random() < 0.5) for _ in range(2))
        margin = -5 + 2 * dwarfs[0] - 1.5 * trolls[1] + random.gauss(0, 5)
        battles.append(factors.Battle(number, dwarfs, trolls, round(margin)))
    one, other, none, last = (effect for effect, _ in factors.effects(battles))
    assert one == pytest.approx(2, abs=0.9)  # for the dwarfs, the first factor
    assert last == pytest.approx(1.5, abs=0.9)  # for the trolls, the second
    assert abs(other) < 0.9
    assert abs(none) < 0.9


def test_factors_of_a_battle_reach_weights_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "MOST_PLIES", 6)
    values = dict(map(factors.read_factor, ("pair=-3:5", "beam=3:9")))
    found = [factors.battle("classic", 10, values, number) for number in range(4)]
    assert len({each.dwarfs for each in found}) > 1
    player = factors.player(CLASSIC, Side.TROLL, {"pair": -3, "beam": 9})
    assert player._options.beam == 9
    assert isinstance(player._tactics, ThudTactics)
    assert player._tactics._weights.pair == -3
    *_, last = factors.table(values, found)
    assert last.startswith("beam")
