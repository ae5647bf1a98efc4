"""Stage for transcripts on a running server, with one telnet connection per player.

The end of a step's output is found without guessing a delay. Our server answers a telnet timing
mark (RFC 860) after all output that precedes it. Another MUD may answer the mark before it has
answered a line. For such a MUD, a line is typed whose answer repeats it, by default a word that is
no command.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

import telnetlib3
from telnetlib3 import telopt

from thudmud.accounts.login import BACK_WORD, KEEP_WORD, PROMPTS, TOLD_WORD, WORD_PROMPT
from thudmud.immutable import immutable
from thudmud.script import Seen, StageError, Transcript
from thudmud.script.stages import not_entered_error
from thudmud.script.transcript import Act, substitute
from thudmud.views.sentences import PROMPT, SEEKING_PROMPT
from thudmud.views.view import DEFAULT_WIDTH

PATIENCE = 20.0
"""Seconds to wait for an answer before the server is considered stuck."""

MARK = "zzmarkzz"
"""A word that is no command; most MUDs repeat it in their error message."""

PLAYER = "player"
"""Variable with the player's name in a login transcript."""

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[()][A-Z0-9])")
_MARK = b"\x00\x06"  # no server sends NUL within a line
_PROMPTS = {each.rstrip() for each in (*PROMPTS, PROMPT, SEEKING_PROMPT)}
_T = TypeVar("_T")
_CHUNK = 65536  # bytes
_MOST_UNREAD = 1 << 24  # bytes; far above the output of any step


class RemoteStage:
    """Stage whose players are connected to a running server; a context manager."""

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._runner = asyncio.Runner()
        self._players: dict[str, _Player] = {}
        self._words: dict[str, str] = {}  # resume words by player, including earlier players
        self._login_seconds = 0.0

    def __enter__(self) -> Self:
        """Return the stage."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Quit with all remaining players, so that their names are free; close all connections."""
        for who in list(self._players):
            player = self._players.pop(who)
            with suppress(OSError, TimeoutError):
                self._runner.run(_within(PATIENCE, player.quit()))
            self._runner.run(player.close())
        self._runner.close()

    def enter(self, who: str) -> Seen:
        """Connect a player and log in by name."""
        if who in self._players:
            raise StageError(f"{who} is already connected")
        return self._run(self._enter(who), self._login_seconds)

    def type(self, who: str, line: str) -> Seen:
        """Type a line as a player."""
        return self._run(self._type(who, line))

    def vanish(self, who: str) -> Seen:
        """Close a player's connection without quitting."""
        return self._run(self._vanish(who))

    def wait(self, who: str, fits: Callable[[str], bool], seconds: float) -> Seen:
        """Wait until a player receives a line that fits, or the time is up."""
        return self._run(self._wait(who, fits, seconds), seconds)

    def _run(self, step: Coroutine[None, None, Seen], extra: float = 0) -> Seen:
        """Run a step with a time limit of `PATIENCE` plus extra seconds."""
        try:
            return self._runner.run(_within(PATIENCE + extra, step))
        except TimeoutError as error:
            raise StageError(f"no answer within {PATIENCE:g} seconds") from error
        except OSError as error:
            host, port = self._address
            raise StageError(f"nothing answers at {host}:{port}: {error}") from error

    async def _enter(self, who: str) -> Seen:
        player = await _Player.connect(*self._address)
        self._players[who] = player
        greeting = await player.read_new_lines()
        player.type(who)
        seen = await self._collect_new_lines(first=who)
        if player.has_prompt(WORD_PROMPT) and who in self._words:
            player.type(self._words[who])
            seen = await self._collect_new_lines(first=who)
        if not player.is_logged_in:
            raise StageError(f"{who} could not log in: {' '.join(seen.get(who, greeting))}")
        if player.word:
            self._words[who] = player.word
        return seen

    async def _type(self, who: str, line: str) -> Seen:
        self._player(who).type(line)
        return await self._collect(who)

    async def _wait(self, who: str, fits: Callable[[str], bool], seconds: float) -> Seen:
        player = self._player(who)
        with suppress(TimeoutError):
            await _within(seconds, player.read_until(fits))
        return await self._collect(who)

    async def _collect(self, who: str) -> Seen:
        """Return the output after a step of a player."""
        return await self._collect_new_lines(first=who)

    async def _vanish(self, who: str) -> Seen:
        player = self._player(who)
        del self._players[who]
        await player.hang_up()
        await player.close()
        return await self._collect_new_lines()

    def _player(self, who: str) -> _Player:
        if who not in self._players:
            raise not_entered_error(who)
        return self._players[who]

    async def _collect_new_lines(self, first: str | None = None) -> Seen:
        """Return each player's new lines, beginning with the player who acted."""
        everybody = [first] if first else []
        everybody += [who for who in self._players if who != first]
        seen = {who: await self._players[who].read_new_lines() for who in everybody}
        for who in everybody:
            if self._players[who].ended:
                await self._players.pop(who).close()
        return {who: lines for who, lines in seen.items() if lines}


