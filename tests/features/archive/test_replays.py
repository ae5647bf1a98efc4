"""Text of replays: the sentence and the board for each ply."""

from __future__ import annotations

import pytest

from tests.cases import cases
from tests.game.annals import CAPTURE, DRAW, LONGER, TROLLS, Annals, saved
from thudmud.features.archive.messages import replayed
from thudmud.game.archive import Battle
from thudmud.game.options import Style
from thudmud.rules import DISCWORLD, Game, Outcome
from thudmud.views.view import Display


def played(outcome: Outcome | None = None) -> Game:
    game = Game.start(DISCWORLD)
    for move in LONGER:
        game = game.play(move)
    return Game(
        game.ruleset, game.initial_position, game.position, game.moves, outcome, game.quiet_plies
    )


@pytest.fixture
def ended() -> Battle:
    annals = Annals()
    annals.begin()
    annals.end(TROLLS, count=4)
    return annals.battle(1)


def seen(
    battle: Battle, ply: int, *, style: Style = Style.BRIEF, me: str = "Zoe", width: int = 80
) -> str:
    game = played(battle.outcome)
    then = game.after(ply)
    return "\n".join(replayed(battle, game, then, style=style, me=me, display=Display(width)))


def test_replay_intro_at_the_initial_position(ended: Battle) -> None:
    assert (
        seen(ended, 0)
        == """\
Battle 1, as it began on 2026-11-21. 4 moves to come:
Replay of battle 1: dwarfs 32 (Anna), trolls 8 (Bert); score 32 to 32.
"next" and "back" go from move to move, "first" and "last" to either end;
"play" goes on, "stop" leaves."""
    )


def test_replay_text_after_a_ply(ended: Battle) -> None:
    assert (
        seen(ended, 2)
        == """\
Battle 1, move 2 of 4: Bert shoves the troll from G7 to E7, capturing the dwarf
at F8.
Replay of battle 1: dwarfs 31 (Anna), trolls 8 (Bert); score 31 to 32."""
    )


@pytest.mark.parametrize("me", ["Anna", "anna"])
def test_own_ply_is_in_the_second_person(ended: Battle, me: str) -> None:
    assert seen(ended, 1, me=me).startswith("Battle 1, move 1 of 4: you move the dwarf from F15 to")
    assert seen(ended, 2, me=me).startswith("Battle 1, move 2 of 4: Bert shoves")


def test_ending_appears_at_the_last_ply_only(ended: Battle) -> None:
    assert "resigned" not in seen(ended, 3)
    assert seen(ended, 4).endswith("\nAnna resigned.")


def test_replay_full_board(ended: Battle) -> None:
    assert (
        seen(ended, 2, style=Style.FULL)
        == r"""
Battle 1, move 2 of 4: Bert shoves the troll from G7 to E7, capturing the dwarf
at F8.
    A B C D E-F-G-H-I-J-K L M N O       Replay of battle 1, discworld rules
 1          / d d . d d \           1   Battle 1 of 2, 2 moves
 2        / d . . . . . d \         2
 3      / d . . . . . . . d \       3   d Dwarfs: Anna, 31 left, 1 lost
 4    / d . . . . . . . . . d \     4   T Trolls: Bert, 8 left, 0 lost
 5  / d . . . . . . . . . . . d \   5
 6| d . . . . . . . . . . . . . d | 6   Score: dwarfs 31, trolls 32
 7| d . . .[T]. + T T . . . . . d | 7
 8| . . . . . * T X T . . . . . . | 8   Last move: G7 to E7
 9| d . . . . . T T T . . . . . d | 9     (+ from, [T] to, * captured)
10| d . . . . . . . . . . . . . d |10   Turn: dwarfs (Anna)
11  \ d . . . . . . . . . . . d /  11
12    \ d . . . . . . . . . d /    12
13      \ d . . . . . . . d /      13
14        \ d . . . . . d /        14
15          \ . d . d d /          15
    A B C D E-F-G-H-I-J-K L M N O"""[1:]
    )


def test_match_points_are_those_at_the_replayed_ply() -> None:
    annals = Annals()
    annals.begin()
    annals.end(DRAW, players=("Bert", "Anna"))
    annals.begin(number=2)
    annals.end(TROLLS, count=4, points=(32, 64))
    board = seen(annals.battle(2), 3, style=Style.FULL, width=100)
    assert "Battle 2 of 2, 3 moves" in board
    assert "Match: Anna 32, Bert 32" in board
    board = seen(annals.battle(2), 4, style=Style.FULL, width=100)
    assert "Battle 2 of 2 is over, 4 moves" in board
    assert "Match: Anna 32, Bert 64" in board


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("run", 'Still in progress: "replay 1" shows the latest moves.'),
        ("adjourn", "Adjourned."),
        ("clear", "Never finished."),
        ("bring_in", "Result unknown."),
    ],
)
def test_battle_without_an_outcome_states_its_status(what: str, said: str) -> None:
    annals = Annals()
    if what == "bring_in":
        annals.bring_in()
    else:
        match = saved(annals.begin(), LONGER)
        if what == "adjourn":
            annals.adjourn(match)
        elif what == "clear":
            annals.clear()
    battle = annals.battle(1)
    ply = battle.plies or len(LONGER)
    game = played().after(ply)
    lines = replayed(battle, game, game, style=Style.BRIEF, me="Zoe", display=Display(80))
    assert lines[-1] == said


@pytest.mark.parametrize(("outcome", "count"), [(TROLLS, 9), (TROLLS, 4), (None, 9), (None, 3)])
def test_battle_continued_since_the_replay_is_flagged(outcome: Outcome | None, count: int) -> None:
    """Ended later or at the replayed ply, or adjourned with more or fewer plies."""
    annals = Annals()
    annals.begin()
    if outcome:
        annals.end(outcome, count=count)
    else:
        annals.adjourn(saved(annals.battle(1).id, (LONGER * 3)[:count]))
    lines = replayed(
        annals.battle(1), played(), played(), style=Style.BRIEF, me="Zoe", display=Display(80)
    )
    assert lines[-1] == 'Play has gone on since: "replay 1" shows the rest.'


def test_imported_player_is_never_the_viewer() -> None:
    annals = Annals()
    annals.bring_in()
    assert seen(annals.battle(1), 1, me="Zoe").startswith("Battle 1, move 1 of 4: Zoe moves the")


@pytest.mark.parametrize(("outcome", "over"), [(None, ""), (TROLLS, " is over")])
def test_imported_battle_belongs_to_no_match(outcome: Outcome | None, over: str) -> None:
    annals = Annals()
    annals.bring_in(outcome)
    game = played(outcome)
    board = "\n".join(
        replayed(annals.battle(1), game, game, style=Style.FULL, me="Zoe", display=Display(80))
    )
    assert f"A single battle{over}, 4 moves" in board
    assert "Match:" not in board


def test_unknown_player_is_called_somebody() -> None:
    annals = Annals()
    annals.bring_in()
    assert seen(annals.battle(1), 2).startswith("Battle 1, move 2 of 4: somebody shoves")


@cases("style", Style)
@cases("width", [20, 40, 80])
@cases("ply", range(5))
def test_replay_fits_the_screen_width(ended: Battle, ply: int, style: Style, width: int) -> None:
    lines = seen(ended, ply, style=style, width=width).split("\n")
    assert max(map(len, lines)) < width


def test_game_after_each_ply_equals_undoing() -> None:
    game = played(TROLLS)
    assert game.after(4) is game
    assert game.after(2).moves == CAPTURE
    back = game
    for ply in range(3, -1, -1):
        back = back.undo()
        assert game.after(ply) == back
