from __future__ import annotations

import copy

import pytest

from tests.game.conftest import LATER, NOW, ply
from tests.game.halls import StoredHall, do, enter, hall_of, refusal
from thudmud.errors import RefusedError
from thudmud.features.people.commands import Finger, Who
from thudmud.features.playing.moves import PlayRecorded, Resign, Start
from thudmud.features.playing.queries import SetBoard, ViewGame, ViewPossible
from thudmud.features.playing.seats import Join
from thudmud.features.playing.setup import SetRules, SetUpCommand, SetUpLess, SetUpOpening
from thudmud.features.rooms.commands import Go, Look
from thudmud.features.talk.commands import Emote, Kibitz, Say, Tell
from thudmud.game.archive import Fingered
from thudmud.game.asides import Gone, Spoke
from thudmud.game.command import Asked, Command
from thudmud.game.decisions import decide, decide_departure
from thudmud.game.delivery import Delivery
from thudmud.game.events import Parting
from thudmud.game.hall import Hall
from thudmud.game.more import Quit
from thudmud.game.options import Style
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import MOVE_SETTLES, decision_after_refusal, resolve_board
from thudmud.game.table import BoardSpec
from thudmud.rules import Side
from thudmud.values import replace

MOVE = ply("a6", "b6")


@pytest.fixture
def hall() -> StoredHall:
    return hall_of("Anna", "Bert", "Carla")


class TestWhichBoard:
    def test_board_defaults_to_the_one_in_the_room(self, hall: StoredHall) -> None:
        do(hall, "Anna", Go("pine board"))
        assert resolve_board(hall, hall.people["Anna"], None).name == "pine board"
        assert resolve_board(hall, hall.people["Anna"], "board").name == "pine board"
        assert resolve_board(hall, hall.people["Anna"], "first board").name == "oak board"

    def test_board_in_the_hall_defaults_to_the_only_game(self, hall: StoredHall) -> None:
        do(hall, "Anna", Join(Side.DWARF, "elm table"))
        do(hall, "Anna", Go())
        assert resolve_board(hall, hall.people["Anna"], None).name == "elm table"

    def test_board_must_be_named_among_several_games(self, hall: StoredHall) -> None:
        do(hall, "Anna", Join(Side.DWARF, "elm table"))
        do(hall, "Anna", Join(Side.DWARF, "oak board"))
        do(hall, "Anna", Go())
        with pytest.raises(RefusedError, match=r"^say_which boards=oak board,elm table$"):
            resolve_board(hall, hall.people["Anna"], None)
        with pytest.raises(
            RefusedError, match=r"^say_which boards=oak board,pine board,elm table$"
        ):
            decide(hall, "Anna", Join(Side.DWARF), 7.0)

    def test_board_defaults_to_the_only_one_of_the_hall(self) -> None:
        hall = Hall([BoardSpec("oak board")])
        enter(hall, "Anna")
        assert resolve_board(hall, hall.people["Anna"], None).name == "oak board"

    def test_pronoun_refers_to_the_last_board_used(self, hall: StoredHall) -> None:
        assert refusal(hall, "Anna", Look("it")) is Refusal.NOTHING_USED
        do(hall, "Anna", Look("elm table"))
        do(hall, "Anna", Say("hello"))
        assert resolve_board(hall, hall.people["Anna"], "It").name == "elm table"

    def test_board_that_is_unknown_or_ambiguous_is_refused(self, hall: StoredHall) -> None:
        assert refusal(hall, "Anna", Go("chair")) is Refusal.NO_BOARD_HERE
        assert refusal(hall, "Anna", Go("board")) is Refusal.WHICH_BOARD
        assert refusal(hall, "Anna", Go("third board")) is Refusal.NO_SUCH_ORDINAL
        assert refusal(hall, "Anna", ViewGame()) is Refusal.SAY_WHICH

    @pytest.mark.parametrize("command", [SetRules("classic"), SetUpOpening(), SetUpLess(())])
    def test_setup_without_a_seat_must_name_the_board(
        self, hall: StoredHall, command: SetRules | SetUpCommand
    ) -> None:
        assert refusal(hall, "Anna", command) is Refusal.SAY_WHICH


