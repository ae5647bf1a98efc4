"""What players have won and lost, and the ratings that come of it."""

from __future__ import annotations

import pytest

from tests.play.annals import DRAW, DWARFS, NOON, TROLLS, Annals
from thudmud.play.archive import MIDDLE, PAGE, Performance, StandingsLookup, Tally
from thudmud.play.events import BattleStarted, Levels
from thudmud.rules import DISCWORLD, Outcome, Side, read_position


@pytest.fixture
def annals() -> Annals:
    return Annals()


class TestTallies:
    def test_battles_by_ruleset_and_side(self, annals: Annals) -> None:
        for outcome in (DWARFS, DWARFS, TROLLS, DRAW):
            annals.whole(outcome)
        annals.whole(TROLLS, "Bert", "Anna", rules="classic")
        anna, bert = annals.score("anna"), annals.score("BERT")
        assert anna is not None
        assert bert is not None
        assert anna.people.battles == {
            ("discworld", Side.DWARF): Tally(2, 1, 1),
            ("classic", Side.TROLL): Tally(1, 0, 0),
        }
        assert bert.people.battles == {
            ("discworld", Side.TROLL): Tally(1, 1, 2),
            ("classic", Side.DWARF): Tally(0, 0, 1),
        }
        assert not anna.people.matches

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
        points: tuple[int, int],
        anna: Tally,
        bert: Tally,
    ) -> None:
        annals.begin()
        annals.end(points=points)
        scores = annals.score("Anna"), annals.score("Bert")
        assert [score and dict(score.people.matches) for score in scores] == [
            {"discworld": anna},
            {"discworld": bert},
        ]

    def test_they_go_on_as_battles_end(self, annals: Annals) -> None:
        assert annals.score("Anna") is None
        annals.whole()
        assert annals.score("Anna") is not None
        annals.whole(dwarf="ANNA", rated=False)
        score = annals.score("Anna")
        assert score is not None
        assert score.name == "ANNA"
        assert score.people.battles["discworld", Side.DWARF] == Tally(2, 0, 0)

    def test_imported_and_unfinished_battles_are_not_in_them(self, annals: Annals) -> None:
        annals.bring_in(DWARFS)
        annals.begin()
        annals.clear()
        assert annals.score("Zoe") is None
        assert annals.score("Anna") is None


class TestRatings:
    def test_a_winner_rises_as_the_loser_falls(self, annals: Annals) -> None:
        annals.whole(DWARFS)
        anna, bert = annals.rating("Anna"), annals.rating("bert")
        assert anna is not None
        assert bert is not None
        assert anna.points - MIDDLE == MIDDLE - bert.points > 0
        assert anna.uncertainty == bert.uncertainty < 250
        assert anna.battles == bert.battles == 1
        assert list(annals.ranked()) == ["Anna", "Bert"]

    @pytest.mark.parametrize(("outcome", "sign"), [(DWARFS, 1), (DRAW, 0), (TROLLS, -1)])
    def test_sides_do_not_matter_but_outcomes_do(
        self, annals: Annals, outcome: Outcome, sign: int
    ) -> None:
        annals.whole(outcome)
        rating = annals.rating("Anna")
        assert rating is not None
        difference = rating.points - MIDDLE
        assert (difference > 0) - (difference < 0) == sign

    def test_battles_that_were_set_up_count_for_nothing(self, annals: Annals) -> None:
        opening = read_position("dA6,TG7,RH8 dwarf", DISCWORLD)
        started = BattleStarted(NOON, "Anna", 1, "discworld", "Anna", "Bert", opening=opening)
        annals.happen("oak board", started)
        annals.end(points=(1, 0))
        assert annals.score("Anna") is None
        assert not annals.ranked()
        assert annals.battle(1).set_up

    def test_unrated_battles_change_nothing(self, annals: Annals) -> None:
        annals.whole(rated=False)
        assert annals.rating("Anna") is None
        assert not annals.ranked()

    def test_who_is_better_known_is_told_more_exactly(self, annals: Annals) -> None:
        annals.whole(DRAW, "Anna", "Bert")
        few = annals.rating("Anna")
        for _ in range(30):
            annals.whole(DRAW, "Anna", "Bert")
        many = annals.rating("Anna")
        assert few is not None
        assert many is not None
        assert many.uncertainty < few.uncertainty
        assert many.proven > few.proven
        assert many.battles == 31

    def test_a_lucky_beginner_does_not_lead(self, annals: Annals) -> None:
        for _ in range(40):
            annals.whole(DWARFS, "Anna", "Bert")
        annals.whole(DWARFS, "Carl", "Dora")
        assert annals.ranked()[0] == "Anna"

    def test_who_plays_alone_is_not_rated(self, annals: Annals) -> None:
        annals.whole(DWARFS, "Anna", "anna")
        assert annals.rating("Anna") is None


