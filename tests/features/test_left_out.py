"""Features left out: by deleting their folder and list entry, or by a setting."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfile, copytree, rmtree
from urllib.request import urlopen

import pytest
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.conftest import RunServer
from tests.newcomers import TAUGHT
from tests.ports import free_ports
from thudmud import BoardSpec, House, features
from thudmud.cli.staging import Setup, play
from thudmud.errors import RefusedError
from thudmud.game.archive import LetterCount
from thudmud.game.command import Command
from thudmud.game.refusals import Mistake, Refusal
from thudmud.language import ParseError, parse
from thudmud.language.vocabulary import Vocabulary
from thudmud.views import Terminal
from thudmud.views.headlines import finders
from thudmud.views.help import PAGES
from thudmud.views.refusals import _TEXTS, refusal_text
from thudmud.views.words import sentences_without

ROOT = Path(__file__).parents[2]
MATCH = ROOT / "tests" / "transcripts" / "discworld-match.thud-script"

LINES: dict[str, tuple[str, ...]] = {
    "analysis": ("analyse", "analyse 1", "analyse cancel"),
    "exercises": ("tutorial", "tutorial 2", "lessons", "puzzle"),
    "explorer": ("explore", "explore 1 2"),
    "hints": ("hint", "hint on oak board"),
    "letters": ("message bert hi", "messages", "forget 1", "forget messages from bert"),
    "moderation": (
        *("report bert he is rude", "broadcast hi", "mute bert", "unmute bert", "mutes"),
        *("kick bert", "ban bert", "unban bert", "bans", "reports", "close report 1"),
        *("close all reports", "shutdown now"),
    ),
    "notifications": ("notify", "notify off", "notify turn on", "notify quiet 22 to 7"),
    "teaching": (),
    "tournaments": (
        "tournaments",
        "tournament 1",
        "tournament new swiss",
        "enter 1",
    ),
    "tv": ("tv", "tv on", "tv off"),
    "variations": ("variation 1 2 dA6-B6", "evaluate 1", "retry 1 2 as troll"),
}
"""By feature that may be left out, lines that are commands with it."""

TOLD = {
    "hints": (re.compile(r' "hint" suggests a move\.'), ""),
    "teaching": (TAUGHT, ""),
    "exercises": (re.compile('"tutorial" teaches.*'), '"help thud" explains the game.'),
}
"""By feature, what it adds to the match that is played, and what is there without it."""

LISTS = "help", "syntax", "look", "boards", "who", "games", "history", "standings", "options"

OF_PACKAGES = (
    "test_packages_all_have_their_allowed_imports",
    "test_features_import_exactly_the_features_they_need",
    "test_feature_names_appear_only_in_their_own_package",
)
"""The tests of the architecture that concern whole packages."""

ARCHITECTURE = f"""
import runpy

tests = runpy.run_path("tests/test_architecture.py")
for name in {OF_PACKAGES}:
    tests[name]()
    print(name)
"""
"""Runs these without pytest, whose start takes longer."""

QUOTED = re.compile(r'"([a-z]+)')
"""The first words of what texts propose to type."""

GUARDED = {
    ("features/exercises/messages.py", "hint"),
    ("features/letters/messages.py", "report"),
    ("features/teaching/messages.py", "hint"),
    ("features/teaching/messages.py", "tutorial"),
    ("views/help.py", "tutorial"),
}
"""By file, the verbs that it names only where players have them; other tests see to it."""

HOUSE = """
import sys
from thudmud import BoardSpec, House
house = House([BoardSpec("oak board")])
house.enter("Anna", 0.0)
for line in sys.argv[1:]:
    print(" ".join(each.text for each in house.obey("Anna", line, 0.0) if not each.package))
    print("---")
"""


@pytest.fixture(scope="module", params=LINES)
def feature(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def without(feature: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a copy of the program from which the feature is deleted."""
    folder = tmp_path_factory.mktemp("without")
    for each in ("thudmud", "grammar", "pytest_thudmud"):
        copytree(ROOT / each, folder / each)  # with the compiled modules
    (folder / "tests").mkdir()
    copyfile(ROOT / "tests" / "test_architecture.py", folder / "tests" / "test_architecture.py")
    rmtree(folder / "thudmud" / "features" / feature)
    listed = folder / "thudmud" / "features" / "__init__.py"
    left, removed = re.subn(f' *"{feature}",\n?', "", listed.read_text("utf-8"))
    assert removed == 1
    listed.write_text(left, "utf-8")
    return folder


def topics_of(feature: str) -> list[str]:
    """Return the topics of a feature's help pages, or the feature's name if it has none."""
    pages = (ROOT / "thudmud" / "features" / feature / "help").glob("*.txt")
    return sorted(page.stem for page in pages) or [feature]


