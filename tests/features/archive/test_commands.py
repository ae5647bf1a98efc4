"""Archive commands: battle numbers, stored games, lookups and replays."""

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
from thudmud.features.archive.model import AnnotatedBattle, Replayed, ReplayLeft, replay_of
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
    """Return a hall with an ended battle of three plies between Anna and Bert at the oak board."""
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
    assert told.recipients == ("Carla",)
    return told.event


class TestNumbers:
    def test_battle_numbers_are_shared_by_all_boards(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Bert", Start("oak board"))
        do(hall, "Anna", Start("oak board"))
        assert [(each.number, each.id.board) for each in hall.battles] == [
            (1, "oak board"),
            (2, "pine board"),
            (3, "oak board"),
        ]
        matches = [hall.tables[board].match for board in ("pine board", "oak board")]
        assert [match and match.number for match in matches] == [2, 3]

    def test_adjourned_match_keeps_its_number(self, hall: StoredHall) -> None:
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

    def test_abandoned_battle_is_unfinished(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", Leave())
        do(hall, "Bert", Leave())
        assert hall.battles[1].state is State.UNFINISHED

    def test_restarted_battle_is_unfinished(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", Start())
        do(hall, "Bert", Start())
        states = [each.state for each in hall.battles]
        assert states == [State.ENDED, State.UNFINISHED, State.RUNNING]


class TestGames:
    def test_game_of_a_running_battle(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", ply("A6", "B6"))
        assert len(hall.game(2).moves) == 1

    def test_game_of_an_ended_battle(self, hall: StoredHall) -> None:
        do(hall, "Anna", Start())
        do(hall, "Bert", Start())
        game = hall.game(1)
        assert len(game.moves) == 3
        assert game.outcome == hall.battles[0].outcome

    def test_game_of_an_adjourned_battle(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", ply("A6", "B6"))
        do(hall, "Anna", Adjourn())
        do(hall, "Bert", Adjourn())
        assert len(hall.game(2).moves) == 1

    def test_game_of_an_abandoned_battle(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        do(hall, "Anna", ply("A6", "B6"))
        do(hall, "Anna", Leave())
        do(hall, "Bert", Leave())
        assert len(hall.game(2).moves) == 1

    def test_record_contains_the_battle_and_its_moves(self, hall: StoredHall) -> None:
        (told,) = do(hall, "Carla", ViewRecord(1))
        both = frozenset({"Anna", "Bert"})
        found = FoundBattle(hall.battles[0], hall.game(1), players=both)
        assert told.event == Asked("Carla", ViewRecord(1), answer=AnnotatedBattle(found, None))


class TestLookups:
    @pytest.mark.parametrize(
        ("command", "lookup"),
        [
            (ViewRecord(1), BattleLookup(1)),
            (Replay(7), BattleLookup(7)),
            (Games(), AdjournedLookup("Carla")),
            (Resume(None, "oak board"), AdjournedLookup("Carla")),
            (History(), HistoryLookup("Carla")),
            (History(rules="classic"), HistoryLookup("Carla", rules="classic")),
            (History(includes_everybody=True, page=2), HistoryLookup(None, 2)),
            (History("ANNA", 3), HistoryLookup("ANNA", 3)),
            (History("me", 2), HistoryLookup("Carla", 2)),
            (History(None, 1, "bert"), HistoryLookup("Carla", 1, "bert")),
            (
                History("bert", 2, "me", "classic", "today"),
                HistoryLookup("bert", 2, "Carla", "classic", "today"),
            ),
            (ViewScore(), ScoreLookup("Carla", with_curves=True)),
            (ViewScore("bert"), ScoreLookup("bert", with_curves=True)),
            (ViewStandings(), StandingsLookup("Carla")),
            (
                ViewStandings("classic", TimeClass.LONG),
                StandingsLookup("Carla", "classic", TimeClass.LONG),
            ),
        ],
        ids=str,
    )
    def test_missing_lookup_is_requested(
        self, hall: StoredHall, command: Command, lookup: Lookup[Any]
    ) -> None:
        for found in (LookupResults(), LookupResults({BattleLookup(99): None})):
            with pytest.raises(LookupNeededError) as unread:
                decide(hall, "Carla", command, NOW, found)
            assert unread.value.lookup == lookup

    @pytest.mark.parametrize("command", [Replay(1), ViewRecord(1)], ids=str)
    def test_battle_without_stored_moves_is_refused(
        self, hall: StoredHall, command: Command
    ) -> None:
        found = LookupResults({BattleLookup(1): FoundBattle(hall.battles[0], None)})
        with pytest.raises(RefusedError, match="number=1") as refused:
            decide(hall, "Carla", command, NOW, found)
        assert refused.value.code is Refusal.NOT_KEPT

    def test_lookup_results_are_the_answer(self, hall: StoredHall) -> None:
        battle, game = hall.battles[0], hall.game(1)
        found = LookupResults()
        found.store(BattleLookup(1), FoundBattle(battle, game))
        found.store(KeptAnalysisLookup(battle.id, 3), None)
        (decision,) = decide(hall, "Carla", Replay(1), NOW, found)
        assert decision.asides == (Replayed("Carla", battle, game, 0),)


class TestReplaying:
    def test_replay_starts_at_the_initial_position(self, hall: StoredHall) -> None:
        (told,) = do(hall, "Carla", Replay(1))
        assert told.event == Replayed("Carla", hall.battles[0], hall.game(1), 0)
        assert told.recipients == ("Carla",)

    def test_replay_steps_in_every_direction(self, hall: StoredHall) -> None:
        do(hall, "Carla", Replay(1))
        ways = [Way.NEXT, Way.NEXT, Way.BACK, Way.LAST, Way.FIRST]
        assert [step(hall, way).ply for way in ways] == [1, 2, 1, 3, 0]

    @pytest.mark.parametrize("way", [Way.BACK, Way.FIRST])
    def test_step_before_the_start_is_refused(self, hall: StoredHall, way: Way) -> None:
        do(hall, "Carla", Replay(1))
        assert refusal(hall, "Carla", Step(way)) is Refusal.REPLAY_AT_START

    @pytest.mark.parametrize("way", [Way.NEXT, Way.PLAY])
    def test_step_past_the_end_is_refused(self, hall: StoredHall, way: Way) -> None:
        do(hall, "Carla", Replay(1))
        step(hall, Way.LAST)
        assert refusal(hall, "Carla", Step(way)) is Refusal.REPLAY_AT_END

    def test_replay_from_a_ply_and_steps_of_several_plies(self, hall: StoredHall) -> None:
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

    def test_automatic_replay_stops_at_the_end(self, hall: StoredHall) -> None:
        do(hall, "Carla", Replay(1))
        seen = [step(hall, Way.PLAY) for _ in range(3)]
        assert [each.ply for each in seen] == [1, 2, 3]
        assert [each.is_autoplaying for each in seen] == [True, True, False]

    def test_manual_step_stops_automatic_replay(self, hall: StoredHall) -> None:
        do(hall, "Carla", Replay(1))
        step(hall, Way.PLAY)
        assert not step(hall, Way.NEXT).is_autoplaying

    def test_step_without_a_replay_is_refused(self, hall: StoredHall) -> None:
        for way in Way:
            assert refusal(hall, "Carla", Step(way)) is Refusal.NOT_REPLAYING

    @pytest.mark.parametrize("number", [0, 2, 999_999_999])
    def test_replay_of_an_unknown_battle_is_refused(self, hall: StoredHall, number: int) -> None:
        assert refusal(hall, "Carla", Replay(number)) is Refusal.NO_SUCH_BATTLE
        assert refusal(hall, "Carla", ViewRecord(number)) is Refusal.NO_SUCH_BATTLE

    def test_replay_of_an_empty_battle_has_no_steps(self, hall: StoredHall) -> None:
        do(hall, "Bert", Start())
        do(hall, "Anna", Start())
        do(hall, "Carla", Replay(2))
        assert refusal(hall, "Carla", Step(Way.NEXT)) is Refusal.REPLAY_AT_END
        assert refusal(hall, "Carla", Step(Way.BACK)) is Refusal.REPLAY_AT_START

    def test_replays_are_per_player_and_end_on_departure(self, hall: StoredHall) -> None:
        do(hall, "Carla", Replay(1))
        step(hall, Way.LAST)
        do(hall, "Anna", Replay(1))
        assert replay_of(hall.people["Anna"]) != replay_of(hall.people["Carla"])
        do(hall, "Carla", Go("oak board"))
        assert step(hall, Way.BACK).ply == 2
        lose(hall, "Carla", parting=Parting.LOST)
        enter(hall, "Carla")
        assert refusal(hall, "Carla", Step(Way.BACK)) is Refusal.NOT_REPLAYING

    def test_replay_does_not_follow_a_running_battle(self, hall: StoredHall) -> None:
        do(hall, "Bert", Start())
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

    def test_next_ply_of_a_battle_ends_the_replays_of_its_players(self, hall: StoredHall) -> None:
        do(hall, "Bert", Start())
        do(hall, "Anna", Start())
        for player in ("Anna", "Bert", "Carla"):
            do(hall, player, Replay(1))
        do(hall, "Bert", ply("A6", "B6"))
        assert refusal(hall, "Anna", Step(Way.NEXT)) is Refusal.NOT_REPLAYING
        assert refusal(hall, "Bert", Step(Way.NEXT)) is Refusal.NOT_REPLAYING
        assert step(hall, Way.NEXT).ply == 1

    def test_last_after_a_replay_shows_the_move_on_the_board(self, hall: StoredHall) -> None:
        do(hall, "Carla", Go("oak board"))
        do(hall, "Carla", Replay(1))
        assert step(hall, Way.LAST) == step(hall, Way.LAST)
        (left,) = do(hall, "Carla", Stop())
        assert isinstance(left.event, ReplayLeft)
        assert left.recipients == ("Carla",)
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
            (History(), History("Carla"), HistoryLookup("Carla")),
            (
                History(includes_everybody=True),
                History(includes_everybody=True),
                HistoryLookup(None),
            ),
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
    def test_answers_go_to_the_asking_player_only(
        self, hall: StoredHall, command: Command, asked: Command, lookup: Lookup[Any]
    ) -> None:
        (told,) = do(hall, "Carla", command)
        answer = hall.found(lookup)
        assert told.event == Asked("Carla", asked, answer=answer)
        assert told.recipients == ("Carla",)
