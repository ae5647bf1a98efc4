"""Invitations to a seat: who may invite whom; the wording is checked by the transcripts."""

from __future__ import annotations

import pytest

from tests.game.conftest import GRACE, NOW
from tests.game.halls import StoredHall, do, enter, hall_of, lose, refusal
from thudmud.features.matchmaking.commands import Invite
from thudmud.features.playing.moves import Start
from thudmud.features.playing.seats import Join
from thudmud.game.asides import Invited
from thudmud.game.delivery import Delivery
from thudmud.game.refusals import Refusal
from thudmud.rules import Side

OAK, PINE = "oak board", "pine board"


@pytest.fixture
def hall() -> StoredHall:
    return hall_of("Anna", "Bert", "Carla")


def test_invitation_reaches_only_both_players_and_takes_no_seat(hall: StoredHall) -> None:
    told = do(hall, "Anna", Invite("be", None, OAK))
    assert told == [Delivery(Invited("Anna", "Bert", OAK, Side.DWARF), ("Anna", "Bert"))]
    assert not hall.tables[OAK].seats
    assert hall.people["Anna"].last_board == OAK


@pytest.mark.parametrize("mine", Side)
def test_invitation_offers_the_free_seat(hall: StoredHall, mine: Side) -> None:
    do(hall, "Anna", Join(mine, OAK))
    (told,) = do(hall, "Anna", Invite("bert"))
    assert told.event == Invited("Anna", "Bert", OAK, mine.other)
    assert refusal(hall, "Anna", Invite("bert", mine)) is Refusal.SAME_SEAT
    assert refusal(hall, "Carla", Invite("bert", mine, OAK)) is Refusal.SEAT_NOT_FREE


def test_invitation_of_a_seated_player_is_refused(hall: StoredHall) -> None:
    do(hall, "Anna", Join(Side.DWARF, OAK))
    assert refusal(hall, "Bert", Invite("anna", None, OAK)) is Refusal.PLAYS_THERE
    assert refusal(hall, "Anna", Invite("anna")) is Refusal.INVITE_SELF
    do(hall, "Bert", Join(Side.TROLL, OAK))
    assert refusal(hall, "Anna", Invite("carla")) is Refusal.NO_SEAT_FREE
    assert refusal(hall, "Anna", Invite("dora")) is Refusal.NO_SUCH_PLAYER
    assert refusal(hall, "Carla", Invite("carla")) is Refusal.MATCH_SELF  # in the hall


def test_seat_is_free_after_its_grace_period(hall: StoredHall) -> None:
    do(hall, "Bert", Join(Side.TROLL, OAK))
    do(hall, "Anna", Join(Side.DWARF, OAK))
    lose(hall, "Bert")
    assert refusal(hall, "Anna", Invite("carla")) is Refusal.NO_SEAT_FREE
    later = NOW + GRACE
    assert refusal(hall, "Carla", Invite("anna", Side.TROLL, OAK), later) is Refusal.PLAYS_THERE
    (told,) = do(hall, "Anna", Invite("carla"), later)
    assert told.event == Invited("Anna", "Carla", OAK, Side.TROLL)
    do(hall, "Carla", Join(Side.TROLL, OAK), later)
    assert hall.tables[OAK].seats[Side.TROLL] == "Carla"


def test_seat_in_a_running_match_is_kept(hall: StoredHall) -> None:
    do(hall, "Anna", Join(Side.DWARF, OAK))
    do(hall, "Bert", Join(Side.TROLL, OAK))
    do(hall, "Anna", Start(OAK))
    lose(hall, "Bert")
    asked = Invite("carla", Side.TROLL, OAK)
    assert refusal(hall, "Anna", asked, NOW + 10 * GRACE) is Refusal.SEAT_NOT_FREE
    enter(hall, "Bert", NOW + 10 * GRACE)
    assert hall.tables[OAK].seats[Side.TROLL] == "Bert"
    (told,) = do(hall, "Anna", Invite("carla", None, PINE))
    assert told.event == Invited("Anna", "Carla", PINE, Side.DWARF)


def test_invitation_lasts_while_the_inviters_seat_is_kept(hall: StoredHall) -> None:
    do(hall, "Bert", Invite("carla", None, PINE))
    lose(hall, "Bert")
    assert not hall.people["Carla"].invitations
    do(hall, "Anna", Join(Side.DWARF, OAK))
    do(hall, "Anna", Invite("carla"))
    lose(hall, "Anna")
    assert list(hall.people["Carla"].invitations) == ["Anna"]
    enter(hall, "Bert", NOW + GRACE)
    do(hall, "Bert", Join(Side.DWARF, OAK), NOW + GRACE)
    assert not hall.people["Carla"].invitations
