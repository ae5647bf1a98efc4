"""The public names of the library: they exist, and pages and examples import no others."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import thudmud

ROOT = Path(__file__).parents[1]

PUBLIC = (
    "thudmud",
    "thudmud.errors",
    "thudmud.evennia",
    "thudmud.game",
    "thudmud.pictures",
    "thudmud.rules",
    "thudmud.script",
)
"""The modules whose ``__all__`` a program may import."""

OF_EVENNIA = {f"thudmud.evennia.{each}" for each in ("webclient", "inputfuncs", "help_entries")}
"""Modules that settings of an Evennia MUD name."""

INTERNAL = {"thudmud.service.Service"}
"""Names that a page mentions and calls internal."""

PAGES = [
    *(ROOT / "docs" / f"{name}.md" for name in ("library", "rules", "pictures", "evennia")),
    *(ROOT / "docs" / f"{name}.md" for name in ("scripts", "engine", "gateway")),
    ROOT / "README.md",
]
"""The pages for programmers who use thudmud, and don't change it."""

EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))


def imports(code: str) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each import from thudmud; no name for a whole module."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "thudmud":
            yield from ((str(node.module), each.name) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.name, "") for each in node.names if each.name.startswith("thudmud"))


def code_of(path: Path) -> list[str]:
    """Return the Python code of a page or an example."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return [text]
    return [textwrap.dedent(each) for each in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]


def is_public(module: str, name: str) -> bool:
    if f"{module}.{name}" in OF_EVENNIA:
        return True
    return module in PUBLIC and (not name or name in import_module(module).__all__)


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_exist_in_order(module: str) -> None:
    names = import_module(module).__all__
    assert len(names) == len(set(names))
    if module != "thudmud.evennia":  # its classes need Evennia
        assert [name for name in names if not hasattr(import_module(module), name)] == []


@pytest.mark.parametrize("path", [*PAGES, *EXAMPLES], ids=lambda path: path.name)
def test_page_imports_only_public_names(path: Path) -> None:
    found = [each for code in code_of(path) for each in imports(code)]
    assert [each for each in found if not is_public(*each)] == []


def test_pages_and_examples_import_from_the_library() -> None:
    for name in ("library.md", "rules.md", "pictures.md", "evennia.md", "match.py"):
        (path,) = (each for each in [*PAGES, *EXAMPLES] if each.name == name)
        assert any(imports(code) for code in code_of(path)), name


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_page_names_only_public_names(path: Path) -> None:
    named = set(re.findall(r"`(thudmud(?:\.[A-Za-z_]\w*)+)`", path.read_text("utf-8")))
    modules = {each for each in named if each in PUBLIC or each in OF_EVENNIA}
    names = named - modules - INTERNAL
    files = {"thudmud.db", "thudmud.pyz"}
    assert [each for each in names - files if not is_public(*each.rsplit(".", 1))] == []


def test_internal_names_of_pages_exist() -> None:
    for each in INTERNAL:
        module, _, name = each.rpartition(".")
        assert hasattr(import_module(module), name)
    assert all(find_spec(each) for each in OF_EVENNIA)


def test_page_lists_the_public_modules_and_names() -> None:
    text = (ROOT / "docs" / "library.md").read_text("utf-8")
    section = text.split("## What to import")[1].split("\n## ")[0]
    modules, names = section.split("| `thudmud` has, for | |")
    assert set(re.findall(r"^\| `(thudmud[\w.]*)` \|", modules, re.MULTILINE)) == set(PUBLIC)
    rows = re.findall(r"^\| [a-z ]+ \| (.*) \|$", names, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(thudmud.__all__)
