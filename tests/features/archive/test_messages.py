"""Exact text of match lists, battle histories and records, at several screen widths."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from msgspec.structs import astuple

from tests.game.annals import CAPTURE, DAY, DRAW, NOON, RECORD, TROLLS, Annals, saved
from thudmud.features.archive import messages as archive
from thudmud.features.archive.commands import History
from thudmud.features.archive.messages import STATES, entry
from thudmud.game.archive import PAGE, AdjournedLookup, BattleLookup, HistoryLookup, State
from thudmud.game.events import BattleEnded, BattleStarted, Left, Moved, Parting, TableEvent
from thudmud.game.table import BoardSpec, Table
from thudmud.rules import DISCWORLD, Ending, Outcome, Score, Side, read_record
from thudmud.values import replace
from thudmud.views.sentences import PAST_ENDINGS

LONG = "Wolfeschlegelsteinha", "Vogelsangbergerdorff"
"""Names of 20 letters."""
EVERYBODY = History(includes_everybody=True)
FILTERS = LONG[0], 1, LONG[1], "koom valley", "2026-11-21"
SAID_BY_STATE = {
    Ending.RESIGNATION: "Anna resigned",
    Ending.CLAIM: "Anna stopped playing",
    Ending.TIME: "Anna ran out of time",
}


@pytest.fixture
def annals() -> Annals:
    return Annals()


def history(annals: Annals, asked: History, me: str, width: int) -> list[str]:
    player, page, opponent, rules, day, _ = astuple(asked)
    found = annals.found(HistoryLookup(player, page, opponent, rules, day))
    return archive.history(found, asked, me, width)


def games(annals: Annals, tables: Iterable[Table], me: str, width: int) -> list[str]:
    return archive.games(tables, annals.found(AdjournedLookup(me)), me, width)


def text(lines: list[str]) -> str:
    return "\n".join(lines)


class TestEntries:
    def test_entry_of_an_ended_battle(self, annals: Annals) -> None:
        annals.begin()
        annals.end(TROLLS)
        assert entry(annals.battle(1)) == (
            "2026-11-21: Anna (dwarfs) 0, Bert (trolls) 32; discworld, 80 moves, Anna resigned"
        )

    def test_entry_of_a_running_battle(self, annals: Annals) -> None:
        annals.begin(rules="koom valley")
        assert entry(annals.battle(1)) == (
            "2026-11-21: Anna (dwarfs), Bert (trolls); koom valley, in progress"
        )

    def test_entry_of_an_adjourned_battle(self, annals: Annals) -> None:
        annals.adjourn(saved(annals.begin()))
        assert entry(annals.battle(1)).endswith("; discworld, 2 moves, adjourned")

    def test_entry_of_an_unfinished_battle(self, annals: Annals) -> None:
        annals.begin()
        annals.clear()
        assert entry(annals.battle(1)).endswith("; discworld, never finished")

    def test_entry_of_an_imported_battle(self, annals: Annals) -> None:
        annals.bring_in()
        assert entry(annals.battle(1)) == (
            "2026-11-21: Zoe (dwarfs), somebody (trolls); discworld, 2 moves, result "
            "unknown, imported"
        )

    @pytest.mark.parametrize("ending", Ending)
    def test_entry_names_every_ending(self, annals: Annals, ending: Ending) -> None:
        annals.begin()
        annals.end(Outcome(ending, Side.TROLL, Score(1, 2)))
        said = SAID_BY_STATE.get(ending, PAST_ENDINGS[ending])
        assert entry(annals.battle(1)).endswith(f", {said}")
        assert "Anna (dwarfs) 1, Bert (trolls) 2;" in entry(annals.battle(1))

    def test_battle_states_all_have_wording(self) -> None:
        assert set(STATES) == set(State)


class TestHistory:
    def test_history_lists_all_battles_newest_first(self, annals: Annals) -> None:
        annals.whole(TROLLS)
        annals.whole(DRAW, "Carl", LONG[0])
        assert (
            text(history(annals, EVERYBODY, "Anna", 80))
            == """\
