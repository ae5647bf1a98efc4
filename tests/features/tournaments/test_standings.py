"""Standings: the order of players and its tie-breaks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.features.tournaments.tournaments import absent, ended, entered, played
from thudmud.features.tournaments.pairing import MatchResult, Pairing, pair
from thudmud.features.tournaments.standings import Placing, course, standings
from thudmud.game.events import BattleScore, TournamentKind
from thudmud.values import replace

ROUND_ROBIN, SWISS = TournamentKind.ROUND_ROBIN, TournamentKind.SWISS
KNOCK_OUT, ARENA = TournamentKind.KNOCK_OUT, TournamentKind.ARENA


def round_of(*results: tuple[str, str, int]) -> tuple[Pairing, ...]:
    """Return a round of matches, each given as two players and the first one's margin."""
    made = []
    for first, second, ahead in results:
        score = BattleScore(50 + max(ahead, 0), 50 + max(-ahead, 0), 70)
        made.append(Pairing(first, second, MatchResult((score,))))
    return tuple(made)


def in_order(lines: tuple[Placing, ...]) -> list[tuple[int, str]]:
    return [(each.place, each.player) for each in lines]


class TestOrder:
    def test_standings_rank_by_match_points_first(self) -> None:
        rounds = [round_of(("A", "B", 1), ("C", "D", -40))]
        lines = standings(ROUND_ROBIN, entered(4), rounds)
        assert in_order(lines) == [(1, "D"), (2, "A"), (3, "B"), (4, "C")]
        assert lines[0] == Placing(1, "D", 1.0, 40, 0.0, won=1)

    def test_standings_break_ties_by_battle_points(self) -> None:
        rounds = [round_of(("A", "B", 0), ("C", "D", 0)), round_of(("A", "C", 3), ("B", "D", 8))]
        assert in_order(standings(ROUND_ROBIN, entered(4), rounds)) == [
            (1, "B"),
            (2, "A"),
            (3, "C"),
            (4, "D"),
        ]

    def test_round_robin_ties_are_broken_by_sonneborn_berger(self) -> None:
        """A and B have equal margins, but A beat C, who has more points than D."""
        rounds = [
            round_of(("A", "C", 5), ("B", "D", 5)),
            round_of(("A", "D", -5), ("B", "C", -5)),
            round_of(("C", "D", 1), ("A", "B", 0)),
        ]
        lines = standings(ROUND_ROBIN, entered(4), rounds)
        by_name = {each.player: each for each in lines}
        assert (by_name["A"].points, by_name["A"].battle_points) == (1.5, 0)
        assert by_name["A"].tie_break == 1 * 2 + 0.5 * 1.5
        assert by_name["B"].tie_break == 1 * 1 + 0.5 * 1.5
        assert in_order(lines) == [(1, "C"), (2, "A"), (3, "B"), (4, "D")]

    def test_swiss_tie_break_is_buchholz(self) -> None:
        rounds = [
            round_of(("A", "C", 5), ("B", "D", 5)),
            round_of(("C", "D", 9)),
        ]
        lines = {each.player: each for each in standings(SWISS, entered(4), rounds)}
        assert lines["A"].tie_break == 1 + 1  # C's point, and one for a round without an opponent
        assert lines["B"].tie_break == 0 + 1

    def test_remaining_ties_are_broken_by_direct_encounter(self) -> None:
        """A and B are equal in all else, and B beat A."""
        rounds = [
            round_of(("B", "A", 4), ("C", "D", 4)),
            round_of(("A", "C", 4), ("D", "B", 4)),
            round_of(("A", "D", 0), ("B", "C", 0)),
        ]
        lines = standings(SWISS, entered(4), rounds)
        keys = {each.player: (each.points, each.battle_points, each.tie_break) for each in lines}
        assert len(set(keys.values())) == 1
        assert in_order(lines) == [(1, each) for each in "ABCD"]  # all met all, with 1.5 each
        alone = standings(SWISS, entered(2), [round_of(("B", "A", 4)), round_of(("A", "B", 4))])
        assert in_order(alone) == [(1, "A"), (1, "B")]

    def test_equal_players_share_a_place(self) -> None:
        lines = standings(ROUND_ROBIN, entered(4), [round_of(("A", "B", 4), ("C", "D", 4))])
        assert in_order(lines) == [(1, "A"), (1, "C"), (3, "B"), (3, "D")]

    def test_standings_before_the_first_round_are_level(self) -> None:
        assert in_order(standings(SWISS, entered(3), [])) == [(1, "A"), (1, "B"), (1, "C")]

    def test_running_match_does_not_count(self) -> None:
        running = Pairing("A", "B")
        lines = standings(SWISS, entered(2), [(running,)])
        assert [(each.points, each.lost) for each in lines] == [(0.0, 0), (0.0, 0)]


