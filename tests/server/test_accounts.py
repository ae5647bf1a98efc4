"""Accounts in a file: what is kept, who else may change it, and what is told when it cannot be."""

# ruff: noqa: ASYNC240, S105  (nothing else runs on a test's loop, and these are nobody's passwords)

from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.server.plain import PATIENCE
from thudmud.server.members.account_file import Unavailable, Unusable
from thudmud.server.members.accounts import Account, Accounts, KeptName, NameTaken, Nobody


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "thudmud.accounts"


@pytest.fixture
async def accounts(path: Path) -> AsyncIterator[Accounts]:
    accounts = await Accounts.open(path)
    yield accounts
    await accounts.close()


ANNA = Account("Anna", "hash", {}, 5.0, 5.0)
GUEST = KeptName("Greta", b"word", 5.0)


async def test_members_are_found_by_name_in_any_case(accounts: Accounts) -> None:
    assert await accounts.find("anna") is None
    assert await accounts.enrol("Anna", "hash", 5.0) == ANNA
    assert await accounts.find("anna") == await accounts.find("ANNA") == ANNA
    await accounts.enrol("AAron", "hash", 6.0)
    assert [each.name for each in await accounts.all()] == ["AAron", "Anna"]


async def test_a_name_is_registered_once(accounts: Accounts) -> None:
    await accounts.enrol("Anna", "hash", 5.0)
    with pytest.raises(NameTaken):
        await accounts.enrol("ANNA", "another", 6.0)
    assert await accounts.find("Anna") == ANNA


async def test_everything_about_a_member_is_kept(accounts: Accounts, path: Path) -> None:
    await accounts.enrol("Anna", "hash", 5.0)
    await accounts.set_password("anna", "another")
    await accounts.set_preferences("anna", {"style": "brief", "colours": ["é", None]})
    await accounts.ban("anna", 6.0)
    await accounts.seen({"anna": 7.5, "nobody": 8.0})
    await accounts.close()
    again = await Accounts.open(path)
    assert await again.find("Anna") == Account(
        "Anna", "another", {"style": "brief", "colours": ["é", None]}, 5, 7, banned=True
    )
    await again.close()


async def test_a_password_is_changed_only_if_it_is_what_it_was(accounts: Accounts) -> None:
    await accounts.enrol("Anna", "hash", 5.0)
    await accounts.set_password("Anna", "second", instead_of="hash")
    with pytest.raises(Nobody):
        await accounts.set_password("Anna", "third", instead_of="hash")
    found = await accounts.find("Anna")
    assert found
    assert found.password == "second"


async def test_a_retired_name_can_be_had_by_nobody(accounts: Accounts) -> None:
    await accounts.enrol("Anna", "hash", 5.0)
    await accounts.set_preferences("Anna", {"style": "brief"})
    await accounts.retire("anna")
    assert await accounts.find("Anna") == Account("Anna", "", {}, 5.0, 5.0, retired=True)
    with pytest.raises(NameTaken):
        await accounts.enrol("Anna", "hash", 6.0)
    assert not await accounts.keep_guest(KeptName("Anna", b"word", 6.0))
    with pytest.raises(Nobody):
        await accounts.set_password("Anna", "hash")
    with pytest.raises(Nobody):
        await accounts.ban("Anna", 7.0)
    with pytest.raises(Nobody):
        await accounts.unban("Anna")
    assert await accounts.find("Anna") == Account("Anna", "", {}, 5.0, 5.0, retired=True)


async def test_a_name_can_be_banned_without_an_account(accounts: Accounts) -> None:
    await accounts.keep_guest(GUEST)
    await accounts.ban("greta", 6.0)
    assert await accounts.find("Greta") == Account("greta", "", {}, 6.0, 6.0, banned=True)
    assert not await accounts.keep_guest(GUEST, instead_of=GUEST)
    with pytest.raises(NameTaken):
        await accounts.enrol("Greta", "hash", 7.0)
    for change in (accounts.set_password("Greta", "hash"), accounts.retire("Greta")):
        with pytest.raises(Nobody):
            await change
    await accounts.unban("GRETA")
    assert await accounts.find("Greta") is None
    assert await accounts.find_guest("Greta") == GUEST
    with pytest.raises(Nobody):
        await accounts.unban("Greta")


async def test_a_member_who_is_let_in_again_is_as_before(accounts: Accounts) -> None:
    await accounts.enrol("Anna", "hash", 5.0)
    with pytest.raises(Nobody):
        await accounts.unban("Anna")
    for _ in range(2):
        await accounts.ban("anna", 6.0)
    await accounts.unban("anna")
    assert await accounts.find("Anna") == ANNA


async def test_what_concerns_nobody_is_refused(accounts: Accounts) -> None:
    with pytest.raises(Nobody, match="there is no account Anna"):
        await accounts.set_preferences("Anna", {})
    with pytest.raises(Nobody):
        await accounts.retire("Anna")


async def test_a_guests_name_is_kept_for_one(accounts: Accounts) -> None:
    assert await accounts.find_guest("greta") is None
    assert await accounts.keep_guest(GUEST)
    assert await accounts.find_guest("GRETA") == GUEST
    other = KeptName("greta", b"other", 9.0)
    assert not await accounts.keep_guest(other)
    assert await accounts.keep_guest(other, instead_of=GUEST)
    assert await accounts.find_guest("Greta") == other
    assert not await accounts.keep_guest(GUEST, instead_of=GUEST)


