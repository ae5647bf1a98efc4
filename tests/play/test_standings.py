"""What players have won and lost, and the ratings that come of it."""

from __future__ import annotations

import pytest

from tests.play.annals import DRAW, DWARFS, TROLLS, Annals
from thudmud.play.standings import MIDDLE, Standings, Tally
from thudmud.rules import Outcome, Side


@pytest.fixture
def annals() -> Annals:
    return Annals()


@pytest.fixture
def standings(annals: Annals) -> Standings:
    return Standings(annals.archive)


def rated(standings: Standings) -> Standings:
    while standings.rate():
        pass
    return standings


class TestTallies:
    def test_battles_by_ruleset_and_side(self, annals: Annals, standings: Standings) -> None:
        for outcome in (DWARFS, DWARFS, TROLLS, DRAW):
            annals.whole(outcome)
        annals.whole(TROLLS, "Bert", "Anna", rules="classic")
        anna, bert = standings.score("anna"), standings.score("BERT")
        assert anna is not None
        assert bert is not None
        assert anna.battles == {
            ("discworld", Side.DWARF): Tally(2, 1, 1),
            ("classic", Side.TROLL): Tally(1, 0, 0),
        }
        assert bert.battles == {
            ("discworld", Side.TROLL): Tally(1, 1, 2),
            ("classic", Side.DWARF): Tally(0, 0, 1),
        }
        assert not anna.matches

    @pytest.mark.parametrize(
        ("points", "anna", "bert"),
        [
            ((31, 24), Tally(won=1), Tally(lost=1)),
            ((24, 31), Tally(lost=1), Tally(won=1)),
            ((24, 24), Tally(drawn=1), Tally(drawn=1)),
        ],
    )
    def test_matches_by_their_points(
        self,
        annals: Annals,
        standings: Standings,
        points: tuple[int, int],
        anna: Tally,
        bert: Tally,
    ) -> None:
        annals.begin()
        annals.end(points=points)
        scores = standings.score("Anna"), standings.score("Bert")
        assert [score and dict(score.matches) for score in scores] == [
            {"discworld": anna},
            {"discworld": bert},
        ]

    def test_they_go_on_as_battles_end(self, annals: Annals, standings: Standings) -> None:
        assert standings.score("Anna") is None
        annals.whole()
        assert standings.score("Anna") is not None
        annals.whole(dwarf="ANNA", rated=False)
        score = standings.score("Anna")
        assert score is not None
        assert score.name == "ANNA"
        assert score.battles["discworld", Side.DWARF] == Tally(2, 0, 0)

    def test_imported_and_unfinished_battles_are_not_in_them(
        self, annals: Annals, standings: Standings
    ) -> None:
        annals.bring_in(DWARFS)
        annals.begin()
        annals.clear()
        assert standings.score("Zoe") is None
        assert standings.score("Anna") is None


class TestRatings:
    def test_a_winner_rises_as_the_loser_falls(self, annals: Annals, standings: Standings) -> None:
        annals.whole(DWARFS)
        anna, bert = rated(standings).rating("Anna"), standings.rating("bert")
        assert anna is not None
        assert bert is not None
        assert anna.points - MIDDLE == MIDDLE - bert.points > 0
        assert anna.uncertainty == bert.uncertainty < 250
        assert anna.battles == bert.battles == 1
        assert list(standings.ranked()) == ["Anna", "Bert"]

    @pytest.mark.parametrize(("outcome", "sign"), [(DWARFS, 1), (DRAW, 0), (TROLLS, -1)])
    def test_sides_do_not_matter_but_outcomes_do(
        self, annals: Annals, standings: Standings, outcome: Outcome, sign: int
    ) -> None:
        annals.whole(outcome)
        rating = rated(standings).rating("Anna")
        assert rating is not None
        difference = rating.points - MIDDLE
        assert (difference > 0) - (difference < 0) == sign

    def test_unrated_battles_change_nothing(self, annals: Annals, standings: Standings) -> None:
        annals.whole(rated=False)
        assert rated(standings).rating("Anna") is None
        assert not standings.ranked()

    def test_who_is_better_known_is_told_more_exactly(
        self, annals: Annals, standings: Standings
    ) -> None:
        annals.whole(DRAW, "Anna", "Bert")
        few = rated(standings).rating("Anna")
        for _ in range(30):
            annals.whole(DRAW, "Anna", "Bert")
        many = rated(standings).rating("Anna")
        assert few is not None
        assert many is not None
        assert many.uncertainty < few.uncertainty
        assert many.proven > few.proven
        assert many.battles == 31

    def test_a_lucky_beginner_does_not_lead(self, annals: Annals, standings: Standings) -> None:
        for _ in range(40):
            annals.whole(DWARFS, "Anna", "Bert")
        annals.whole(DWARFS, "Carl", "Dora")
        assert next(iter(rated(standings).ranked())) == "Anna"

    def test_slices_come_to_the_same(self, annals: Annals) -> None:
        for number in range(25):
            annals.whole((DWARFS, DRAW, TROLLS)[number % 3], "Anna", ("Bert", "Carl")[number % 2])
        at_once, sliced = Standings(annals.archive), Standings(annals.archive)
        assert at_once.behind
        assert not at_once.rate(25)
        assert [sliced.rate(10), sliced.rate(10), sliced.rate(10)] == [True, True, False]
        assert sliced.ranked() == at_once.ranked()
        assert len(at_once.ranked()) == 3

    def test_they_go_on_one_by_one(self, annals: Annals, standings: Standings) -> None:
        assert not standings.behind
        assert not standings.rate()
        annals.whole()
        assert standings.behind
        assert not standings.rate()
        assert not standings.behind
