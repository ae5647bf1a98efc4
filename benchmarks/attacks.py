"""Attacks by strangers and crowds on people who play: the table of docs/reliability.md.

Run it from the checkout: ``python benchmarks/attacks.py``, or ``python -m benchmarks.attacks``. A
full run takes a quarter of an hour, ``--quick`` about four minutes. ``--only WORDS`` selects the
attacks whose titles contain these words. Each row is printed once measured, and marked if it misses
a target; with ``--strict`` the exit status is then 1. Requirements: Linux, where all of 127.0.0.0/8
is local; the extra "dev", for certificates; and, for the rows behind a proxy, nginx, which ``make
clients`` installs.

Each attack has a server process of its own, with default settings (where others are needed, the row
says so) and a durable store in a temporary folder. Two victims play there, a ply every 60 ms. While
an answer is overdue, the plies that would have been played in the meantime count as waiting, too.
The attackers run in a separate process. They connect from 127.0.0.2 and further addresses, which
have separate limits, reconnect when they are cut, and stop by themselves. In the control run the
same attackers flood a process that only echoes its input, while the victims play on the server:
this shows the cost of generating the load.

"As before" is the time from the end of the attack until eight answers in a row have been no slower
than the 99th percentile of the control, the server has no more open files than before, and at most
16 MiB more memory.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import math
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

import argon2

from benchmarks.assaults import battles, fairness, pictures, post, proxy, requests, servers, wire
from benchmarks.gateway import Client
from benchmarks.load.attack import (
    AS_IT_IS,
    COLUMNS,
    MOST_CALM,
    MOST_DELAY,
    MOST_LOG,
    PIECE,
    PLAYER,
    SOCKET,
    WEB,
    Attack,
    Extent,
    Measure,
    Row,
    Setup,
    besieged,
    repeated,
    server,
    wandering,
)
from benchmarks.load.attackers import Flood
from benchmarks.load.crowd import Crowd
from benchmarks.load.guests import Guest, Return, all_back, come_back
from benchmarks.load.players import seated, to_and_fro
from benchmarks.load.processes import (
    KIB,
    Running,
    Sections,
    board,
    letters,
    started,
    without_uvloop,
)
from benchmarks.load.siege import Assault, Besides, Clock, Figure, Playing, Ply, flooding, siege
from benchmarks.load.web import BINARY, CONTINUATION, HANDSHAKE, PING, TEXT, framed
from thudmud.store import Store, accounts

PROXY: Sections = {
    # As config.toml advises for servers behind a proxy.
    "server": {
        "port": 0,
        "connections_per_address": 1000,
        "accepts_per_second": 400,
        "accepts_at_once": 1600,
    },
    "players": {"names_per_hour": 1000},
}
SECRET = "a secret that is long enough"  # noqa: S105  (nobody's)
FILES = 64
HELGA = "Helga"
NOISY = "Noisy"
BABBLER = "Babbler"
BABBLE_TITLE = "a bot prints lines without end"
GUESTS_BACK = "all guests come back after a restart, from one address"
MEMBERS_BACK = "all members come back after a restart, from one address"
PATIENCE = 60.0  # seconds in which everybody should be back after a restart


FULL = Extent(seconds=6, noise=20, patience=10, crowd=100)
QUICK = Extent(seconds=1.5, noise=3, patience=2, crowd=20)


# Floods of telnet commands and other input.


COMMANDS = {
    "NOP": "\xff\xf1",
    "IAC IAC": "\xff\xff",
    "IAC SB .. SE": "\xff\xfa\x1f\x00\x50\x00\x18\xff\xf0",
    "IAC DO": "\xff\xfd\x63",
    "IAC EC": "\xff\xf7",
}


def telnet() -> Iterator[Attack]:
    for name, data in COMMANDS.items():
        if name == "NOP":
            one = Flood(payload=[repeated(data)], per_second=64)
            yield Attack(f"{name} before login, 1 connection", one)
        many = Flood(count=25, payload=[repeated(data)], per_second=20)
        yield Attack(f"{name} before login, 25 connections", many)
    many = Flood(count=25, payload=[repeated(COMMANDS["NOP"])], per_second=20, name="x")
    yield Attack("NOP after login, 25 connections", many)


def plain() -> Iterator[Attack]:
    yield Attack(
        "lines without end, 10 connections",
        Flood(count=10, payload=["x" * 4 * PIECE], per_second=10),
    )
    yield Attack(
        "1 MiB of empty lines, 10 players",
        Flood(count=10, payload=["\r\n" * (1 << 19)], per_second=0, name="x"),
    )
    yield Attack(
        "connections that come and go, 400 a second from 4 addresses",
        Flood(count=4, payload=["\r\n"], per_second=100, addresses=4, should_hang_up=True),
    )
    yield Attack(
        "boards that are not read, 20 players",
        Flood(count=20, payload=[f"look at {board(0)}\r\n"], at_once=200, name="x", reads=False),
    )
    yield Attack(
        "200 silent connections with TLS, from 8 addresses",
        Flood(count=200, addresses=8, uses_tls=True),
        setup=Setup(uses_tls=True),
    )
    yield Attack(
        f"100 connections where {FILES} files may be open",
        Flood(count=100, addresses=4),
        setup=Setup(files=FILES),
    )


# The page.


def draws(running: Running, _: float) -> Besides:
    """Request one SVG and one GIF, to start the drawing processes and open their files."""
    host, port = running.web
    for kind in ("svg", "gif"):
        asked = http.client.HTTPConnection(host, port)
        asked.request("GET", f"/board/{board(0)}.{kind}".replace(" ", "%20"))
        asked.getresponse().read()
        asked.close()
    return tuple


def plays(running: Running, _: float) -> Besides:
    """Play a battle to its end, so that there is a finished one to explore; its number is 2.

    Raises:
        RuntimeError: the server did not report the end of the battle.
    """
    typed = "Zoe", "new board", "practice", "move from a6 to b6", "end game", "quit"
    with socket.create_connection(running.place, PATIENCE) as link:
        link.sendall("".join(f"{each}\r\n" for each in typed).encode())
        told = b""
        while more := link.recv(4096):
            told += more
    if b"You end the battle" not in told:
        raise RuntimeError(f"no battle was played: {told!r}")
    return tuple


def at_page() -> Iterator[Attack]:
    """Yield attacks on the web port."""
    many = Flood(count=25, per_second=20, addresses=2)
    get = "GET {} HTTP/1.1\r\nHost: x\r\n"
    junk = [
        get.format("/") + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
        get.format("/") + "Content-Length: 5\r\nContent-Length: 50\r\n\r\nGET / HTTP/1.1\r\n",
        get.format("/" + "%2e%2e/" * 1000) + "\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        get.format("/") + "X: \0\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 1000,
        "\xff\xfb\x18" * 4000,
    ]
    yield Attack(
        "page: requests that are none, 25 connections", replace(many, payload=junk), setup=WEB
    )
    asking = [f"{get.format('/page.css')}\r\n" * 40]
    yield Attack("page: files, 25 connections", replace(many, payload=asking), setup=WEB)
    picture = f"/board/{board(0)}".replace(" ", "%20")
    drawing = [
        "".join(
            f"{get.format(f'{picture}.{kind}?{look}')}\r\n"
            for kind in ("png", "gif", "svg")
            for look in ("side=north", "colours=dim", "colours=safe&theme=dark", "theme=dark")
        )
    ]
    for title, reads in (("pictures", True), ("pictures that are not read", False)):
        yield Attack(
            f"page: {title}, 25 connections",
            replace(many, payload=drawing, reads=reads),
            besides=draws,
            setup=WEB,
        )
    yield Attack(
        "page: files that are not read, 25 connections",
        replace(many, payload=asking, reads=False),
        setup=WEB,
    )
    yield Attack(
        "page: requests byte by byte, 200 connections from 8 addresses",
        Flood(count=200, payload=["x"], per_second=5, addresses=8),
        setup=WEB,
    )
    yield Attack(
        "page: 1,000 silent connections, from 40 addresses",
        Flood(count=1000, addresses=40),
        setup=WEB,
    )
    yield Attack(
        "page: WebSockets for a page elsewhere, 25 connections",
        replace(many, payload=[f"{HANDSHAKE}Origin: https://elsewhere.example\r\n\r\n"]),
        setup=WEB,
    )
    for title, frames in (
        ("pings", framed(PING, "x" * 125)),
        ("fragments without end", framed(CONTINUATION, "", fin=False)),
        ("one byte in each fragment", framed(CONTINUATION, "x", fin=False)),
        ("packages that are none", framed(TEXT, 'Core.Supports.Set ["' + "[" * 99)),
        ("text that is not UTF-8", framed(BINARY, "say \xff\xc0\xaf\xed\xa0\x80\n")),
        ("questions", framed(TEXT, 'Thud.Ask "moves f1"') + framed(TEXT, 'Thud.Ask "who"')),
    ):
        opening = PLAYER + framed(BINARY, "", fin=False) * ("ragment" in title)
        data = frames * (PIECE // len(frames))
        yield Attack(
            f"page: {title}, 25 WebSockets",
            replace(many, payload=[data], opening=opening),
            setup=WEB,
        )
    watching = framed(TEXT, 'Core.Supports.Set ["Thud 1"]')
    wanting = framed(TEXT, 'Thud.Watch {"battle": 1}') + framed(TEXT, 'Thud.Watch {"board": null}')
    yield Attack(
        "page: battles without a name, 25 WebSockets",
        replace(many, payload=[wanting * 100], opening=SOCKET + watching),
        setup=WEB,
    )
    exploring = framed(TEXT, 'Thud.Watch {"battle": 2, "explore": 0}')
    yield Attack(
        "page: what was played, without a name, 25 WebSockets",
        replace(many, payload=[exploring * 200], opening=SOCKET + watching),
        besides=plays,
        setup=WEB,
    )
    wrong = [
        framed(BINARY, "x", mask=False),
        framed(3, "x"),
        framed(15, "x"),
        chr(0xF2) + chr(0x81) + "\0\0\0\0x",
        "\x82\xff\x7f" + "\xff" * 7 + "\0\0\0\0" + "x" * PIECE,
        "\x82\xfe\xff\xff\0\0\0\0" + "x" * PIECE,
        "\x89\xfe\x00\x80\0\0\0\0" + "x" * 128,
    ]
    yield Attack(
        "page: frames that are none, 25 WebSockets",
        replace(many, payload=wrong, opening=SOCKET),
        setup=WEB,
    )
    yield Attack(
        "page: boards that are not read, 20 WebSockets",
        Flood(
            count=20,
            payload=[framed(BINARY, f"look at {board(0)}")],
            at_once=200,
            opening=PLAYER,
            reads=False,
        ),
        setup=WEB,
    )


# Questions and noise.

QUESTIONS = {
    "captures": ["captures"],
    "moves": ["moves"],
    "lines": ["lines"],
    "all of these": ["captures", "moves", "lines"],
}


def questions() -> Iterator[Attack]:
    asking = Flood(count=20, at_once=200, name="x", before=[f"go to {board(0)}"])
    for rules in ("discworld", "koom valley"):
        for title, lines in QUESTIONS.items():
            if rules == "koom valley" and title == "lines":
                continue  # Koom Valley has no lines
            payload = [f"{each} on {board(0)}\r\n" for each in lines]
            yield Attack(
                f"{title}, 20 players, {rules}",
                replace(asking, payload=payload),
                setup=Setup(rules=rules),
            )
    yield Attack(
        "records, 20 players",
        replace(asking, payload=["record 1\r\n"]),
        setup=Setup(rules="discworld"),
    )
    yield Attack(
        "replays, each at another ply, 20 players",
        replace(asking, payload=["next\r\n", "next\r\n", "back\r\n"], before=["replay 1"]),
        setup=Setup(rules="discworld"),
    )


def noise_probe(running: Running, seconds: float, most: float) -> Besides:
    """Return a probe that counts the lines about noisy players on a listener's screen."""
    guest = Guest(running.place, "127.0.0.250")
    guest.take("Listener")
    guest.say(f"go to {board(1)}")

    def listen() -> Sequence[Figure]:
        with guest:
            lines = guest.hear(seconds).count(f"{NOISY}a".encode())
        return [Figure("others are told", lines, "lines", most)]

    return listen


