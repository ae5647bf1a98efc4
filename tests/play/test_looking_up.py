"""What is wanted of the battles that were played: their numbers, their moves, and replays."""

from __future__ import annotations

import pytest

from tests.play.conftest import NOW, ply
from tests.play.halls import BOARDS, do, enter, hall_of, lose, refusal
from thudmud.play.archive import State
from thudmud.play.asides import Asked, Replayed
from thudmud.play.commands import (
    Adjourn,
    Command,
    Games,
    Go,
    History,
    Join,
    LastMove,
    Leave,
    Replay,
    Resign,
    Resume,
    Start,
    Step,
    ViewRecord,
    ViewScore,
    ViewStandings,
    Way,
)
from thudmud.play.events import BattleStarted, Cleared, Parting, TableEvent
from thudmud.play.hall import Hall, Unread
from thudmud.play.hall_decisions import decide
from thudmud.play.refusals import Refusal
from thudmud.rules import Side

PLIES = [("Anna", ply("A6", "B6")), ("Bert", ply("G7", "G6")), ("Anna", ply("B6", "C6"))]


@pytest.fixture
def hall() -> Hall:
    """Return a hall in which Anna and Bert have played a battle of three plies at the oak board."""
    hall = hall_of("Anna", "Bert", "Carla")
    begin(hall, "oak board")
    for player, command in PLIES:
        do(hall, player, command)
    do(hall, "Bert", Resign())
    return hall


def begin(hall: Hall, board: str) -> None:
    do(hall, "Anna", Join(Side.DWARF, board))
    do(hall, "Bert", Join(Side.TROLL, board))
    do(hall, "Anna", Start(board))


def step(hall: Hall, way: Way) -> Replayed:
    (told,) = do(hall, "Carla", Step(way))
    assert isinstance(told.event, Replayed)
    assert told.audience == ("Carla",)
    return told.event


