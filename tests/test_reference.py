"""The library reference can be built and is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pdoc.doc import Class, Doc, Function, Module

from docs.reference import loaded, make

ROOT = Path(__file__).parents[1]
PACKAGES = [
    "thudmud",
    "thudmud.rules",
    "thudmud.game",
    "thudmud.language",
    "thudmud.views",
    "thudmud.service",
    "thudmud.house",
    "thudmud.script",
]
"""The packages that an embedder may need; the others are documented by their code alone."""


def test_reference_packages_match_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (listed,) = re.findall(r"^REFERENCE := ((?:.*\\\n)*.*)", makefile, re.MULTILINE)
    assert listed.replace("\\\n", " ").split() == PACKAGES


@pytest.mark.parametrize("package", PACKAGES[:5])
def test_public_names_are_all_documented(package: str) -> None:
    module = Module(loaded(package))
    told = set(re.findall(r"^    (\w+): \w", module.docstring, re.MULTILINE))
    untold = [name for name in module.members if name not in told and _untold(module.members[name])]
    assert untold == []
    assert told <= set(module.members)
    assert set(module.members) >= set(loaded(package).__all__)


def _untold(member: Doc[object]) -> bool:
    """Whether a member or one of its public methods lacks a docstring."""
    if not member.docstring.strip():
        return True
    if not isinstance(member, Class):
        return False
    own = [each for each in member.members.values() if each.is_inherited is False]
    methods = [each for each in own if isinstance(each, Function) and each.name[0] != "_"]
    return any(not each.docstring.strip() for each in methods)


@pytest.mark.slow
def test_reference_builds_without_warnings(tmp_path: Path) -> None:
    make(tmp_path, *PACKAGES)
    house = (tmp_path / "thudmud.html").read_text("utf-8")
    for name in ("House.enter", "House.events", "House.look_up", "Terminal", "Message.data"):
        assert f'id="{name}"' in house
    assert 'href="thudmud/service.html#Service"' in house
    made = {path.relative_to(tmp_path).with_suffix("") for path in tmp_path.rglob("*.html")}
    assert {Path(*package.split(".")) for package in PACKAGES} <= made
