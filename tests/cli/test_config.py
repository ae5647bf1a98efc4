"""`thudmud config`: the default configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from thudmud.cli.main import main

SHIPPED = Path(__file__).parents[2] / "config.toml"

Shown = pytest.CaptureFixture[str]


def test_default_configuration_is_printed(capsys: Shown) -> None:
    assert main(["config"]) == 0
    assert capsys.readouterr() == (SHIPPED.read_text("utf-8"), "")


def test_configuration_file_is_written_but_never_overwritten(tmp_path: Path, capsys: Shown) -> None:
    file = tmp_path / "config.toml"
    assert main(["config", str(file)]) == 0
    assert file.read_text("utf-8") == SHIPPED.read_text("utf-8")
    assert capsys.readouterr().out == (f"Wrote {file}. To use it: thudmud serve --config {file}\n")
    file.write_text("mine", "utf-8")
    assert main(["config", str(file)]) == 2
    assert capsys.readouterr().err == f"thudmud: {file} already exists; not overwritten\n"
    assert file.read_text("utf-8") == "mine"


def test_unwritable_configuration_file_is_reported(tmp_path: Path, capsys: Shown) -> None:
    file = tmp_path / "nowhere" / "config.toml"
    assert main(["config", str(file)]) == 2
    assert capsys.readouterr().err == (f"thudmud: {file}: no folder {file.parent}\n")
