"""Abuse of mail, messages, reports, the store and the metrics port.

Limits are per address, and most exempt the loopback network. The attackers therefore connect
through a trusted proxy address, with PROXY headers that announce external addresses.
"""

from __future__ import annotations

import asyncio
import math
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import argon2
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from benchmarks.load.attack import (
    AS_IT_IS,
    MOST_LOG,
    Extent,
    Measure,
    Row,
    server,
    wandering,
)
from benchmarks.load.attackers import Flood
from benchmarks.load.guests import SECRET_PROMPTS, Guest, Place
from benchmarks.load.players import NAME_PROMPT, seated
from benchmarks.load.processes import KIB, ROOT, Running, Sections, letters
from benchmarks.load.siege import Besides, Figure, Playing, flooding, siege
from thudmud.game.events import BattleEnded, BattleStarted
from thudmud.rules import Ending, Outcome, Score
from thudmud.store import Store, accounts

MAILS = "mail: codes of 40 members of one address to one mailbox"
LETTERS = "messages of 5 strangers fill a member's box"
REPORTS = "60 reports of 12 guests of one address"
STORE = "9 practice boards of one address, of which 2,000 plies are stored an hour"
PORT = "metrics: 400 connections, and heads of 20 KB"

PROXY = "127.0.0.9"
ATTACKERS, OTHERS, ELSEWHERE = "203.0.113.5", "198.51.100.7", "198.51.100.8"
PASSWORD = "a password of theirs"  # noqa: S105  (nobody's)
HELGA, OLGA, FRIEDA = "Helga", "Olga", "Frieda"
HOURS = 2 * 3600.0
MANY = 40

MOST_TO_ONE = 3  # mails with codes to one mailbox a day
PATIENCE = 15.0  # seconds to wait for a code; the server polls its queue every five

COMING: Sections = {
    "server": {"port": 0, "proxies": f'["{PROXY}"]', "connections_per_address": 1000},
}


class Visitor(Guest):
    """A guest who connects through the proxy, from an external address."""

    def __init__(self, place: Place, origin: str) -> None:
        super().__init__(place, PROXY)
        addresses = socket.inet_aton(origin) + socket.inet_aton(place[0])
        rest = addresses + struct.pack("!HH", 40_000, place[1])
        signature = b"\r\n\r\n\0\r\nQUIT\n"
        self._socket.sendall(signature + b"\x21\x11" + struct.pack("!H", len(rest)) + rest)

    def log_in(self, name: str) -> None:
        """Log in as a member."""
        self.until(NAME_PROMPT)
        self.send(name)
        self.until(*SECRET_PROMPTS)
        self.say(PASSWORD)


# Preparing the store.


async def _prepare(folder: Path, members: Sequence[str], operator: str = "") -> None:
    """Register members in a new store, who played each other two hours ago."""
    then = time.time() - HOURS
    store = await Store.open(folder / "thudmud.db", clock=lambda: then)
    stored = argon2.PasswordHasher(time_cost=1, memory_cost=64).hash(PASSWORD)
    for number, name in enumerate(members):
        await store.write(accounts.enrol, name, stored)
        one, other = members[number - number % 2], name
        if one != other:
            began = BattleStarted(then, one, 1, "discworld", one, other)
            over = Outcome(Ending.AGREEMENT, None, Score(32, 32))
            ended = BattleEnded(then, one, over, 0, one, other)
            await store.append({f"(board) {number}": (0, [began, ended])})
    if operator:
        await store.write(accounts.set_operator, operator, is_one=True)
    await store.close()


