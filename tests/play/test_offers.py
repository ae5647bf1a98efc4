"""What needs both players' word: adjourning, taking back; and how it is declined."""

from __future__ import annotations

from itertools import count

import pytest

from tests.play.conftest import NOW, STARTED, after, events, ply, refusal, without
from thudmud.play.events import Adjourned, Declined, Moved, Offer, Offered, OfferLapsed, TakenBack
from thudmud.play.match import Match
from thudmud.play.refusals import Refusal
from thudmud.play.table import BoardSpec, Table
from thudmud.rules import EVERY, Attempt, Game, Move, Side, Square, Verb
from thudmud.verbs.matchmaking import No
from thudmud.verbs.moves import Adjourn, End, Play, Start, Undo
from thudmud.verbs.seats import Join, Leave
from thudmud.verbs.tables import TableCommand

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
    def test_it_needs_both(self, started: Table) -> None:
        assert events(started, "Anna", Adjourn()) == [Offered(NOW, "Anna", Offer.ADJOURN)]
        table = after(started, ("Anna", Adjourn()))
        assert refusal(table, "Anna", Adjourn()) is Refusal.ALREADY_OFFERED
        assert events(table, "Bert", Adjourn()) == [
            Adjourned(NOW, "Bert", match(started).saved()),
        ]

    def test_the_board_is_as_new(self, replied: Table) -> None:
        table = after(replied, ("Anna", Adjourn()), ("Bert", Adjourn()))
        new = Table.set_up(BoardSpec("oak board"), 200, 300.0)
        assert (table.match, table.seats, table.offers, table.away) == (None, {}, {}, {})
        assert (table.ruleset, table.quiet_limit, table.seat_grace) == (
            new.ruleset,
            new.quiet_limit,
            new.seat_grace,
        )
        assert table.version == replied.version + 2

    def test_all_of_a_match_is_put_away(self, replied: Table) -> None:
        (adjourned,) = events(after(replied, ("Bert", Adjourn())), "Anna", Adjourn())
        assert isinstance(adjourned, Adjourned)
        assert Match.restored(adjourned.match) == replied.match
        assert len(adjourned.match.moves) == 2

    def test_between_the_battles(self, first_over: Table) -> None:
        (adjourned,) = events(after(first_over, ("Bert", Adjourn())), "Anna", Adjourn())
        assert isinstance(adjourned, Adjourned)
        restored = Match.restored(adjourned.match)
        assert restored == first_over.match
        assert not restored.running
        assert restored.points(Side.DWARF) == 32

    def test_in_the_second_battle(self, first_over: Table) -> None:
        table = after(first_over, ("Anna", Start()), ("Bert", Adjourn()))
        (adjourned,) = events(table, "Anna", Adjourn())
        assert isinstance(adjourned, Adjourned)
        assert (adjourned.match.battle, adjourned.match.before) == (2, (32, 32))
        assert (adjourned.match.dwarf, adjourned.match.troll) == ("Bert", "Anna")

    def test_a_ply_lapses_it(self, started: Table) -> None:
        table = after(started, ("Bert", Adjourn()))
        lapsed, moved = events(table, *A_PLY)
        assert lapsed == OfferLapsed(NOW, "Anna", Offer.ADJOURN)
        assert isinstance(moved, Moved)
        assert after(table, A_PLY).offers == {}

    def test_the_end_of_a_battle_lapses_it(self, started: Table) -> None:
        table = after(started, ("Bert", Adjourn()), ("Bert", End()), ("Anna", End()))
        assert table.offers == {}

    def test_it_needs_two_and_a_match(
        self, seated: Table, started: Table, match_over: Table
    ) -> None:
        assert refusal(seated, "Anna", Adjourn()) is Refusal.NO_MATCH
        assert refusal(match_over, "Anna", Adjourn()) is Refusal.NO_MATCH
        alone = after(started, ("Bert", Leave()))
        assert refusal(alone, "Anna", Adjourn()) is Refusal.NOBODY_TO_AGREE
        assert refusal(started, "Carla", Adjourn()) is Refusal.NOT_SEATED

    def test_who_is_away_has_agreed_by_offering(self, started: Table) -> None:
        table = without(after(started, ("Bert", Adjourn())), "Bert")
        (adjourned,) = events(table, "Anna", Adjourn())
        assert isinstance(adjourned, Adjourned)


