"""Texts of tournaments: tables that fit the screen, lists for readers, second person."""

from __future__ import annotations

import pytest

from thudmud import BoardSpec, House, Terminal
from thudmud.features.tournaments.messages import (
    counted_points,
    podium,
    starting,
    table,
    tournament_data,
)
from thudmud.features.tournaments.model import Tournament, TournamentRegister, folded
from thudmud.features.tournaments.pairing import pair
from thudmud.features.tournaments.standings import standings
from thudmud.game.clocks import TimeControl
from thudmud.game.events import (
    BattleScore,
    PairingScored,
    RoundPaired,
    TournamentEnd,
    TournamentEnded,
    TournamentEntered,
    TournamentEvent,
    TournamentKind,
    TournamentMade,
)
from thudmud.game.hall import Hall
from thudmud.game.options import Style
from thudmud.views.registry import RenderContext, words
from thudmud.views.view import Display, View

NAMES = [f"Player{chr(97 + one)}{chr(97 + other)}" for one in range(6) for other in range(6)]
NOON = 1_800_014_400.0


def tournament(kind: TournamentKind, players: int, rounds: int) -> Tournament:
    """Return a tournament: second pairings end level, all others are won by the earlier name."""
    made = TournamentMade(NOON, "Anna", 1, "", kind, "classic", TimeControl(10, 5), NOON, 9, 0)
    stream: list[TournamentEvent] = [made]
    stream += [TournamentEntered(NOON, name, 1) for name in NAMES[:players]]
    so_far = folded(stream)
    for number in range(1, rounds + 1):
        pairs = pair(kind, so_far.entrants, so_far.rounds)
        names = tuple(name for each in pairs for name in (each.first, each.second or ""))
        stream.append(RoundPaired(NOON, "", 1, number, names))
        for index, each in enumerate(pairs):
            if each.second:
                won = 0 if index == 1 else 32 if each.first < each.second else -32
                scores = (BattleScore(max(won, 0), max(-won, 0), 9),) * 2
                place = 1, number, index, each.first, each.second
                stream.append(PairingScored(NOON, "", *place, scores))
        so_far = folded(stream)
    return so_far


@pytest.mark.parametrize("width", [20, 40, 60, 80, 132])
@pytest.mark.parametrize(
    ("kind", "players", "rounds"),
    [
        (TournamentKind.ROUND_ROBIN, 16, 15),
        (TournamentKind.ROUND_ROBIN, 32, 4),
        (TournamentKind.DOUBLE_ROUND_ROBIN, 8, 14),
        (TournamentKind.SWISS, 15, 9),
        (TournamentKind.KNOCK_OUT, 13, 4),
    ],
)
def test_table_fits_the_screen(kind: TournamentKind, players: int, rounds: int, width: int) -> None:
    so_far = tournament(kind, players, rounds)
    placings = standings(kind, so_far.entrants, so_far.rounds)
    lines = table(so_far, placings, placings[:20], Display(width=width))
    assert max(map(len, lines)) < max(width, 32)
    if width >= 40:
        assert max(map(len, lines)) < width


def test_round_robin_table_shows_individual_results() -> None:
    so_far = tournament(TournamentKind.ROUND_ROBIN, 4, 2)
    placings = standings(so_far.kind, so_far.entrants, so_far.rounds)
    lines = table(so_far, placings, placings, Display(width=40))
    assert lines[:5] == [
        "             pts 1234",
        "1. Playeraa  1.5 x.=+",
        "2. Playerac  1.5 .x=+",
        "3. Playerab    1 ==x.",
        "4. Playerad    0 --.x",
    ]


