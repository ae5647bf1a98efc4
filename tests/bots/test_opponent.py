"""A bot's decisions to sit down, start, agree, decline and leave, by the events it receives."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from thudmud.bots.opponent import (
    LEAST_PATIENCE,
    LOST_BY,
    LOST_FOR,
    QUIET,
    QUIET_ENOUGH,
    QUIET_EVEN,
    REPEAT_AFTER,
    TROLLS_AFTER,
    Opponent,
)
from thudmud.bots.pace import SHARE, pause_before_ply
from thudmud.features.playing.moves import Resign
from thudmud.features.playing.seats import Join, Leave
from thudmud.features.rooms.commands import Go
from thudmud.game.command import Command
from thudmud.game.delivery import Delivery
from thudmud.game.events import Parting
from thudmud.game.hall import Hall as PlayHall
from thudmud.game.match import RATED_PLIES
from thudmud.game.table import BoardSpec, Table
from thudmud.rules import RULESETS, Game, Side
from thudmud.service import JoinRequest, Service, Visit
from thudmud.service.boards import close_board, rename_board
from thudmud.store import Store, run_synchronously

GRACE, PAUSE = 300.0, 60.0
BOARDS = [
    BoardSpec("oak board"),
    BoardSpec("pine board", "classic"),
    BoardSpec("elm table", "koom valley"),
]
THERE = {
    "oak board": (
        ("move from a6 to b6", "move from b6 to a6"),
        ("move from g9 to f9", "move from f9 to g9"),
    ),
    "elm table": (
        ("move from a10 to a9", "move from a9 to a10"),
        ("move from e3 to e4", "move from e4 to e3"),
    ),
}
"""Plies of Anna and of Grog, there and back."""
AMBLE = ["move from f1 to f2", "move from f2 to f1"]


class Hall:
    """A service with players who type, bots that act, and a fake clock."""

    def __init__(self, *bots: str) -> None:
        self.now = 1000.0
        self.minds: dict[str, Opponent] = {}
        self.typed: list[str] = []
        self.visits: dict[str, Visit] = {}
        store = Store.in_memory(clock=lambda: self.now)
        self.service = Service(PlayHall(BOARDS, seat_grace=GRACE), store, clock=lambda: self.now)
        run_synchronously(self.service.open())
        for bot in bots:
            self.come(bot)

    @property
    def tables(self) -> Mapping[str, Table]:
        return self.service.hall.tables

    def game(self, board: str = "oak board") -> Game:
        game = self.tables[board].game
        assert game
        return game

    def come(self, name: str, *, bot: bool = True, grace: float = GRACE) -> None:
        if bot:
            self.minds[name] = Opponent(name, grace, PAUSE)
            hall = self.service.hall
            hall.bots = {**hall.bots, name: None}

        def watch(telling: Delivery) -> None:
            if name in self.minds:
                self.minds[name].observe_delivery(telling, self.now)

        visit = run_synchronously(self.service.join(JoinRequest(name, None, watcher=watch)))
        assert visit
        self.visits[name] = visit

    def type(self, name: str, *lines: str | Command) -> list[str]:
        """Submit lines of a player; return the commands of bots after the last one."""
        for line in lines:
            self.submit(name, line)
            self.settle()
        return self.typed

    def submit(self, name: str, line: str | Command) -> None:
        run_synchronously(self.service.submit(self.visits[name], line))

    def wait(self, seconds: float) -> list[str]:
        self.now += seconds
        return self.settle()

    def lose(self, name: str, parting: Parting = Parting.LOST) -> list[str]:
        run_synchronously(self.service.leave(self.visits[name], parting))
        return self.settle()

    def settle(self) -> list[str]:
        """Let the bots issue all commands except plies; return them."""
        self.typed = []
        for _ in range(50):
            if not any(self._act(name, mind) for name, mind in self.minds.items()):
                return self.typed
        raise AssertionError(f"the bots never rest: {self.typed}")

    def play(self, name: str) -> str:
        """Let a bot play the first legal ply; return the board."""
        task, *_ = self.minds[name].tasks()
        [move, *_] = task.game.legal_moves()
        self.submit(name, task.command(str(move)))
        self.settle()
        return task.board

    def _act(self, name: str, mind: Opponent) -> bool:
        commands = mind.commands(self.now)
        commands += [Join(asked.side, asked.board) for asked in mind.invitations]
        mind.invitations.clear()
        for command in commands:
            self.typed.append(f"{name}: {command}")
            self.submit(name, command)
        return bool(commands)


@pytest.fixture
def hall() -> Hall:
    hall = Hall("Grog")
    hall.come("Anna", bot=False)
    return hall


@pytest.fixture
def battle(hall: Hall) -> Hall:
    """A battle in which Anna plays the dwarfs against Grog."""
    hall.type("Anna", "join game as dwarf on oak board", "invite grog", "start")
    return hall


def test_bot_sits_down_where_invited(hall: Hall) -> None:
    hall.type("Anna", "join game as dwarf on oak board")
    assert hall.type("Anna", "invite grog") == ["Grog: join game as troll on oak board"]
    assert hall.tables["oak board"].seats == {Side.DWARF: "Anna", Side.TROLL: "Grog"}
    assert hall.minds["Grog"].opponent_at("oak board") == "Anna"
    assert hall.minds["Grog"].tasks() == []


def test_bot_ignores_invitations_to_others(hall: Hall) -> None:
    hall.come("Bert", bot=False)
    assert hall.type("Anna", "invite bert on oak board", "say grog, come") == []
    assert not hall.minds["Grog"].plays


def test_bot_never_begins_a_battle_against_a_person(hall: Hall) -> None:
    hall.type("Anna", "join game as troll on oak board", "invite grog")
    assert hall.minds["Grog"].next_time(hall.now) is None
    assert hall.wait(10 * PAUSE) == []
    hall.type("Anna", "start", "go hall", Resign("oak board"))
    assert hall.minds["Grog"].next_time(hall.now) is None
    assert hall.wait(10 * PAUSE) == []
    hall.type("Anna", "start on oak board")
    assert hall.tables["oak board"].is_running


def test_bots_start_a_battle_after_a_pause(hall: Hall) -> None:
    hall.service.hall.bots = {"Grog": None, "Mog": None}
    hall.come("Mog")
    hall.type("Anna", "invite grog on oak board", "invite mog on oak board")
    assert hall.wait(PAUSE - 1) == []
    assert hall.wait(1 + TROLLS_AFTER)
    assert hall.tables["oak board"].is_running


def test_bot_withdraws_a_start_that_crossed_with_the_opponents(hall: Hall) -> None:
    hall.type("Anna", "join game as troll on oak board", "invite grog", "start")
    assert hall.type("Grog", "start game") == ["Grog: no on oak board"]
    assert not hall.tables["oak board"].offers
    assert hall.minds["Grog"].tasks()


def test_bot_has_a_task_on_its_turn(battle: Hall) -> None:
    assert battle.minds["Grog"].tasks() == []
    battle.type("Anna", "move from f1 to f6")
    [task] = battle.minds["Grog"].tasks()
    assert (task.board, task.battle, task.game) == ("oak board", 1, battle.game())
    assert task.setup.endswith(",RH8 troll")
    assert "dF6" in task.setup
    assert battle.play("Grog") == "oak board"
    assert battle.minds["Grog"].tasks() == []


def pause(hall: Hall, name: str = "Grog", level: int | None = 1) -> float:
    """Return the pause before a bot's ply, for a usual pause of a second."""
    mind = hall.minds[name]
    [task] = mind.tasks()
    return mind.pause_before(task, 1.0, level)