def _prepared(folder: Path, members: Sequence[str], operator: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(_prepare(folder, members, operator))


# Mails.


class Relay:
    """An SMTP relay that accepts every mail.

    Attributes:
        taken: arrival times by `time.perf_counter`, keyed by recipient.
    """

    def __init__(self) -> None:
        self.taken: dict[str, list[float]] = {}

    async def handle_DATA(  # noqa: N802  (aiosmtpd's name)
        self, _: SMTP, __: Session, envelope: Envelope
    ) -> str:
        """Accept a mail and record its arrival time."""
        for each in envelope.rcpt_tos:
            self.taken.setdefault(each, []).append(time.perf_counter())
        return "250 OK"


@contextmanager
def _relaying() -> Iterator[tuple[Relay, int]]:
    """Run a relay and yield it with its port."""
    relay, port = Relay(), _free_port()
    controller = Controller(relay, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield relay, port
    finally:
        controller.stop()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def mails(folder: Path, extent: Extent) -> Row:
    """Have many members request one code each for the same mailbox, then an honest member.

    Plus-addressing makes the recipients differ.
    """
    many = [f"m{letters(number)}" for number in range(MANY if extent.crowd > 2 else 4)]
    _prepared(folder, [*many, HELGA, FRIEDA])
    with ExitStack() as stack:
        relay, port = stack.enter_context(_relaying())
        per_hour = 30  # as of a small provider; the default is 100
        mail = {
            "relay": '"127.0.0.1"',
            "port": port,
            "tls": '"none"',
            "sender": '"thud@example.org"',
            "per_hour": per_hour,
        }
        web = {"enabled": "false", "public_url": '"https://example.org"'}
        sections = {**COMING, "mail": mail, "web": web}
        _, place = stack.enter_context(server(folder, AS_IT_IS, sections))
        for number, name in enumerate(many):
            with Visitor(place, ATTACKERS) as guest:
                guest.log_in(name)
                guest.say(f"notify mail victim+{number}@gmail.com")
        time.sleep(PATIENCE / 2 if extent.crowd > 2 else 0)  # until these mails are queued
        honest, begun = "helga@example.net", time.perf_counter()
        with Visitor(place, OTHERS) as guest:
            guest.log_in(HELGA)
            guest.say(f"notify mail {honest}")
            while honest not in relay.taken and time.perf_counter() < begun + PATIENCE:
                time.sleep(0.05)
        came = min(relay.taken.get(honest, [math.inf])) - begun
    to_victim = sum(len(times) for each, times in relay.taken.items() if each.startswith("victim"))
    return Row(
        MAILS,
        figures=[
            Figure("mails to that mailbox", to_victim, "mails", MOST_TO_ONE),
            Figure("another member's code comes after", came, "s", PATIENCE),
        ],
    )


# Messages and reports.


def box(folder: Path) -> Row:
    """Fill a member's message box from strangers' accounts, then send a friend's message."""
    many = [f"m{letters(number)}" for number in range(6)]
    _prepared(folder, [HELGA, FRIEDA, *many])
    players = {"chat_per_minute": 100_000, "chat_at_once": 100_000}  # otherwise it takes a minute
    kept = 0
    with ExitStack() as stack:
        _, place = stack.enter_context(server(folder, AS_IT_IS, {**COMING, "players": players}))
        for name in many[:5]:
            with Visitor(place, ATTACKERS) as guest:
                guest.log_in(name)
                for _ in range(20):
                    kept += b"is kept" in guest.say(f"message {HELGA} Buy this!")
        with Visitor(place, OTHERS) as guest:
            guest.log_in(FRIEDA)
            refused = b"is kept" not in guest.say(f"message {HELGA} Shall we play?")
    return Row(
        LETTERS,
        figures=[
            Figure("strangers' messages kept", kept, "messages", 50),
            Figure("a friend's refused", refused, "times", 0),
        ],
    )


def reports(folder: Path) -> Row:
    """Send reports from guests of one address, and measure the output to an operator."""
    _prepared(folder, [OLGA, FRIEDA], OLGA)
    kept = 0
    with ExitStack() as stack:
        _, place = stack.enter_context(server(folder, AS_IT_IS, COMING))
        operator = stack.enter_context(Visitor(place, ELSEWHERE))
        operator.log_in(OLGA)
        operator.hear(0.2)
        for number in range(12):
            with Visitor(place, ATTACKERS) as guest:
                guest.take(f"r{letters(number)}")
                for _ in range(5):
                    kept += b"is kept" in guest.say(f"report {OLGA} {'Rude. ' * 100}")
        told = operator.hear(1.0)
    lines = told.count(b"reports Olga") + told.count(b"more report")
    return Row(
        REPORTS,
        figures=[
            Figure("reports kept", kept, "reports", 10),
            Figure("an operator is told", lines, "sentences", 2),
            Figure("all that the operator sees", len(told) / KIB, "KiB", 16),
        ],
    )


# Storage.

BOARDS = 9
PLIES = "move from a6 to b6", "move from g7 to f7", "move from b6 to a6", "move from f7 to g7"
AT_ONCE = 10  # rounds of these four moves, sent in one write
QUOTA = 2000  # stored events of one address an hour; the flood reaches it within half a minute
MOST_STORED = QUOTA + 300  # arrivals, departures and games already begun come on top


def practising(folder: Path, extent: Extent) -> Row:
    """Practise at many boards from one address, with the rate limit of commands lifted."""
    fast = {**COMING["server"], "commands_per_second": 100_000, "commands_at_once": 1_000_000}
    sections: Sections = {**COMING, "server": fast}
    if "stored_per_hour" in (ROOT / "config.toml").read_text("utf-8"):  # absent in older versions
        sections = {**sections, "players": {"stored_per_hour": QUOTA}}
    lines, plies = PLIES * AT_ONCE, 0
    with ExitStack() as stack:
        _, place = stack.enter_context(server(folder, AS_IT_IS, sections))
        guests = [stack.enter_context(Visitor(place, ATTACKERS)) for _ in range(BOARDS)]
        for number, guest in enumerate(guests):
            guest.take(f"p{letters(number)}")
            guest.say("new board")
            guest.say("practice")
        end = time.perf_counter() + extent.seconds
        while time.perf_counter() < end:
            for guest in guests:
                guest.send("\r\n".join(lines))
            for guest in guests:
                guest.say("who")
                plies += len(lines)
        late = stack.enter_context(Visitor(place, ATTACKERS))
        late.take("Late")
        refused = b"A great deal has been played" in late.say("seek")
    stored, size = asyncio.run(_stored(folder))
    return Row(
        STORE,
        figures=[
            Figure("plies sent", plies, "plies"),
            Figure("events stored", stored, "events", MOST_STORED),
            Figure("that is", size / KIB, "KiB"),
            Figure("then told to wait", refused, "times"),
        ],
    )


async def _stored(folder: Path) -> tuple[int, int]:
    """Return the number of stored events, and the bytes of the store's main file once closed."""
    store = await Store.open(folder / "thudmud.db")
    position = await store.position()
    await store.close()
    return position, (folder / "thudmud.db").stat().st_size


# Monitoring.

MOST_FILES = 60  # 16 connections, and some slack for other files


def monitoring(folder: Path, extent: Extent) -> Row:
    """Flood the metrics port with connections whose request heads are slow and large."""
    port = _free_port()
    head = "GET /health HTTP/1.1\r\nHost: x\r\nX: a" + " " * 20_000 + "b\r\n\r\n"
    flood = Flood(
        seconds=extent.seconds,
        count=400,
        payload=[head[:100], head[100:]],
        per_second=1,
        addresses=4,
        waits=False,
    )
    sections: Sections = {
        "server": {"port": 0},
        "metrics": {"enabled": "true", "port": port},
    }
    with ExitStack() as stack:
        running, _ = stack.enter_context(server(folder, AS_IT_IS, sections))
        crowd = stack.enter_context(seated(running, 2))
        ply = Playing(crowd, wandering("discworld"))
        assault = flooding(("127.0.0.1", port), flood, folder)
        harm = siege(
            running, ply, assault, extent.patience, _descriptor_probe(running, extent.seconds)
        )
    log = (folder / "log").stat().st_size / KIB
    return Row(PORT, harm, [*harm.figures, Figure("log", log, "KiB", MOST_LOG)])


def _descriptor_probe(running: Running, seconds: float) -> Besides:
    """Return a probe that samples the server's peak number of extra file descriptors."""
    before = running.files

    def look() -> Sequence[Figure]:
        most, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            most = max(most, running.files - before)
            time.sleep(0.05)
        return [Figure("descriptors taken", most, "files", MOST_FILES)]

    return look


def measures(extent: Extent) -> Iterator[Measure]:
    """Yield the title and the measurement of each row."""
    yield MAILS, partial(mails, extent=extent)
    yield LETTERS, box
    yield REPORTS, reports
    yield STORE, partial(practising, extent=extent)
    yield PORT, partial(monitoring, extent=extent)
