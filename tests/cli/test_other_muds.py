"""Transcripts on a foreign MUD: it has a login, a prompt and colours, and is slow."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from thudmud.cli import remote_stage
from thudmud.cli.main import main

Shown = pytest.CaptureFixture[str]
LOGIN = """\
Me? 20s *What is your name*
Me> ${player}
Me? 20s *Password*
Me> sesame of ${player}
Me? 20s Welcome, ${player}.
"""
TALK = """\
Anna+
Bert+
Anna> say Hello!
Anna| You say: Hello!
Bert| Anna says: Hello!
Bert> inventory
Bert| a lamp
Bert| a sword
Anna> say Bye!
Bert? 5s Anna says: *
Bert| Anna says: Bye!
Anna| You say: Bye!
"""


class Mud:
    """A typical MUD: it answers with a short delay and ends its output with a prompt.

    Attributes:
        port: the port it listens on.
        refusal: its answer to an unknown command.
    """

    def __init__(self) -> None:
        self.port = 0
        self.refusal = ["What is that, {}?"]
        self._asks: set[str] = set()
        """Who has been asked whether they are sure."""
        self._here: dict[str, asyncio.StreamWriter] = {}
        self._writers: list[asyncio.StreamWriter] = []
        self._loop = asyncio.new_event_loop()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Mud:
        self._thread.start()
        self._listening.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._meet, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        for writer in self._writers:
            writer.close()
        for _ in range(3):  # tasks, transports and sockets each need a round to close
            self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        writer.write(b"\x1b[1;32mThe Mended Drum\x1b[0m\r\n\r\nWhat is your name? ")
        name = await self._line(reader)
        writer.write(b"Password: ")
        if await self._line(reader) != f"sesame of {name}":
            writer.write(b"No.\r\n")
            writer.close()
            return
        self._here[name] = writer
        self._tell(name, f"Welcome, {name}.")
        while line := await self._line(reader):
            self._loop.call_later(0.02, self._do, name, line)
        del self._here[name]
        writer.close()

    @staticmethod
    async def _line(reader: asyncio.StreamReader) -> str:
        line = b""
        while not line.endswith(b"\n"):
            if not (came := await reader.read(1)):
                return ""
            if came == b"\xff":  # option negotiation
                command = await reader.readexactly(2)
                while command[:1] == b"\xfa" and not command.endswith(b"\xff\xf0"):
                    command += await reader.read(1)
                continue
            line += came
        return line.decode().strip()

    def _do(self, name: str, line: str) -> None:
        verb, _, rest = line.partition(" ")
        if name in self._asks:
            self._asks.discard(name)
            self._tell(name, "The lamp is gone." if line == "y" else "Nothing happens.")
        elif verb == "destroy":
            self._asks.add(name)
            self._here[name].write(f"Destroy {rest}, are you sure? [y/n] ".encode())
        elif verb == "say":
            self._tell(name, f"You say: \x1b[36m{rest}\x1b[0m")
            for other in self._here:
                if other != name:
                    self._tell(other, f"{name} says: \x1b[36m{rest}\x1b[0m")
        elif verb == "inventory":
            self._tell(name, "a lamp")
            self._tell(name, "a sword")
        elif verb == "echo":
            self._tell(name, rest)
        else:
            for each in self.refusal if "deaf" not in line else ["What?"]:
                self._tell(name, each.format(verb))

    def _tell(self, name: str, text: str) -> None:
        if name in self._here:
            self._here[name].write(f"{text}\r\n\x1b[33m(100hp) >\x1b[0m ".encode())


@pytest.fixture
def mud() -> Iterator[Mud]:
    with Mud() as mud:
        yield mud


@pytest.fixture
def script(mud: Mud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("login").write_text(LOGIN, "utf-8")
    Path("talk").write_text(TALK, "utf-8")
    return ["script", "talk", "--connect", f"127.0.0.1:{mud.port}", "--login", "login"]


CLEAN = ["--prompt", r"\(\d+hp\) > ?", "--plain"]


def test_transcript_is_played_on_a_foreign_mud(script: list[str], capsys: Shown) -> None:
    assert main([*script, *CLEAN]) == 0
    assert capsys.readouterr().out == "1 transcript, 3 steps compared: all as expected\n"
    assert main([*script, *CLEAN, "--mark", "echo so far"]) == 0
    text = TALK.replace("a lamp", "a torch")
    Path("talk").write_text(text, "utf-8")
    assert main([*script, *CLEAN]) == 1
    assert "- a torch\n+ a lamp\n" in capsys.readouterr().out


def test_mark_leaves_nothing_of_a_refusal_with_several_lines(mud: Mud, script: list[str]) -> None:
    mud.refusal = ["{}", "^^^^", "", 'There is no command "{}".', '"help" lists the commands.']
    talk = TALK + 'Anna> dance\nAnna| dance\nAnna| ^^^^\nAnna| There is no command "dance".\n'
    Path("talk").write_text(f'{talk}Anna| "help" lists the commands.\nBert> say So.\n', "utf-8")
    assert main([*script, *CLEAN, "--update"]) == 0
    updated = f'{talk}Anna| "help" lists the commands.\nBert> say So.\n'
    updated += "Bert| You say: So.\nAnna| Bert says: So.\n"
    assert Path("talk").read_text("utf-8") == updated


def test_question_is_answered_without_a_mark(script: list[str]) -> None:
    talk = "Anna> destroy lamp\nAnna? 20s *[y/n]*\nAnna> y\nAnna| The lamp is gone.\n"
    Path("talk").write_text(f"{talk}Anna> inventory\nAnna| a lamp\nAnna| a sword\n", "utf-8")
    assert main([*script, *CLEAN]) == 0


def test_prompt_and_colours_are_compared_unless_stripped(script: list[str], capsys: Shown) -> None:
    Path("talk").write_text("Anna> inventory\nAnna| a lamp\nAnna| a sword\n", "utf-8")
    assert main(script) == 1
    assert "+ \x1b[33m(100hp) >\x1b[0m a sword" in capsys.readouterr().out
    assert main([*script, "--plain"]) == 1
    assert "+ (100hp) > a sword" in capsys.readouterr().out


def test_update_writes_the_observed_output(script: list[str]) -> None:
    Path("talk").write_text("Anna+\nBert+\nAnna> say Hello!\nBert> dance\n", "utf-8")
    assert main([*script, *CLEAN, "--update"]) == 0
    assert Path("talk").read_text("utf-8") == (
        "Anna+\nBert+\nAnna> say Hello!\nAnna| You say: Hello!\nBert| Anna says: Hello!\n"
        "Bert> dance\nBert| What is that, dance?\n"
    )
    assert main([*script, *CLEAN, "--strict"]) == 0


def test_failed_login_reports_the_output_seen_instead(script: list[str], capsys: Shown) -> None:
    login = LOGIN.replace("sesame", "open").replace("20s", "2s")
    Path("login").write_text(login, "utf-8")
    assert main([*script, *CLEAN]) == 2
    told = capsys.readouterr().err
    assert told == (
        'thudmud: talk: line 1: Anna waited 2 s for "Welcome, Anna." to log in, but saw: No.\n'
    )


def test_unanswered_mark_is_reported(
    script: list[str], capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_stage, "PATIENCE", 0.5)
    Path("login").write_text(LOGIN.replace("20s", "0.1s"), "utf-8")
    assert main([*script, *CLEAN, "--mark", "deaf"]) == 2
    assert 'line 1: expected "deaf1" within' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--prompt", "x"], "--login: needed for --prompt, --plain and --mark"),
        (["--login", "login"], "--login: only valid with --connect"),
        (["--connect", "h:1", "--login", "none"], "none: no such file"),
        (["--connect", "h:1", "--login", "seen"], "seen: line 1: a login only types and waits"),
        (["--connect", "h:1", "--login", "bad"], "bad: line 1: ${who} has no value here"),
        (
            ["--connect", "h:1", "--login", "login", "--prompt", "("],
            "'(' is not a valid regular expression",
        ),
    ],
)
def test_invalid_combinations_of_options_are_refused(
    words: list[str], problem: str, tmp_path: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("login").write_text(LOGIN, "utf-8")
    Path("seen").write_text("Me> hi\nMe| ho\n", "utf-8")
    Path("bad").write_text("Me> ${who}\n", "utf-8")
    assert main(["script", "talk", *words]) == 2
    assert problem in capsys.readouterr().err