async def _within(seconds: float, step: Coroutine[None, None, _T]) -> _T:
    async with asyncio.timeout(seconds):
        return await step


class _Player:
    """A player's connection to our server.

    Attributes:
        ended: whether the server has closed the connection.
        word: resume word received on the connection; "" before it.
    """

    def __init__(self, reader: telnetlib3.TelnetReader, writer: telnetlib3.TelnetWriter) -> None:
        self.ended = False
        self.word = ""
        self._prompt = ""
        self._has_typed = False  # since the last call of `read_new_lines`
        # Text that `read_until` has read and `read_new_lines` has not yet returned.
        self._text = b""
        self._reader, self._writer = reader, writer
        # Insert the answer to a timing mark into the text at the place where it arrived.
        writer.set_iac_callback(telopt.TM, lambda _cmd: reader.feed_data(_MARK))
        # Refuse UTF-8: transcripts are in ASCII, the server's output without a terminal.
        writer.set_ext_send_callback(telopt.CHARSET, lambda _offered: "")

    @classmethod
    async def connect(cls, host: str, port: int) -> Self:
        """Connect to a server.

        Raises:
            OSError: no server accepts the connection.
        """
        reader, writer = await telnetlib3.open_connection(
            host,
            port,
            client_factory=telnetlib3.TelnetClient,
            encoding=False,
            connect_maxwait=0,
            cols=DEFAULT_WIDTH,
            limit=_MOST_UNREAD,
        )
        return cls(reader, writer)

    def type(self, line: str) -> None:
        """Send a line."""
        self._has_typed = True
        self._writer.write(line.encode() + b"\r\n")

    async def read_new_lines(self) -> list[str]:
        """Return the lines received since the last call, without prompts and empty lines."""
        if not self._writer.is_closing():
            self._writer.iac(telopt.DO, telopt.TM)
        try:
            rest = await self._reader.readuntil(_MARK)
        except asyncio.IncompleteReadError as end:
            rest, self.ended = end.partial, True
        text, self._text = self._text + rest, b""
        lines = text.removesuffix(_MARK).decode("utf-8", "replace").split("\r\n")
        self._prompt = lines[-1] or self._prompt
        for line in lines:
            if told := TOLD_WORD.fullmatch(line):
                self.word = told[1]
        if self._has_typed:  # the typed line may have followed an unread prompt on the same line
            lines = [line if _is_left_out(line) else _unprompted(line) for line in lines]
            self._has_typed = False
        # A prompt is at the end, or alone on a line if further output followed it.
        return [line.rstrip() for line in lines if line.strip() and not _is_left_out(line)]

    async def read_until(self, fits: Callable[[str], bool]) -> None:
        """Wait for a line that fits, or for EOF; `read_new_lines` still returns the others."""
        line = ""
        while not line or _is_left_out(line) or not fits(line):
            try:
                came = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                self._text += end.partial
                return
            self._text += came
            line = came.decode("utf-8", "replace").rstrip()

    @property
    def is_logged_in(self) -> bool:
        """Whether the player is logged in, shown by a prompt for commands."""
        return not self.ended and (self.has_prompt(PROMPT) or self.has_prompt(SEEKING_PROMPT))

    def has_prompt(self, prompt: str) -> bool:
        """Return whether this was the server's last prompt."""
        return self._prompt == prompt

    async def quit(self) -> None:
        """Quit, and wait until the server has closed the connection."""
        if not self.is_logged_in:
            return
        self.type("quit")
        while await self._reader.read(_CHUNK):
            pass

    async def hang_up(self) -> None:
        """Shut down the sending side, and wait until the server has closed the connection."""
        self._writer.write_eof()
        while await self._reader.read(_CHUNK):
            pass

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


