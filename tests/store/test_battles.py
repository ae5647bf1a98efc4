"""Battle rows: numbers, states, games read from them, and nothing counted twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.game.annals import CAPTURE, DWARFS, LONGER, NOON, RECORD, TROLLS, Annals, saved
from tests.rules.shorthand import to_and_fro
from thudmud.game.archive import Battle, BattleLookup, State
from thudmud.game.clocks import TimeControl
from thudmud.game.events import (
    BattleId,
    BattleStarted,
    Imported,
    Joined,
    Moved,
    Offer,
    Offered,
    SavedMatch,
    TakenBack,
)
from thudmud.game.match import fold_game
from thudmud.rules import DISCWORLD, Game, Side, read_record, write_record
from thudmud.store import Store, lookups, run_synchronously
from thudmud.store import battles as battle_rows
from thudmud.store.database import Database
from thudmud.store.interface import Entry
from thudmud.store.running import AtOnce
from thudmud.values import replace


@pytest.fixture
def annals() -> Annals:
    return Annals()


def read(annals: Annals, battle: Battle) -> Game:
    """Read a battle's game from the store, using only the events that it requires."""
    start = battle.source.version - 1
    end = None if battle.length is None else start + battle.length
    game = fold_game(annals.events[battle.source.board][start:end])
    found = annals.found(BattleLookup(battle.number))
    assert found is not None
    assert (found.battle, found.game) == (battle, game)
    return game


class TestNumbers:
    def test_battle_numbers_follow_start_order_across_boards(self, annals: Annals) -> None:
        annals.begin("oak board")
        second = annals.begin("pine board", dwarf="Carl", troll="Dora")
        third = annals.bring_in()
        annals.end(board="pine board", players=("Carl", "Dora"))
        assert [battle.number for battle in annals.battles] == [1, 2, 3]
        assert [battle.id for battle in annals.battles[1:]] == [second, third]

    @pytest.mark.parametrize("number", [-1, 0, 2, 999_999_999, 10**30])
    def test_unknown_battle_number_finds_nothing(self, annals: Annals, number: int) -> None:
        annals.begin()
        assert run_synchronously(annals.store.read(battle_rows.battle, number)) is None
        assert annals.found(BattleLookup(number)) is None

    def test_events_within_a_battle_do_not_change_its_row(self, annals: Annals) -> None:
        annals.happen("oak board", Joined(NOON, "Anna", Side.DWARF))
        annals.begin()
        assert annals.battle(1).id == BattleId("oak board", 2)
        before = annals.battle(1)
        annals.play(CAPTURE)
        assert annals.battle(1) == before


class TestStates:
    def test_battle_is_running_until_it_ends(self, annals: Annals) -> None:
        annals.begin()
        assert annals.battle(1).state is State.RUNNING
        assert annals.battle(1).plies is None
        assert annals.battle(1).rated
        annals.end(DWARFS, players=("Anna", "Carl"), count=34, points=(3, 4))
        battle = annals.battle(1)
        assert (battle.state, battle.outcome, battle.plies) == (State.ENDED, DWARFS, 34)
        assert (battle.dwarf, battle.troll, battle.rated) == ("Anna", "Carl", True)
        assert battle.points == (3, 4)
        assert annals.ended == [battle]

    def test_second_end_of_a_battle_is_ignored(self, annals: Annals) -> None:
        annals.begin()
        annals.end(DWARFS)
        before = annals.battle(1)
        annals.end(TROLLS)
        assert annals.battle(1) == before
        assert len(annals.ended) == 1

    def test_end_without_a_battle_is_ignored(self, annals: Annals) -> None:
        annals.end()
        assert not annals.ended

    def test_battle_abandoned_by_both_players_is_unfinished(self, annals: Annals) -> None:
        annals.begin()
        annals.clear()
        annals.end()
        assert annals.battle(1).state is State.UNFINISHED
        assert not annals.ended

    def test_battle_replaced_by_a_new_one_is_unfinished(self, annals: Annals) -> None:
        annals.begin()
        annals.begin()
        annals.end()
        states = [battle.state for battle in annals.battles]
        assert states == [State.UNFINISHED, State.ENDED]

    def test_battle_stays_ended_when_the_board_is_cleared(self, annals: Annals) -> None:
        annals.whole()
        annals.clear()
        assert annals.battle(1).state is State.ENDED

    def test_second_battle_records_first_points_with_seats_swapped(self, annals: Annals) -> None:
        annals.begin()
        annals.end(DWARFS)
        annals.begin(dwarf="Bert", troll="Anna", number=2)
        assert annals.battle(2).part == 2
        assert annals.battle(2).earlier_points == (20, 30)

    def test_imported_battle_is_ended_and_unrated(self, annals: Annals) -> None:
        annals.bring_in()
        battle = annals.battle(1)
        assert (battle.state, battle.outcome, battle.imported) == (State.ENDED, None, True)
        assert not battle.rated
        assert not annals.ended


