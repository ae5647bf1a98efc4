"""What is wanted of the battles that were played: their numbers, their moves, and replays."""

from __future__ import annotations

from typing import Any

import pytest

from tests.game.conftest import NOW, ply
from tests.game.halls import StoredHall, do, enter, hall_of, lose, refusal
from thudmud.errors import RefusedError
from thudmud.features.analysis.model import KeptAnalysisLookup
from thudmud.features.archive.commands import (
    Games,
    History,
    Replay,
    Step,
    Stop,
    ViewRecord,
    ViewScore,
    ViewStandings,
    Way,
)
from thudmud.features.archive.model import Replayed, ReplayLeft, replay_of
from thudmud.features.playing.moves import Adjourn, Resign, Start
from thudmud.features.playing.queries import LastMove
from thudmud.features.playing.resuming import Resume
from thudmud.features.playing.seats import Join, Leave
from thudmud.features.rooms.commands import Go
from thudmud.game.archive import (
    AdjournedLookup,
    BattleLookup,
    FoundBattle,
    HistoryLookup,
    Lookup,
    LookupNeededError,
    LookupResults,
    ScoreLookup,
    StandingsLookup,
    State,
)
from thudmud.game.clocks import TimeClass
from thudmud.game.command import Asked, Command
from thudmud.game.decisions import decide
from thudmud.game.events import Parting
from thudmud.game.refusals import Refusal
from thudmud.rules import Side

PLIES = [("Anna", ply("A6", "B6")), ("Bert", ply("G7", "G6")), ("Anna", ply("B6", "C6"))]


@pytest.fixture
def hall() -> StoredHall:
    """Return a hall in which Anna and Bert have played a battle of three plies at the oak board."""
    hall = hall_of("Anna", "Bert", "Carla")
    begin(hall, "oak board")
    for player, command in PLIES:
        do(hall, player, command)
    do(hall, "Bert", Resign())
    return hall


def begin(hall: StoredHall, board: str) -> None:
    do(hall, "Anna", Join(Side.DWARF, board))
    do(hall, "Bert", Join(Side.TROLL, board))
    do(hall, "Anna", Start(board))


def step(hall: StoredHall, way: Way) -> Replayed:
    (told,) = do(hall, "Carla", Step(way))
    assert isinstance(told.event, Replayed)
    assert told.audience == ("Carla",)
    return told.event