class TestTakingBack:
    def test_it_needs_both(self, replied: Table) -> None:
        assert events(replied, "Bert", Undo()) == [Offered(NOW, "Bert", Offer.UNDO)]
        table = after(replied, ("Bert", Undo()))
        assert refusal(table, "Bert", Undo()) is Refusal.ALREADY_OFFERED
        assert game(table) == game(replied)

    def test_the_last_ply_of_ones_own(self, started: Table, replied: Table) -> None:
        table = after(replied, ("Bert", Undo()))
        last = game(replied).moves[1:]
        assert events(table, "Anna", Undo()) == [TakenBack(NOW, "Anna", Side.TROLL, last)]
        assert game(after(table, ("Anna", Undo()))) == game(after(started, A_PLY))

    def test_the_reply_goes_with_it(self, started: Table, replied: Table) -> None:
        table = after(replied, ("Anna", Undo()))
        both = game(replied).moves
        assert events(table, "Bert", Undo()) == [TakenBack(NOW, "Bert", Side.DWARF, both)]
        assert game(after(table, ("Bert", Undo()))) == game(started)

    def test_the_first_ply(self, started: Table) -> None:
        table = after(started, A_PLY, ("Anna", Undo()), ("Bert", Undo()))
        assert game(table) == game(started)
        assert table.offers == {}

    def test_several_one_after_the_other(self, started: Table, replied: Table) -> None:
        once = after(replied, ("Bert", Undo()), ("Anna", Undo()))
        twice = after(once, ("Anna", Undo()), ("Bert", Undo()))
        assert game(twice) == game(started)
        assert refusal(twice, "Anna", Undo()) is Refusal.NO_PLY_YET

    def test_without_a_ply_of_ones_own(self, started: Table) -> None:
        assert refusal(started, "Anna", Undo()) is Refusal.NO_PLY_YET
        assert refusal(started, "Bert", Undo()) is Refusal.NO_PLY_YET
        assert refusal(after(started, A_PLY), "Bert", Undo()) is Refusal.NO_PLY_YET

    def test_only_while_a_battle_is_running(
        self, seated: Table, replied: Table, match_over: Table
    ) -> None:
        assert refusal(seated, "Anna", Undo()) is Refusal.NO_BATTLE
        over = after(replied, ("Anna", End()), ("Bert", End()))
        for table in (over, match_over, after(over, ("Bert", Leave()))):
            assert refusal(table, "Anna", Undo()) is Refusal.OVER_FOR_GOOD
            assert refusal(table, "Carla", Undo()) is Refusal.NOT_SEATED

    def test_it_needs_two(self, replied: Table) -> None:
        table = after(replied, ("Bert", Leave()))
        assert refusal(table, "Anna", Undo()) is Refusal.NOBODY_TO_AGREE
        assert refusal(replied, "Carla", Undo()) is Refusal.NOT_SEATED

    def test_somebody_else_in_the_seat_is_not_asked_for_what_was_offered_before(
        self, replied: Table
    ) -> None:
        table = after(replied, ("Anna", Undo()), ("Bert", Leave()), ("Carla", Join(Side.TROLL)))
        assert events(table, "Carla", Undo()) == [Offered(NOW, "Carla", Offer.UNDO)]

    def test_a_ply_lapses_it(self, replied: Table) -> None:
        table = after(replied, ("Bert", Undo()))
        lapsed, moved = events(table, "Anna", ply("A9", "B9"))
        assert lapsed == OfferLapsed(NOW, "Anna", Offer.UNDO)
        assert isinstance(moved, Moved)
        table = after(table, ("Anna", ply("A9", "B9")))
        assert events(table, "Anna", Undo()) == [Offered(NOW, "Anna", Offer.UNDO)]

    def test_other_offers_lapse_with_it(self, replied: Table) -> None:
        table = after(replied, ("Bert", Undo()), ("Anna", End()), ("Bert", Adjourn()))
        *lapsed, taken = events(table, "Anna", Undo())
        assert lapsed == [
            OfferLapsed(NOW, "Anna", Offer.END),
            OfferLapsed(NOW, "Anna", Offer.ADJOURN),
        ]
        assert isinstance(taken, TakenBack)
        assert after(table, ("Anna", Undo())).offers == {}

    def test_quiet_plies_are_counted_as_before(self) -> None:
        table = after(Table.set_up(BoardSpec("oak board"), 2), *STARTED, A_PLY, A_REPLY)
        assert table.quiet
        table = after(table, ("Bert", Undo()), ("Anna", Undo()))
        assert not table.quiet
        assert game(table).quiet_plies == 1

    def test_a_capture_is_given_back(self, started: Table) -> None:
        table = played(started, "move F15 F8", "shove G7 E7", "move G15 G10")
        before = played(started, "move F15 F8")
        table = after(table, ("Bert", Undo()), ("Anna", Undo()))
        assert game(table) == game(before)
        assert game(table).score == game(before).score
        assert game(table).quiet_plies == 1

    def test_the_plies_after_a_capture_are_quiet_again(self, started: Table) -> None:
        table = played(started, "move F15 F8", "shove G7 E7", "move G15 G10", "move H7 G7")
        assert game(table).quiet_plies == 2
        table = after(table, ("Bert", Undo()), ("Anna", Undo()))
        assert game(table).quiet_plies == 1

    def test_a_battle_goes_on_after_it(self, replied: Table) -> None:
        table = after(replied, ("Bert", Undo()), ("Anna", Undo()), ("Bert", ply("H7", "H6")))
        (moved,) = events(after(replied, ("Bert", Undo()), ("Anna", Undo())), *A_REPLY)
        assert isinstance(moved, Moved)
        assert moved.ply == 2
        assert len(game(table).moves) == 2

    def test_a_trample_is_taken_back(self) -> None:
        table, trample = before_a_trample()
        side = game(table).position.turn
        asker, other = table.seats[side], table.seats[side.other]
        played = table.apply(Moved(NOW, asker, side, trample, len(game(table).moves) + 1))
        assert game(played).quiet_plies != game(table).quiet_plies
        back = after(played, (asker, Undo()), (other, Undo()))
        assert game(back) == game(table)
        assert back.offers == {}