class TestAdjourned:
    def test_adjourned_match_resumes_at_another_board(self, annals: Annals) -> None:
        match = saved(annals.begin())
        annals.play(CAPTURE)
        annals.adjourn(match)
        assert annals.battle(1).state is State.ADJOURNED
        assert annals.battle(1).plies == 2
        assert annals.away() == annals.away("Bert") == {1: match}
        resumed = annals.resume(match)
        assert annals.battle(1).state is State.RUNNING
        assert annals.battle(1).source == resumed
        assert annals.battle(1).id == match.battle_id
        assert not annals.away()
        annals.end(board="pine board")
        assert annals.ended == [annals.battle(1)]

    def test_adjourned_match_is_independent_of_its_former_board(self, annals: Annals) -> None:
        match = saved(annals.begin())
        annals.adjourn(match)
        annals.end()
        annals.clear()
        assert annals.battle(1).state is State.ADJOURNED

    def test_adjournment_between_battles_leaves_the_first_ended(self, annals: Annals) -> None:
        began = annals.begin()
        annals.end(DWARFS)
        match = saved(began, outcome=DWARFS)
        annals.adjourn(match)
        assert annals.battle(1).state is State.ENDED
        assert annals.away() == annals.away("Bert") == {1: match}
        source = annals.battle(1).source
        annals.resume(match)
        assert annals.battle(1).state is State.ENDED
        assert annals.battle(1).source == source
        annals.begin("pine board", dwarf="Bert", troll="Anna", number=2)
        assert annals.battle(2).earlier_points == (20, 30)

    def test_match_resumed_at_two_boards_counts_at_the_first(self, annals: Annals) -> None:
        match = saved(annals.begin())
        annals.adjourn(match)
        annals.resume(match, "pine board")
        annals.resume(match, "marble board")
        annals.end(TROLLS, "marble board")
        assert annals.battle(1).state is State.RUNNING
        annals.adjourn(match, "marble board")
        assert not annals.away()
        annals.end(DWARFS, "pine board")
        assert annals.battle(1).outcome == DWARFS
        assert len(annals.ended) == 1

    def test_resume_of_an_unknown_match_is_ignored(self, annals: Annals) -> None:
        annals.resume(saved(BattleId("oak board", 5)))
        annals.end(board="pine board")
        assert not annals.battles


class TestPlayers:
    def test_player_lookup_ignores_case(self, annals: Annals) -> None:
        annals.whole(dwarf="Anna")
        annals.whole(dwarf="ANNA")
        annals.whole(dwarf="Carl")
        assert [battle.number for battle in annals.of("anna")] == [1, 2]
        assert annals.of("Zoe") == []

    def test_battle_is_listed_for_former_and_later_players(self, annals: Annals) -> None:
        annals.whole(dwarf="Dora")
        annals.begin("marble board")
        annals.whole(dwarf="Dora", troll="Carl")
        annals.begin("pine board")
        annals.end(board="pine board", players=("Anna", "Carl"))
        assert [battle.number for battle in annals.of("Bert")] == [1, 2, 4]
        assert [battle.number for battle in annals.of("Carl")] == [3, 4]


