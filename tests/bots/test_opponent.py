"""When a bot sits down, starts, agrees, declines and leaves: in a house, by the packages alone."""

from __future__ import annotations

import json

import pytest

from thudmud.bots.opponent import LEAST_PATIENCE, QUIET, REPEAT_AFTER, TROLLS_AFTER, Opponent
from thudmud.house import House
from thudmud.play.events import Parting
from thudmud.play.table import BoardSpec
from thudmud.rules import RULESETS, Side
from thudmud.views import Message
from thudmud.views.view import Terminal

GRACE, PAUSE = 300.0, 60.0
PROGRAM = Terminal(packages=frozenset({"thud"}))
BOARDS = [
    BoardSpec("oak board"),
    BoardSpec("pine board", "classic"),
    BoardSpec("elm table", "koom valley"),
]
AMBLE = ["move from f1 to f2", "move from f2 to f1"]


class Hall:
    """Players who type, and bots who do what they want to; time is told."""

    def __init__(self, *bots: str) -> None:
        self.house = House(BOARDS, seat_grace=GRACE)
        self.now = 1000.0
        self.minds: dict[str, Opponent] = {}
        self.typed: list[str] = []
        self.heard: list[str] = []
        for bot in bots:
            self.come(bot)

    def come(self, name: str, *, bot: bool = True, grace: float = GRACE) -> None:
        if bot:
            self.minds[name] = Opponent(name, grace, PAUSE)
        self._tell(self.house.enter(name, self.now, PROGRAM if bot else Terminal()))

    def type(self, name: str, *lines: str) -> list[str]:
        """Let a player type; return what bots type after the last line."""
        for line in lines:
            self._tell(self.house.obey(name, line, self.now))
            self.settle()
        return self.typed

    def wait(self, seconds: float) -> list[str]:
        self.now += seconds
        return self.settle()

    def lose(self, name: str, parting: Parting = Parting.LOST) -> list[str]:
        self._tell(self.house.depart(name, self.now, parting))
        return self.settle()

    def settle(self) -> list[str]:
        """Let bots do all they want to, but play; return what they typed."""
        self.typed = []
        for _ in range(50):
            if not any(self._act(name, mind) for name, mind in self.minds.items()):
                return self.typed
        raise AssertionError(f"the bots never rest: {self.typed}")

    def play(self, name: str) -> str:
        """Let a bot play the first ply there is."""
        mind = self.minds[name]
        task = mind.task()
        assert task
        [move, *_] = RULESETS[task.rules].legal_moves(task.position)
        self._tell(self.house.obey(name, task.line(str(move)), self.now))
        self.settle()
        return task.board

    def _act(self, name: str, mind: Opponent) -> bool:
        lines = mind.lines(self.now)
        for asked in mind.invitations:
            lines.append(f"join game as {asked.side.value} on {asked.board}")
        mind.invitations.clear()
        for line in lines:
            self.typed.append(f"{name}: {line}")
            self._tell(self.house.obey(name, line, self.now))
        return bool(lines)

    def _tell(self, messages: list[Message]) -> None:
        for message in messages:
            for name in message.to:
                if message.package and name in self.minds:
                    self.minds[name].told(message.package, json.loads(message.text), self.now)
                elif not message.package:
                    self.heard.append(f"{name}: {message.text}")


@pytest.fixture
def hall() -> Hall:
    hall = Hall("Grog")
    hall.come("Anna", bot=False)
    return hall


@pytest.fixture
def battle(hall: Hall) -> Hall:
    """Anna plays the dwarfs."""
    hall.type("Anna", "join game as dwarf on oak board", "invite grog", "start")
    return hall


def test_it_sits_down_where_it_is_asked_to(hall: Hall) -> None:
    hall.type("Anna", "join game as dwarf on oak board")
    assert hall.type("Anna", "invite grog") == ["Grog: join game as troll on oak board"]
    assert hall.house.hall.tables["oak board"].seats == {Side.DWARF: "Anna", Side.TROLL: "Grog"}
    assert hall.minds["Grog"].other("oak board") == "Anna"
    assert hall.minds["Grog"].task() is None


def test_invitations_of_others_are_not_its_own(hall: Hall) -> None:
    hall.come("Bert", bot=False)
    assert hall.type("Anna", "invite bert on oak board", "say grog, come") == []
    assert not hall.minds["Grog"].plays


def test_it_begins_a_battle_if_nobody_else_does(hall: Hall) -> None:
    hall.type("Anna", "join game as troll on oak board", "invite grog")
    assert hall.wait(PAUSE - 1) == []
    assert hall.minds["Grog"].next_time(hall.now) == hall.now + 1
    assert hall.wait(1) == ["Grog: start game on oak board"]
    assert hall.minds["Grog"].task()