def test_weak_bot_hesitates_against_a_person(battle: Hall) -> None:
    battle.type("Anna", "move from a6 to b6")
    assert pause(battle) == pause_before_ply(1.0, battle.game().position, 1, plays_person=True) > 1
    assert pause(battle, level=7) == pause(battle, level=None) == 1


def test_weak_bot_does_not_hesitate_against_a_bot() -> None:
    hall = Hall("Grog", "Mog")
    hall.submit("Grog", Join(Side.TROLL, "oak board"))
    hall.submit("Mog", Join(Side.DWARF, "oak board"))
    hall.wait(PAUSE)
    assert hall.play("Mog") == "oak board"
    assert pause(hall) == 1


def test_bot_with_little_time_on_its_clock_does_not_pause(hall: Hall) -> None:
    hall.type("Anna", "join game as dwarf on oak board", "set clock 1+0")
    hall.submit("Grog", Join(Side.TROLL, "oak board"))
    hall.type("Anna", "start", "move from f1 to f2")
    assert pause(hall) == 60 * SHARE
    hall.now += 55
    hall.play("Grog")
    hall.type("Anna", "move from f2 to f1")
    assert pause(hall) == 0


def test_pause_of_an_outdated_task_is_the_usual_one(battle: Hall) -> None:
    battle.type("Anna", "move from a6 to b6")
    mind = battle.minds["Grog"]
    [task] = mind.tasks()
    battle.type("Anna", "leave game on oak board")
    assert mind.pause_before(task, 1.0, 1) == 1


