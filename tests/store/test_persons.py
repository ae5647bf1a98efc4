"""Personal data: all of it can be exported and erased."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.features.letters.letters import post
from tests.features.moderation.reports import report
from tests.store.deeds import NOON, OAK, PINE, Clock, cleared, is_in_order, started
from tests.store.test_accounts import ended, rated
from thudmud.game.clocks import TimeControl
from thudmud.game.events import (
    BattleStarted,
    Commented,
    LessonDone,
    PuzzleTried,
    SeekEnd,
    SeekEnded,
    SeekMade,
    TournamentKind,
    TournamentMade,
)
from thudmud.game.projections import HALL
from thudmud.rules import Side
from thudmud.store import KeptName, NoSuchAccountError, Store, accounts, persons
from thudmud.store.database import Database
from thudmud.store.persons import THEIRS
from thudmud.store.rows import DURABLE, columns_of
from thudmud.values import replace

WORD = b"1" * 32
NAME = "Wilhelmina"
DAY = 86_400.0


async def lived(store: Store, name: str = NAME) -> None:
    """Let a member use every feature."""
    await store.write(accounts.enrol, name, "a hash")
    await store.write(accounts.enrol, "Bert", "another")
    await store.write(accounts.set_preferences, name, {"plan": f"{name} wins.", "ignored": ["Zoe"]})
    await store.write(
        accounts.set_preferences, "Bert", {"ignored": ["Zoe", name.upper()], "followed": [name]}
    )
    await store.write(accounts.record_last_seen, {name: NOON + 5}, [(name, "192.0.2.77")])
    begun = BattleStarted(1.0, name, 1, "discworld", name, "Bert", rated=True)
    practice = replace(begun, troll=name, rated=False)
    await store.append({OAK: (0, [begun, cleared(1), practice])})
    await post(store, name, "Bert", "A letter.")
    await post(store, "Bert", name, "An answer.")
    await report(store, name, "Bert", "He is rude.", ["He said nothing."])
    await report(store, "Bert", name, f"{name} is rude.", [f"{name} said nothing."])
    comment = Commented(1.0, name, OAK, 1, 0, f"So said {name}.")
    await store.append(
        {
            HALL: (
                0,
                [
                    SeekMade(1.0, name, 1, "classic", Side.TROLL, to="Bert"),
                    SeekEnded(1.0, "Bert", 1, SeekEnd.DECLINED, name, "Bert"),
                    comment,
                    replace(comment, text=f"{name} thinks otherwise."),
                    LessonDone(1.0, name, 3),
                    PuzzleTried(1.0, name, 2, solved=True),
                ],
            )
        }
    )


async def test_personal_data_export_covers_an_account(store: Store) -> None:
    await lived(store)
    told = await store.read(persons.personal_data, NAME.lower())
    assert json.loads(json.dumps(told)) == told
    assert "hash" not in json.dumps(told)
    time = "2026-11-21T12:00:"
    assert told.pop("time").startswith(time)
    assert told["name"] == NAME
    [account] = told["account"]
    assert account["preferences"] == {"plan": f"{NAME} wins.", "ignored": ["Zoe"]}
    assert account["seen"] == f"{time}05Z"
    [address] = told["address"]
    assert address["address"] == "192.0.2.77"
    assert address["coming"].startswith(time)
    one, two = told["battle"]
    assert (one["number"], one["sides"], one["opponent"]) == (1, ["dwarf"], "Bert")
    assert (two["number"], two["sides"], two["opponent"]) == (2, ["dwarf", "troll"], "")
    assert (one["state"], two["state"], one["rules"]) == ("unfinished", "running", "discworld")
    [comment] = told["comment"]
    assert comment.pop("at").startswith(time)
    assert comment == {"battle": 1, "ply": 0, "text": f"{NAME} thinks otherwise."}
    [seek] = told["seek"]
    assert (seek["rules"], seek["side"], seek["to"]) == ("classic", "troll", "Bert")
    assert sorted((each["sender"], each["text"]) for each in told["letter"]) == [
        ("Bert", "A letter."),
        (NAME, "An answer."),
    ]
    [report] = told["report"]
    assert (report["about"], report["text"]) == ("Bert", "He is rude.")
    assert report["said"] == ["He said nothing."]
    assert told["lesson"] == [{"lesson": 3}]
    assert told["puzzle_try"] == [{"puzzle": 2, "solved": 1}]
    assert {each["role"] for each in told["rating"]} == {"puzzles"}
    assert "puzzle" not in told


async def test_personal_data_export_includes_ratings_and_scores(store: Store) -> None:
    await rated(store)
    told = await store.read(persons.personal_data, "Anna")
    assert {(each["role"], each["rules"]) for each in told["rating"]} == {("people", "discworld")}
    assert [each["opponent"] for each in told["rating_change"]] == ["Bert"]
    assert {each["kind"] for each in told["tally"]} == {"dwarf", "troll", "match"}
    assert [each["winner"] for each in told["battle"]] == ["dwarf", None]


async def test_personal_data_export_covers_only_the_current_guest(store: Store) -> None:
    await store.write(accounts.reserve_guest_name, KeptName("Gast", WORD, 5.0))
    await ended(store)
    told = await store.read(persons.personal_data, "gast")
    assert told["guest"] == [{"seen": "1970-01-01T00:00:05Z"}]
    assert told["battle"] == []
    assert WORD.decode() not in json.dumps(told)
    await store.write(accounts.free_guest_names, ["Gast"])
    with pytest.raises(NoSuchAccountError):
        await store.read(persons.personal_data, "Gast")


def holding(path: Path, words: str) -> list[str]:
    """Return the files of a store that contain the given words, ignoring case."""
    return [
        each.name
        for each in path.parent.iterdir()
        if words.lower().encode() in each.read_bytes().lower()
    ]


class TestErased:
    @pytest.mark.parametrize("how", ["at once", "beside a server", "as a guest"])
    async def test_erased_name_is_wiped_from_all_files(self, path: Path, how: str) -> None:
        store = await Store.open(path, clock=Clock())
        await lived(store)
        if how == "as a guest":
            await store.write(accounts.reserve_guest_name, KeptName("Gudrun", WORD, 5.0))
            await store.write(accounts.record_last_seen, {}, [("Gudrun", "192.0.2.99")])
            await store.append({PINE: (0, [started(1, "Gudrun", "Bert"), cleared(1)])})
        name = "Gudrun" if how == "as a guest" else NAME
        assert holding(path, name)
        if how == "beside a server":
            other = await Store.open(path, clock=Clock())
            await other.write(accounts.erase, NAME)
            assert await other.read(Database.scrub)
            await other.close()
        else:
            await store.write(accounts.erase, name.upper())
            assert await store.read(Database.scrub)
        assert holding(path, name) == []
        assert holding(path, "192.0.2.99" if how == "as a guest" else "192.0.2.77") == []
        await store.catch_up()  # includes writes by another process
        with pytest.raises(NoSuchAccountError):
            await store.read(persons.personal_data, name)
        await is_in_order(store)
        bert: dict[str, Any] = await store.read(persons.personal_data, "Bert")
        gone = bert["battle"][-1 if how == "as a guest" else 0]["opponent"]
        assert gone.startswith("(erased ")
        if how != "as a guest":
            assert bert["account"][0]["preferences"] == {"ignored": ["Zoe"], "followed": []}
        await store.close()
        assert holding(path, name) == []

    async def test_erased_player_keeps_only_battle_rows(self, path: Path) -> None:
        store = await Store.open(path, clock=Clock())
        await lived(store)
        await store.write(accounts.erase, NAME)
        await store.close()
        with closing(sqlite3.connect(path)) as connection:
            for table in DURABLE.keys() - {"player"}:
                for column in {*THEIRS, "about"} & set(columns_of(table)):
                    query = f"select count(*) from {table} where {column} = 1"  # noqa: S608
                    assert connection.execute(query).fetchone() == (0,), table

    async def test_erasing_a_member_erases_former_guests_of_the_name(self, path: Path) -> None:
        store = await Store.open(path, clock=Clock())
        await store.write(accounts.reserve_guest_name, KeptName(NAME, WORD, 5.0))
        await store.append({PINE: (0, [started(1, NAME, "Bert"), cleared(1)])})
        comment = Commented(1.0, NAME, PINE, 1, 0, "Words of a guest.")
        await store.append({HALL: (0, [comment])})
        await store.write(accounts.free_guest_names, [NAME])
        await store.write(accounts.enrol, NAME, "hash")
        await store.write(accounts.erase, NAME)
        assert holding(path, NAME) == []
        assert holding(path, "words of a guest") == []
        await store.close()

    async def test_titles_of_tournaments_are_erased_from_the_disk(self, path: Path) -> None:
        store = await Store.open(path, clock=Clock())
        await store.write(accounts.enrol, NAME, "hash")
        cup = TournamentMade(
            1.0,
            NAME,
            1,
            "Call me at home",
            TournamentKind.ARENA,
            "classic",
            TimeControl(10, 5),
            60.0,
        )
        await store.append({HALL: (0, [cup])})
        assert holding(path, "call me at home")
        await store.write(accounts.erase, NAME)
        assert holding(path, "call me at home") == []
        await store.close()

    async def test_erasing_a_banned_name_without_account_is_refused(self, store: Store) -> None:
        await store.write(accounts.ban, "Mallory")
        with pytest.raises(NoSuchAccountError):
            await store.write(accounts.erase, "Mallory")


class TestAddresses:
    async def test_addresses_expire_after_their_last_use(self, path: Path, clock: Clock) -> None:
        store = await Store.open(path, clock=clock)
        await store.write(accounts.enrol, "Anna", "hash")
        for day, last in ((0, 7), (1, 8), (2, 7), (3, 9)):
            clock.now = NOON + day * DAY
            await store.write(accounts.record_last_seen, {}, [("Anna", f"192.0.2.{last}")])
        await store.write(accounts.forget_addresses, NOON + 1.5 * DAY)
        assert await store.read(accounts.addresses, "Anna") == ["192.0.2.9", "192.0.2.7"]
        assert holding(path, "192.0.2.8") == []
        await store.write(accounts.forget_addresses, NOON + 2.5 * DAY)
        assert await store.read(accounts.addresses, "Anna") == ["192.0.2.9"]
        clock.now = NOON + 4 * DAY
        for _ in range(3):
            await store.write(accounts.record_last_seen, {}, [("Anna", "192.0.2.9")])
        await store.write(accounts.forget_addresses, NOON + 3.5 * DAY)
        assert await store.read(accounts.addresses, "Anna") == ["192.0.2.9"]
        await is_in_order(store)
        await store.close()
