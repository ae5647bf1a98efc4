"""Observing boards, and the audience of talk about a battle."""

from __future__ import annotations

import pytest

from tests.game.conftest import NOW
from tests.game.halls import StoredHall, do, enter, hall_of, lose, refusal
from thudmud.features.options.commands import SetToggle
from thudmud.features.people.commands import Ignore
from thudmud.features.playing.moves import Resign, Start
from thudmud.features.playing.seats import Join, Practice
from thudmud.features.rooms.commands import Go, Observe, Unobserve
from thudmud.features.talk.commands import Emote, Kibitz, Say, Whisper
from thudmud.features.talk.model import DeafNotice
from thudmud.game.asides import CameIn, ObserveChosen, Spoke
from thudmud.game.clocks import Clock, TimeControl
from thudmud.game.command import Command
from thudmud.game.decisions import is_limited
from thudmud.game.events import BoardClosed, BoardRenamed, Parting
from thudmud.game.options import Toggle
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import split_board
from thudmud.game.rooms import MOST_OBSERVED
from thudmud.game.table import BoardSpec
from thudmud.rules import Side
from thudmud.values import replace


def hear(hall: StoredHall, player: str, command: Command) -> set[str]:
    """Return the recipients of the first delivery that a command causes."""
    told = do(hall, player, command)[0].recipients
    assert len(set(told)) == len(told)  # one delivery per recipient
    return set(told)


def observed(hall: StoredHall, player: str) -> tuple[str, ...]:
    return hall.people[player].observed


@pytest.fixture
def hall() -> StoredHall:
    """Return a hall: Anna and Bert play, Carla watches them, Dora and Emil are in the hall."""
    hall = hall_of("Anna", "Bert", "Carla", "Dora", "Emil")
    do(hall, "Anna", Join(Side.DWARF, "oak board"))
    do(hall, "Bert", Join(Side.TROLL, "oak board"))
    do(hall, "Anna", Start())
    do(hall, "Carla", Go("oak board"))
    return hall


ALL = {"Anna", "Bert", "Carla", "Dora"}


def test_observer_receives_events_until_unobserving(hall: StoredHall) -> None:
    assert hear(hall, "Bert", Resign()) == {"Anna", "Bert", "Carla"}
    [told] = do(hall, "Dora", Observe("oak board"))
    assert told.event == ObserveChosen("Dora", "oak board", ("oak board",))
    assert told.recipients == ("Dora",)
    assert told.table is hall.tables["oak board"]
    assert hear(hall, "Bert", Start()) == ALL
    do(hall, "Anna", Start())
    do(hall, "Dora", Unobserve("oak"))
    assert hear(hall, "Bert", Resign()) == {"Anna", "Bert", "Carla"}


def test_observer_present_at_the_board_receives_events_once(hall: StoredHall) -> None:
    do(hall, "Dora", Observe("oak board"))
    assert hear(hall, "Dora", Go("oak board")) == {"Emil"}  # the only one left in the hall
    assert hear(hall, "Bert", Resign()) == ALL
    do(hall, "Dora", Go())
    assert hear(hall, "Bert", Start()) == ALL


def test_observer_does_not_see_arrivals_at_the_board(hall: StoredHall) -> None:
    do(hall, "Dora", Observe("oak board"))
    _, came = do(hall, "Emil", Go("oak board"))
    assert isinstance(came.event, CameIn)
    assert "Dora" not in came.recipients


def test_observed_boards_are_limited(hall: StoredHall) -> None:
    hall.tables.open(BoardSpec(f"{letter} slab") for letter in "qrstuvwxyz")
    names = ("oak board", *(f"{letter} slab" for letter in "qrstuvwxyz"))
    for name in names[:MOST_OBSERVED]:
        do(hall, "Dora", Observe(name))
    assert observed(hall, "Dora") == names[:MOST_OBSERVED]
    assert refusal(hall, "Dora", Observe(names[MOST_OBSERVED])) is Refusal.OBSERVES_TOO_MANY
    ended = [told.event for told in do(hall, "Dora", Unobserve())]
    assert [each.board for each in ended if isinstance(each, ObserveChosen)] == [
        *names[:MOST_OBSERVED]
    ]
    assert observed(hall, "Dora") == ()
    assert refusal(hall, "Dora", Unobserve()) is Refusal.OBSERVES_NOTHING


def test_observe_by_player_name(hall: StoredHall) -> None:
    do(hall, "Dora", Observe("ann"))
    assert observed(hall, "Dora") == ("oak board",)
    do(hall, "Dora", Unobserve("bert"))
    do(hall, "Anna", Join(Side.DWARF, "pine board"))  # no battle has begun there
    do(hall, "Dora", Observe("anna"))
    assert observed(hall, "Dora") == ("oak board",)
    lose(hall, "Bert")
    do(hall, "Emil", Observe("Bert"))  # the seat is reserved
    assert observed(hall, "Emil") == ("oak board",)