All battles, newest first:
2. 2026-11-21: Carl (dwarfs) 32, Wolfeschlegelsteinha (trolls) 32; discworld,
   80 moves, ended by agreement
1. 2026-11-21: Anna (dwarfs) 0, Bert (trolls) 32; discworld, 80 moves, Anna
   resigned
"replay 2" replays the first of these."""
        )

    def test_history_wraps_on_a_narrow_screen(self, annals: Annals) -> None:
        annals.whole(TROLLS)
        assert (
            text(history(annals, History("ANNA"), "Bert", 40))
            == """\
The battles of Anna, newest first:
1. 2026-11-21: Anna (dwarfs) 0, Bert
   (trolls) 32; discworld, 80 moves,
   Anna resigned
"replay 1" replays the first of these."""
        )

    def test_history_heading_of_own_battles(self, annals: Annals) -> None:
        annals.whole()
        lines = history(annals, History("anna"), "Anna", 80)
        assert lines[0] == "Your battles, newest first:"

    def test_history_is_paginated(self, annals: Annals) -> None:
        for number in range(45):
            annals.begin(at=NOON + number * DAY)
            annals.end()
        seen = []
        for page, rest in [(1, range(45, 25, -1)), (2, range(25, 5, -1)), (3, range(5, 0, -1))]:
            lines = history(annals, History("Bert", page), "Anna", 100)
            assert [int(line.split(".")[0]) for line in lines[1:-1]] == list(rest)
            seen.append(lines[-1])
        again = "replays the first of these."
        assert seen == [
            f'Page 1 of 3. "history Bert page 2" shows earlier ones. "replay 45" {again}',
            f'Page 2 of 3. "history Bert page 3" shows earlier ones. "replay 25" {again}',
            f'Page 3 of 3. "replay 5" {again}',
        ]
        assert text(history(annals, History("Bert", 4), "Anna", 80)) == (
            'There is no page 4. "history Bert page 3" shows the earliest battles.'
        )

    def test_history_of_exactly_one_page(self, annals: Annals) -> None:
        for _ in range(PAGE):
            annals.whole()
        lines = history(annals, EVERYBODY, "Anna", 100)
        assert lines[-1].startswith('"replay 20"')
        second = replace(EVERYBODY, page=2)
        assert text(history(annals, second, "Anna", 100)) == (
            'There is no page 2. "history all" shows the earliest battles.'
        )

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            (EVERYBODY, "No battles have been played here yet."),
            (History("zoe"), "Found no battles of Zoe."),
            (
                History("anna"),
                "You haven't played a battle yet. \"history all\" lists everybody's.",
            ),
            (History("anna", rules="classic"), "Found no battles of yours under classic rules."),
            (History("anna", opponent="bert"), "Found no battles of yours with Bert."),
            (History("bert", opponent="anna"), "Found no battles of Bert with you."),
            (History(rules="classic"), "Found no battles under classic rules."),
            (History(day="2026-11-20"), "Found no battles on 2026-11-20."),
            (
                History("zoe", opponent="bert", rules="classic", day="today"),
                "Found no battles of Zoe with Bert under classic rules today.",
            ),
        ],
    )
    def test_empty_history_wording(self, annals: Annals, asked: History, said: str) -> None:
        assert text(history(annals, asked, "Anna", 80)) == said

    @pytest.mark.parametrize(
        ("asked", "numbers", "heading"),
        [
            (History("Anna", opponent="BERT"), [4, 2, 1], "Your battles with Bert"),
            (History("bert", opponent="anna"), [4, 2, 1], "The battles of Bert with you"),
            (History("carl", opponent="Anna"), [3], "The battles of Carl with you"),
            (History("carl", opponent="Dora"), [5], "The battles of Carl with Dora"),
            (History(rules="classic"), [5, 2], "The battles under classic rules"),
            (History("Anna", rules="classic"), [2], "Your battles under classic rules"),
            (History(day="2026-11-22"), [5, 4, 3], "The battles on 2026-11-22"),
            (History(day="today"), [5, 4, 3], "The battles today"),
            (History("anna", day="yesterday"), [2, 1], "Your battles yesterday"),
            (
                History("anna", 1, "bert", "discworld", "today"),
                [4],
                "Your battles with Bert under discworld rules today",
            ),
        ],
    )
    def test_history_filters_select_the_matching_battles(
        self, annals: Annals, asked: History, numbers: list[int], heading: str
    ) -> None:
        annals.begin()
        annals.begin(rules="classic", dwarf="Bert", troll="Anna")
        annals.begin(troll="Carl", at=NOON + DAY)
        annals.begin(at=NOON + DAY)
        annals.begin(dwarf="Carl", troll="Dora", rules="classic", at=NOON + DAY)
        lines = history(annals, asked, "Anna", 100)
        assert lines[0] == f"{heading}, newest first:"
        assert [int(line.split(".")[0]) for line in lines[1:-1]] == numbers

    def test_filtered_history_is_paginated(self, annals: Annals) -> None:
        for number in range(PAGE + 3):
            annals.begin()
            annals.begin(dwarf=f"X{chr(ord('a') + number)}")
        lines = history(annals, History("Anna", opponent="bert"), "Anna", 100)
        assert int(lines[PAGE].split(".")[0]) == 7
        assert 'Page 1 of 2. "history with bert page 2" shows earlier ones.' in lines[-1]
        lines = history(annals, History("Anna", 2, "bert"), "Anna", 100)
        assert [int(line.split(".")[0]) for line in lines[1:-1]] == [5, 3, 1]


class TestGames:
    def table(self, name: str, *events: TableEvent, dwarf: str = "Anna") -> Table:
        table = Table.set_up(BoardSpec(name), 200)
        for event in (BattleStarted(NOON, dwarf, 1, "discworld", dwarf, "Bert"), *events):
            table = table.apply(event)
        return table

    def test_games_lists_running_and_adjourned_matches(self, annals: Annals) -> None:
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
  Oak board: dwarfs against Bert; battle 1 of 2, 1 move, the trolls' turn.
  Pine board: dwarfs against Bert; battle 1 of 2, 0 moves, your turn.
  Marble board: dwarfs against Bert; battle 1 of 2 is over.
  Basalt board: dwarfs without an opponent; battle 1 of 2, 0 moves, your turn.
Adjourned matches:
  Discworld, dwarfs against Bert; battle 1 of 2, 2 moves, begun on 2026-11-21:
    "resume game 1".
  Discworld, dwarfs against Bert; battle 1 of 2, which is over, begun on
    2026-11-21: "resume game 2"."""
        )

    def test_games_without_a_match(self, annals: Annals) -> None:
        assert (
            text(games(annals, [], "Anna", 40))
            == """\
You have no matches in progress or
adjourned. "history" lists your past
battles."""
        )


