"""An offer is announced once, with instructions only for the player who can accept it."""

from __future__ import annotations

import pytest

from thudmud.game.options import Switch
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.views import Message, Terminal

BOARDS = [BoardSpec("oak board"), BoardSpec("elm table")]
AGREE = "To agree, type"


def seen(messages: list[Message], name: str) -> str:
    """Return the text for a player, on one line."""
    return " ".join("\n".join(each.text for each in messages if name in each.to).split())


@pytest.fixture
def house() -> House:
    """Return a house in which Anna and Bert play while Carla is present."""
    house = House(BOARDS, seat_grace=0.0)
    for name in ("Anna", "Bert", "Carla"):
        house.enter(name, now=0.0)
    say(house, "Anna join game as dwarf on oak board", "Bert join game as troll on oak board")
    say(house, "Anna start")
    return house


def say(house: House, *lines: str) -> str:
    """Submit lines of the form "NAME COMMAND"; return the response to the last one."""
    told = ""
    for line in lines:
        name, _, typed = line.partition(" ")
        told = seen(house.obey(name, typed, 1.0), name)
    return told


class TestWatchers:
    @pytest.mark.parametrize("line", ["go to oak board", "look at oak board", "view on oak board"])
    @pytest.mark.parametrize("reader", [Switch.OFF, Switch.ON])
    def test_watcher_sees_the_offer_but_not_how_to_agree(
        self, house: House, line: str, reader: Switch
    ) -> None:
        say(house, f"Carla options reader {reader.value}", "Anna end")
        told = say(house, f"Carla {line}")
        assert "Anna offers to end the battle." in told
        assert AGREE not in told

    def test_opponent_sees_how_to_agree(self, house: House) -> None:
        say(house, "Anna end")
        assert f'{AGREE} "end game on oak board"' in say(house, "Bert look")


class TestScore:
    def test_offer_to_end_says_the_score_to_both(self, house: House) -> None:
        score = "As it stands, the battle would be drawn 32 all."
        assert score in say(house, "Anna end")
        assert score in say(house, "Bert look")

    def test_offer_to_end_names_the_winner(self, house: House) -> None:
        say(house, "Carla go to oak board", "Anna f1 f6", "Bert g7 f7 capturing f6", "Anna a6 b6")
        told = house.obey("Bert", "draw", 1.0)
        assert "As it stands, you would win 32 to 31." in seen(told, "Bert")
        assert "As it stands, Bert would win 32 to 31." in seen(told, "Anna")
        assert "As it stands, Bert would win 32 to 31." in seen(told, "Carla")

    def test_koom_valley_battle_would_be_drawn_without_points(self, house: House) -> None:
        say(house, "Anna end", "Bert end", "Anna start", "Bert start", "Anna end", "Bert end")
        say(house, "Anna set rules koom valley on oak board", "Anna start", "Bert start")
        assert "As it stands, the battle would be drawn." in say(house, "Anna end")


class TestBack:
    @pytest.mark.parametrize("reader", [Switch.OFF, Switch.ON])
    def test_returning_player_sees_an_open_offer_once(self, house: House, reader: Switch) -> None:
        say(house, f"Bert options reader {reader.value}")
        house.depart("Bert", 0.0)
        say(house, "Anna move a6 b6", "Anna end")
        told = seen(house.enter("Bert", now=1.0), "Bert")
        assert told.count("Anna offers to end the battle.") == told.count(AGREE) == 1
        assert "while you were away:" in told

    def test_returning_player_gets_no_summary_for_an_offer_alone(self, house: House) -> None:
        house.depart("Bert", 0.0)
        say(house, "Anna end")
        told = seen(house.enter("Bert", now=1.0), "Bert")
        assert "while you were away:" not in told
        assert told.count(AGREE) == 1

    @pytest.mark.parametrize("reader", [Switch.OFF, Switch.ON])
    def test_returning_player_sees_a_lapsed_offer_without_instructions(
        self, house: House, reader: Switch
    ) -> None:
        say(house, f"Bert options reader {reader.value}")
        house.depart("Bert", 0.0)
        say(house, "Anna end", "Anna no")
        told = seen(house.enter("Bert", now=1.0), "Bert")
        assert "Anna offers to end the battle." in told
        assert AGREE not in told

    def test_finished_battle_shows_how_to_start_the_next_one_once(self, house: House) -> None:
        house.depart("Bert", 0.0)
        say(house, "Anna end", "Anna claim")
        told = seen(house.enter("Bert", now=1.0), "Bert")
        assert "You have been away for too long: Anna claims the battle." in told
        assert AGREE not in told
        assert "When Bert is back" not in told
        assert told.count('"start game on oak board" offers') == 1
        assert "Anna plays the dwarfs and you play the trolls." in told