def noise(extent: Extent) -> Iterator[Attack]:
    where = f"go to {board(1)}"
    # The chat limit by default, and a little slack.
    most = 15 + 30 * extent.noise / 60 + 5
    for title, count, payload in (
        ("go to a board and back", 1, ["go to hall\r\n", f"{where}\r\n"]),
        ("join and leave", 1, [f"join game as dwarf on {board(1)}\r\n", "leave game\r\n"]),
        ("say, as much as is allowed", 20, ["say {}\r\n"]),
    ):
        yield Attack(
            f"{title}, {count} player{'s' if count > 1 else ''}",
            Flood(count=count, payload=payload, at_once=200, name=NOISY, before=[where]),
            besides=partial(noise_probe, most=most * count),
            is_noisy=True,
        )


# Names.


def locked_out(running: Running, seconds: float, address: str, most: float) -> Besides:
    """Return a probe in which a guest disconnects and returns, while others guess her word."""
    guest = Guest(running.place, "127.0.0.200")
    word = guest.take(HELGA)

    def come() -> Sequence[Figure]:
        time.sleep(seconds / 2)
        guest.cut()
        found = come_back(running.place, address, HELGA, word, 2 * seconds)
        return [
            Figure("she is back after", found.seconds, "s", most),
            Figure("she is told to wait or sent away", found.delayed, "times", 0),
        ]

    return come


