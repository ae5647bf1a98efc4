"""Offers that need both players' agreement, and the rating and points of battles."""

from __future__ import annotations

from itertools import count

import pytest

from tests.game.conftest import (
    GO_ON,
    LATER,
    NOW,
    SEATED,
    STARTED,
    after,
    events,
    ply,
    refusal,
    without,
)
from thudmud.features.matchmaking.commands import No
from thudmud.features.playing import moves
from thudmud.features.playing.moves import Adjourn, Claim, End, Play, Resign, Start, Undo
from thudmud.features.playing.seats import Join, Leave
from thudmud.game.events import (
    NO_BOTS,
    Adjourned,
    BattleEnded,
    BattleStarted,
    Declined,
    Left,
    Levels,
    Moved,
    Offer,
    Offered,
    OfferLapsed,
    Parting,
    Resumed,
    TakenBack,
)
from thudmud.game.match import RATED_PLIES, Match
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec, Table
from thudmud.game.tables import TableCommand
from thudmud.rules import EVERY, Attempt, Game, Move, Side, Square, Verb

A_PLY: tuple[str, TableCommand] = ("Anna", ply("A6", "B6"))
A_REPLY: tuple[str, TableCommand] = ("Bert", ply("G7", "G6"))


def game(table: Table) -> Game:
    assert table.game is not None
    return table.game


def match(table: Table) -> Match:
    assert table.match is not None
    return table.match


@pytest.fixture
def replied(started: Table) -> Table:
    return after(started, A_PLY, A_REPLY)


class TestAdjourning:
    def test_adjourning_needs_both_players(self, started: Table) -> None:
        assert events(started, "Anna", Adjourn()) == [Offered(NOW, "Anna", Offer.ADJOURN)]
        table = after(started, ("Anna", Adjourn()))
        assert refusal(table, "Anna", Adjourn()) is Refusal.ALREADY_OFFERED
        assert events(table, "Bert", Adjourn()) == [
            Adjourned(NOW, "Bert", match(started).saved()),
        ]

    def test_adjourning_resets_the_board(self, replied: Table) -> None:
        table = after(replied, ("Anna", Adjourn()), ("Bert", Adjourn()))
        new = Table.set_up(BoardSpec("oak board"), 200, 300.0)
        assert (table.match, table.seats, table.offers, table.away) == (None, {}, {}, {})
        assert (table.ruleset, table.quiet_limit, table.seat_grace) == (
            new.ruleset,
            new.quiet_limit,
            new.seat_grace,
        )
        assert table.version == replied.version + 2

    def test_adjourning_saves_the_whole_match(self, replied: Table) -> None:
        (adjourned,) = events(after(replied, ("Bert", Adjourn())), "Anna", Adjourn())
        assert isinstance(adjourned, Adjourned)
        assert Match.restored(adjourned.match) == replied.match
        assert len(adjourned.match.moves) == 2

    def test_adjourning_between_battles_keeps_the_score(self, first_over: Table) -> None:
        (adjourned,) = events(after(first_over, ("Bert", Adjourn())), "Anna", Adjourn())
        assert isinstance(adjourned, Adjourned)
        restored = Match.restored(adjourned.match)
        assert restored == first_over.match
        assert not restored.is_running
        assert restored.points(Side.DWARF) == 32

    def test_adjourning_in_the_second_battle_keeps_sides_and_score(self, first_over: Table) -> None:
        table = after(first_over, *GO_ON, ("Bert", Adjourn()))
        (adjourned,) = events(table, "Anna", Adjourn())
        assert isinstance(adjourned, Adjourned)
        assert (adjourned.match.battle, adjourned.match.earlier_points) == (2, (32, 32))
        assert (adjourned.match.dwarf, adjourned.match.troll) == ("Bert", "Anna")

    def test_adjourn_offer_lapses_with_a_ply(self, started: Table) -> None:
        table = after(started, ("Bert", Adjourn()))
        lapsed, moved = events(table, *A_PLY)
        assert lapsed == OfferLapsed(NOW, "Anna", Offer.ADJOURN)
        assert isinstance(moved, Moved)
        assert after(table, A_PLY).offers == {}

    def test_adjourn_offer_lapses_with_the_end_of_the_battle(self, started: Table) -> None:
        table = after(started, ("Bert", Adjourn()), ("Bert", End()), ("Anna", End()))
        assert table.offers == {}

    def test_adjourning_needs_two_players_and_a_match(
        self, seated: Table, started: Table, match_over: Table
    ) -> None:
        assert refusal(seated, "Anna", Adjourn()) is Refusal.NO_MATCH
        assert refusal(match_over, "Anna", Adjourn()) is Refusal.NO_MATCH
        alone = after(started, ("Bert", Leave()))
        assert refusal(alone, "Anna", Adjourn()) is Refusal.NOBODY_TO_AGREE
        assert refusal(started, "Carla", Adjourn()) is Refusal.NOT_SEATED

    def test_adjourn_offer_of_an_absent_player_can_be_accepted(self, started: Table) -> None:
        table = without(after(started, ("Bert", Adjourn())), "Bert")
        (adjourned,) = events(table, "Anna", Adjourn())
        assert isinstance(adjourned, Adjourned)


