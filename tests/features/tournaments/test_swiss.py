"""Swiss pairing: examples, a reference implementation, and invariants of any tournament."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import combinations, count, product
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SOAKING
from tests.features.tournaments.reference_swiss import reference_pairs
from tests.features.tournaments.tournaments import (
    Outcome,
    absent,
    can_be_paired,
    ended,
    entered,
    played,
    shown,
    won_by,
)
from thudmud.features.tournaments.matching import Mates, complete_matching
from thudmud.features.tournaments.outlook import Outlook
from thudmud.features.tournaments.pairing import Entrant, MatchResult, Pairing, pair, rounds_of
from thudmud.features.tournaments.swiss import Contestant, swiss_pairs
from thudmud.game.events import TournamentKind
from thudmud.values import replace

SWISS = TournamentKind.SWISS
CHANCE = st.randoms(use_true_random=False)


def by_chance(chance: Random, *, all_come: bool = False) -> Outcome:
    """Return a random outcome: a win, a level match, or the absence of one or both players."""

    def outcome(pairing: Pairing) -> MatchResult:
        kind = 1.0 if all_come else chance.random()
        if kind < 0.05:
            return absent(chance.choice(pairing.players))
        if kind < 0.07:
            return absent(*pairing.players)
        return won_by(pairing, chance.choice([*pairing.players, None]))

    return outcome


class TestExamples:
    def test_upper_half_meets_lower_half(self) -> None:
        assert shown(pair(SWISS, entered(8), [])) == "A-E F-B C-G H-D"

    def test_lowest_player_gets_the_bye(self) -> None:
        assert shown(pair(SWISS, entered(7), [])) == "A-D E-B C-F G"

    def test_pairing_with_a_late_entrant_matches_bbp_pairings(self) -> None:
        """From bbpPairings' test "dutch_2025_C9": 1 and 2 have won, 5 enters late.

        Its pairs are 2-1 and 3-5, and 4 has the bye.
        """
        first = (
            Pairing("1", "3", won_by(Pairing("1", "3"), "1")),
            Pairing("4", "2", won_by(Pairing("4", "2"), "2")),
        )
        entrants = [
            Entrant(str(each), 3000.0 - each, 2 if each == 5 else 1) for each in range(1, 6)
        ]
        assert shown(pair(SWISS, entrants, [first])) == "2-1 3-5 4"

    def test_three_rounds_match_a_hand_calculation(self) -> None:
        """Pairings of eight players by the rules of the module; the stronger player always wins.

        Round 2: 1 to 4 have a point, but 1 and 3 both began with the dwarfs, and 2 and 4 with the
        trolls. So the pairs are 1-4 and 2-3, not 1-3 and 2-4; likewise 5-8 and 6-7. Round 3: 1 and
        2 have two points; 3 to 6 have one, so 3-5 and 4-6, who have not met; 7 and 8 have none.
        """
        rounds = played(SWISS, entered(8), 3)
        assert [{frozenset(each.players) for each in pairings} for pairings in rounds] == [
            {frozenset(pair) for pair in line.split()}
            for line in ("AE BF CG DH", "AD BC EH FG", "AB CE DF GH")
        ]

    def test_previous_opponents_are_replaced_by_the_next_in_order(self) -> None:
        """1 has met 4, so 1 meets 5, and 2 meets the first of the lower half who is free."""
        contestants = [Contestant(1.0) for _ in range(6)]
        contestants[0] = contestants[0]._replace(opponents=(3,), began=(True,))
        contestants[3] = contestants[3]._replace(opponents=(0,), began=(False,))
        pairs, _ = swiss_pairs(contestants)
        assert {frozenset(each) for each in pairs} == {
            frozenset({0, 4}),
            frozenset({1, 3}),
            frozenset({2, 5}),
        }

    def test_halves_mix_only_if_necessary(self) -> None:
        """1 has met the whole lower half, and so meets the last of the upper half."""
        contestants = [Contestant(0.0) for _ in range(6)]
        contestants[0] = contestants[0]._replace(opponents=(3, 4, 5), began=(True, False, True))
        for place in (3, 4, 5):
            contestants[place] = contestants[place]._replace(opponents=(0,), began=(False,))
        pairs, _ = swiss_pairs(contestants)
        assert {frozenset(each) for each in pairs} == {
            frozenset({0, 2}),
            frozenset({1, 4}),
            frozenset({3, 5}),
        }

    def test_best_player_of_the_next_score_floats_up(self) -> None:
        pairs, _ = swiss_pairs([Contestant(1.0), *[Contestant(0.5)] * 4, Contestant(0.0)])
        assert {frozenset(each) for each in pairs} == {
            frozenset({0, 1}),
            frozenset({2, 4}),
            frozenset({3, 5}),
        }

    def test_players_due_the_same_side_exchange_opponents(self) -> None:
        """Instead of 1-3 and 2-4, the upper half meets the lower half as 1-4 and 2-3."""
        began = {0: (True, True), 1: (False, True), 2: (True, True), 3: (True, False)}
        pairs, _ = swiss_pairs([Contestant(0.0, began=each) for each in began.values()])
        assert {frozenset(each) for each in pairs} == {frozenset({0, 3}), frozenset({1, 2})}

    def test_recent_floater_is_spared(self) -> None:
        middle = [Contestant(0.5, floated=True), *[Contestant(0.5)] * 2]
        pairs, _ = swiss_pairs([Contestant(1.0), *middle])
        assert {frozenset(each) for each in pairs} == {frozenset({0, 2}), frozenset({1, 3})}


class TestSides:
    @pytest.mark.parametrize(
        ("one", "two", "first"),
        [
            ((), (), 0),  # by lot, won by the first place
            ((True,), (False,), 1),  # has begun less often
            ((True,), (), 1),
            ((False,), (), 0),
            ((True, False), (False, True), 0),  # both change
            ((False, True), (True, False), 1),
            ((True, False), (True, False), 0),  # the upper player changes
            ((False, True), (False, True), 1),
            ((True, False), (), 0),
            ((), (True, False), 1),
        ],
    )
    def test_dwarfs_go_to_the_player_due_them(
        self, one: tuple[bool, ...], two: tuple[bool, ...], first: int
    ) -> None:
        ((begins, _),), _ = swiss_pairs([Contestant(0.0, began=one), Contestant(0.0, began=two)])
        assert begins == first

    def test_sides_alternate_by_board_in_the_first_round(self) -> None:
        pairs, _ = swiss_pairs([Contestant(0.0)] * 8)
        assert pairs == [(0, 4), (5, 1), (2, 6), (7, 3)]


class TestWhatHolds:
    @given(st.integers(2, 8), st.integers(0, 6), CHANCE)
    def test_pairings_match_the_reference_implementation(
        self, size: int, rounds: int, chance: Random
    ) -> None:
        """Random small fields are paired as by the reference implementation's exhaustive search."""
        entrants = entered(size)
        before = played(SWISS, entrants, rounds, by_chance(chance))
        contestants = contestants_of(entrants, before)
        expected = reference_pairs(contestants)
        if expected is not None and all(map(partial(can_even_out, contestants), expected[0])):
            pairs, bye = swiss_pairs(contestants)
            assert ({frozenset(each) for each in pairs}, bye) == expected

    @given(st.integers(2, 40), CHANCE)
    def test_opponents_and_byes_never_repeat(self, size: int, chance: Random) -> None:
        entrants = entered(size)
        rounds = played(SWISS, entrants, min(9, size // 2), by_chance(chance, all_come=True))
        met: Counter[frozenset[str]] = Counter()
        byes: Counter[str] = Counter()
        for pairings in rounds:
            names = [name for each in pairings for name in each.players]
            assert sorted(names) == sorted(each.player for each in entrants)
            for each in pairings:
                met[frozenset(each.players)] += each.was_played
                byes[each.first] += each.is_bye
        assert max(met.values()) <= 1
        assert max(byes.values()) <= 1

    def test_side_balance_stays_within_two(self) -> None:
        """Across many tournaments, no player begins more than two more matches with one side."""
        for seed in range(40):
            chance = Random(seed)  # noqa: S311
            rounds = played(SWISS, entered(chance.randint(8, 40)), 9, by_chance(chance))
            first = Counter(
                each.first for pairings in rounds for each in pairings if each.was_played
            )
            second = Counter(
                each.second for pairings in rounds for each in pairings if each.was_played
            )
            assert max(abs(first[str(name)] - second[name]) for name in {*first, *second}) <= 2

    @pytest.mark.parametrize("side", [0, 1])
    def test_opponents_never_repeat_if_one_side_always_wins(self, side: int) -> None:
        """If the player who begins with one side always wins, winners still meet each other."""
        rounds = played(SWISS, entered(35), 9, lambda each: won_by(each, each.players[side]))
        met = Counter(frozenset(each.players) for pairings in rounds for each in pairings)
        assert max(met.values()) == 1

    @given(st.integers(2, 9), CHANCE)
    def test_opponents_repeat_only_if_unavoidable(self, size: int, chance: Random) -> None:
        """Every round pairs all players, and repeats a meeting only when it must."""
        entrants = entered(size)
        rounds: list[tuple[Pairing, ...]] = []
        for _ in range(2 * size):
            pairings = pair(SWISS, entrants, rounds)
            assert sorted(name for each in pairings for name in each.players) == sorted(
                each.player for each in entrants
            )
            met = {frozenset(each.players) for past in rounds for each in past if each.was_played}
            if any(frozenset(each.players) in met for each in pairings):
                assert not can_be_paired([each.player for each in entrants], met)
            rounds.append(ended(pairings, by_chance(chance)))

    @given(st.integers(4, 30), CHANCE)
    def test_pairings_cover_exactly_the_players_present(self, size: int, chance: Random) -> None:
        entrants = entered(size)
        rounds: list[tuple[Pairing, ...]] = []
        late = (f"late{number}" for number in count(1))
        for number in range(1, 8):
            if chance.random() < 0.5:
                entrants.append(Entrant(next(late), chance.uniform(2900, 3000), entered=number))
            if chance.random() < 0.5:
                place = chance.randrange(len(entrants))
                if entrants[place].left is None:
                    entrants[place] = replace(entrants[place], left=number)
            here = {each.player for each in entrants if each.plays(number)}
            pairings = pair(SWISS, entrants, rounds)
            assert {name for each in pairings for name in each.players} == (
                here if len(here) > 1 else set()
            )
            rounds.append(ended(pairings, by_chance(chance)))

    @given(st.integers(2, 30), CHANCE)
    def test_pairing_is_deterministic(self, size: int, chance: Random) -> None:
        rounds = played(SWISS, entered(size), 5, by_chance(chance))
        assert [pair(SWISS, entered(size), rounds[:number]) for number in range(len(rounds))] == [
            tuple(each if each.is_bye else replace(each, result=None) for each in pairings)
            for pairings in rounds
        ]

    def test_single_remaining_player_is_not_paired(self) -> None:
        entrants = [replace(each, left=2) if each.player != "A" else each for each in entered(4)]
        assert pair(SWISS, entrants, played(SWISS, entered(4), 1)) == ()

    def test_opponents_of_a_forfeited_match_may_meet_again(self) -> None:
        first = ended(pair(SWISS, entered(2), []), lambda _: absent("B"))
        assert {frozenset(each.players) for each in pair(SWISS, entered(2), [first])} == {
            frozenset("AB")
        }

    def test_winner_by_forfeit_gets_no_bye(self) -> None:
        first = (Pairing("A", "B", absent("B")), Pairing("C", None))
        (match, bye) = pair(SWISS, entered(3), [first])
        assert bye.players == ("B",)
        assert set(match.players) == set("AC")

    def test_field_of_512_players_never_repeats_a_pairing(self) -> None:
        entrants = entered(512)
        rounds = played(SWISS, entrants, 9)
        met = Counter(frozenset(each.players) for pairings in rounds for each in pairings)
        assert (len(met), max(met.values())) == (9 * 256, 1)


class Promise(NamedTuple):
    """The extent to which a tournament broke the promises of a Swiss.

    Attributes:
        meetings: number of matches that repeated an earlier one.
        byes: number of second byes given while a player present had none.
        sides: largest difference, at any time, between a player's starts with either side.
    """

    meetings: int
    byes: int
    sides: int

    @classmethod
    def of(cls, rounds: Sequence[Sequence[Pairing]]) -> Promise:
        """Count the violations in rounds without absences."""
        met: set[frozenset[str]] = set()
        rested: set[str] = set()
        balance: Counter[str] = Counter()
        meetings = byes = sides = 0
        for pairings in rounds:
            here = {name for each in pairings for name in each.players}
            for each in pairings:
                if each.second is None:
                    byes += each.first in rested and not here <= rested
                    rested.add(each.first)
                else:
                    meetings += frozenset(each.players) in met
                    met.add(frozenset(each.players))
                    balance.update({each.first: 1, each.second: -1})
            sides = max(sides, *map(abs, balance.values()))
        return cls(meetings, byes, sides)


KEPT = Promise(0, 0, 1)


def all_courses(size: int, in_all: int, rounds: Sequence[tuple[Pairing, ...]] = ()) -> Promise:
    """Return the worst case over all courses of a tournament without level matches.

    That covers more than every order of strength. The last round needs no results.
    """
    pairings = pair(SWISS, entered(size), rounds, in_all)
    if len(rounds) + 1 == in_all:
        return Promise.of([*rounds, pairings])
    worst = KEPT
    for ways in product(*map(ways_to_end, pairings)):
        worst = Promise(*map(max, worst, all_courses(size, in_all, [*rounds, ways])))
    return worst


def ways_to_end(pairing: Pairing) -> list[Pairing]:
    """Return the pairing as won by each of its players, or a bye unchanged."""
    if pairing.is_bye:
        return [pairing]
    return [replace(pairing, result=won_by(pairing, winner)) for winner in pairing.players]


class TestPromise:
    """Over all rounds together, no meeting and no bye repeats, and sides even out."""

    @pytest.mark.parametrize(
        ("size", "in_all"),
        [(size, in_all) for size in range(2, 6) for in_all in range(1, size + size % 2)],
    )
    def test_promise_is_kept_whoever_wins(self, size: int, in_all: int) -> None:
        assert all_courses(size, in_all) == KEPT

    @pytest.mark.slow
    @pytest.mark.parametrize("size", [6, 7, 8, 9] if SOAKING else [6, 7])
    def test_promise_is_kept_over_the_usual_rounds_whoever_wins(self, size: int) -> None:
        assert all_courses(size, rounds_of(SWISS, size) or 0) == KEPT

    @settings(max_examples=40)
    @given(st.integers(6, 16), st.data(), CHANCE)
    def test_promise_is_kept_up_to_the_maximum_of_rounds(
        self, size: int, data: st.DataObject, chance: Random
    ) -> None:
        in_all = data.draw(st.integers(1, size + size % 2 - 1))
        rounds = played(SWISS, entered(size), in_all, by_chance(chance, all_come=True), in_all)
        assert Promise.of(rounds) <= KEPT

    @pytest.mark.parametrize("size", [20, 31, 42, 43, 44, 60, 99, 200])
    def test_promise_is_kept_in_large_fields(self, size: int) -> None:
        for seed, in_all in enumerate((5, 8, 19)):
            outcome = by_chance(Random(seed), all_come=True)  # noqa: S311
            assert Promise.of(played(SWISS, entered(size), in_all, outcome, in_all)) <= KEPT

    @given(st.integers(5, 10), CHANCE)
    def test_withdrawals_cause_the_fewest_possible_repeats(self, size: int, chance: Random) -> None:
        """Some players leave after round two; from then on, repeats are as few as possible."""
        outcome = by_chance(chance, all_come=True)
        rounds = played(SWISS, entered(size), 2, outcome, 5)
        stay = set(chance.sample([each.player for each in entered(size)], chance.randint(2, size)))
        entrants = [
            each if each.player in stay else replace(each, left=3) for each in entered(size)
        ]
        contestants = contestants_of([each for each in entrants if not each.left], rounds)
        before = Promise.of(rounds)
        in_all = rounds_of(SWISS, size, 5) or 0
        while len(rounds) < in_all:
            rounds.append(ended(pair(SWISS, entrants, rounds, 5), outcome))
        outlook = outlook_of(contestants, in_all - 2)
        after = Promise.of(rounds)
        repeats = after.meetings + after.byes - before.meetings - before.byes
        assert repeats <= outlook.repeats

    @given(st.integers(2, 12), CHANCE)
    def test_rounds_continue_with_only_two_players_left(self, size: int, chance: Random) -> None:
        rounds = played(SWISS, entered(size), 1, by_chance(chance), 20)
        entrants = [replace(each, left=2) for each in entered(size)[2:]]
        entrants = [*entered(size)[:2], *entrants]
        for _ in range(rounds_of(SWISS, size, 20) or 0):
            rounds.append(ended(pair(SWISS, entrants, rounds, 20), by_chance(chance)))
            assert {*rounds[-1][0].players} == {"A", "B"}


class TestMatching:
    @given(st.integers(0, 5), st.data())
    def test_matching_is_perfect_if_one_exists(self, half: int, data: st.DataObject) -> None:
        places = range(2 * half)
        edges = (
            data.draw(st.sets(st.sampled_from(list(combinations(places, 2))))) if half else set()
        )

        def joined(one: int, two: int) -> bool:
            return (min(one, two), max(one, two)) in edges

        def is_possible(left: tuple[int, ...]) -> bool:
            return not left or any(
                joined(left[0], other)
                and is_possible(tuple(each for each in left[1:] if each != other))
                for other in left[1:]
            )

        mates: Mates = [None] * (2 * half)
        assert complete_matching(mates, joined) == is_possible(tuple(places))
        for place, mate in enumerate(mates):
            assert mate is None or (mates[mate] == place and joined(place, mate))


def contestants_of(entrants: list[Entrant], rounds: list[tuple[Pairing, ...]]) -> list[Contestant]:
    """Return the contestants for Swiss pairing, derived independently of the code under test."""
    names = [each.player for each in entrants]
    contestants = []
    for name in names:
        mine = [next(each for each in pairings if name in each.players) for pairings in rounds]
        met = [each for each in mine if each.was_played]

        def score(player: str, until: int) -> float:
            past = [each for pairings in rounds[:until] for each in pairings]
            return sum(each.match_points(player) for each in past if player in each.players)

        last = mine[-1] if mine and mine[-1].was_played else None
        other = str(last.opponent(name)) if last else ""
        contestants.append(
            Contestant(
                score(name, len(rounds)),
                tuple(
                    names.index(other) if (other := str(each.opponent(name))) in names else -1
                    for each in met
                ),
                tuple(each.first == name for each in met),
                any(not each.was_played and each.match_points(name) for each in mine),
                last is not None and score(name, len(rounds) - 1) != score(other, len(rounds) - 1),
            )
        )
    return contestants


def outlook_of(contestants: list[Contestant], rounds: int) -> Outlook:
    """Return the outlook on a number of rounds, with the first one still unpaired."""
    size = len(contestants) + len(contestants) % 2
    graph = [(1 << size) - 1 & ~(1 << place) for place in range(size)]

    def meet(one: int, two: int) -> None:
        graph[one] &= ~(1 << two)
        graph[two] &= ~(1 << one)

    for place, each in enumerate(contestants):
        for other in each.opponents:
            if other >= 0:
                meet(place, other)
    if size > len(contestants) and not all(each.has_bye for each in contestants):
        for place, each in enumerate(contestants):
            if each.has_bye:
                meet(place, size - 1)
    return Outlook(graph, rounds, has_bye=size > len(contestants))


def can_even_out(contestants: list[Contestant], pair: frozenset[int]) -> bool:
    balances = [contestants[place].balance for place in pair]
    return min(balances) <= 0 <= max(balances)
