"""A stage for transcripts on a running server: each player is a telnet connection.

It need not guess how long to wait until all has been seen: a server answers a telnet timing mark
(RFC 860) after all that it has sent before. Another MUD may answer that before it has answered a
line; there a line is typed whose answer has that line in it, by default a word that is no command.
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
from thudmud.script import Seen, StageError, Transcript
from thudmud.script.stages import not_here
from thudmud.script.transcript import Act, filled
from thudmud.views.sentences import PROMPT, SEEKING_PROMPT
from thudmud.views.view import DEFAULT_WIDTH

PATIENCE = 20.0
"""Seconds to wait for an answer before the server counts as stuck."""

MARK = "zzmarkzz"
"""A word that is no command: most MUDs repeat it as they say so."""

PLAYER = "player"
"""The variable that is a player's name where they log in."""

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[()][A-Z0-9])")
_MARK = b"\x00\x06"  # no server sends NUL within a line
_PROMPTS = {each.rstrip() for each in (*PROMPTS, PROMPT, SEEKING_PROMPT)}
_T = TypeVar("_T")
_CHUNK = 65536  # bytes
_MOST_UNREAD = 1 << 24  # bytes; a step that shows more than this is no game of Thud


class RemoteStage:
    """A stage whose players are connected to a server; a context manager."""

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._runner = asyncio.Runner()
        self._players: dict[str, _Player] = {}
        self._words: dict[str, str] = {}  # resume words, of whoever was here
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
        """Let all who are left quit, so that their names are free again; close everything."""
        for who in list(self._players):
            player = self._players.pop(who)
            with suppress(OSError, TimeoutError):
                self._runner.run(_within(PATIENCE, player.quit()))
            self._runner.run(player.close())
        self._runner.close()

    def enter(self, who: str) -> Seen:
        """Connect a player, and give their name."""
        if who in self._players:
            raise StageError(f"{who} is connected already")
        return self._run(self._enter(who), self._login_seconds)

    def type(self, who: str, line: str) -> Seen:
        """Let a player type a line."""
        return self._run(self._type(who, line))

    def vanish(self, who: str) -> Seen:
        """Cut a player's connection."""
        return self._run(self._vanish(who))

    def wait(self, who: str, fits: Callable[[str], bool], seconds: float) -> Seen:
        """Let a player wait until they see a line that fits, or the time is up."""
        return self._run(self._wait(who, fits, seconds), seconds)

    def _run(self, step: Coroutine[None, None, Seen], extra: float = 0) -> Seen:
        """Wait for a step to be played, but not for ever."""
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
        greeting = await player.seen()
        player.type(who)
        seen = await self._seen(first=who)
        if player.is_asked(WORD_PROMPT) and who in self._words:
            player.type(self._words[who])
            seen = await self._seen(first=who)
        if not player.is_in:
            raise StageError(f"{who} is not let in: {' '.join(seen.get(who, greeting))}")
        if player.word:
            self._words[who] = player.word
        return seen

    async def _type(self, who: str, line: str) -> Seen:
        self._player(who).type(line)
        return await self._seen(first=who)

    async def _wait(self, who: str, fits: Callable[[str], bool], seconds: float) -> Seen:
        player = self._player(who)
        with suppress(TimeoutError):
            await _within(seconds, player.until(fits))
        return await self._seen(first=who)

    async def _vanish(self, who: str) -> Seen:
        player = self._player(who)
        del self._players[who]
        await player.hang_up()
        await player.close()
        return await self._seen()

    def _player(self, who: str) -> _Player:
        if who not in self._players:
            raise not_here(who)
        return self._players[who]

    async def _seen(self, first: str | None = None) -> Seen:
        """Return what each has seen since the last time; first comes who did something."""
        everybody = [first] if first else []
        everybody += [who for who in self._players if who != first]
        seen = {who: await self._players[who].seen() for who in everybody}
        for who in everybody:
            if self._players[who].ended:
                await self._players.pop(who).close()
        return {who: lines for who, lines in seen.items() if lines}


async def _within(seconds: float, step: Coroutine[None, None, _T]) -> _T:
    async with asyncio.timeout(seconds):
        return await step


class _Player:
    """One connection of a player, with the resume word that was told on it, if any."""

    def __init__(self, reader: telnetlib3.TelnetReader, writer: telnetlib3.TelnetWriter) -> None:
        self.ended = False
        self.word = ""
        self._prompt = ""
        self._has_typed = False  # since the last time that anything was seen
        self._text = b""  # read already while waiting, and not yet seen
        self._reader, self._writer = reader, writer
        # The answer to a timing mark is put among the text, where it came.
        writer.set_iac_callback(telopt.TM, lambda _cmd: reader.feed_data(_MARK))
        # Transcripts are in ASCII, as things are shown without a terminal.
        writer.set_ext_send_callback(telopt.CHARSET, lambda _offered: "")

    @classmethod
    async def connect(cls, host: str, port: int) -> Self:
        """Connect to a server; raises OSError if it is not there."""
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

    async def seen(self) -> list[str]:
        """Return the lines that have come since the last time, without prompts and empty lines."""
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
        if self._has_typed:  # on the line of a prompt that stood there, if it was not yet seen
            lines = [line if _is_left_out(line) else _unprompted(line) for line in lines]
            self._has_typed = False
        # A prompt stands at the end, or by itself on a line that something else has ended.
        return [line.rstrip() for line in lines if line.strip() and not _is_left_out(line)]

    async def until(self, fits: Callable[[str], bool]) -> None:
        """Wait for a line that fits, or the end; `seen` still returns what comes by then."""
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
    def is_in(self) -> bool:
        """Whether the player is asked for commands."""
        return not self.ended and (self.is_asked(PROMPT) or self.is_asked(SEEKING_PROMPT))

    def is_asked(self, prompt: str) -> bool:
        """Whether this was the last thing that the server asked."""
        return self._prompt == prompt

    async def quit(self) -> None:
        """Leave for good, and wait until the server has closed the connection."""
        if not self.is_in:
            return
        self.type("quit")
        while await self._reader.read(_CHUNK):
            pass

    async def hang_up(self) -> None:
        """End the connection, and wait until the server has taken notice and done the same."""
        self._writer.write_eof()
        while await self._reader.read(_CHUNK):
            pass

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