class TestWhatIsNotPlayed:
    def test_absence_and_bye_score_match_points_only(self) -> None:
        rounds = [(Pairing("A", "B", absent("B")), Pairing("C", None))]
        lines = {each.player: each for each in standings(SWISS, entered(3), rounds)}
        assert (lines["A"].points, lines["A"].won) == (1.0, 1)
        assert (lines["B"].points, lines["B"].lost) == (0.0, 1)
        assert (lines["C"].points, lines["C"].won) == (1.0, 0)
        assert [each.battle_points for each in lines.values()] == [0, 0, 0]

    def test_player_leaving_early_counts_for_nobody(self) -> None:
        """B played, and lost, only one of three matches of a round robin."""
        entrants = [replace(each, left=2) if each.player == "B" else each for each in entered(4)]
        rounds = [round_of(("A", "B", 9), ("C", "D", 4))]
        rounds.append(ended(pair(ROUND_ROBIN, entrants, rounds)))
        lines = {each.player: each for each in standings(ROUND_ROBIN, entrants, rounds)}
        assert (lines["A"].points, lines["A"].battle_points) == (0.0, 0)
        assert lines["B"].has_left
        assert lines["C"].points == 2.0

    def test_player_leaving_late_still_counts(self) -> None:
        entrants = entered(4)
        rounds = played(ROUND_ROBIN, entrants, 2)
        entrants = [replace(each, left=3) if each.player == "D" else each for each in entrants]
        rounds.append(ended(pair(ROUND_ROBIN, entrants, rounds)))
        lines = {each.player: each for each in standings(ROUND_ROBIN, entrants, rounds)}
        assert sum(each.points for each in lines.values()) == 6.0

    def test_course_lists_a_players_pairings_by_round(self) -> None:
        rounds = [round_of(("A", "B", 9)), (Pairing("C", "A"), Pairing("B", None))]
        assert course("B", rounds) == (rounds[0][0], rounds[1][1])
        assert course("C", rounds) == (None, rounds[1][0])


class TestKnockOut:
    def test_knock_out_ranks_by_round_reached(self) -> None:
        rounds = played(KNOCK_OUT, entered(8), 99)
        assert in_order(standings(KNOCK_OUT, entered(8), rounds)) == [
            (1, "A"),
            (2, "B"),
            (3, "C"),
            (3, "D"),
            *[(5, each) for each in "EFGH"],
        ]

    def test_knock_out_ranks_remaining_players_first(self) -> None:
        entrants = entered(4)
        first = pair(KNOCK_OUT, entrants, [])
        running = [(first[0], *ended(first[1:]))]
        names = in_order(standings(KNOCK_OUT, entrants, running))
        assert names[0] == (1, min(first[1].players))
        assert {place for place, name in names if name in first[0].players} == {2}

    def test_level_final_is_decided_by_the_quicker_win(self) -> None:
        final = Pairing("A", "B", MatchResult((BattleScore(9, 1, 50), BattleScore(1, 9, 40))))
        assert in_order(standings(KNOCK_OUT, entered(2), [(final,)])) == [(1, "B"), (2, "A")]


@given(st.sampled_from([ROUND_ROBIN, SWISS, KNOCK_OUT]), st.integers(2, 20), st.integers(0, 9))
def test_standings_list_every_entrant_in_order_of_place(
    kind: TournamentKind, size: int, rounds: int
) -> None:
    entrants = entered(size)
    lines = standings(kind, entrants, played(kind, entrants, rounds))
    assert sorted(each.player for each in lines) == sorted(each.player for each in entrants)
    for number, line in enumerate(lines, 1):
        assert line.place == number or line.place == lines[number - 2].place