@contextmanager
def in_place_of_ours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make subprocesses import the copy in `folder` instead of the tree under test."""
    with monkeypatch.context() as changed:
        changed.setenv("PYTHONPATH", str(folder))
        yield


@contextmanager
def browser(port: int, name: str) -> Iterator[ClientConnection]:
    """Connect over WebSocket, as the page does, and log in."""
    link = f"ws://127.0.0.1:{port}/ws"
    with connect(link, subprotocols=[Subprotocol("gmcp.mudstandards.org")]) as socket:
        types(socket, name, "You come into the hall")
        yield socket


def types(socket: ClientConnection, line: str, answer: str) -> None:
    """Send a line and wait until the answer appears."""
    socket.send(line.encode())
    told = ""
    while answer not in " ".join(told.split()):
        try:
            said = socket.recv(timeout=60)
        except TimeoutError:
            pytest.fail(f"not told that {answer!r}, but {told!r}")
        told += said.decode() if isinstance(said, bytes) else ""


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """Run Python on the copy in `folder` and return its standard output."""
    with in_place_of_ours(folder, monkeypatch):
        done = subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env={**os.environ},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_feature_deleted_has_no_commands_and_no_help(
    feature: str, without: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = topics_of(feature)
    lines = (*LINES[feature], *(f"help {topic}" for topic in topics), "help", "look")
    told = run(without, monkeypatch, "-c", HOUSE, *lines).split("---\n")
    *answers, contents, look, _ = (" ".join(each.split()) for each in told)
    refused, pages = answers[: len(LINES[feature])], answers[len(LINES[feature]) :]
    for line, answer in zip(LINES[feature], refused, strict=True):
        assert f'There is no command "{line.split()[0]}"' in answer
    for topic, answer in zip(topics, pages, strict=True):
        assert f'There is no help on "{topic}"' in answer
        assert not re.search(rf"\b{topic}\b", contents)
    assert "oak board" in look


def test_feature_deleted_leaves_the_architecture_test_passing(
    without: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of its tests, only those of whole packages can fail: the other modules are the same."""
    told = run(without, monkeypatch, "-c", ARCHITECTURE)
    assert told.split() == list(OF_PACKAGES)


@pytest.mark.usefixtures("cold")
def test_feature_deleted_leaves_a_server_that_can_host_a_match(
    feature: str,
    without: Path,
    monkeypatch: pytest.MonkeyPatch,
    run_server: RunServer,
    tmp_path: Path,
) -> None:
    """Plays a whole transcript over telnet, then the start of a match over WebSocket."""
    (tmp_path / "config.toml").write_text("bot = []\n", "utf-8")
    with free_ports() as free, in_place_of_ours(without, monkeypatch):
        web = free()
        words: list[str | Path] = [sys.executable, "-m", "thudmud.cli.main", "serve"]
        words += ["--port", "0", "--web-port", str(web), "--config", tmp_path / "config.toml"]
        with run_server(words) as address:
            match, text = tmp_path / MATCH.name, MATCH.read_text("utf-8")
            if feature in TOLD:
                told, instead = TOLD[feature]
                text = told.sub(instead, text)
            match.write_text(text, "utf-8")
            played = play(match, Setup(addresses={"": address}))
            assert [*map(str, played.failures), *played.problems] == []
            with urlopen(f"http://127.0.0.1:{web}/", timeout=60) as page:
                assert page.status == 200
                shown = re.search(r'<html [^>]*data-features="([^"]*)"', page.read().decode())
                assert shown
                assert feature not in shown[1].split()
            with browser(web, "Perla") as perla, browser(web, "Quin") as quin:
                types(perla, "join game as dwarf on marble board", "to play the dwarfs")
                types(quin, "join game as troll on marble board", "to play the trolls")
                types(quin, "start game on marble board", "You and Perla begin a match")
                types(perla, "a6 b6", "You move the dwarf from A6 to B6")
                for line in LINES[feature]:
                    types(quin, line, "There is no command")


def test_feature_left_out_has_no_commands_and_no_help(feature: str) -> None:
    house = House([BoardSpec("oak board")], without=[feature])
    house.enter("Anna", 0.0)
    lines: list[str | Command] = [*LINES[feature], *map(parse, LINES[feature])]
    for line in lines:
        [answer] = [each.text for each in house.obey("Anna", line, 0.0) if not each.package]
        assert f'There is no command "{str(line).split()[0]}"' in answer
    for topic in topics_of(feature):
        [answer] = [each.text for each in house.obey("Anna", f"help {topic}", 0.0)]
        assert f'There is no help on "{topic}"' in answer
    for line in LINES[feature]:
        with pytest.raises(ParseError):
            house.parse(line)


def test_verbs_left_out_are_suggested_by_no_page_and_no_list(feature: str) -> None:
    house = House([BoardSpec("oak board")], without=[feature], teaches=True)
    told = house.enter("Anna", 0.0)
    pages = PAGES.keys() - topics_of(feature)
    for line in (*LISTS, *(f"help {topic}" for topic in pages)):
        told += house.obey("Anna", line, 0.0)
    assert proposals(feature, "\n".join(each.text for each in told if not each.package)) == []


