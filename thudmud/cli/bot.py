"""`thudmud bot`: let a program play on somebody else's server, over the network.

The bot is a player like any other. It connects by telnet, and takes everything that it has to know
from GMCP packages. A program that speaks the engine protocol chooses its plies.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shlex
import signal
import ssl
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import telnetlib3

from thudmud.bots.opponent import Task
from thudmud.bots.program import Program, ProgramError, is_installed
from thudmud.bots.visitor import TIMED, UNTIMED, ChallengePolicy, Visitor
from thudmud.cli.common import HIGHEST_PORT, refuse
from thudmud.errors import CommandError, system_reason
from thudmud.rules import RULESETS
from thudmud.version import VERSION

PORT = 8483
"""The telnet port of a server, unless another is named."""

PASSWORD = "THUDMUD_PASSWORD"  # noqa: S105  (the name of a variable)
"""The environment variable with the bot's password."""

PACKAGES = ("Thud 1", "Char.Login 1")

SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before the bot connects again: the pause is doubled after each failure."""

TICK = 1.0
"""Seconds between two looks at what is due, such as leaving a board."""

_CHUNK = 65536  # bytes
_FINAL = {
    "elsewhere": "another connection plays under this name",
    "banned": "the server's operator has banned the bot",
    "kicked": "an operator has ended the bot's visit",
    "logged_out": "the password was changed, or the player logged out everywhere",
    "rejected": "the server refused what the bot sent",
    "quit": "the bot has quit",
}
"""Why the bot doesn't connect again, by the ``why`` of ``Thud.Goodbye``."""

_NAME_TAKEN = (
    "Without a password, a name must be new, or kept with --word-file. It has 2 to 20 letters. One "
    "that was used without --word-file stays reserved for a day."
)

_ADDRESS = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:]+)(?::(?P<port>[0-9]{1,5}))?")


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    # Long: one table of arguments, without branches.
    parser.description = (
        "Let a program play on a server: it waits in the hall, accepts challenges and invitations, "
        "and plays. The program speaks the protocol of docs/engine.md. After a lost connection the "
        "bot comes back, to its seats as well."
    )
    parser.add_argument(
        "command", help='the program, in quotes, such as "./pebble --fast"; or "thudmud engine"'
    )
    parser.add_argument(
        "--connect", type=read_address, required=True, metavar="HOST[:PORT]",
        help=f"the telnet address of the server; the default port is {PORT}",
    )  # fmt: skip
    parser.add_argument("--name", required=True, help="the bot's name on the server")
    parser.add_argument("--tls", action="store_true", help="use TLS, and check the certificate")
    parser.add_argument(
        "--word-file", type=Path, metavar="FILE",
        help="where the bot's resume word is kept, with which it comes back after a restart; "
        f"a bot with a password, in the environment variable {PASSWORD}, needs none",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=_seconds, default=5.0, metavar="N",
        help="the program's time limit for a ply; default: 5",
    )  # fmt: skip
    parser.add_argument(
        "--rules", action="append", choices=list(RULESETS), default=[],
        help="accept challenges under these rules only; may be repeated; default: all",
    )  # fmt: skip
    parser.add_argument(
        "--clocks", choices=(TIMED, UNTIMED, "both"), default="both",
        help="accept challenges with or without a clock; default: both",
    )  # fmt: skip
    parser.add_argument(
        "--rated", choices=("yes", "no", "both"), default="both",
        help="accept rated or casual challenges; default: both",
    )  # fmt: skip
    parser.add_argument(
        "--boards", type=_boards, default=4, metavar="N",
        help="decline challenges while the bot sits at so many boards; default: 4",
    )  # fmt: skip
    parser.set_defaults(run=run, is_output_needed=False)


def read_address(text: str) -> tuple[str, int]:
    """Parse ``HOST[:PORT]``; an IPv6 address is in brackets."""
    found = _ADDRESS.fullmatch(text)
    number = int(found["port"] or PORT) if found else 0
    if not found or not 1 <= number <= HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f'expected HOST or HOST:PORT, got "{text}"')
    return found["host"].strip("[]"), number


def _seconds(text: str) -> float:
    with suppress(ValueError):
        if 0.1 <= (seconds := float(text)) <= 3600:
            return seconds
    raise argparse.ArgumentTypeError(f'expected 0.1 to 3600 seconds, got "{text}"')