def names() -> Iterator[Attack]:
    guessing = Flood(count=24, payload=[f"{HELGA}\r\n", "wrong-wrong-wrong\r\n"], at_once=20)
    for where, address, most in (
        ("from her own address", "127.0.0.200", 1.0),
        ("from a new one", "127.0.0.201", 5.0),
    ):
        yield Attack(
            f"24 guess a guest's word, who comes back {where}",
            guessing,
            besides=partial(locked_out, address=address, most=most),
        )


def guests_back(folder: Path, extent: Extent) -> Row:
    """Measure how long guests behind one address take to return after a restart."""
    known = []
    with server(folder, AS_IT_IS, PROXY) as (_, place):
        for number in range(extent.crowd):
            with Guest(place, "127.0.0.1") as guest:
                name = f"g{letters(number)}"
                known.append((name, guest.take(name)))
    with server(folder, AS_IT_IS, PROXY) as (_, place):
        back = all_back(place, known, PATIENCE)
    return Row(GUESTS_BACK, figures=_returned(back, 5.0))


def members_back(folder: Path, extent: Extent) -> Row:
    """Measure how long members take to return, which includes hashing their passwords."""
    folder.mkdir()
    everybody = [f"m{letters(number)}" for number in range(extent.crowd)]
    password, alone = "a password of theirs", argon2.PasswordHasher()
    stored = alone.hash(password)
    asyncio.run(_enrol(folder / "thudmud.db", everybody, stored))
    begun = perf_counter()
    for _ in range(5):
        alone.verify(stored, password)
    least = (perf_counter() - begun) / 5 * extent.crowd
    with server(folder, AS_IT_IS, PROXY) as (_, place):
        back = all_back(place, [(name, password) for name in everybody], PATIENCE)
    figures = _returned(back, 1.5 * least + 1)
    return Row(
        MEMBERS_BACK,
        figures=[*figures, Figure("argon2 alone, one after the other", least, "s")],
    )


