"""Verbatim output for players on a server; the pytest plugin plays all transcripts in a house.

A server is started only for features that a house lacks, which are lost connections and passing
time, for a whole match, and for the one remaining configuration.
"""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import copy

import pytest

from tests.conftest import RunServer
from thudmud.cli.staging import Setup, play
from thudmud.script import Transcript
from thudmud.script.transcript import Act

HERE = Path(__file__).parent
MORE = {"discworld-match", "quiet"}


def is_for_a_server(path: Path) -> bool:
    acts = {step.act for step in Transcript.parse(path.read_text(encoding="utf-8")).steps}
    return bool(acts & {Act.VANISH, Act.WAIT}) or path.stem in MORE


FILES = sorted(filter(is_for_a_server, HERE.glob("*.thud-script")))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_transcript_is_played_on_a_server(
    path: Path, run_server: RunServer, tmp_path: Path
) -> None:
    config = Transcript.parse(path.read_text(encoding="utf-8")).config
    words: list[str | Path] = [sys.executable, "-m", "thudmud.cli.main", "serve", "--port", "0"]
    # A server keeps its store beside its configuration.
    words += ["--config", copy(HERE / config, tmp_path)] if config else []
    with run_server(words) as address:
        played = play(path, Setup(addresses={"": address}))
    assert [*map(str, played.failures), *played.problems] == []