def test_what_it_says_at_the_same_time_as_the_other_is_taken_back(hall: Hall) -> None:
    hall.type("Anna", "join game as troll on oak board", "invite grog", "start")
    assert hall.type("Grog", "start game") == ["Grog: no on oak board"]
    assert not hall.house.hall.tables["oak board"].offers
    assert hall.minds["Grog"].task()


def test_it_plays_when_it_is_its_turn(battle: Hall) -> None:
    assert battle.minds["Grog"].task() is None
    battle.type("Anna", "move from f1 to f6")
    task = battle.minds["Grog"].task()
    assert task
    assert (task.board, task.battle, task.ply, task.rules) == ("oak board", 1, 1, "discworld")
    assert task.setup.endswith(",RH8 troll")
    assert "dF6" in task.setup
    assert battle.play("Grog") == "oak board"
    assert battle.minds["Grog"].task() is None


@pytest.mark.parametrize("ply", ["TG7-G5", "dA6-B6", "pass", "", "TG7-G6xE6"])
def test_what_the_rules_refuse_is_typed_by_no_bot(battle: Hall, ply: str) -> None:
    battle.type("Anna", "move from f1 to f2")
    task = battle.minds["Grog"].task()
    assert task
    with pytest.raises(ValueError, match=r"\w"):
        task.line(ply)


@pytest.mark.parametrize("rules", RULESETS)
@pytest.mark.parametrize("side", Side)
def test_its_position_is_that_of_the_table(rules: str, side: Side) -> None:
    hall = Hall("Grog", "Mog")
    hall.come("Anna", bot=False)
    hall.type("Anna", f"set rules {rules} on oak board")
    hall.type("Anna", f"invite grog as {side.value} on oak board")
    hall.type("Anna", f"invite mog as {side.other.value} on oak board")
    hall.wait(PAUSE)
    for _ in range(30):
        game = hall.house.hall.tables["oak board"].game
        assert game
        if game.outcome:
            break
        [(name, task)] = [(each, mind.task()) for each, mind in hall.minds.items() if mind.task()]
        assert task
        assert task.position == game.position
        assert task.ply == len(game.moves)
        hall.play(name)