def _returned(back: Return, most: float) -> list[Figure]:
    return [
        Figure("the last is back after", back.seconds, "s", most),
        Figure("told to wait or sent away", back.delayed, "times", 0),
    ]


async def _enrol(path: Path, everybody: Iterable[str], stored: str) -> None:
    store = await Store.open(path)
    await asyncio.gather(*(store.write(accounts.enrol, name, stored) for name in everybody))
    await store.close()


# The gateway.


@contextmanager
def gateway(folder: Path) -> Iterator[tuple[Running, Ply]]:
    """Start a gateway on a port; yield the process and a function that plays a ply."""
    folder.mkdir(parents=True)
    config = folder / "config.toml"
    config.write_text(f'[gateway]\nport = 0\nsecret = "{SECRET}"\n', encoding="utf-8")
    words = ["thudmud.cli.main", "gateway", "--config", str(config)]
    with started(words, folder, folder / "log") as running:
        client = Client(running.place, secret=SECRET, patience=20)
        client.set_up("one")
        count = 0

        def ply() -> None:
            nonlocal count
            line, player = to_and_fro(0, count).decode().strip(), ("Anna", "Bert")[count % 2]
            client.ask(type="line", board="one", player=player, line=line)
            count += 1

        try:
            yield running, ply
        finally:
            client.close()


