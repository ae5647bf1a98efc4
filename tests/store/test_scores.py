"""Tallies of players, and the ratings that result from them."""

from __future__ import annotations

import pytest

from tests.game.annals import DRAW, DWARFS, NOON, STANDARD, TROLLS, Annals
from thudmud.game.archive import (
    CURVE,
    MIDDLE,
    PAGE,
    Performance,
    Pool,
    Ranking,
    RatingChange,
    ScoreLookup,
    StandingsLookup,
    Tally,
)
from thudmud.game.clocks import TimeClass, TimeControl
from thudmud.game.events import BattleStarted, Levels
from thudmud.game.projections import LAST, MOST_OF_LAST
from thudmud.rules import DISCWORLD, Side, read_position
from thudmud.store import run_synchronously


@pytest.fixture
def annals() -> Annals:
    return Annals()


class TestTallies:
    def test_tallies_count_battles_by_ruleset_and_side(self, annals: Annals) -> None:
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
    def test_tallies_count_matches_by_points(
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

    def test_tallies_grow_as_battles_end(self, annals: Annals) -> None:
        assert annals.score("Anna") is None
        annals.whole()
        assert annals.score("Anna") is not None
        annals.whole(dwarf="ANNA", rated=False)
        score = annals.score("Anna")
        assert score is not None
        assert score.name == "ANNA"
        assert score.people.battles["discworld", Side.DWARF] == Tally(2, 0, 0)

    def test_tallies_exclude_imported_and_unfinished_battles(self, annals: Annals) -> None:
        annals.bring_in(DWARFS)
        annals.begin()
        annals.clear()
        assert annals.score("Zoe") is None
        assert annals.score("Anna") is None


BLITZ = TimeControl(5, 0)


class TestRatings:
    def test_winner_gains_what_the_loser_loses(self, annals: Annals) -> None:
        annals.match("Anna", "Bert")
        anna, bert = annals.rating("Anna"), annals.rating("bert")
        assert anna is not None
        assert bert is not None
        assert anna.points - MIDDLE == MIDDLE - bert.points > 0
        assert anna.uncertainty == bert.uncertainty < 250
        assert anna.results == bert.results == 1

    def test_rating_changes_by_match_not_by_battle(self, annals: Annals) -> None:
        annals.begin()
        annals.end(DWARFS)
        assert annals.rating("Anna") is None
        annals.begin(dwarf="Bert", troll="Anna", number=2)
        annals.end(DWARFS, players=("Bert", "Anna"), points=(50, 50))
        rating = annals.rating("Anna")
        assert rating is not None
        assert (rating.points, rating.results) == (MIDDLE, 1)

    @pytest.mark.parametrize(("first", "second"), [(False, True), (True, False), (False, False)])
    def test_rating_requires_both_battles_to_be_rated(
        self, annals: Annals, *, first: bool, second: bool
    ) -> None:
        annals.match(first=first, second=second)
        assert annals.rating("Anna") is None

    def test_second_battle_without_a_first_is_not_rated(self, annals: Annals) -> None:
        annals.begin(number=2)
        annals.end(DWARFS, points=(40, 30))
        assert annals.rating("Bert") is None

    def test_ratings_are_separate_by_ruleset_and_pace(self, annals: Annals) -> None:
        annals.match("Anna", "Bert")
        annals.match("Bert", "Anna", rules="classic")
        annals.match("Bert", "Anna", time=BLITZ)
        annals.match("Bert", "Anna", time=TimeControl(3, 2))
        score = annals.score("Anna")
        assert score
        found = {
            pool: (each.results, each.points > MIDDLE)
            for pool, each in score.people.ratings.items()
        }
        assert found == {
            Pool("discworld"): (1, True),
            Pool("classic"): (1, False),
            Pool("discworld", TimeClass.BLITZ): (2, False),
        }

    def test_battles_from_a_custom_position_are_not_scored(self, annals: Annals) -> None:
        opening = read_position("dA6,TG7,RH8 dwarf", DISCWORLD)
        started = BattleStarted(NOON, "Anna", 1, "discworld", "Anna", "Bert", opening=opening)
        annals.happen("oak board", started)
        annals.end(points=(1, 0))
        assert annals.score("Anna") is None
        assert not annals.ranked()
        assert annals.battle(1).has_custom_opening

    def test_uncertainty_shrinks_with_more_matches(self, annals: Annals) -> None:
        annals.season("Anna", "Bert", "Carl", "Dora", rounds=3)
        few = annals.rating("Anna")
        annals.season("Anna", "Bert", "Carl", "Dora", rounds=30)
        many = annals.rating("Anna")
        assert few is not None
        assert many is not None
        assert many.uncertainty < few.uncertainty
        assert many.proven > few.proven
        assert many.results == 33
        assert few.is_provisional
        assert not many.is_provisional

    def test_standings_exclude_provisional_ratings(self, annals: Annals) -> None:
        annals.season("Anna", "Bert", "Carl", "Dora")
        for loser in ("Anna", "Bert", "Carl", "Dora", "Anna"):
            annals.match("Zoe", loser)
        assert annals.ranked() == ["Anna", "Bert", "Carl", "Dora"]
        annals.match("Zoe", "Bert")
        assert annals.ranked()[0] == "Zoe"

    def test_player_against_themselves_is_not_rated(self, annals: Annals) -> None:
        annals.match("Anna", "anna")
        assert annals.rating("Anna") is None

    def test_match_end_event_carries_rating_changes(self, annals: Annals) -> None:
        annals.match("Anna", "Bert")
        anna, bert = annals.rating("Anna"), annals.rating("Bert")
        assert anna
        assert bert
        entries = run_synchronously(annals.store.read_stream("oak board"))
        assert [each.changes for each in entries[:-1]] == [()] * 3
        assert set(entries[-1].changes) == {
            RatingChange("Anna", STANDARD, MIDDLE, anna),
            RatingChange("Bert", STANDARD, MIDDLE, bert),
        }


class TestFeeding:
    """Safeguards against ratings inflated by opponents who lose on purpose."""

    def test_pair_playing_only_each_other_stays_provisional(self, annals: Annals) -> None:
        for _ in range(3 * LAST):
            annals.match("Anna", "Bert")
        anna = annals.rating("Anna")
        assert anna
        assert anna.results == MOST_OF_LAST
        assert anna.is_provisional
        assert not annals.ranked()
        assert run_synchronously(annals.store.read_stream("oak board"))[-1].changes == ()

    def test_pair_is_rated_again_after_playing_others(self, annals: Annals) -> None:
        others = "Carl", "Dora", "Emil", "Fred", "Gina", "Hugo"
        annals.season(*others)
        for _ in range(LAST):
            annals.match("Anna", "Bert")
        for other in others:
            annals.match("Anna", other, drawn=True)
        known = annals.rating("Anna")
        annals.match("Anna", "Bert")
        assert annals.rating("Anna") == known  # Bert has played only Anna
        for other in others:
            annals.match("Bert", other, drawn=True)
        annals.match("Anna", "Bert")
        again = annals.rating("Anna")
        assert known
        assert again
        assert again.results == known.results + 1

    def test_three_players_among_themselves_are_rated(self, annals: Annals) -> None:
        for one, other in (("Anna", "Bert"), ("Bert", "Carl"), ("Carl", "Anna")) * 20:
            annals.match(one, other)
        anna = annals.rating("Anna")
        assert anna
        assert anna.results == 40

    def test_newcomer_does_not_change_an_established_rating(self, annals: Annals) -> None:
        annals.season("Anna", "Bert", "Carl", "Dora")
        before = annals.rating("Anna")
        annals.match("Anna", "Zoe")
        zoe = annals.rating("Zoe")
        assert zoe
        assert zoe.points < MIDDLE
        assert annals.rating("Anna") == before
        (change,) = run_synchronously(annals.store.read_stream("oak board"))[-1].changes
        assert change.player == "Zoe"


class TestCurves:
    def test_curve_shows_points_before_and_after_each_match(self, annals: Annals) -> None:
        told = [MIDDLE]
        for winner, loser in (("Anna", "Bert"), ("Carl", "Anna"), ("Anna", "Dora")):
            annals.match(winner, loser)
            rating = annals.rating("Anna")
            assert rating
            told.append(rating.points)
        annals.match("Bert", "Anna", rules="classic")
        score = annals.found(ScoreLookup("ANNA", with_curves=True))
        assert score
        assert score.curves[STANDARD] == tuple(told)
        assert len(score.curves[Pool("classic")]) == 2

    def test_curve_length_is_limited(self, annals: Annals) -> None:
        annals.season("Anna", "Bert", "Carl", "Dora", rounds=CURVE + 5)
        score = annals.found(ScoreLookup("Anna", with_curves=True))
        assert score
        assert len(score.curves[STANDARD]) == CURVE + 1


class TestBots:
    def test_bot_battle_leaves_scores_between_people_alone(self, annals: Annals) -> None:
        annals.match("Anna", "Bert")
        before = annals.score("Anna")
        annals.whole(DWARFS, "Anna", "Grog", levels=Levels(troll=3))
        after = annals.score("Anna")
        assert before
        assert after
        assert after.people == before.people
        assert before.bots == Performance()
        assert after.bots.battles == {("discworld", Side.DWARF): Tally(won=1)}
        assert after.bots.ratings[STANDARD].points > MIDDLE

    def test_bot_battles_are_rated_singly_and_by_ruleset(self, annals: Annals) -> None:
        for rules in ("discworld", "classic", "classic"):
            annals.begin(troll="Grog", rules=rules, time=BLITZ)
            annals.end(DWARFS, players=("Anna", "Grog"), levels=Levels(troll=3))
        anna = annals.score("Anna")
        assert anna
        found = {pool: each.results for pool, each in anna.bots.ratings.items()}
        assert found == {Pool("discworld"): 1, Pool("classic"): 2}

    def test_bot_has_a_rating_per_level(self, annals: Annals) -> None:
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
        points = [each.ratings[STANDARD].points for each in grog.levels.values()]
        assert len(points) == 3
        assert points == sorted(points)

    def test_bots_playing_each_other_are_rated_but_not_tallied(self, annals: Annals) -> None:
        annals.whole(DWARFS, "Mog", "Grog", levels=Levels(0, 5))
        mog, grog = annals.score("Mog"), annals.score("Grog")
        assert mog
        assert grog
        assert mog.levels[0].ratings != grog.levels[5].ratings
        assert mog.levels[0].in_all == grog.levels[5].in_all == Tally()

    def test_bot_battle_end_carries_the_human_rating_change(self, annals: Annals) -> None:
        annals.whole(DWARFS, "Anna", "Grog", levels=Levels(troll=3))
        anna = annals.score("Anna")
        assert anna
        *_, end = run_synchronously(annals.store.read_stream("oak board"))
        rating = anna.bots.ratings[STANDARD]
        assert end.changes == (RatingChange("Anna", STANDARD, MIDDLE, rating, with_bot=True),)

    def test_bot_battles_are_left_out_of_the_curve_among_people(self, annals: Annals) -> None:
        annals.match("Anna", "Bert")
        before = annals.found(ScoreLookup("Anna", with_curves=True))
        for _ in range(LAST):
            annals.whole(DWARFS, "Anna", "Grog", levels=Levels(troll=3))
        after = annals.found(ScoreLookup("Anna", with_curves=True))
        assert before
        assert after
        assert after.curves == before.curves
        bert = annals.rating("Bert")
        annals.match("Anna", "Bert")
        assert annals.rating("Bert") != bert  # their latest opponents are people

    def test_tallies_include_unrated_bot_battles(self, annals: Annals) -> None:
        annals.whole(DWARFS, "Anna", "Grog", levels=Levels(troll=3), rated=False)
        anna, grog = annals.score("Anna"), annals.score("Grog")
        assert anna
        assert grog
        assert (anna.bots.in_all, grog.levels[3].in_all) == (Tally(won=1), Tally(lost=1))
        assert anna.bots.ratings == grog.levels[3].ratings == {}


class TestRanking:
    def test_ranking_without_ratings_is_empty(self, annals: Annals) -> None:
        annals.whole()
        assert annals.found(StandingsLookup("Anna")) == Ranking(STANDARD)

    def test_ranking_lists_places_and_own_rating(self, annals: Annals) -> None:
        annals.season("Anna", "Bert", "Carl", "Dora")
        annals.match("Carl", "Anna")
        for name in ("Anna", "bert", "Zoe"):
            ranking = annals.found(StandingsLookup(name))
            assert [(place, player) for place, player, _ in ranking.players] == [
                (1, "Carl"),
                (2, "Bert"),
                (3, "Dora"),
                (4, "Anna"),
            ]
            assert ranking.in_all == 4
            assert ranking.mine == annals.rating(name)

    def test_ranking_shows_a_provisional_rating_to_its_owner(self, annals: Annals) -> None:
        annals.match("Anna", "Bert")
        ranking = annals.found(StandingsLookup("Anna"))
        assert (ranking.players, ranking.in_all) == ((), 0)
        assert ranking.mine == annals.rating("Anna")

    @pytest.mark.parametrize("others", [PAGE - 1, PAGE + 1, PAGE + 5])
    @pytest.mark.parametrize("me", ["Anna", "ANNA"])
    def test_ranking_appends_a_player_below_the_page(
        self, annals: Annals, others: int, me: str
    ) -> None:
        names = [f"X{chr(ord('a') + number)}" for number in range(others)]
        annals.season("Anna", *names)
        for name in names[:3]:
            annals.match(name, "Anna")
        ranking = annals.found(StandingsLookup(me))
        assert ranking.in_all == others + 1
        assert len(ranking.players) == min(others, PAGE) + 1
        last = ranking.players[-1]
        assert (last.place, last.name) == (others + 1, "Anna")
        assert annals.found(StandingsLookup("Zoe")).players == ranking.players[:PAGE]

    def test_ranking_orders_equal_ratings_by_name(self, annals: Annals) -> None:
        names = [f"X{chr(ord('a') + number)}" for number in range(PAGE + 6)]
        annals.season(*names[::-1])
        assert annals.ranked() == names
        assert len({annals.rating(name) for name in names}) == 1
        for place, name in enumerate(names, 1):
            ranking = annals.found(StandingsLookup(name))
            mine = [each.place for each in ranking.players if each.name == name]
            assert mine == [place]

    def test_ranking_is_separate_by_ruleset_and_pace(self, annals: Annals) -> None:
        blitz, classic = Pool("discworld", TimeClass.BLITZ), Pool("classic")
        four = "Anna", "Bert", "Carl", "Dora"
        annals.season(*four)
        assert annals.ranked() == list(four)
        annals.season(*four, "Emil", "Fred", time=BLITZ)
        annals.season(*four[:2], "Zoe", "Yves", rules="classic")
        counts = {STANDARD: 4, blitz: 6, classic: 4}
        asked = {
            (None, None): blitz,  # the pool with the most rated players
            ("discworld", None): blitz,
            ("classic", None): classic,
            ("discworld", TimeClass.UNTIMED): STANDARD,
            (None, TimeClass.UNTIMED): STANDARD,
            ("koom valley", None): Pool("koom valley"),
            ("classic", TimeClass.LONG): Pool("classic", TimeClass.LONG),
        }
        for (rules, time), pool in asked.items():
            ranking = annals.found(StandingsLookup("Anna", rules, time))
            assert (ranking.pool, ranking.in_all) == (pool, counts.get(pool, 0))
            assert len(ranking.players) == ranking.in_all
            assert dict(ranking.others) == {
                each: count for each, count in counts.items() if each != pool
            }