class TestRecord:
    def test_record_can_be_read_back(self, annals: Annals) -> None:
        annals.bring_in()
        game = read_record(RECORD, DISCWORLD).game
        found = annals.found(BattleLookup(1))
        assert found
        lines = archive.record(found, found.comments, 40)
        assert "\nIts columns skip the letter I" in text(lines)
        assert text(lines).endswith('"help notation".\n' + RECORD.rstrip("\n"))
        opening = read_record("\n".join(lines[-3:]), DISCWORLD).game
        assert opening == game


Page = Callable[[Annals, int], list[str]]
PAGES: list[Page] = [
    lambda annals, width: history(annals, EVERYBODY, LONG[1], width),
    lambda annals, width: history(annals, History(LONG[0]), LONG[1], width),
    lambda annals, width: history(annals, History(*FILTERS), LONG[1], width),
    lambda annals, width: games(annals, [], LONG[0], width),
]


@pytest.mark.parametrize("width", [40, 60, 80, 132])
@pytest.mark.parametrize("page", PAGES)
def test_lists_fit_the_screen_width(annals: Annals, page: Page, width: int) -> None:
    for _ in range(25):
        annals.whole(TROLLS, *LONG, rules="koom valley")
    lines = page(annals, width)
    assert lines
    assert max(map(len, lines)) < width
