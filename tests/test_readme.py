"""The README and the pages it leads to show what there is: sessions, commands, pictures, pages."""

from __future__ import annotations

import re
from pathlib import Path

from tests.clients.pictures import kept, last_command
from thudmud.cli.staging import open_stages
from thudmud.language import parse
from thudmud.script import Transcript, perform
from thudmud.script.transcript import FORMAT

README = Path(__file__).parents[1] / "README.md"
DOCS = README.parent / "docs"
PLAYING = DOCS / "playing.md"


def test_the_session() -> None:
    (session,) = re.findall(r"```thud-script\n(.*?)```", PLAYING.read_text("utf-8"), re.DOTALL)
    transcript = Transcript.parse(session)
    with open_stages(PLAYING, transcript) as stages:
        mismatches, _ = perform(transcript, stages)
    assert [str(mismatch) for mismatch in mismatches] == []
    assert all(step.expected for step in transcript.steps)


def test_the_format_of_transcripts() -> None:
    assert FORMAT in (DOCS / "scripts.md").read_text("utf-8")


def test_the_options() -> None:
    lines = re.findall(r"^    ((?:options|set) .*?)  ", PLAYING.read_text("utf-8"), re.MULTILINE)
    assert len(lines) > 5
    for line in lines:
        parse(line)  # which raises if it is no command


def test_what_the_readme_says_to_type() -> None:
    (table,) = re.findall(r"\| to \| type \|\n((?:\|.*\n)+)", README.read_text("utf-8"))
    lines = re.findall(r"`(.*?)`", table)
    assert len(lines) > 10
    for line in lines:
        parse(line)


def test_the_picture_of_a_terminal() -> None:
    key = ("telnet", "board")
    whole = kept((DOCS / "clients.md").read_text("utf-8"))[key]
    assert kept(README.read_text("utf-8"))[key] == last_command(whole)


def test_the_picture_of_the_page() -> None:
    ((words, path),) = re.findall(r"!\[(.*?)\]\((.*?)\)", README.read_text("utf-8"), re.DOTALL)
    assert len(words) > 20
    picture = (README.parent / path).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 150_000


def test_the_index_lists_every_page_with_a_sentence() -> None:
    listed = re.findall(
        r"^- \[(.*?)\]\((.*?)\): .{20,}$", (DOCS / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert all(name == path for name, path in listed)
    assert sorted(path for _, path in listed) == sorted(
        each.name for each in DOCS.glob("*.md") if each.name != "README.md"
    )


def test_the_pages() -> None:
    for page in re.findall(r"\]\((docs/\S+?)\)", README.read_text("utf-8")):
        assert (README.parent / page).is_file(), page


def test_the_commands() -> None:
    targets = re.findall(
        r"^([\w-]+):", (README.parent / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    for target in re.findall(r"^    make (\S+)", README.read_text("utf-8"), re.MULTILINE):
        assert target in targets