def test_it_agrees_to_take_moves_back(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    assert battle.type("Anna", "undo") == ["Grog: undo on oak board"]
    battle.type("Anna", "move from f1 to f5")
    battle.play("Grog")
    assert battle.type("Anna", "undo") == ["Grog: undo on oak board"]
    battle.type("Anna", "move from f1 to f4")
    task, game = battle.minds["Grog"].task(), battle.house.hall.tables["oak board"].game
    assert task
    assert game
    assert task.position == game.position


def test_it_agrees_to_adjourn_and_comes_back_to_resume(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    assert battle.type("Anna", "adjourn") == ["Grog: adjourn game on oak board"]
    assert not battle.minds["Grog"].plays
    assert battle.wait(10 * GRACE) == []
    battle.type("Anna", "resume")
    task = battle.minds["Grog"].task()
    assert task
    assert task.ply == 1


def test_it_agrees_to_start_over(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    assert battle.type("Anna", "start") == ["Grog: start game on oak board"]
    battle.type("Anna", "move from f1 to f5")
    assert battle.minds["Grog"].task()


def test_it_ends_a_battle_unless_it_is_ahead(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    battle.type("Grog", "move from g7 to g6 capturing f6")
    for _ in range(2):
        assert battle.type("Anna", "end game") == ["Grog: no on oak board"]
    battle.type("Anna", "move from g1 to g5")
    battle.type("Grog", "move from h7 to h6")
    battle.type("Anna", "hurl from g5 to g6")
    assert battle.type("Anna", "end game") == ["Grog: end game on oak board"]


def test_it_offers_to_end_what_leads_nowhere(battle: Hall) -> None:
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
    assert not battle.house.hall.tables["oak board"].running


def test_it_plays_the_second_battle_and_leaves_after_the_match(battle: Hall) -> None:
    battle.type("Anna", "resign")
    assert battle.wait(PAUSE) == []
    assert battle.wait(TROLLS_AFTER) == ["Grog: start game on oak board"]
    assert battle.minds["Grog"].task()  # the dwarfs by now
    battle.type("Anna", "resign")
    assert battle.wait(GRACE - 1) == []
    assert battle.wait(1) == ["Grog: leave game on oak board", "Grog: go hall"]


def test_after_a_match_another_can_be_started(battle: Hall) -> None:
    battle.type("Anna", "resign", "start", "resign", "start")
    assert battle.house.hall.tables["oak board"].running
    assert battle.wait(2 * GRACE) == []


def test_it_leaves_when_the_other_does(battle: Hall) -> None:
    leaves = ["Grog: leave game on oak board", "Grog: go hall"]
    assert battle.type("Anna", "leave game") == leaves
    battle.type("Anna", "join game as dwarf", "invite grog")
    assert battle.type("Anna", "leave game") == leaves
    assert not battle.minds["Grog"].plays


def test_where_nobody_comes_it_leaves_in_the_end(hall: Hall) -> None:
    hall.type("Anna", "invite grog on oak board")
    assert hall.wait(GRACE - 1) == []
    assert hall.wait(1) == ["Grog: leave game on oak board", "Grog: go hall"]


def test_it_is_patient_where_seats_are_kept_for_no_time() -> None:
    hall = Hall()
    hall.come("Anna", bot=False)
    hall.come("Grog", grace=0.0)
    hall.type("Anna", "invite grog on oak board")
    assert hall.wait(LEAST_PATIENCE - 1) == []
    assert hall.wait(1) == ["Grog: leave game on oak board", "Grog: go hall"]


def test_it_waits_for_who_is_away_and_puts_the_match_away(battle: Hall) -> None:
    assert battle.lose("Anna", Parting.QUIT) == []
    assert battle.wait(GRACE - 1) == []
    assert battle.wait(1) == ["Grog: adjourn game on oak board"]
    battle.come("Anna", bot=False)
    battle.type("Anna", "go to oak board", "resume")
    assert battle.house.hall.tables["oak board"].running


def test_who_comes_back_plays_on(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    battle.lose("Anna")
    assert battle.wait(GRACE / 2) == []
    assert battle.minds["Grog"].task() is None
    battle.come("Anna", bot=False)
    assert battle.wait(GRACE) == []
    assert battle.minds["Grog"].task()


def test_a_seat_without_a_match_is_not_kept_for_who_is_away(hall: Hall) -> None:
    hall.type("Anna", "join game as dwarf on oak board", "invite grog")
    hall.lose("Anna")
    assert hall.wait(GRACE) == ["Grog: leave game on oak board"]


def test_a_bot_that_was_gone_goes_on(battle: Hall) -> None:
    battle.type("Anna", "move from f1 to f6")
    del battle.minds["Grog"]
    battle.lose("Grog", Parting.RESTART)
    battle.come("Grog")
    task = battle.minds["Grog"].task()
    assert task
    assert (task.ply, task.board) == (1, "oak board")


def test_it_plays_at_several_boards(battle: Hall) -> None:
    battle.come("Bert", bot=False)
    battle.type("Bert", "join game as troll on elm table", "invite grog", "start")
    battle.type("Anna", "move from f1 to f6")
    assert {battle.play("Grog"), battle.play("Grog")} == {"oak board", "elm table"}
    assert battle.type("Bert", "leave game") == ["Grog: leave game on elm table", "Grog: go hall"]
    battle.type("Anna", "move from f6 to f5")
    assert battle.play("Grog") == "oak board"


def test_what_came_to_nothing_is_not_typed_again_at_once(hall: Hall) -> None:
    mind = hall.minds["Grog"]
    hall.type("Anna", "invite grog on oak board")
    hall.now += GRACE
    assert mind.lines(hall.now) == ["leave game on oak board", "go hall"]
    assert mind.lines(hall.now) == []
    assert mind.next_time(hall.now) == hall.now + REPEAT_AFTER
    hall.now += REPEAT_AFTER
    assert mind.lines(hall.now) == ["leave game on oak board", "go hall"]


def test_what_it_has_missed_it_looks_up(battle: Hall) -> None:
    mind = battle.minds.pop("Grog")
    battle.type("Anna", "move from f1 to f6")
    battle.minds["Grog"] = mind  # deaf until now
    battle.type("Grog", "move from g7 to g6")
    battle.type("Anna", "move from f6 to f5")
    task, game = mind.task(), battle.house.hall.tables["oak board"].game
    assert task
    assert game
    assert task.position == game.position


def test_old_facts_and_those_of_others_are_passed_over(battle: Hall) -> None:
    mind = battle.minds["Grog"]
    battle.type("Anna", "move from f1 to f6")
    before = mind.task()
    mind.told("Thud.Table", {"board": "oak board", "version": 1}, battle.now)
    mind.told("Thud.End", {"board": "oak board", "version": 99}, battle.now)
    mind.told("Thud.Move", {"board": "pine board", "version": 99, "ply": 5}, battle.now)
    assert mind.task() == before
    assert before
