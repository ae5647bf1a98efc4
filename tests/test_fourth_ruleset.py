"""A new ruleset is a value composed of parts; adding it to `RULESETS` is all it takes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from thudmud.bots import Dialogue
from thudmud.features.playing.moves import Play
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.language import ParseError, parse, parsing
from thudmud.rules import (
    RULESETS,
    Attempt,
    Ending,
    Game,
    IllegalMoveError,
    Piece,
    Position,
    Reason,
    Record,
    RecordError,
    Ruleset,
    Score,
    Side,
    Square,
    Verb,
    read_record,
    write_record,
)
from thudmud.rules.classic import HurlingDwarfs, ShovingTrolls
from thudmud.rules.koom_valley import INITIAL_POSITION, RockCaptured, TramplingTrolls
from thudmud.rules.scoring import ByPieces, ByVictory
from thudmud.search.levels import LEVELS
from thudmud.search.player import Player
from thudmud.values import replace
from thudmud.views.view import Terminal

PIECES = "dA8 dB8 dC8 TF8 XH8 TL6 TL7 TL8 dK11 dL11 dM11 dF15"

HILL = Ruleset(
    name="ant hill",
    title="Ant Hill",
    initial_position=Position.of(
        {Square.parse(each[1:]): Piece(each[0]) for each in PIECES.split()}, Side.DWARF
    ),
    dwarfs=HurlingDwarfs(),
    trolls=ShovingTrolls(most_after_move=2, shortest_shove=3),
    goals=(),
    scoring=ByPieces(dwarf=2, troll=7),
)
PASS = Ruleset(
    name="mountain pass",
    title="Mountain Pass",
    initial_position=INITIAL_POSITION,
    dwarfs=HurlingDwarfs(),
    trolls=TramplingTrolls(),
    goals=(RockCaptured(),),
    scoring=ByVictory(dwarfs_needed=1, trolls_needed=3),
)
"""Hurls against tramples, and a goal for one side only."""


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    known = parsing._expected, parsing._parse_cached  # these depend on the rulesets
    for rules in (HILL, PASS):
        monkeypatch.setitem(RULESETS, rules.name, rules)
    for cached in known:
        cached.cache_clear()
    yield
    for cached in known:
        cached.cache_clear()


class Evening:
    """Anna and Bert at the oak board, and Carla with a screen reader."""

    def __init__(self) -> None:
        self.house = House([BoardSpec("oak board")])
        self.house.enter("Anna", 0.0)
        self.house.enter("Bert", 0.0)
        self.house.enter("Carla", 0.0, Terminal(has_reader=True))
        self.type("Carla", "go to oak board")

    def type(self, name: str, line: str) -> dict[str, str]:
        """Type a line as ``name`` and return the text received by each player."""
        heard: dict[str, str] = {}
        for message in self.house.obey(name, line, 0.0):
            for each in message.to:
                heard[each] = f"{heard.get(each, '')} {' '.join(message.text.split())}".strip()
        return heard

    @property
    def game(self) -> Game:
        game = self.house.hall.tables["oak board"].game
        assert game
        return game


@pytest.fixture
def battle() -> Evening:
    evening = Evening()
    for name, line in (
        ("Anna", "set rules Ant Hill on oak board"),
        ("Anna", "join game as dwarf on oak board"),
        ("Bert", "join game as troll on oak board"),
        ("Anna", "start"),
    ):
        evening.type(name, line)
    assert evening.game.ruleset is HILL
    return evening


def test_ruleset_is_chosen_and_shown_by_its_name() -> None:
    evening = Evening()
    heard = evening.type("Anna", "set rules ant-hill on oak board")
    assert "ant hill" in heard["Anna"]
    assert "oak board (ant hill rules)" in evening.type("Carla", "boards")["Carla"]
    with pytest.raises(ParseError) as caught:
        parse("set rules ant hil on oak board")
    assert caught.value.suggestion == "ant hill"
    assert "ant hill" in caught.value.expected
    with pytest.raises(ParseError) as caught:
        parse("set rules ant hill oak board")
    assert caught.value.word == "oak"


def test_possible_plies_are_listed_under_new_rules(battle: Evening) -> None:
    assert battle.type("Anna", "lines")["Anna"] == (
        "Dwarf C8, line of 3 going east, reach 3: hurl to F8. The trolls threaten: "
        "Troll L8, line of 3 going south, reach 3: "
        "shove to L10 capturing any of K11, L11 and M11."
    )
    assert battle.type("Anna", "captures")["Anna"] == "Dwarf C8: hurl to F8."
    possible = battle.type("Anna", "view possible from c8")["Anna"]
    assert "move to D8, E8" in possible
    assert "hurl to F8" in possible


def test_whole_battle_is_played_and_recorded(battle: Evening) -> None:
    read_to = battle.type("Anna", "hurl c8 to f8")["Carla"]
    assert "Anna" in read_to
    assert "F8" in read_to
    battle.type("Bert", "move l8 to l9")
    battle.type("Anna", "move f15 to k10")
    refused = battle.type("Bert", "move l9 to l10 capturing all")["Bert"]
    assert "2 dwarfs" in refused
    battle.type("Bert", "move l9 to l10 capturing k11, l11")
    assert battle.game.score == Score(2 * 5, 7 * 3)
    battle.type("Anna", "end game")
    ended = battle.type("Bert", "end game")
    assert "Dwarfs, Anna: 10. Trolls, Bert: 21." in ended["Carla"]
    game = battle.game
    assert game.outcome
    assert (game.outcome.ending, game.outcome.winner) == (Ending.AGREEMENT, Side.TROLL)

    record = battle.type("Carla", "record 1")["Carla"]
    assert "ant hill, 4 moves" in record
    assert "dC8-F8xF8 TM8-M9" in record
    assert read_record(str(Record(game))).game == game
    assert read_record(write_record(game), HILL).game.moves == game.moves
    again = House([BoardSpec("oak board")], events=battle.house.events())
    assert again.hall.tables["oak board"].game == game


def test_ruleset_may_let_trolls_begin_and_lack_a_centre_stone() -> None:
    pieces = {Square.parse("C8"): Piece.DWARF, Square.parse("F8"): Piece.TROLL}
    field = replace(HILL, name="open field", initial_position=Position.of(pieces, Side.TROLL))
    game = Game.start(field)
    assert read_record(write_record(game), field).game == game
    with pytest.raises(RecordError, match="expected 0 R, got 1"):
        read_record("dC8,TF8,RH8", field)


@pytest.mark.parametrize("rules", [HILL, PASS], ids=str)
def test_bot_plays_the_ruleset(rules: Ruleset) -> None:
    evening = Evening()
    evening.type("Anna", f"set rules {rules} on oak board")
    evening.type("Anna", "join game as dwarf on oak board")
    evening.type("Bert", "join game as troll on oak board")
    evening.type("Anna", "start")
    player = Player(rules, LEVELS[0])
    for ply in range(12):
        game = evening.game
        if game.outcome:
            break
        move = player.think(game).move
        evening.type(("Anna", "Bert")[ply % 2], str(Play(move.attempt(), "oak board")))
        assert evening.game.moves[-1] == move
    assert read_record(write_record(evening.game), rules).game.moves == evening.game.moves


def test_hurling_dwarfs_cannot_move_the_rock() -> None:
    """With hurling dwarfs and a Rock, the Rock does not belong to the dwarfs."""
    game = Game.start(PASS)
    rock = Square.parse("H8")
    assert all(move.origin is not rock for move in game.legal_moves())
    with pytest.raises(IllegalMoveError) as caught:
        game.resolve(Attempt(Verb.MOVE, rock, Square.parse("G8")), Side.DWARF)
    assert caught.value.code is Reason.NOT_YOUR_ROCK


def test_engine_protocol_accepts_the_ruleset() -> None:
    engine = Dialogue("A player", lambda: 0.0)
    assert engine.answer("rules ant-hill") == "rules ant hill"
    played = str(engine.answer("go nodes 500")).removeprefix("go ")
    assert played in str(engine.answer("legal")).split()


def test_lines_command_explains_a_side_without_lines() -> None:
    evening = Evening()
    evening.type("Anna", "set rules mountain pass on oak board")
    evening.type("Anna", "join game as dwarf on oak board")
    evening.type("Bert", "join game as troll on oak board")
    evening.type("Anna", "start")
    assert evening.type("Bert", "lines")["Bert"] == (
        "No dwarf can be hurled now. Trolls trample a dwarf next to them."
    )


SOURCE = Path(__file__).parents[1] / "thudmud"
CONFIGURED = SOURCE / "server" / "config.py"
"""Defines the default boards and their rulesets."""
CONSTANTS = {"CLASSIC", "DISCWORLD", "KOOM_VALLEY"}


def names_a_ruleset(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    if not any(name in text for name in (*RULESETS, *CONSTANTS)):
        return False
    nodes = list(ast.walk(ast.parse(text)))
    texts = {each.value for each in nodes if isinstance(each, ast.Constant)}
    imported = {each.name for each in nodes if isinstance(each, ast.alias)}
    written = path != CONFIGURED and RULESETS.keys() & texts
    return bool(written or CONSTANTS & imported)


def test_ruleset_names_appear_only_in_the_rules_package() -> None:
    others = [path for path in SOURCE.rglob("*.py") if path.parent.name != "rules"]
    assert [path for path in others if names_a_ruleset(path)] == []
