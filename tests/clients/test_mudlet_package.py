"""The Mudlet package, run in Lua 5.1 against `mudlet_api.lua`, a stub of Mudlet's API.

The package exchanges messages with a real server.
"""

from __future__ import annotations

import io
import random
import re
import subprocess
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which

import httpx
import pytest

from tests.clients.conftest import Served
from tests.clients.mudlet import Mudlet
from tests.clients.wire import DO, GMCP, IAC, SB, SE, Wire
from thudmud.rules import RULESETS, Game, Move, Square
from thudmud.version import VERSION
from thudmud.views.data import position_rows
from thudmud.web.mpackage import mpackage

API = Path(__file__).parent / "mudlet_api.lua"
SCRIPTS = sorted((Path(__file__).parents[2] / "thudmud" / "web" / "mudlet").glob("*.lua"))
LUA, LUAC = which("lua5.1") or "lua5.1", which("luac5.1") or "luac5.1"
"""Mudlet's own version of it; `make clients` installs both."""
BOARD = "panel board"
SIZE = 15
PLIES = 40


def lua(value: object) -> str:
    """Return a JSON value as a Lua literal, the way Mudlet's parser converts it."""
    match value:
        case None:
            return "yajl.null"
        case bool():
            return str(value).lower()
        case str():
            return '"' + "".join(f"\\{byte:03}" for byte in value.encode()) + '"'
        case list():
            return "{" + ",".join(map(lua, value)) + "}"
        case dict():
            return "{" + ",".join(f"[{lua(key)}]={lua(each)}" for key, each in value.items()) + "}"
    return repr(value)