@immutable
@dataclass(frozen=True, slots=True)
class OtherMud:
    """Description of a MUD other than thudmud.

    Attributes:
        login: transcript of a login.
        prompt: pattern to remove from the beginning of lines; None for none.
        is_plain: whether to remove colours.
        mark: line whose answer repeats its last word; a number is appended each time.
    """

    login: Transcript
    prompt: re.Pattern[str] | None = None
    is_plain: bool = False
    mark: str = MARK

    def lines(self, text: bytes) -> list[str]:
        """Split received text into lines, without empty ones, prompts and unwanted colours."""
        shown = text.decode("utf-8", "replace").replace("\r", "")
        lines = (_ANSI.sub("", shown) if self.is_plain else shown).split("\n")
        return [line for each in lines if (line := self._without_prompt(each).rstrip())]

    def _without_prompt(self, line: str) -> str:
        while self.prompt and (found := self.prompt.match(line)) and found.end():
            line = line[found.end() :]
        return line


class OtherMudStage(RemoteStage):
    """Stage whose players are connected to another MUD; a context manager.

    Attributes:
        may_mark: see `MarkingStage`.
    """

    def __init__(self, host: str, port: int, mud: OtherMud) -> None:
        super().__init__(host, port)
        self.may_mark = True
        self._mud = mud
        waits = [step for step in mud.login.steps if step.act is Act.WAIT]
        self._login_seconds = sum(step.seconds for step in waits)

    async def _enter(self, who: str) -> Seen:
        player = self._players[who] = await _Stranger.to(self._address, self._mud)
        for step in self._mud.login.steps:
            if step.act is Act.WAIT:
                pattern = step.awaited.pattern({PLAYER: who})
                if not await player.wait_for_line(pattern.is_match, step.seconds):
                    waited = f'{who} waited {step.seconds:g} s for "{pattern.text}" to log in'
                    raise StageError(f"{waited}, but saw: {player.unread_text or 'nothing'}")
            elif step.act is Act.TYPE:
                player.type(substitute(step.text, {PLAYER: who}))
        await player.measure_mark()
        return await self._collect_new_lines(first=who)

    async def _collect(self, who: str) -> Seen:
        """Return the output after a step; what has come so far if no mark may be typed."""
        if self.may_mark:
            return await super()._collect(who)
        player = self._player(who)
        lines = player.take_lines() if isinstance(player, _Stranger) else []
        return {who: lines} if lines else {}

    def _run(self, step: Coroutine[None, None, Seen], extra: float = 0) -> Seen:
        """Run a step with a time limit; a time-out names the mark that was not answered."""
        try:
            return super()._run(step, extra)
        except StageError as error:
            waiting = [each.mark for each in self._strangers() if each.is_marked]
            if not (waiting and isinstance(error.__cause__, TimeoutError)):
                raise
            told = f'expected "{waiting[0]}" within {PATIENCE:g} seconds; see --mark'
            raise StageError(told) from error

    def _strangers(self) -> list[_Stranger]:
        return [each for each in self._players.values() if isinstance(each, _Stranger)]