async def test_of_two_who_race_for_a_name_one_gets_it(accounts: Accounts) -> None:
    racers = [KeptName("Greta", bytes([number]), 5.0) for number in range(10)]
    got = await asyncio.gather(*(accounts.keep_guest(each) for each in racers))
    assert sum(got) == 1
    assert await accounts.find_guest("Greta") == racers[got.index(True)]


async def test_a_guest_who_registers_is_a_guest_no_more(accounts: Accounts) -> None:
    await accounts.keep_guest(GUEST)
    await accounts.enrol("Greta", "hash", 6.0)
    assert await accounts.find_guest("Greta") is None
    assert not await accounts.keep_guest(GUEST)


async def test_guests_who_are_gone_are_forgotten(accounts: Accounts) -> None:
    for name, seen in [("Greta", 5.0), ("Gustav", 6.0), ("Gwen", 9.0)]:
        await accounts.keep_guest(KeptName(name, b"word", seen))
    await accounts.seen({"gustav": 10.0})
    assert await accounts.guests(before=9.0) == ["Greta"]
    await accounts.forget_guests(["Greta", "Gustav", "Gwen"], before=10.0)
    assert await accounts.guests(before=11.0) == ["Gustav"]
    await accounts.forget_guests(["gustav"])
    assert await accounts.guests(before=11.0) == []


async def test_without_a_file_nothing_is_kept() -> None:
    accounts = await Accounts.open(None)
    assert await accounts.enrol("Anna", "hash", 5.0) == await accounts.find("Anna")
    await accounts.close()
    accounts = await Accounts.open(None)
    assert await accounts.find("Anna") is None
    await accounts.close()


async def test_the_file_is_for_its_owner_alone(accounts: Accounts, path: Path) -> None:
    await accounts.enrol("Anna", "hash", 5.0)
    for each in path.parent.iterdir():
        assert stat.S_IMODE(each.stat().st_mode) == 0o600, each


def test_no_hash_gets_into_a_log() -> None:
    assert "hash" not in repr(ANNA)
    assert "word=" not in repr(GUEST)


# Another process


async def test_what_another_process_changes_is_seen(accounts: Accounts, path: Path) -> None:
    barred = accounts.barred(poll=0.01)
    async with asyncio.timeout(PATIENCE):
        assert await anext(barred) == frozenset()
        await accounts.enrol("Anna", "hash", 5.0)
        await accounts.enrol("Bob", "hash", 5.0)
        other = await Accounts.open(path)
        await other.ban("anna", 6.0)
        assert await anext(barred) == {"anna"}
        await other.retire("bob")
        assert await anext(barred) == {"anna", "bob"}
        await other.unban("anna")
        assert await anext(barred) == {"bob"}
        await other.ban("Greta", 7.0)
        assert await anext(barred) == {"bob", "greta"}
    await other.close()
    assert await accounts.find("Anna") == ANNA


async def test_two_servers_may_begin_on_one_file_at_once(path: Path) -> None:
    several = await asyncio.gather(*(Accounts.open(path) for _ in range(5)))
    await several[0].enrol("Anna", "hash", 5.0)
    for each in several:
        assert await each.find("Anna") == ANNA
        await each.close()


# What goes wrong


async def test_a_file_that_is_gone_is_not_written_to(accounts: Accounts, path: Path) -> None:
    await accounts.enrol("Anna", "hash", 5.0)
    path.rename(path.with_suffix(".away"))
    with pytest.raises(Unavailable, match="the file was removed or replaced"):
        await accounts.enrol("Bob", "hash", 6.0)
    path.with_suffix(".away").rename(path)
    await accounts.enrol("Bob", "hash", 6.0)


async def test_a_full_disk_changes_nothing(accounts: Accounts) -> None:
    await accounts.enrol("Anna", "hash", 5.0)
    [(pages,)] = await accounts._thread.rows("pragma page_count")
    await accounts._thread.rows(f"pragma max_page_count = {pages}")
    with pytest.raises(Unavailable, match=r"thudmud\.accounts: the disk is full$"):
        await accounts.set_preferences("Anna", {"much": "x" * 100_000})
    assert await accounts.find("Anna") == ANNA
    await accounts._thread.rows(f"pragma max_page_count = {pages + 100}")
    await accounts.set_preferences("Anna", {"much": "x" * 100_000})


async def test_who_is_barred_is_found_out_later(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    troubles = [Unusable("damaged")] * 3 + [Unavailable("busy")] * 2
    version = accounts._thread.version

    async def fail() -> int:
        if troubles:
            raise troubles.pop(0)
        return await version()

    monkeypatch.setattr(accounts._thread, "version", fail)
    await accounts.ban("Anna", 5.0)
    async with asyncio.timeout(PATIENCE):
        assert await anext(accounts.barred(poll=0.0)) == {"anna"}
    assert [record.getMessage() for record in caplog.records] == [
        "who may not come in is not known: damaged",
        "who may not come in is not known: busy",
    ]


async def test_who_is_barred_is_asked_for_no_longer(accounts: Accounts) -> None:
    barred = accounts.barred(poll=0.0)
    await anext(barred)
    await accounts.close()
    async with asyncio.timeout(PATIENCE):
        assert [each async for each in barred] == []