class TestMoveWithoutBoard:
    """Anna plays dwarfs at three boards; she is at the oak board, whose battle has ended."""

    @pytest.fixture
    def hall(self) -> StoredHall:
        hall = hall_of("Anna", "Bert")
        for board in ("elm table", "pine board", "oak board"):
            do(hall, "Anna", Join(Side.DWARF, board))
            do(hall, "Bert", Join(Side.TROLL, board))
            do(hall, "Anna", Start(board))
        do(hall, "Anna", Resign("oak board"))
        return hall

    def play(self, hall: StoredHall, move: Command, now: float = LATER) -> str | None:
        [decision] = hall.decided("Anna", move, now)
        return decision.board

    @pytest.mark.parametrize("move", [ply("a6", "b6"), PlayRecorded("dA6-B6")])
    def test_move_goes_to_the_board_of_the_players_turn(
        self, hall: StoredHall, move: Command
    ) -> None:
        do(hall, "Anna", replace(ply("a10", "a9"), on="elm table"))
        assert self.play(hall, move) == "pine board"
        do(hall, "Anna", Go("elm table"))
        assert (
            refusal(hall, "Anna", move, LATER) is Refusal.OPPONENTS_TURN
        )  # this board's battle takes precedence

    def test_move_for_several_boards_is_refused_with_their_names(self, hall: StoredHall) -> None:
        with pytest.raises(RefusedError) as refused:
            hall.decided("Anna", MOVE, LATER)
        assert refused.value.code is Refusal.SAY_WHICH
        assert refused.value.details == {"boards": ("pine board", "elm table")}

    def test_move_without_a_turn_elsewhere_is_refused(self, hall: StoredHall) -> None:
        do(hall, "Anna", replace(ply("a10", "a9"), on="elm table"))
        do(hall, "Anna", replace(MOVE, on="pine board"))
        assert refusal(hall, "Anna", MOVE, LATER) is Refusal.BATTLE_OVER

    def test_move_just_after_a_battle_ended_goes_to_no_other_board(self, hall: StoredHall) -> None:
        do(hall, "Anna", replace(ply("a10", "a9"), on="elm table"))
        soon = NOW + MOVE_SETTLES - 1
        assert refusal(hall, "Anna", MOVE, soon) is Refusal.BATTLE_OVER
        assert self.play(hall, MOVE, NOW + MOVE_SETTLES) == "pine board"


class TestNoSuchBoard:
    @pytest.mark.parametrize("words", ["chair", "oak table", "oak bord"])
    def test_unknown_board_is_refused_with_the_words_and_all_boards(
        self, hall: StoredHall, words: str
    ) -> None:
        with pytest.raises(RefusedError) as refused:
            resolve_board(hall, hall.people["Anna"], words)
        assert refused.value.code is Refusal.NO_BOARD_HERE
        assert refused.value.details == {"words": words, "boards": tuple(hall.tables)}

    def test_refused_command_still_sets_the_pronoun(self, hall: StoredHall) -> None:
        for words in ("elm table", "chair", None):
            hall.commit(decision_after_refusal(hall, "Anna", words))
        assert resolve_board(hall, hall.people["Anna"], "it").name == "elm table"


class TestLooking:
    @pytest.mark.parametrize("words", [None, "here", "round", "around"])
    def test_look_around_shows_the_room(self, hall: StoredHall, words: str | None) -> None:
        do(hall, "Anna", Go("pine board"))
        (told,) = do(hall, "Anna", Look(words))
        assert told.event == Asked("Anna", Look(), "pine board")

    @pytest.mark.parametrize("words", ["hall", "the hall"])
    def test_look_at_the_hall_works_from_a_board(self, hall: StoredHall, words: str) -> None:
        do(hall, "Anna", Go("pine board"))
        (told,) = do(hall, "Anna", Look(words))
        assert told.event == Asked("Anna", Look())

    @pytest.mark.parametrize(
        ("words", "who"), [("bert", "Bert"), ("me", "Anna"), ("myself", "Anna")]
    )
    def test_look_at_a_player_fingers_them(self, hall: StoredHall, words: str, who: str) -> None:
        (told,) = do(hall, "Anna", Look(words))
        nothing_played = Fingered(who, None, None)
        assert told.event == Asked("Anna", Finger(who), answer=nothing_played)

    def test_look_prefers_a_board_to_a_player(self, hall: StoredHall) -> None:
        enter(hall, "Elm")
        (told,) = do(hall, "Anna", Look("elm"))
        assert told.event == Asked("Anna", Look("elm"), "elm table")


class TestGoing:
    def test_go_moves_to_a_board_and_back(self, hall: StoredHall) -> None:
        out, come = do(hall, "Anna", Go("oak board"))
        assert out.recipients == ("Bert", "Carla")
        assert come.recipients == ("Anna",)
        assert hall.people_in("oak board") == ["Anna"]
        assert refusal(hall, "Anna", Go("oak board")) is Refusal.ALREADY_THERE
        do(hall, "Anna", Go())
        assert refusal(hall, "Anna", Go()) is Refusal.ALREADY_IN_HALL

    def test_join_moves_the_player_to_the_board(self, hall: StoredHall) -> None:
        do(hall, "Anna", Join(Side.TROLL, "oak board"))
        assert hall.people["Anna"].room == "oak board"

    def test_refused_join_does_not_move_the_player(self, hall: StoredHall) -> None:
        do(hall, "Anna", Join(Side.TROLL, "oak board"))
        assert refusal(hall, "Bert", Join(Side.TROLL, "oak board")) is Refusal.SEAT_TAKEN
        assert hall.people["Bert"].room is None


