"""The README's session is what players see, and its commands are the ones there are."""

from __future__ import annotations

import re
from pathlib import Path

from thudmud.cli.staging import open_stages
from thudmud.language import parse
from thudmud.script import Transcript, perform
from thudmud.script.transcript import FORMAT

README = Path(__file__).parents[1] / "README.md"


def test_the_session() -> None:
    (session,) = re.findall(r"```thud-script\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    transcript = Transcript.parse(session)
    with open_stages(README, transcript) as stages:
        mismatches, _ = perform(transcript, stages)
    assert [str(mismatch) for mismatch in mismatches] == []
    assert all(step.expected for step in transcript.steps)


def test_the_format_of_transcripts() -> None:
    assert FORMAT in README.read_text("utf-8")


def test_the_options() -> None:
    lines = re.findall(r"^    ((?:options|set) .*?)  ", README.read_text("utf-8"), re.MULTILINE)
    assert len(lines) > 5
    for line in lines:
        parse(line)  # which raises if it is no command


def test_the_pages() -> None:
    for page in re.findall(r"\]\((docs/\S+?)\)", README.read_text("utf-8")):
        assert (README.parent / page).is_file(), page


def test_the_commands() -> None:
    targets = re.findall(
        r"^([\w-]+):", (README.parent / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    for target in re.findall(r"^    make (\S+)", README.read_text("utf-8"), re.MULTILINE):
        assert target in targets
