"""The help of all subcommands, the manual page and the completion of shells."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from thudmud.cli import manual
from thudmud.cli.completion import SHELLS
from thudmud.cli.main import SUBCOMMANDS, main, new_parser
from thudmud.version import VERSION

Shown = pytest.CaptureFixture[str]


def commands(*words: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of all subcommands, and of their own subcommands."""
    parser = new_parser()
    for word in words:
        parser = manual._subparsers(parser)[word]
    for name in manual._subparsers(parser):
        yield (*words, name)
        yield from commands(*words, name)


ALL = list(commands())


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_of_each_subcommand_ends_with_a_valid_example(
    words: tuple[str, ...], capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    *_, last = capsys.readouterr().out.splitlines()
    command = ["Example:", "thudmud", *words]
    example = shlex.split(last)
    assert example[: min(len(command), 3)] == command[:3]
    new_parser().parse_args(example[2:])


def test_help_of_the_command_has_an_example(capsys: Shown) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert capsys.readouterr().out.endswith(" Example: thudmud play\n")


def test_package_is_run_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "thudmud", "--version"], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == (f"thudmud {VERSION}\n", "")


def test_manual_page_has_every_subcommand_and_option(capsys: Shown) -> None:
    assert main(["manual"]) == 0
    page = capsys.readouterr().out
    text = re.sub(r"\\(?:f[BIR]|&)", "", page).replace("\\-", "-").replace("\\e", "\\")
    for words in ALL:
        assert re.search(rf"^\.SS thudmud {' '.join(words)}( - .*)?$", text, re.MULTILINE)
        parser = new_parser()
        for word in words:
            parser = manual._subparsers(parser)[word]
        for action in parser._actions:
            for name in {*action.option_strings} - {"-h", "--help"}:
                assert re.search(rf"^(.*, )?{name}\b", text, re.MULTILINE)
    for _, summary, _ in SUBCOMMANDS.values():
        assert f" - {summary}\n" in text


def test_manual_page_of_the_wheel_is_current(capsys: Shown) -> None:
    assert main(["manual"]) == 0
    page = (Path(__file__).parents[2] / "deploy" / "thudmud.1").read_text("utf-8")
    assert capsys.readouterr().out == page, "make docs writes it anew"


def test_manual_page_is_well_formed(capsys: Shown) -> None:
    """Text doesn't begin with a sign that roff takes for a request."""
    assert main(["manual"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(".TH THUDMUD 1 ")
    requests = {re.split(r"\W", line[1:])[0] for line in lines if line.startswith((".", "'"))}
    assert requests == {"TH", "SH", "SS", "PP", "TP", "B", "I", "nf", "fi"}
    assert not any(re.search(r"(?<!\\)-", line) for line in lines if not line.startswith(".TH"))
    assert lines.count(".nf") == lines.count(".fi")


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_script_has_every_subcommand_and_option(shell: str, capsys: Shown) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for words in ALL:
        assert words[-1] in script
    assert "port" in script


def completed(line: str, folder: str) -> list[str]:
    """Return what bash offers at the end of a line."""
    words = line.split(" ")
    code = (
        f"source /dev/stdin; COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; "
        'complete -p thudmud >/dev/null; _shtab_thudmud; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    script = subprocess.run(
        [sys.executable, "-m", "thudmud", "completion", "bash"], capture_output=True, check=True
    )
    done = subprocess.run(
        ["/bin/bash", "-c", code], input=script.stdout, cwd=folder, capture_output=True, check=True
    )
    return sorted(each.strip() for each in done.stdout.decode().split())


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("thudmud pe", ["perft"]),
        ("thudmud board re", ["rename"]),
        ("thudmud serve --web", ["--web-port"]),
        ("thudmud replay game", ["game.thud"]),
        ("thudmud serve --config conf", ["config.toml"]),
        ("thudmud completion f", ["fish"]),
    ],
)
def test_bash_completes_words_options_and_files(
    line: str, offered: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("folder")
    for name in ("game.thud", "config.toml"):
        (folder / name).touch()
    assert completed(line, str(folder)) == offered


def test_completion_without_its_extra_names_it(
    capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert capsys.readouterr().err == (
        'thudmud: completion needs shtab. To add it: pip install "thudmud[completion]"\n'
    )
