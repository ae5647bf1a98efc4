"""Socials, replies, and whispers that seem to be meant for one player."""

from __future__ import annotations

import pytest

from thudmud.features.talk.socials import SOCIALS, is_gesture
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.views.view import Terminal


@pytest.fixture
def house() -> House:
    """Return a house with Anna, Bert and Carla in the hall."""
    house = House([BoardSpec("oak board"), BoardSpec("pine board")])
    for name in ("Anna", "Bert", "Carla"):
        house.enter(name, 0.0, Terminal(200))
    return house


def seen(house: House, player: str, line: str) -> dict[str, str]:
    """Return what each player reads when one types a line."""
    return {name: each.text for each in house.obey(player, line, 0.0) for name in each.to}


def everybody(text: str) -> dict[str, str]:
    return dict.fromkeys(("Anna", "Bert", "Carla"), text)


@pytest.mark.parametrize("social", SOCIALS)
def test_social_is_shown_to_the_room(house: House, social: str) -> None:
    assert seen(house, "Anna", social) == everybody(f"Anna {SOCIALS[social].alone}.")


@pytest.mark.parametrize("social", SOCIALS)
def test_social_at_a_player_calls_the_player_you(house: House, social: str) -> None:
    for line in (f"{social} bert", f"{social} at ber", f"{social} to Bert."):
        told = seen(house, "Anna", line)
        assert told == everybody(f"Anna {SOCIALS[social].to} Bert.") | {
            "Bert": f"Anna {SOCIALS[social].to} you."
        }


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("smile anna", 'That\'s you. "smile" alone is for everybody around you.'),
        (
            "hug happily",
            'Nobody around you is called "happily". To do it in your own words, type'
            ' "emote hugs everybody" and the rest.',
        ),
        (
            "smile dora",
            'Nobody around you is called "dora". To do it in your own words, type "emote smiles"'
            " and the rest.",
        ),
    ],
)
def test_social_at_nobody_else_here_is_refused(house: House, line: str, sentence: str) -> None:
    house.enter("Dora", 0.0, room="pine board")
    assert seen(house, "Anna", line) == {"Anna": sentence}


def test_ambiguous_beginning_of_a_name_is_refused(house: House) -> None:
    house.enter("Carlo", 0.0)
    assert seen(house, "Anna", "smile carl") == {
        "Anna": 'Which player do you mean by "carl": Carla or Carlo?'
    }


def test_social_reaches_a_seated_player_elsewhere(house: House) -> None:
    house.obey("Bert", "join game as dwarf on oak board", 0.0)
    house.obey("Bert", "go hall", 0.0)
    house.obey("Anna", "go to oak board", 0.0)
    assert seen(house, "Anna", "wave bert") == {
        "Anna": "Anna waves to Bert.",
        "Bert": "[oak board] Anna waves to you.",
    }


def test_players_cannot_see_socials_of_watchers_in_a_clocked_battle(house: House) -> None:
    for player, side in (("Anna", "dwarf"), ("Bert", "troll")):
        house.obey(player, f"join game as {side} on oak board", 0.0)
    house.obey("Anna", "set clock 5+3", 0.0)
    house.obey("Anna", "start", 0.0)
    house.obey("Carla", "go to oak board", 0.0)
    house.obey("Carla", "nod", 0.0)  # a notice says, once, that the players don't hear it
    assert seen(house, "Carla", "smile") == {"Carla": "Carla smiles."}


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("smiles", True),
        ("smiles.", True),
        ("grins from ear to ear, and orders a beer!", True),
        ("curtsies", True),
        ("Smiles", False),
        ("moves the troll from F7 to G7.", False),
        ("smiles. It is your turn.", False),
        ("smiles: you win", False),
        ("smiles at F6", False),
        ("smileses", False),
        ("resigns", False),
        ("is away", False),
        ("", False),
    ],
)
def test_gesture_is_one_sentence_that_begins_like_a_social(text: str, *, is_one: bool) -> None:
    assert is_gesture(text) is is_one


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (":smiles", "Anna smiles."),
        (":smiles!", "Anna smiles!"),
        ("emote bows deeply to the trolls.", "Anna bows deeply to the trolls."),
        (":resigns the battle", "* Anna resigns the battle"),
        (":smiles. You win!", "* Anna smiles. You win!"),
    ],
)
def test_emote_like_a_social_has_no_mark(house: House, typed: str, shown: str) -> None:
    assert seen(house, "Anna", typed) == everybody(shown)


def test_social_is_read_to_a_screen_reader_without_a_mark() -> None:
    house = House([BoardSpec("oak board")])
    house.enter("Anna", 0.0, Terminal(80, has_reader=True))
    assert seen(house, "Anna", "smile") == {"Anna": "Anna smiles."}


def test_good_game_is_said(house: House) -> None:
    assert seen(house, "Anna", "gg") == everybody("Anna says: Good game!") | {
        "Anna": "You say: Good game!"
    }


def test_reply_goes_to_the_last_player_who_told_something(house: House) -> None:
    nobody = seen(house, "Anna", "reply hello")
    assert nobody["Anna"].startswith("Nobody has told you anything yet.")
    house.obey("Bert", "tell anna Are you there?", 0.0)
    house.obey("Carla", "tell anna Hello!", 0.0)
    house.obey("Anna", "tell bert Yes.", 0.0)
    assert seen(house, "Anna", "r Hello yourself!") == {
        "Anna": "You tell Carla: Hello yourself!",
        "Carla": "Anna tells you: Hello yourself!",
    }
    assert seen(house, "Bert", "reply Good.")["Anna"] == "Bert tells you: Good."


def test_reply_to_a_player_who_has_left_is_refused(house: House) -> None:
    house.obey("Bert", "tell anna Bye!", 0.0)
    house.obey("Bert", "bye", 0.0)
    assert 'no player called "Bert" here' in seen(house, "Anna", "reply Bye!")["Anna"]


def test_whisper_that_begins_with_a_player_asks_for_tell(house: House) -> None:
    house.obey("Anna", "go to oak board", 0.0)
    for line in ("whisper bert psst", "whisper Bert, psst"):
        assert seen(house, "Anna", line) == {
            "Anna": 'Everybody who watches hears a whisper. To tell only Bert, type "tell bert'
            ' psst". If it is for everybody, begin with another word.'
        }
    for line in ("whisper so bert psst", "whisper berta loses", "whisper bert", "whisper anna I"):
        assert seen(house, "Anna", line)["Anna"] == f"You {line.replace('whisper', 'whisper:')}"


def test_whisper_to_a_player_is_heard_where_nobody_can_tell() -> None:
    house = House([BoardSpec("oak board")], without=["tell"])
    for name in ("Anna", "Bert"):
        house.enter(name, 0.0, room="oak board")
    assert seen(house, "Anna", "whisper bert loses")["Bert"] == "Anna whispers: bert loses"
