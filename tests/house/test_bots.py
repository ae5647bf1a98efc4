"""Bots in a house: their own actions, and plies computed by the caller."""

from __future__ import annotations

import pytest

from thudmud import BoardSpec, House
from thudmud.bots.pace import LONGEST
from thudmud.errors import InvalidValueError
from thudmud.house import BotTurn

NOW = 1_800_000_000.0
BOTS = {"Grog": "Granite", "Tunk": "1"}


def begun(bots: dict[str, str] = BOTS) -> House:
    house = House([BoardSpec("oak board")], bots=bots)
    house.enter("Anna", NOW, room="oak board")
    for line in ("join game as dwarf", "invite grog level 2", "start", "move a6 b6"):
        house.obey("Anna", line, NOW)
    return house


def turn_of(house: House) -> BotTurn:
    (turn,) = house.bot_turns
    return turn


def test_invited_bot_sits_down_and_waits_for_its_ply() -> None:
    house = begun()
    turn = turn_of(house)
    assert (turn.bot, turn.task.board, turn.task.level) == ("Grog", "oak board", 2)
    assert [*house.hall.tables["oak board"].seats.values()] == ["Anna", "Grog"]
    (told,) = house.play_bot(turn, "TG7-F7", NOW + 1, 0)
    assert told.to == ("Anna",)
    assert "Grog moves the troll from G7 to F7. It is your turn." in " ".join(told.text.split())
    assert house.bot_turns == []


def test_pause_before_a_weak_bot_is_longer_than_usual() -> None:
    house = begun()
    turn = turn_of(house)
    assert 1 < house.pause_before_bot(turn, 1.0) <= LONGEST
    assert house.pause_before_bot(BotTurn("Mog", turn.task), 1.0) == 1.0


def test_bot_ply_for_an_outdated_position_is_ignored() -> None:
    house = begun()
    turn = turn_of(house)
    house.obey("Anna", "undo", NOW)  # a bot agrees at once
    game = house.game("oak board")
    assert game is not None
    assert game.moves == ()
    assert house.play_bot(turn, "TG7-F7", NOW) == []
    assert house.game("oak board") == game


@pytest.mark.parametrize("ply", ["TG7-O15", "dA6-B6", "resign"])
def test_illegal_bot_ply_raises_and_changes_nothing(ply: str) -> None:
    house = begun()
    before = house.events()
    with pytest.raises(ValueError, match=r"."):
        house.play_bot(turn_of(house), ply, NOW)
    assert house.events() == before


def test_bot_turn_survives_a_restart_of_the_house() -> None:
    house = begun()
    turn = turn_of(house)
    again = House([BoardSpec("oak board")], events=house.events(), bots=BOTS)
    assert again.bot_turns == []  # nobody has entered, and the time is unknown
    again.enter("Anna", NOW + 5, room="oak board")
    again.mark_absent_players(NOW + 5)
    assert turn_of(again) == turn
    assert again.people == ("Grog", "Tunk", "Anna")
    assert again.play_bot(turn, "TG7-F7", NOW + 6)


def test_bot_leaves_the_start_of_a_battle_to_a_person() -> None:
    house = House([BoardSpec("oak board")], bots=BOTS)
    house.enter("Anna", NOW, room="oak board")
    for line in ("join game as dwarf", "invite grog"):
        house.obey("Anna", line, NOW)
    assert house.due is None


def test_bots_play_each_other() -> None:
    house = House([BoardSpec("oak board")], bots=BOTS)
    house.enter("Anna", NOW, room="oak board")
    for line in ("invite grog as dwarf", "invite tunk as troll"):
        house.obey("Anna", line, NOW)
    house.pass_time(NOW + 100)
    for ply in ("dA6-B6", "TG7-F7", "dB6-A6"):
        house.play_bot(turn_of(house), ply, NOW + 100)
    assert turn_of(house).bot == "Tunk"


def test_bot_name_is_reserved_and_unknown_level_is_rejected() -> None:
    with pytest.raises(ValueError, match="Grog is already here"):
        begun().enter("grog", NOW)
    with pytest.raises(InvalidValueError, match="unknown level 'Jelly'"):
        House([BoardSpec("oak board")], bots={"Grog": "Jelly"})
