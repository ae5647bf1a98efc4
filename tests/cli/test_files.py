"""Files written by subcommands: whole or not at all, and never over a foreign file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from thudmud.cli.common import write_whole
from thudmud.cli.main import main
from thudmud.errors import CommandError
from thudmud.rules import CLASSIC, Game, Record, read_record
from thudmud.script import Transcript

Shown = pytest.CaptureFixture[str]


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("game.thud").write_text(str(Record(Game.start(CLASSIC).push("dA6-B6"))), "utf-8")
    Path("hello.thud-script").write_text("Anna> say Hello!\n", "utf-8")
    return "game.thud"


WRITERS = {
    "board.svg": ["draw", "game.thud", "-o", "board.svg"],
    "board.png": ["draw", "game.thud", "-o", "board.png"],
    "board.gif": ["draw", "game.thud", "-o", "board.gif"],
    "report.xml": ["script", "hello.thud-script", "--junit", "report.xml"],
}


@pytest.mark.parametrize(("name", "words"), WRITERS.items())
def test_foreign_file_is_never_overwritten(
    record: str, capsys: Shown, name: str, words: list[str]
) -> None:
    path = Path(record).with_name(name)
    path.write_text("my notes", "utf-8")
    assert main(words) == 2
    assert f"{name}: exists and contains something else; not overwritten" in capsys.readouterr().err
    assert path.read_text("utf-8") == "my notes"


@pytest.mark.parametrize(("name", "words"), [*WRITERS.items(), ("hello.thud-script", [])])
def test_failed_replacement_keeps_the_old_file(
    record: str, monkeypatch: pytest.MonkeyPatch, name: str, words: list[str]
) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    words = words or ["script", name, "--update"]
    main(words)
    before = sorted((path.name, path.read_bytes()) for path in Path().iterdir())
    if words[-1] == "--update":
        Path(name).write_text("Anna> say Hello!\n", "utf-8")
        before = sorted((path.name, path.read_bytes()) for path in Path().iterdir())
    monkeypatch.setattr(os, "fsync", fail)
    assert main(words) == 2
    assert sorted((path.name, path.read_bytes()) for path in Path().iterdir()) == before
    assert Path(record).exists()


def test_replaced_file_keeps_its_mode_and_link(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old", "utf-8")
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(link, b"older", beginning=2)
    assert link.is_symlink()
    assert (path.read_text("utf-8"), stat.S_IMODE(path.stat().st_mode)) == ("older", 0o640)
    with pytest.raises(CommandError, match="exists and contains something else"):
        write_whole(path, b"new", beginning=2)
    write_whole(Path(os.devnull), b"new", beginning=2)


def test_byte_order_mark_is_ignored(record: str, capsys: Shown) -> None:
    text = str(Record(Game.start(CLASSIC).push("dA6-B6")))
    files = {
        record: text,
        "hello.thud-script": "Anna> say Hello!\nAnna| You say: Hello!\n",
        "odd.toml": "[storage]\nfile = 'other.db'\n",
    }
    for name, content in files.items():
        Path(name).write_text(content, "utf-8-sig")
    assert main(["replay", record]) == 0
    assert main(["script", "hello.thud-script"]) == 0
    capsys.readouterr()
    main(["user", "list", "--config", "odd.toml"])
    assert capsys.readouterr().err.startswith("thudmud: other.db: no such file")
    assert read_record(f"\ufeff{text}") == read_record(text)
    script = files["hello.thud-script"]
    assert Transcript.parse(f"\ufeff{script}") == Transcript.parse(script)
    assert main(["script", "--update", "hello.thud-script"]) == 0
    assert Path("hello.thud-script").read_text("utf-8") == f"\ufeff{script}"
