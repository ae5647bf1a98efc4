"""Export and import of battles, on a store and from the command line."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.game.annals import CAPTURE, DAY, NOON, RECORD, TROLLS, Annals, saved
from thudmud.cli.export import (
    BattleDetails,
    StrangerError,
    Written,
    export,
    file_name,
    parse_file_name,
)
from thudmud.cli.import_ import ImportReport, import_files
from thudmud.cli.main import main
from thudmud.cli.records import LARGEST
from thudmud.game.archive import Battle
from thudmud.game.clocks import TimeControl
from thudmud.game.events import BattleStarted, Commented, Moved
from thudmud.game.match import fold_game
from thudmud.game.projections import HALL
from thudmud.rules import (
    DISCWORLD,
    KOOM_VALLEY,
    Ending,
    Game,
    Ruleset,
    Side,
    read_record,
    write_record,
)
from thudmud.store import Store, accounts, battles
from thudmud.store.database import Database
from thudmud.values import replace

Shown = pytest.CaptureFixture[str]


@pytest.fixture
def annals() -> Annals:
    """Return four battles: finished, unfinished, adjourned and running."""
    annals = Annals()
    annals.begin()
    annals.play(CAPTURE)
    annals.end(TROLLS, count=2)
    annals.begin("pine board", dwarf="Carl", troll="Anna", at=NOON + DAY)
    annals.play(CAPTURE[:1], "pine board")
    annals.clear("pine board")
    annals.adjourn(saved(annals.begin(at=NOON + 2 * DAY)))
    annals.begin(dwarf="Dora", troll="Bert", at=NOON + 3 * DAY)
    return annals


async def store_of(annals: Annals, path: Path | None = None) -> Store:
    """Return a store filled with the annals' events at their times."""
    now = 0.0
    clock = lambda: now  # noqa: E731
    store = await Store.open(path, clock=clock) if path else Store.in_memory(clock=clock)
    versions: Counter[str] = Counter()
    for stream, event in annals.log:
        now = event.at
        await store.append({stream: (versions[stream], [event])})
        versions[stream] += 1
    return store


async def battle_in(store: Store, number: int) -> Battle:
    battle = await store.read(battles.battle, number)
    assert battle is not None
    return battle


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


class TestNames:
    async def test_file_name_carries_the_details_that_a_record_lacks(self, annals: Annals) -> None:
        battle = await battle_in(await store_of(annals), 1)
        name = file_name(battle)
        assert name == "000001_2026-11-21_discworld_Anna_Bert_resignation_troll.thud"
        told = BattleDetails(
            NOON - DAY / 2, "discworld", "Anna", "Bert", Ending.RESIGNATION, Side.TROLL
        )
        assert parse_file_name(name) == told

    async def test_file_name_of_an_unfinished_battle_has_no_ending(self, annals: Annals) -> None:
        name = file_name(await battle_in(await store_of(annals), 2))
        assert name == "000002_2026-11-22_discworld_Carl_Anna.thud"
        assert parse_file_name(name) == BattleDetails(NOON + DAY / 2, "discworld", "Carl", "Anna")

    async def test_file_name_of_a_battle_without_a_troll_player_says_nobody(
        self, annals: Annals
    ) -> None:
        battle = await battle_in(await store_of(annals), 2)
        name = file_name(battle._replace(rules="koom valley", troll=""))
        assert name == "000002_2026-11-22_koom-valley_Carl_nobody.thud"
        assert parse_file_name(name) == BattleDetails(NOON + DAY / 2, "koom valley", "Carl", "")

    @pytest.mark.parametrize(
        "name",
        [
            "game.thud",
            "1_2026-11-31_discworld_Anna_Bert.thud",
            "1_2026-11-21_chess_Anna_Bert.thud",
            "1_2026-11-21_discworld_Anna_Bert.txt",
            "1_2026-11-21_discworld_../Anna_Bert.thud",
            "1_2026-11-21_discworld_Anna_Bert_resignation.thud",
            "1_2026-11-21_discworld_Anna_Bert_resignation_.thud",
        ],
    )
    def test_unrecognized_file_names_carry_no_details(self, name: str) -> None:
        assert parse_file_name(name) == BattleDetails()