def remarks(hall: Hall, name: str = "Grog") -> list[tuple[str, bool]]:
    """Return the remarks of a bot since the last call."""
    made = []
    while remark := hall.minds[name].next_remark():
        made.append(remark)
    return made


def test_bot_has_a_remark_at_the_beginning_and_the_end_of_a_match(battle: Hall) -> None:
    assert remarks(battle) == [("oak board", False)]
    battle.type("Anna", "start")  # both agree to begin the battle anew
    battle.type("Anna", "resign", "yes", "start", "move f1 f2")
    assert remarks(battle) == []
    battle.type("Anna", "move from f2 to f1", "resign", "yes")
    assert remarks(battle) == [("oak board", True)]


def test_bots_have_no_remarks_for_each_other() -> None:
    hall = Hall("Grog", "Mog")
    hall.come("Anna", bot=False)
    hall.type("Anna", "join game as dwarf on oak board", "invite grog", "leave game on oak board")
    hall.type("Grog", "join game as dwarf on pine board")
    hall.type("Mog", "join game as troll on pine board", "start")
    assert hall.tables["pine board"].is_running
    hall.type("Grog", "resign", "yes", "start", "resign", "yes")
    assert remarks(hall) == remarks(hall, "Mog") == []


@pytest.mark.parametrize("ply", ["TG7-G5", "dA6-B6", "pass", "", "TG7-G6xE6"])
def test_task_rejects_an_illegal_ply(battle: Hall, ply: str) -> None:
    battle.type("Anna", "move from f1 to f2")
    [task] = battle.minds["Grog"].tasks()
    with pytest.raises(ValueError, match=r"\w"):
        task.command(ply)


@pytest.mark.parametrize("rules", RULESETS)
@pytest.mark.parametrize("side", Side)
def test_task_position_follows_the_table(rules: str, side: Side) -> None:
    hall = Hall("Grog", "Mog")
    hall.come("Anna", bot=False)
    hall.type("Anna", f"set rules {rules} on oak board")
    hall.type("Anna", f"invite grog as {side.value} on oak board")
    hall.type("Anna", f"invite mog as {side.other.value} on oak board")
    hall.wait(PAUSE)
    for _ in range(30):
        if hall.game().outcome:
            break
        [(name, task)] = [
            (each, task) for each, mind in hall.minds.items() for task in mind.tasks()
        ]
        assert task.game == hall.game()
        hall.play(name)


