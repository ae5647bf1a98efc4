"""Exact text of scores, standings and rating changes, at several screen widths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.game.annals import DRAW, DWARFS, NOON, STANDARD, TROLLS, Annals
from thudmud.features.archive import ratings
from thudmud.game.archive import (
    CURVE,
    PAGE,
    PlayerScore,
    Pool,
    Rating,
    RatingChange,
    ScoreLookup,
    StandingsLookup,
)
from thudmud.game.asides import Entered
from thudmud.game.clocks import TimeControl
from thudmud.game.events import BattleEnded, BattleId, Levels
from thudmud.game.hall import Hall
from thudmud.game.match import Match, Unrated
from thudmud.game.options import Style
from thudmud.game.people import BotLevel
from thudmud.rules import DISCWORLD, Game
from thudmud.values import replace
from thudmud.views.view import Display, View

LONG = "Wolfeschlegelsteinha", "Vogelsangbergerdorff"
"""Names of 20 letters."""
LEVELS = (BotLevel(1, "Chalk", "Plays badly."), BotLevel(2, "Slate", "Plays better."))
FOUR = "Anna", "Bert", "Carl", "Dora"
CURVE_IN_DOTS = [" \u2847", "\u28b0\u28e7", "\u28f8\u28ff"]
WIDE, NARROW, READER = Display(80), Display(40), Display(80, is_for_reader=True)


@pytest.fixture
def annals() -> Annals:
    return Annals()


def score(annals: Annals, player: str, me: str = "Zoe", display: Display = WIDE) -> str:
    found = annals.found(ScoreLookup(player, with_curves=True))
    is_here = player in {"Anna", "Bert"}
    return "\n".join(ratings.score(found, player, me, LEVELS, display, is_here=is_here))


def standings(annals: Annals, asked: StandingsLookup, display: Display = WIDE) -> str:
    return "\n".join(ratings.standings(annals.found(asked), display))


class TestScore:
    def test_score_by_ruleset_time_class_and_opponent(self, annals: Annals) -> None:
        annals.season(*FOUR)
        annals.match("Anna", "Bert", time=TimeControl(3, 2))
        annals.whole(TROLLS, "Anna", "Grog", levels=Levels(troll=2))
        annals.whole(TROLLS, "Bert", "Anna", rules="koom valley")
        assert (
            score(annals, "ANNA")
            == """\
Anna:
  Discworld: matches 1 won, 6 drawn, 0 lost; as dwarfs 0 won, 7 drawn, 0 lost;
    as trolls 0 won, 7 drawn, 0 lost.
    Untimed, rating 1500, give or take 208 (6 matches).
    Blitz, rating 1579?, give or take 242 (1 match).
  Koom Valley: as trolls 1 won, 0 drawn, 0 lost.
Anna, against bots:
  Discworld: as dwarfs 0 won, 0 drawn, 1 lost.
    Rating 1421?, give or take 242 (1 battle).
A rating with a ? is provisional: see "help ratings"."""
        )
        assert (
            score(annals, "Grog", display=READER)
            == """\
Grog, at level 2 Slate:
  Discworld: as trolls 1 won, 0 drawn, 0 lost.
    Rating 1579, provisional, give or take 242 (1 battle)."""
        )

    def test_score_shows_the_rating_curve(self, annals: Annals) -> None:
        for winner, loser in (("Anna", "Bert"), ("Anna", "Carl"), ("Dora", "Anna")):
            annals.match(winner, loser)
        assert (
            score(annals, "Anna", display=NARROW)
            == """\
Anna:
  Discworld: matches 2 won, 0 drawn, 1
    lost; as dwarfs 0 won, 3 drawn, 0
    lost; as trolls 0 won, 3 drawn, 0
    lost.
    Untimed, rating 1562?, give or take
        228 (3 matches).
      1647 |  #
           | :#.
      1500 |.###
A rating with a ? is provisional: see
"help ratings"."""
        )
        drawn = score(annals, "Anna", display=Display(80, uses_utf8=True)).split("\n")
        assert [line[12:] for line in drawn if "|" in line] == CURVE_IN_DOTS
        told = score(annals, "Anna", display=READER).replace("\n", " ")
        assert "Over the last 3 matches it went from 1500 to 1562; the highest was 1647" in told
        assert "|" not in told

    @pytest.mark.parametrize("width", [40, 80, 200])
    @pytest.mark.parametrize("utf8", [False, True])
    def test_long_rating_curve_fits_the_screen(self, width: int, *, utf8: bool) -> None:
        points = tuple(1500 + 10 * number for number in range(CURVE + 1))
        rating = Rating(points[-1], 90, 200)
        found = PlayerScore("Anna", curves={STANDARD: points})
        found = replace(found, people=replace(found.people, ratings={STANDARD: rating}))
        display = Display(width, uses_utf8=utf8)
        lines = ratings.score(found, "Anna", "Anna", LEVELS, display, is_here=True)
        assert max(map(len, lines)) < width
        drawn = [line.partition("|") for line in lines if "|" in line]
        assert [label.strip() for label, _, _ in drawn] == ["2100", "", "1500"]
        columns = [len(each) for _, _, each in drawn]
        assert columns[2] == max(columns)  # columns are filled from the bottom
        assert drawn[0][2].endswith(drawn[2][2][-1])  # the last column reaches the top row

    def test_score_without_a_rating(self, annals: Annals) -> None:
        annals.whole(DWARFS)
        assert (
            score(annals, "Anna", display=NARROW)
            == """\
