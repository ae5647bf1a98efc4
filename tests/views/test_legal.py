"""`view possible` lists exactly the legal moves, in words that can be typed."""

from __future__ import annotations

import re
from itertools import combinations
from random import Random

import pytest

from tests.views.positions import game_of
from thudmud.features.playing.moves import Play
from thudmud.language import parse
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    Game,
    Move,
    Ruleset,
    Side,
    Square,
)
from thudmud.views.legal import MOST_PATHS, moves_by_piece


def told(game: Game, origin: str | None = None, width: int = 200) -> list[str]:
    return moves_by_piece(game, Square.parse(origin) if origin else None, width)


@pytest.mark.parametrize(
    ("ruleset", "turn", "pieces", "origin", "expected"),
    [
        (
            CLASSIC,
            Side.TROLL,
            "TC8 TD8 dF7 dF8 dF9 XH8",
            "D8",
            "troll D8: move to C7, D7, C9, D9; move to E7 capturing F7 or F8 or none; "
            "move to E8 capturing F7, F8 or F9 or none; move to E9 capturing F8 or F9 or none; "
            "shove to E8 capturing 2 or more of F7, F8 and F9",
        ),
        (
            DISCWORLD,
            Side.TROLL,
            "TD8 dF7 dF8 XH8",
            "D8",
            "troll D8: move to C7, D7, C8, C9, D9; "
            "move to E7, E8 capturing any of F7 and F8 or none; "
            "move to E9 capturing F8 or none",
        ),
        (
            DISCWORLD,
            Side.DWARF,
            "dE8 dF8 dA6 TG8 XH8",
            "F8",
            "dwarf F8: hurl to G8; move to F7..F1, F9..F15, E7..C5, G9..K13, G7..K3, E9..C11",
        ),
        (
            KOOM_VALLEY,
            Side.TROLL,
            "TD6 dE6 dG6 RH9",
            "D6",
            "troll D6: move to C6..A6, D5..D3, D7..D9, C5, E7..G9, E5..G3, C7..A9; "
            "move to F6 capturing E6; move to H6 capturing E6, G6",
        ),
        (
            KOOM_VALLEY,
            Side.DWARF,
            "dF8 dF9 TF7 RG9 TA6",
            "G9",
            "Rock G9: move to G8, F10, G10",
        ),
    ],
)
def test_moves_of_a_piece_are_described_exactly(
    ruleset: Ruleset, turn: Side, pieces: str, origin: str, expected: str
) -> None:
    assert told(game_of(ruleset, turn, pieces), origin, 400) == [expected]


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("H8", "The Thudstone on H8 never moves."),
        ("A6", "The dwarf on A6 can't move now."),
        ("O6", "Nothing stands on O6."),
        ("A1", "A1 is off the board."),
        (
            "G8",
            "(Not the trolls' turn.) The troll on G8 could move to F7, G7, H7, F8, F9, G9, H9",
        ),
    ],
)
def test_square_without_a_move_is_explained(origin: str, expected: str) -> None:
    game = game_of(DISCWORLD, Side.DWARF, "dA6 dB6 dB5 dB7 dA7 TG8 XH8")
    assert told(game, origin) == [expected]


def test_side_without_a_move_is_stated() -> None:
    assert told(game_of(DISCWORLD, Side.TROLL, "dA6 XH8")) == ["The trolls can't move."]


def test_long_list_of_tramples_is_cut_short() -> None:
    dwarfs = " ".join(
        f"d{column}{row}"
        for row in range(10, 15)
        for column in "FGHIJ"
        if row % 2 or column in "GI"
    )
    game = game_of(KOOM_VALLEY, Side.TROLL, f"TH12 RH8 {dwarfs}")
    (line,) = told(game, None, 10_000)
    assert line.count("move to") == MOST_PATHS + ("; move to" in line.split("capturing")[0])
    assert line.endswith("; and more ways to trample")


POSITION = re.compile("[A-O][0-9]+")


def listed_plies(line: str) -> set[tuple[str, str, str, frozenset[str]]]:
    """Return the moves of a listed line as verb, origin, target and captures."""
    _, origin, kinds = re.fullmatch(r"(dwarf|troll|Rock) ([A-O][0-9]+): (.*)", line).groups()  # type: ignore[union-attr]
    plies = set()
    for kind in kinds.split("; "):
        verb, targets, choice = re.fullmatch(
            r"(move|shove|hurl) to ([^c]+?)(?: capturing (.*))?", kind
        ).groups()  # type: ignore[union-attr]
        for target in expanded(targets):
            hurled = [frozenset({target})] if verb == "hurl" else [frozenset()]
            for captures in choices(choice) if choice else hurled:
                plies.add((verb, origin, target, captures))
    return plies


def expanded(targets: str) -> list[str]:
    squares = []
    for part in targets.split(", "):
        first, _, last = part.partition("..")
        squares.append(first)
        at, end = Square.parse(first), Square.parse(last or first)
        while at != end:
            across = (end.column > at.column) - (end.column < at.column)
            down = (end.row > at.row) - (end.row < at.row)
            at = Square(at.column + across, at.row + down)
            squares.append(str(at))
    return squares


def choices(words: str) -> set[frozenset[str]]:
    none = {frozenset[str]()} if words.endswith(" or none") else set()
    words = words.removesuffix(" or none")
    squares = POSITION.findall(words)
    some = re.match(r"(any|[0-9]+ or more) of ", words)
    if some:
        least = 1 if some[1] == "any" else int(some[1].split()[0])
        sizes = range(least, len(squares) + 1)
        return none | {frozenset(each) for size in sizes for each in combinations(squares, size)}
    if " or " in words and " and " not in words:
        return none | {frozenset({square}) for square in squares}
    return none | {frozenset(POSITION.findall(each)) for each in words.split(" or ")}


def as_told(move: Move) -> tuple[str, str, str, frozenset[str]]:
    return move.verb.value, str(move.origin), str(move.target), frozenset(map(str, move.captures))


@pytest.mark.parametrize("name", RULESETS)
def test_possible_moves_are_exactly_the_legal_moves(name: str) -> None:
    random = Random(name)  # noqa: S311 (the same positions in every run)
    game = Game.start(RULESETS[name])
    for _ in range(120):
        lines = moves_by_piece(game, None, 100_000)
        plies = [ply for line in lines for ply in listed_plies(line)]
        assert set(plies) == {as_told(move) for move in game.legal_moves()}
        captures = [move for move in game.legal_moves() if move.captures]
        game = game.play(random.choice(captures or game.legal_moves()))
        if game.outcome:
            game = Game.start(RULESETS[name])


@pytest.mark.parametrize("name", RULESETS)
def test_listed_moves_can_be_typed(name: str) -> None:
    game = Game.start(RULESETS[name])
    for move in game.legal_moves()[::7]:
        verb, origin, target, captures = as_told(move)
        command = parse(f"{verb} {origin} {target} capturing {', '.join(captures) or 'none'}")
        assert isinstance(command, Play)
        assert game.resolve(command.attempt, game.position.turn) == move
