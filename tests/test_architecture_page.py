"""docs/architecture.md: its files exist, its picture is up to date, its example works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from tests.architecture_picture import FILE, drawn
from tests.test_architecture import ARROWS, LIST

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")

PLAYED = """
from thudmud import BoardSpec, House
house = House([BoardSpec("oak board")])
for name in ("Anna", "Bert"):
    house.enter(name, 0.0)
for line in ("beckon", "beckon to bert", "beckon carla", "go oak board", "beckon bert", "gesture"):
    for each in house.obey("Anna", line, 0.0):
        print(*each.to, each.text, sep=": ")
"""


def test_page_names_only_existing_files() -> None:
    named = re.findall(r"`((?:thudmud|tests|grammar|docs)/[\w/.]+)`", PAGE)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_page_lists_exactly_the_packages() -> None:
    table = PAGE.split("| package | contents |")[1].split("\n\n")[0]
    listed = {
        name.removesuffix(".py")
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for name in re.findall(r"`([\w.]+)`", row)
    }
    unlisted = {"", LIST, "errors", "english", "immutable", "values", "version", "settings"}
    assert listed == set(ARROWS) - unlisted


def test_picture_shows_the_allowed_imports() -> None:
    assert FILE.read_text("utf-8") == drawn(), "python -m tests.architecture_picture draws it anew"


def test_example_feature_works_for_players(tmp_path: Path) -> None:
    for each in ("thudmud", "grammar"):
        copytree(ROOT / each, tmp_path / each, ignore=ignore_patterns("__pycache__"))
    for name, text in re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE, re.DOTALL):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    listed = tmp_path / "thudmud" / "features" / "__init__.py"
    listed.write_text(
        listed.read_text("utf-8").replace('    "tv",\n', '    "tv",\n    "beckon",\n')
    )
    [(alternative, terminal)] = re.findall(r"```lark\n(.*)\n(.*)\n```", PAGE)
    grammar = tmp_path / "grammar" / "thud.lark"
    text = re.sub(r"(?m)^( +\| _EMOTE DEED .*)$", rf"\1\n{alternative}", grammar.read_text("utf-8"))
    grammar.write_text(re.sub(r"(?m)^(_EMOTE: .*)$", rf"\1\n{terminal}", text), "utf-8")
    told = subprocess.run(
        [sys.executable, "-c", PLAYED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines()[:4] == [
        "Anna: You beckon.",
        "Bert: Anna beckons.",
        "Anna: You beckon to Bert.",
        "Bert: Anna beckons to you.",
    ]
    assert 'There is no player called "carla"' in told.stdout
    assert "Anna: Bert is somewhere else." in told.stdout
    assert 'Did you mean "beckon"?' in told.stdout


def test_example_is_as_long_as_the_page_says() -> None:
    [most] = re.findall(r"^## Add a feature in (\d+) lines$", PAGE, re.MULTILINE)
    code = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    lines = [line for block in code for line in block.splitlines() if line.strip()]
    assert len(lines) <= int(most)


pytestmark = pytest.mark.usefixtures("cold")
