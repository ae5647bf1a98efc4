"""What a battle counts: for the match, and whether for ratings."""

from __future__ import annotations

import pytest

from tests.play.conftest import LATER, SEATED, after, events, ply, without
from thudmud.play.events import (
    NO_BOTS,
    BattleEnded,
    BattleStarted,
    Left,
    Levels,
    Parting,
    Resumed,
)
from thudmud.play.match import RATED_PLIES
from thudmud.play.table import BoardSpec, Table
from thudmud.rules import Side
from thudmud.verbs.moves import Adjourn, Claim, Resign, Start, Undo
from thudmud.verbs.seats import Join, Leave
from thudmud.verbs.tables import TableCommand

MEMBERS = frozenset({"Anna", "Bert", "Carla"})
PLIES: list[tuple[str, TableCommand]] = [
    ("Anna", ply("A6", "B6")),
    ("Bert", ply("G7", "G6")),
    ("Anna", ply("B6", "C6")),
    ("Bert", ply("G6", "G7")),
    ("Anna", ply("C6", "D6")),
    ("Bert", ply("G7", "G6")),
]


def ended(table: Table, player: str, command: TableCommand | None = None) -> BattleEnded:
    """Return the end of the battle at ``table``; ``player`` resigns, if nothing else."""
    *_, end = events(table, player, command or Resign(), LATER)
    assert isinstance(end, BattleEnded)
    return end


@pytest.fixture
def rated(empty: Table) -> Table:
    """Return a table at which two with accounts have played enough plies."""
    return after(empty, *SEATED, ("Anna", Start()), *PLIES, members=MEMBERS)


def bert_left(table: Table) -> Table:
    """Return a table from which Bert stood up, as one could in the middle of a rated match once."""
    return table.apply(Left(LATER, "Bert", Side.TROLL, Parting.LEFT))


class TestRated:
    @pytest.mark.parametrize(
        ("members", "rated"),
        [
            ({"Anna", "Bert"}, True),
            ({"Anna"}, False),
            ({"Bert"}, False),
            ({"Carla"}, False),
            (set(), False),
        ],
    )
    def test_if_both_have_accounts(self, seated: Table, members: set[str], *, rated: bool) -> None:
        (started,) = events(seated, "Anna", Start(), members=members)
        assert isinstance(started, BattleStarted)
        assert started.rated is rated
        table = after(seated.apply(started), *PLIES)
        assert ended(table, "Bert").rated is rated

    def test_after_so_many_plies(self, rated: Table) -> None:
        assert len(PLIES) == RATED_PLIES
        assert ended(rated, "Anna").rated
        short = after(rated, ("Bert", Undo()), ("Anna", Undo()))
        end = ended(short, "Anna")
        assert (end.plies, end.rated) == (RATED_PLIES - 1, False)

    def test_by_who_had_accounts_when_it_began(self, seated: Table) -> None:
        table = after(seated, ("Anna", Start()))
        assert not ended(after(table, *PLIES, members=MEMBERS), "Anna").rated

    def test_not_if_somebody_else_sat_down(self, rated: Table) -> None:
        joined = after(bert_left(rated), ("Carla", Join(Side.TROLL)), members=MEMBERS)
        end = ended(joined, "Carla")
        assert (end.dwarf, end.troll, end.rated) == ("Anna", "Carla", False)
        back = after(joined, ("Carla", Leave()), ("Bert", Join(Side.TROLL)), members=MEMBERS)
        assert not ended(back, "Bert").rated

    def test_if_the_same_one_sat_down_again(self, rated: Table) -> None:
        table = after(bert_left(rated), ("Bert", Join(Side.TROLL)))
        assert ended(table, "Bert").rated

    def test_if_it_was_claimed(self, rated: Table) -> None:
        assert ended(without(rated, "Bert"), "Anna", Claim()).rated

    def test_not_if_it_was_claimed_before_a_ply_was_played(self, seated: Table) -> None:
        table = after(seated, ("Anna", Start()), members=MEMBERS)
        assert table.match
        assert table.match.rated
        end = ended(without(table, "Bert"), "Anna", Claim())
        assert (end.plies, end.outcome.winner, end.rated) == (0, Side.DWARF, False)

    def test_if_it_was_put_away_and_gone_on_with(self, rated: Table) -> None:
        away = after(rated, ("Anna", Adjourn()), ("Bert", Adjourn()))
        assert rated.match
        table = away.apply(Resumed(LATER, "Anna", rated.match.saved()))
        assert ended(table, "Anna").rated

    def test_the_second_battle_only_if_the_first_could(self, rated: Table) -> None:
        first = after(bert_left(rated), ("Carla", Join(Side.TROLL)), ("Carla", Resign()))
        (started,) = events(first, "Anna", Start(), members=MEMBERS)
        assert isinstance(started, BattleStarted)
        assert not started.rated
        first = after(rated, ("Bert", Resign()))
        (started,) = events(first, "Anna", Start(), members=MEMBERS)
        assert isinstance(started, BattleStarted)
        assert started.rated