class TestNumbers:
    def test_battles_are_counted_as_they_begin_at_any_board(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", Start("oak board"))
        assert [(each.number, each.id.board) for each in hall.battles] == [
            (1, "oak board"),
            (2, "pine board"),
            (3, "oak board"),
        ]
        matches = [hall.tables[board].match for board in ("pine board", "oak board")]
        assert [match and match.number for match in matches] == [2, 3]

    def test_what_was_put_away_keeps_its_number(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", Adjourn())
        do(hall, "Bert", Adjourn())
        do(hall, "Anna", Resume())
        do(hall, "Bert", Resume())
        match = hall.tables["pine board"].match
        assert match
        assert match.number == 2
        do(hall, "Anna", Resign())
        assert [each.state for each in hall.battles] == [State.ENDED, State.ENDED]

    def test_a_battle_that_all_have_left_is_never_finished(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", Leave())
        do(hall, "Bert", Leave())
        assert hall.battles[1].state is State.UNFINISHED

    def test_a_battle_that_was_begun_anew_neither(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", Start())
        do(hall, "Bert", Start())
        states = [each.state for each in hall.battles]
        assert states == [State.ENDED, State.UNFINISHED, State.RUNNING]


class TestGames:
    def test_one_that_is_running(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", ply("A6", "B6"))
        assert len(hall.game(2).moves) == 1

    def test_one_that_has_ended(self, hall: StoredHall) -> None:
        do(hall, "Anna", Start())
        game = hall.game(1)
        assert len(game.moves) == 3
        assert game.outcome == hall.battles[0].outcome

    def test_one_that_is_put_away(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", ply("A6", "B6"))
        do(hall, "Anna", Adjourn())
        do(hall, "Bert", Adjourn())
        assert len(hall.game(2).moves) == 1

    def test_one_that_all_have_left(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", ply("A6", "B6"))
        do(hall, "Anna", Leave())
        do(hall, "Bert", Leave())
        assert len(hall.game(2).moves) == 1

    def test_a_record_is_the_battle_with_its_moves(self, hall: StoredHall) -> None:
        (told,) = do(hall, "Carla", ViewRecord(1))
        both = frozenset({"Anna", "Bert"})
        found = FoundBattle(hall.battles[0], hall.game(1), players=both)
        assert told.event == Asked("Carla", ViewRecord(1), answer=found)


class TestLookups:
    @pytest.mark.parametrize(
        ("command", "lookup"),
        [
            (ViewRecord(1), BattleLookup(1)),
            (Replay(7), BattleLookup(7)),
            (Games(), AdjournedLookup("Carla")),
            (Resume(None, "oak board"), AdjournedLookup("Carla")),
            (History(), HistoryLookup(None)),
            (History("ANNA", 3), HistoryLookup("ANNA", 3)),
            (History("me", 2), HistoryLookup("Carla", 2)),
            (History(None, 1, "bert"), HistoryLookup("Carla", 1, "bert")),
            (
                History("bert", 2, "me", "classic", "today"),
                HistoryLookup("bert", 2, "Carla", "classic", "today"),
            ),
            (ViewScore(), ScoreLookup("Carla", curves=True)),
            (ViewScore("bert"), ScoreLookup("bert", curves=True)),
            (ViewStandings(), StandingsLookup("Carla")),
            (
                ViewStandings("classic", TimeClass.LONG),
                StandingsLookup("Carla", "classic", TimeClass.LONG),
            ),
        ],
        ids=str,
    )
    def test_what_was_not_looked_up_is_asked_for_and_nothing_changes(
        self, hall: StoredHall, command: Command, lookup: Lookup[Any]
    ) -> None:
        for found in (LookupResults(), LookupResults({BattleLookup(99): None})):
            with pytest.raises(LookupNeededError) as unread:
                decide(hall, "Carla", command, NOW, found)
            assert unread.value.lookup == lookup

    @pytest.mark.parametrize("command", [Replay(1), ViewRecord(1)], ids=str)
    def test_moves_that_nobody_has_kept(self, hall: StoredHall, command: Command) -> None:
        found = LookupResults({BattleLookup(1): FoundBattle(hall.battles[0], None)})
        with pytest.raises(RefusedError, match="number=1") as refused:
            decide(hall, "Carla", command, NOW, found)
        assert refused.value.code is Refusal.NOT_KEPT

    def test_what_is_found_is_what_is_answered(self, hall: StoredHall) -> None:
        battle, game = hall.battles[0], hall.game(1)
        found = LookupResults()
        found.take(BattleLookup(1), FoundBattle(battle, game))
        found.take(KeptAnalysisLookup(battle.id, 3), None)
        (decision,) = decide(hall, "Carla", Replay(1), NOW, found)
        assert decision.asides == (Replayed("Carla", battle, game, 0),)


class TestReplaying:
    def test_from_the_beginning(self, hall: StoredHall) -> None:
        (told,) = do(hall, "Carla", Replay(1))
        assert told.event == Replayed("Carla", hall.battles[0], hall.game(1), 0)
        assert told.audience == ("Carla",)

    def test_on_and_back(self, hall: StoredHall) -> None:
        do(hall, "Carla", Replay(1))
        ways = [Way.NEXT, Way.NEXT, Way.BACK, Way.LAST, Way.FIRST]
        assert [step(hall, way).ply for way in ways] == [1, 2, 1, 3, 0]

    @pytest.mark.parametrize("way", [Way.BACK, Way.FIRST])
    def test_not_before_its_beginning(self, hall: StoredHall, way: Way) -> None:
        do(hall, "Carla", Replay(1))
        assert refusal(hall, "Carla", Step(way)) is Refusal.REPLAY_AT_START

    @pytest.mark.parametrize("way", [Way.NEXT, Way.PLAY])
    def test_not_behind_its_end(self, hall: StoredHall, way: Way) -> None:
        do(hall, "Carla", Replay(1))
        step(hall, Way.LAST)
        assert refusal(hall, "Carla", Step(way)) is Refusal.REPLAY_AT_END

    def test_from_a_ply_on_and_several_at_once(self, hall: StoredHall) -> None:
        def seen(command: Replay | Step) -> int:
            (told,) = do(hall, "Carla", command)
            assert isinstance(told.event, Replayed)
            return told.event.ply

        assert seen(Replay(1, 2)) == 2
        assert seen(Step(Way.BACK, 2)) == 0
        assert seen(Step(Way.NEXT, 2)) == 2
        assert seen(Step(Way.BACK, 100)) == 0
        assert seen(Step(Way.NEXT, 100)) == 3
        assert seen(Replay(1, 100)) == 3

    def test_by_itself_to_its_end(self, hall: StoredHall) -> None:
        do(hall, "Carla", Replay(1))
        seen = [step(hall, Way.PLAY) for _ in range(3)]
        assert [each.ply for each in seen] == [1, 2, 3]
        assert [each.playing for each in seen] == [True, True, False]

    def test_a_step_ends_that(self, hall: StoredHall) -> None:
        do(hall, "Carla", Replay(1))
        step(hall, Way.PLAY)
        assert not step(hall, Way.NEXT).playing

    def test_of_nothing(self, hall: StoredHall) -> None:
        for way in Way:
            assert refusal(hall, "Carla", Step(way)) is Refusal.NOT_REPLAYING

    @pytest.mark.parametrize("number", [0, 2, 999_999_999])
    def test_of_a_battle_that_there_is_not(self, hall: StoredHall, number: int) -> None:
        assert refusal(hall, "Carla", Replay(number)) is Refusal.NO_SUCH_BATTLE
        assert refusal(hall, "Carla", ViewRecord(number)) is Refusal.NO_SUCH_BATTLE

    def test_a_battle_without_a_ply(self, hall: StoredHall) -> None:
        do(hall, "Anna", Start())
        do(hall, "Carla", Replay(2))
        assert refusal(hall, "Carla", Step(Way.NEXT)) is Refusal.REPLAY_AT_END
        assert refusal(hall, "Carla", Step(Way.BACK)) is Refusal.REPLAY_AT_START

    def test_ones_own_is_ones_own(self, hall: StoredHall) -> None:
        do(hall, "Carla", Replay(1))
        step(hall, Way.LAST)
        do(hall, "Anna", Replay(1))
        assert replay_of(hall.people["Anna"]) != replay_of(hall.people["Carla"])
        do(hall, "Carla", Go("oak board"))
        assert step(hall, Way.BACK).ply == 2
        lose(hall, "Carla", parting=Parting.LOST)
        enter(hall, "Carla")
        assert refusal(hall, "Carla", Step(Way.BACK)) is Refusal.NOT_REPLAYING

    def test_it_does_not_go_on_with_the_battle(self, hall: StoredHall) -> None:
        do(hall, "Anna", Start())
        do(hall, "Bert", ply("A6", "B6"))
        do(hall, "Carla", Replay(2))
        do(hall, "Anna", ply("G7", "G6"))
        step(hall, Way.LAST)
        for way in (Way.NEXT, Way.LAST):
            assert refusal(hall, "Carla", Step(way)) is Refusal.REPLAY_GONE_ON
        do(hall, "Carla", Replay(2))
        step(hall, Way.LAST)
        assert refusal(hall, "Carla", Step(Way.NEXT)) is Refusal.REPLAY_AT_END

    def test_whoever_plays_is_brought_back_by_the_next_ply(self, hall: StoredHall) -> None:
        do(hall, "Anna", Start())
        for player in ("Anna", "Bert", "Carla"):
            do(hall, player, Replay(1))
        do(hall, "Bert", ply("A6", "B6"))
        assert refusal(hall, "Anna", Step(Way.NEXT)) is Refusal.NOT_REPLAYING
        assert refusal(hall, "Bert", Step(Way.NEXT)) is Refusal.NOT_REPLAYING
        assert step(hall, Way.NEXT).ply == 1

    def test_last_is_of_the_board_where_one_is_once_it_is_left(self, hall: StoredHall) -> None:
        do(hall, "Carla", Go("oak board"))
        do(hall, "Carla", Replay(1))
        assert step(hall, Way.LAST) == step(hall, Way.LAST)
        (left,) = do(hall, "Carla", Stop())
        assert isinstance(left.event, ReplayLeft)
        assert left.audience == ("Carla",)
        assert left.event.replay.ply == 3
        (told,) = do(hall, "Carla", Step(Way.LAST))
        assert told.event == Asked("Carla", LastMove(), "oak board")
        assert refusal(hall, "Carla", Step(Way.BACK)) is Refusal.NOT_REPLAYING
        assert refusal(hall, "Carla", Stop()) is Refusal.NO_EXERCISE


class TestQuestions:
    @pytest.mark.parametrize(
        ("command", "asked", "lookup"),
        [
            (Games(), Games(), AdjournedLookup("Carla")),
            (History(), History(), HistoryLookup(None)),
            (History("bert", 2), History("bert", 2), HistoryLookup("Bert", 2)),
            (History("me"), History("Carla"), HistoryLookup("carla")),
            (History("Myself", 2), History("Carla", 2), HistoryLookup("Carla", 2)),
            (ViewScore(), ViewScore(), ScoreLookup("Carla")),
            (ViewScore("ME"), ViewScore("Carla"), ScoreLookup("Carla")),
            (ViewScore("bert"), ViewScore("bert"), ScoreLookup("Bert")),
            (ViewStandings(), ViewStandings(), StandingsLookup("Carla")),
        ],
        ids=str,
    )
    def test_they_are_answered_to_who_asks(
        self, hall: StoredHall, command: Command, asked: Command, lookup: Lookup[Any]
    ) -> None:
        (told,) = do(hall, "Carla", command)
        answer = hall.found(lookup)
        assert told.event == Asked("Carla", asked, answer=answer)
        assert told.audience == ("Carla",)
