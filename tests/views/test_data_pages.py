"""The pages for programmers: correct examples, and every key documented."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.cases import cases
from tests.views.short_game import played
from tests.views.test_refusals import all_refusals
from thudmud.features.analysis.model import PlyMark
from thudmud.features.exercises.model import PUZZLE, TUTORIAL, Remark
from thudmud.game.advice import Merit
from thudmud.game.events import Offer, SeekEnd
from thudmud.game.match import Unrated
from thudmud.game.refusals import Mistake, NameProblem, Refusal
from thudmud.rules import RULESETS, Ending, Reason, Verb
from thudmud.views.facts import TAG, as_json, refusal_fact
from thudmud.views.refusals import _TEXTS

DOCS = Path(__file__).parents[2] / "docs"
GMCP = (DOCS / "gmcp.md").read_text("utf-8")
MACHINE = (DOCS / "machine.md").read_text("utf-8")
PACKAGES = ["Thud.Table", "Thud.Listed", "Thud.Board", "Thud.Move", "Thud.End", "Thud.Result"]
PACKAGES += ["Thud.Say", "Thud.Message", "Thud.Messages", "Thud.Notify", "Thud.Observe", "Thud.Tv"]
PACKAGES += ["Thud.Invite", "Thud.Hint", "Thud.Exercise", "Thud.Comment", "Thud.Bots"]
PACKAGES += [
    "Thud.Analysis",
    "Thud.Explored",
    "Thud.Seek",
    "Thud.Settled",
    "Thud.Declined",
    "Thud.Closed",
]
PACKAGES += [
    "Thud.Renamed",
    "Thud.Me",
    "Thud.Options",
    "Thud.Here",
    "Thud.Came",
    "Thud.Went",
    "Thud.Who",
    "Thud.Finger",
    "Thud.Follow",
    "Thud.Followed",
    "Thud.Legal",
    "Thud.Plies",
    "Thud.Broadcast",
    "Thud.Shutdown",
]
PACKAGES += ["Thud.Replay", "Thud.Record", "Thud.History", "Thud.Games", "Thud.Standings"]
PACKAGES += ["Thud.Score", "Thud.Tournament", "Thud.Crosstable", "Thud.Refused"]

Fact = dict[str, Any]


@pytest.fixture(scope="module")
def made() -> dict[str, list[Fact]]:
    """Return all facts of the short game by package."""
    facts: dict[str, list[Fact]] = {}
    for message in played()["Anna"]:
        if message.package:
            facts.setdefault(message.package, []).append(json.loads(message.text))
    return facts


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Return all machine lines of the short game."""
    texts = [line for message in played()["Bert"] for line in message.text.split("\n")]
    return [line for line in texts if line.startswith(TAG)]


def section(package: str) -> str:
    """Return the page's section on a package, without the refusal codes."""
    return re.split("\n####? ", GMCP.split(f"\n### {package}\n")[1])[0]


