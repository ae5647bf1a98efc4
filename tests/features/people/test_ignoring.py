"""Ignored players: hidden messages, events that remain visible, and ignore lists."""

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
from thudmud.game.decisions import decide_arrival
from thudmud.game.hall import Decision
from thudmud.game.options import Profile
from thudmud.game.refusals import Refusal
from thudmud.rules import Side


@pytest.fixture
def hall() -> StoredHall:
    """Return a hall in which Anna ignores Bert and Carla ignores nobody."""
    hall = hall_of("Anna", "Bert", "Carla")
    do(hall, "Anna", Ignore("bert"))
    return hall


def hear(hall: StoredHall, player: str, command: Command) -> set[str]:
    """Return everyone notified of a player's command."""
    return {name for telling in do(hall, player, command) for name in telling.recipients}


@pytest.mark.parametrize("command", [Say("hello"), Emote("waves")])
def test_public_talk_of_an_ignored_player_is_hidden(hall: StoredHall, command: Command) -> None:
    assert hear(hall, "Bert", command) == {"Bert", "Carla"}
    assert hear(hall, "Anna", command) == {"Anna", "Bert", "Carla"}
    do(hall, "Anna", Unignore("BERT"))
    assert hear(hall, "Bert", command) == {"Anna", "Bert", "Carla"}


@pytest.mark.parametrize("command", [Tell("anna", "hello"), Invite("anna", None, "oak board")])
def test_private_talk_of_an_ignored_player_is_refused(hall: StoredHall, command: Command) -> None:
    assert refusal(hall, "Bert", command) is Refusal.NOT_LISTENING
    assert hear(hall, "Carla", command) == {"Anna", "Carla"}


def test_tell_from_a_node_unaware_of_the_ignore_is_dropped(hall: StoredHall) -> None:
    [told] = commit(hall, [Decision("Bert", asides=(Told("Bert", "Anna", "hello"),))])
    assert told.recipients == ("Bert",)


def test_ignored_player_can_still_be_addressed(hall: StoredHall) -> None:
    assert hear(hall, "Anna", Tell("bert", "hello")) == {"Anna", "Bert"}
    assert hear(hall, "Anna", Invite("bert", None, "oak board")) == {"Anna", "Bert"}


def test_movements_of_an_ignored_player_in_the_hall_are_hidden(hall: StoredHall) -> None:
    out, came = do(hall, "Bert", Go("oak board"))
    assert (out.event, out.recipients) == (WentOut("Bert", None, "oak board"), ("Carla",))
    assert came.recipients == ("Bert",)
    _, came = do(hall, "Bert", Go())
    assert (came.event, came.recipients) == (CameIn("Bert", None), ("Bert", "Carla"))
    [gone] = lose(hall, "Bert")
    assert isinstance(gone.event, Gone)
    assert gone.recipients == ("Bert", "Carla")
    [entered] = enter(hall, "Bert")
    assert set(entered.recipients) == {"Bert", "Carla"}


def test_movements_of_an_ignored_player_at_a_watched_board_are_hidden(hall: StoredHall) -> None:
    do(hall, "Anna", Go("oak board"))
    assert "Anna" not in hear(hall, "Bert", Go("oak board"))
    assert "Anna" not in hear(hall, "Bert", Go())


def test_events_at_own_board_are_shown_except_talk(hall: StoredHall) -> None:
    do(hall, "Anna", Join(Side.DWARF, "oak board"))
    assert "Anna" in hear(hall, "Bert", Go("oak board"))
    for command in (Join(Side.TROLL), Start(), Go(), Go("oak board")):
        assert "Anna" in hear(hall, "Bert", command)
    assert hear(hall, "Bert", Say("good luck")) == {"Bert"}
    do(hall, "Anna", Go())
    assert hear(hall, "Bert", Say("where are you?")) == {"Bert"}
    assert "Anna" in hear(hall, "Bert", Leave())


def test_ignoring_is_one_way_and_does_not_affect_others(hall: StoredHall) -> None:
    do(hall, "Anna", Join(Side.DWARF, "oak board"))
    do(hall, "Bert", Join(Side.TROLL, "oak board"))
    do(hall, "Carla", Go("oak board"))
    assert hear(hall, "Bert", Say("hello")) == {"Bert", "Carla"}
    # Ignoring is one-way.
    assert hear(hall, "Anna", Say("hello")) == {"Anna", "Bert", "Carla"}
    do(hall, "Bert", Start())
    assert refusal(hall, "Bert", Undo()) is Refusal.NO_PLY_YET


def test_ignored_name_applies_to_later_arrivals_in_any_case(hall: StoredHall) -> None:
    [told] = do(hall, "Anna", Ignore("mallory"))
    assert told.recipients == ("Anna",)
    assert hall.people["Anna"].ignored == ("Bert", "Mallory")
    enter(hall, "MALLORY")
    assert hear(hall, "MALLORY", Say("hello")) == {"MALLORY", "Bert", "Carla"}
    assert refusal(hall, "Anna", Ignore("mallory")) is Refusal.IGNORED_ALREADY


def test_ignore_and_unignore_accept_name_prefixes(hall: StoredHall) -> None:
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
def test_ignore_with_an_invalid_name_is_refused(hall: StoredHall, words: str) -> None:
    assert refusal(hall, "Anna", Ignore(words)) is Refusal.NO_SUCH_PLAYER


def test_ignore_list_of_a_guest_ends_with_the_session(hall: StoredHall) -> None:
    lose(hall, "Anna")
    assert hear(hall, "Bert", Say("hello")) == {"Bert", "Carla"}
    enter(hall, "Anna")
    assert hall.people["Anna"].ignored == ()
    assert hear(hall, "Bert", Say("hello")) == {"Anna", "Bert", "Carla"}


def test_ignore_list_survives_with_a_reserved_seat(hall: StoredHall) -> None:
    do(hall, "Anna", Join(Side.DWARF, "oak board"))
    do(hall, "Bert", Join(Side.TROLL, "oak board"))
    do(hall, "Bert", Start())
    lose(hall, "Anna")
    enter(hall, "Anna")
    assert refusal(hall, "Bert", Tell("anna", "hello")) is Refusal.NOT_LISTENING


def test_stored_ignore_list_applies_on_arrival() -> None:
    hall = hall_of("Bert")
    profile = Profile(ignored=("BERT", "Zoe"))
    commit(hall, decide_arrival(hall, "Anna", NOW, profile, member=True))
    assert refusal(hall, "Bert", Tell("anna", "hello")) is Refusal.NOT_LISTENING
    assert hear(hall, "Bert", Say("hello")) == {"Bert"}
