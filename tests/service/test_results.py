"""Messages about ratings and results at the end of a match."""

from __future__ import annotations

import json

import pytest

from tests.features.tournaments.test_reactors import Cup
from tests.service.place import Place, Screen, until
from tests.service.stores import SlowStore
from tests.service.test_nodes import World
from thudmud.game.asides import ResultTold
from thudmud.game.delivery import Delivery
from thudmud.game.events import BattleEnded
from thudmud.game.hall import Hall
from thudmud.game.options import Style
from thudmud.game.people import BotLevel
from thudmud.rules import Ending, Outcome, Score, Side
from thudmud.service import JoinRequest
from thudmud.views import Terminal
from thudmud.views.telling import delivery_facts, renderer_for
from thudmud.views.view import Display, View

MATCH = "ash board"
PLIES = "a6 b7", "g7 f7", "b7 c7", "f7 e7", "c7 b7", "e7 f7"


async def play(place: Place, *, plies: int = 6, on: str = MATCH) -> None:
    for each in PLIES[:plies]:
        match = place.hall.tables[on].match
        assert match
        mover = match.dwarf if match.game.turn is Side.DWARF else match.troll
        await place.type(mover, f"move {each} on {on}")


def heard(place: Place, name: str) -> str:
    return " ".join("\n".join(place.told.get(name, [])).split())


@pytest.fixture
async def members(place: Place) -> Place:
    await place.enter("Anna", "Bert", "Carla", member=True)
    await place.type("Carla", "options width 60")
    return place


async def begin(place: Place, line: str = "seek") -> None:
    await place.type("Anna", line)
    await place.type("Bert", "accept 1")


async def test_rating_changes_are_shown_to_players_and_watchers(members: Place) -> None:
    await begin(members)
    await members.type("Carla", f"observe {MATCH}")
    await play(members)
    await members.type("Anna", f"resign on {MATCH}", "yes", f"start on {MATCH}")
    await members.type("Bert", f"start on {MATCH}")
    assert "rating" not in heard(members, "Carla")
    await members.type("Anna", f"resign on {MATCH}", "yes")
    mine, theirs = "rating 1500 -> 1421?", "rating 1500 -> 1579?"
    assert f"Discworld, untimed: your {mine}; Bert's {theirs}." in heard(members, "Anna")
    assert f"Discworld, untimed: your {theirs}; Anna's {mine}." in heard(members, "Bert")
    assert f"Discworld, untimed: Anna's {mine}; Bert's {theirs}." in heard(members, "Carla")


async def test_too_short_first_battle_is_mentioned_at_once_and_at_the_end(
    members: Place,
) -> None:
    await begin(members)
    await play(members, plies=5)
    await members.type("Anna", f"resign on {MATCH}", "yes")
    now = "No rating will change: the battle had fewer than 6 moves."
    assert now in heard(members, "Anna")
    for name in ("Anna", "Bert"):
        await members.type(name, f"start on {MATCH}")
    assert "begin the second battle" in heard(members, "Bert")
    await members.type("Anna", f"resign on {MATCH}", "yes")
    assert "No rating changes: the first battle had fewer than 6 moves." in heard(members, "Anna")


async def test_casual_match_changes_no_rating(members: Place) -> None:
    await begin(members, "seek casual")
    await play(members)
    await members.type("Anna", f"resign on {MATCH}", "yes", f"start on {MATCH}")
    await members.type("Bert", f"start on {MATCH}")
    await members.type("Anna", f"resign on {MATCH}", "yes")
    assert "No rating changes: the match was casual." in heard(members, "Anna")


async def test_battle_against_a_bot_shows_the_rating_against_bots(place: Place) -> None:
    place.hall.levels = [BotLevel(1, "Chalk", "Weak.")]
    place.hall.bots = {"Grog": place.hall.levels[0]}
    screen = Screen()
    await place.enter("Grog")
    terminal = Terminal(200, packages=frozenset({"thud"}))
    visit = await place.service.join(JoinRequest("Anna", terminal, screen, is_member=True))
    assert visit
    place.visits["Anna"] = visit
    await place.type("Anna", "match grog")
    assert "begin a match" in heard(place, "Anna")
    await play(place)
    await place.type("Anna", f"resign on {MATCH}", "yes")
    assert "Discworld, against bots: your rating 1500 -> 1421?." in heard(place, "Anna")
    [end] = [json.loads(each.text) for each in screen.messages if each.package == "Thud.End"]
    [change] = end["ratings"]
    assert (change["player"], change["before"], change["rating"]) == ("Anna", 1500, 1421)
    assert (change["against"], end["unrated"]) == ("bots", None)


async def test_unrated_match_names_the_replaced_player_as_reason(place: Place) -> None:
    place.hall.levels = [BotLevel(1, "Chalk", "Weak.")]
    place.hall.bots = {"Grog": place.hall.levels[0]}
    await place.enter("Anna", "Bert", member=True)
    await place.enter("Grog")
    await place.type("Anna", "match grog")
    await place.type("Grog", f"leave game on {MATCH}")
    await place.type("Anna", f"invite bert on {MATCH}")
    await place.type("Bert", "accept anna")
    await play(place)
    await place.type("Anna", f"resign on {MATCH}", "yes", f"start on {MATCH}")
    await place.type("Bert", f"start on {MATCH}")
    await place.type("Anna", f"resign on {MATCH}", "yes")
    assert "No rating changes: a player was replaced." in heard(place, "Bert")