class TestMatches:
    """Offers of a rematch and offers to resume a match."""

    def test_rematch_offer_names_the_first_player_of_the_dwarfs(self, house: House) -> None:
        say(house, "Anna resign", "Anna yes", "Bert start", "Anna start", "Anna resign", "Anna yes")
        told = house.obey("Anna", "rematch", 1.0)
        assert seen(told, "Anna") == (
            "You offer a rematch (discworld rules, casual). Bert would have the dwarfs first."
            ' "no on oak board" withdraws it.'
        )
        assert seen(told, "Bert") == (
            "Anna offers a rematch (discworld rules, casual). You would have the dwarfs first."
            " To agree, type"
            ' "start game on oak board"; "no on oak board" declines.'
        )
        assert seen(house.obey("Bert", "no", 1.0), "Anna") == (
            "Bert declines the offer to play another match."
        )

    def test_offer_to_resume_names_the_battle(self, house: House) -> None:
        say(house, "Anna adjourn", "Bert adjourn")
        told = house.obey("Anna", "resume", 1.0)
        asks = "to resume battle 1 at the oak board."
        assert seen(told, "Anna") == f"You ask Bert {asks}"
        assert seen(told, "Bert") == f'Anna asks you {asks} Type "yes" or "no".'
        assert seen(told, "Carla") == ""

    def test_refusal_to_resume_names_the_battle(self, house: House) -> None:
        say(house, "Anna adjourn", "Bert adjourn", "Anna resume")
        told = house.obey("Bert", "no", 1.0)
        declines = "to resume battle 1 at the oak board."
        assert seen(told, "Anna") == f"Bert declines {declines}"
        assert seen(told, "Bert") == f"You decline {declines}"


class TestClicking:
    """Clients that draw boards have buttons for what others type."""

    @pytest.fixture
    def house(self) -> House:
        house = House(BOARDS, seat_grace=300.0, opens_boards=True)
        for name in ("Anna", "Bert"):
            house.enter(name, 0.0, Terminal(80, has_reader=True, can_draw=True))
        say(house, "Anna join game as dwarf on oak board")
        return house

    def told(self, house: House, *lines: str, name: str = "Bert") -> str:
        """Return what a player is told after the last of some lines."""
        *before, (who, line) = [each.split(" ", 1) for each in lines]
        for each, typed in before:
            house.obey(each, typed, 1.0)
        return seen(house.obey(who, line, 1.0), name)

    def test_commands_with_buttons_are_left_out(self, house: House) -> None:
        told = self.told(house, "Bert go to oak board")
        assert told.endswith("The troll seat is free. Also here: Anna.")
        told = self.told(house, "Bert join game as troll on oak board")
        assert "Both seats are taken." in told
        told = self.told(house, "Anna start", name="Anna")
        assert told.endswith("Dwarfs 32, trolls 8. Your turn.")
        told = self.told(house, "Anna end game")
        draws = "As it stands, the battle would be drawn 32 all."
        assert told == f"Anna offers to end the battle. {draws}"
        assert '"' not in self.told(house, "Bert look")

    def test_result_is_short(self, house: House) -> None:
        lines = ("Bert join game as troll on oak board", "Anna start", "Anna resign")
        asked = self.told(house, *lines, name="Anna")
        assert asked.endswith("Bert would win it 32 to 0.")
        told = self.told(house, "Anna yes")
        assert told == "Anna resigns. You win the battle, 32 to 0! Match score: Anna 0, you 32."

    def test_absence_says_what_can_be_done(self, house: House) -> None:
        self.told(house, "Bert join game as troll on oak board", "Anna start")
        told = seen(house.depart("Anna", 1.0), "Bert")
        assert told.endswith("In 5 minutes you can claim the battle or adjourn the match.")

    def test_seeks_and_invitations_have_buttons(self, house: House) -> None:
        told = self.told(house, "Bert seek", name="Anna")
        assert told == ""
        told = self.told(house, "Anna go to hall", name="Anna")
        assert told == (
            "You walk to the hall. Also here: Bert. Bert is looking for a casual"
            " match under discworld rules."
        )
        told = self.told(house, "Anna invite bert on oak board")
        assert told == "Anna invites you to play the trolls at the oak board."
        told = self.told(house, "Bert observe oak board")
        assert told.startswith("You now observe the oak board. Oak board, discworld rules.")