@pytest.mark.parametrize(
    ("later", "told"),
    [
        (0.0, "now"),
        (30.0, "today at 12:00 UTC, in 30 seconds"),
        (3 * 3600.0, "today at 15:00 UTC, in 3 hours"),
        (13 * 3600.0, "tomorrow at 01:00 UTC, in 13 hours"),
        (72 * 3600.0, "on 2027-01-18 at 12:00 UTC, in 3 days"),
    ],
)
def test_start_time_includes_a_countdown(later: float, told: str) -> None:
    noon = 1_800_014_400.0
    assert starting(noon + later, noon) == told


@pytest.mark.parametrize(
    ("points", "told"),
    [(0.0, "0 points"), (0.5, "half a point"), (1.0, "1 point"), (2.5, "2 and a half points")],
)
def test_points_are_spelled_out(points: float, told: str) -> None:
    assert counted_points(points) == told


def test_reader_mode_lists_the_standings(house: House) -> None:
    house.obey("Anna", "options reader on", NOON)
    [message] = [each for each in house.obey("Anna", "tournament 1", NOON + 61) if not each.package]
    lines = message.text.splitlines()
    assert lines[-4:-2] == [
        "1. Anna (you), 0 points: plays Bert.",
        "1. Bert, 0 points: plays Anna.",
    ]


@pytest.fixture
def house() -> House:
    """Return a house with a tournament round in progress."""
    house = House([BoardSpec("oak board")], opens_boards=True)
    for name in ("Anna", "Bert", "Carla"):
        house.enter(name, NOON, Terminal(80), member=True)
    house.obey("Anna", "tournament new knock-out starts in 1 minute", NOON)
    house.obey("Anna", "enter 1", NOON)
    house.obey("Bert", "enter 1", NOON)
    house.pass_time(NOON + 60)
    return house


def test_crosstable_goes_to_whoever_enters_or_leaves() -> None:
    house = House([BoardSpec("oak board")], opens_boards=True)
    for name in ("Anna", "Bert"):
        house.enter(name, NOON, Terminal(packages=frozenset({"thud"})), member=True)
    house.obey("Anna", "tournament new knock-out starts in 1 hour", NOON)
    for line in ("enter 1", "withdraw from tournament 1"):
        told = house.obey("Bert", line, NOON)
        assert [each.to for each in told if each.package == "Thud.Tournament"] == [("Anna", "Bert")]
        assert [each.to for each in told if each.package == "Thud.Crosstable"] == [("Bert",)]


def test_level_knock_out_match_explains_who_advances(house: House) -> None:
    for number in (1, 2):
        house.obey("Anna", "start game" if number == 2 else "score", NOON + 61)
        house.obey("Anna", "end game", NOON + 61)
        told = house.obey("Bert", "yes", NOON + 61)
    read = {
        name: " ".join(each.text.split()) for each in told if not each.package for name in each.to
    }
    level = "Tournament 1: {} with {}, 64 to 64. {}, as the higher seed."
    assert read["Anna"] == level.format("you draw", "Bert", "You win it")
    assert read["Bert"] == level.format("you draw", "Anna", "Anna wins it")
    assert read["Carla"] == level.format("Anna draws", "Bert", "Anna wins it")


def test_knock_out_match_won_by_fewer_plies_says_so() -> None:
    so_far = tournament(TournamentKind.KNOCK_OUT, 4, 0)
    first = so_far.apply(RoundPaired(NOON, "", 1, 1, (NAMES[0], NAMES[3], NAMES[1], NAMES[2])))
    scores = BattleScore(32, 0, 40), BattleScore(0, 32, 30)
    scored = PairingScored(NOON, "", 1, 1, 0, NAMES[0], NAMES[3], scores)
    hall = Hall(())
    hall.part(TournamentRegister).known[1] = first.apply(scored)
    context = RenderContext(hall, None, NOON, "")
    lines = words(scored, context, View(NAMES[3], Style.FULL, Display()))
    assert " ".join(lines).endswith("You advance, having won a battle in fewer moves.")


