"""Whom a player ignores, and what they are told of them still."""

from __future__ import annotations

import pytest

from tests.game.conftest import NOW
from tests.game.halls import StoredHall, commit, do, enter, hall_of, lose, refusal
from thudmud.features.matchmaking.commands import Invite
from thudmud.features.people.commands import Ignore, Unignore
from thudmud.features.playing.moves import Start, Undo
from thudmud.features.playing.seats import Join, Leave
from thudmud.features.rooms.commands import Go
from thudmud.features.talk.commands import Emote, Say, Tell
from thudmud.game.asides import CameIn, Gone, Told, WentOut
from thudmud.game.command import Command
from thudmud.game.decisions import arrive
from thudmud.game.hall import Decision
from thudmud.game.options import Profile
from thudmud.game.refusals import Refusal
from thudmud.rules import Side


@pytest.fixture
def hall() -> StoredHall:
    """Return a hall in which Anna ignores Bert, and Carla nobody."""
    hall = hall_of("Anna", "Bert", "Carla")
    do(hall, "Anna", Ignore("bert"))
    return hall


def hear(hall: StoredHall, player: str, command: Command) -> set[str]:
    """Return who is told anything of what a player does."""
    return {name for telling in do(hall, player, command) for name in telling.audience}


@pytest.mark.parametrize("command", [Say("hello"), Emote("waves")])
def test_what_is_said_to_all(hall: StoredHall, command: Command) -> None:
    assert hear(hall, "Bert", command) == {"Bert", "Carla"}
    assert hear(hall, "Anna", command) == {"Anna", "Bert", "Carla"}
    do(hall, "Anna", Unignore("BERT"))
    assert hear(hall, "Bert", command) == {"Anna", "Bert", "Carla"}


@pytest.mark.parametrize("command", [Tell("anna", "hello"), Invite("anna", None, "oak board")])
def test_what_is_said_to_them_alone(hall: StoredHall, command: Command) -> None:
    assert refusal(hall, "Bert", command) is Refusal.NOT_LISTENING
    assert hear(hall, "Carla", command) == {"Anna", "Carla"}


def test_what_was_said_on_a_node_that_did_not_know_of_it_yet(hall: StoredHall) -> None:
    [told] = commit(hall, [Decision("Bert", asides=(Told("Bert", "Anna", "hello"),))])
    assert told.audience == ("Bert",)


def test_they_can_be_told_something_themselves(hall: StoredHall) -> None:
    assert hear(hall, "Anna", Tell("bert", "hello")) == {"Anna", "Bert"}
    assert hear(hall, "Anna", Invite("bert", None, "oak board")) == {"Anna", "Bert"}


def test_coming_and_going_in_the_hall(hall: StoredHall) -> None:
    out, came = do(hall, "Bert", Go("oak board"))
    assert (out.event, out.audience) == (WentOut("Bert", None, "oak board"), ("Carla",))
    assert came.audience == ("Bert",)
    _, came = do(hall, "Bert", Go())
    assert (came.event, came.audience) == (CameIn("Bert", None), ("Bert", "Carla"))
    [gone] = lose(hall, "Bert")
    assert isinstance(gone.event, Gone)
    assert gone.audience == ("Bert", "Carla")
    [entered] = enter(hall, "Bert")
    assert set(entered.audience) == {"Bert", "Carla"}


def test_coming_and_going_where_one_only_watches(hall: StoredHall) -> None:
    do(hall, "Anna", Go("oak board"))
    assert "Anna" not in hear(hall, "Bert", Go("oak board"))
    assert "Anna" not in hear(hall, "Bert", Go())


def test_at_ones_own_board_all_but_words_is_told(hall: StoredHall) -> None:
    do(hall, "Anna", Join(Side.DWARF, "oak board"))
    assert "Anna" in hear(hall, "Bert", Go("oak board"))
    for command in (Join(Side.TROLL), Start(), Go(), Go("oak board")):
        assert "Anna" in hear(hall, "Bert", command)
    assert hear(hall, "Bert", Say("good luck")) == {"Bert"}
    do(hall, "Anna", Go())
    assert hear(hall, "Bert", Say("where are you?")) == {"Bert"}
    assert "Anna" in hear(hall, "Bert", Leave())


def test_others_at_the_board_hear_all(hall: StoredHall) -> None:
    do(hall, "Anna", Join(Side.DWARF, "oak board"))
    do(hall, "Bert", Join(Side.TROLL, "oak board"))
    do(hall, "Carla", Go("oak board"))
    assert hear(hall, "Bert", Say("hello")) == {"Bert", "Carla"}
    # Ignoring goes one way.
    assert hear(hall, "Anna", Say("hello")) == {"Anna", "Bert", "Carla"}
    do(hall, "Bert", Start())
    assert refusal(hall, "Bert", Undo()) is Refusal.NO_PLY_YET


def test_somebody_who_comes_later_under_that_name_in_any_case(hall: StoredHall) -> None:
    [told] = do(hall, "Anna", Ignore("mallory"))
    assert told.audience == ("Anna",)
    assert hall.people["Anna"].ignored == ("Bert", "Mallory")
    enter(hall, "MALLORY")
    assert hear(hall, "MALLORY", Say("hello")) == {"MALLORY", "Bert", "Carla"}
    assert refusal(hall, "Anna", Ignore("mallory")) is Refusal.IGNORED_ALREADY


def test_the_beginning_of_a_name_is_enough(hall: StoredHall) -> None:
    do(hall, "Anna", Ignore("car"))
    assert hall.people["Anna"].ignored == ("Bert", "Carla")
    do(hall, "Anna", Ignore("Bertram"))
    assert refusal(hall, "Anna", Unignore("be")) is Refusal.WHICH_PLAYER
    do(hall, "Anna", Unignore("bert"))
    do(hall, "Anna", Unignore("be"))
    do(hall, "Anna", Unignore("c"))
    assert not hall.people["Anna"].ignored
    assert refusal(hall, "Anna", Unignore("c")) is Refusal.NOT_IGNORED


@pytest.mark.parametrize("words", ["bert!", "no-name", "x" * 81])
def test_what_is_nobodys_name(hall: StoredHall, words: str) -> None:
    assert refusal(hall, "Anna", Ignore(words)) is Refusal.NO_SUCH_PLAYER


def test_a_list_lasts_as_long_as_the_visit(hall: StoredHall) -> None:
    lose(hall, "Anna")
    assert hear(hall, "Bert", Say("hello")) == {"Bert", "Carla"}
    enter(hall, "Anna")
    assert hall.people["Anna"].ignored == ()
    assert hear(hall, "Bert", Say("hello")) == {"Anna", "Bert", "Carla"}


def test_a_list_stays_with_a_seat_that_is_kept(hall: StoredHall) -> None:
    do(hall, "Anna", Join(Side.DWARF, "oak board"))
    do(hall, "Bert", Join(Side.TROLL, "oak board"))
    do(hall, "Bert", Start())
    lose(hall, "Anna")
    enter(hall, "Anna")
    assert refusal(hall, "Bert", Tell("anna", "hello")) is Refusal.NOT_LISTENING


def test_a_list_that_was_kept_holds_at_once() -> None:
    hall = hall_of("Bert")
    profile = Profile(ignored=("BERT", "Zoe"))
    commit(hall, arrive(hall, "Anna", NOW, profile, member=True))
    assert refusal(hall, "Bert", Tell("anna", "hello")) is Refusal.NOT_LISTENING
    assert hear(hall, "Bert", Say("hello")) == {"Bert"}