def another_client(running: Running, seconds: float) -> Besides:
    """Return a probe that connects a second gateway client halfway through the attack."""

    def come() -> Sequence[Figure]:
        time.sleep(seconds / 2)
        begun = perf_counter()
        while perf_counter() < begun + 2 * seconds:
            with suppress(OSError, AssertionError, ValueError):
                Client(running.place, "another", SECRET, seconds).close()
                return [Figure("another is welcomed after", perf_counter() - begun, "s", 1.0)]
            time.sleep(0.1)
        return [Figure("another is welcomed after", math.inf, "s", 1.0)]

    return come


def strangers() -> Iterator[Attack]:
    wrong = {"type": "hello", "version": 1, "client": "mud", "secret": "not the one that it is"}
    yield Attack(
        "gateway: blank lines before the hello, 60 links",
        Flood(count=60, payload=[repeated("\n")], per_second=8),
    )
    yield Attack("gateway: 80 silent links", Flood(count=80))
    yield Attack(
        "gateway: wrong secrets, 20 links",
        Flood(count=20, payload=[json.dumps(wrong) + "\n"], per_second=20),
    )


def at_gateway(folder: Path, attack: Attack, extent: Extent) -> Row:
    """Attack a gateway's port, and return the row."""
    with gateway(folder) as (running, ply):
        flood = replace(attack.flood, seconds=extent.seconds)
        besides = another_client(running, extent.seconds)
        assault = flooding(running.place, flood, folder)
        harm = siege(running, ply, assault, extent.patience, besides)
    log = Figure("log", (folder / "log").stat().st_size / KIB, "KiB", MOST_LOG)
    return Row(attack.title, harm, [*harm.figures, log])


# A bot.

BABBLE = """\
import os, sys, time
end = float(sys.argv[1])
if end:
    for line in sys.stdin:
        word = line.split()[0]
        if word == "go":
            break
        print({"name": "name Babbler"}.get(word, line.strip()), flush=True)
begun = time.time()
while time.time() < begun + (end or float(sys.argv[2])):
    os.write(1, b"# I think of this and of that, and cannot make up my mind.\\n" * 700)
"""
"""A bot that floods its output. Arguments: seconds after "go", or 0 and seconds from the start."""


def babbling(running: Running, program: Path, seconds: float) -> Assault:
    """Return an assault by a bot that never stops printing."""
    guest = Guest(running.place, "127.0.0.200")
    guest.take(HELGA)
    for line in (f"join game as troll on {board(1)}", f"invite {BABBLER}"):
        guest.say(line)

    @contextmanager
    def on_server() -> Iterator[Clock]:
        guest.send("start")  # the bot plays the dwarfs, who move first
        yield Clock(seconds)
        guest.cut()

    @contextmanager
    def on_echo() -> Iterator[Clock]:
        words = [sys.executable, str(program), "0", str(seconds)]
        with (
            subprocess.Popen(words, stdout=subprocess.PIPE) as bot,  # noqa: S603  (ours)
            subprocess.Popen(["cat"], stdin=bot.stdout, stdout=subprocess.DEVNULL),  # noqa: S607
        ):
            yield Clock(seconds)

    return Assault(on_server, on_echo)


def a_bot(folder: Path, extent: Extent) -> Row:
    """Measure the harm of inviting a bot that never stops printing."""
    folder.mkdir(parents=True)
    program = folder / "babble.py"
    program.write_text(BABBLE, encoding="utf-8")
    command = json.dumps([sys.executable, str(program), str(extent.seconds)])
    more = f'[[bot]]\nname = "{BABBLER}"\ncommand = {command}\npause = 0.0\n'
    with ExitStack() as stack:
        running, _ = stack.enter_context(server(folder, Setup(more=more)))
        crowd: Crowd = stack.enter_context(seated(running, 2))
        assault = babbling(running, program, extent.seconds)
        harm = siege(running, Playing(crowd, wandering("discworld")), assault, extent.patience)
    return Row(BABBLE_TITLE, harm)


