"""The page on transcripts: its examples play as written, and it documents the whole format."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pytest_thudmud
from thudmud.cli.main import main
from thudmud.script.transcript import FORMAT, MORE

PAGE = (Path(__file__).parents[2] / "docs" / "scripts.md").read_text("utf-8")
EXAMPLES = re.findall(r"```thud-script(?: (\S+))?\n(.*?)```", PAGE, re.DOTALL)


def test_page_examples_play_as_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    played = []
    for number, (name, text) in enumerate(EXAMPLES):
        path = tmp_path / (name or f"{number}.thud-script")
        path.write_text(text, encoding="utf-8")
        played += [] if name else [str(path)]
    assert main(["script", *played]) == 0
    told = capsys.readouterr().out
    assert re.fullmatch(rf"{len(played)} transcripts, \d\d steps compared: all as expected\n", told)
    assert len(played) == 5


def test_page_shows_the_actual_mismatch_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = EXAMPLES[0][1].replace("Bert| Anna says: Hello!", "Bert| Anna says: Hi!")
    Path("hello.thud-script").write_text(text, encoding="utf-8")
    assert main(["script", "hello.thud-script"]) == 1
    _told_on_the_page(capsys.readouterr().out)
    waiting = next(text for _, text in EXAMPLES if "?" in text and "tell anna" in text)
    text = waiting.replace("Anna+\nBert> tell anna Shall we?", "Anna> say Well?\nBert+")
    Path("game.thud-script").write_text(text, encoding="utf-8")
    assert main(["script", "game.thud-script"]) == 1
    _told_on_the_page(capsys.readouterr().out)


def _told_on_the_page(told: str) -> None:
    assert "".join(f"    {line}\n" for line in told.splitlines()) in PAGE


def test_page_contains_the_format() -> None:
    assert FORMAT in PAGE
    assert MORE in PAGE


def test_page_lists_the_pytest_options() -> None:
    for name, option, metavar, _ in pytest_thudmud.OPTIONS:
        assert f"| `{option} {metavar}` | `{name}` |" in PAGE
    others = [*pytest_thudmud.MUD_OPTIONS, *((name, "", "") for name, _ in pytest_thudmud.FLAGS)]
    for name, metavar, _ in others:
        option = f"--{name.replace('_', '-')} {metavar}".rstrip()
        assert f"| `{option}` | `{name}` |" in PAGE