class _Stranger(_Player):
    """A player's connection to another MUD."""

    mud: OtherMud
    mark = ""  # the last word of the mark whose answer is read
    is_marked = False  # whether its answer is pending
    _marks = 0
    _rest = 0
    """The number of lines in the answer to a mark after the one that repeats it."""

    @classmethod
    async def to(cls, address: tuple[str, int], mud: OtherMud) -> Self:
        """Connect to a MUD.

        Raises:
            OSError: no server accepts the connection.
        """
        player = await cls.connect(*address)
        player.mud = mud
        return player

    @property
    def unread_text(self) -> str:
        """Text received but not yet returned by `read_new_lines`, in one line."""
        return " / ".join(self.mud.lines(self._text))

    async def wait_for_line(self, fits: Callable[[str], bool], seconds: float) -> bool:
        """Wait for a line that fits; return whether it has arrived, and then discard the text."""
        with suppress(TimeoutError):
            await _within(seconds, self.read_until(fits))
        has_come = any(map(fits, self.mud.lines(self._text)))
        self._text = b"" if has_come else self._text
        return has_come

    async def read_until(self, fits: Callable[[str], bool]) -> None:
        """Wait for a line that fits, perhaps incomplete; `read_new_lines` returns the text read."""
        while not self.ended and not any(map(fits, self.mud.lines(self._text))):
            await self._read()

    def take_lines(self) -> list[str]:
        """Return the lines received since the last call, perhaps with an incomplete one."""
        text, self._text = self._text, b""
        return self.mud.lines(text)

    async def measure_mark(self) -> None:
        """Find out how many lines the answer to a mark has: that of our own refusal has three.

        Three marks are typed in a row. What the server says by itself may come between two of them,
        so the shorter of the two answers counts.
        """
        text = self._text
        marks = [self._type_mark() for _ in range(3)]
        between = [await self._read_to(mark) for mark in marks]
        self._rest = min(len(self.mud.lines(each)) for each in between[1:])
        await self._read_rest()
        self._text = text + between[0] + self._text
        self.is_marked = False

    async def read_new_lines(self) -> list[str]:
        """Type a mark; return the lines received since the last call, up to its answer."""
        before = await self._read_to(self._type_mark())
        await self._read_rest()
        self.is_marked = False
        return self.mud.lines(before)

    def _type_mark(self) -> bytes:
        """Type the next mark, and return it."""
        self._marks += 1
        if not self._writer.is_closing():
            self.type(f"{self.mud.mark}{self._marks}")
        return f"{self.mud.mark.split()[-1]}{self._marks}".encode()

    async def _read_to(self, mark: bytes) -> bytes:
        """Read the line that repeats a mark; return the text before that line."""
        self.mark, self.is_marked = mark.decode(), True
        while not self.ended and b"\n" not in self._text.partition(mark)[2]:
            await self._read()
        before, found, after = self._text.partition(mark)
        self._text = after.partition(b"\n")[2]
        return before.rpartition(b"\n")[0] if found else before

    async def _read_rest(self) -> None:
        """Read the other lines of the answer to a mark, and drop them."""
        while not self.ended and len(self.mud.lines(self._whole_lines())) < self._rest:
            await self._read()
        for _ in range(self._rest):
            while self._text and not self.mud.lines(self._text.partition(b"\n")[0]):
                self._text = self._text.partition(b"\n")[2]
            self._text = self._text.partition(b"\n")[2]

    def _whole_lines(self) -> bytes:
        return self._text.rpartition(b"\n")[0]

    async def _read(self) -> None:
        came = await self._reader.read(_CHUNK)
        self.ended = not came
        self._text += came

    async def quit(self) -> None:
        """Do nothing: closing the connection is enough."""

    async def hang_up(self) -> None:
        """Do nothing: `close` ends the connection."""


def _is_left_out(line: str) -> bool:
    """Return whether to leave a line out of transcripts: a prompt, or a random resume word."""
    return line.rstrip() in {*_PROMPTS, KEEP_WORD, BACK_WORD} or bool(TOLD_WORD.fullmatch(line))


def _unprompted(line: str) -> str:
    """Remove a prompt from the beginning of a line."""
    return line.removeprefix(SEEKING_PROMPT).removeprefix(PROMPT)