def _boards(text: str) -> int:
    with suppress(ValueError):
        if 1 <= (number := int(text)) <= 100:
            return number
    raise argparse.ArgumentTypeError(f'expected 1 to 100 boards, got "{text}"')


def run(options: argparse.Namespace) -> int:
    """Play until a signal arrives or the server sends the bot away; return the exit status."""
    try:
        command = shlex.split(options.command)
    except ValueError as error:
        return refuse(f"{options.command}: {error}")
    if not command or not is_installed(command[0], Path()):
        return refuse(f'no executable program "{options.command}"')
    policy = ChallengePolicy(
        options.rules or tuple(RULESETS),
        (TIMED, UNTIMED) if options.clocks == "both" else (options.clocks,),
        {"yes": (True,), "no": (False,), "both": (True, False)}[options.rated],
        options.boards,
    )
    bot = RemoteBot(
        options.name,
        options.connect,
        Program(options.name, command, Path(), options.seconds),
        policy,
        context=ssl.create_default_context() if options.tls else None,
        password=os.environ.get(PASSWORD, ""),
        word_file=options.word_file,
    )
    try:
        asyncio.run(bot.run())
    except CommandError as error:
        return refuse(error)
    return 0


class RemoteBot:
    """A bot's connections to one server, one after the other.

    Args:
        name: the bot's name.
        address: host and port of the server.
        program: the program that chooses the plies.
        policy: the challenges to accept.
        context: the TLS context; None without TLS.
        password: the password of the bot's account; empty for a guest.
        word_file: where the resume word is kept; None if only in memory.

    Raises:
        CommandError: the file with the resume word can't be read.
    """

    def __init__(
        self,
        name: str,
        address: tuple[str, int],
        program: Program,
        policy: ChallengePolicy,
        *,
        context: ssl.SSLContext | None = None,
        password: str = "",
        word_file: Path | None = None,
    ) -> None:
        self._name, self._address, self._program = name, address, program
        self._context, self._password, self._word_file = context, password, word_file
        self._visitor = Visitor(name, policy)
        self._word = _read_word(word_file) if word_file else ""
        self._packages: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        """Packages of the current connection that have not been processed."""
        self._writer: Any = None
        self._has_come_in = False
        self._thinking: tuple[Task, asyncio.Task[str]] | None = None
        self._played: Task | None = None
        """The task whose ply was typed last, and may not have been carried out yet."""

    async def run(self) -> None:
        """Play until a signal arrives or the server sends the bot away.

        Raises:
            CommandError: the program doesn't answer, or the server refused the bot or sent it away;
                the message says why.
        """
        try:
            await self._program.start()
        except ProgramError as error:
            raise CommandError(f"the program can't be used: {error}") from error
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stopped.set)
        playing = asyncio.create_task(self._stay_connected())
        stopping = asyncio.create_task(stopped.wait())
        try:
            await asyncio.wait({playing, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if playing.done():
                playing.result()
        finally:
            for task in (playing, stopping):
                task.cancel()
            await asyncio.wait({playing, stopping})
            await self._program.stop()

    async def _stay_connected(self) -> None:
        """Connect again and again; tell the user once for each time without a connection."""
        pause, is_told = SHORTEST_PAUSE, False
        while True:
            try:
                await self._play()
                problem = "the server has closed the connection"
            except OSError as error:
                problem = system_reason(error)
            if self._has_come_in:
                pause, is_told = SHORTEST_PAUSE, False
            if not is_told:
                self._say(f"not connected: {problem}; trying again")
                is_told = True
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _play(self) -> None:
        """Connect, and play until the connection is lost.

        Raises:
            OSError: no server can be reached there.
            CommandError: the server refused the bot, or sent it away.
        """
        self._visitor.forget()
        self._has_come_in, self._played, self._packages = False, None, asyncio.Queue()
        reader, self._writer = await telnetlib3.open_connection(
            *self._address,
            client_factory=partial(_Client, self._packages.put_nowait),
            encoding=False,
            connect_maxwait=0,
            ssl=self._context,
        )
        reading = asyncio.create_task(_discard(reader))
        try:
            while not reading.done() or not self._packages.empty():
                await self._wait(reading)
                while not self._packages.empty():
                    self._process(*self._packages.get_nowait())
                for line in self._visitor.due(time.monotonic()):
                    self._type(line)
                await self._choose_plies()
        finally:
            reading.cancel()
            if self._thinking:
                self._thinking[1].cancel()
                self._thinking = None
                # Its answer to this question would be taken for that to the next.
                await self._program.kill()
            self._writer.close()

    async def _wait(self, reading: asyncio.Task[None]) -> None:
        """Wait for a package, a ply, the end of the connection, or `TICK`."""
        if not self._packages.empty():
            return
        coming = asyncio.create_task(self._packages.get())
        waiting: set[asyncio.Task[Any]] = {coming, reading}
        if self._thinking:
            waiting.add(self._thinking[1])
        await asyncio.wait(waiting, timeout=TICK, return_when=asyncio.FIRST_COMPLETED)
        if coming.done():
            self._process(*coming.result())
        else:
            coming.cancel()

    def _process(self, package: str, data: Any) -> None:
        match package:
            case "Char.Login.Default":
                secret = self._password or self._word
                answer = {"account": self._name} | ({"password": secret} if secret else {})
                self._writer.send_gmcp("Char.Login.Credentials", answer)
            case "Char.Login.Result":
                if not data["success"]:
                    hint = "" if self._password else f" {_NAME_TAKEN}"
                    raise CommandError(f"{self._name} was not let in: {data['message']}{hint}")
                self._has_come_in = True
                self._say("connected; waiting for challenges")
            case "Thud.Word":
                self._keep_word(data["word"])
            case "Thud.Goodbye" if data["why"] in _FINAL:
                raise CommandError(f"the visit has ended: {_FINAL[data['why']]}")
            case _:
                for line in self._visitor.receive(package, data, time.monotonic()):
                    self._type(line)

    async def _choose_plies(self) -> None:
        """Play the ply that the program has chosen, and let it choose the next."""
        if self._thinking and self._thinking[1].done():
            task, choosing = self._thinking
            self._thinking = None
            try:
                line = self._visitor.ply_line(task, choosing.result())
            except (ProgramError, ValueError) as error:
                self._say(f"the program failed: {error}")
                await self._program.kill()
                for each in self._visitor.count_failure(task):
                    self._type(each)
            else:
                if line:
                    self._played = task
                    self._type(line)
        tasks = [each for each in self._visitor.tasks() if each != self._played]
        if tasks and not self._thinking:
            self._thinking = tasks[0], asyncio.create_task(self._program.ply(tasks[0]))
        elif not self._visitor.plays:
            await self._program.stop()

    def _type(self, line: str) -> None:
        self._writer.write(f"{line}\r\n".encode())

    def _say(self, sentence: str) -> None:
        print(f"{self._name}: {sentence}", file=sys.stderr, flush=True)

    def _keep_word(self, word: str) -> None:
        self._word = word
        if self._word_file and not self._password:
            temporary = self._word_file.with_name(f"{self._word_file.name}.new")
            temporary.touch(mode=stat.S_IRUSR | stat.S_IWUSR)
            temporary.write_text(f"{word}\n", "utf-8")
            temporary.replace(self._word_file)


class _Client(telnetlib3.TelnetClient):
    """A telnet client that passes on GMCP packages."""

    def __init__(self, take: Callable[[tuple[str, Any]], None], **settings: Any) -> None:
        super().__init__(gmcp_modules=list(PACKAGES), **settings)
        self._take = take

    def on_gmcp(self, package: str, data: Any) -> None:
        """Pass on a package."""
        self._take((package, data))

    def send_gmcp_hello(self) -> None:
        """Introduce the bot, and ask for its packages."""
        assert self.writer  # noqa: S101  (there is a connection, which offers GMCP)
        self.writer.send_gmcp("Core.Hello", {"client": "thudmud bot", "version": VERSION})
        self.writer.send_gmcp("Core.Supports.Set", list(PACKAGES))


async def _discard(reader: Any) -> None:
    """Read the text, which is for people, until the connection ends."""
    while await reader.read(_CHUNK):
        pass


def _read_word(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise CommandError(f"{path}: {system_reason(error)}") from error