@dataclass(frozen=True, slots=True)
class OtherMud:
    """What there is to know of a MUD that is not ours.

    Attributes:
        login: what a player types, and waits for, to come in.
        prompt: what may stand at the beginning of a line, and is no part of it.
        plain: whether colours are taken off.
        mark: a line whose answer has the last word of it, with a number behind, in it.
    """

    login: Transcript
    prompt: re.Pattern[str] | None = None
    plain: bool = False
    mark: str = MARK

    def lines(self, text: bytes) -> list[str]:
        """Return the lines of what a player was sent, without empty ones."""
        shown = text.decode("utf-8", "replace").replace("\r", "")
        lines = (_ANSI.sub("", shown) if self.plain else shown).split("\n")
        return [line for each in lines if (line := self._without_prompt(each).rstrip())]

    def _without_prompt(self, line: str) -> str:
        while self.prompt and (found := self.prompt.match(line)) and found.end():
            line = line[found.end() :]
        return line


class OtherMudStage(RemoteStage):
    """A stage whose players are connected to a MUD that is not ours; a context manager."""

    def __init__(self, host: str, port: int, mud: OtherMud) -> None:
        super().__init__(host, port)
        self._mud = mud
        waits = [step for step in mud.login.steps if step.act is Act.WAIT]
        self._login_seconds = sum(step.seconds for step in waits)

    async def _enter(self, who: str) -> Seen:
        player = self._players[who] = await _Stranger.to(self._address, self._mud)
        for step in self._mud.login.steps:
            if step.act is Act.WAIT:
                pattern = step.awaited.pattern({PLAYER: who})
                if not await player.comes_to(pattern.fits, step.seconds):
                    waited = f'{who} waited {step.seconds:g} s for "{pattern.text}" to log in'
                    raise StageError(f"{waited}, but saw: {player.shown or 'nothing'}")
            elif step.act is Act.TYPE:
                player.type(filled(step.text, {PLAYER: who}))
        return await self._seen(first=who)

    def _run(self, step: Coroutine[None, None, Seen], extra: float = 0) -> Seen:
        """Wait for a step to be played, but not for ever."""
        try:
            return super()._run(step, extra)
        except StageError as error:
            waiting = [each.mark for each in self._strangers() if each.is_marked]
            if not (waiting and isinstance(error.__cause__, TimeoutError)):
                raise
            told = f'nothing with "{waiting[0]}" in it came within {PATIENCE:g} seconds; see --mark'
            raise StageError(told) from error

    def _strangers(self) -> list[_Stranger]:
        return [each for each in self._players.values() if isinstance(each, _Stranger)]


class _Stranger(_Player):
    """One connection of a player to another MUD."""

    mud: OtherMud
    mark = ""  # that was typed last
    is_marked = False  # and has not been answered
    _marks = 0

    @classmethod
    async def to(cls, address: tuple[str, int], mud: OtherMud) -> Self:
        """Connect to a MUD; raises OSError if it is not there."""
        player = await cls.connect(*address)
        player.mud = mud
        return player

    @property
    def shown(self) -> str:
        """What has come and is not yet seen, in one line."""
        return " / ".join(self.mud.lines(self._text))

    async def comes_to(self, fits: Callable[[str], bool], seconds: float) -> bool:
        """Wait until a line has come that fits, of which nothing is seen; return whether it has."""
        with suppress(TimeoutError):
            await _within(seconds, self.until(fits))
        has_come = any(map(fits, self.mud.lines(self._text)))
        self._text = b"" if has_come else self._text
        return has_come

    async def until(self, fits: Callable[[str], bool]) -> None:
        """Wait for a line that fits, even if its end has not come; `seen` returns all of it."""
        while not self.ended and not any(map(fits, self.mud.lines(self._text))):
            await self._read()

    async def seen(self) -> list[str]:
        """Return the lines that have come since the last time, up to the answer to a mark."""
        self._marks += 1
        self.mark = f"{self.mud.mark.split()[-1]}{self._marks}"
        word, self.is_marked = self.mark.encode(), True
        if not self._writer.is_closing():
            self.type(f"{self.mud.mark}{self._marks}")
        while not self.ended and b"\n" not in self._text.partition(word)[2]:
            await self._read()
        self.is_marked = False
        before, found, after = self._text.partition(word)
        self._text = after.partition(b"\n")[2]
        return self.mud.lines(before.rpartition(b"\n")[0] if found else before)

    async def _read(self) -> None:
        came = await self._reader.read(_CHUNK)
        self.ended = not came
        self._text += came

    async def quit(self) -> None:
        """Leave: to hang up is enough."""

    async def hang_up(self) -> None:
        """End the connection: `close` does that."""


def _is_left_out(line: str) -> bool:
    """Whether a line has no place in transcripts: a prompt, or a word that is new each time."""
    return line.rstrip() in {*_PROMPTS, KEEP_WORD, BACK_WORD} or bool(TOLD_WORD.fullmatch(line))


def _unprompted(line: str) -> str:
    """Return a line without the prompt before it."""
    return line.removeprefix(SEEKING_PROMPT).removeprefix(PROMPT)
