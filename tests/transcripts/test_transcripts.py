"""What players see, held to the letter, on a server; the pytest plugin plays it in a house."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import copy

import pytest

from tests.conftest import RunServer
from thudmud.cli.staging import Setup, play
from thudmud.script import Transcript

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.thud-script"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_on_a_server(path: Path, run_server: RunServer, tmp_path: Path) -> None:
    config = Transcript.parse(path.read_text(encoding="utf-8")).config
    words: list[str | Path] = [sys.executable, "-m", "thudmud.cli.main", "serve", "--port", "0"]
    # A server stores what happens beside its configuration.
    words += ["--config", copy(HERE / config, tmp_path)] if config else []
    with run_server(words) as address:
        mismatches, _ = play(path, Setup(addresses={"": address}))
    assert [str(mismatch) for mismatch in mismatches] == []