def test_observe_of_a_player_without_a_unique_board_is_refused(hall: StoredHall) -> None:
    assert refusal(hall, "Dora", Observe("carla")) is Refusal.PLAYS_NOWHERE
    assert refusal(hall, "Dora", Observe("zoe")) is Refusal.NOTHING_TO_OBSERVE
    do(hall, "Anna", Practice(on="pine board"))
    assert refusal(hall, "Dora", Observe("anna")) is Refusal.PLAYS_AT_SEVERAL


def test_observe_by_board_or_battle_number(hall: StoredHall) -> None:
    do(hall, "Dora", Observe("2"))
    assert observed(hall, "Dora") == ("pine board",)
    do(hall, "Dora", Observe("battle 1"))
    assert observed(hall, "Dora") == ("pine board", "oak board")
    assert refusal(hall, "Dora", Observe("battle 2")) is Refusal.NOT_RUNNING


def test_own_board_cannot_be_observed(hall: StoredHall) -> None:
    assert refusal(hall, "Anna", Observe("bert")) is Refusal.OBSERVES_OWN
    do(hall, "Dora", Observe("pine board"))
    do(hall, "Dora", Join(Side.DWARF, "pine board"))
    do(hall, "Dora", Go())
    assert hear(hall, "Emil", Join(Side.TROLL, "pine board")) == {"Dora"}  # Emil leaves the hall
    assert refusal(hall, "Dora", Observe("pine board")) is Refusal.OBSERVES_OWN


def test_observed_boards_are_forgotten_on_departure(hall: StoredHall) -> None:
    do(hall, "Dora", Observe("oak board"))
    lose(hall, "Dora", parting=Parting.QUIT)
    assert hear(hall, "Bert", Resign()) == {"Anna", "Bert", "Carla"}
    enter(hall, "Dora")
    assert observed(hall, "Dora") == ()
    assert hear(hall, "Bert", Start()) == {"Anna", "Bert", "Carla"}


def test_observed_board_is_tracked_when_renamed_or_closed(hall: StoredHall) -> None:
    do(hall, "Dora", Observe("pine board"))
    do(hall, "Dora", Observe("oak board"))
    do(hall, "Dora", Go("elm table"))
    [told] = hall.apply(BoardRenamed(NOW, "", "oak board", "yew board"))
    assert "Dora" in told.recipients
    assert observed(hall, "Dora") == ("pine board", "yew board")
    assert hear(hall, "Bert", Resign()) == ALL
    closed, ended = hall.apply(BoardClosed(NOW, "", "pine board"))
    assert "Dora" in closed.recipients
    assert (ended.event, ended.recipients) == (
        ObserveChosen("Dora", "pine board", ("yew board",)),
        ("Dora",),
    )
    assert observed(hall, "Dora") == ("yew board",)


# Talk.


def test_talk_of_players_reaches_all_watchers(hall: StoredHall) -> None:
    do(hall, "Dora", Observe("oak board"))
    assert hear(hall, "Anna", Say("Well!")) == ALL
    assert hear(hall, "Anna", Emote("sighs.")) == ALL
    do(hall, "Anna", Go())
    assert hear(hall, "Anna", Say("Hello, hall!")) == {"Anna", "Dora", "Emil"}


def rate(hall: StoredHall) -> None:
    """Make the match at the oak board a rated one."""
    table = hall.tables["oak board"]
    assert table.match
    hall.put("oak board", replace(table, match=replace(table.match, rated=True)))


def test_talk_of_watchers_reaches_players_of_a_casual_battle_without_a_clock(
    hall: StoredHall,
) -> None:
    do(hall, "Emil", Go("oak board"))
    do(hall, "Anna", Go())
    assert hear(hall, "Carla", Say("The trolls are lost.")) == {"Anna", "Bert", "Carla", "Emil"}
    assert len(do(hall, "Carla", Emote("yawns."))) == 1  # without a notice
    table = hall.tables["oak board"]
    assert table.match
    clock = Clock(TimeControl(60), NOW, Side.DWARF)
    hall.put("oak board", replace(table, match=replace(table.match, clock=clock)))
    assert hear(hall, "Carla", Say("The trolls are lost.")) == {"Carla", "Emil"}


def test_talk_of_watchers_is_hidden_from_players_in_a_battle(hall: StoredHall) -> None:
    rate(hall)
    do(hall, "Dora", Observe("oak board"))
    do(hall, "Emil", Go("oak board"))
    assert hear(hall, "Carla", Say("The trolls are lost.")) == {"Carla", "Emil"}
    assert hear(hall, "Carla", Emote("yawns.")) == {"Carla", "Emil"}
    do(hall, "Bert", SetToggle(Toggle.WATCHERS, value=True))
    assert hear(hall, "Carla", Say("The trolls are lost.")) == {"Bert", "Carla", "Emil"}
    do(hall, "Bert", Resign())
    assert hear(hall, "Carla", Say("So they are.")) == {"Anna", "Bert", "Carla", "Emil"}