class TestTakingBack:
    def test_undo_needs_both_players(self, replied: Table) -> None:
        assert events(replied, "Bert", Undo()) == [Offered(NOW, "Bert", Offer.UNDO)]
        table = after(replied, ("Bert", Undo()))
        assert refusal(table, "Bert", Undo()) is Refusal.ALREADY_OFFERED
        assert game(table) == game(replied)

    def test_undo_takes_back_the_last_own_ply(self, started: Table, replied: Table) -> None:
        table = after(replied, ("Bert", Undo()))
        last = game(replied).moves[1:]
        assert events(table, "Anna", Undo()) == [TakenBack(NOW, "Anna", Side.TROLL, last)]
        assert game(after(table, ("Anna", Undo()))) == game(after(started, A_PLY))

    def test_undo_takes_back_the_reply_as_well(self, started: Table, replied: Table) -> None:
        table = after(replied, ("Anna", Undo()))
        both = game(replied).moves
        assert events(table, "Bert", Undo()) == [TakenBack(NOW, "Bert", Side.DWARF, both)]
        assert game(after(table, ("Bert", Undo()))) == game(started)

    def test_undo_of_the_first_ply_restores_the_start(self, started: Table) -> None:
        table = after(started, A_PLY, ("Anna", Undo()), ("Bert", Undo()))
        assert game(table) == game(started)
        assert table.offers == {}

    def test_undo_can_be_repeated(self, started: Table, replied: Table) -> None:
        once = after(replied, ("Bert", Undo()), ("Anna", Undo()))
        twice = after(once, ("Anna", Undo()), ("Bert", Undo()))
        assert game(twice) == game(started)
        assert refusal(twice, "Anna", Undo()) is Refusal.NO_PLY_YET

    def test_undo_of_several_moves_takes_back_their_replies(
        self, started: Table, replied: Table
    ) -> None:
        table = after(replied, ("Anna", ply("B6", "C6")))
        assert events(table, "Anna", Undo(moves=2)) == [Offered(NOW, "Anna", Offer.UNDO, 2)]
        asked = after(table, ("Anna", Undo(moves=2)))
        assert asked.undo_moves == 2
        for agreed in (Undo(), Undo(moves=2)):
            assert events(asked, "Bert", agreed) == [
                TakenBack(NOW, "Bert", Side.DWARF, game(table).moves)
            ]
            assert game(after(asked, ("Bert", agreed))) == game(started)

    def test_later_request_for_one_move_replaces_the_number(self, replied: Table) -> None:
        table = after(replied, ("Anna", ply("B6", "C6")), ("Anna", Undo(moves=2)))
        table = after(table, ("Anna", No()), ("Anna", Undo()), ("Bert", Undo()))
        assert len(game(table).moves) == 2

    def test_request_for_another_number_is_a_request_of_ones_own(self, replied: Table) -> None:
        table = after(replied, ("Anna", ply("B6", "C6")), ("Bert", ply("G8", "F8")))
        asked = after(table, ("Anna", Undo()), ("Bert", Undo(moves=2)))
        assert asked.offers == {Offer.UNDO: Side.TROLL}
        assert game(after(asked, ("Anna", Undo()))).moves == game(table).moves[:1]

    def test_undo_of_more_moves_than_were_made_is_refused(self, replied: Table) -> None:
        for player in ("Anna", "Bert"):
            assert refusal(replied, player, Undo(moves=2)) is Refusal.UNDO_TOO_FAR

    def test_undo_of_several_moves_counts_towards_the_limit(
        self, replied: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(moves, "MOST_TAKEN_BACK", 1)
        table = after(replied, ("Anna", ply("B6", "C6")))
        assert refusal(table, "Anna", Undo(moves=2)) is Refusal.UNDO_TOO_OFTEN

    def test_undo_without_an_own_ply_is_refused(self, started: Table) -> None:
        assert refusal(started, "Anna", Undo()) is Refusal.NO_PLY_YET
        assert refusal(started, "Bert", Undo()) is Refusal.NO_PLY_YET
        assert refusal(after(started, A_PLY), "Bert", Undo()) is Refusal.NO_PLY_YET

    def test_undo_is_limited_in_each_battle(
        self, started: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(moves, "MOST_TAKEN_BACK", 2)
        table = started
        for _ in range(2):
            table = after(table, A_PLY, ("Anna", Undo()), ("Bert", Undo()))
        table = after(table, A_PLY)
        assert refusal(table, "Anna", Undo()) is Refusal.UNDO_TOO_OFTEN
        table = after(table, ("Anna", Resign()), *GO_ON, ("Bert", ply("A6", "B6")))
        assert after(table, ("Bert", Undo())).offers

    def test_undo_needs_a_running_battle(
        self, seated: Table, replied: Table, match_over: Table
    ) -> None:
        assert refusal(seated, "Anna", Undo()) is Refusal.NO_BATTLE
        over = after(replied, ("Anna", End()), ("Bert", End()))
        for table in (over, match_over, after(over, ("Bert", Leave()))):
            assert refusal(table, "Anna", Undo()) is Refusal.OVER_FOR_GOOD
            assert refusal(table, "Carla", Undo()) is Refusal.NOT_SEATED

    def test_undo_needs_an_opponent(self, replied: Table) -> None:
        table = after(replied, ("Bert", Leave()))
        assert refusal(table, "Anna", Undo()) is Refusal.NOBODY_TO_AGREE
        assert refusal(replied, "Carla", Undo()) is Refusal.NOT_SEATED

    def test_undo_offer_does_not_pass_to_a_new_opponent(self, replied: Table) -> None:
        table = after(replied, ("Anna", Undo()), ("Bert", Leave()), ("Carla", Join(Side.TROLL)))
        assert events(table, "Carla", Undo()) == [Offered(NOW, "Carla", Offer.UNDO)]

    def test_undo_offer_lapses_with_a_ply(self, replied: Table) -> None:
        table = after(replied, ("Bert", Undo()))
        lapsed, moved = events(table, "Anna", ply("A9", "B9"))
        assert lapsed == OfferLapsed(NOW, "Anna", Offer.UNDO)
        assert isinstance(moved, Moved)
        table = after(table, ("Anna", ply("A9", "B9")))
        assert events(table, "Anna", Undo()) == [Offered(NOW, "Anna", Offer.UNDO)]

    def test_undo_lapses_other_offers(self, replied: Table) -> None:
        table = after(replied, ("Bert", Undo()), ("Anna", End()), ("Bert", Adjourn()))
        *lapsed, taken = events(table, "Anna", Undo())
        assert lapsed == [
            OfferLapsed(NOW, "Anna", Offer.END),
            OfferLapsed(NOW, "Anna", Offer.ADJOURN),
        ]
        assert isinstance(taken, TakenBack)
        assert after(table, ("Anna", Undo())).offers == {}

    def test_undo_restores_the_count_of_quiet_plies(self) -> None:
        table = after(Table.set_up(BoardSpec("oak board"), 2), *STARTED, A_PLY, A_REPLY)
        assert table.is_quiet
        table = after(table, ("Bert", Undo()), ("Anna", Undo()))
        assert not table.is_quiet
        assert game(table).quiet_plies == 1

    def test_undo_restores_a_capture(self, started: Table) -> None:
        table = played(started, "move F15 F8", "shove G7 E7", "move G15 G10")
        before = played(started, "move F15 F8")
        table = after(table, ("Bert", Undo()), ("Anna", Undo()))
        assert game(table) == game(before)
        assert game(table).score == game(before).score
        assert game(table).quiet_plies == 1

    def test_undo_after_a_capture_recounts_quiet_plies(self, started: Table) -> None:
        table = played(started, "move F15 F8", "shove G7 E7", "move G15 G10", "move H7 G7")
        assert game(table).quiet_plies == 2
        table = after(table, ("Bert", Undo()), ("Anna", Undo()))
        assert game(table).quiet_plies == 1

    def test_battle_continues_after_an_undo(self, replied: Table) -> None:
        table = after(replied, ("Bert", Undo()), ("Anna", Undo()), ("Bert", ply("H7", "H6")))
        (moved,) = events(after(replied, ("Bert", Undo()), ("Anna", Undo())), *A_REPLY)
        assert isinstance(moved, Moved)
        assert moved.ply == 2
        assert len(game(table).moves) == 2

    def test_undo_restores_a_trample(self) -> None:
        table, trample = before_a_trample()
        side = game(table).position.turn
        asker, other = table.seats[side], table.seats[side.other]
        played = table.apply(Moved(NOW, asker, side, trample, len(game(table).moves) + 1))
        assert game(played).quiet_plies != game(table).quiet_plies
        back = after(played, (asker, Undo()), (other, Undo()))
        assert game(back) == game(table)
        assert back.offers == {}


def before_a_trample() -> tuple[Table, Move]:
    """Return a table at which a troll can trample several dwarfs, and that move."""
    table = after(Table.set_up(BoardSpec("elm table", "koom valley"), 200), *STARTED)
    for number in count(1):
        legal = game(table).legal_moves()
        tramples = [move for move in legal if move.is_trample and len(move.captures) > 1]
        if tramples:
            return table, tramples[0]
        side = game(table).position.turn
        move = legal[number * 7 % len(legal)]
        table = table.apply(Moved(NOW, table.seats[side], side, move, number))
    raise AssertionError


def played(table: Table, *said: str) -> Table:
    """Return the table after plies, each given as a verb, an origin and a target."""
    for number, each in enumerate(said):
        verb, origin, target = each.split()
        captures = EVERY if verb == "shove" else None
        attempt = Attempt(Verb(verb), Square.parse(origin), Square.parse(target), captures)
        table = after(table, ("Bert" if number % 2 else "Anna", Play(attempt)))
    return table


every_offer = pytest.mark.parametrize(
    ("command", "offer"),
    [
        (End(), Offer.END),
        (Start(), Offer.RESTART),
        (Adjourn(), Offer.ADJOURN),
        (Undo(), Offer.UNDO),
    ],
    ids=str,
)


class TestDeclining:
    @every_offer
    def test_offer_of_the_opponent_is_declined_by_no(
        self, replied: Table, command: TableCommand, offer: Offer
    ) -> None:
        table = after(replied, ("Bert", command))
        assert events(table, "Anna", No()) == [Declined(NOW, "Anna", offer)]
        table = after(table, ("Anna", No()))
        assert table.offers == {}
        assert events(table, "Bert", command) == [Offered(NOW, "Bert", offer)]

    def test_declining_covers_all_offers_of_the_opponent_only(self, replied: Table) -> None:
        table = after(replied, ("Bert", End()), ("Anna", Adjourn()), ("Bert", Undo()))
        assert events(table, "Anna", No()) == [
            Declined(NOW, "Anna", Offer.END),
            Declined(NOW, "Anna", Offer.UNDO),
        ]
        assert after(table, ("Anna", No())).offers == {Offer.ADJOURN: Side.DWARF}

    def test_declining_without_an_offer_is_refused(self, seated: Table, replied: Table) -> None:
        for table in (seated, replied):
            assert refusal(table, "Anna", No()) is Refusal.NOTHING_OFFERED
        offered = after(replied, ("Anna", End()))
        assert refusal(offered, "Carla", No()) is Refusal.NOT_SEATED


class TestWithdrawing:
    @every_offer
    def test_own_offer_is_withdrawn_by_no(
        self, replied: Table, command: TableCommand, offer: Offer
    ) -> None:
        table = after(replied, ("Anna", command))
        assert events(table, "Anna", No()) == [OfferLapsed(NOW, "Anna", offer)]
        table = after(table, ("Anna", No()))
        assert table.offers == {}
        assert events(table, "Bert", command) == [Offered(NOW, "Bert", offer)]

    def test_withdrawing_covers_all_own_offers(self, replied: Table) -> None:
        table = after(replied, ("Anna", End()), ("Anna", Undo()))
        assert events(table, "Anna", No()) == [
            OfferLapsed(NOW, "Anna", Offer.END),
            OfferLapsed(NOW, "Anna", Offer.UNDO),
        ]

    def test_withdrawing_between_battles_cancels_the_offer(self, first_over: Table) -> None:
        table = after(first_over, ("Anna", Adjourn()), ("Anna", No()))
        assert table.offers == {}

    def test_withdrawing_comes_after_declining(self, replied: Table) -> None:
        table = after(replied, ("Anna", Adjourn()), ("Bert", End()), ("Anna", No()))
        assert table.offers == {Offer.ADJOURN: Side.DWARF}
        assert after(table, ("Anna", No())).offers == {}


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
    """Return the end of the battle after a command of ``player``, by default "resign"."""
    *_, end = events(table, player, command or Resign(), LATER)
    assert isinstance(end, BattleEnded)
    return end


@pytest.fixture
def rated(empty: Table) -> Table:
    """Return a table at which two members have played enough plies for a rating."""
    return after(empty, *SEATED, ("Anna", Start()), *PLIES, members=MEMBERS)


def bert_left(table: Table) -> Table:
    """Return the table after Bert left a rated match, as only older records have it."""
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
    def test_battle_is_rated_if_both_players_have_accounts(
        self, seated: Table, members: set[str], *, rated: bool
    ) -> None:
        (started,) = events(seated, "Anna", Start(), members=members)
        assert isinstance(started, BattleStarted)
        assert started.rated is rated
        table = after(seated.apply(started), *PLIES)
        assert ended(table, "Bert").rated is rated

    def test_battle_is_rated_after_the_minimum_of_plies(self, rated: Table) -> None:
        assert len(PLIES) == RATED_PLIES
        assert ended(rated, "Anna").rated
        short = after(rated, ("Bert", Undo()), ("Anna", Undo()))
        end = ended(short, "Anna")
        assert (end.plies, end.rated) == (RATED_PLIES - 1, False)

    def test_battle_rating_depends_on_accounts_at_its_start(self, seated: Table) -> None:
        table = after(seated, ("Anna", Start()))
        assert not ended(after(table, *PLIES, members=MEMBERS), "Anna").rated

    def test_battle_is_unrated_after_a_change_of_player(self, rated: Table) -> None:
        joined = after(bert_left(rated), ("Carla", Join(Side.TROLL)), members=MEMBERS)
        end = ended(joined, "Carla")
        assert (end.dwarf, end.troll, end.rated) == ("Anna", "Carla", False)
        back = after(joined, ("Carla", Leave()), ("Bert", Join(Side.TROLL)), members=MEMBERS)
        assert not ended(back, "Bert").rated

    def test_battle_is_rated_if_the_same_player_returns(self, rated: Table) -> None:
        table = after(bert_left(rated), ("Bert", Join(Side.TROLL)))
        assert ended(table, "Bert").rated

    def test_battle_claimed_is_rated(self, rated: Table) -> None:
        assert ended(without(rated, "Bert"), "Anna", Claim()).rated

    def test_battle_claimed_before_the_first_ply_is_unrated(self, seated: Table) -> None:
        table = after(seated, ("Anna", Start()), members=MEMBERS)
        assert table.match
        assert table.match.rated
        end = ended(without(table, "Bert"), "Anna", Claim())
        assert (end.plies, end.outcome.winner, end.rated) == (0, Side.DWARF, False)

    def test_battle_adjourned_and_resumed_is_rated(self, rated: Table) -> None:
        away = after(rated, ("Anna", Adjourn()), ("Bert", Adjourn()))
        assert rated.match
        table = away.apply(Resumed(LATER, "Anna", rated.match.saved()))
        assert ended(table, "Anna").rated

    def test_second_battle_is_rated_only_if_the_first_could_be(self, rated: Table) -> None:
        first = after(bert_left(rated), ("Carla", Join(Side.TROLL)), ("Carla", Resign()))
        (started,) = events(after(first, ("Carla", Start())), "Anna", Start(), members=MEMBERS)
        assert isinstance(started, BattleStarted)
        assert not started.rated
        first = after(rated, ("Bert", Resign()))
        (started,) = events(after(first, ("Bert", Start())), "Anna", Start(), members=MEMBERS)
        assert isinstance(started, BattleStarted)
        assert started.rated


class TestRatedMatches:
    """Rating of second battles that were not played to their end."""

    @pytest.fixture
    def half_played(self, rated: Table) -> Table:
        return after(rated, ("Bert", Resign()))

    def test_leaving_between_battles_loses_the_second(self, half_played: Table) -> None:
        started, end, left = events(half_played, "Bert", Leave(), members=MEMBERS)
        assert isinstance(started, BattleStarted)
        assert isinstance(end, BattleEnded)
        assert (end.plies, end.rated) == (0, True)
        assert (end.dwarf, end.troll, end.points) == ("Bert", "Anna", (0, 64))
        assert left == Left(NOW, "Bert", Side.DWARF, Parting.LEFT)

    def test_resign_between_battles_is_refused(self, half_played: Table) -> None:
        for player in ("Anna", "Bert"):
            assert refusal(half_played, player, Resign()) is Refusal.NOT_BEGUN_YET

    def test_claim_between_battles_wins_the_second_as_rated(self, half_played: Table) -> None:
        gone = without(half_played, "Anna")
        started, end = events(gone, "Bert", Claim(), LATER, MEMBERS)
        assert isinstance(started, BattleStarted)
        assert isinstance(end, BattleEnded)
        assert end.rated
        assert end.outcome.winner is Side.DWARF

    def test_second_battle_resigned_early_is_rated(self, half_played: Table) -> None:
        second = after(half_played, *GO_ON, ("Bert", ply("A6", "B6")), members=MEMBERS)
        assert ended(second, "Anna").rated

    def test_second_battle_is_unrated_after_a_short_first(self, seated: Table) -> None:
        """Otherwise two players could farm ratings by resigning in turn."""
        began = after(seated, ("Anna", Start()), members=MEMBERS)
        first = after(began, *PLIES[:-1], ("Bert", Resign()))
        assert first.match
        assert not first.match.is_between_members
        started, end = events(without(first, "Bert"), "Anna", Claim(), LATER, MEMBERS)
        assert isinstance(started, BattleStarted)
        assert isinstance(end, BattleEnded)
        assert (started.rated, end.rated) == (False, False)
        left = Left(NOW, "Bert", Side.TROLL, Parting.LEFT)
        assert events(first, "Bert", Leave(), members=MEMBERS) == [left]
        second = after(first, *GO_ON, members=MEMBERS)
        swapped = [("Bert", PLIES[0][1]), ("Anna", PLIES[1][1])]
        swapped += [("Bert", PLIES[2][1]), ("Anna", PLIES[3][1])]
        swapped += [("Bert", PLIES[4][1]), ("Anna", PLIES[5][1])]
        assert not ended(after(second, *swapped), "Anna").rated

    def test_battle_against_a_bot_is_rated_by_its_own_plies(self, empty: Table) -> None:
        seats = [SEATED[0], ("Bert", Join(Side.TROLL, level=3))]
        first = after(empty, *seats, ("Anna", Start()), *PLIES, ("Anna", Resign()))
        second = after(first, ("Anna", Start()))
        assert not ended(second, "Anna").rated


class TestPoints:
    def test_points_are_missing_before_the_match_is_over(self, started: Table) -> None:
        assert ended(started, "Anna").points is None

    def test_points_cover_both_battles(self, first_over: Table) -> None:
        second = after(first_over, *GO_ON)
        end = ended(second, "Anna")
        # Both had 32 in the first battle; in the second Bert had the dwarfs and Anna resigned.
        assert end.points == (64, 32)
        assert (end.dwarf, end.troll) == ("Bert", "Anna")

    def test_points_include_the_first_battle_after_resuming(self, first_over: Table) -> None:
        second = after(first_over, *GO_ON)
        assert second.match
        table = Table.set_up(BoardSpec("pine board")).apply(
            Resumed(LATER, "Anna", second.match.saved())
        )
        assert ended(table, "Anna").points == (64, 32)

    def test_battle_of_a_deserted_player_names_the_last_opponent(self, started: Table) -> None:
        table = after(started, ("Bert", Leave()))
        end = ended(table, "Anna")
        assert (end.dwarf, end.troll) == ("Anna", "Bert")


class TestBots:
    """By default, a bot of level 3 plays the trolls against a guest with the dwarfs."""

    @pytest.fixture
    def seated(self, empty: Table) -> Table:
        return after(empty, SEATED[0], ("Bert", Join(Side.TROLL, level=3)))

    @pytest.fixture
    def played(self, seated: Table) -> Table:
        return after(seated, ("Anna", Start()), *PLIES, members=["Anna"])

    def test_battle_with_a_bot_is_rated(self, played: Table) -> None:
        end = ended(played, "Anna")
        assert (end.rated, end.levels) == (True, Levels(troll=3))
        short = after(played, ("Bert", Undo()), ("Anna", Undo()))
        assert not ended(short, "Anna").rated

    def test_battle_of_a_guest_with_a_bot_is_casual(self, seated: Table) -> None:
        assert not ended(after(seated, ("Anna", Start()), *PLIES), "Anna").rated

    def test_match_with_a_bot_is_not_between_members(self, played: Table, rated: Table) -> None:
        assert rated.match
        assert played.match
        assert rated.match.is_between_members
        assert not played.match.is_between_members

    def test_bot_of_level_zero_is_rated_as_a_bot(self, empty: Table) -> None:
        bots = ("Anna", Join(Side.DWARF, level=3)), ("Bert", Join(Side.TROLL, level=0))
        end = ended(after(empty, *bots, ("Anna", Start()), *PLIES), "Anna")
        assert (end.rated, end.levels) == (True, Levels(3, 0))

    def test_bot_keeps_its_level_in_the_second_battle(self, played: Table) -> None:
        table = after(played, ("Anna", Resign()), ("Anna", Start()))
        assert table.match
        assert table.levels == table.match.levels == Levels(dwarf=3)

    def test_bot_keeps_its_level_in_a_resumed_match(self, played: Table) -> None:
        away = after(played, ("Anna", Adjourn()), ("Bert", Adjourn()))
        assert away.levels == NO_BOTS
        assert played.match
        table = away.apply(Resumed(LATER, "Anna", played.match.saved()))
        assert table.levels == Levels(troll=3)
        assert table.match == played.match

    def test_bot_seat_can_pass_to_a_person_or_another_level(self, seated: Table) -> None:
        left = after(seated, ("Bert", Leave()))
        assert left.levels == NO_BOTS
        assert after(left, SEATED[1]).levels == NO_BOTS
        assert after(left, ("Bert", Join(Side.TROLL, level=5))).levels == Levels(troll=5)

    def test_bot_joining_in_mid_battle_makes_it_unrated(self, rated: Table) -> None:
        end = ended(after(bert_left(rated), ("Grog", Join(Side.TROLL, level=3))), "Anna")
        assert (end.troll, end.levels, end.rated) == ("Grog", Levels(troll=3), False)

    def test_bot_returning_at_another_level_makes_the_battle_unrated(self, played: Table) -> None:
        left = bert_left(played)
        assert ended(left, "Anna").levels == Levels(troll=3)
        assert not ended(after(left, ("Bert", Join(Side.TROLL, level=5))), "Anna").rated
        assert ended(after(left, ("Bert", Join(Side.TROLL, level=3))), "Anna").rated
