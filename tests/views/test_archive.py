"""The lists of matches and battles, scores and standings, to the letter, at several widths."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from tests.play.annals import CAPTURE, DAY, DRAW, DWARFS, NOON, RECORD, TROLLS, Annals, saved
from thudmud.play.archive import (
    PAGE,
    AdjournedLookup,
    BattleLookup,
    HistoryLookup,
    ScoreLookup,
    StandingsLookup,
    State,
)
from thudmud.play.commands import History
from thudmud.play.events import BattleEnded, BattleStarted, Left, Moved, Parting, TableEvent
from thudmud.play.hall import BotLevel
from thudmud.play.table import BoardSpec, Table
from thudmud.rules import DISCWORLD, Ending, Outcome, Score, Side, read_record
from thudmud.views import archive
from thudmud.views.archive import ENDINGS, STATES, entry

LONG = "Wolfeschlegelsteinha", "Vogelsangbergerdorff"
"""Names of 20 letters."""
LEVELS = (BotLevel(1, "Chalk", "Plays badly."), BotLevel(2, "Slate", "Plays better."))
SAID_BY_STATE = {
    Ending.RESIGNATION: "Anna resigned",
    Ending.CLAIM: "Anna stayed away",
}


@pytest.fixture
def annals() -> Annals:
    return Annals()


def history(annals: Annals, asked: History, me: str, width: int) -> list[str]:
    found = annals.found(HistoryLookup(asked.player, asked.page))
    return archive.history(found, asked, me, width)


def games(annals: Annals, tables: Iterable[Table], me: str, width: int) -> list[str]:
    return archive.games(tables, annals.found(AdjournedLookup(me)).matches, me, width)


def score(annals: Annals, player: str, me: str, width: int) -> list[str]:
    return archive.score(
        annals.found(ScoreLookup(player)),
        player,
        me,
        LEVELS,
        width,
        is_here=player in {"Anna", "Bert"},
    )


def standings(annals: Annals, me: str, width: int) -> list[str]:
    return archive.standings(annals.found(StandingsLookup(me)), width)


def text(lines: list[str]) -> str:
    return "\n".join(lines)


class TestEntries:
    def test_of_an_ended_battle(self, annals: Annals) -> None:
        annals.begin()
        annals.end(TROLLS)
        assert entry(annals.battle(1)) == (
            "2026-11-21: Anna (dwarfs) 0, Bert (trolls) 32; discworld, 80 plies, Anna resigned"
        )

    def test_of_a_running_one(self, annals: Annals) -> None:
        annals.begin(rules="koom valley")
        assert entry(annals.battle(1)) == (
            "2026-11-21: Anna (dwarfs), Bert (trolls); koom valley, still running"
        )

    def test_of_an_adjourned_one(self, annals: Annals) -> None:
        annals.adjourn(saved(annals.begin()))
        assert entry(annals.battle(1)).endswith("; discworld, 2 plies, adjourned")

    def test_of_an_unfinished_one(self, annals: Annals) -> None:
        annals.begin()
        annals.clear()
        assert entry(annals.battle(1)).endswith("; discworld, never finished")

    def test_of_an_imported_one(self, annals: Annals) -> None:
        annals.bring_in()
        assert entry(annals.battle(1)) == (
            "2026-11-21: Zoe (dwarfs), somebody (trolls); discworld, 2 plies, its end is not "
            "known, imported"
        )

    @pytest.mark.parametrize("ending", Ending)
    def test_every_ending_has_words(self, annals: Annals, ending: Ending) -> None:
        annals.begin()
        annals.end(Outcome(ending, Side.TROLL, Score(0, 1)))
        said = SAID_BY_STATE.get(ending, ENDINGS[ending])
        assert entry(annals.battle(1)).endswith(f", {said}")
        assert "Anna (dwarfs) 0, Bert (trolls) 1;" in entry(annals.battle(1))

    def test_every_state_has_words(self) -> None:
        assert set(STATES) == set(State)


class TestHistory:
    def test_everybodys_the_last_one_first(self, annals: Annals) -> None:
        annals.whole(TROLLS)
        annals.whole(DRAW, "Carl", LONG[0])
        assert (
            text(history(annals, History(), "Anna", 80))
            == """\
The battles that were played, the last one first:
2. 2026-11-21: Carl (dwarfs) 32, Wolfeschlegelsteinha (trolls) 32; discworld,
   80 plies, ended by agreement
