"""Pairing of round robins, knock-outs and arenas; `test_swiss` covers Swiss."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.features.tournaments.tournaments import absent, ended, entered, played, shown, won_by
from thudmud.errors import InvalidValueError
from thudmud.features.tournaments.pairing import (
    Entrant,
    MatchResult,
    Pairing,
    advancing_player,
    pair,
    pair_free,
    rounds_of,
)
from thudmud.game.events import BattleScore, TournamentKind
from thudmud.values import replace

ROUND_ROBIN, DOUBLE = TournamentKind.ROUND_ROBIN, TournamentKind.DOUBLE_ROUND_ROBIN
SWISS, KNOCK_OUT, ARENA = TournamentKind.SWISS, TournamentKind.KNOCK_OUT, TournamentKind.ARENA

BERGER = {
    4: ["1-4 2-3", "4-3 1-2", "2-4 3-1"],
    6: ["1-6 2-5 3-4", "6-4 5-3 1-2", "2-6 3-1 4-5", "6-5 1-4 2-3", "3-6 4-2 5-1"],
    8: [
        "1-8 2-7 3-6 4-5",
        "8-5 6-4 7-3 1-2",
        "2-8 3-1 4-7 5-6",
        "8-6 7-5 1-4 2-3",
        "3-8 4-2 5-1 6-7",
        "8-7 1-6 2-5 3-4",
        "4-8 5-3 6-2 7-1",
    ],
    10: [
        "1-10 2-9 3-8 4-7 5-6",
        "10-6 7-5 8-4 9-3 1-2",
        "2-10 3-1 4-9 5-8 6-7",
        "10-7 8-6 9-5 1-4 2-3",
        "3-10 4-2 5-1 6-9 7-8",
        "10-8 9-7 1-6 2-5 3-4",
        "4-10 5-3 6-2 7-1 8-9",
        "10-9 1-8 2-7 3-6 4-5",
        "5-10 6-4 7-3 8-2 9-1",
    ],
}
"""The Berger tables of the FIDE Handbook, C.05 annex 1. Who comes first has White."""


def numbered(count: int) -> list[Entrant]:
    return [Entrant(str(number), 3000.0 - number) for number in range(1, count + 1)]


class TestValues:
    def test_pairing_of_a_player_with_themselves_is_invalid(self) -> None:
        with pytest.raises(InvalidValueError, match="got A twice"):
            Pairing("A", "A")

    def test_pairing_with_an_absent_outsider_is_invalid(self) -> None:
        with pytest.raises(InvalidValueError):
            Pairing("A", "B", absent("C"))

    def test_points_follow_from_battle_scores(self) -> None:
        drawn = MatchResult((BattleScore(12, 20, 88), BattleScore(16, 8, 60)))
        pairing = Pairing("A", "B", drawn)
        assert [pairing.match_points(each) for each in "AB"] == [0.5, 0.5]
        assert [pairing.battle_points(each) for each in "AB"] == [0, 0]
        assert [pairing.shortest_win(each) for each in "AB"] == [60, 88]
        won = replace(pairing, result=won_by(pairing, "B", 7))
        assert [won.match_points(each) for each in "AB"] == [0, 1]
        assert [won.battle_points(each) for each in "AB"] == [-7, 7]

    def test_absence_loses_despite_battles_played(self) -> None:
        pairing = Pairing("A", "B", MatchResult((BattleScore(30, 0, 90),), ("A",)))
        assert [pairing.match_points(each) for each in "AB"] == [0, 1]
        assert not pairing.was_played
        nobody = Pairing("A", "B", absent("A", "B"))
        assert [nobody.match_points(each) for each in "AB"] == [0, 0]

    def test_bye_counts_as_a_match_won(self) -> None:
        bye = Pairing("A", None)
        assert (bye.is_over, bye.is_bye, bye.was_played, bye.match_points("A")) == (
            True,
            True,
            False,
            1,
        )

    @pytest.mark.parametrize(
        ("kind", "entrants", "asked", "rounds"),
        [
            (ROUND_ROBIN, 6, None, 5),
            (ROUND_ROBIN, 5, None, 5),
            (DOUBLE, 4, None, 6),
            (KNOCK_OUT, 16, None, 4),
            (KNOCK_OUT, 9, None, 4),
            (KNOCK_OUT, 2, None, 1),
            (SWISS, 100, 9, 9),
            (SWISS, 2, None, 1),
            (SWISS, 4, None, 3),
            (SWISS, 5, None, 5),
            (SWISS, 32, None, 5),
            (SWISS, 33, None, 6),
            (SWISS, 200, None, 8),
            (SWISS, 0, None, 0),
            (SWISS, 4, 9, 3),
            (SWISS, 5, 9, 5),
            (ARENA, 10, None, None),
        ],
    )
    def test_round_count_follows_from_kind_and_field(
        self, kind: TournamentKind, entrants: int, asked: int | None, rounds: int | None
    ) -> None:
        assert rounds_of(kind, entrants, asked) == rounds


class TestRoundRobin:
    @pytest.mark.parametrize("size", BERGER)
    def test_round_robin_follows_the_berger_tables(self, size: int) -> None:
        assert [shown(each) for each in played(ROUND_ROBIN, numbered(size), 99)] == BERGER[size]

    @pytest.mark.parametrize("size", [3, 5, 7, 9])
    def test_round_robin_of_an_odd_field_gives_byes_by_the_tables(self, size: int) -> None:
        rounds = played(ROUND_ROBIN, numbered(size), 99)
        full = [
            " ".join(each for each in line.split() if str(size + 1) not in each.split("-"))
            for line in BERGER[size + 1]
        ]
        assert [shown(each) for each in rounds] == full

    @given(st.integers(2, 30))
    def test_round_robin_pairs_everybody_once_with_even_sides(self, size: int) -> None:
        rounds = played(ROUND_ROBIN, entered(size), 99)
        met = Counter(frozenset(each.players) for pairings in rounds for each in pairings)
        names = [each.player for each in entered(size)]
        assert met == Counter(map(frozenset, combinations(names, 2)))
        assert len(rounds) == rounds_of(ROUND_ROBIN, size)
        first = Counter(each.first for pairings in rounds for each in pairings)
        second = Counter(each.second for pairings in rounds for each in pairings)
        assert all(abs(first[name] - second[name]) <= 1 for name in names)

    @given(st.integers(3, 20))
    def test_double_round_robin_pairs_everybody_once_per_side(self, size: int) -> None:
        rounds = played(DOUBLE, entered(size), 99)
        met = Counter(each.players for pairings in rounds for each in pairings)
        names = [each.player for each in entered(size)]
        assert met == Counter({(a, b): 1 for a in names for b in names if a != b})
        for name in names:
            began = "".join(
                "d" if each.first == name else "t"
                for pairings in rounds
                for each in pairings
                if name in each.players
            )
            assert "ddd" not in began
            assert "ttt" not in began

    def test_round_robin_player_who_left_forfeits_remaining_matches(self) -> None:
        entrants = numbered(4)
        rounds = played(ROUND_ROBIN, entrants, 1)
        entrants[1] = replace(entrants[1], left=2)
        second = pair(ROUND_ROBIN, entrants, rounds)
        assert shown(second) == "4-3 1-2"
        assert second[0].result is None
        assert second[1].result == absent("2")

    def test_round_robin_ends_with_one_player_left(self) -> None:
        entrants = [each if each.player == "1" else replace(each, left=2) for each in numbered(4)]
        assert pair(ROUND_ROBIN, entrants, played(ROUND_ROBIN, numbered(4), 1)) == ()

    def test_next_round_is_invalid_while_matches_are_open(self) -> None:
        first = pair(ROUND_ROBIN, numbered(4), [])
        with pytest.raises(InvalidValueError, match="pairings to be over, got 2 unfinished"):
            pair(ROUND_ROBIN, numbered(4), [first])


class TestKnockOut:
    def test_knock_out_lets_top_seeds_meet_last(self) -> None:
        rounds = played(KNOCK_OUT, numbered(8), 99, _lower_number)
        assert [{frozenset(each.players) for each in pairings} for pairings in rounds] == [
            _pairs("1-8 4-5 2-7 3-6"),
            _pairs("1-4 2-3"),
            _pairs("1-2"),
        ]

    @pytest.mark.parametrize(("size", "byes"), [(5, "123"), (6, "12"), (7, "1"), (8, ""), (3, "1")])
    def test_knock_out_gives_byes_to_top_seeds(self, size: int, byes: str) -> None:
        first = pair(KNOCK_OUT, numbered(size), [])
        assert {each.first for each in first if each.is_bye} == set(byes)
        assert Counter(name for each in first for name in each.players) == Counter(
            each.player for each in numbered(size)
        )

    @given(st.integers(2, 40), st.randoms(use_true_random=False))
    def test_knock_out_has_one_winner_after_the_expected_rounds(
        self, size: int, chance: Random
    ) -> None:
        def anybody(pairing: Pairing) -> MatchResult:
            return won_by(pairing, chance.choice(pairing.players))

        entrants = entered(size)
        rounds = played(KNOCK_OUT, entrants, 99, anybody)
        assert len(rounds) == rounds_of(KNOCK_OUT, size)
        assert len(rounds[-1]) == 1
        out: set[str | None] = set()
        for pairings in rounds:
            names = [name for each in pairings for name in each.players]
            assert len(names) == len(set(names)) == size - len(out)
            out |= set(names) - {advancing_player(each, entrants) for each in pairings}

    def test_level_match_goes_to_the_quicker_win(self) -> None:
        entrants = numbered(2)
        pairing = Pairing("1", "2", MatchResult((BattleScore(9, 1, 50), BattleScore(1, 9, 40))))
        assert advancing_player(pairing, entrants) == "2"

    def test_level_match_without_a_quicker_win_goes_to_the_higher_seed(self) -> None:
        entrants = numbered(2)
        for battles in ((), (BattleScore(9, 1, 50), BattleScore(1, 9, 50))):
            assert advancing_player(Pairing("2", "1", MatchResult(battles)), entrants) == "1"

    def test_knock_out_eliminates_an_absent_player(self) -> None:
        entrants = numbered(4)
        first = ended(pair(KNOCK_OUT, entrants, []), lambda each: absent(min(each.players)))
        assert {frozenset(each.players) for each in pair(KNOCK_OUT, entrants, [first])} == _pairs(
            "3-4"
        )

    def test_knock_out_match_missed_by_both_gives_a_bye(self) -> None:
        entrants = numbered(4)
        first = pair(KNOCK_OUT, entrants, [])
        first = (
            replace(first[0], result=absent(*first[0].players)),
            *ended(first[1:], _lower_number),
        )
        final = pair(KNOCK_OUT, entrants, [first])
        assert [each.players for each in final] == [("2",)]
        assert pair(KNOCK_OUT, entrants, [first, final]) == ()

    def test_knock_out_missed_by_everybody_ends(self) -> None:
        entrants = numbered(4)
        first = ended(pair(KNOCK_OUT, entrants, []), lambda each: absent(*each.players))
        assert pair(KNOCK_OUT, entrants, [first]) == ()

    def test_knock_out_player_who_left_forfeits_the_next_match(self) -> None:
        entrants = numbered(4)
        first = ended(pair(KNOCK_OUT, entrants, []), _lower_number)
        entrants[0] = replace(entrants[0], left=2)
        (final,) = pair(KNOCK_OUT, entrants, [first])
        assert final.result == absent("1")
        assert advancing_player(final, entrants) == "2"

    def test_knock_out_evens_out_sides(self) -> None:
        entrants = numbered(32)
        rounds = played(KNOCK_OUT, entrants, 99, _lower_number)
        for name in "12":
            began = [
                each.first == name
                for pairings in rounds
                for each in pairings
                if name in each.players
            ]
            assert abs(2 * sum(began) - len(began)) <= 1


class TestArena:
    def test_arena_pairs_free_players_by_score(self) -> None:
        entrants = entered(4)
        first = pair_free(entrants, [], ["A", "B", "C", "D"])
        assert {frozenset(each.players) for each in first} == {frozenset("AB"), frozenset("CD")}
        done = ended(first, lambda each: won_by(each, "B" if "B" in each.players else "D"))
        again = pair_free(entrants, done, ["A", "B", "C", "D"])
        assert {frozenset(each.players) for each in again} == {frozenset("BD"), frozenset("AC")}

    def test_arena_makes_recent_opponents_wait_for_others(self) -> None:
        entrants = entered(4)
        first = pair_free(entrants, [], ["A", "B", "C", "D"])
        done = [each if "C" in each.players else ended([each])[0] for each in first]
        assert pair_free(entrants, done, ["A", "B"]) == ()

    def test_arena_pairs_the_last_two_players_again(self) -> None:
        entrants = [*entered(2), Entrant("C", 1000.0, left=1)]
        done = ended(pair_free(entrants, [], ["A", "B"]))
        (again,) = pair_free(entrants, done, ["A", "B"])
        assert again.players == (done[0].second, done[0].first)

    def test_arena_leaves_out_the_player_who_waited_least(self) -> None:
        (pairing,) = pair_free(entered(3), [], ["C", "B", "A"])
        assert set(pairing.players) == set("CB")

    def test_arena_pairs_as_many_players_as_possible(self) -> None:
        entrants = entered(4)
        done = ended((Pairing("A", "B"),))
        pairings = pair_free(entrants, done, ["A", "B", "C", "D"])
        assert {frozenset(each.players) for each in pairings} in (
            {frozenset("AC"), frozenset("BD")},
            {frozenset("AD"), frozenset("BC")},
        )

    @given(st.integers(3, 40), st.integers(1, 60), st.randoms(use_true_random=False))
    def test_arena_never_repeats_a_pairing_immediately(
        self, size: int, steps: int, chance: Random
    ) -> None:
        entrants = entered(size)
        free = [each.player for each in entrants]
        pairings: list[Pairing] = []
        for _ in range(steps):
            made = pair_free(entrants, pairings, free)
            free = [name for name in free if not any(name in each.players for each in made)]
            for each in made:
                for name in each.players:
                    before = [past for past in pairings if name in past.players]
                    assert not before or before[-1].opponent(name) != each.opponent(name)
            pairings += made
            assert len(free) <= 3 or any(not each.is_over for each in pairings)
            running = [place for place, each in enumerate(pairings) if not each.is_over]
            if running:
                place = chance.choice(running)
                pairings[place] = ended([pairings[place]])[0]
                free += pairings[place].players


def _lower_number(pairing: Pairing) -> MatchResult:
    return won_by(pairing, min(pairing.players, key=int))


def _pairs(text: str) -> set[frozenset[str]]:
    return {frozenset(each.split("-")) for each in text.split()}