class TestNumbers:
    def test_battles_are_counted_as_they_begin_at_any_board(self, hall: Hall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", Start("oak board"))
        assert [(each.number, each.id.board) for each in hall.archive.battles] == [
            (1, "oak board"),
            (2, "pine board"),
            (3, "oak board"),
        ]
        began = hall.tables["oak board"].match
        assert began
        assert hall.archive.number_of(began.began) == 3

    def test_what_was_put_away_keeps_its_number(self, hall: Hall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", Adjourn())
        do(hall, "Bert", Adjourn())
        do(hall, "Anna", Resume())
        do(hall, "Anna", Resign())
        assert [each.state for each in hall.archive.battles] == [State.ENDED, State.ENDED]

    def test_a_battle_that_all_have_left_is_never_finished(self, hall: Hall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", Leave())
        do(hall, "Bert", Leave())
        assert hall.archive.battles[1].state is State.UNFINISHED

    def test_a_battle_that_was_begun_anew_neither(self, hall: Hall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", Start())
        do(hall, "Bert", Start())
        states = [each.state for each in hall.archive.battles]
        assert states == [State.ENDED, State.UNFINISHED, State.RUNNING]


class TestGames:
    def test_one_that_is_running(self, hall: Hall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", ply("A6", "B6"))
        assert len(hall.game(hall.archive.battles[1]).moves) == 1

    def test_one_that_has_ended(self, hall: Hall) -> None:
        do(hall, "Anna", Start())
        game = hall.game(hall.archive.battles[0])
        assert len(game.moves) == 3
        assert game.outcome == hall.archive.battles[0].outcome

    def test_one_that_is_put_away(self, hall: Hall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", ply("A6", "B6"))
        do(hall, "Anna", Adjourn())
        do(hall, "Bert", Adjourn())
        assert len(hall.game(hall.archive.battles[1]).moves) == 1

    def test_one_whose_moves_are_not_known_here(self, hall: Hall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", Leave())
        do(hall, "Bert", Leave())
        for command in (Replay(2), ViewRecord(2)):
            with pytest.raises(Unread) as unread:
                decide(hall, "Carla", command, NOW)
            assert unread.value.battle == hall.archive.battles[1]
        game = hall.game(hall.archive.battles[0])
        hall.recall(2, game)
        (told,) = do(hall, "Carla", ViewRecord(2))
        assert told.event == Asked("Carla", ViewRecord(2), game=game)

    def test_few_are_kept(self) -> None:
        hall = Hall(BOARDS, most_games=2)
        for player in ("Anna", "Bert"):
            enter(hall, player)
        begin(hall, "oak board")
        for _ in range(3):
            do(hall, "Anna", Resign())
            do(hall, "Anna", Start())
        with pytest.raises(Unread):
            hall.game(hall.archive.battles[0])
        for number in (1, 2, 3):
            assert hall.game(hall.archive.battles[number])

    def test_none_is_known_after_a_restart_but_those_at_the_boards(self, hall: Hall) -> None:
        stored: list[TableEvent] = [
            BattleStarted(NOW, "Anna", 1, "discworld", "Anna", "Bert"),
            Cleared(NOW, "Anna"),
            BattleStarted(NOW, "Anna", 1, "discworld", "Anna", "Bert"),
        ]
        again = hall_of()
        for version, event in enumerate(stored, 1):
            again.archive.apply("oak board", version, event)
        again.restore("oak board", 2, stored[2:])
        with pytest.raises(Unread):
            again.game(again.archive.battles[0])
        assert again.game(again.archive.battles[1]).moves == ()


class TestReplaying:
    def test_from_the_beginning(self, hall: Hall) -> None:
        (told,) = do(hall, "Carla", Replay(1))
        game = hall.game(hall.archive.battles[0])
        assert told.event == Replayed("Carla", 1, game, 0)
        assert told.audience == ("Carla",)

    def test_on_and_back(self, hall: Hall) -> None:
        do(hall, "Carla", Replay(1))
        ways = [Way.NEXT, Way.NEXT, Way.BACK, Way.LAST, Way.FIRST]
        assert [step(hall, way).ply for way in ways] == [1, 2, 1, 3, 0]

    @pytest.mark.parametrize("way", [Way.BACK, Way.FIRST])
    def test_not_before_its_beginning(self, hall: Hall, way: Way) -> None:
        do(hall, "Carla", Replay(1))
        assert refusal(hall, "Carla", Step(way)) is Refusal.REPLAY_AT_START

    @pytest.mark.parametrize("way", [Way.NEXT, Way.LAST, Way.PLAY])
    def test_not_behind_its_end(self, hall: Hall, way: Way) -> None:
        do(hall, "Carla", Replay(1))
        step(hall, Way.LAST)
        assert refusal(hall, "Carla", Step(way)) is Refusal.REPLAY_AT_END

    def test_by_itself_to_its_end(self, hall: Hall) -> None:
        do(hall, "Carla", Replay(1))
        seen = [step(hall, Way.PLAY) for _ in range(3)]
        assert [each.ply for each in seen] == [1, 2, 3]
        assert [each.playing for each in seen] == [True, True, False]

    def test_a_step_ends_that(self, hall: Hall) -> None:
        do(hall, "Carla", Replay(1))
        step(hall, Way.PLAY)
        assert not step(hall, Way.NEXT).playing

    def test_of_nothing(self, hall: Hall) -> None:
        for way in Way:
            assert refusal(hall, "Carla", Step(way)) is Refusal.NOT_REPLAYING

    @pytest.mark.parametrize("number", [0, 2, 999_999_999])
    def test_of_a_battle_that_there_is_not(self, hall: Hall, number: int) -> None:
        assert refusal(hall, "Carla", Replay(number)) is Refusal.NO_SUCH_BATTLE
        assert refusal(hall, "Carla", ViewRecord(number)) is Refusal.NO_SUCH_BATTLE

    def test_a_battle_without_a_ply(self, hall: Hall) -> None:
        do(hall, "Anna", Start())
        do(hall, "Carla", Replay(2))
        assert refusal(hall, "Carla", Step(Way.NEXT)) is Refusal.REPLAY_AT_END
        assert refusal(hall, "Carla", Step(Way.BACK)) is Refusal.REPLAY_AT_START

    def test_ones_own_is_ones_own(self, hall: Hall) -> None:
        do(hall, "Carla", Replay(1))
        step(hall, Way.LAST)
        do(hall, "Anna", Replay(1))
        assert hall.people["Anna"].replay != hall.people["Carla"].replay
        do(hall, "Carla", Go("oak board"))
        assert step(hall, Way.BACK).ply == 2
        lose(hall, "Carla", parting=Parting.LOST)
        enter(hall, "Carla")
        assert refusal(hall, "Carla", Step(Way.BACK)) is Refusal.NOT_REPLAYING

    def test_it_does_not_go_on_with_the_battle(self, hall: Hall) -> None:
        do(hall, "Anna", Start())
        do(hall, "Bert", ply("A6", "B6"))
        do(hall, "Carla", Replay(2))
        do(hall, "Anna", ply("G7", "G6"))
        step(hall, Way.LAST)
        assert refusal(hall, "Carla", Step(Way.NEXT)) is Refusal.REPLAY_GONE_ON
        do(hall, "Carla", Replay(2))
        step(hall, Way.LAST)
        assert refusal(hall, "Carla", Step(Way.NEXT)) is Refusal.REPLAY_AT_END

    def test_whoever_plays_is_brought_back_by_the_next_ply(self, hall: Hall) -> None:
        do(hall, "Anna", Start())
        for player in ("Anna", "Bert", "Carla"):
            do(hall, player, Replay(1))
        do(hall, "Bert", ply("A6", "B6"))
        assert refusal(hall, "Anna", Step(Way.NEXT)) is Refusal.NOT_REPLAYING
        assert refusal(hall, "Bert", Step(Way.NEXT)) is Refusal.NOT_REPLAYING
        assert step(hall, Way.NEXT).ply == 1

    def test_after_its_last_ply_last_is_of_the_board_that_one_stands_at(self, hall: Hall) -> None:
        do(hall, "Carla", Replay(1))
        assert step(hall, Way.LAST).ply == 3
        assert refusal(hall, "Carla", Step(Way.LAST)) is Refusal.REPLAY_AT_END
        do(hall, "Carla", Go("oak board"))
        (told,) = do(hall, "Carla", Step(Way.LAST))
        assert told.event == Asked("Carla", LastMove(), "oak board")


class TestQuestions:
    @pytest.mark.parametrize(
        ("command", "asked"),
        [
            (Games(), Games()),
            (History(), History()),
            (History("bert", 2), History("bert", 2)),
            (History("me"), History("Carla")),
            (History("Myself", 2), History("Carla", 2)),
            (ViewScore(), ViewScore()),
            (ViewScore("ME"), ViewScore("Carla")),
            (ViewScore("bert"), ViewScore("bert")),
            (ViewStandings(), ViewStandings()),
        ],
        ids=str,
    )
    def test_they_are_answered_to_who_asks(
        self, hall: Hall, command: Command, asked: Games | History | ViewScore | ViewStandings
    ) -> None:
        (told,) = do(hall, "Carla", command)
        assert told.event == Asked("Carla", asked)
        assert told.audience == ("Carla",)