def keys(value: object, under: str = "") -> Iterator[str]:
    """Yield the keys of a fact as the page names them, nested keys after a dot."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield under + key
            yield from keys(inner, f"{under}{key}.")
    elif isinstance(value, list):
        for each in value:
            yield from keys(each, under)


def documented(package: str) -> list[str]:
    rows = re.findall(r"^\| (`.*?) \|", section(package), re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]


def test_gmcp_page_documents_every_package(made: dict[str, list[Fact]]) -> None:
    assert re.findall(r"^### (.*)$", GMCP, re.MULTILINE) == PACKAGES
    assert set(made) == set(PACKAGES)


@cases("package", PACKAGES)
def test_gmcp_examples_are_packets_of_the_sample_game(
    package: str, made: dict[str, list[Fact]]
) -> None:
    examples = re.findall(r"```json\n(.*?)```", section(package), re.DOTALL)
    assert examples
    for example in examples:
        told = json.loads(example)
        (same, *_) = [fact for fact in made[package] if fact == told] or [made[package][0]]
        assert json.dumps(told) == json.dumps(same)  # including the order of the keys


@cases("package", PACKAGES)
def test_gmcp_page_documents_every_key_in_packet_order(
    package: str, made: dict[str, list[Fact]]
) -> None:
    for fact in made[package]:
        assert list(fact) == list(made[package][0])
    there = {key for fact in made[package] for key in keys(fact) if not key.startswith("details.")}
    assert set(documented(package)) == there
    assert [key for key in documented(package) if "." not in key] == list(made[package][0])


def test_record_packet_of_a_clocked_battle_includes_times(made: dict[str, list[Fact]]) -> None:
    [timed] = [fact for fact in made["Thud.Record"] if fact["time"] == "10+5"]
    first, second, third, *_ = timed["moves"]
    assert [(each["spent"], each["left"]) for each in (first, second, third)] == [
        (10, 595),
        (10, 595),
        (10, 590),
    ]
    assert "; time 0:10.0\n" in timed["record"]
    [then] = [fact for fact in made["Thud.Replay"] if fact["battle"] == timed["battle"]]
    assert then["clock"] == {"dwarf": 585, "troll": 590}


@pytest.mark.parametrize(
    ("package", "words"),
    [
        ("Thud.Table", [*RULESETS, *(offer.value for offer in Offer)]),
        ("Thud.Move", [*(verb.value for verb in Verb), "dwarf", "troll", "rock"]),
        ("Thud.End", [ending.value.replace(" ", "_") for ending in Ending]),
        ("Thud.End", [why.value for why in Unrated]),
        ("Thud.Say", ["say", "emote", "tell", "shout"]),
        ("Thud.Invite", ["dwarf", "troll"]),
        ("Thud.Settled", [why.value for why in SeekEnd]),
        ("Thud.Hint", [merit.value for merit in Merit]),
        ("Thud.Analysis", [mark.value for mark in PlyMark]),
        ("Thud.Exercise", [TUTORIAL, PUZZLE, *(remark.value for remark in Remark)]),
    ],
)
def test_gmcp_page_documents_every_enumerated_word(package: str, words: list[str]) -> None:
    for word in words:
        assert f"`{word}`" in section(package)


def test_gmcp_page_documents_every_refusal_code_with_its_details() -> None:
    _, refused = GMCP.split("\n#### ", 1)
    rows = re.findall(r"^\| `(\w+)` \| (.*?)\| .* \|$", refused, re.MULTILINE)
    told = {code: re.findall(r"`(\w+)`", details) for code, details in rows}
    codes = {*Reason, *Refusal, *Mistake, *(kind for kind in _TEXTS if kind not in NameProblem)}
    assert sorted(told) == sorted(code.value for code in codes)
    of_lines = re.findall(r"^\| `(\w+)` \| [^|]* \|$", refused, re.MULTILINE)
    for refusal in all_refusals():
        fact = refusal_fact(refusal, "Anna").data
        assert json.loads(as_json(fact)) == fact
        details = cast("dict[str, Any]", fact["details"])
        more = of_lines if isinstance(refusal.code, Mistake) else []
        assert set(details) == {*told[refusal.code.value], *more}
        for word in details.get("expected", ()):
            assert f"`{word}`" in refused or not word.startswith("<")


def test_machine_page_examples_are_lines_of_the_sample_game(lines: list[str]) -> None:
    shown = re.findall(r"^    (@.*)$", MACHINE, re.MULTILINE)
    assert len(shown) == 6
    assert [line for line in shown if line not in lines] == []


def test_machine_page_names_every_type(lines: list[str]) -> None:
    types = {json.loads(line.removeprefix(TAG))["type"] for line in lines}
    assert types == {package.partition(".")[2].lower() for package in PACKAGES}
    for each in types:
        assert f"`{each}`" in MACHINE


def test_machine_line_has_the_keys_of_its_package(
    made: dict[str, list[Fact]], lines: list[str]
) -> None:
    for line in lines:
        kind, *rest = json.loads(line.removeprefix(TAG)).items()
        package = f"Thud.{kind[1].capitalize()}"
        assert [key for key, _ in rest] == list(made[package][0])
