"""Following players: lists, notices of arrivals and matches, and plans."""

from __future__ import annotations

import pytest

from tests.game.halls import StoredHall, do, enter, hall_of, lose, refusal
from thudmud.features.matchmaking.commands import Challenge
from thudmud.features.people.commands import (
    Follow,
    FollowChosen,
    Ignore,
    Plan,
    PlanChosen,
    Unfollow,
)
from thudmud.features.playing.moves import Adjourn, Start
from thudmud.features.playing.resuming import Resume
from thudmud.features.playing.seats import Join, Practice
from thudmud.features.rooms.commands import Go, Look, Observe
from thudmud.game.asides import Entered, FollowedBegan, FollowedCame
from thudmud.game.delivery import Delivery
from thudmud.game.refusals import Refusal
from thudmud.rules import Side


@pytest.fixture
def hall() -> StoredHall:
    """Return a hall in which Carla, at the pine board, follows Anna and Bert."""
    hall = hall_of("Anna", "Bert", "Carla")
    for name in ("anna", "bert"):
        do(hall, "Carla", Follow(name))
    do(hall, "Carla", Go("pine board"))
    return hall


def followed(tellings: list[Delivery]) -> list[tuple[object, tuple[str, ...]]]:
    """Return the events of the follow notices among some deliveries, with their recipients."""
    kinds = FollowedCame | FollowedBegan
    return [(each.event, each.recipients) for each in tellings if isinstance(each.event, kinds)]


def sit(hall: StoredHall) -> None:
    do(hall, "Anna", Join(Side.DWARF, "oak board"))
    do(hall, "Bert", Join(Side.TROLL, "oak board"))


def test_follow_and_unfollow() -> None:
    hall = hall_of("Anna", "Bert")
    [told] = do(hall, "Anna", Follow("be"))
    assert told.event == FollowChosen("Anna", "Bert", ("Bert",))
    assert told.recipients == ("Anna",)
    [told] = do(hall, "Anna", Follow("dora"))
    assert told.event == FollowChosen("Anna", "Dora", ("Bert", "Dora"), is_here=False)
    assert refusal(hall, "Anna", Follow("BERT")) is Refusal.FOLLOWED_ALREADY
    [told] = do(hall, "Anna", Unfollow("d"))
    assert told.event == FollowChosen("Anna", "Dora", ("Bert",), is_here=False)
    assert refusal(hall, "Anna", Unfollow("dora")) is Refusal.NOT_FOLLOWED


def test_arrival_of_a_followed_player_is_announced(hall: StoredHall) -> None:
    lose(hall, "Bert")
    came = FollowedCame("Bert", None)
    assert followed(enter(hall, "Bert")) == [(came, ("Carla",))]


def test_arrival_seen_in_the_hall_is_not_announced_twice(hall: StoredHall) -> None:
    do(hall, "Carla", Go())
    lose(hall, "Bert")
    entered, *_ = told = enter(hall, "Bert")
    assert isinstance(entered.event, Entered)
    assert "Carla" in entered.recipients
    assert followed(told) == []


def test_return_of_a_followed_player_to_a_seat_is_announced(hall: StoredHall) -> None:
    sit(hall)
    do(hall, "Anna", Start())
    lose(hall, "Bert")
    assert followed(enter(hall, "Bert")) == [(FollowedCame("Bert", "oak board"), ("Carla",))]
    lose(hall, "Bert")
    do(hall, "Carla", Observe("oak board"))
    assert followed(enter(hall, "Bert")) == []  # observers see "Bert is back"


def test_match_of_two_followed_players_is_announced_once(hall: StoredHall) -> None:
    sit(hall)
    began = FollowedBegan("Anna", "oak board", "Anna", "Bert")
    assert followed(do(hall, "Anna", Start())) == [(began, ("Carla",))]
    do(hall, "Anna", Adjourn())
    do(hall, "Bert", Adjourn())
    resumed = FollowedBegan("Bert", "oak board", "Anna", "Bert", resumed=True)
    do(hall, "Anna", Resume())
    assert followed(do(hall, "Bert", Resume())) == [(resumed, ("Carla",))]


def test_match_from_a_challenge_is_announced(hall: StoredHall) -> None:
    do(hall, "Anna", Challenge("bert"))
    [(began, audience)] = followed(do(hall, "Bert", Challenge("anna")))
    assert isinstance(began, FollowedBegan)
    assert began.board not in {"oak board", "pine board", "elm table"}
    assert audience == ("Carla",)


def test_observer_of_the_board_gets_no_follow_notice(hall: StoredHall) -> None:
    sit(hall)
    do(hall, "Carla", Observe("oak board"))
    assert followed(do(hall, "Anna", Start())) == []


def test_practice_of_a_followed_player_is_not_announced(hall: StoredHall) -> None:
    assert followed(do(hall, "Anna", Practice(on="elm table"))) == []


@pytest.mark.parametrize(("who", "whom"), [("Bert", "carla"), ("Carla", "bert")])
def test_follow_notice_is_suppressed_by_ignoring(hall: StoredHall, who: str, whom: str) -> None:
    do(hall, "Carla", Unfollow("anna"))
    do(hall, who, Ignore(whom))
    sit(hall)
    assert followed(do(hall, "Anna", Start())) == []
    hall.people["Bert"].ignored, ignored = (), hall.people["Bert"].ignored
    lose(hall, "Bert")
    hall.people.left["Bert"].ignored = ignored
    assert followed(enter(hall, "Bert")) == []


def test_departed_follower_gets_no_notice(hall: StoredHall) -> None:
    lose(hall, "Carla")
    lose(hall, "Bert")
    assert followed(enter(hall, "Bert")) == []


def test_plan_can_be_set_and_cleared() -> None:
    hall = hall_of("Anna")
    hall.people["Anna"].is_member = True
    [told] = do(hall, "Anna", Plan("To win."))
    assert told.event == PlanChosen("Anna", "To win.")
    assert hall.people["Anna"].plan == "To win."
    for none in ("none", "-", "NONE"):
        do(hall, "Anna", Plan("To win."))
        do(hall, "Anna", Plan(none))
        assert not hall.people["Anna"].plan


def test_look_at_an_unknown_player_is_refused() -> None:
    assert refusal(hall_of("Anna"), "Anna", Look("dora")) is Refusal.NO_BOARD_HERE