def before_a_trample() -> tuple[Table, Move]:
    """Return a table at which a troll can trample several dwarfs, and that ply."""
    table = after(Table.set_up(BoardSpec("elm table", "koom valley"), 200), *STARTED)
    for number in count(1):
        legal = game(table).legal_moves()
        tramples = [move for move in legal if move.trample and len(move.captures) > 1]
        if tramples:
            return table, tramples[0]
        side = game(table).position.turn
        move = legal[number * 7 % len(legal)]
        table = table.apply(Moved(NOW, table.seats[side], side, move, number))
    raise AssertionError


def played(table: Table, *said: str) -> Table:
    """Return the table after plies: verb, origin and target each."""
    for number, each in enumerate(said):
        verb, origin, target = each.split()
        captures = EVERY if verb == "shove" else None
        attempt = Attempt(Verb(verb), Square.parse(origin), Square.parse(target), captures)
        table = after(table, ("Bert" if number % 2 else "Anna", Play(attempt)))
    return table


class TestDeclining:
    @pytest.mark.parametrize(
        ("command", "offer"),
        [
            (End(), Offer.END),
            (Start(), Offer.RESTART),
            (Adjourn(), Offer.ADJOURN),
            (Undo(), Offer.UNDO),
        ],
        ids=str,
    )
    def test_what_the_other_has_offered(
        self, replied: Table, command: TableCommand, offer: Offer
    ) -> None:
        table = after(replied, ("Bert", command))
        assert events(table, "Anna", No()) == [Declined(NOW, "Anna", offer)]
        table = after(table, ("Anna", No()))
        assert table.offers == {}
        assert events(table, "Bert", command) == [Offered(NOW, "Bert", offer)]

    def test_all_of_it_at_once_and_nothing_of_ones_own(self, replied: Table) -> None:
        table = after(replied, ("Bert", End()), ("Anna", Adjourn()), ("Bert", Undo()))
        assert events(table, "Anna", No()) == [
            Declined(NOW, "Anna", Offer.END),
            Declined(NOW, "Anna", Offer.UNDO),
        ]
        assert after(table, ("Anna", No())).offers == {Offer.ADJOURN: Side.DWARF}

    def test_nothing_was_offered(self, seated: Table, replied: Table) -> None:
        for table in (seated, replied):
            assert refusal(table, "Anna", No()) is Refusal.NOTHING_OFFERED
        offered = after(replied, ("Anna", End()))
        assert refusal(offered, "Carla", No()) is Refusal.NOT_SEATED


class TestWithdrawing:
    @pytest.mark.parametrize(
        ("command", "offer"),
        [
            (End(), Offer.END),
            (Start(), Offer.RESTART),
            (Adjourn(), Offer.ADJOURN),
            (Undo(), Offer.UNDO),
        ],
        ids=str,
    )
    def test_what_oneself_has_offered(
        self, replied: Table, command: TableCommand, offer: Offer
    ) -> None:
        table = after(replied, ("Anna", command))
        assert events(table, "Anna", No()) == [OfferLapsed(NOW, "Anna", offer)]
        table = after(table, ("Anna", No()))
        assert table.offers == {}
        assert events(table, "Bert", command) == [Offered(NOW, "Bert", offer)]

    def test_all_of_it_at_once(self, replied: Table) -> None:
        table = after(replied, ("Anna", End()), ("Anna", Undo()))
        assert events(table, "Anna", No()) == [
            OfferLapsed(NOW, "Anna", Offer.END),
            OfferLapsed(NOW, "Anna", Offer.UNDO),
        ]

    def test_between_the_battles(self, first_over: Table) -> None:
        table = after(first_over, ("Anna", Adjourn()), ("Anna", No()))
        assert table.offers == {}

    def test_only_after_the_others_offers_are_declined(self, replied: Table) -> None:
        table = after(replied, ("Anna", Adjourn()), ("Bert", End()), ("Anna", No()))
        assert table.offers == {Offer.ADJOURN: Side.DWARF}
        assert after(table, ("Anna", No())).offers == {}