def test_bot_agrees_to_take_plies_back(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    assert battle.type("Anna", "undo") == ["Grog: undo on oak board"]
    battle.type("Anna", "move from f1 to f5")
    battle.play("Grog")
    assert battle.type("Anna", "undo") == ["Grog: undo on oak board"]
    battle.type("Anna", "move from f1 to f4")
    [task] = battle.minds["Grog"].tasks()
    assert task.game == battle.game()


def test_bot_agrees_to_adjourn_and_returns_to_resume(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    assert battle.type("Anna", "adjourn") == ["Grog: adjourn game on oak board"]
    assert not battle.minds["Grog"].plays
    assert battle.wait(10 * GRACE) == []
    battle.type("Anna", "resume")
    [task] = battle.minds["Grog"].tasks()
    assert len(task.game.moves) == 1


def test_bot_agrees_to_restart_a_first_battle_of_few_plies(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    assert battle.type("Anna", "start") == ["Grog: start game on oak board"]
    amble(battle, RATED_PLIES - 2, lambda _: 0)
    battle.type("Anna", "move from f1 to f5")
    assert battle.type("Anna", "start") == ["Grog: start game on oak board"]
    assert battle.game().moves == ()


def test_bot_declines_to_restart_once_the_battle_counts(battle: Hall) -> None:
    amble(battle, RATED_PLIES, lambda _: 0)
    assert battle.type("Anna", "start", "yes") == ["Grog: no on oak board"]


def test_bot_declines_to_restart_after_a_capture(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    battle.type("Grog", "move from g7 to g6 capturing f6")
    assert battle.type("Anna", "start") == ["Grog: no on oak board"]


def test_bot_declines_to_restart_a_second_battle(battle: Hall) -> None:
    battle.type("Anna", "resign on it", "yes", "start")
    battle.play("Grog")
    assert battle.type("Anna", "start", "yes") == ["Grog: no on oak board"]


def test_bot_without_an_estimate_declines_to_end(battle: Hall) -> None:
    assert battle.type("Anna", "end game") == ["Grog: no on oak board"]
    battle.type("Anna", "move from f1 to f6")
    battle.type("Grog", "move from g7 to g6 capturing f6")
    for _ in range(2):
        assert battle.type("Anna", "end game") == ["Grog: no on oak board"]
    battle.type("Anna", "move from g1 to g5")
    battle.type("Grog", "move from h7 to h6")
    battle.type("Anna", "hurl from g5 to g6")
    assert battle.type("Anna", "end game") == ["Grog: no on oak board"]


def test_bot_behind_in_the_match_ends_only_a_long_quiet_battle(hall: Hall) -> None:
    hall.type("Anna", "join game as troll on oak board", "invite grog", "start")
    hall.type("Grog", "resign on it", "yes", "start")
    assert hall.type("Anna", "end game") == ["Grog: no on oak board"]
    amble(hall, QUIET_EVEN, lambda _: -700)
    assert hall.typed == []
    assert hall.type("Anna", "end game") == ["Grog: no on oak board"]
    amble(hall, QUIET - QUIET_EVEN, lambda _: -700)
    assert hall.typed == ["Grog: end game on oak board"]


def test_bot_ahead_in_the_match_agrees_to_end_a_quiet_battle(hall: Hall) -> None:
    hall.type("Anna", "join game as troll on oak board", "invite grog", "start")
    hall.type("Anna", "resign on it", "yes", "start")
    assert hall.type("Anna", "end game") == ["Grog: no on oak board"]
    amble(hall, QUIET_ENOUGH, lambda _: -700)
    assert hall.type("Anna", "end game") == ["Grog: end game on oak board"]


def test_bot_offers_to_end_a_long_quiet_battle(battle: Hall) -> None:
    for ply in range(QUIET // 2):
        battle.type("Anna", AMBLE[ply % 2])
        before = battle.typed
        battle.type("Grog", ["move from g7 to f7", "move from f7 to g7"][ply % 2])
        assert before == []
    assert battle.typed == ["Grog: end game on oak board"]
    assert battle.wait(2 * REPEAT_AFTER) == []
    for ply in range(QUIET // 2):
        battle.type("Anna", AMBLE[ply % 2])
        battle.type("Grog", ["move from g7 to f7", "move from f7 to g7"][ply % 2])
    assert battle.typed == ["Grog: end game on oak board"]
    battle.type("Anna", "end game")
    assert not battle.tables["oak board"].is_running


def amble(hall: Hall, plies: int, score: Callable[[int], int], board: str = "oak board") -> None:
    """Play plies without captures, which Grog (the trolls) evaluates as ``score``."""
    there = THERE[board]
    for ply in range(0, plies, 2):
        back = len(hall.game(board).moves) // 2 % 2
        hall.type("Anna", there[0][back])
        [task] = hall.minds["Grog"].tasks()
        hall.minds["Grog"].record_score(task, score(ply))
        hall.settle()
        if not hall.tables[board].is_running:
            return
        hall.type("Grog", there[1][back])


def test_bot_offers_to_end_a_battle_without_progress(battle: Hall) -> None:
    amble(battle, QUIET_EVEN - 2, lambda _: 700)
    assert battle.typed == []
    amble(battle, 2, lambda _: 700)
    assert battle.typed == ["Grog: end game on oak board"]
    battle.type("Anna", "no")
    amble(battle, QUIET_EVEN - 2, lambda _: 700)
    assert battle.typed == []
    amble(battle, 2, lambda _: 700)
    assert battle.typed == ["Grog: end game on oak board"]


def test_bot_making_progress_offers_to_end_later(battle: Hall) -> None:
    amble(battle, QUIET - 2, lambda ply: 700 + 10 * ply)
    assert battle.typed == []
    amble(battle, 2, lambda _: 900)
    assert battle.typed == ["Grog: end game on oak board"]


@pytest.fixture
def behind(battle: Hall) -> Hall:
    """A battle in which Grog has just lost a troll and played a ply."""
    battle.type("Anna", "move from f1 to f6")
    battle.type("Grog", "move from g7 to f7")
    battle.type("Anna", "hurl from f6 to f7")
    battle.type("Grog", "move from h7 to g7")
    return battle


def test_bot_behind_on_the_board_offers_to_end_later(behind: Hall) -> None:
    amble(behind, QUIET - 2, lambda _: 700)
    assert behind.typed == []
    amble(behind, 2, lambda _: 700)
    assert behind.typed == ["Grog: end game on oak board"]


def test_bot_agrees_to_an_end_that_it_would_offer(behind: Hall) -> None:
    amble(behind, QUIET - 4, lambda _: 700)
    (there, back), (away, _) = THERE["oak board"]
    behind.type("Anna", there)
    assert behind.type("Anna", "end game") == ["Grog: no on oak board"]
    behind.type("Grog", away)
    behind.type("Anna", back)
    assert behind.type("Anna", "end game") == ["Grog: end game on oak board"]


@pytest.mark.parametrize(("score", "agrees"), [(0, True), (-100, True), (100, False)])
def test_bot_agrees_to_an_end_unless_it_is_ahead(
    battle: Hall,
    score: int,
    agrees: bool,  # noqa: FBT001 (of a parameter)
) -> None:
    amble(battle, QUIET_ENOUGH - 2, lambda _: score)
    assert battle.type("Anna", "end game") == ["Grog: no on oak board"]
    amble(battle, 2, lambda _: score)
    answer = "end game" if agrees else "no"
    assert battle.type("Anna", "end game") == [f"Grog: {answer} on oak board"]


@pytest.mark.parametrize("board", ["oak board", "elm table"])
def test_bot_resigns_a_lost_battle_only_where_pieces_do_not_count(hall: Hall, board: str) -> None:
    hall.type("Anna", f"join game as dwarf on {board}", "invite grog", "start")
    amble(hall, 2 * (LOST_FOR - 1), lambda _: -LOST_BY, board)
    amble(hall, 2, lambda _: 1 - LOST_BY, board)
    amble(hall, 2 * (LOST_FOR - 1), lambda _: -LOST_BY, board)
    assert hall.tables[board].is_running
    amble(hall, 2, lambda _: -LOST_BY, board)
    resigns = ["Grog: resign game on elm table"] if board == "elm table" else []
    assert hall.typed == resigns
    assert hall.tables[board].is_running is not bool(resigns)


def test_bot_forgets_evaluations_of_plies_taken_back(hall: Hall) -> None:
    hall.type("Anna", "join game as dwarf on elm table", "invite grog", "start")
    amble(hall, 2 * (LOST_FOR - 1), lambda _: -LOST_BY, "elm table")
    for _ in range(2):
        hall.type("Anna", THERE["elm table"][0][1])
        [task] = hall.minds["Grog"].tasks()
        hall.minds["Grog"].record_score(task, 0)
        hall.type("Anna", "undo")
    amble(hall, 2, lambda _: 0, "elm table")
    assert hall.tables["elm table"].is_running


def test_bot_at_a_board_with_a_clock_lets_a_person_start(hall: Hall) -> None:
    hall.type("Anna", "join game as dwarf on oak board", "set clock 5+3", "invite grog")
    assert hall.wait(2 * PAUSE) == []
    hall.type("Anna", "start", "resign on it", "yes")
    assert hall.wait(2 * GRACE) == []
    hall.type("Anna", "start")
    assert hall.minds["Grog"].tasks()


def test_bots_at_a_board_with_a_clock_start_themselves(hall: Hall) -> None:
    hall.service.hall.bots = {"Grog": None, "Mog": None}
    hall.come("Mog")
    hall.type("Anna", "invite grog on oak board", "invite mog on oak board")
    hall.type("Grog", "set clock 5+3")
    hall.wait(PAUSE)
    assert hall.tables["oak board"].clock


def test_bot_plays_the_second_battle_and_leaves_after_the_match(battle: Hall) -> None:
    battle.type("Anna", Resign())
    battle.type("Anna", "start")
    assert battle.minds["Grog"].tasks()  # the dwarfs by now
    battle.type("Anna", Resign())
    assert battle.wait(GRACE - 1) == []
    assert battle.wait(1) == ["Grog: leave game on oak board", "Grog: go hall"]


def test_bot_stays_for_a_rematch(battle: Hall) -> None:
    battle.type("Anna", Resign(), "start", Resign(), "start")
    assert battle.tables["oak board"].is_running
    assert battle.wait(2 * GRACE) == []


def test_bot_leaves_when_the_opponent_does(battle: Hall) -> None:
    leaves = ["Grog: leave game on oak board", "Grog: go hall"]
    assert battle.type("Anna", "leave game") == leaves
    battle.type("Anna", "join game as dwarf", "invite grog")
    assert battle.type("Anna", "leave game") == leaves
    assert not battle.minds["Grog"].plays


def test_bot_leaves_a_board_without_an_opponent_after_the_grace(hall: Hall) -> None:
    hall.type("Anna", "invite grog on oak board")
    assert hall.wait(GRACE - 1) == []
    assert hall.wait(1) == ["Grog: leave game on oak board", "Grog: go hall"]


def test_bot_waits_a_minimum_time_without_a_seat_grace() -> None:
    hall = Hall()
    hall.come("Anna", bot=False)
    hall.come("Grog", grace=0.0)
    hall.type("Anna", "invite grog on oak board")
    assert hall.wait(LEAST_PATIENCE - 1) == []
    assert hall.wait(1) == ["Grog: leave game on oak board", "Grog: go hall"]


def test_bot_adjourns_the_match_of_an_absent_opponent(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    assert battle.lose("Anna", Parting.QUIT) == []
    assert battle.wait(GRACE - 1) == []
    assert battle.wait(1) == ["Grog: adjourn game on oak board"]
    battle.come("Anna", bot=False)
    battle.type("Anna", "go to oak board", "resume")
    assert battle.tables["oak board"].is_running


def test_bot_plays_on_with_an_opponent_who_returns_in_time(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    battle.lose("Anna")
    assert battle.wait(GRACE / 2) == []
    assert battle.minds["Grog"].tasks() == []
    battle.come("Anna", bot=False)
    assert battle.wait(GRACE) == []
    assert battle.minds["Grog"].tasks()


def test_bot_leaves_an_absent_opponent_without_a_match(hall: Hall) -> None:
    hall.type("Anna", "join game as dwarf on oak board", "invite grog")
    hall.lose("Anna")
    assert hall.wait(GRACE) == ["Grog: leave game on oak board"]


def test_bot_resumes_its_battle_after_a_restart(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    del battle.minds["Grog"]
    battle.lose("Grog", Parting.RESTART)
    battle.come("Grog")
    [task] = battle.minds["Grog"].tasks()
    assert (len(task.game.moves), task.board) == (1, "oak board")


def test_bot_plays_at_several_boards(battle: Hall) -> None:
    battle.come("Bert", bot=False)
    battle.type("Bert", "join game as troll on elm table", "invite grog", "start")
    battle.type("Anna", "move from f1 to f6")
    assert {battle.play("Grog"), battle.play("Grog")} == {"oak board", "elm table"}
    assert battle.type("Bert", "leave game") == ["Grog: leave game on elm table", "Grog: go hall"]
    battle.type("Anna", "move from f6 to f5")
    assert battle.play("Grog") == "oak board"


def test_bot_repeats_an_ineffective_command_after_a_delay(hall: Hall) -> None:
    mind = hall.minds["Grog"]
    hall.type("Anna", "invite grog on oak board")
    hall.now += GRACE
    assert mind.commands(hall.now) == [Leave("oak board"), Go()]
    assert mind.commands(hall.now) == []
    assert mind.next_time(hall.now) == hall.now + REPEAT_AFTER
    hall.now += REPEAT_AFTER
    assert mind.commands(hall.now) == [Leave("oak board"), Go()]


def test_bot_learns_missed_plies_with_the_next_event(battle: Hall) -> None:
    mind = battle.minds.pop("Grog")
    battle.type("Anna", "move from f1 to f6")
    battle.minds["Grog"] = mind  # no events reached it until now
    battle.type("Grog", "move from g7 to g6")
    battle.type("Anna", "move from f6 to f5")
    [task] = mind.tasks()
    assert task.game == battle.game()


async def test_bot_follows_a_renamed_board_and_drops_a_closed_one(
    battle: Hall,
) -> None:
    store = battle.service.store
    battle.type("Anna", "move from f1 to f6")
    await rename_board(store, "oak board", "yew board", battle.now)
    assert battle.play("Grog") == "yew board"
    assert len(battle.game("yew board").moves) == 2
    battle.type("Anna", "move from f6 to f5")
    await close_board(store, "yew board", battle.now)
    assert battle.minds["Grog"].tasks() == []
    assert not battle.minds["Grog"].plays


def test_bot_ignores_events_at_other_boards(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    [before] = battle.minds["Grog"].tasks()
    battle.come("Bert", bot=False)
    assert battle.type("Bert", "join game as troll on pine board", "say hello") == []
    assert battle.minds["Grog"].tasks() == [before]
    assert not battle.minds["Grog"].has_seat_at("pine board")