class TestBots:
    def test_a_battle_with_a_bot_changes_nothing_between_people(self, annals: Annals) -> None:
        annals.whole(DWARFS)
        before = annals.score("Anna")
        annals.whole(DWARFS, "Anna", "Grog", levels=Levels(troll=3))
        after = annals.score("Anna")
        assert before
        assert after
        assert after.people == before.people
        assert before.bots == Performance()
        assert after.bots.battles == {("discworld", Side.DWARF): Tally(won=1)}
        assert after.bots.rating
        assert after.bots.rating.points > MIDDLE
        assert list(annals.ranked()) == ["Anna", "Bert"]
        assert annals.found(StandingsLookup("Grog")).in_all == 2

    def test_a_bot_has_a_rating_at_each_level(self, annals: Annals) -> None:
        for level, outcome in ((3, DWARFS), (5, TROLLS), (5, DRAW), (0, DWARFS)):
            annals.whole(outcome, "Anna", "Grog", levels=Levels(troll=level))
        grog = annals.score("Grog")
        assert grog
        assert (grog.people, grog.bots) == (Performance(), Performance())
        assert [(level, each.in_all) for level, each in grog.levels.items()] == [
            (0, Tally(lost=1)),
            (3, Tally(lost=1)),
            (5, Tally(won=1, drawn=1)),
        ]
        points = [each.rating.points for each in grog.levels.values() if each.rating]
        assert len(points) == 3
        assert points == sorted(points)

    def test_two_bots_change_their_ratings_and_no_tally(self, annals: Annals) -> None:
        annals.whole(DWARFS, "Mog", "Grog", levels=Levels(0, 5))
        mog, grog = annals.score("Mog"), annals.score("Grog")
        assert mog
        assert grog
        assert mog.levels[0].rating != grog.levels[5].rating
        assert mog.levels[0].in_all == grog.levels[5].in_all == Tally()

    def test_what_does_not_count_for_ratings_is_in_the_tallies(self, annals: Annals) -> None:
        annals.whole(DWARFS, "Anna", "Grog", levels=Levels(troll=3), rated=False)
        anna, grog = annals.score("Anna"), annals.score("Grog")
        assert anna
        assert grog
        assert (anna.bots.in_all, grog.levels[3].in_all) == (Tally(won=1), Tally(lost=1))
        assert anna.bots.rating is grog.levels[3].rating is None


class TestRanking:
    def test_nobody_has_a_rating_yet(self, annals: Annals) -> None:
        annals.whole(rated=False)
        assert annals.found(StandingsLookup("Anna")) == ((), 0)

    def test_the_best_and_their_places(self, annals: Annals) -> None:
        annals.whole(DWARFS)
        for name in ("Anna", "bert", "Zoe"):
            ranking = annals.found(StandingsLookup(name))
            assert [(place, score.name) for place, score in ranking.players] == [
                (1, "Anna"),
                (2, "Bert"),
            ]
            assert ranking.in_all == 2

    @pytest.mark.parametrize("others", [PAGE - 1, PAGE, PAGE + 5])
    @pytest.mark.parametrize("me", ["Anna", "ANNA"])
    def test_oneself_far_below(self, annals: Annals, others: int, me: str) -> None:
        for number in range(others):
            annals.whole(DWARFS, f"X{chr(ord('a') + number)}", "Anna")
        ranking = annals.found(StandingsLookup(me))
        assert ranking.in_all == others + 1
        assert len(ranking.players) == min(others, PAGE) + 1
        last = ranking.players[-1]
        assert (last.place, last.score.name) == (others + 1, "Anna")
        assert annals.found(StandingsLookup("Zoe")).players == ranking.players[:PAGE]

    def test_who_is_as_good_is_ranked_by_name(self, annals: Annals) -> None:
        names = [f"X{chr(ord('a') + number)}" for number in range(PAGE + 6)]
        for first, second in zip(names[::-2], names[-2::-2], strict=True):
            annals.whole(DRAW, first, second)
        assert annals.ranked() == names
        assert len({annals.rating(name) for name in names}) == 1
        for place, name in enumerate(names, 1):
            ranking = annals.found(StandingsLookup(name))
            mine = [each.place for each in ranking.players if each.score.name == name]
            assert mine == [place]
