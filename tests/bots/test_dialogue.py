"""The engine protocol: one answer a line, and no change by a refused one."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bots.talking import asked, dialogue
from tests.rules.looks import looks_of
from thudmud.bots import LONGEST_LINE
from thudmud.rules import RULESETS, Game, read_ply
from thudmud.rules.game import MOST_TRAMPLES
from thudmud.search.levels import LEVELS

STATE = "rules\nposition\nmoves"
CLOSE = (
    "dG10,dJ10,dF11,dG11,dH11,dJ11,dK11,dG12,dJ12,dF13,dG13,dH13,dJ13,dK13,dG14,dJ14,TH12,RH8 troll"
)
"""Sixteen dwarfs that a troll can trample along hundreds of thousands of paths."""


def test_dialogue_starts_with_the_discworld_opening() -> None:
    assert asked("rules\nmoves") == ["rules discworld", "moves"]
    position = asked("position")[0]
    assert position
    assert position.startswith("position dF1,dG1,dJ1,dK1,")
    assert position.endswith(",TH9,TJ9,RH8 dwarf")


@pytest.mark.parametrize("name", RULESETS)
def test_legal_lists_the_legal_plies(name: str) -> None:
    game = Game.start(RULESETS[name])
    listed = str(asked(f"rules {name}\nlegal")[1]).split()
    assert listed == ["legal", *map(str, game.legal_moves())]


@pytest.mark.parametrize("name", RULESETS)
def test_moves_and_position_round_trip(name: str) -> None:
    engine = dialogue()
    asked(f"rules {name.replace(' ', '-')}", engine)
    for _ in range(12):
        ply = str(engine.answer("go 0.01")).removeprefix("go ")
        assert f" {ply}" in str(engine.answer("legal"))
        assert engine.answer(f"play {ply}") == f"play {ply}"
    position, moves = str(engine.answer("position")), str(engine.answer("moves"))
    other = dialogue()
    assert asked(f"rules {name}\n{moves}\nposition", other)[1:] == [moves, position]
    assert asked(f"{position}\nposition\nmoves", other) == [position, position, "moves"]


def test_undo_stops_at_the_position_set_up() -> None:
    engine = dialogue()
    before = asked(STATE, engine)
    assert asked("ply dA6-B6\nplay TG7-F6\nundo\nundo", engine)[2:] == [
        "undo TG7-F6", "undo dA6-B6",
    ]  # fmt: skip
    assert asked("undo", engine) == ["error there is no ply to take back"]
    assert asked(STATE, engine) == before


def test_comments_and_blank_lines_get_no_answer() -> None:
    assert asked("\n   \n# a comment\n  #\t\nname") == [None] * 4 + ["name thudmud 0.1.0"]


def test_quit_alone_ends_the_dialogue() -> None:
    engine = dialogue()
    asked("name\nQUIT\nquit now\nexit", engine)
    assert not engine.ended
    assert engine.answer("quit") == "quit"
    assert engine.ended


WRONG = [
    "NAME",
    "name me",
    "rules chess",
    "rules " + "x" * 1000,
    "position setup",
    "position dA6,RH8",
    "position dA6,RH8 stone",
    "position dA6,RH8 dwarf troll",
    "position dA6 dwarf",
    "position dA6,dA6,RH8 dwarf",
    "position dI6,RH8 dwarf",
    "position dA1,RH8 dwarf",
    "position dA16,RH8 dwarf",
    "position dA6,RH9 dwarf",
    "position ,, dwarf",
    "position " + ",".join(f"T{column}8" for column in "ABCDEFGJK") + ",RH8 dwarf",
    "position " + "dA6," * 10_000 + " dwarf",
    "moves dA6-B6 dA6-B6",
    "moves dA6-B6 TG7",
    "legal A6",
    "play",
    "play dA6-B6 TG7-G6",
    "play dA6B6",
    "play TA6-B6",
    "play TG7-G6",
    "play dA6-A7",
    "play dA6-B6xC6",
    "play dA6-B9",
    "play dI6-B6",
    "play dA99999999999999999999-B6",
    "play dA6-B6" + "xB6" * 5000,
    "play \x1b[2J\x00",
    "play d\N{LATIN SMALL LETTER DOTLESS I}6-B6",
    "undo 2",
    "go fast",
    "go -1",
    "go 1e9",
    "go nan",
    "go 1 2",
    "go nodes",
    "go nodes -1",
    "go nodes 5 depth 5",
    "go depth 1.5",
    "worth fast",
    "line me",
    "level 99",
    "level -1",
    "level " + "9" * 5000,
    "info maybe",
    "stop it",
    "score 1",
    "result 1",
    "capabilities 1",
    "perft",
    "perft 21",
    "perft -1",
    "perft 1 1",
    "go " + "9" * 5000,
    "x" * (LONGEST_LINE + 1),
    "\N{SNOWMAN}",
]


@pytest.mark.parametrize("line", WRONG, ids=lambda line: line[:40])
def test_invalid_line_gets_one_error_and_changes_nothing(line: str) -> None:
    engine = dialogue()
    asked("rules classic\nposition dA6,dB6,TD6,TD7,RH8 dwarf\nplay dA6-A8\nundo", engine)
    if not line.startswith("position"):
        asked("position start", engine)
    before = asked(STATE, engine)
    answer = str(engine.answer(line))
    assert answer.startswith("error ")
    assert answer.isascii()
    assert answer.isprintable()
    assert len(answer) < 400
    assert asked(STATE, engine) == before


@given(st.lists(st.text(max_size=60) | st.sampled_from(WRONG[:20]) | st.sampled_from(
    ["rules koom valley", "position start", "legal", "play dA6-B6", "undo", "go 0", "moves",
     "level 1", "line depth 1", "worth nodes 1", "result", "score", "stop", "perft 1", "info on"]
), max_size=8))  # fmt: skip
def test_arbitrary_lines_get_one_answer_each(lines: list[str]) -> None:
    engine = dialogue()
    for line in lines:
        answer = engine.answer(line)
        is_silent = not line.split() or line.split()[0].startswith("#")
        assert (answer is None) is is_silent
        if answer is not None:
            assert answer.isascii()
            assert answer.isprintable()
            assert answer.split(" ")[0] in {"error", line.split()[0]}


def test_finished_battle_has_no_legal_plies() -> None:
    lines = "rules koom valley\nposition dA6,TC6,RG1 troll\nlegal\ngo\nplay TC6-C7\nundo"
    assert asked(lines)[2:] == [
        "legal",
        "error the battle is over",
        "error the battle is over",
        "error there is no ply to take back",
    ]


def test_innumerable_tramples_are_listed_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, looks = dialogue(), looks_of(monkeypatch)
    assert asked(f"rules koom valley\nposition {CLOSE}", engine)[1] is not None
    words = str(engine.answer("legal")).split()
    assert 0 < len(looks) <= MOST_TRAMPLES + 1
    assert words[-1] == "..."
    tramples = [word for word in words if "x" in word]
    assert len(tramples) == MOST_TRAMPLES
    assert tramples == sorted(tramples, key=lambda ply: ply.count("x"))
    rules = RULESETS["koom valley"]
    position = Game.start(rules, engine._game.position).position
    assert all(read_ply(ply, rules, position).is_trample for ply in tramples)
    assert str(engine.answer("go 1")).startswith("go TH12-")


@pytest.mark.parametrize("word", ["go", "worth", "line"])
def test_search_ends_at_its_time_limit(word: str) -> None:
    ticks = count()
    engine = dialogue(lambda: float(next(ticks)))
    assert str(engine.answer(f"{word} 10")).startswith(f"{word} ")
    assert next(ticks) < 12


@pytest.mark.parametrize("line", ["go nodes 999999999", "go depth 60", "go 3600", "worth 3600"])
def test_search_ends_when_stopped(line: str) -> None:
    looks = count()
    engine = dialogue(is_stopped=lambda: next(looks) > 3)
    word = line.partition(" ")[0]
    assert str(engine.answer(line)).startswith(f"{word} ")
    assert next(looks) < 10


def test_stopped_perft_is_an_error() -> None:
    looks = count()
    engine = dialogue(is_stopped=lambda: next(looks) > 3)
    assert engine.answer("perft 4") == "error stopped before everything was counted"


@pytest.mark.parametrize(("name", "count"), [("classic", 22_624), ("koom valley", 33_974)])
def test_perft_counts_leaf_nodes(name: str, count: int) -> None:
    assert asked(f"rules {name}\nperft 0\nperft 2")[1:] == ["perft 1", f"perft {count}"]


def test_node_limited_search_is_repeatable_and_within_its_limit() -> None:
    comments: list[str] = []

    def answers() -> list[str | None]:
        engine = dialogue(tell=comments.append)
        return asked("info on\ngo nodes 1500\nworth nodes 1500\nline nodes 1500", engine)

    assert answers() == answers()
    nodes = [int(comment.split()[4]) for comment in comments if "depth" in comment]
    assert nodes
    assert max(nodes) <= 1500


def test_search_comments_appear_only_with_info_on() -> None:
    comments: list[str] = []
    engine = dialogue(tell=comments.append)
    asked("go depth 2\nworth depth 2\nline depth 2", engine)
    assert comments == []
    assert asked("info\ninfo on\ninfo", engine) == ["info off", "info on", "info on"]
    line = str(engine.answer("line depth 2"))
    assert comments[-1].startswith("# depth 2 nodes ")
    assert comments[-1].endswith(f" {line}")
    said = len(comments)
    assert asked("info off\ngo depth 2", engine)[0] == "info off"
    assert len(comments) == said


def test_thinking_comment_follows_a_second_of_silence() -> None:
    comments: list[str] = []
    asked("info on\ngo nodes 4000", dialogue(tell=comments.append))
    assert "# thinking" in comments
    assert comments[-1].startswith("# depth ")
    comments.clear()
    asked("info on\ngo nodes 4000", dialogue(lambda: 7.0, tell=comments.append))
    assert comments
    assert "# thinking" not in comments


@pytest.mark.parametrize("name", RULESETS)
def test_last_comment_matches_the_answer(name: str) -> None:
    comments: list[str] = []
    engine = dialogue(tell=comments.append)
    asked(f"rules {name}\ninfo on", engine)
    for lines in ("level 1\ngo", "level 6\ngo nodes 150", "go nodes 333", "go depth 1"):
        comments.clear()
        played = str(asked(lines, engine)[-1]).removeprefix("go ")
        assert comments[-1].split(" line ")[1].split()[0] == played
        engine.answer(f"play {played}")


def test_seed_determines_the_errors() -> None:
    def played(*seeds: int) -> list[str | None]:
        return asked("level 1\n" + "\n".join(f"seed {seed}\ngo" for seed in seeds))[2::2]

    one, other, again = played(1, 2, 1)
    assert one == again
    assert len(set(played(*range(10)))) > 1
    assert played(2) == [other]
    assert asked("seed 7\nseed\nseed x\nseed") == [
        "seed 7", "seed 7", 'error usage: "seed" or "seed N", with at most nine digits', "seed 7",
    ]  # fmt: skip


def test_level_is_set_by_number_or_name() -> None:
    told = [f"level {level.number} {level.name}" for level in LEVELS]
    assert asked("\n".join(f"level {level.number}" for level in LEVELS)) == told
    assert asked("\n".join(f"level {level.name.upper()}" for level in LEVELS)) == told
    assert asked("level\nlevel 2\nlevel 99\nlevel\nlevel off\nlevel")[3:] == [
        told[1], "level off", "level off",
    ]  # fmt: skip


@pytest.mark.parametrize("name", RULESETS)
def test_levels_answer_without_a_limit(name: str) -> None:
    engine = dialogue(lambda: 0.0)
    asked(f"rules {name}", engine)
    for level in LEVELS[:5]:
        ply = str(asked(f"level {level.number}\ngo", engine)[1]).removeprefix("go ")
        assert f" {ply}" in str(engine.answer("legal"))


def test_line_is_a_playable_sequence() -> None:
    engine = dialogue()
    line = str(engine.answer("line depth 3")).removeprefix("line ")
    assert engine.answer(f"moves {line}") == f"moves {line}"


def test_result_and_score_report_the_end_of_a_battle() -> None:
    assert asked("result\nscore") == ["result open", "score 32-32"]
    lines = "position dA6,dB6,TD6,RH8 dwarf\nplay dB6-D6xD6\nresult\nscore\nlegal"
    assert asked(lines)[2:] == ["result dwarf 2-0 no move", "score 2-0", "legal"]
    lines = "rules koom valley\nposition TG7,TJ7,TE11,dP6,RH8 troll\nplay TE11-G9\nresult\nscore"
    assert asked(lines)[3:] == ["result troll 0-1 rock captured", "score 0-1"]
    lines = "rules koom valley\nposition TA6,TA7,RH8 dwarf\nresult"
    assert asked(lines)[2:] == ["result none 0-0 no move"]