class TestRatedMatches:
    """What a second battle counts that was never played to its end."""

    @pytest.fixture
    def half_played(self, rated: Table) -> Table:
        return after(rated, ("Bert", Resign()))

    def test_who_gives_the_second_battle_up_has_lost_the_match(self, half_played: Table) -> None:
        started, end = events(half_played, "Bert", Resign(), members=MEMBERS)
        assert isinstance(started, BattleStarted)
        assert isinstance(end, BattleEnded)
        assert (end.plies, end.rated) == (0, True)
        assert (end.dwarf, end.troll, end.points) == ("Bert", "Anna", (0, 64))

    def test_and_so_has_who_stays_away(self, half_played: Table) -> None:
        gone = without(half_played, "Anna")
        started, end = events(gone, "Bert", Claim(), LATER, MEMBERS)
        assert isinstance(started, BattleStarted)
        assert isinstance(end, BattleEnded)
        assert end.rated
        assert end.outcome.winner is Side.DWARF

    def test_it_counts_as_well_if_it_was_given_up_after_few_plies(self, half_played: Table) -> None:
        second = after(half_played, ("Anna", Start()), ("Bert", ply("A6", "B6")), members=MEMBERS)
        assert ended(second, "Anna").rated

    def test_nothing_counts_if_the_first_was_hardly_played(self, seated: Table) -> None:
        """Two who resign and resign again would else make ratings in a minute."""
        began = after(seated, ("Anna", Start()), members=MEMBERS)
        first = after(began, *PLIES[:-1], ("Bert", Resign()))
        assert first.match
        assert not first.match.between_members
        started, end = events(first, "Bert", Resign(), members=MEMBERS)
        assert isinstance(started, BattleStarted)
        assert isinstance(end, BattleEnded)
        assert (started.rated, end.rated) == (False, False)
        second = after(first, ("Anna", Start()), members=MEMBERS)
        swapped = [("Bert", PLIES[0][1]), ("Anna", PLIES[1][1])]
        swapped += [("Bert", PLIES[2][1]), ("Anna", PLIES[3][1])]
        swapped += [("Bert", PLIES[4][1]), ("Anna", PLIES[5][1])]
        assert not ended(after(second, *swapped), "Anna").rated

    def test_against_a_bot_each_battle_counts_by_its_plies(self, empty: Table) -> None:
        seats = [SEATED[0], ("Bert", Join(Side.TROLL, level=3))]
        first = after(empty, *seats, ("Anna", Start()), *PLIES, ("Anna", Resign()))
        second = after(first, ("Anna", Start()))
        assert not ended(second, "Anna").rated


