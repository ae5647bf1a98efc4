"""docs/known-faults.md names an existing test for each kind of fault."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "known-faults.md").read_text("utf-8")
ROWS = re.findall(r"^\| ([A-Z`].*?) \| (.*?) \| (.*?) \|$", PAGE, re.MULTILINE)
"""The kind of fault, its public source, and the test that guards against it."""


def test_known_fault_has_a_short_description_and_a_public_source() -> None:
    assert len(ROWS) > 30
    for kind, source, _ in ROWS:
        assert len(kind) <= 120, kind
        assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+|RFC \d+ section [\d.]+", source), source


def test_known_fault_names_an_existing_test_or_says_not_yet() -> None:
    for kind, _, guard in ROWS:
        if guard == "not yet":
            continue
        named = re.fullmatch(r"`(tests/\S+\.py)::(test_\w+)`", guard)
        assert named, kind
        path, name = named.groups()
        code = (ROOT / path).read_text("utf-8")
        assert re.search(rf"^\s*(async )?def {name}\(", code, re.MULTILINE), guard
