"""The README and its pages are up to date: sessions, commands, pictures and links."""

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


def test_playing_page_session_matches_the_game() -> None:
    (session,) = re.findall(r"```thud-script\n(.*?)```", PLAYING.read_text("utf-8"), re.DOTALL)
    transcript = Transcript.parse(session)
    with open_stages(PLAYING, transcript) as stages:
        mismatches, _ = perform(transcript, stages)
    assert [str(mismatch) for mismatch in mismatches] == []
    assert all(step.expected for step in transcript.steps)


def test_scripts_page_contains_the_transcript_format() -> None:
    assert FORMAT in (DOCS / "scripts.md").read_text("utf-8")


def test_playing_page_options_are_valid_commands() -> None:
    lines = re.findall(r"^    ((?:options|set) .*?)  ", PLAYING.read_text("utf-8"), re.MULTILINE)
    assert len(lines) > 5
    for line in lines:
        parse(line)  # raises if not a command


def test_readme_commands_are_valid() -> None:
    (table,) = re.findall(r"\| to \| type \|\n((?:\|.*\n)+)", README.read_text("utf-8"))
    lines = re.findall(r"`(.*?)`", table)
    assert len(lines) > 10
    for line in lines:
        parse(line)


def test_readme_terminal_picture_matches_the_clients_page() -> None:
    key = ("telnet", "board")
    whole = kept((DOCS / "clients.md").read_text("utf-8"))[key]
    assert kept(README.read_text("utf-8"))[key] == last_command(whole)


def test_readme_screenshot_is_a_small_png_with_alt_text() -> None:
    ((words, path),) = re.findall(r"!\[(.*?)\]\((.*?)\)", README.read_text("utf-8"), re.DOTALL)
    assert len(words) > 20
    picture = (README.parent / path).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 150_000


def test_docs_index_lists_every_page_with_a_sentence() -> None:
    listed = re.findall(
        r"^- \[(.*?)\]\((.*?)\): .{20,}$", (DOCS / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert all(name == path for name, path in listed)
    assert sorted(path for _, path in listed) == sorted(
        each.name for each in DOCS.glob("*.md") if each.name != "README.md"
    )


def test_readme_links_lead_to_existing_pages() -> None:
    for page in re.findall(r"\]\((docs/\S+?)\)", README.read_text("utf-8")):
        assert (README.parent / page).is_file(), page


def test_readme_make_targets_exist() -> None:
    targets = re.findall(
        r"^([\w-]+):", (README.parent / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    for target in re.findall(r"^    make (\S+)", README.read_text("utf-8"), re.MULTILINE):
        assert target in targets