async def finish(place: Place, *, on: str = MATCH) -> None:
    """Let Anna resign both battles of her match with Bert."""
    await play(place, on=on)
    await place.type("Anna", f"resign on {on}", "yes", f"start on {on}")
    await place.type("Bert", f"start on {on}")
    await place.type("Anna", f"resign on {on}", "yes")


RESULT = "Bert beats Anna 64 to 0 in a rated match at the ash board: Bert 1579?; Anna 1421?."


async def test_result_of_a_rated_match_is_announced_in_the_hall_once(members: Place) -> None:
    await members.enter("Dora", "Emil", "Finn", "Gina")
    await members.type("Dora", "options results off")
    await members.type("Emil", "go to oak board")
    await members.type("Gina", "options reader on")
    await begin(members)
    await members.type("Finn", f"observe {MATCH}")
    await members.type("Bert", "go to hall")
    await finish(members)
    assert heard(members, "Carla").count("Bert beats Anna") == 1
    assert RESULT in heard(members, "Carla")
    spoken = RESULT.replace("?", ", provisional")
    assert spoken in heard(members, "Gina")
    for name in ("Anna", "Bert", "Dora", "Emil", "Finn"):
        assert "Bert beats Anna" not in heard(members, name)
    await members.type("Dora", "options results on")
    await members.type("Anna", f"rematch on {MATCH}")
    await members.type("Bert", "yes")
    await finish(members)
    assert "Bert beats Anna 64 to 0 in a rated match" in heard(members, "Dora")


async def test_result_of_a_casual_match_is_announced_without_ratings(members: Place) -> None:
    await begin(members, "seek casual")
    await finish(members)
    assert "Bert beats Anna 64 to 0 at the ash board." in heard(members, "Carla")


async def test_result_against_a_bot_is_announced(place: Place) -> None:
    place.hall.levels = [BotLevel(1, "Chalk", "Weak.")]
    place.hall.bots = {"Grog": place.hall.levels[0], "Tunk": place.hall.levels[0]}
    await place.enter("Anna", "Grog", "Tunk", "Carla")
    await place.type("Anna", "match grog")
    await place.type("Anna", "resign", "yes", "start", "resign", "yes")
    assert "Grog beats Anna 64 to 0 at the ash board." in heard(place, "Carla")


async def test_practice_has_no_result(place: Place) -> None:
    await place.enter("Anna", "Carla")
    await place.type("Anna", "practice on oak board", "end game on oak board")
    assert " at the oak board" not in heard(place, "Carla").replace("to the oak board", "")


async def test_result_is_announced_once_on_each_node() -> None:
    world = World()
    one, two = await world.begin("one"), await world.begin("two")
    await one.enter("Anna", "Carla", member=True)
    await two.enter("Bert", "Dora", member=True)
    await one.type("Anna", "join game as dwarf on oak board")
    await two.type("Bert", "join game as troll on oak board", "start")
    for number, line in enumerate(PLIES):
        place, name = ((one, "Anna"), (two, "Bert"))[number % 2]
        await place.type(name, f"move {line} on oak board")
    await one.type("Anna", "resign on oak", "yes", "start on oak")
    await until(lambda: bool(two.hall.tables["oak board"].offers))
    await two.type("Bert", "start on oak")
    await until(lambda: one.hall.tables["oak board"].is_running)
    await one.type("Anna", "resign on oak", "yes")
    for place, name in ((one, "Carla"), (two, "Dora")):
        assert heard(place, name).count("Bert beats Anna 64 to 0 in a rated match at the oak") == 1
    await world.store.close()


@pytest.mark.parametrize(
    ("points", "said", "winner"),
    [
        ((60, 65), "Bert beats Anna 65 to 60 in a rated match at the oak board", "troll"),
        ((65, 60), "Anna beats Bert 65 to 60 in a rated match at the oak board", "dwarf"),
        ((60, 60), "Anna and Bert draw 60 to 60 in a rated match at the oak board", None),
    ],
)
def test_result_names_the_winner_first(
    points: tuple[int, int], said: str, winner: str | None
) -> None:
    hall = Hall([])
    outcome = Outcome(Ending.AGREEMENT, None, Score(0, 0))
    ended = BattleEnded(7.0, "Anna", outcome, 9, "Anna", "Bert", rated=True, points=points)
    result = ResultTold("Anna", "oak board", 7, ended)
    telling = Delivery(result, ("Carla",))
    view = View(None, Style.FULL, Display())
    assert renderer_for(hall, telling)(view) == [f"{said}."]
    [fact] = delivery_facts(hall, telling)
    assert (fact.package, fact.data["winner"], fact.data["battle"]) == ("Thud.Result", winner, 7)


async def test_tournament_results_follow_the_results_option(store: SlowStore) -> None:
    cup = Cup(store)
    await cup.open()
    await cup.enter("Anna", "Bert", "Carl", "Dora", member=True)
    await cup.type("Dora", "options results off")
    await cup.announce("round robin 10+5 starts in 1 minute", "Anna", "Bert")
    await cup.play_round()
    await cup.pass_by(61.0)
    beats, over = "Tournament 1: Anna beats Bert", "Tournament 1 is over! Anna is 1st"
    for told in (beats, over):
        assert heard(cup, "Carl").count(told) == 1
        assert told not in heard(cup, "Dora")
    assert "in a rated match" not in heard(cup, "Carl")
    assert over in heard(cup, "Bert")
