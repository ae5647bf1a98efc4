"""Lark's parse tables are cached, and regenerated when the cache is stale or corrupt."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from thudmud.language import tables as lark_tables
from thudmud.language.tables import Tables, cached_tables, make_tables
from thudmud.language.words import TABLES, grammar_file


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a temporary cache file."""
    cached = f"{tmp_path}/cache/tables.pyc"
    monkeypatch.setattr(lark_tables, "cache_from_source", lambda *_, **__: cached)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "cache" / "tables.tables"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stub the generation of tables; return the list of grammars passed to it."""
    grammars: list[str] = []

    def make(grammar: str) -> Tables:
        grammars.append(grammar)
        return Tables({"A": grammar}, [("start", ["A"])], ["A"], ({"data": []}, {1: None}))

    monkeypatch.setattr(lark_tables, "make_tables", make)
    return grammars


def test_cached_tables_equal_the_generated_ones(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar = grammar_file().read_text(encoding="utf-8")
    assert TABLES.terminals == make_tables(grammar).terminals
    first = cached_tables(grammar)
    monkeypatch.delattr(lark_tables, "make_tables")
    assert cached_tables(grammar) == first
    assert [each.name for each in kept.parent.iterdir()] == [kept.name]


def test_tables_are_generated_once(kept: Path, made: list[str]) -> None:
    assert cached_tables("a") == cached_tables("a") == cached_tables("a")
    assert made == ["a"]


def test_tables_are_generated_for_each_grammar(kept: Path, made: list[str]) -> None:
    assert cached_tables("a") != cached_tables("b")
    assert cached_tables("b").terminals == {"A": "b"}
    assert made == ["a", "b"]


def test_tables_are_regenerated_for_another_lark_version(
    kept: Path, made: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cached_tables("a")
    (tmp_path / "lark.py").write_text('__version__ = "1.9"\n', encoding="utf-8")
    monkeypatch.setattr(sys, "modules", {k: v for k, v in sys.modules.items() if k != "lark"})
    monkeypatch.syspath_prepend(tmp_path)
    cached_tables("a")
    assert made == ["a", "a"]


@pytest.mark.parametrize("left", [0, 1, 10, 1000, -1])
def test_tables_are_regenerated_when_the_cache_is_corrupt(
    kept: Path, made: list[str], left: int
) -> None:
    tables = cached_tables("a")
    whole = kept.read_bytes()
    for torn in (whole[:left], bytes(len(whole)), b"\xff" * len(whole)):
        kept.write_bytes(torn)
        assert cached_tables("a") == cached_tables("a") == tables
    assert made == ["a"] * 4


def test_cache_file_is_writable_only_by_those_who_can_write_the_module(
    kept: Path, made: list[str]
) -> None:
    before = os.umask(0)
    try:
        cached_tables("a")
    finally:
        os.umask(before)
    others = 0o022
    assert kept.stat().st_mode & others == Path(lark_tables.__file__).stat().st_mode & others


def test_cache_is_off_when_python_writes_no_bytecode(
    kept: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert cached_tables("a") == cached_tables("a")
    assert made == ["a", "a"]
    assert not kept.parent.exists()


def test_unwritable_cache_folder_is_ignored(kept: Path, made: list[str]) -> None:
    kept.parent.write_text("no folder", encoding="utf-8")
    assert cached_tables("a") == cached_tables("a")
    assert made == ["a", "a"]