class TestGames:
    @pytest.fixture(params=[lookups.EVENTS_AT_ONCE, 1], autouse=True)
    def _events_at_once(
        self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lookups, "EVENTS_AT_ONCE", request.param)

    def test_running_battle_is_read_up_to_its_last_ply(self, annals: Annals) -> None:
        annals.begin()
        annals.play(CAPTURE)
        assert read(annals, annals.battle(1)).moves == CAPTURE

    def test_ended_battle_is_read_up_to_its_outcome(self, annals: Annals) -> None:
        annals.whole()
        annals.begin()
        annals.play(CAPTURE)
        annals.happen("oak board", Offered(NOON, "Anna", Offer.END))
        annals.end(TROLLS)
        annals.begin()
        annals.play(CAPTURE[:1])
        game = read(annals, annals.battle(2))
        assert game.moves == CAPTURE
        assert game.outcome == TROLLS
        whole_rest = annals.events["oak board"][annals.battle(2).source.version - 1 :]
        assert fold_game(whole_rest) == game

    def test_plies_taken_back_are_left_out_of_the_game(self, annals: Annals) -> None:
        annals.begin()
        annals.play(CAPTURE)
        annals.happen("oak board", TakenBack(NOON, "Bert", Side.DWARF, CAPTURE))
        assert read(annals, annals.battle(1)) == Game.start(DISCWORLD)
        annals.play(CAPTURE[:1])
        assert read(annals, annals.battle(1)).moves == CAPTURE[:1]

    @pytest.mark.parametrize("cut", ["clear", "begin"])
    def test_unfinished_battle_ends_where_the_board_moves_on(
        self, annals: Annals, cut: str
    ) -> None:
        annals.begin()
        annals.play(CAPTURE)
        getattr(annals, cut)()
        game = read(annals, annals.battle(1))
        assert game.moves == CAPTURE
        assert game.outcome is None

    def test_resumed_battle_includes_its_earlier_plies(self, annals: Annals) -> None:
        match = saved(annals.begin(), CAPTURE)
        annals.play(CAPTURE)
        annals.adjourn(match)
        assert read(annals, annals.battle(1)).moves == CAPTURE
        annals.resume(match)
        annals.play(LONGER[2:], "pine board", 3)
        annals.end(DWARFS, "pine board")
        game = read(annals, annals.battle(1))
        assert game.moves == LONGER
        assert game.outcome == DWARFS

    def test_repeated_lookup_continues_from_the_cached_game(self, annals: Annals) -> None:
        match = saved(annals.begin(), CAPTURE)
        for ply in (1, 2):
            annals.play(CAPTURE[ply - 1 : ply], first=ply)
            assert read(annals, annals.battle(1)).moves == CAPTURE[:ply]
        annals.happen("oak board", TakenBack(NOON, "Anna", Side.TROLL, CAPTURE[1:]))
        assert read(annals, annals.battle(1)).moves == CAPTURE[:1]
        annals.play(CAPTURE[1:], first=2)
        annals.adjourn(match)
        assert read(annals, annals.battle(1)).moves == CAPTURE
        annals.resume(match)
        assert read(annals, annals.battle(1)).moves == CAPTURE
        annals.end(DWARFS, "pine board")
        annals.begin("pine board")
        annals.play(CAPTURE[:1], "pine board")
        for _ in range(2):
            assert read(annals, annals.battle(1)).outcome == DWARFS
            assert read(annals, annals.battle(2)).moves == CAPTURE[:1]

    def test_imported_battle_is_read_from_its_record(self, annals: Annals) -> None:
        annals.bring_in()
        assert read(annals, annals.battle(1)) == read_record(RECORD, DISCWORLD).game

    def test_clocked_battle_read_in_steps_has_all_ply_times(self, annals: Annals) -> None:
        begun = BattleStarted(NOON, "Anna", 1, "discworld", "Anna", "Bert", rated=True)
        annals.happen("oak board", replace(begun, time=TimeControl(10, 5)))
        for ply, (move, side) in enumerate(zip(CAPTURE, Side, strict=True), 1):
            annals.happen("oak board", Moved(NOON + ply * ply, "Anna", side, move, ply))
            found = annals.found(BattleLookup(1))
            assert found is not None
            assert found.spent == (1.0, 3.0)[:ply]

    @pytest.mark.parametrize("events", [[], [Joined(NOON, "Anna", Side.DWARF)]])
    def test_game_without_its_start_event_is_an_error(self, events: list[Joined]) -> None:
        with pytest.raises(ValueError, match="expected the start of a battle as the first event"):
            fold_game(events)