Anna: no rating yet.
  Discworld: as dwarfs 1 won, 0 drawn,
    0 lost."""
        )

    @pytest.mark.parametrize(("player", "who"), [("Anna", "You haven't"), ("Bert", "Bert hasn't")])
    def test_score_without_a_finished_battle(self, annals: Annals, player: str, who: str) -> None:
        assert score(annals, player, "Anna") == f"{who} finished a battle here yet."

    def test_score_of_an_unknown_player(self, annals: Annals) -> None:
        assert score(annals, "zoe") == "Nobody called Zoe has finished a battle here."


class TestStandings:
    def test_standings_list_the_best_first(self, annals: Annals) -> None:
        annals.season(LONG[0], *FOUR[1:])
        annals.match(LONG[0], "Bert")
        annals.season(*FOUR, rules="classic", time=TimeControl(days=3), rounds=6)
        assert (
            standings(annals, StandingsLookup("Anna", "discworld"))
            == """\
Discworld, untimed: best first, by rating minus twice the give or take:
  1. Wolfeschlegelsteinha: 1563, give or take 202 (7 matches)
  2. Carl: 1500, give or take 208 (6 matches)
  3. Dora: 1500, give or take 208 (6 matches)
  4. Bert: 1437, give or take 202 (7 matches)
Other standings: "standings classic correspondence" (4)."""
        )
        assert (
            standings(annals, StandingsLookup("Anna", "discworld"), NARROW)
            == """\
Discworld, untimed: best first, by
rating minus twice the give or take:
  1. Wolfeschlegelsteinha: 1563, give
     or take 202 (7 matches)
  2. Carl: 1500, give or take 208 (6
     matches)
  3. Dora: 1500, give or take 208 (6
     matches)
  4. Bert: 1437, give or take 202 (7
     matches)
Other standings:
"standings classic correspondence" (4)."""
        )

    def test_standings_append_the_asking_player(self, annals: Annals) -> None:
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXY"
        names = [f"X{letter.lower()}" for letter in letters]
        annals.season("Anna", *names)
        annals.match("Xa", "Anna")
        lines = standings(annals, StandingsLookup("Anna")).split("\n")
        assert len(lines) == 1 + PAGE + 1 + 1
        assert lines[-2].startswith(" 26. Anna: ")
        assert lines[-1] == "There are 26 in all."

    def test_standings_without_ranked_players(self, annals: Annals) -> None:
        assert (
            standings(annals, StandingsLookup("Anna"))
            == """\
Discworld, untimed: nobody is ranked yet.
You'll be ranked after 6 rated matches: "help ratings" explains how."""
        )

    def test_standings_mention_a_provisional_own_rating(self, annals: Annals) -> None:
        annals.match("Anna", "Bert")
        for display, points in (
            (Display(120), "1579?"),
            (Display(120, is_for_reader=True), "1579, provisional"),
        ):
            assert standings(annals, StandingsLookup("Anna"), display) == (
                "Discworld, untimed: nobody is ranked yet.\n"
                f"Yours is provisional: {points}, give or take 242 (1 match). "
                "You'll be ranked after 6 matches."
            )