1. 2026-11-21: Anna (dwarfs) 0, Bert (trolls) 32; discworld, 80 plies, Anna
   resigned
"replay 2" shows the first of these again."""
        )

    def test_on_a_narrow_screen(self, annals: Annals) -> None:
        annals.whole(TROLLS)
        assert (
            text(history(annals, History("ANNA"), "Bert", 40))
            == """\
The battles of Anna, the last one
first:
1. 2026-11-21: Anna (dwarfs) 0, Bert
   (trolls) 32; discworld, 80 plies,
   Anna resigned
"replay 1" shows the first of these
again."""
        )

    def test_ones_own(self, annals: Annals) -> None:
        annals.whole()
        lines = history(annals, History("anna"), "Anna", 80)
        assert lines[0] == "Your battles, the last one first:"

    def test_pages(self, annals: Annals) -> None:
        for number in range(45):
            annals.begin(at=NOON + number * DAY)
            annals.end()
        seen = []
        for page, rest in [(1, range(45, 25, -1)), (2, range(25, 5, -1)), (3, range(5, 0, -1))]:
            lines = history(annals, History("Bert", page), "Anna", 100)
            assert [int(line.split(".")[0]) for line in lines[1:-1]] == list(rest)
            seen.append(lines[-1])
        again = "shows the first of these again."
        assert seen == [
            f'Page 1 of 3. "history Bert page 2" shows earlier ones. "replay 45" {again}',
            f'Page 2 of 3. "history Bert page 3" shows earlier ones. "replay 25" {again}',
            f'Page 3 of 3. "replay 5" {again}',
        ]
        assert text(history(annals, History("Bert", 4), "Anna", 80)) == (
            'There is no page 4. "history Bert page 3" shows the earliest battles.'
        )

    def test_exactly_one_page(self, annals: Annals) -> None:
        for _ in range(PAGE):
            annals.whole()
        lines = history(annals, History(), "Anna", 100)
        assert lines[-1].startswith('"replay 20"')
        assert "no page 2" in history(annals, History(page=2), "Anna", 100)[0]

    @pytest.mark.parametrize(
        ("player", "said"),
        [
            (None, "No battle has been played here yet."),
            ("zoe", "No battle of Zoe is known here."),
            ("anna", "No battle of yours is known here."),
        ],
    )
    def test_nothing_to_show(self, annals: Annals, player: str | None, said: str) -> None:
        assert text(history(annals, History(player), "Anna", 80)) == said


class TestGames:
    def table(self, name: str, *events: TableEvent, dwarf: str = "Anna") -> Table:
        table = Table.set_up(BoardSpec(name), 200)
        for event in (BattleStarted(NOON, dwarf, 1, "discworld", dwarf, "Bert"), *events):
            table = table.apply(event)
        return table

    def test_running_and_put_away(self, annals: Annals) -> None:
        annals.adjourn(saved(annals.begin()))
        annals.adjourn(saved(annals.begin(), outcome=DRAW))
        carls = saved(annals.begin(dwarf="Carl"))
        annals.adjourn(replace(carls, dwarf="Carl"))
        moved = Moved(NOON, "Anna", Side.DWARF, CAPTURE[0], 1)
        ended = BattleEnded(NOON, "Anna", DRAW, 1, "Anna", "Bert")
        tables = [
            self.table("oak board", moved),
            self.table("pine board"),
            self.table("marble board", moved, ended),
            self.table("basalt board", Left(NOON, "Bert", Side.TROLL, Parting.LEFT)),
            self.table("ivory board", dwarf="Carl"),
            Table.set_up(BoardSpec("new board"), 200),
        ]
        assert (
            text(games(annals, tables, "Anna", 80))
            == """\
Your matches:
  Oak board: dwarfs against Bert; battle 1 of 2, 1 ply, the trolls' turn.
  Pine board: dwarfs against Bert; battle 1 of 2, 0 plies, your turn.
  Marble board: dwarfs against Bert; battle 1 of 2 is over.
  Basalt board: dwarfs with nobody against you; battle 1 of 2, 0 plies, your
    turn.
Put away for another day:
  Discworld, dwarfs against Bert; battle 1 of 2, 2 plies, begun on 2026-11-21:
    "resume game 1".
  Discworld, dwarfs against Bert; battle 1 of 2, which is over, begun on
    2026-11-21: "resume game 2"."""
        )

    def test_none(self, annals: Annals) -> None:
        assert (
            text(games(annals, [], "Anna", 40))
            == """\