class TestPoints:
    def test_none_before_the_match_is_over(self, started: Table) -> None:
        assert ended(started, "Anna").points is None

    def test_of_both_battles(self, first_over: Table) -> None:
        second = after(first_over, ("Bert", Start()))
        end = ended(second, "Anna")
        # Both had 32 in the first battle; then Bert had the dwarfs, and Anna gave up.
        assert end.points == (64, 32)
        assert (end.dwarf, end.troll) == ("Bert", "Anna")

    def test_of_a_second_battle_that_was_put_away(self, first_over: Table) -> None:
        second = after(first_over, ("Bert", Start()))
        assert second.match
        table = Table.set_up(BoardSpec("pine board")).apply(
            Resumed(LATER, "Anna", second.match.saved())
        )
        assert ended(table, "Anna").points == (64, 32)

    def test_who_was_left_alone_plays_against_who_sat_there_last(self, started: Table) -> None:
        table = after(started, ("Bert", Leave()))
        end = ended(table, "Anna")
        assert (end.dwarf, end.troll) == ("Anna", "Bert")


class TestBots:
    """A bot at level 3 has the trolls, and a guest the dwarfs, if nothing else is said."""

    @pytest.fixture
    def seated(self, empty: Table) -> Table:
        return after(empty, SEATED[0], ("Bert", Join(Side.TROLL, level=3)))

    @pytest.fixture
    def played(self, seated: Table) -> Table:
        return after(seated, ("Anna", Start()), *PLIES)

    def test_a_battle_with_one_counts_for_ratings(self, played: Table) -> None:
        end = ended(played, "Anna")
        assert (end.rated, end.levels) == (True, Levels(troll=3))
        short = after(played, ("Bert", Undo()), ("Anna", Undo()))
        assert not ended(short, "Anna").rated

    def test_it_is_none_between_people(self, played: Table, rated: Table) -> None:
        assert rated.match
        assert played.match
        assert rated.match.between_members
        assert not played.match.between_members

    def test_a_program_of_its_own_is_a_bot(self, empty: Table) -> None:
        bots = ("Anna", Join(Side.DWARF, level=3)), ("Bert", Join(Side.TROLL, level=0))
        end = ended(after(empty, *bots, ("Anna", Start()), *PLIES), "Anna")
        assert (end.rated, end.levels) == (True, Levels(3, 0))

    def test_it_plays_the_second_battle_at_that_level(self, played: Table) -> None:
        table = after(played, ("Anna", Resign()), ("Anna", Start()))
        assert table.match
        assert table.levels == table.match.levels == Levels(dwarf=3)

    def test_and_when_a_match_goes_on_that_was_put_away(self, played: Table) -> None:
        away = after(played, ("Anna", Adjourn()), ("Bert", Adjourn()))
        assert away.levels == NO_BOTS
        assert played.match
        table = away.apply(Resumed(LATER, "Anna", played.match.saved()))
        assert table.levels == Levels(troll=3)
        assert table.match == played.match

    def test_its_seat_is_free_for_a_person_and_for_another_level(self, seated: Table) -> None:
        left = after(seated, ("Bert", Leave()))
        assert left.levels == NO_BOTS
        assert after(left, SEATED[1]).levels == NO_BOTS
        assert after(left, ("Bert", Join(Side.TROLL, level=5))).levels == Levels(troll=5)

    def test_not_if_it_sat_down_in_the_middle(self, rated: Table) -> None:
        end = ended(after(bert_left(rated), ("Grog", Join(Side.TROLL, level=3))), "Anna")
        assert (end.troll, end.levels, end.rated) == ("Grog", Levels(troll=3), False)

    def test_nor_if_it_came_back_at_another_level(self, played: Table) -> None:
        left = after(played, ("Bert", Leave()))
        assert ended(left, "Anna").levels == Levels(troll=3)
        assert not ended(after(left, ("Bert", Join(Side.TROLL, level=5))), "Anna").rated
        assert ended(after(left, ("Bert", Join(Side.TROLL, level=3))), "Anna").rated