class TestChanges:
    ENDED = BattleEnded(NOON, "Anna", DRAW, 80, "Bert", "Anna", rated=True, points=(60, 65))
    CHANGES = (
        RatingChange("Bert", STANDARD, 1500, Rating(1421, 242, 1)),
        RatingChange("Anna", STANDARD, 1600, Rating(1679, 142, 9)),
    )

    MATCH = Match(
        replace(Game.start(DISCWORLD), outcome=DRAW),
        BattleId("oak board", 1),
        "Bert",
        "Anna",
        rated=True,
        battle=2,
    )

    def told(
        self,
        changes: Sequence[RatingChange] = (),
        me: str | None = "Anna",
        display: Display = WIDE,
        members: tuple[str, ...] = ("Anna", "Bert"),
        spoilt: Unrated | None = None,
        **ended: Any,
    ) -> list[str]:
        hall = Hall([])
        for name in ("Anna", "Bert"):
            hall.add_player(Entered(name, is_member=name in members))
        event = replace(self.ENDED, **ended)
        match = replace(self.MATCH, rated=event.rated, levels=event.levels, unrated_reason=spoilt)
        return ratings.changed(event, match, changes, View(me, Style.FULL, display), hall)

    @pytest.mark.parametrize(
        ("me", "display", "said"),
        [
            ("Anna", WIDE, "your rating 1600 -> 1679; Bert's rating 1500 -> 1421?"),
            ("Bert", WIDE, "your rating 1500 -> 1421?; Anna's rating 1600 -> 1679"),
            (None, WIDE, "Bert's rating 1500 -> 1421?; Anna's rating 1600 -> 1679"),
            (
                "Bert",
                READER,
                "your rating goes from 1500 to 1421, provisional; "
                "Anna's rating goes from 1600 to 1679",
            ),
        ],
    )
    def test_rating_changes_of_both_players(
        self, me: str | None, display: Display, said: str
    ) -> None:
        assert self.told(self.CHANGES, me, display) == [f"Discworld, untimed: {said}."]

    @pytest.mark.parametrize(
        ("me", "said"),
        [
            (
                "Anna",
                ("Bert's rating 1500 -> 1421?; yours stays the same, since Bert's is provisional"),
            ),
            (
                "Bert",
                "your rating 1500 -> 1421?; Anna's stays the same, since yours is provisional",
            ),
            (
                None,
                ("Bert's rating 1500 -> 1421?; Anna's stays the same, since Bert's is provisional"),
            ),
        ],
    )
    def test_single_rating_change_explains_the_unchanged_one(
        self, me: str | None, said: str
    ) -> None:
        assert self.told(self.CHANGES[:1], me) == [f"Discworld, untimed: {said}."]

    def test_rating_change_against_a_bot(self) -> None:
        [change, _] = self.CHANGES
        told = self.told([change._replace(with_bot=True)], "Bert", levels=Levels(None, 3))
        assert told == ["Discworld, against bots: your rating 1500 -> 1421?."]

    @pytest.mark.parametrize(
        ("known", "why"),
        [
            ({}, "no more than 5 of 10 rated matches in a row can be against the same player"),
            ({"rated": False}, "the match was casual"),
            ({"rated": False, "members": ("Anna",)}, "Bert is a guest"),
            ({"rated": False, "members": ("Bert",)}, "you are a guest"),
            ({"rated": False, "members": ()}, "you and Bert are guests"),
            ({"rated": False, "members": (), "me": None}, "Bert and Anna are guests"),
            ({"rated": False, "spoilt": Unrated.REPLACED}, "a player was replaced"),
            (
                {"rated": False, "spoilt": Unrated.TOO_SHORT},
                "the first battle had fewer than 6 moves",
            ),
            ({"rated": False, "levels": Levels(None, 3)}, "the battle was casual"),
            (
                {
                    "rated": False,
                    "levels": Levels(None, 3),
                    "plies": 5,
                    "spoilt": Unrated.TOO_SHORT,
                },
                "the battle had fewer than 6 moves",
            ),
        ],
    )
    def test_unchanged_ratings_are_explained(self, known: dict[str, Any], why: str) -> None:
        assert self.told(**known) == [f"No rating changes: {why}."]

    def test_short_first_battle_is_reported_immediately(self) -> None:
        short = {"rated": False, "plies": 5, "spoilt": Unrated.TOO_SHORT, "points": None}
        told = self.told(**short)  # type: ignore[arg-type]  # fields of BattleEnded
        assert told == ["No rating will change: the battle had fewer than 6 moves."]

    @pytest.mark.parametrize(
        "known",
        [
            {"points": None},
            {"points": None, "rated": False, "members": ()},
            {"levels": Levels(2, 3)},
            {"levels": Levels(2, 3), "rated": False},
        ],
    )
    def test_rating_message_is_absent_mid_match_and_between_bots(
        self, known: dict[str, Any]
    ) -> None:
        assert self.told(**known) == []


@pytest.mark.parametrize("width", [40, 60, 80, 132])
@pytest.mark.parametrize("reader", [False, True])
def test_scores_and_standings_fit_the_screen_width(
    annals: Annals, width: int, *, reader: bool
) -> None:
    annals.season(*LONG, *FOUR, rules="koom valley", time=TimeControl(days=2), rounds=9)
    display = Display(width, is_for_reader=reader)
    shown = score(annals, LONG[0], LONG[1], display) + "\n"
    shown += standings(annals, StandingsLookup(LONG[0]), display)
    assert "correspondence" in shown
    assert max(map(len, shown.split("\n"))) < width
    changes = [RatingChange(name, Pool("koom valley"), 1500, Rating(1600, 90, 3)) for name in LONG]
    assert TestChanges().told(changes, None, display, dwarf=LONG[0], troll=LONG[1])
