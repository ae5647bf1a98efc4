"""Verbatim output for players on a server; the pytest plugin plays all transcripts in a house.

A server is started only for features that a house lacks, which are lost connections and passing
time, for a whole match, and for the one remaining configuration.
"""

from __future__ import annotations

import sys
from pathlib import Path

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


def config_file(name: str | None, folder: Path) -> Path:
    """Return a copy of a configuration by which a lost connection is told at once."""
    text = (HERE / name).read_text("utf-8") if name else ""
    players, at_once = "[players]\n", "[players]\nreturn_within = 0\n"
    text = text.replace(players, at_once) if players in text else f"{text}\n{at_once}"
    path = folder / "config.toml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_transcript_is_played_on_a_server(
    path: Path, run_server: RunServer, tmp_path: Path
) -> None:
    config = Transcript.parse(path.read_text(encoding="utf-8")).config
    words: list[str | Path] = [sys.executable, "-m", "thudmud.cli.main", "serve", "--port", "0"]
    # A server keeps its store beside its configuration.
    words += ["--config", str(config_file(config, tmp_path))]
    with run_server(words) as address:
        played = play(path, Setup(addresses={"": address}))
    assert [*map(str, played.failures), *played.problems] == []
