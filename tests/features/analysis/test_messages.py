"""Text of analyses: curve or sentences, list of mistakes, and comments on single plies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thudmud.errors import RefusedError
from thudmud.features.analysis.messages import MOST_TOLD, curve, of_ply, render_analysis
from thudmud.features.analysis.model import AnalysedBattle, Analysing, Analysis, AnalysisRefusal
from thudmud.game.archive import Battle, State
from thudmud.game.delivery import Delivery
from thudmud.game.evaluation import WIN_SCORE
from thudmud.game.events import BattleId
from thudmud.game.hall import Hall
from thudmud.game.options import Style
from thudmud.rules import DISCWORLD, Game
from thudmud.values import replace
from thudmud.views.refusals import refusal_text
from thudmud.views.telling import renderer_for
from thudmud.views.view import Display, View
from thudmud.views.words import columns

WIDE = Display(width=200)
READER = Display(width=200, is_for_reader=True)
GAME = Game.start(DISCWORLD).push("dF1-F6").push("TG7-F7xF6").push("dA6-E6").push("TF7-E7")
OAK = BattleId("oak board", 3)
BATTLE = Battle(12, OAK, 0.0, "discworld", "Anna", "Bert", OAK, 9, State.UNFINISHED, plies=4)
BETTER = (
    (),
    (),
    Game.start(DISCWORLD).push("dA6-B6").push("TG7-G6").moves,
    Game.start(DISCWORLD).push("dF1-F6").push("TG7-F7xF6").moves[1:],
)
ANALYSIS = Analysis(6000, (0, 20, -130, -430, 0), (0, 0, 300, 430), BETTER)
FOUND = AnalysedBattle(BATTLE, GAME, ANALYSIS)


def test_full_analysis_text() -> None:
    assert render_analysis(FOUND, WIDE) == [
        "Battle 12, 1970-01-01: Anna (dwarfs), Bert (trolls); discworld, 4 moves, never finished.",
        "Above the line the dwarfs are ahead, below it the trolls. The scale shows by "
        "about how many points. The numbers at the bottom count moves.",
        "  +5 |",
        "     |",
        "     |",
        "   0 |----+",
        "     |  :#",
        "     |   #",
        "  -5 |   :",
        "          4",
        "The dwarfs made 1 mistake (?); the trolls made 1 blunder (??).",
        "Move 3 ? Anna (dwarfs), A6 to E6. Better by 3.0: A6 to B6, then G7 to G6.",
        "Move 4 ?? Bert (trolls), F7 to E7. Better by 4.3: G7 to F7 taking F6.",
        '"replay 12" shows each move, and who was ahead after it.',
    ]


def test_client_that_draws_gets_one_sentence() -> None:
    assert render_analysis(FOUND, replace(READER, is_drawn_by_client=True)) == [
        "Battle 12 is analysed. The dwarfs made 1 mistake (?); the trolls made 1 blunder (??).",
    ]


SLID = AnalysedBattle(
    BATTLE, GAME, Analysis(6000, (0, 0, 0, -130, -260), (0, 0, 130, 0), BETTER, (0, 0, 260, 210))
)


def test_inaccuracy_names_the_largest_loss_and_the_total() -> None:
    assert render_analysis(SLID, WIDE)[-4:-1] == [
        "The dwarfs made 1 inaccuracy (?!); the trolls made 1 inaccuracy (?!).",
        "Move 3 ?! Anna (dwarfs), A6 to E6. Small losses add up to 2.6 points; this is the "
        "largest. Better: A6 to B6, then G7 to G6.",
        "Move 4 ?! Bert (trolls), F7 to E7. Small losses add up to 2.1 points; this is the "
        "largest. Better: G7 to F7 taking F6.",
    ]
    assert render_analysis(SLID, READER)[-3].startswith(
        "Move 3, an inaccuracy by Anna, dwarfs: A6 to E6."
    )
    assert of_ply(SLID.analysis, GAME, 3) == (
        "An inaccuracy, ?!: now the trolls are ahead by 1.3. The trolls can now capture the dwarf"
        " at E6. Small losses add up to 2.6 points; this is the largest. Better: A6 to B6, then G7"
        " to G6."
    )


def test_inaccuracy_without_a_better_line_gives_the_total() -> None:
    analysis = replace(SLID.analysis, lines=((),) * 4)
    assert of_ply(analysis, GAME, 3).endswith("Small losses add up to 2.6 points here.")


def test_screen_reader_gets_sentences_instead_of_a_curve() -> None:
    assert render_analysis(FOUND, READER)[1:9] == [
        "At the start the sides are even.",
        "After move 1, the sides are even.",
        "After move 2, the trolls are ahead by 1.3.",
        "After move 3, the trolls are ahead by 4.3.",
        "At the end, after move 4, the sides are even.",
        "The dwarfs made 1 mistake (?); the trolls made 1 blunder (??).",
        "Move 3, a mistake by Anna, dwarfs: A6 to E6. Better by 3.0: A6 to B6, then G7 to G6.",
        "Move 4, a blunder by Bert, trolls: F7 to E7. Better by 4.3: G7 to F7 taking F6.",
    ]


def test_screen_reader_summary_of_a_long_battle_is_sampled() -> None:
    game = longer(119)
    found = AnalysedBattle(BATTLE, game, Analysis(1, (0,) * 120, (0,) * 119, ((),) * 119))
    sentences = [each for each in render_analysis(found, READER) if "sides" in each]
    assert sentences[1] == "After move 20, the sides are even."
    assert sentences[-1] == "At the end, after move 119, the sides are even."
    assert len(sentences) < 12


def longer(plies: int) -> Game:
    """Return a battle of the given length in which two pieces shuffle back and forth."""
    game, there = Game.start(DISCWORLD), ["dA6-B6", "TG7-G6", "dB6-A6", "TG6-G7"]
    for ply in range(plies):
        game = game.push(there[ply % 4])
    return game


def test_mistake_list_is_limited_to_the_worst() -> None:
    game = longer(30)
    lost, line = tuple(range(200, 230)), game.moves[:1]
    found = AnalysedBattle(BATTLE, game, Analysis(1, (0,) * 31, lost, (line,) * 30))
    lines = render_analysis(found, WIDE)
    marked = [int(each.split()[1]) for each in lines if each.startswith("Move ")]
    assert marked == list(range(31 - MOST_TOLD, 31))
    assert lines[-1].startswith("These are the 10 costliest.")


@pytest.mark.parametrize(
    ("ply", "sentence"),
    [
        (0, "At the start the sides are even."),
        (1, "Now the sides are even."),
        (2, "Now the trolls are ahead by 1.3."),
        (
            3,
            "A mistake, ?: now the trolls are ahead by 4.3. The trolls can now capture the dwarf at"
            " E6. Better by 3.0: A6 to B6, then G7 to G6.",
        ),
    ],
)
def test_replay_comment_on_a_ply(ply: int, sentence: str) -> None:
    assert of_ply(ANALYSIS, GAME, ply) == sentence


def test_replay_comment_says_what_the_better_move_does() -> None:
    better = GAME.after(3).push("TF7-E7xE6").moves[-1:]
    analysis = replace(ANALYSIS, lines=((), (), (), better))
    assert of_ply(analysis, GAME, 4).endswith(
        "Better by 4.3: F7 to E7 taking E6. That captures a dwarf."
    )


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (
            (0, 0, WIN_SCORE, 0, 0),
            "A blunder, ??: now the sides are even. The trolls can now capture the dwarf at E6."
            " This would have won: A6 to B6",
        ),
        (
            (0, 0, 0, -WIN_SCORE, 0),
            (
                "A blunder, ??: now the trolls have won, or can force a win. The trolls can now "
                "capture the dwarf at E6. This would not have lost: A6 to B6"
            ),
        ),
    ],
)
def test_decisive_blunder_wording(scores: tuple[int, ...], sentence: str) -> None:
    analysis = Analysis(6000, scores, (0, 0, WIN_SCORE, 0), BETTER)
    assert of_ply(analysis, GAME, 3) == f"{sentence}, then G7 to G6."


def progress(analysing: Analysing) -> str:
    hall, view = Hall([]), View("Anna", Style.FULL, Display(width=500))
    return " ".join(renderer_for(hall, Delivery(analysing, ("Anna",)))(view))


def test_progress_messages() -> None:
    assert progress(Analysing("Anna", BATTLE, 0, 118)) == (
        "Battle 12 is being analysed (118 moves). You'll be told when it's done. "
        '"analyse cancel" stops it.'
    )
    assert progress(Analysing("Anna", BATTLE, 40, 118)) == (
        "Battle 12 is being analysed: 40 of 118 moves done."
    )


RISING = [100 * (each - 20) // 4 for each in range(60)]


def test_curve_in_ascii() -> None:
    assert curve(RISING, WIDE) == [
        " +10 |                                                 .....::::##",
        "     |                                    .....::::###############",
        "     |                       ....:::::############################",
        "   0 |----------+---------+---------+---------+---------+---------",
        "     |#########:::::''''",
        "     |'''''",
        " -10 |",
        "                10        20        30        40        50",
    ]


def test_curve_in_utf8() -> None:
    assert curve(RISING, Display(width=200, uses_utf8=True)) == [
        " +10 |                        ⢀⣀⣤⣤⣶⣾",
        "     |                  ⣀⣠⣤⣶⣾⣿⣿⣿⣿⣿⣿⣿",
        "     |           ⣀⣠⣤⣴⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿",
        "   0 |----------+---------+---------",
        "     |⣿⣿⣿⣿⡿⠿⠛⠛⠉⠁",
        "     |⠛⠉⠁",
        " -10 |",
        "                20        40",
    ]


@given(
    st.lists(st.integers(-6000, 6000) | st.sampled_from([WIN_SCORE, -WIN_SCORE]), min_size=3),
    st.integers(20, 300),
)
def test_curve_fits_any_screen_width(scores: list[int], width: int) -> None:
    for utf8 in (False, True):
        rows = curve(scores, Display(width=width, uses_utf8=utf8))
        assert len(rows) == 8
        assert all(columns(row) < width for row in rows)
        assert utf8 or all(row.isascii() for row in rows)


REFUSALS = [
    (
        RefusedError(AnalysisRefusal.NO_ANALYSES, number=12),
        'Battles can\'t be analysed here. "replay 12" shows it again.',
    ),
    (
        RefusedError(AnalysisRefusal.NO_ANALYSES_RATED, board="oak board"),
        "Your battle at the oak board is rated, so there's no analysis until it's over.",
    ),
    (
        RefusedError(AnalysisRefusal.ANALYSE_WHICH),
        'Which battle? Add its number: "history" lists them.',
    ),
    (
        RefusedError(AnalysisRefusal.NOT_OVER, number=12),
        "Battle 12 isn't over yet. You can analyse it afterwards.",
    ),
    (
        RefusedError(AnalysisRefusal.TOO_SHORT, number=12),
        "Battle 12 is too short to be analysed.",
    ),
    (
        RefusedError(AnalysisRefusal.TOO_LONG_TO_ANALYSE, number=12, plies=650, most=500),
        "Battle 12 had 650 moves. Only battles of up to 500 can be analysed.",
    ),
    (
        RefusedError(AnalysisRefusal.ANALYSIS_PENDING, number=12, done=40, plies=118),
        "Battle 12 is being analysed for you: 40 of 118 moves are done. You can ask for "
        'another once it is finished. "analyse cancel" stops it.',
    ),
    (
        RefusedError(AnalysisRefusal.ANALYSES_TOO_MANY),
        "Too many battles are being analysed just now. Try again in a minute.",
    ),
    (
        RefusedError(AnalysisRefusal.ANALYSIS_FAILED, number=12),
        'No luck with battle 12 this time. "analyse 12" tries again.',
    ),
    (
        RefusedError(AnalysisRefusal.NOTHING_ANALYSED),
        'Nothing is being analysed for you. "analyse 12" analyses battle 12.',
    ),
]


@pytest.mark.parametrize(("refusal", "sentence"), REFUSALS, ids=lambda each: str(each)[:20])
def test_analysis_refusal_wording(refusal: RefusedError, sentence: str) -> None:
    assert refusal_text(refusal) == sentence


def test_refusal_cases_cover_every_code() -> None:
    assert {refusal.code for refusal, _ in REFUSALS} == set(AnalysisRefusal)
