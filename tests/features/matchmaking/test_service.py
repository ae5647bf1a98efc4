"""Seeks and challenges, and the boards opened for their matches."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from functools import partial

import pytest

from tests.alarms import Alarms
from tests.service.place import BOARDS, Place, Screen, begin, finished, refused, until
from tests.service.stores import SlowStore
from tests.service.test_nodes import World
from thudmud.features.exercises.model import exercise_of
from thudmud.features.matchmaking.messages import terms_of
from thudmud.features.playing.moves import Resign
from thudmud.features.playing.opening import board_opened_event
from thudmud.game.asides import Aside, CameIn, Entered, Gone
from thudmud.game.board_names import MATERIALS
from thudmud.game.events import MADE, BoardOpened, Joined, Parting, SeekMade
from thudmud.game.hall import Caps
from thudmud.game.options import Profile
from thudmud.game.people import BotLevel
from thudmud.game.projections import HALL
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec, Table
from thudmud.house import House
from thudmud.rules import Side
from thudmud.service import JoinRequest
from thudmud.service.boards import open_board
from thudmud.values import replace
from thudmud.views import Terminal
from thudmud.views.facts import board_list_entry, table_data

MATCH = "ash board"
GRACE = 60.0


@pytest.fixture
async def hall(place: Place) -> Place:
    await place.enter("Anna", "Bert", "Carla")
    return place


def seats(place: Place, board: str = MATCH) -> dict[Side, str]:
    return dict(place.hall.tables[board].seats)


async def test_accepted_seek_starts_a_match_at_a_new_board(hall: Place) -> None:
    await hall.type("Anna", "seek classic as troll")
    assert "accept 1" in "\n".join(hall.told["Bert"])
    hall.told.clear()
    await hall.type("Bert", "accept 1")
    table = hall.hall.tables[MATCH]
    assert seats(hall) == {Side.DWARF: "Bert", Side.TROLL: "Anna"}
    assert table.is_running
    assert table.ruleset.name == "classic"
    assert hall.hall.seeks == {}
    assert {name: person.room for name, person in hall.hall.people.items()} == {
        "Anna": MATCH,
        "Bert": MATCH,
        "Carla": None,
    }
    assert "Bert accepts. Your match begins!" in hall.told["Anna"]
    assert not any("accepts" in text for text in hall.told["Carla"])
    await hall.type("Bert", "move a6 b6")  # "it" is the new board for both
    await hall.type("Anna", "move g7 f7 on it")
    assert hall.plies(MATCH) == 2


async def test_simultaneous_accepts_start_one_match(hall: Place, store: SlowStore) -> None:
    await hall.type("Anna", "seek")
    store.hold()
    both = [hall.submit(name, "accept 1") for name in ("Bert", "Carla")]
    await store.held_up()
    store.gate.set()
    first, second = await finished(*both)
    assert first.is_done
    assert second.refusal
    assert second.refusal.code is Refusal.NO_SUCH_SEEK
    assert list(hall.hall.tables.made.values()) == [MATCH]
    assert set(seats(hall).values()) == {"Anna", "Bert"}


async def test_play_pairs_two_players(hall: Place) -> None:
    await hall.type("Anna", "play")
    assert list(hall.hall.seeks) == [1]
    await hall.type("Bert", "play")
    assert set(seats(hall).values()) == {"Anna", "Bert"}
    assert hall.hall.tables[MATCH].is_running


async def test_bot_plays_until_an_opponent_accepts(hall: Place) -> None:
    hall.hall.bots = {"Carla": BotLevel(1, "Chalk", "Weak.")}
    told = await hall.type("Anna", "play")
    assert "Meanwhile, here's a bot to play." in told
    assert seats(hall) == {Side.DWARF: "Anna", Side.TROLL: "Carla"}
    assert await refused(hall, "Anna", "play") is Refusal.SEEKING_ALREADY
    await hall.type("Bert", "play as dwarf")
    await hall.type("Anna", "yes")
    assert seats(hall, "birch board") == {Side.DWARF: "Bert", Side.TROLL: "Anna"}
    assert hall.hall.people["Anna"].room == "birch board"
    assert hall.hall.tables[MATCH].is_running  # the game with the bot waits


async def test_adjourned_bot_match_is_resumed_from_the_hall(hall: Place) -> None:
    hall.hall.bots = {"Carla": BotLevel(1, "Chalk", "Weak.")}
    await hall.type("Anna", "match carla", "a6 b6", "adjourn")
    await hall.type("Carla", "adjourn")
    assert '"resume game" at any free board continues it.' in hall.told["Anna"][-1]
    await hall.type("Anna", "go hall")
    assert MATCH not in hall.hall.tables
    told = await hall.type("Anna", "resume")
    assert "You and Carla resume your match at the ash board" in told
    assert hall.plies(MATCH) == 1
    assert {hall.hall.people[each].room for each in ("Anna", "Carla")} == {MATCH}


async def test_resume_of_several_adjourned_games_needs_a_number(hall: Place) -> None:
    hall.hall.bots = {"Carla": BotLevel(1, "Chalk", "Weak.")}
    await hall.type("Anna", "practice on oak board", "a6 b6", "adjourn")
    await hall.type("Anna", "practice", "a6 c6", "go hall")
    assert await refused(hall, "Anna", "resume") is Refusal.WHICH_ADJOURNED
    await hall.type("Anna", "resume 2")
    assert "C6" in await hall.type("Anna", "last")
    await hall.type("Anna", "match carla", "resume 1")  # moves her to a free board
    assert "B6" in await hall.type("Anna", "last")


async def test_resume_of_a_match_between_people_needs_both_at_a_board(hall: Place) -> None:
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept")
    await hall.type("Anna", "a6 b6", "adjourn")
    await hall.type("Bert", "adjourn", "go hall")
    await hall.type("Anna", "go hall")
    assert await refused(hall, "Anna", "resume") is Refusal.SAY_WHICH
    assert await refused(hall, "Anna", "resume on oak board") is Refusal.RESUME_THERE


async def test_quitting_before_the_first_ply_leaves_the_bot_match(hall: Place) -> None:
    hall.hall.bots = {"Carla": BotLevel(1, "Chalk", "Weak.")}
    await hall.type("Anna", "match carla")
    await hall.type("Bert", "match carla", "a6 b6")
    await hall.leave("Anna", Parting.QUIT)
    await hall.leave("Bert", Parting.QUIT)
    assert seats(hall) == {Side.TROLL: "Carla"}
    assert seats(hall, "birch board") == {Side.DWARF: "Bert", Side.TROLL: "Carla"}
    assert hall.away("birch board") == {"Bert"}


async def test_command_of_a_player_at_two_boards_applies_to_the_current_one(hall: Place) -> None:
    hall.hall.bots = {"Carla": BotLevel(1, "Chalk", "Weak.")}
    await hall.type("Anna", "play as dwarf")
    await hall.type("Bert", "play as troll")
    await hall.type("Anna", "yes")  # moves her to another board
    for line in ("a6 b6", "adjourn", "no", "set clock 5+0", "leave"):
        await hall.type("Anna", line)
        assert hall.hall.people["Anna"].last_board == "birch board"
    assert (hall.plies(MATCH), hall.plies("birch board")) == (0, 1)
    await hall.type("Anna", f"a6 b6 on {MATCH}", "go hall")
    assert hall.plies(MATCH) == 1


async def test_resign_asks_for_confirmation(hall: Place) -> None:
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept")
    sure = f"Really resign the first battle at the {MATCH}? Bert would win it 32 to 0."
    for line in ("resign", "resign game", "resign from game", f"resign on {MATCH}"):
        assert await hall.type("Anna", line) == f'{sure} Type "yes".'
    assert await refused(hall, "Anna", "resign") is Refusal.SURE_RESIGNS
    battle = hall.hall.tables[MATCH]
    for line in ("no", "resign", "resgn", "accept", "resign", "", "accept", "resign", "yes"):
        assert battle.is_running
        told = await hall.type("Anna", line)
        battle = hall.hall.tables[MATCH]
        if line == "no":
            assert told == "You play on."
    assert battle.half_played  # any other line plays on, even an empty or misspelt one
    assert await refused(hall, "Bert", "yes") is Refusal.NOTHING_STANDS


async def test_confirmation_expires_with_the_next_line(hall: Place) -> None:
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept")
    await hall.type("Anna", "resign", "say Well.")
    assert await refused(hall, "Anna", "yes") is Refusal.NOTHING_STANDS
    await hall.type("Anna", "resign", "yes")
    assert await refused(hall, "Anna", ".") is Refusal.NOTHING_TO_REPEAT
    assert hall.hall.tables[MATCH].half_played


@pytest.mark.parametrize("answer", ["yes", "no"])
@pytest.mark.parametrize("line", ["end game", "adjourn", "undo"])
async def test_answer_to_two_simultaneous_questions_is_refused(
    hall: Place, line: str, answer: str
) -> None:
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept")
    table = hall.hall.tables[MATCH]
    mover, other = table.seats[Side.DWARF], table.seats[Side.TROLL]
    await hall.type(mover, "move a6 b6", "resign")
    await hall.type(mover if line == "undo" else other, line)
    asked = other if line == "undo" else mover
    if line == "undo":
        await hall.type(other, "resign")
        await hall.type(mover, "adjourn")
    assert await refused(hall, asked, answer) is Refusal.QUESTION_PASSED
    assert hall.hall.tables[MATCH].is_running
    assert hall.hall.tables[MATCH].offers


async def test_confirmation_expires_after_a_minute(hall: Place) -> None:
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept")
    await hall.type("Anna", "resign")
    hall.now += 61
    assert await refused(hall, "Anna", "yes") is Refusal.NOTHING_STANDS
    assert hall.hall.tables[MATCH].is_running


async def test_confirmation_does_not_resign_a_later_battle(hall: Place) -> None:
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept")
    await hall.type("Anna", "resign")
    await hall.type("Bert", "resign", "yes", "start")
    await hall.type("Anna", "start", "yes")
    assert hall.hall.tables[MATCH].is_running


async def test_resign_command_from_a_program_needs_no_confirmation(hall: Place) -> None:
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept")
    await hall.service.submit(hall.visits["Anna"], Resign(MATCH))
    await hall.type("Anna", "start")
    await hall.type("Bert", "start")
    assert hall.hall.tables[MATCH].is_running
    await hall.service.submit(hall.visits["Anna"], Resign())
    assert not hall.hall.tables[MATCH].has_match_under_way


async def test_refused_resign_asks_for_no_confirmation(hall: Place) -> None:
    assert await refused(hall, "Anna", "resign") is Refusal.NOT_PLAYING
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept", "resign", "yes")
    await hall.type("Anna", "tutorial", "resign")  # leaves only the lesson
    assert hall.hall.tables[MATCH].half_played


async def test_invite_from_the_hall_is_a_challenge(hall: Place) -> None:
    await hall.type("Anna", "invite bert as troll")
    await hall.type("Bert", "accept")
    assert seats(hall) == {Side.DWARF: "Anna", Side.TROLL: "Bert"}


async def test_game_command_of_an_unseated_player_is_refused(hall: Place) -> None:
    for line in ("no", "decline"):
        assert await refused(hall, "Anna", line) is Refusal.NOTHING_STANDS
    for line in ("hint", "resign"):
        assert await refused(hall, "Anna", line) is Refusal.NOT_PLAYING


async def test_bot_accepts_a_challenge_at_once(hall: Place) -> None:
    hall.hall.bots = {"Carla": None}
    await hall.type("Anna", "match carla koom valley as troll")
    assert seats(hall) == {Side.DWARF: "Carla", Side.TROLL: "Anna"}
    assert hall.hall.tables[MATCH].ruleset.name == "koom valley"


async def test_play_with_a_level_starts_a_bot_match_without_a_seek(hall: Place) -> None:
    assert await refused(hall, "Anna", "play level 1") is Refusal.NO_BOTS
    hall.hall.levels = [BotLevel(1, "Chalk", "Weak."), BotLevel(2, "Slate", "Less so.")]
    hall.hall.bots = {"Carla": hall.hall.levels[0]}
    await hall.type("Bert", "seek")
    await hall.type("Anna", "play level slate unrated as troll 5+0 classic")
    assert seats(hall) == {Side.DWARF: "Carla", Side.TROLL: "Anna"}
    table = hall.hall.tables[MATCH]
    assert (table.levels.dwarf, table.ruleset.name, str(table.time)) == (2, "classic", "5+0")
    assert table.match
    assert not table.match.rated
    assert [each.player for each in hall.hall.seeks.values()] == ["Bert"]


async def test_play_unrated_is_matched_with_a_plain_play(hall: Place) -> None:
    await hall.type("Anna", "play unrated")
    assert "a casual match" in hall.told["Bert"][-1]
    await hall.type("Bert", "play")
    assert set(seats(hall).values()) == {"Anna", "Bert"}


async def test_challenge_is_open_only_to_the_challenged_player(hall: Place) -> None:
    await hall.type("Anna", "match bert unrated")
    assert "casual" in hall.told["Bert"][-1]
    assert await refused(hall, "Carla", "accept 1") is Refusal.NO_SUCH_SEEK
    assert await refused(hall, "Anna", "match bert") is Refusal.ASKED_ALREADY
    assert "1." not in await hall.type("Carla", "seeks")
    await hall.type("Bert", "decline")
    assert "Bert declines." in hall.told["Anna"]
    assert hall.hall.seeks == {}
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "match anna")  # the same challenge in return
    assert set(seats(hall).values()) == {"Anna", "Bert"}


@pytest.mark.parametrize(("line", "rated"), [("seek", True), ("seek unrated", False)])
async def test_match_between_members_is_rated_unless_declined(
    place: Place, line: str, *, rated: bool
) -> None:
    await place.enter("Anna", "Bert", member=True)
    await place.type("Anna", line)
    await place.type("Bert", "accept 1")
    match = place.hall.tables[MATCH].match
    assert match
    assert match.rated is rated


@pytest.mark.parametrize(
    ("line", "members", "kind"),
    [
        ("seek rated", ("Anna", "Bert"), "rated"),
        ("seek casual", ("Anna", "Bert"), "casual"),
        ("seek rated", ("Anna",), "casual"),  # the opponent is a guest
    ],
)
async def test_match_start_and_lists_show_whether_it_is_rated(
    place: Place, line: str, members: tuple[str, ...], kind: str
) -> None:
    for name in ("Anna", "Bert", "Carla", "Dora"):
        await place.enter(name, member=name in members)
    await place.type("Carla", "options reader on")
    await place.type("Anna", line)
    await place.type("Bert", "accept 1")
    begins = f"begin a match (discworld rules, {kind})."
    for name in ("Anna", "Bert"):
        assert begins in "\n".join(place.told[name])
    is_rated = kind == "rated"
    assert (", rated. Battle 1 of 2" in await place.type("Carla", "look at 3rd")) is is_rated
    assert ("Battle 1 of 2, 0 moves, rated" in await place.type("Dora", "look at 3rd")) is is_rated
    for asked in ("boards", "games all"):
        listed = await place.type("Dora", asked)
        assert f"{MATCH} (discworld rules" in listed
        assert (f"{MATCH} (discworld rules, rated): Anna" in listed) is is_rated
    facts = table_data(place.hall.tables[MATCH]), board_list_entry(place.hall.tables[MATCH])
    assert [each["rated"] for each in facts] == [is_rated, is_rated]


async def test_second_correspondence_battle_is_rated_without_the_opponent(
    place: Place,
) -> None:
    await place.enter("Anna", "Bert", member=True)
    await place.type("Anna", "seek 3 days")
    await place.type("Bert", "accept 1")
    for each in ("a6 b7", "g7 f7", "b7 c7", "f7 e7", "c7 b7", "e7 f7"):
        match = place.hall.tables[MATCH].match
        assert match
        mover = match.dwarf if match.game.turn is Side.DWARF else match.troll
        await place.type(mover, f"move {each} on 3rd")
    await place.type("Bert", "resign on ash board", "yes")
    await place.leave("Bert")
    await place.type("Anna", "start game on 3rd")
    match = place.hall.tables[MATCH].match
    assert match
    assert (match.battle, match.is_running, match.rated) == (2, True, True)


async def test_accept_applies_to_any_single_pending_offer(hall: Place) -> None:
    await hall.type("Anna", "join game as dwarf on oak board", "invite bert")
    await hall.type("Bert", "yes")
    assert seats(hall, "oak board") == {Side.DWARF: "Anna", Side.TROLL: "Bert"}
    await hall.type("Anna", "start", "move a6 b6", "undo")
    await hall.type("Bert", "accept")
    assert hall.plies("oak board") == 0
    await hall.type("Anna", "end game", "adjourn")
    result = await hall.submit("Bert", "accept")
    assert result.refusal
    assert result.refusal.code is Refusal.WHICH_OFFER
    assert result.refusal.details["lines"] == (
        "end game on oak board",
        "adjourn game on oak board",
    )
    assert await refused(hall, "Carla", "accept") is Refusal.NOTHING_STANDS
    assert await refused(hall, "Bert", "accept carla") is Refusal.NOTHING_OFFERED_BY


async def test_invitation_declined_is_reported_to_the_inviter(hall: Place) -> None:
    await hall.type("Anna", "join game as dwarf on oak board", "invite bert")
    await hall.type("Bert", "no")
    assert "Bert declines to sit down at the oak board." in hall.told["Anna"]
    assert await refused(hall, "Bert", "accept") is Refusal.NOTHING_STANDS


async def test_seat_left_in_a_match_needs_an_invitation(hall: Place) -> None:
    await hall.type("Anna", "seek")
    await hall.type("Bert", "accept 1", "leave game")
    join = f"join game as troll on {MATCH}"
    assert await refused(hall, "Carla", join) is Refusal.SEAT_IN_MATCH
    await hall.type("Anna", "invite carla")
    await hall.type("Carla", "accept")
    assert set(seats(hall).values()) == {"Anna", "Carla"}
    await hall.type("Carla", "leave game")
    await hall.type("Carla", join)  # she had the seat last
    assert set(seats(hall).values()) == {"Anna", "Carla"}


async def test_seek_with_a_word_outlives_a_lost_connection_but_not_its_maker(hall: Place) -> None:
    await hall.type("Anna", "seek by word copper", "seek classic")
    await hall.leave("Anna", Parting.LOST)
    assert [each.word for each in hall.hall.seeks.values()] == ["copper"]
    assert await refused(hall, "Bert", "accept word copper") is Refusal.SEEKER_AWAY
    await hall.enter("Anna")
    await hall.type("Bert", "accept word copper")
    assert set(seats(hall).values()) == {"Anna", "Bert"}
    await hall.type("Carla", "seek by word copper")
    await hall.leave("Carla", Parting.QUIT)
    await until(lambda: not hall.hall.seeks)
    assert await refused(hall, "Bert", "accept word copper") is Refusal.NO_SUCH_WORD


async def test_seek_with_a_word_is_previewed_for_its_link(hall: Place) -> None:
    await hall.type("Anna", "seek classic 5+3 as dwarf by word copper")
    title, summary = await hall.service.preview("challenge", "copper") or ("", "")
    assert title == "Anna challenges you"
    terms = (
        "a casual match under classic rules, with a clock of 5+3; you would play the trolls first"
    )
    assert summary == f"Anna challenges you to {terms}."
    assert await hall.service.preview("challenge", "pan") is None


def test_rated_challenge_link_says_that_guests_are_not_rated() -> None:
    seek = SeekMade(0, "Anna", 1, "classic", rated=True, word="pan")
    assert terms_of(seek) == "a match under classic rules, rated unless you're a guest"


def test_seeks_of_members_are_casual_in_a_list_for_guests() -> None:
    house = House([BoardSpec("oak board")], opens_boards=True)
    for name in ("Anna", "Bert", "Carl"):
        house.enter(name, 0, member=name != "Carl")
    house.obey("Anna", "seek classic", 0)
    for name, kind in (("Bert", "rated"), ("Carl", "casual")):
        [listed] = house.obey(name, "seeks", 0)
        assert f"a {kind} match under classic rules" in listed.text


async def test_match_board_and_seeks_survive_a_restart(hall: Place, store: SlowStore) -> None:
    await hall.type("Anna", "seek classic", "match bert")
    await hall.type("Carla", "seek koom valley")
    await hall.type("Bert", "accept 3")
    anew = Place(store)
    await anew.open()
    assert anew.hall.seeks == {
        number: seek for number, seek in hall.hall.seeks.items() if number != 3
    }
    assert list(anew.hall.seeks) == [1, 2]
    assert anew.hall.tables.made == {3: MATCH}
    assert anew.hall.tables[MATCH].is_running
    await anew.enter("Anna", "Bert")
    assert await refused(anew, "Bert", "accept 3") is Refusal.NO_SUCH_SEEK
    await anew.type("Bert", "accept 2")
    assert set(seats(anew, "birch board").values()) == {"Anna", "Bert"}


async def test_board_of_a_finished_match_closes_once_empty(hall: Place) -> None:
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept", "resign", "yes", "start")
    await hall.type("Anna", "start")
    await hall.type("Bert", "resign", "yes")
    assert hall.hall.tables[MATCH].match
    await hall.type("Anna", "go hall")
    assert MATCH in hall.hall.tables
    await hall.type("Bert", "go hall")
    await until(lambda: MATCH not in hall.hall.tables)
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept")
    assert hall.hall.tables[MATCH].match  # a new board with the same number


async def test_new_board_closes_once_empty_and_unused(hall: Place) -> None:
    await hall.type("Anna", "new board koom valley")
    assert hall.hall.people["Anna"].room == MATCH
    assert hall.hall.tables[MATCH].ruleset.name == "koom valley"
    await hall.type("Anna", "join game as dwarf", "go hall")
    assert MATCH in hall.hall.tables  # she waits for an opponent
    await hall.type("Anna", "leave game on 3")
    await until(lambda: MATCH not in hall.hall.tables)


async def test_seeks_option_announces_seeks_at_other_boards(hall: Place) -> None:
    await hall.type("Bert", "options seeks on", "go to oak board")
    await hall.type("Carla", "go to oak board")
    for each in ("Bert", "Carla"):
        hall.told[each] = []
    await hall.type("Anna", "seek", "join game as dwarf on elm board")
    assert "Anna is looking for" in hall.told["Bert"][0]
    assert hall.told["Bert"][-1].startswith("[elm board] Anna sits down")
    assert hall.told["Carla"] == []
    await hall.type("Bert", "ignore anna")
    hall.told["Bert"] = []
    await hall.type("Anna", "seek classic")
    assert hall.told["Bert"] == []


async def test_entrance_lists_players_then_how_to_play_then_boards(hall: Place) -> None:
    await hall.type("Anna", "seek classic")
    screen = Screen()
    await hall.enter("Dora", screen=screen)
    came, here, play, seek, boards, *_ = screen.told[0].split("\n")
    assert came == "You come into the hall."
    assert here == "Also here: Anna, Bert and Carla."
    assert play == 'To play, type "play".'
    assert seek.startswith("Anna is looking for a casual match under classic rules.")
    assert boards == 'Boards ("go to" and a name takes you to one):'
    await hall.type("Bert", "seek")
    await hall.type("Carla", "seek 10+5")
    assert 'There are 3 open seeks: "seeks" lists them.' in await hall.type("Dora", "look")


async def test_look_in_a_full_hall_fits_on_one_screen(hall: Place) -> None:
    hall.hall.caps = Caps(boards=10)
    for _ in range(8):
        await hall.type("Anna", "new board", "join game as dwarf")
    await hall.enter(*(f"Guest{letter}" for letter in "abcdefghijkl"))
    told = await hall.type("Bert", "look")
    assert told.startswith("You are in the hall. ")
    assert "\nAlso here: Carla, Guesta, " in told
    assert 'Guestk and 1 other ("who" lists them all).' in told
    assert told.endswith('And 2 more boards: "boards" lists them.')
    assert "sandstone board" not in told
    assert "sandstone board" in await hall.type("Bert", "boards")


async def test_news_is_announced_to_members_until_read(hall: Place) -> None:
    hall.hall.news = ["A match on Sunday."]
    news = 'There\'s news: "news" shows it.'

    async def come(name: str, seen: str | None, *, member: bool) -> str:
        screen = Screen()
        visit = await hall.service.join(
            JoinRequest(name, Terminal(80), screen, is_member=member, profile=Profile(news=seen))
        )
        assert visit
        hall.visits[name] = visit
        return screen.told[0]

    assert (await come("Dora", "", member=True)).endswith(news)
    assert news not in await come("Emil", None, member=False)
    await hall.type("Dora", "news")
    seen = hall.kept["Dora"].news
    await hall.leave("Dora")
    assert news not in await come("Dora", seen, member=True)
    await hall.leave("Dora")
    hall.hall.news = ["A match on Monday."]
    assert news in await come("Dora", seen, member=True)
    await hall.leave("Dora")
    hall.hall.news = ()
    assert news not in await come("Dora", seen, member=True)


async def test_new_board_may_be_limited_to_members(hall: Place) -> None:
    hall.hall.caps = Caps(only_members_open_boards=True)
    await hall.enter("Dora", member=True)
    assert await refused(hall, "Anna", "new board") is Refusal.NEW_BOARDS_FOR_MEMBERS
    await hall.type("Anna", "match bert")  # opens a board as well
    await hall.type("Bert", "accept")
    await hall.type("Dora", "new board")
    assert hall.hall.people["Dora"].room == "birch board"


async def test_grace_period_end_removes_seeks_seats_and_empty_boards(store: SlowStore) -> None:
    alarms = Alarms()
    place = Place(store, later=alarms)
    await place.open()
    await place.enter("Anna", "Bert")
    await place.type("Anna", "seek classic", "match bert")
    await place.type("Bert", "accept 2", "join game as dwarf on oak board")
    assert place.hall.seeks == {}
    await place.type("Anna", "match bert")
    await place.leave("Bert")
    await place.leave("Anna", Parting.RESTART)
    assert list(place.hall.seeks) == [1]
    store.time = place.now = place.now + GRACE + 1
    alarms.ring()
    await until(lambda: not place.hall.seeks and MATCH not in place.hall.tables)
    assert place.hall.tables["oak board"].seats == {}
    assert len(await place.service.adjourned("Anna")) == 1


async def test_quit_ends_own_seeks(hall: Place) -> None:
    await hall.type("Anna", "seek", "match bert")
    await hall.leave("Anna", Parting.QUIT)
    await until(lambda: not hall.hall.seeks)


async def test_seek_of_an_absent_player_cannot_be_accepted(hall: Place) -> None:
    await hall.type("Anna", "seek")
    await hall.leave("Anna", Parting.RESTART)  # so she may return soon
    assert await refused(hall, "Bert", "accept 1") is Refusal.SEEKER_AWAY
    await hall.type("Bert", "play")
    assert list(hall.hall.seeks) == [1, 2]  # the two are not paired


async def test_ignored_player_is_not_paired(hall: Place) -> None:
    await hall.type("Anna", "ignore bert", "seek")
    assert await refused(hall, "Bert", "accept 1") is Refusal.NOT_LISTENING
    assert await refused(hall, "Bert", "match anna") is Refusal.NOT_LISTENING
    await hall.type("Bert", "play")
    assert list(hall.hall.seeks) == [1, 2]


async def test_limits_on_seeks_and_boards_of_a_player_are_enforced(hall: Place) -> None:
    hall.hall.caps = Caps(seeks=2, boards=1)
    await hall.type("Anna", "seek", "seek classic")
    assert await refused(hall, "Anna", "seek koom valley") is Refusal.SEEKS_TOO_MANY
    await hall.type("Bert", "accept 1")
    assert await refused(hall, "Anna", "new board") is Refusal.BOARDS_TOO_MANY
    await hall.type("Carla", "seek")
    assert await refused(hall, "Anna", "accept 1") is Refusal.BOARDS_TOO_MANY
    await hall.type("Carla", "match anna")
    await hall.type("Carla", "withdraw")
    assert hall.hall.seeks == {}


@pytest.mark.parametrize("stays", [False, True])
async def test_rematch_is_offered_only_at_a_board_that_stays_open(hall: Place, stays: bool) -> None:  # noqa: FBT001 (of a parameter)
    await hall.type("Anna", "seek")
    await hall.type("Bert", "accept 1", "go hall")
    await hall.type("Anna", *([] if stays else ["go hall"]))
    await hall.type("Carla", f"observe {MATCH}")
    line = f"resign on {MATCH}"
    await hall.type("Bert", line, "yes", f"start game on {MATCH}")
    await hall.type("Anna", f"start game on {MATCH}")
    await hall.type("Bert", line)
    hall.told.clear()
    await hall.type("Bert", "yes")
    told = {name: " ".join(" ".join(texts).split()) for name, texts in hall.told.items()}
    assert all("The match is over" in each for each in told.values())
    offers = [f'"start game on {MATCH}" offers a rematch.' in told[name] for name in told]
    assert offers == [stays] * 3
    assert ("You're still observing it" in told["Carla"]) is stays
    await until(lambda: (MATCH in hall.hall.tables) is stays)


async def play_bot(place: Place, player: str, *lines: str) -> Table:
    """Start a match between a player and the bot Carla; return the newest board."""
    await place.type(player, "match carla", *lines)
    return [*place.hall.tables.values()][-1]


async def test_address_limit_on_seeks_exempts_the_first_of_each_player(place: Place) -> None:
    place.hall.caps = Caps(seeks_per_address=1)
    await place.enter("Anna", "Bert", "Carla", origin="10.0.0.1")
    await place.type("Anna", "seek", "seek classic")
    assert await refused(place, "Anna", "seek koom valley") is Refusal.SEEKS_FROM_ADDRESS
    await place.type("Bert", "seek 5+3")
    assert await refused(place, "Bert", "seek 10+5") is Refusal.SEEKS_FROM_ADDRESS
    assert list(place.hall.seeks) == [1, 2, 3]


async def test_address_limit_on_boards_exempts_the_first_of_each_player(place: Place) -> None:
    place.hall.caps = Caps(boards_per_address=1)
    await place.enter("Anna", "Bert", origin="10.0.0.1")
    for _ in range(2):
        await place.type("Anna", "new board", "join game as dwarf")
    assert await refused(place, "Anna", "new board") is Refusal.BOARDS_FROM_ADDRESS
    await place.type("Bert", "new board", "join game as dwarf")  # everyone may open a first board
    assert await refused(place, "Bert", "new board") is Refusal.BOARDS_FROM_ADDRESS
    told = " ".join((await place.type("Bert", "new board")).split())
    assert 'The oak board is free: "join game as dwarf on oak board".' in told
    assert "leave the slate board, or finish the match there" in told
    await place.type("Anna", "leave game on ash board", "go to hall")
    await place.type("Bert", "new board")
    assert "flint board" in place.hall.tables or "ash board" in place.hall.tables


async def test_abandoned_bot_board_counts_for_no_address(place: Place) -> None:
    place.hall.caps, place.hall.bots = Caps(boards_per_address=0), {"Carla": None}
    await place.enter("Carla")
    await place.enter("Anna", "Bert", origin="10.0.0.1")
    await play_bot(place, "Anna")
    assert await refused(place, "Anna", "match carla") is Refusal.BOARDS_FROM_ADDRESS
    await place.type("Anna", "go to hall", "match bert")
    await place.type("Bert", "yes")
    assert seats(place, "birch board") in (
        {Side.DWARF: "Anna", Side.TROLL: "Bert"},
        {Side.DWARF: "Bert", Side.TROLL: "Anna"},
    )


async def test_board_of_a_finished_match_counts_for_no_limit(place: Place) -> None:
    place.hall.caps = Caps(boards=1, boards_per_address=1)
    place.hall.bots = {"Carla": None}
    await place.enter("Carla")
    await place.enter("Anna", origin="10.0.0.1")
    table = await play_bot(place, "Anna")
    assert await refused(place, "Anna", "match carla") is Refusal.BOARDS_TOO_MANY
    await place.type("Anna", "resign on it", "yes", "start", "resign on it", "yes")
    match = place.hall.tables[table.name].match
    assert match
    assert match.is_over
    assert (await play_bot(place, "Anna")).is_running


async def test_board_counts_only_while_a_player_is_connected(place: Place) -> None:
    place.hall.caps = Caps(boards_per_address=1)
    for name, origin in (("Anna", "10.0.0.1"), ("Bert", "10.0.0.1"), ("Carla", "10.0.0.2")):
        await place.enter(name, origin=origin)
    await place.type("Bert", "seek")
    await place.type("Carla", "accept bert")
    await place.leave("Bert", Parting.QUIT)
    await place.type("Anna", "new board", "join game as dwarf")
    assert await refused(place, "Anna", "new board") is Refusal.BOARDS_FROM_ADDRESS
    await place.leave("Carla")
    assert "walk to" in await place.type("Anna", "new board")


async def test_correspondence_board_counts_while_both_players_are_away(place: Place) -> None:
    place.hall.caps = Caps(boards_per_address=1)
    for name, origin in (("Anna", "10.0.0.1"), ("Bert", "10.0.0.1"), ("Carla", "10.0.0.2")):
        await place.enter(name, origin=origin)
    await place.type("Bert", "seek 3 days")
    await place.type("Carla", "accept bert")
    await place.leave("Bert", Parting.QUIT)
    await place.leave("Carla", Parting.QUIT)
    await place.type("Anna", "new board", "join game as dwarf")
    assert await refused(place, "Anna", "new board") is Refusal.BOARDS_FROM_ADDRESS


async def test_seek_of_an_absent_player_loses_its_exemption(place: Place) -> None:
    place.hall.caps = Caps(seeks_per_address=1)
    await place.enter("Anna", "Bert", origin="10.0.0.1")
    await place.type("Anna", "seek")
    await place.leave("Anna", Parting.RESTART)
    await place.type("Bert", "seek classic")
    assert await refused(place, "Bert", "seek koom valley") is Refusal.SEEKS_FROM_ADDRESS


async def test_boards_of_one_address_are_limited_by_its_players(place: Place) -> None:
    place.hall.caps = Caps(boards_per_address=2)
    players = ("Anna", "Bert", "Dora", "Emil")
    await place.enter(*players, origin="10.0.0.1")
    for player in players * 3:
        await place.type(player, "new board", "join game as dwarf")
    assert sum(bool(table.seats) for table in place.hall.tables.values()) == len(players) + 2


@pytest.mark.parametrize("line", ["play", "match grog", "new board"])
async def test_thirty_players_behind_one_address_can_all_play(place: Place, line: str) -> None:
    place.hall.bots = {"Grog": None}
    await place.enter("Grog")
    pupils = [f"{first}{last}" for first in ("Al", "Bo", "Cy") for last in "abcdefghij"]
    await place.enter(*pupils, origin="10.0.0.1")
    for pupil in pupils:
        await place.type(pupil, line, *(["practice"] if line == "new board" else []))
    playing = [each for each in place.hall.tables.values() if each.is_running]
    assert set(pupils) <= {name for table in playing for name in table.seats.values()}


async def test_new_boards_are_addressed_by_number_or_name(hall: Place) -> None:
    await hall.type("Anna", "new board")
    await hall.type("Bert", "new board")
    for words in ("board 4", "4", "the birch board", "birch", "4th board", "4th"):
        await hall.type("Carla", "go hall", f"go to {words}")
        assert hall.hall.people["Carla"].room == "birch board", words
    await hall.type("Anna", "go hall")
    await until(lambda: MATCH not in hall.hall.tables)
    assert hall.hall.tables["birch board"]  # the board keeps its number
    assert await refused(hall, "Carla", "go to board 3") is Refusal.NO_SUCH_ORDINAL
    answer = " ".join((await hall.type("Carla", "go to board 3")).split())
    assert 'There is no "board 3", only oak board, elm board and birch board.' in answer
    await hall.type("Carla", "go to last board")
    assert hall.hall.people["Carla"].room == BOARDS[-1].name


async def test_new_board_skips_a_name_in_use(store: SlowStore) -> None:
    place = Place(store, boards=[BoardSpec("first board"), BoardSpec("ash board")])
    await place.open()
    await place.enter("Anna")
    await place.type("Anna", "new board")
    assert list(place.hall.tables) == ["first board", "ash board", "birch board"]


async def test_new_board_skips_the_name_of_a_player(hall: Place) -> None:
    await hall.enter("Ash")
    await hall.type("Anna", "new board")
    assert list(hall.hall.tables)[-1] == "birch board"


async def test_player_has_the_name_of_a_board_opened_for_a_match(hall: Place) -> None:
    await hall.type("Anna", "new board")
    assert hall.service.name_problem("Ash") is None
    assert hall.service.name_problem("Elm")


async def test_word_alone_is_the_board_without_an_adjective(hall: Place) -> None:
    for _ in range(len(MATERIALS) + 1):
        opened = board_opened_event(hall.hall, "Anna", "classic", 0.0, 0)
        hall.hall.apply(replace(opened, key=f"{MADE}{len(hall.hall.tables)}"))
    assert list(hall.hall.tables)[-1] == "worn ash board"
    await hall.type("Carla", "go to ash")
    assert hall.hall.people["Carla"].room == "ash board"
    await hall.type("Carla", "go hall", "go to worn")
    assert hall.hall.people["Carla"].room == "worn ash board"


async def test_boards_never_share_a_number(hall: Place, store: SlowStore) -> None:
    await hall.type("Anna", "new board")
    await open_board(store, "teak board", "classic", 0.0)
    await until(lambda: "teak board" in hall.hall.tables)
    await hall.type("Bert", "new board")
    told = await hall.type("Carla", "boards")
    assert re.findall(r"^ *(\d+)\. (\w+)", told, re.MULTILINE) == [
        ("1", "oak"),
        ("2", "elm"),
        ("3", "teak"),
        ("4", "ash"),
        ("5", "birch"),
    ]


async def test_list_of_boards_has_pages_of_matches(hall: Place) -> None:
    for number in range(23):
        opened = board_opened_event(hall.hall, "Anna", "classic", 0.0, 0)
        hall.hall.apply(replace(opened, key=f"{MADE}{number + 1}"))
    pages = [(await hall.type("Anna", line)).splitlines() for line in PAGES]
    starts = [[line.split("(")[0].strip() for line in page] for page in pages]
    assert starts[0][:3] == ["1. oak board", "2. elm board", "3. ash board"]
    assert starts[0][-2:] == ["12. limestone board", '13 more matches: "boards 2".']
    assert [starts[1][0], starts[1][-1]] == ["13. larch board", '3 more matches: "boards 3".']
    assert starts[2] == ["23. sycamore board", "24. onyx board", "25. poplar board"]
    assert pages[3] == ['There\'s no page 4. "boards 3" shows the last one.']


PAGES = "boards", "boards 2", "boards page 3", "boards 4"


async def test_boards_named_by_numbers_stay_after_an_update(store: SlowStore) -> None:
    number = await store.version(HALL)
    opened = BoardOpened(0.0, "Anna", f"{MADE}{number + 1}", "3rd board", "classic")
    sits = Joined(0.0, "Anna", Side.DWARF)
    await store.append({opened.key: (0, [sits]), HALL: (number, [opened])})
    await open_board(store, "teak board", "classic", 0.0)
    place = Place(store)
    await place.open()
    await place.enter("Anna", "Bert")
    await place.type("Bert", "new board")
    assert place.hall.tables.made == {4: "3rd board", 5: "birch board"}
    for words, board in (("3rd board", "3rd board"), ("4", "3rd board"), ("3", "teak board")):
        await place.type("Anna", "go hall", f"go to {words}")
        assert place.hall.people["Anna"].room == board


@pytest.mark.parametrize(("line", "rated"), [("match carla", True), ("match carla unrated", False)])
@pytest.mark.parametrize("member", [True, False])
async def test_bot_match_of_a_member_is_rated_unless_declined(
    place: Place, line: str, *, member: bool, rated: bool
) -> None:
    await place.enter("Anna", member=member)
    await place.enter("Carla")
    place.hall.bots = {"Carla": None}
    await place.type("Anna", line)
    match = place.hall.tables[MATCH].match
    assert match
    assert match.rated is (member and rated)


@pytest.mark.parametrize("line", ["match carla rated", "match bert rated", "seek rated"])
async def test_guest_asking_for_a_rated_match_is_refused(hall: Place, line: str) -> None:
    hall.hall.bots = {"Carla": None}
    assert await refused(hall, "Anna", line) is Refusal.RATED_FOR_MEMBERS
    assert await refused(hall, "Anna", "play rated") is Refusal.RATED_FOR_MEMBERS
    assert not hall.hall.seeks


async def test_match_is_rated_only_if_both_players_agree(place: Place) -> None:
    await place.enter("Anna", "Bert", member=True)
    await place.type("Anna", "match bert")
    await place.type("Bert", "match anna unrated")
    match = place.hall.tables[MATCH].match
    assert match
    assert not match.rated


async def test_player_at_the_board_limit_is_skipped_by_pairing(hall: Place) -> None:
    hall.hall.caps = Caps(boards=1)
    await hall.type("Anna", "seek", "new board", "join game as dwarf")
    assert await refused(hall, "Anna", "seek") is Refusal.BOARDS_TOO_MANY
    await hall.type("Carla", "play")
    assert list(hall.hall.seeks) == [1, 2]
    await hall.type("Bert", "play")
    assert set(seats(hall, "birch board").values()) == {"Bert", "Carla"}
    assert await refused(hall, "Bert", f"join game as troll on {MATCH}") is Refusal.BOARDS_TOO_MANY


async def test_new_board_ends_an_exercise_and_becomes_the_current_board(hall: Place) -> None:
    await hall.type(
        "Anna", "look at oak board", "tutorial", "new board", "join game as dwarf on it"
    )
    assert exercise_of(hall.hall.people["Anna"]) is None
    assert seats(hall) == {Side.DWARF: "Anna"}


async def test_invitation_ends_with_its_board(hall: Place) -> None:
    await hall.type("Anna", "new board", "join game as dwarf", "invite carla", "leave game")
    await hall.type("Anna", "go hall")
    await until(lambda: MATCH not in hall.hall.tables)
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept", "leave game")
    assert await refused(hall, "Carla", "accept") is Refusal.NOTHING_STANDS


async def test_repeated_absence_has_one_grace_timer(store: SlowStore) -> None:
    alarms = Alarms()
    place = Place(store, later=alarms)
    await place.open()
    await place.enter("Anna", "Bert")
    await place.type("Bert", "match anna")
    await place.leave("Anna")
    await place.enter("Anna")
    await place.leave("Anna")
    assert len(alarms.due) == 1


async def test_empty_boards_close_despite_concurrent_commands(
    hall: Place, store: SlowStore
) -> None:
    for name in ("Anna", "Bert", "Carla"):
        await hall.type(name, "new board")
    store.hold()
    leaving = [hall.submit(name, "go hall") for name in ("Anna", "Bert", "Carla")]
    seeking = hall.submit("Anna", "seek")
    store.gate.set()
    await finished(*leaving, seeking)
    await until(lambda: not hall.hall.tables.made)


async def test_empty_board_is_closed_after_a_restart(hall: Place, store: SlowStore) -> None:
    await hall.type("Anna", "new board")
    await hall.type("Bert", "new board", "join game as dwarf")
    anew = Place(store)
    await anew.open()
    await until(lambda: list(anew.hall.tables.made.values()) == ["birch board"])


async def test_match_adjourned_from_the_hall_keeps_no_board(hall: Place) -> None:
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept", "go hall")
    await hall.type("Anna", "go hall", f"adjourn on {MATCH}")
    await hall.type("Bert", "accept")
    await until(lambda: not hall.hall.tables.made)


async def test_arrival_at_the_match_is_announced_once(hall: Place) -> None:
    await hall.type("Anna", "seek")
    hall.told.clear()
    await hall.type("Bert", "accept 1")
    assert any("Also here: Bert." in text for text in hall.told["Anna"])
    assert "Bert walks to the ash board." not in hall.told["Anna"]


async def test_accept_takes_a_players_name_or_the_only_seek(hall: Place) -> None:
    await hall.type("Anna", "seek")
    await hall.type("Bert", "seek classic")
    await hall.type("Carla", "accept anna")
    assert set(seats(hall).values()) == {"Anna", "Carla"}
    await hall.type("Carla", "accept")
    assert set(seats(hall, "birch board").values()) == {"Bert", "Carla"}


async def test_match_start_ends_other_challenges_between_its_players(hall: Place) -> None:
    await hall.type("Anna", "match bert", "match bert classic")
    await hall.type("Bert", "accept 1")
    assert hall.hall.seeks == {}
    assert await refused(hall, "Bert", "accept") is Refusal.NOTHING_STANDS


async def test_own_challenge_is_withdrawn_by_no(hall: Place) -> None:
    await hall.type("Anna", "match bert", "no")
    assert hall.hall.seeks == {}


async def test_play_during_another_match_starts_a_bot_game(hall: Place) -> None:
    hall.hall.bots = {"Carla": BotLevel(1, "Chalk", "Weak.")}
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept")
    await hall.type("Anna", "play", "withdraw", "go hall")
    assert seats(hall, "birch board") == {Side.DWARF: "Anna", Side.TROLL: "Carla"}
    told = await hall.type("Anna", "play")
    assert "Meanwhile, you can play on against the bot at the birch board." in told


async def over(place: Place) -> None:
    """Play a match between Anna and Bert to its end."""
    await place.type("Anna", "match bert")
    await place.type("Bert", "accept", "resign", "yes", "start")
    await place.type("Anna", "start")
    await place.type("Bert", "resign", "yes")


async def test_player_returning_to_a_closing_board_is_admitted(
    hall: Place, store: SlowStore
) -> None:
    await over(hall)
    await hall.leave("Anna")
    await hall.type("Bert", "leave game")
    store.hold()
    going = hall.submit("Bert", "go hall")
    await store.held_up()
    coming = begin(hall.enter("Anna"))
    store.gate.set()
    await finished(going, coming)
    assert hall.hall.people["Anna"].room in {None, *hall.hall.tables}
    await hall.type("Anna", "go hall")
    await until(lambda: not hall.hall.tables.made)


async def test_player_disconnecting_from_a_closing_board_is_removed(
    hall: Place, store: SlowStore
) -> None:
    await hall.type("Anna", "join game as dwarf on oak board")
    await hall.type("Bert", "new board")
    store.hold()
    going = hall.submit("Bert", "go hall")
    await store.held_up()
    await hall.type("Anna", "go to 3")
    leaving = begin(hall.leave("Anna"))
    store.gate.set()
    await finished(going, leaving)
    assert "Anna" not in hall.hall.people


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    for node in world.nodes.values():
        await node.close()


async def test_accepted_seek_across_nodes_moves_both_players_to_the_board(world: World) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    await one.enter("Anna")
    await two.enter("Bert")
    await until(lambda: "Bert" in one.hall.people and "Anna" in two.hall.people)
    await one.type("Anna", "seek")
    await until(lambda: bool(two.hall.seeks))
    await two.type("Bert", "accept 1")
    for place in (one, two):
        await until(partial(lambda place: MATCH in place.hall.tables, place))
        await until(partial(lambda place: place.hall.tables[MATCH].is_running, place))
        assert [place.hall.people[name].room for name in ("Anna", "Bert")] == [MATCH, MATCH]
    await one.type("Anna", "move a6 b6")
    assert one.plies(MATCH) == 1


async def test_simultaneous_accepts_on_two_nodes_start_one_match(world: World) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    await one.enter("Anna", "Carla")
    await two.enter("Bert")
    await one.type("Anna", "seek")
    await until(lambda: bool(two.hall.seeks) and "Anna" in two.hall.people)
    results = await finished(
        begin(one.service.submit(one.visits["Carla"], "accept 1")),
        begin(two.service.submit(two.visits["Bert"], "accept 1")),
    )
    codes = [each.refusal.code if each.refusal else None for each in results]
    assert sorted(codes, key=str) == [None, Refusal.NO_SUCH_SEEK]
    await until(lambda: one.hall.tables.made == two.hall.tables.made == {3: MATCH})


async def test_seeks_option_announces_seeks_of_another_node(world: World) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    await one.enter("Anna")
    await two.enter("Bert")
    await two.type("Bert", "options seeks on", "go to oak board")
    await one.type("Anna", "seek")
    await until(lambda: any("Anna is looking for" in each for each in two.told["Bert"]))


async def test_new_board_on_another_node_contains_its_opener(world: World) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    await one.enter("Anna")
    await two.enter("Bert")
    await until(lambda: "Anna" in two.hall.people)
    await one.type("Anna", "new board")
    await until(lambda: MATCH in two.hall.tables and two.hall.people["Anna"].room == MATCH)
    await two.type("Bert", "go to 3", "go hall", "seek")
    await until(lambda: bool(one.hall.seeks))
    assert one.hall.people["Anna"].room == MATCH


@pytest.mark.parametrize("then", [[CameIn("Anna", None)], [Gone("Anna", None, Parting.QUIT)]])
async def test_late_event_of_another_node_does_not_move_a_player_back(
    world: World, then: list[Aside]
) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    await one.enter("Anna", "Carla")
    await until(lambda: "Carla" in two.hall.people)
    two.service.apply_remote_asides([CameIn("Anna", MATCH), *then, Entered("Anna", None)], "one")
    await one.type("Carla", "new board")
    await until(lambda: MATCH in two.hall.tables and two.hall.people["Carla"].room == MATCH)
    assert two.hall.people["Anna"].room is None


async def test_invitation_from_another_node_is_declined(world: World) -> None:
    one, two = await world.begin("one"), await world.begin("two")
    await one.enter("Anna")
    await two.enter("Bert")
    await until(lambda: "Bert" in one.hall.people and "Anna" in two.hall.people)
    await one.type("Anna", "join game as dwarf on oak board", "invite bert")
    await until(lambda: bool(two.hall.people["Bert"].invitations))
    await two.type("Bert", "decline")
    await until(lambda: "Bert declines to sit down at the oak board." in one.told["Anna"])


async def test_simultaneous_starts_begin_the_second_battle_once(
    hall: Place, store: SlowStore
) -> None:
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept")
    await hall.type("Anna", "resign", "yes")
    store.hold()
    both = [hall.submit(name, "start") for name in ("Anna", "Bert")]
    await store.held_up()
    store.gate.set()
    assert all(each.is_done for each in await finished(*both))
    table = hall.hall.tables[MATCH]
    assert table.match
    assert (table.match.battle, table.is_running, table.offers) == (2, True, {})


@pytest.mark.parametrize("accepting", ["yes", "accept", "accept anna", f"start game on {MATCH}"])
async def test_offer_of_the_second_battle_is_answered_from_elsewhere(
    hall: Place, accepting: str
) -> None:
    await hall.type("Anna", "match bert")
    await hall.type("Bert", "accept", "go hall")
    await hall.type("Anna", "resign", "yes")
    answers = [("Anna", "withdraw"), ("Anna", "no"), ("Bert", "no"), ("Bert", "decline anna")]
    for name, answer in answers:
        await hall.type("Anna", "start")
        assert hall.hall.tables[MATCH].offers
        await hall.type(name, answer)
        assert not hall.hall.tables[MATCH].offers
    await hall.type("Anna", "start")
    await hall.type("Bert", accepting)
    assert hall.hall.tables[MATCH].is_running


async def test_prompt_reminds_of_a_seek_but_not_a_screen_reader(place: Place) -> None:
    await place.enter("Anna")
    await place.type("Anna", "seek")
    assert place.service.prompt("Anna") == '[seeking: "withdraw" ends it]> '
    await place.type("Anna", "options reader on")
    assert place.service.prompt("Anna") == "> "
