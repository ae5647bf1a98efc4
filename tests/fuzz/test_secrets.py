"""Whatever is sent to the login, the log contains no secrets and only plain lines."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from unittest import mock

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.accounts.dialogues import CHEAP
from tests.conftest import GENEROUS, NO_WEB
from tests.fuzz.targets import WILLING
from tests.server.plain import PlainService, Setup
from thudmud.accounts import guesses
from thudmud.server import logs
from thudmud.server.acceptor import Acceptor
from thudmud.server.config import ServerSettings, Settings
from thudmud.server.session_registry import Sessions
from thudmud.store import Store, accounts

SECRETS = ["Haddock42", "Sturgeon43"]
"""Anna's password and a wrong one. Neither is a valid name."""

PAIRS = re.compile(r'([a-z]+=([A-Za-z0-9]+|"([^"\\]|\\.)*")( |$))+')

ESCAPE = b"\x1b]0;x\x07\x9b2J"
JUNK = st.sampled_from([b"", ESCAPE, b"\xff\xf6", b"\x00", b"\xc3", b"x" * 2000]) | st.binary(
    max_size=9
)


def hidden(junk: bytes, secret: str, more: bytes) -> bytes:
    """Return the answers to both login prompts, the second with surrounding bytes."""
    return b"Anna\r\n" + junk + secret.encode() + more + b"\r\n"


def by_client(name: str, secret: str, more: str) -> bytes:
    """Return the message of a client that logs in by itself."""
    data = json.dumps({"name": name, "password": secret + more})
    return b"\xff\xfa\xc9Char.Login " + data.encode() + b"\xff\xf0"


SECRET = st.sampled_from(SECRETS)
NAMES = st.sampled_from(["Anna", "anna", "Bert", "\x1b[2J", "\ud800", ""])
STEPS = st.one_of(
    st.builds(hidden, JUNK, SECRET, JUNK),
    st.builds(by_client, NAMES, SECRET, st.sampled_from(["", "\x1b[2J\n", "\udfff"])),
    st.sampled_from(
        [b"\r\n", b"Bert\r\n", b"boom\r\n", b"\xff\xfa\xc9Char.Login {\xff\xf0", ESCAPE]
    ),
    SECRET.map(lambda secret: b"register\r\n" + f"{secret}\r\n{secret}\r\n".encode()),
    SECRET.map(lambda secret: b"password\r\n" + f"{SECRETS[0]}\r\n{secret}\r\n\r\n".encode()),
    JUNK,
)


@contextmanager
def logging_to(path: Path) -> Iterator[None]:
    """Log to a file at the most verbose level for the duration of the context."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    for handler in before[0]:
        root.removeHandler(handler)  # otherwise the handler would be closed
    logs.configure_logging("debug", path)
    try:
        yield
    finally:
        for handler in root.handlers[:]:
            root.removeHandler(handler)
            handler.close()
        root.handlers[:] = before[0]
        root.setLevel(before[1])


async def throw(steps: Sequence[bytes]) -> None:
    async with AsyncExitStack() as stack:
        store = Store.in_memory()
        stack.push_async_callback(store.close)
        await store.write(accounts.enrol, "Anna", CHEAP.hash(SECRETS[0]))
        sessions = Sessions(PlainService(store))
        whole = Settings(server=ServerSettings.model_validate(GENEROUS), web=NO_WEB)
        server = Acceptor(whole, hasher=CHEAP)
        setup = Setup(server, sessions, stack)
        await setup.start()
        client = await setup.connect()
        with suppress(OSError, AssertionError):  # a client that sends "quit" is disconnected
            await client.send(WILLING)
            for step in steps:
                await client.send(step)
                await client.fence()


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example([hidden(b"", SECRETS[1], b""), hidden(b"", SECRETS[0], b""), b"boom\r\n"])
@example([by_client("Anna", SECRETS[1], "\x1b[2J\n"), by_client("\ud800", SECRETS[1], "\udfff")])
@given(st.lists(STEPS, min_size=1, max_size=5))
def test_log_contains_no_secret(tmp_path: Path, steps: list[bytes]) -> None:
    path = tmp_path / "log"
    path.unlink(missing_ok=True)
    with logging_to(path), mock.patch.object(guesses, "FREE", 1000):
        asyncio.run(throw(steps))
    lines = path.read_text("utf-8").split("\n")
    assert lines.pop() == ""
    assert any("event=connected" in line for line in lines)
    for line in lines:
        assert line.isascii()
        assert line.isprintable()
        assert PAIRS.fullmatch(line), line
        assert not [secret for secret in (*SECRETS, "argon2") if secret.lower() in line.lower()]


def test_log_contains_the_notable_events(tmp_path: Path) -> None:
    wrong, right = (hidden(b"", secret, b"") for secret in reversed(SECRETS))
    with logging_to(tmp_path / "log"):
        asyncio.run(throw([wrong, right, b"boom\r\n"]))
    told = (tmp_path / "log").read_text("utf-8")
    for event in (
        '"wrong password or resume word"',
        '"came in"',
        "gone",
        '"failed to handle input"',
    ):
        assert f"event={event}" in told
    assert r"RuntimeError: boom \u001b[31m" in told
