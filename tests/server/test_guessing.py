"""Password guessing over real sockets, which must not lock out the owner of a name.

Clients connect from several loopback addresses, each counted separately.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.accounts.dialogues import CHEAP
from tests.conftest import PassTime
from tests.server.plain import Client, Serving, Setup
from thudmud.accounts.guesses import FREE, PASSWORD_INTERVAL
from thudmud.accounts.login import TOLD_WORD
from thudmud.store import Store, accounts

HOME, THEIRS, ABROAD = "127.0.0.1", "127.0.0.2", "127.0.0.3"
ATTACKERS = 24
TOLD = b"many wrong answers"


async def come(setup: Setup, name: str) -> tuple[Client, str]:
    """Log in a new guest; return the client and the resume word."""
    client = await setup.connect(source=HOME)
    await client.until(b"name? ")
    await client.send(name.encode() + b"\r\n")
    told = TOLD_WORD.search((await client.until(b"comes in.")).decode())
    assert told
    return client, told[1]


async def come_back(setup: Setup, name: str, secret: str, source: str = HOME) -> bytes:
    """Log in with a password or resume word; return the output."""
    client = await setup.connect(source=source)
    await client.until(b"name? ")
    await client.send(f"{name}\r\n{secret}\r\nlook\r\n".encode())
    return await client.until(b"echo look")


async def attack(setup: Setup, name: str) -> None:
    """Let many clients guess at a name from one address until they are throttled; all go on."""
    attackers = [await setup.connect(source=THEIRS) for _ in range(ATTACKERS)]
    for attacker in attackers:
        await attacker.until(b"name? ")
        await attacker.send(f"{name}\r\n".encode() + b"wrong-guess\r\n" * 50)
    async with asyncio.TaskGroup() as waiting:
        for attacker in attackers:
            waiting.create_task(attacker.until(TOLD))


async def test_password_guessing_does_not_lock_out_a_returning_guest(serving: Serving) -> None:
    setup = await serving()
    bert, _ = await come(setup, "Bert")
    anna, word = await come(setup, "Anna")
    await attack(setup, "Anna")
    await anna.close()
    await bert.until(b"Anna is lost.")
    assert TOLD not in await come_back(setup, "Anna", word)
    await come_back(setup, "Anna", word, ABROAD)


async def test_disconnected_or_flooding_guesser_is_not_waited_for(
    serving: Serving,
) -> None:
    setup = await serving()
    await come(setup, "Anna")
    await attack(setup, "Anna")
    gone, ahead = [await setup.connect(source=THEIRS) for _ in range(2)]
    await gone.send(b"Anna\r\nwrong-guess\r\n")
    await gone.until(TOLD)
    gone.writer.write_eof()
    await gone.rest()
    await ahead.send(b"Anna\r\n" + b"wrong-guess\r\n" * 500)
    await ahead.rest()


async def test_member_from_a_new_address_waits_for_their_turn(
    serving: Serving, pass_time: PassTime
) -> None:
    setup = await serving()
    await setup.sessions.store.write(accounts.enrol, "Anna", CHEAP.hash("password"))
    await setup.sessions.store.write(accounts.record_last_seen, {}, [("Anna", HOME)])
    await attack(setup, "Anna")
    assert TOLD not in await come_back(setup, "Anna", "password")
    client = await setup.connect(source=ABROAD)
    await client.send(b"Anna\r\npassword\r\nlook\r\n")
    await client.until(b"There have been many wrong answers for that name from elsewhere.")
    for _ in range(2):
        await pass_time(PASSWORD_INTERVAL)
    await client.until(b"echo look")


async def test_login_limit_excludes_the_wait_for_a_turn(
    serving: Serving, pass_time: PassTime
) -> None:
    setup = await serving(login_limit=100.0)
    await setup.sessions.store.write(accounts.enrol, "Anna", CHEAP.hash("password"))
    client = await setup.connect()
    await client.until(b"name? ")
    await client.send(b"Anna\r\n" + b"wrong\r\n" * (FREE + 5))
    for _ in range(FREE):
        await client.until(b"That isn't the password of Anna.")
    for _ in range(5):
        await pass_time(PASSWORD_INTERVAL)
        await client.until(b"That isn't the password of Anna.")
    await client.until(b"Password: ")
    for _ in range(2):
        await pass_time(50)
    assert (await client.rest()).endswith(b"You haven't given a name for 100 seconds. Goodbye!\r\n")


@pytest.mark.parametrize("is_told_before", [True, False])
async def test_disconnected_guesser_does_not_wait_for_a_turn(
    serving: Serving, *, is_told_before: bool
) -> None:
    setup = await serving()
    await setup.sessions.store.write(accounts.enrol, "Anna", CHEAP.hash("password"))
    client = await setup.connect()
    await client.until(b"name? ")
    await client.send(b"Anna\r\n" + b"wrong\r\n" * (FREE + 1))
    seen = await client.until(TOLD) if is_told_before else b""
    client.writer.write_eof()
    seen += await client.rest()
    assert TOLD in seen
    assert seen.count(b"That isn't the password of Anna.") == FREE  # the last is not looked at


async def test_hundred_guests_return_after_a_restart(serving: Serving, tmp_path: Path) -> None:
    path = tmp_path / "thudmud.db"
    store = await Store.open(path)
    setup = await serving(store=store, names_per_hour=1000)
    names = [
        f"Guest{'abcdefghij'[one]}{'abcdefghij'[two]}" for one in range(10) for two in range(10)
    ]
    words = [(await come(setup, name))[1] for name in names]
    await setup.stop()
    again = await Store.open(path)
    setup = await serving(store=again)
    await attack(setup, names[0])
    seen = await asyncio.gather(
        *(come_back(setup, name, word) for name, word in zip(names, words, strict=True))
    )
    assert not [each for each in seen if TOLD in each or b"That isn't" in each]
    for each in (again, store):
        await each.close()


async def test_hundred_members_return_after_a_restart(serving: Serving) -> None:
    setup = await serving()
    store = setup.sessions.store
    names = [f"Mem{'abcdefghij'[one]}{'abcdefghij'[two]}" for one in range(10) for two in range(10)]
    for name in names:
        await store.write(accounts.enrol, name, CHEAP.hash("password"))
    # The first half return to a known address, the others come from a new one.
    await store.write(accounts.record_last_seen, {}, [(name, HOME) for name in names[:50]])
    seen = await asyncio.gather(*(come_back(setup, name, "password") for name in names))
    assert not [each for each in seen if TOLD in each or b"That isn't" in each]