# The whole.

GROUPS: Sequence[Callable[[Extent], Iterable[Measure]]] = (
    battles.measures,
    fairness.measures,
    pictures.measures,
    post.measures,
    proxy.measures,
    requests.measures,
    servers.measures,
    wire.measures,
)
"""Functions that yield the rows of the modules of `benchmarks.assaults`."""


def measures(extent: Extent) -> Iterator[Measure]:
    """Yield the title and the measurement of each row."""
    for each in (*telnet(), *plain(), *at_page(), *names()):
        yield each.title, partial(besieged, attack=each, extent=extent)
    yield GUESTS_BACK, partial(guests_back, extent=extent)
    yield MEMBERS_BACK, partial(members_back, extent=extent)
    for each in strangers():
        yield each.title, partial(at_gateway, attack=each, extent=extent)
    for each in (*questions(), *noise(extent)):
        yield each.title, partial(besieged, attack=each, extent=extent)
    yield BABBLE_TITLE, partial(a_bot, extent=extent)
    for group in GROUPS:
        yield from group(extent)


def rows(extent: Extent, words: str = "") -> Iterator[Row]:
    """Measure the rows whose titles contain the given words."""
    with TemporaryDirectory(prefix="thudmud.") as name:
        for number, (title, measure) in enumerate(measures(extent)):
            if words in title:
                yield measure(Path(name) / str(number))


def report(extent: Extent, measured: Iterable[Row], form: Callable[[Sequence[str]], str]) -> bool:
    """Print rows as they are measured; return whether all met their targets."""
    print(form(COLUMNS))
    if form is markdown:
        print(form(["---", *["---:"] * (len(COLUMNS) - 2), "---"]))
    is_wanted = True
    for row in measured:
        print(form(row.cells), flush=True)
        is_wanted &= row.is_wanted
    print(
        f"\n{platform.machine()}, {os.cpu_count()} processors, {platform.system()}"
        f" {platform.release()}, Python {platform.python_version()}. An attack takes"
        f" {extent.seconds:g} s, one that others are told of {extent.noise:g} s. {extent.crowd}"
        " come back after a restart, with caps as config.toml advises for a proxy. Wanted: a 99th"
        f" percentile at most {MOST_DELAY:g} ms above the control's, and all as before within"
        f" {MOST_CALM:g} s; it is waited for {extent.patience:g} s. ! marks what is not."
    )
    return is_wanted


def for_terminal(cells: Sequence[str]) -> str:
    """Format a row for a terminal."""
    title, sent, *numbers, figures = cells
    return f"{title:58}{sent:>26}" + "".join(f"{each:>13}" for each in numbers) + f"  {figures}"


def markdown(cells: Sequence[str]) -> str:
    """Format a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the attacks and print the table; return the exit status."""
    parser = argparse.ArgumentParser(description="Attack the server.")
    parser.add_argument(
        "--quick", action="store_true", help="a short run, with fewer and smaller measurements"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print a Markdown table, as in docs/reliability.md"
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit with status 1 if a target is missed"
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="WORDS",
        help="run only attacks whose titles contain these words",
    )
    parser.add_argument(
        "--no-uvloop", action="store_true", help="run thudmud on asyncio's own loop"
    )
    options = parser.parse_args(arguments)
    extent = QUICK if options.quick else FULL
    form = markdown if options.markdown else for_terminal
    on_uvloop = not options.no_uvloop and find_spec("uvloop") is not None
    with nullcontext() if on_uvloop else without_uvloop():
        is_wanted = report(extent, rows(extent, options.only), form)
    print(f"thudmud ran on {'uvloop' if on_uvloop else 'asyncio'}'s event loop.")
    return int(options.strict and not is_wanted)


if __name__ == "__main__":
    sys.exit(main())
