"""The tv: choice of the best battle, observed boards, and renamed or closed boards."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.game.conftest import NOW
from tests.game.halls import StoredHall, commit, do, enter, hall_of, lose, refusal
from thudmud.errors import RefusedError
from thudmud.features.playing.moves import Start
from thudmud.features.playing.seats import Join, Practice
from thudmud.features.rooms.commands import Go, Observe, Unobserve
from thudmud.features.tv.commands import Tv
from thudmud.features.tv.model import TvRefusal, TvTurned, tv_board
from thudmud.game.archive import LookupResults, Performance, PlayerScore, Pool, Rating, ScoresLookup
from thudmud.game.decisions import decide
from thudmud.game.events import BoardClosed, BoardRenamed
from thudmud.game.refusals import Refusal
from thudmud.game.rooms import MOST_OBSERVED
from thudmud.game.table import BoardSpec
from thudmud.language import parse
from thudmud.rules import Side

PLAYERS = ("Anna", "Bert", "Carla", "Dora")


@pytest.fixture
def hall() -> StoredHall:
    """Return a hall: Anna and Bert play at the oak board, Carla and Dora at the pine board."""
    hall = hall_of(*PLAYERS, "Emil")
    for dwarf, troll, board in (("Anna", "Bert", "oak board"), ("Carla", "Dora", "pine board")):
        do(hall, dwarf, Join(Side.DWARF, board))
        do(hall, troll, Join(Side.TROLL, board))
        do(hall, dwarf, Start(board))
    return hall


def rated(points: Mapping[str, int], rules: str = "discworld") -> LookupResults:
    """Return lookup results in which the given players have a rating."""
    scores = {
        name: PlayerScore(
            name, people=Performance(ratings={Pool(rules): Rating(points[name], 50, 9)})
        )
        if name in points
        else None
        for name in PLAYERS
    }
    return LookupResults({ScoresLookup(PLAYERS): scores})


def shown(hall: StoredHall, found: LookupResults | None = None) -> str | None:
    """Turn Emil's tv on and return the board it shows."""
    if found:
        commit(hall, decide(hall, "Emil", Tv(), NOW, found))
    else:
        do(hall, "Emil", Tv())
    return tv_board(hall.people["Emil"])


def observed(hall: StoredHall) -> tuple[str, ...]:
    return hall.people["Emil"].observed


def test_tv_prefers_a_battle_whose_players_are_there(hall: StoredHall) -> None:
    scores = rated({"Carla": 1400})
    do(hall, "Anna", Go())
    assert shown(hall, scores) == "oak board"  # Bert is there
    do(hall, "Bert", Go("elm table"))
    assert shown(hall, scores) == "pine board"
    for player in ("Carla", "Dora"):
        lose(hall, player)
    assert shown(hall, scores) == "oak board"  # none has anybody: the ratings decide


def test_tv_prefers_people_to_bots_and_bots_to_deserted_battles(hall: StoredHall) -> None:
    hall.bots = dict.fromkeys(("Grog", "Mog"))
    for bot, side in (("Grog", Side.DWARF), ("Mog", Side.TROLL)):
        enter(hall, bot)
        do(hall, bot, Join(side, "elm table"))
    do(hall, "Grog", Start("elm table"))
    assert shown(hall) in {"oak board", "pine board"}
    for player in PLAYERS:
        do(hall, player, Go())
    assert shown(hall) == "elm table"


def test_tv_shows_the_highest_rated_battle(hall: StoredHall) -> None:
    assert shown(hall, rated({"Carla": 1600})) == "pine board"
    assert shown(hall, rated({"Carla": 1600, "Anna": 1550, "Bert": 1551})) == "oak board"
    assert shown(hall, rated({"Carla": 1400})) == "oak board"  # unrated players count as 1500


def test_ratings_under_other_rules_are_ignored(hall: StoredHall) -> None:
    assert shown(hall, rated({"Carla": 1900}, rules="classic")) == "oak board"


def test_tie_on_ratings_is_broken_by_the_closest_score(hall: StoredHall) -> None:
    assert shown(hall) == "oak board"
    do(hall, "Anna", parse("move from f1 to f2 on oak board"))
    do(hall, "Bert", parse("move from g7 to g6 on oak board"))
    do(hall, "Anna", parse("move from f2 to f5 on oak board"))
    do(hall, "Bert", parse("move from g6 to f6 on oak board capturing f5"))
    assert shown(hall) == "pine board"


def test_observed_boards_follow_the_tv(hall: StoredHall) -> None:
    do(hall, "Emil", Observe("elm table"))
    [told] = commit(hall, decide(hall, "Emil", Tv(), NOW, rated({"Carla": 1600})))
    both = ("elm table", "pine board")
    assert told.event == TvTurned("Emil", "pine board", both, "pine board")
    assert told.recipients == ("Emil",)
    assert told.table is hall.tables["pine board"]
    shown(hall, rated({"Anna": 1600}))
    assert observed(hall) == ("elm table", "oak board")
    do(hall, "Emil", Tv(is_on=False))
    assert observed(hall) == ("elm table",)
    with pytest.raises(RefusedError) as refused:
        do(hall, "Emil", Tv(is_on=False))
    assert refused.value.code is TvRefusal.TV_IS_OFF


def test_boards_already_watched_are_skipped(hall: StoredHall) -> None:
    found = rated({"Anna": 1600})
    do(hall, "Emil", Go("oak board"))
    assert shown(hall, found) == "pine board"
    do(hall, "Emil", Go())
    do(hall, "Emil", Tv(is_on=False))
    do(hall, "Emil", Observe("oak board"))
    assert shown(hall, found) == "pine board"
    assert hall.people["Emil"].observed == ("oak board", "pine board")


def test_own_battles_and_practice_are_skipped(hall: StoredHall) -> None:
    do(hall, "Emil", Practice(on="elm table"))
    do(hall, "Carla", Tv())
    assert tv_board(hall.people["Carla"]) == "oak board"
    assert shown(hall) == "oak board"


def test_tv_without_a_battle_shows_nothing() -> None:
    hall = hall_of("Emil")
    [told] = do(hall, "Emil", Tv())
    assert told.event == TvTurned("Emil", "", (), "")
    assert told.table is None
    do(hall, "Emil", Tv(is_on=False))
    assert tv_board(hall.people["Emil"]) is None


def test_unobserve_turns_the_tv_off(hall: StoredHall) -> None:
    shown(hall)
    do(hall, "Emil", Unobserve("oak board"))
    assert (tv_board(hall.people["Emil"]), hall.people["Emil"].observed) == (None, ())


def test_tv_beyond_the_observation_limit_is_refused(hall: StoredHall) -> None:
    hall.tables.open(BoardSpec(f"{letter} slab") for letter in "qrstuvwxyz")
    for letter in "qrstuvwxyz"[:MOST_OBSERVED]:
        do(hall, "Emil", Observe(f"{letter} slab"))
    assert refusal(hall, "Emil", Tv()) is Refusal.OBSERVES_TOO_MANY


def test_tv_tracks_renamed_and_closed_boards(hall: StoredHall) -> None:
    shown(hall)
    key = hall.tables["oak board"].key
    hall.apply(BoardRenamed(NOW, "", key, "ash board"))
    assert tv_board(hall.people["Emil"]) == "ash board"
    hall.apply(BoardClosed(NOW, "", key))
    assert (tv_board(hall.people["Emil"]), hall.people["Emil"].observed) == ("", ())