You have no match under way, here or
put away. "history" lists what was
played."""
        )


class TestScore:
    def test_of_somebody(self, annals: Annals) -> None:
        annals.whole(DWARFS)
        annals.whole(TROLLS, "Bert", "Anna", rules="koom valley")
        annals.begin()
        annals.end(DWARFS, points=(50, 40))
        assert (
            text(score(annals, "ANNA", "Bert", 80))
            == """\
Anna: rating 1687, give or take 228 (3 battles).
  Discworld: matches 1 won, 0 drawn, 0 lost; as dwarfs 2 won, 0 drawn, 0 lost.
  Koom valley: as trolls 1 won, 0 drawn, 0 lost."""
        )

    def test_without_a_rating(self, annals: Annals) -> None:
        annals.whole(rated=False)
        assert (
            text(score(annals, "Anna", "Anna", 40))
            == """\
Anna: no rating yet.
  Discworld: as dwarfs 1 won, 0 drawn,
    0 lost."""
        )

    @pytest.mark.parametrize(("player", "who"), [("Anna", "You have"), ("Bert", "Bert has")])
    def test_of_who_has_played_nothing(self, annals: Annals, player: str, who: str) -> None:
        said = score(annals, player, "Anna", 80)
        assert text(said) == f"{who} not finished a battle here yet."

    def test_of_nobody(self, annals: Annals) -> None:
        said = score(annals, "zoe", "Anna", 80)
        assert text(said) == "Nobody called Zoe has finished a battle here."


class TestStandings:
    def test_the_best_first(self, annals: Annals) -> None:
        for _ in range(3):
            annals.whole(DWARFS, LONG[0], "Bert")
        assert (
            text(standings(annals, "Anna", 80))
            == """\
Players, ranked by their rating less twice the give or take:
  1. Wolfeschlegelsteinha: 1687, give or take 228 (3 battles)
  2. Bert: 1313, give or take 228 (3 battles)"""
        )
        assert (
            text(standings(annals, "Anna", 40))
            == """\
Players, ranked by their rating less
twice the give or take:
  1. Wolfeschlegelsteinha: 1687, give
     or take 228 (3 battles)
  2. Bert: 1313, give or take 228 (3
     battles)"""
        )

    def test_oneself_far_below(self, annals: Annals) -> None:
        letters = "ABCDEFGHIJKLMNOPQRSTUVWX"
        for letter in letters:
            annals.whole(DWARFS, f"X{letter.lower()}", "Anna")
        lines = standings(annals, "Anna", 80)
        assert len(lines) == 1 + PAGE + 1 + 1
        assert lines[-2].startswith(" 25. Anna: ")
        assert lines[-1] == "There are 25 in all."

    def test_nobody_yet(self, annals: Annals) -> None:
        none = (
            "Nobody has a rating yet: it takes a battle between two registered players, "
            "of 6 plies or more."
        )
        assert standings(annals, "Anna", 100) == [none]


class TestRecord:
    def test_it_can_be_copied(self, annals: Annals) -> None:
        annals.bring_in()
        game = read_record(RECORD, DISCWORLD).game
        found = annals.found(BattleLookup(1))
        assert found
        lines = archive.record(found, found.comments, 40)
        assert text(lines).endswith("imported:\n" + RECORD.rstrip("\n"))
        opening = read_record("\n".join(lines[-3:]), DISCWORLD).game
        assert opening == game


Page = Callable[[Annals, int], list[str]]
PAGES: list[Page] = [
    lambda annals, width: history(annals, History(), LONG[1], width),
    lambda annals, width: history(annals, History(LONG[0]), LONG[1], width),
    lambda annals, width: score(annals, LONG[0], LONG[1], width),
    lambda annals, width: standings(annals, LONG[1], width),
    lambda annals, width: games(annals, [], LONG[0], width),
]


@pytest.mark.parametrize("width", [40, 60, 80, 132])
@pytest.mark.parametrize("page", PAGES)
def test_every_line_is_shorter_than_the_screen_is_wide(
    annals: Annals, page: Page, width: int
) -> None:
    for _ in range(25):
        annals.whole(TROLLS, *LONG, rules="koom valley")
    lines = page(annals, width)
    assert lines
    assert max(map(len, lines)) < width