def test_unheard_watcher_is_notified_once(hall: StoredHall) -> None:
    rate(hall)
    _, told = do(hall, "Carla", Say("Hello!"))
    assert (told.event, told.recipients) == (DeafNotice("Carla", "oak board"), ("Carla",))
    assert len(do(hall, "Carla", Emote("waves."))) == 1
    do(hall, "Emil", Go("oak board"))
    for player in ("Anna", "Bert"):
        do(hall, player, SetToggle(Toggle.WATCHERS, value=True))
    assert len(do(hall, "Emil", Say("Hello!"))) == 1  # the players hear it


def test_kibitz_reaches_all_and_whisper_only_watchers(hall: StoredHall) -> None:
    do(hall, "Dora", Observe("oak board"))
    for player in ("Anna", "Carla", "Dora"):
        assert hear(hall, player, Kibitz("Well!")) == ALL
    assert hear(hall, "Carla", Whisper("Well!")) == {"Carla", "Dora"}
    assert hear(hall, "Anna", Whisper("Well!")) == {"Anna", "Carla", "Dora"}
    do(hall, "Anna", Go())
    assert hear(hall, "Anna", Whisper("Well!")) == {"Anna", "Carla", "Dora"}
    assert hear(hall, "Bert", Kibitz("Well!")) == ALL


def test_kibitz_and_whisper_can_be_turned_off_or_ignored(hall: StoredHall) -> None:
    do(hall, "Dora", Observe("oak board"))
    for player in ("Bert", "Dora"):
        do(hall, player, SetToggle(Toggle.KIBITZ, value=False))
    assert hear(hall, "Carla", Kibitz("Well!")) == {"Anna", "Carla"}
    assert hear(hall, "Dora", Kibitz("Well!")) == {"Anna", "Carla", "Dora"}
    assert hear(hall, "Carla", Whisper("Well!")) == {"Carla", "Dora"}
    do(hall, "Dora", SetToggle(Toggle.WHISPER, value=False))
    assert hear(hall, "Carla", Whisper("Well!")) == {"Carla"}
    do(hall, "Anna", Ignore("carla"))
    assert hear(hall, "Carla", Kibitz("Well!")) == {"Carla"}


def test_kibitz_and_whisper_count_towards_the_talk_limit(hall: StoredHall) -> None:
    for command in (Kibitz("Well!"), Whisper("Well!")):
        [decision] = hall.decided("Carla", command, NOW)
        assert is_limited(hall, decision)
    [decision] = hall.decided("Carla", Observe("pine board"), NOW)
    assert not is_limited(hall, decision)


def test_kibitz_board_is_inferred_or_named(hall: StoredHall) -> None:
    assert refusal(hall, "Dora", Kibitz("Well!")) is Refusal.WATCHING_NOTHING
    assert refusal(hall, "Dora", Kibitz("Well! on oak")) is Refusal.NOT_WATCHING
    do(hall, "Dora", Observe("oak board"))
    do(hall, "Dora", Observe("pine board"))
    [told] = do(hall, "Dora", Kibitz("Well!"))
    assert told.event == Spoke("Dora", "pine board", "Well!", Toggle.KIBITZ)  # the last one
    [told] = do(hall, "Dora", Kibitz("Put pressure on A6 on oak"))
    assert told.event == Spoke("Dora", "oak board", "Put pressure on A6", Toggle.KIBITZ)
    do(hall, "Dora", Go("pine board"))
    [told] = do(hall, "Dora", Whisper("Nobody here"))
    assert told.event == Spoke("Dora", "pine board", "Nobody here", Toggle.WHISPER)


@pytest.mark.parametrize(
    ("text", "said", "words"),
    [
        ("Well done on oak", "Well done", "oak"),
        ("Well done on the Oak Board", "Well done", "the Oak Board"),
        ("Well done on 2nd board", "Well done", "2nd board"),
        ("Well done ON board 2!", "Well done", "board 2"),
        ("Put pressure on the board", "Put pressure on the board", None),
        ("Go on", "Go on", None),
        ("He is on fire", "He is on fire", None),
        ("Stand on A6", "Stand on A6", None),
        ("Go on 2", "Go on 2", None),
        ("on oak", "on oak", None),
    ],
)
def test_trailing_board_name_is_split_from_the_text(
    hall: StoredHall, text: str, said: str, words: str | None
) -> None:
    assert split_board(hall, text) == (said, words)


def test_practice_counts_towards_the_limit_only_if_observed(hall: StoredHall) -> None:
    do(hall, "Emil", Practice(on="pine board"))
    [decision] = hall.decided("Emil", Resign(), NOW)
    assert not is_limited(hall, decision)
    do(hall, "Dora", Observe("pine board"))
    assert is_limited(hall, decision)