class TestExport:
    async def test_export_leaves_out_running_and_adjourned_battles(
        self, annals: Annals, tmp_path: Path
    ) -> None:
        store = await store_of(annals)
        folder = tmp_path / "new" / "folder"
        assert await export(store, folder) == Written(2, 2)
        names = [path.name for path in files_in(folder)]
        assert [name[:17] for name in names] == ["000001_2026-11-21", "000002_2026-11-22"]
        game = read_record((folder / names[0]).read_text(encoding="utf-8"), DISCWORLD).game
        assert game.moves == CAPTURE

    async def test_finished_battle_of_an_adjourned_match_is_exported(self, tmp_path: Path) -> None:
        annals = Annals()
        began = annals.begin()
        annals.play(CAPTURE)
        annals.end(TROLLS, count=2)
        annals.adjourn(saved(began, outcome=TROLLS))
        store = await store_of(annals)
        assert await export(store, tmp_path) == Written(1, 0)

    async def test_clock_times_are_exported_as_headers_and_comments(self, tmp_path: Path) -> None:
        annals, first = Annals(), CAPTURE[0]
        time = TimeControl(10, 5)
        annals.happen(
            "oak board", BattleStarted(NOON, "Anna", 1, "discworld", "Anna", "Bert", time=time)
        )
        annals.happen("oak board", Moved(NOON + 7.44, "Anna", Side.DWARF, first, 1))
        annals.happen("oak board", Moved(NOON + 70, "Bert", Side.TROLL, CAPTURE[1], 2))
        annals.end(replace(TROLLS, ending=Ending.TIME), count=2)
        store = await store_of(annals)
        await export(store, tmp_path)
        [file] = files_in(tmp_path)
        record = read_record(file.read_text())
        assert (record.clock, record.spent) == ("10+5", (7.4, 62.6))
        assert record.game.outcome == replace(TROLLS, ending=Ending.TIME)
        assert record.comments == ()
        target = Store.in_memory()
        await brought_in(target, file)
        assert (await battle_in(target, 1)).outcome == record.game.outcome
        assert await target.read(battles.comments, 1) == ()

    async def test_export_for_a_player_without_battles_raises(
        self, annals: Annals, tmp_path: Path
    ) -> None:
        store = await store_of(annals)
        with pytest.raises(StrangerError, match="Zoe"):
            await export(store, tmp_path, "Zoe")

    async def test_export_pages_through_many_battles(
        self, annals: Annals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("thudmud.cli.export.PAGE", 2)
        for number in range(7):
            annals.begin(f"board {number}")
            annals.play(CAPTURE, f"board {number}")
            annals.end(TROLLS, f"board {number}", count=2)
        store = await store_of(annals)
        assert await export(store, tmp_path) == Written(9, 2)
        assert await export(store, tmp_path / "Anna", "Anna") == Written(9, 1)

    async def test_erased_player_is_exported_as_nobody(
        self, annals: Annals, tmp_path: Path
    ) -> None:
        store = await store_of(annals)
        await store.write(accounts.enrol, "Anna", "hash")
        await store.write(accounts.erase, "Anna")
        await export(store, tmp_path / "files", "Bert")
        [path] = files_in(tmp_path / "files")
        assert path.name == "000001_2026-11-21_discworld_nobody_Bert_resignation_troll.thud"
        assert "Dwarf" not in path.read_text("utf-8")
        assert not (await brought_in(store, path)).refused

    @pytest.mark.parametrize(
        ("wanted", "numbers"),
        [
            (("anna",), [1, 2]),
            (("CARL",), [2]),
            ((None, NOON + DAY), [2]),
            (("Anna", NOON + 9 * DAY), []),
        ],
    )
    async def test_export_is_limited_to_a_player_and_a_period(
        self, annals: Annals, tmp_path: Path, wanted: tuple[Any, ...], numbers: Sequence[int]
    ) -> None:
        store = await store_of(annals)
        await export(store, tmp_path, *wanted)
        assert [int(path.name[:6]) for path in files_in(tmp_path)] == numbers


async def brought_in(
    store: Store, *files: Path, given: BattleDetails | None = None
) -> ImportReport:
    result = ImportReport({}, {})
    await import_files(store, files, given or BattleDetails(), result)
    return result


def reason(result: ImportReport) -> str:
    assert not result.accepted
    [only] = result.refused.values()
    return only


def record_at(path: Path, content: bytes = RECORD.encode()) -> Path:
    path.write_bytes(content)
    return path


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return record_at(tmp_path / "game.thud")


class TestImport:
    async def test_exported_battle_survives_a_round_trip(
        self, annals: Annals, tmp_path: Path
    ) -> None:
        source, target = await store_of(annals), Store.in_memory()
        await export(source, tmp_path)
        result = await brought_in(target, *files_in(tmp_path))
        assert list(result.accepted.values()) == [1, 2]
        first = await battle_in(target, 1)
        assert (first.at, first.rules) == (NOON - DAY / 2, "discworld")
        assert (first.dwarf, first.troll, first.plies) == ("Anna", "Bert", 2)
        assert fold_game(await target.read(battles.battle_events, first)).moves == CAPTURE  # type: ignore[arg-type]

    async def test_comments_survive_a_round_trip(self, annals: Annals, tmp_path: Path) -> None:
        source, target = await store_of(annals), Store.in_memory()
        began = (await battle_in(source, 1)).id
        said = [
            Commented(NOON, "Anna", *began, 2, "a pity"),
            Commented(NOON, "Bert", *began, 0, "b"),
        ]
        await source.append({HALL: (0, said)})
        await export(source, tmp_path)
        await brought_in(target, *files_in(tmp_path))
        assert await target.read(battles.comments, 1) == await source.read(battles.comments, 1)
        assert len(await target.read(battles.comments, 1)) == 2
        for path in files_in(tmp_path):
            path.unlink()
        await export(source, tmp_path, bare=True)
        assert not any(";" in path.read_text("utf-8") for path in files_in(tmp_path))

    async def test_imported_comments_are_cleaned_and_truncated(self, tmp_path: Path) -> None:
        text = f"{RECORD}; x: from\ta book\n;{'a' * 400}\n"
        store = Store.in_memory()
        await brought_in(store, record_at(tmp_path / "game.thud", text.encode()))
        assert [
            (each.ply, each.player, each.text) for each in await store.read(battles.comments, 1)
        ] == [(2, "", f"x: from a book {'a' * 285}")]

    async def test_import_of_an_unnamed_file_uses_the_given_details(self, record: Path) -> None:
        os.utime(record, (NOON, NOON))
        store = Store.in_memory()
        given = BattleDetails(rules="classic", dwarf="Zoe")
        await brought_in(store, record, given=given)
        battle = await battle_in(store, 1)
        assert (battle.rules, battle.dwarf, battle.troll) == ("classic", "Zoe", "")

    async def test_given_details_override_the_file_name(self, record: Path) -> None:
        store = Store.in_memory()
        named = record_at(record.with_name("7_2020-02-29_classic_Anna_Bert.thud"))
        await brought_in(store, named, given=BattleDetails(troll="Zoe"))
        battle = await battle_in(store, 1)
        assert (battle.rules, battle.dwarf, battle.troll) == ("classic", "Anna", "Zoe")

    @pytest.mark.parametrize("rules", [DISCWORLD, KOOM_VALLEY])
    async def test_imported_rules_follow_from_the_opening(
        self, tmp_path: Path, rules: Ruleset
    ) -> None:
        opening = write_record(Game.start(rules))
        path = record_at(tmp_path / "game.thud", f"{opening}dA10-B9\n".encode())
        store = Store.in_memory()
        await brought_in(store, path)
        battle = await battle_in(store, 1)
        assert battle.rules == rules.name

    async def test_file_time_in_the_future_is_replaced_by_the_present(self, record: Path) -> None:
        os.utime(record, (2**33, 2**33))
        store = Store.in_memory()
        await brought_in(store, record)
        battle = await battle_in(store, 1)
        assert battle.at < 2**33

    async def test_outcome_is_derived_from_a_final_ply(self, tmp_path: Path) -> None:
        path = tmp_path / "over.thud"
        path.write_text("dG6,TG7,RH8\ndG6-G7xG7\n", encoding="utf-8")
        store = Store.in_memory()
        await brought_in(store, path)
        battle = await battle_in(store, 1)
        assert battle.outcome is not None

    async def test_same_record_is_imported_once(self, record: Path) -> None:
        store = Store.in_memory()
        copy = record.with_name("copy.thud")
        copy.write_text("\r\n" + RECORD.replace("\n", "\r\n"), encoding="utf-8")
        result = await brought_in(store, record, copy)
        assert result.accepted == {record: 1}
        assert result.refused == {copy: "already imported: battle 1"}
        assert reason(await brought_in(store, record)) == "already imported: battle 1"
        assert len(await store.read(Database.stream_versions)) == 1

    @pytest.mark.parametrize(
        "other", ["1_2020-02-28_classic_Anna_Bert", "1_2020-02-29_classic_Anna_Carl"]
    )
    async def test_equal_plies_with_other_players_or_day_are_a_new_battle(
        self, record: Path, other: str
    ) -> None:
        store = Store.in_memory()
        first = record_at(record.with_name("1_2020-02-29_classic_Anna_Bert.thud"))
        second = record_at(record.with_name(f"{other}.thud"))
        result = await brought_in(store, first, second)
        assert result.accepted == {first: 1, second: 2}
        same = BattleDetails(dwarf="ANNA", troll="bert")
        assert reason(await brought_in(store, first, given=same)).endswith("battle 1")

    async def test_single_ply_played_by_others_is_not_a_duplicate(
        self, annals: Annals, tmp_path: Path
    ) -> None:
        """Battle 2 has a single ply; its players may have opened like that on another day, too."""
        store = await store_of(annals)
        await export(store, tmp_path, bare=True)
        single = files_in(tmp_path)[1]
        assert reason(await brought_in(store, single)) == "already played here: battle 2"
        others = single.rename(single.with_name("1_2026-11-22_discworld_Carl_Zoe.thud"))
        assert (await brought_in(store, others)).accepted == {others: 5}
        another_day = others.rename(others.with_name("1_2026-11-23_discworld_Carl_Anna.thud"))
        assert (await brought_in(store, another_day)).accepted == {another_day: 6}

    @pytest.mark.parametrize("rules", [DISCWORLD, KOOM_VALLEY])
    @pytest.mark.parametrize(
        ("ending", "loser"),
        [
            (Ending.RESIGNATION, Side.DWARF),
            (Ending.RESIGNATION, Side.TROLL),
            (Ending.CLAIM, Side.TROLL),
            (Ending.AGREEMENT, None),
            (Ending.QUIET, None),
            (Ending.DESERTION, None),
        ],
    )
    async def test_ending_survives_a_round_trip(
        self, tmp_path: Path, rules: Ruleset, ending: Ending, loser: Side | None
    ) -> None:
        game = Game.start(rules)
        for _ in range(4):
            game = game.play(rules.legal_moves(game.position)[-1])
        ended = game.resign(loser) if loser else game.agree(ending)
        assert ended.outcome
        outcome = replace(ended.outcome, ending=ending)
        annals = Annals()
        annals.begin(rules=rules.name)
        annals.play(game.moves)
        annals.end(outcome, count=4)
        source, target = await store_of(annals), Store.in_memory()
        await export(source, tmp_path / "first")
        await brought_in(target, *files_in(tmp_path / "first"))
        battle = await battle_in(target, 1)
        assert battle.outcome == outcome
        await export(target, tmp_path / "again")
        [first, again] = [files_in(tmp_path / folder)[0] for folder in ("first", "again")]
        assert (again.name, again.read_bytes()) == (first.name, first.read_bytes())
        renamed = first.rename(tmp_path / "game.txt")
        refusal = reason(await brought_in(target, renamed))
        assert refusal == "already imported: battle 1"
        anew = Store.in_memory()
        await brought_in(anew, renamed)
        assert await anew.read(battles.battle, 1) == battle
        assert read_record(again.read_text(encoding="utf-8"), rules).game.moves == game.moves

    async def test_final_ply_overrides_the_ending_in_the_file_name(self, tmp_path: Path) -> None:
        content = b"dG6,TG7,RH8\ndG6-G7xG7\n"
        name = "1_2026-11-21_discworld_Anna_Bert_resignation_troll.thud"
        store = Store.in_memory()
        await brought_in(store, record_at(tmp_path / name, content))
        battle = await battle_in(store, 1)
        assert battle.outcome is not None
        assert battle.outcome.ending is Ending.NO_MOVE

    async def test_battle_played_here_is_not_imported(self, annals: Annals, tmp_path: Path) -> None:
        store = await store_of(annals)
        await export(store, tmp_path)
        result = await brought_in(store, *files_in(tmp_path))
        assert not result.accepted
        assert list(result.refused.values()) == [
            "already played here: battle 1",
            "already played here: battle 2",
        ]

    async def test_concurrent_imports_store_each_record_once(
        self, record: Path, tmp_path: Path
    ) -> None:
        """Both import the same two files, in opposite orders: each record is stored once."""
        other = tmp_path / "other.thud"
        other.write_text(RECORD.splitlines()[0] + "\ndF1-F6\n", encoding="utf-8")
        one, two = await Store.open(tmp_path / "db"), await Store.open(tmp_path / "db")
        first, second = await asyncio.gather(
            brought_in(one, record, other), brought_in(two, other, record)
        )
        numbers = first.accepted | second.accepted
        assert len(first.accepted) + len(second.accepted) == len(numbers) == 2
        for path, why in (*first.refused.items(), *second.refused.items()):
            assert why == f"already imported: battle {numbers[path]}"
        assert len(first.refused) + len(second.refused) == 2
        assert len(await one.read(battles.battles)) == 2
        for store in (one, two):
            await store.close()


HEADERS = """\
[Rules "koom valley"]
[Event "A record of another program"]
[Dwarf "anna"]
[Troll "Bert"]
[Date "2026-11-20"]
"""
VALLEY = write_record(Game.start(KOOM_VALLEY)) + "dA10-B9\n"


class TestHeaders:
    """Headers of a record, together with the file name and the options."""

    @pytest.mark.parametrize("name", ["game.thud", "7_2020-02-29_classic_Zoe_Carl.thud"])
    async def test_headers_override_the_file_name(self, tmp_path: Path, name: str) -> None:
        store = Store.in_memory()
        await brought_in(store, record_at(tmp_path / name, (HEADERS + VALLEY).encode()))
        battle = await battle_in(store, 1)
        assert file_name(battle) == "000001_2026-11-20_koom-valley_Anna_Bert.thud"

    async def test_missing_headers_are_filled_from_options_and_file_name(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "7_2020-02-29_koom-valley_Zoe_Carl.thud"
        store = Store.in_memory()
        record_at(path, f'[Troll "Bert"]\n{VALLEY}'.encode())
        await brought_in(store, path, given=BattleDetails(dwarf="Anna", troll="bert"))
        battle = await battle_in(store, 1)
        assert file_name(battle) == "000001_2020-02-29_koom-valley_Anna_Bert.thud"

    async def test_missing_rules_header_falls_back_on_the_opening(self, tmp_path: Path) -> None:
        store = Store.in_memory()
        content = f'[Troll "Bert"]\n\n{VALLEY}'
        await brought_in(store, record_at(tmp_path / "game.thud", content.encode()))
        battle = await battle_in(store, 1)
        assert battle.rules == "koom valley"

    @pytest.mark.parametrize(
        ("given", "why"),
        [
            (
                BattleDetails(rules="classic"),
                "line 1: expected classic rules, got koom valley rules",
            ),
            (
                BattleDetails(dwarf="Zoe"),
                "player of the dwarfs: the record says anna, the option Zoe",
            ),
            (
                BattleDetails(troll="Zoe"),
                "player of the trolls: the record says Bert, the option Zoe",
            ),
        ],
    )
    async def test_option_contradicting_the_headers_is_refused(
        self, tmp_path: Path, given: BattleDetails, why: str
    ) -> None:
        path = record_at(tmp_path / "game.thud", (HEADERS + VALLEY).encode())
        assert reason(await brought_in(Store.in_memory(), path, given=given)) == why

    @pytest.mark.parametrize(
        ("header", "why"),
        [
            (
                "[Rules chess]",
                'line 1: expected a header such as [Rules "classic"], got [Rules chess]',
            ),
            (
                '[Rules "chess"]',
                "line 1: unknown rules 'chess'; expected one of discworld, classic, koom valley",
            ),
            ('[Date "2026-02-30"]', "expected a day as the date, got 2026-02-30"),
            (
                '[Dwarf "../Anna"]',
                "player of the dwarfs: expected 2 to 20 letters from A to Z, got '../Anna'",
            ),
            (
                '[Result "99-0"]\n[Winner "dwarf"]\n[Ending "agreement"]',
                "line 3: expected the result 3-8, winner troll under these rules,"
                " got 99-0, winner dwarf",
            ),
        ],
    )
    async def test_impossible_header_is_refused_with_its_line(
        self, tmp_path: Path, header: str, why: str
    ) -> None:
        path = record_at(tmp_path / "game.thud", f"{header}\n{RECORD}".encode())
        assert reason(await brought_in(Store.in_memory(), path)) == why


class TestRefusedFiles:
    async def refused(self, path: Path, content: bytes) -> str:
        store = Store.in_memory()
        why = reason(await brought_in(store, record_at(path, content)))
        assert not await store.position()
        return why

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (b"", "line 1: missing setup line"),
            (RECORD.encode() + b"dG1-G9\n", "line 4: dG1-G9: "),
            (
                RECORD.replace("dF1-F6", "dF1-F99").encode(),
                "line 2: expected a square from A1 to P15",
            ),
            (b"dF1,dG1,TG7,RH8\n", "the record has no plies"),
            (b"\x7fELF\x00\x01\xff", "not UTF-8 text"),
            (b"text\0with zero", "not UTF-8 text"),
            (b"d" * LARGEST, "line 1: expected a square such as A6"),
            (b"d" * (LARGEST + 1), f"larger than {LARGEST} bytes"),
            (RECORD.encode() + b"dG1-G2\n" * 20_000, "more than 10,000 lines"),
            (RECORD.encode() + b"dG1-G2\n" * 2_000, "line 2002: expected at most 2,000 plies"),
            (b"\x1b[2Jhello\n", "line 1: expected the setup as the first line"),
        ],
    )
    async def test_invalid_record_is_refused_with_a_short_printable_reason(
        self, tmp_path: Path, content: bytes, why: str
    ) -> None:
        told = await self.refused(tmp_path / "game.thud", content)
        assert told.startswith(why)
        assert len(told) < 300
        assert told.isprintable()

    async def test_record_with_plies_illegal_under_its_rules_is_refused(
        self, tmp_path: Path
    ) -> None:
        content = (write_record(Game.start(DISCWORLD)) + "dF1-F9\nTG7-F8xF9\n").encode()
        path = record_at(tmp_path / "1_2026-11-21_koom-valley_Anna_Bert.thud", content)
        assert "line 1" in reason(await brought_in(Store.in_memory(), path))

    async def test_huge_file_is_refused_without_being_read(self, tmp_path: Path) -> None:
        path = tmp_path / "huge"
        with path.open("wb") as file:
            file.truncate(100 * 1024 * 1024)
        assert "larger" in reason(await brought_in(Store.in_memory(), path))

    async def test_folder_pipe_and_missing_file_are_refused(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        store = Store.in_memory()
        assert reason(await brought_in(store, tmp_path)) == "not a file"
        assert reason(await brought_in(store, pipe)) == "not a file"
        assert reason(await brought_in(store, tmp_path / "none")) == "no such file"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "server"
    folder.mkdir()
    path = folder / "config.toml"
    path.write_text('[storage]\nfile = "here.db"\n', encoding="utf-8")
    return path


@pytest.fixture
def file(config: Path) -> Path:
    """Return the file of an empty store, created as a server does."""
    path = config.with_name("here.db")
    store_with(Annals(), path)
    return path


def store_with(annals: Annals, path: Path) -> None:
    async def make() -> None:
        await (await store_of(annals, path)).close()

    asyncio.run(make())


def test_subcommands_work_beside_a_running_server(
    config: Path, record: Path, tmp_path: Path, capsys: Shown
) -> None:
    wrong = tmp_path / "wrong.thud"
    wrong.write_text(RECORD + "TG6-A1\n", encoding="utf-8")
    words = ["--dwarf", "anna", "--config", str(config)]

    async def meanwhile() -> int:
        store = await Store.open(config.with_name("here.db"), serving=True)
        try:
            return await asyncio.to_thread(main, ["import", str(record), str(wrong), *words])
        finally:
            await store.close()

    assert asyncio.run(meanwhile()) == 1
    printed = capsys.readouterr()
    assert printed.out == f"{record}: battle 1\n1 record accepted, 1 refused\n"
    assert printed.err.startswith(f"thudmud: {wrong}: line 4: TG6-A1: ")
    out = tmp_path / "out"
    assert main(["export", "--player", "ANNA", "--to", str(out), "--config", str(config)]) == 0
    assert capsys.readouterr().out == f"wrote 1 record to {out}\n"
    [written] = files_in(out)
    assert written.name.endswith("_discworld_Anna_nobody.thud")
    day = written.name[7:17]
    headers = f'[Rules "discworld"]\n[Dwarf "Anna"]\n[Date "{day}"]\n'
    assert written.read_text(encoding="utf-8") == headers + RECORD
    bare = ["--bare", "--to", str(tmp_path / "bare"), "--config", str(config)]
    assert main(["export", "--player", "anna", *bare]) == 0
    [written] = files_in(tmp_path / "bare")
    assert written.read_text(encoding="utf-8") == RECORD
    capsys.readouterr()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["export", "--since", "yesterday"], "expected a day such as 2026-11-20, got 'yesterday'"),
        (["import"], "the following arguments are required: FILE"),
        (["import", "x", "--rules", "chess"], "expected one of discworld"),
        (["import", "x", "--dwarf", "A. Nonymous"], "expected 2 to 20 letters"),
    ],
)
def test_invalid_arguments_are_a_usage_error(words: list[str], problem: str, capsys: Shown) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert problem in capsys.readouterr().err