class TestWhoIsTold:
    def test_table_events_reach_the_room_and_the_seated_players(self, hall: StoredHall) -> None:
        do(hall, "Anna", Join(Side.DWARF, "oak board"))
        do(hall, "Bert", Join(Side.TROLL, "oak board"))
        do(hall, "Carla", Go("oak board"))
        do(hall, "Bert", Go())
        (started,) = do(hall, "Anna", Start())
        assert set(started.recipients) == {"Anna", "Bert", "Carla"}
        (moved,) = do(hall, "Anna", ply("A6", "B6"))
        assert set(moved.recipients) == {"Anna", "Bert", "Carla"}
        assert moved.table is hall.tables["oak board"]
        (spoke,) = do(hall, "Carla", Kibitz("hello"))
        assert set(spoke.recipients) == {"Anna", "Bert", "Carla"}
        (spoke,) = do(hall, "Bert", Say("hello"))
        assert spoke == Delivery(Spoke("Bert", None, "hello"), ("Bert",))

    def test_emote_at_an_empty_board_reaches_the_room_alone(self, hall: StoredHall) -> None:
        do(hall, "Carla", Go("oak board"))
        (emoted,) = do(hall, "Carla", Emote("waves."))
        assert emoted.recipients == ("Carla",)

    def test_tell_reaches_sender_and_recipient(self, hall: StoredHall) -> None:
        (told,) = do(hall, "Anna", Tell("be", "hello"))
        assert told.recipients == ("Anna", "Bert")
        assert refusal(hall, "Anna", Tell("anna", "hello")) is Refusal.TELL_SELF
        assert refusal(hall, "Anna", Tell("dora", "hello")) is Refusal.NO_SUCH_PLAYER
        enter(hall, "Bernard")
        assert refusal(hall, "Anna", Tell("be", "hello")) is Refusal.WHICH_PLAYER

    def test_answer_reaches_the_asker_alone(self, hall: StoredHall) -> None:
        (told,) = do(hall, "Anna", Who())
        assert told.recipients == ("Anna",)
        assert refusal(hall, "Anna", ViewPossible(None, "oak board")) is Refusal.NO_BATTLE


class TestStyles:
    def test_style_defaults_to_the_boards_and_is_set_per_player(self, hall: StoredHall) -> None:
        assert hall.style("Anna", "oak board") is Style.FULL
        assert hall.style("Anna", "pine board") is Style.BRIEF
        do(hall, "Anna", SetBoard(Style.FULL, "pine board"))
        assert hall.style("Anna", "pine board") is Style.FULL
        assert hall.style("Bert", "pine board") is Style.BRIEF


class TestParting:
    def test_quitting_without_a_match_gives_up_every_seat(self, hall: StoredHall) -> None:
        do(hall, "Anna", Join(Side.DWARF, "oak board"))
        do(hall, "Anna", Join(Side.TROLL, "elm table"))
        told = do(hall, "Anna", Quit())
        assert told[-1].event == Gone("Anna", "elm table", Parting.QUIT, is_announced=True)
        assert told[-1].recipients == ("Anna",)
        assert "Anna" not in hall.people
        assert not any(table.seats for table in hall.tables.values())

    def test_quitting_is_announced_once_to_each_player(self, hall: StoredHall) -> None:
        do(hall, "Anna", Join(Side.DWARF, "oak board"))
        do(hall, "Bert", Go("oak board"))
        do(hall, "Anna", Go())
        told = do(hall, "Anna", Quit())
        assert [telling.recipients for telling in told] == [("Bert", "Anna"), ("Anna", "Carla")]

    def test_lost_player_is_removed(self, hall: StoredHall) -> None:
        for decision in decide_departure(hall, "Bert", Parting.LOST, 7.0):
            hall.commit(decision)
        assert list(hall.people) == ["Anna", "Carla"]


def test_decide_leaves_the_hall_unchanged(hall: StoredHall) -> None:
    before = copy.deepcopy(hall.people), dict(hall.tables)
    (decision,) = decide(hall, "Anna", Join(Side.DWARF, "oak board"), 7.0)
    assert (hall.people, dict(hall.tables)) == before
    assert (decision.board, decision.version) == ("oak board", 0)
    hall.commit(decision)
    (decision,) = decide(hall, "Anna", Go(), 7.0)
    assert decision.board is None
    assert hall.tables["oak board"].version == 1