def test_long_battle_is_read_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    annals, game, pages = Annals(), to_and_fro(DISCWORLD, 600), []
    annals.begin()
    annals.play(game.moves)
    really = Database.read_stream

    def counted(self: Database, *asked: Any) -> Sequence[Entry]:
        entries = really(self, *asked)
        pages.append(len(entries))
        return entries

    monkeypatch.setattr(Database, "read_stream", counted)
    assert read(annals, annals.battle(1)) == game
    assert pages == [250, 250, 101]
    pages.clear()
    assert read(annals, annals.battle(1)) == game
    assert sum(pages) == 0


async def test_long_imported_battle_does_not_block_other_tasks() -> None:
    game = to_and_fro(DISCWORLD, 600)
    battle = Imported(NOON, "", "discworld", "Zoe", "Yan", write_record(game), 600, None)
    store, turns = Store.in_memory(), 0
    await store.append({"(import) 1": (0, [battle])})
    really = AtOnce.read

    async def counted(self: AtOnce, work: Any) -> Any:
        nonlocal turns
        turns += 1
        return await really(self, work)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AtOnce, "read", counted)
        found = await store.look_up(BattleLookup(1))
    assert found.game == game
    assert turns == 1 + 3


BOARDS = st.sampled_from(["oak board", "pine board"])
HAPPENINGS = st.lists(
    st.tuples(st.sampled_from(["begin", "end", "clear", "adjourn", "resume", "bring_in"]), BOARDS)
)


@given(HAPPENINGS)
@example(
    [
        ("begin", "oak board"),
        ("begin", "pine board"),
        ("adjourn", "oak board"),
        ("begin", "oak board"),
    ]
)
def test_random_histories_keep_each_battle_in_one_state(
    happenings: list[tuple[str, str]],
) -> None:
    annals = Annals()
    matches: list[SavedMatch] = []
    for what, board in happenings:
        if what == "begin":
            matches.append(saved(annals.begin(board)))
        elif what == "end":
            annals.end(board=board)
        elif what == "clear":
            annals.clear(board)
        elif what == "bring_in":
            annals.bring_in()
        elif matches:
            (annals.adjourn if what == "adjourn" else annals.resume)(matches[-1], board)
    battles = annals.battles
    assert [battle.number for battle in battles] == [*range(1, len(battles) + 1)]
    adjourned = [battle for battle in battles if battle.state is State.ADJOURNED]
    assert {battle.number for battle in adjourned} <= set(annals.away())
    running = [battle for battle in battles if battle.state is State.RUNNING]
    assert len({battle.source.board for battle in running}) == len(running)
    for battle in battles:
        assert (battle.length is None) is (battle.state is State.RUNNING)
        read(annals, battle)
    score = annals.score("Anna")
    counts = score.people.battles.values() if score else []
    assert sum(map(sum, counts)) == len(annals.ended)