def test_verbs_left_out_are_never_spelling_suggestions(feature: str) -> None:
    house = House([BoardSpec("oak board")], without=[feature])
    house.enter("Anna", 0.0)
    for line in LINES[feature]:
        word = line.split()[0]
        [answer] = house.obey("Anna", f"{word[:-1]}e{word[-1]}", 0.0)
        assert proposals(feature, answer.text) == []


def test_verbs_left_out_are_suggested_by_no_refusal(feature: str) -> None:
    left_out = House([BoardSpec("oak board")], without=[feature]).hall.left_out
    of_feature = f"thudmud.features.{feature}."
    for code, text in _TEXTS.items():
        if isinstance(text, str) and not type(code).__module__.startswith(of_feature):
            proposed = " ".join(sentences_without(text, left_out))
            assert isinstance(code, Mistake) or proposals(feature, proposed) == []


def test_verbs_left_out_appear_in_no_other_text(feature: str) -> None:
    """Refusals have their own test; texts that check for the feature are in `GUARDED`."""
    named = set()
    for path in (ROOT / "thudmud").rglob("*.py"):
        name = path.relative_to(ROOT / "thudmud").as_posix()
        if re.match(f"views/|service/|features/(?!{feature}/).*(messages|texts).py", name):
            source = ast.parse(path.read_text("utf-8"))
            texts = [each.value for each in ast.walk(source) if isinstance(each, ast.Constant)]
            for text in texts:
                if isinstance(text, str) and text not in _TEXTS.values():
                    named |= {(name, verb) for verb in proposals(feature, text)}
    assert named <= GUARDED


def proposals(feature: str, text: str) -> list[str]:
    """Return the verbs of a feature that a string suggests typing."""
    verbs = {line.split()[0] for line in LINES[feature]}
    return [verb for verb in QUOTED.findall(text) if verb in verbs]


def test_refusal_suggests_no_message_without_letters() -> None:
    house = House([BoardSpec("oak board")], without=["letters"])
    absent = RefusedError(Refusal.NOT_HERE, player="Dora", seconds=180.0)
    told = refusal_text(absent, "Anna", left_out=house.hall.left_out)
    assert told == "Dora isn't here, and was last seen 3 minutes ago."
    assert '"message"' in refusal_text(absent, "Anna")


def test_lesson_suggests_no_hint_without_hints() -> None:
    house = House([BoardSpec("oak board")], without=["hints"])
    house.enter("Anna", 0.0)
    house.obey("Anna", "tutorial", 0.0)
    [told] = house.obey("Anna", "next", 0.0)
    assert told.text == "Do what the lesson asks first."


def test_questions_offered_to_programs_omit_features_left_out(feature: str) -> None:
    house = House([BoardSpec("oak board")], without=[feature])
    house.enter("Anna", 0.0, Terminal(packages=frozenset({"Thud"})))
    [told] = house.ask("Anna", "quit", 0.0)
    questions = told.data["details"]["questions"]
    assert "look" in questions
    verbs = {line.split()[0] for line in LINES[feature]}
    assert [each for each in questions if each.split()[0] in verbs] == []


async def test_mail_about_letters_suggests_no_report_without_moderation() -> None:
    async def look_up(_: object) -> LetterCount:
        return LetterCount(1, 1)

    for without in ((), ("moderation",)):
        house = House([BoardSpec("oak board")], without=without)
        news = await finders["message"](house.hall, look_up, "Anna", 0)
        assert news
        assert ('"report"' in " ".join(news.lines)) is not bool(without)


def test_parsed_command_of_a_verb_left_out_is_refused() -> None:
    house = House([BoardSpec("oak board")], without=["shout"])
    for name in ("Anna", "Bert"):
        house.enter(name, 0.0)
    told = house.obey("Anna", parse("shout hi"), 0.0)
    assert {name for each in told for name in each.to} == {"Anna"}
    assert 'There is no command "shout"' in told[-1].text


def test_bots_can_use_verbs_left_out_for_players() -> None:
    house = House([BoardSpec("oak board")], without=["move"], bots={"Grog": "1"})
    house.enter("Anna", 0.0)
    for line in ("join game as troll on oak board", "invite grog", "start game"):
        house.obey("Anna", line, 0.0)
    [turn] = house.bot_turns
    ply = str(turn.task.game.legal_moves()[0])
    told = house.play_bot(turn, ply, 1.0)
    assert any("Grog moves" in each.text for each in told)


def test_vocabulary_rejects_leaving_out_an_unknown_name() -> None:
    with pytest.raises(ValueError, match="radio"):
        Vocabulary(without=["radio"])


def test_config_comment_names_every_optional_feature() -> None:
    section = (ROOT / "config.toml").read_text("utf-8").split("\n[features]\n")[1].split("off =")[0]
    assert [name for name in features.NAMES if f'"{name}"' not in section] == []


def test_lines_cover_every_optional_feature() -> None:
    assert set(LINES) == set(features.NAMES)