def test_missing_store_file_is_reported(config: Path, record: Path, capsys: Shown) -> None:
    for words in (["export", "12"], ["import", str(record)]):
        assert main([*words, "--config", str(config)]) == 2
        told = capsys.readouterr().err
        assert "here.db: no such file" in told
        assert "--config" in told
    assert [path.name for path in files_in(config.parent)] == ["config.toml"]


def test_export_subcommand_for_a_stranger_writes_nothing(
    config: Path, file: Path, tmp_path: Path, capsys: Shown
) -> None:
    assert file.exists()
    out = tmp_path / "out"
    assert main(["export", "--player", "Zoe", "--to", str(out), "--config", str(config)]) == 1
    assert capsys.readouterr().err == "thudmud: no battles of a player called 'Zoe'\n"
    assert not out.exists()


def test_export_without_a_folder_writes_nothing(
    config: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    assert file.exists()
    monkeypatch.chdir(tmp_path)
    before = files_in(tmp_path)
    assert main(["export", "--player", "Anna", "--config", str(config)]) == 2
    assert capsys.readouterr() == (
        "",
        "thudmud: --to: expected a folder for the records, such as --to records; --to - prints "
        "them\n",
    )
    assert files_in(tmp_path) == before


def test_export_prints_one_record_or_all(
    config: Path, file: Path, annals: Annals, tmp_path: Path, capsys: Shown
) -> None:
    store_with(annals, file)
    given = ["--config", str(config)]
    assert main(["export", "--to", str(tmp_path / "out"), *given]) == 0
    texts = [path.read_text("utf-8") for path in files_in(tmp_path / "out")]
    numbers = [str(int(path.name.partition("_")[0])) for path in files_in(tmp_path / "out")]
    capsys.readouterr()
    assert main(["export", "--to", "-", *given]) == 0
    assert capsys.readouterr() == (
        "\n".join(texts),
        "left out 2 battles in progress or adjourned\n",
    )
    for number, text in zip(numbers, texts, strict=True):
        assert main(["export", number, *given]) == 0
        assert capsys.readouterr() == (text, "")
    assert main(["export", "99", *given]) == 2
    assert capsys.readouterr() == ("", "thudmud: no finished battle 99\n")


def test_export_subcommand_counts_the_battles_left_out(
    config: Path, file: Path, annals: Annals, tmp_path: Path, capsys: Shown
) -> None:
    store_with(annals, file)
    out = tmp_path / "out"
    assert main(["export", "--to", str(out), "--config", str(config)]) == 0
    assert capsys.readouterr().out == (
        f"wrote 2 records to {out}\nleft out 2 battles in progress or adjourned\n"
    )


def test_memory_backend_is_refused(config: Path, capsys: Shown) -> None:
    config.write_text('[storage]\nbackend = "memory"\n', encoding="utf-8")
    for words in (["export", "--to", "-"], ["import", "x"]):
        assert main([*words, "--config", str(config)]) == 2
        assert 'storage.backend is "memory"' in capsys.readouterr().err


def test_unwritable_export_folder_is_reported(
    config: Path, file: Path, record: Path, capsys: Shown
) -> None:
    assert file.exists()
    assert main(["import", str(record), "--config", str(config)]) == 0
    assert main(["export", "--to", str(record), "--config", str(config)]) == 2
    told = f"thudmud: --to: expected a folder, but {record} is a file\n"
    assert capsys.readouterr().err.endswith(told)
    assert main(["export", "--to", str(record / "deeper"), "--config", str(config)]) == 2
    assert f"thudmud: {record / 'deeper'}: Not a directory\n" in capsys.readouterr().err


def test_file_of_another_format_is_refused_as_store(
    config: Path, record: Path, capsys: Shown
) -> None:
    config.with_name("here.db").write_text("hello " * 100, encoding="utf-8")
    for words in (["export", "--to", "out"], ["import", str(record)]):
        assert main([*words, "--config", str(config)]) == 2
        assert "here.db" in capsys.readouterr().err