class Panel(Mudlet):
    """A fake Mudlet that runs the package.

    Args:
        port: the server's port.
        folder: the folder to unpack the package into.
        reader: whether "Advertise screen reader use" is ticked.
    """

    def __init__(self, port: str, folder: Path, *, reader: bool = False) -> None:
        self._lua = subprocess.Popen(
            [LUA, API], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._folder, self._heard = folder, 0
        self.is_installed = False
        super().__init__(port, reader=reader)
        self.run(f"reader = {lua(reader)}")

    def close(self) -> None:
        """Close the connection and end the Lua process."""
        super().close()
        self._lua.communicate()

    def run(self, code: str) -> str:
        """Run a line of Lua; return its result as text."""
        assert self._lua.stdin
        assert self._lua.stdout
        self._lua.stdin.write(code + "\n")
        self._lua.stdin.flush()
        lines = []
        while (line := self._lua.stdout.readline()) != ".\n":
            assert line, "Lua has ended"
            lines.append(line)
        text = "".join(lines)[:-1]
        assert not text.startswith("error: "), text
        return text

    def install(self) -> None:
        """Download and run the offered package, as Mudlet does."""
        data = self.until_heard("Client.GUI")
        assert isinstance(data, dict)
        self.run_package(httpx.get(data["url"]).raise_for_status().content)

    def run_package(self, package: bytes) -> None:
        """Run the scripts of a package."""
        with zipfile.ZipFile(io.BytesIO(package)) as archive:
            root = ET.fromstring(archive.read("thudmud.xml"))  # noqa: S314  (our own)
        for script in root.iter("Script"):
            path = self._folder / "script.lua"
            path.write_text(script.findtext("script") or "", "utf-8")
            self.run(f"dofile({lua(str(path))})")
        self.is_installed = True

    def pump(self) -> list[str]:
        """Pass new GMCP messages to the package and send its output; return the lines sent."""
        heard = self.heard
        for name, data in heard[self._heard :] if self.is_installed else ():
            self.run(f"hear({lua(name)}, {lua(data)})")
        self._heard = len(heard)
        outgoing = self.run("return outgoing()").split("\n") if self.is_installed else [""]
        for each in outgoing:
            kind, _, text = each.partition(" ")
            if kind == "line":
                self.send(text.encode() + b"\r\n")
            elif kind == "gmcp":
                self.send(bytes([IAC, SB, GMCP]) + text.encode() + bytes([IAC, SE]))
        return [each for each in outgoing if each.startswith("line ")]

    def until_shown(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait until a condition on the panel holds."""

        def is_done() -> bool:
            self.pump()
            return is_so()

        self.wait(is_done, what)

    def click(self, *names: str) -> list[str]:
        """Click labels by name; return the lines sent by the package."""
        for name in names:
            self.run(f"click({lua(name)})")
        return [each.removeprefix("line ") for each in self.pump()]

    def press(self, words: str) -> list[str]:
        """Click a button or a row by its text; return the lines sent by the package."""
        (name,) = (name for name, (_, text) in self.labels.items() if text == words)
        return self.click(name)

    @property
    def labels(self) -> dict[str, tuple[str, str]]:
        """Style and text of the visible labels, by name."""
        lines = self.run("return shown()").splitlines()
        return {name: (css, text) for name, css, text in (line.split("\t") for line in lines)}

    @property
    def texts(self) -> str:
        """The text of the panel, except for the board."""
        return "\n".join(text for name, (_, text) in self.labels.items() if len(name) > 3)

    @property
    def rows(self) -> list[str]:
        """The displayed board in the format of `Thud.Board`."""
        labels = self.labels
        columns = "ABCDEFGHIJKLMNO"
        return [
            "".join(
                (labels[square][1] or ".") if (square := f"{column}{row}") in labels else " "
                for column in columns
            )
            for row in range(1, SIZE + 1)
        ]

    @property
    def marks(self) -> dict[str, str]:
        """The kind of mark on each marked square."""
        found = {}
        for name, (css, _) in self.labels.items():
            if re.fullmatch(r"[A-O]\d+", name):
                if "border: 3px" in css:
                    found[name] = "chosen" if "#f0907c" in css else "ring"
                elif "#1f6f43" in css:
                    found[name] = "dot"
        return found


@pytest.fixture
def panel(served: Served, tmp_path: Path) -> Iterator[Callable[..., Panel]]:
    """Start fake Mudlets with the package and a logged-in player; closes them at the end."""
    started: list[Panel] = []

    def start(name: str, *, reader: bool = False, late: bool = False) -> Panel:
        player = Panel(served.port, tmp_path, reader=reader)
        started.append(player)
        player.until("What is your name? ")
        if not late:
            player.install()
            player.pump()
        player.type(name)
        player.until("You come into the hall.")
        return player

    yield start
    for each in started:
        each.send(b"quit\r\n")
        each.until_closed()
        each.close()


@pytest.mark.parametrize("path", [*SCRIPTS, API], ids=lambda path: str(path.name))
def test_scripts_compile_with_lua(path: Path) -> None:
    subprocess.run([LUAC, "-p", path], check=True)


def test_package_has_the_mudlet_format(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(mpackage())) as archive:
        assert archive.namelist() == ["config.lua", "thudmud.xml"]
        archive.extractall(tmp_path)
    said = subprocess.run(
        [LUA, "-e", "dofile('config.lua') print(mpackage, version)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.split() == ["thudmud", VERSION]
    root = ET.parse(tmp_path / "thudmud.xml").getroot()  # noqa: S314  (our own)
    assert (root.tag, root.attrib) == ("MudletPackage", {"version": "1.001"})
    codes = [each.text for each in root.iter("script")]
    assert sorted(map(str, codes)) == sorted(path.read_text("utf-8") for path in SCRIPTS)
    assert all(each.get("isActive") == "yes" for each in root.iter("Script"))


def test_package_build_is_reproducible() -> None:
    assert mpackage() == mpackage.__wrapped__()
    with zipfile.ZipFile(io.BytesIO(mpackage())) as archive:
        assert {each.date_time for each in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_package_is_announced_to_mudlet_only(served: Served) -> None:
    player, other = Mudlet(served.port), Wire(served.port)
    told = player.until_heard("Client.GUI")
    assert isinstance(told, dict)
    assert told["version"] == VERSION
    got = httpx.get(told["url"])
    assert told["url"].endswith("/thudmud.mpackage")
    assert (got.headers["content-type"], got.content) == ("application/zip", mpackage())
    other.send(bytes([IAC, DO, GMCP]))
    hello = b'Core.Hello {"client": "Blightmud"}'
    other.send(bytes([IAC, SB, GMCP]) + hello + bytes([IAC, SE]))
    other.send(bytes([IAC, SB, GMCP]) + b"Core.Ping" + bytes([IAC, SE]))
    other.until_told(SB, GMCP, b"Core.Ping")
    assert not [each for each in other.commands if b"Client.GUI" in each]
    assert len([name for name, _ in player.heard if name == "Client.GUI"]) == 1
    player.close()
    other.close()


def targets(game: Game, origin: Square) -> set[str]:
    """Return the squares that a piece can reach, except for its own."""
    to = {each.target for each in game.legal_moves() if each.origin == origin}
    return {str(square) for square in to - {origin}}


def play(player: Panel, board: str, game: Game, chance: random.Random) -> Move:
    """Play a random ply by clicks, preferring those with the most captures."""
    moves = [each for each in game.legal_moves() if each.target != each.origin]
    most = max(len(each.captures) for each in moves)
    move = chance.choice([each for each in moves if len(each.captures) >= most - most % 2])
    wanted = list(map(str, move.captures))
    player.click(str(move.origin))
    player.until_shown(lambda: bool(player.marks), f"what {move.origin} can do")
    assert set(player.marks) == targets(game, move.origin)
    lines = player.click(str(move.target))
    for _ in range(30):
        if lines:
            break
        marks = player.marks  # the captures have to be chosen
        taken = [each for each, mark in marks.items() if mark == "chosen"]
        spare = [each for each in taken if each not in wanted]
        missing = [each for each in wanted if each not in taken]
        lines = player.click((spare + missing + [str(move.target)])[0])
    (line,) = lines
    assert line.endswith(f" on {board}")
    return move


@pytest.mark.parametrize("rules", RULESETS)
def test_game_is_played_by_clicks(panel: Callable[..., Panel], rules: str) -> None:
    player, chance = panel(f"clicks{rules[0]}"), random.Random(7)  # noqa: S311  (not for secrets)
    player.type(f"practice {rules} on {BOARD}")
    game = Game.start(RULESETS[rules])
    player.until_shown(lambda: "your turn, dwarfs" in player.texts, "the battle")
    several = 0
    for _ in range(PLIES):
        move = play(player, BOARD, game, chance)
        several += len(move.captures) > 1
        game = game.play(move)
        if game.outcome:
            break
        turn = f"your turn, {game.turn.plural}"
        player.until_shown(lambda turn=turn: turn in player.texts, turn)  # type: ignore[misc]
        assert not player.marks
        assert player.rows == position_rows(game.position)
    assert several or rules == "classic"
    player.run('thudmud.ask("look")')
    told = len([name for name, _ in player.heard if name == "Thud.Board"])
    player.until_shown(
        lambda: len([name for name, _ in player.heard if name == "Thud.Board"]) > told, "it whole"
    )
    board = player.until_heard("Thud.Board")
    assert isinstance(board, dict)
    assert player.rows == board["rows"]


def test_timed_match_from_seek_to_resignation(panel: Callable[..., Panel]) -> None:
    anna, bert = panel("clickanna"), panel("clickbert")
    bert.type("seek discworld 10+5 as troll unrated")
    wanted = "<u>Clickbert seeks: discworld, 10+5, as trolls, casual</u>"
    anna.until_shown(lambda: wanted in anna.texts, "the seek")
    bert.until_shown(lambda: "You seek: discworld" in bert.texts, "his own seek")
    (line,) = anna.press(wanted)
    assert re.fullmatch(r"accept \d+", line)
    for player, turn in ((anna, "your turn, dwarfs."), (bert, "dwarfs to move.")):
        player.until_shown(lambda player=player, turn=turn: turn in player.texts, turn)  # type: ignore[misc]
        assert "You seek" not in player.texts
    strip = anna.labels["dwarf"][1].split(" &middot; ")
    assert strip[:2] == ["&#9654; <b>Clickanna</b> (you)", "dwarfs"]
    assert strip[2:] == ["32 left", "32 points", "10:00"]  # not before the first move
    anna.click("F1")
    anna.until_shown(lambda: "F6" in anna.marks, "where it can go")
    assert not bert.marks
    assert bert.click("G7") == []  # not his turn
    anna.click("F6")
    bert.until_shown(lambda: "your turn, trolls." in bert.texts, "his turn")
    bert.run("pass(37)")  # the time of the first move is 30 seconds
    assert bert.labels["troll"][1].endswith("<b>09:53</b>")
    assert re.search(r" 10:0[45]$", bert.labels["dwarf"][1])

    assert anna.press("Undo") == []
    assert "Your opponent has to agree." in anna.texts
    (line,) = anna.press("Undo")
    bert.until_shown(lambda: "row_1" in bert.labels, "the offer")
    assert bert.labels["row_1"][1] == "<u>Dwarfs offer to take back the last move.</u>"
    (line,) = bert.click("no_1")
    anna.until_shown(lambda: "row_1" not in anna.labels, "the refusal")

    (line,) = bert.press("Resign")
    assert line.startswith("resign on ")
    bert.until_shown(lambda: "Really resign the battle?" in bert.texts, "the question")
    assert bert.press("No") == ["no"]
    assert "Really resign the battle?" not in bert.texts
    bert.press("Resign")
    bert.until_shown(lambda: "Really resign the battle?" in bert.texts, "the question again")
    assert bert.press("Resign") == ["yes"]
    anna.until_shown(lambda: "you win by resignation" in anna.texts, "the end")
    bert.until_shown(lambda: "Clickanna wins by resignation" in bert.texts, "the end")
    anna.until_shown(lambda: "Begin" in anna.texts, "the second battle")

    anna.press("Begin")
    bert.until_shown(lambda: "row_1" in bert.labels, "the offer of the second battle")
    (line,) = bert.click("row_1")
    assert re.fullmatch(r"start on \w+ board", line)
    anna.until_shown(lambda: "Resign" in anna.texts, "the second battle, begun")
    anna.press("Resign")
    anna.until_shown(lambda: "Really resign the battle?" in anna.texts, "the question")
    anna.press("Resign")
    bert.until_shown(lambda: "you win by resignation" in bert.texts, "the end of the match")
    bert.press("Begin")
    anna.until_shown(lambda: "row_1" in anna.labels, "the rematch")
    assert anna.labels["row_1"][1] == "<u>Dwarfs offer a rematch.</u>"
    (line,) = anna.click("row_1")
    assert re.fullmatch(r"start on \w+ board", line)
    bert.until_shown(lambda: "Resign" in bert.texts, "the rematch, begun")


def test_clicks_are_ignored_during_other_prompts(panel: Callable[..., Panel]) -> None:
    player = panel("clickasked")
    player.type(f"practice discworld on {BOARD}")
    player.until_shown(lambda: "your turn" in player.texts, "the battle")
    player.type("register")
    player.until_shown(lambda: bool(player.run("return thudmud.state().prompt.hidden")), "a word")
    player.until("New password: ")
    player.until_shown(
        lambda: player.run("return thudmud.state().prompt.asks") == "new_password", "the question"
    )
    assert player.click("F1") == []
    player.type("")  # cancels
    player.until_shown(
        lambda: player.run("return thudmud.state().prompt.asks") == "command", "the end of it"
    )
    player.click("F1")
    player.until_shown(lambda: bool(player.marks), "what it can do")


def test_package_installs_midgame_and_uninstalls_completely(panel: Callable[..., Panel]) -> None:
    player = panel("clicklate", late=True)
    player.type(f"practice discworld on {BOARD}")
    player.until("You walk to")
    for _ in range(2):  # a second run, as after an edit, must work too
        player.run_package(mpackage())
        player.until_shown(lambda: "your turn, dwarfs" in player.texts, "the board")
        assert player.rows == position_rows(Game.start(RULESETS["discworld"]).position)
    player.run('raise("sysUninstallPackage", "another")')
    assert player.labels
    player.run('raise("sysUninstallPackage", "thudmud")')
    for each in ("labels", "handlers", "timers", "aliases"):
        assert player.run(f"return count({each})") == "0"
    assert player.run("return tostring(windows.thudmud.shown)") == "false"


def test_panel_can_be_hidden_flipped_and_resized(panel: Callable[..., Panel]) -> None:
    player = panel("clickfits")
    player.type(f"go to {BOARD}")
    player.until_shown(lambda: "Sit as dwarfs" in player.texts, "the seats")

    def places() -> dict[str, tuple[int, ...]]:
        lines = player.run("return places()").splitlines()
        return {name: tuple(map(int, at)) for name, *at in map(str.split, lines)}

    for width, height in ((480, 720), (300, 500), (900, 900)):
        player.run(f"size = {{{width}, {height}}}")
        player.run(f'raise("sysUserWindowResizeEvent", {width}, {height}, "thudmud")')
        found = places()
        assert all(x + wide <= width and y + high <= height for x, y, wide, high in found.values())
        squares = {at for name, at in found.items() if re.fullmatch(r"[A-O]\d+", name)}
        assert len(squares) == 165
        assert {(wide, high) for _, _, wide, high in squares} == {found["H8"][2:]}
    before = places()
    player.press("Flip")
    after = places()
    assert (after["A6"], after["H8"], after["F1"]) == (before["O10"], before["H8"], before["J15"])
    assert player.run('return typed("thudmud hide")') == "true"
    assert player.run("return tostring(windows.thudmud.shown)") == "false"
    player.type("go to hall")
    player.until_shown(lambda: player.run("return tostring(thudmud.state().me.room)") == "nil", "")
    assert player.run("return tostring(windows.thudmud.shown)") == "false"
    assert player.run('return typed("thudmud show")') == "true"
    assert "Play" in player.texts


def test_screen_reader_user_gets_no_board(panel: Callable[..., Panel]) -> None:
    player = panel("clickhears", reader=True)
    player.type(f"go to {BOARD}")
    player.until_shown(lambda: player.run("return tostring(thudmud.state().me.room)") != "nil", "")
    assert player.run("return count(windows)") == "0"
    assert player.run('return typed("thudmud show")') == "true"
    assert "Sit as dwarfs" in player.texts