def test_round_start_names_opponents_only_to_the_players() -> None:
    house = House([BoardSpec("oak board")], opens_boards=True)
    for name in ("Anna", "Bert", "Carla"):
        house.enter(name, NOON, Terminal(200), member=True)
    house.obey("Anna", 'tournament new knock-out "Cup" starts in 1 minute', NOON)
    house.obey("Anna", "enter 1", NOON)
    house.obey("Bert", "enter 1", NOON)
    assert house.due == NOON + 60
    told = {name: each.text for each in house.pass_time(NOON + 60)[:3] for name in each.to}
    assert told == {
        "Anna": "Round 1 of 1 of tournament 1 (Cup): you play Bert, and have the dwarfs first.",
        "Bert": "Round 1 of 1 of tournament 1 (Cup): you play Anna, and have the trolls first.",
        "Carla": 'Round 1 of 1 of tournament 1 (Cup) begins, with 1 match. "tournament 1" shows'
        " it.",
    }


def test_swiss_with_too_few_players_announces_fewer_rounds() -> None:
    house = House([BoardSpec("oak board")], opens_boards=True)
    for name in ("Anna", "Bert", "Carla", "Dora"):
        house.enter(name, NOON, Terminal(200), member=True)
    house.obey("Anna", "tournament new swiss 5 rounds starts in 1 minute", NOON)
    for name in ("Anna", "Bert", "Carla"):
        house.obey(name, "enter 1", NOON)
    shortened = "With 3 players it has 3 rounds, not 5, so nobody meets twice."
    [answer] = [each for each in house.obey("Dora", "tournament 1", NOON + 1) if not each.package]
    assert shortened in " ".join(answer.text.split())
    began = {name: each.text for each in house.pass_time(NOON + 60)[:4] for name in each.to}
    heading = "Round 1 of 3 of tournament 1"
    assert began == {
        "Anna": f"{heading}: you play Bert, and have the dwarfs first. {shortened}",
        "Bert": f"{heading}: you play Anna, and have the trolls first. {shortened}",
        "Carla": f"{heading}: you have a bye, which counts as a win. {shortened}",
        "Dora": f'{heading} begins, with 1 match. {shortened} "tournament 1" shows it.',
    }


def test_swiss_round_count_is_fixed_at_the_start() -> None:
    so_far = tournament(TournamentKind.SWISS, 4, 1)
    assert so_far.rounds_in_all == 3
    late = so_far.apply(TournamentEntered(NOON, "Zoe", 1)).apply(TournamentEntered(NOON, "Yan", 1))
    assert late.rounds_in_all == 3


@pytest.mark.parametrize(("places", "winner"), [((1, 2), "Bert"), ((1, 1), None)])
def test_shared_first_place_has_no_winner(places: tuple[int, ...], winner: str | None) -> None:
    made = TournamentMade(
        NOON, "Anna", 1, "", TournamentKind.SWISS, "classic", TimeControl(10, 5), NOON, 9, 0
    )
    entered = [TournamentEntered(NOON, name, 1) for name in ("Anna", "Bert")]
    ended = TournamentEnded(NOON, "", 1, TournamentEnd.OVER, ("Bert", "Anna"), places)
    assert tournament_data(folded([made, *entered, ended]))["winner"] == winner


@pytest.mark.parametrize(
    ("places", "told"),
    [
        ((1,), "Anna is 1st"),
        ((1, 2, 3), "Anna is 1st, Bert 2nd and Carl 3rd"),
        ((1, 1), "Anna and Bert share 1st place"),
        ((1, 1, 3), "Anna and Bert share 1st place, and Carl is 3rd"),
        ((1, 2, 2), "Anna is 1st, and Bert and Carl share 2nd place"),
        ((1, 1, 1), "Anna, Bert and Carl share 1st place"),
    ],
)
def test_podium_names_shared_places(places: tuple[int, ...], told: str) -> None:
    players = ("Anna", "Bert", "Carl")[: len(places)]
    assert podium(players, dict(zip(players, places, strict=True))) == told
