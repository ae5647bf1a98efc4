"""The pages for programmers: a reference that is up to date, and correct examples."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from docs import gmcp_reference as reference
from docs.gmcp_reference import NULL, TEXTS, Packet, Types
from tests.views.every_refusal import every_refusal
from tests.views.short_game import played
from thudmud.features.analysis.model import PlyMark
from thudmud.features.exercises.model import PUZZLE, TUTORIAL, Remark
from thudmud.game.advice import Merit
from thudmud.game.events import Offer, SeekEnd
from thudmud.game.match import Unrated
from thudmud.game.refusals import Mistake, NameProblem, Refusal
from thudmud.rules import RULESETS, Ending, Reason, Verb
from thudmud.views.facts import TAG
from thudmud.views.refusals import _KINDS, _TEXTS

MACHINE = (Path(__file__).parents[2] / "docs" / "machine.md").read_text("utf-8")
PACKAGES = list(TEXTS["packages"])


@pytest.fixture(scope="module")
def made() -> dict[str, list[Packet]]:
    """Return all packets of the sample game by package."""
    return reference.recorded()


@pytest.fixture(scope="module")
def types(made: dict[str, list[Packet]]) -> dict[str, Types]:
    """Return the types of all keys by package."""
    return reference.all_types(made)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Return all machine lines of the short game."""
    texts = [line for message in played()["Bert"] for line in message.text.split("\n")]
    return [line for line in texts if line.startswith(TAG)]


def section(package: str) -> str:
    """Return the reference's section on a package."""
    page = reference.PAGE.read_text("utf-8")
    return re.split("\n###? ", page.split(f"\n### {package}\n")[1])[0]


def test_gmcp_reference_is_up_to_date() -> None:
    assert reference.PAGE.read_text("utf-8") == reference.make(), 'run "make docs"'


def test_gmcp_reference_has_every_package(made: dict[str, list[Packet]]) -> None:
    assert set(made) == set(PACKAGES)


def test_gmcp_texts_give_each_key_a_meaning_and_no_other(types: dict[str, Types]) -> None:
    needed = {reference.entry(package, key) for package, known in types.items() for key in known}
    given = {("keys", key) for key in TEXTS["keys"]}
    for package, texts in TEXTS["packages"].items():
        given |= {(package, key) for key in texts.get("keys", ())}
        assert {*texts.get("words", ())} <= {key.split(".")[-1] for key in types[package]}
    assert given == needed
    assert set(TEXTS["details"]) == set(reference.detail_types())


def test_gmcp_texts_explain_exactly_the_keys_that_can_be_null(types: dict[str, Types]) -> None:
    nullable: dict[tuple[str, str], bool] = {}
    for package, known in types.items():
        for key, kinds in known.items():
            name = reference.entry(package, key)
            nullable[name] = nullable.get(name, False) or "null" in kinds
    for (owner, key), is_nullable in nullable.items():
        texts = TEXTS["keys"] if owner == "keys" else TEXTS["packages"][owner]["keys"]
        assert (NULL in texts[key]) is is_nullable, (owner, key)
    for detail, kinds in reference.detail_types().items():
        assert (NULL in TEXTS["details"][detail]) is ("null" in kinds), detail


def test_gmcp_keys_have_a_type_besides_null(types: dict[str, Types]) -> None:
    unknown = {
        (package, key)
        for package, known in types.items()
        for key, kinds in known.items()
        if not kinds - {"null", "list"}
    }
    assert unknown == {("Thud.Games", f"adjourned.{key}") for key in ("outcome", "winner", "score")}


def test_packets_of_a_package_have_the_same_keys(made: dict[str, list[Packet]]) -> None:
    for packets in made.values():
        assert {tuple(packet) for packet in packets} == {tuple(packets[0])}


def test_record_packet_of_a_clocked_battle_includes_times(made: dict[str, list[Packet]]) -> None:
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
def test_gmcp_reference_explains_every_enumerated_word(package: str, words: list[str]) -> None:
    for word in words:
        assert f"`{word}`" in section(package)


def test_gmcp_reference_has_every_refusal_code() -> None:
    codes = {*Reason, *Refusal, *Mistake, *(code for code in _TEXTS if code not in NameProblem)}
    assert {refusal.code for refusal in every_refusal()} == codes


def test_gmcp_reference_has_every_kind_of_expected_word() -> None:
    for refusal in every_refusal():
        expected = reference.details_of(refusal).get("expected", ())
        assert {word for word in expected if word.startswith("<")} <= set(_KINDS)


def test_machine_page_examples_are_lines_of_the_sample_game(lines: list[str]) -> None:
    shown = re.findall(r"^    (@.*)$", MACHINE, re.MULTILINE)
    assert len(shown) == 6
    assert [line for line in shown if line not in lines] == []


def test_machine_page_names_every_type(lines: list[str]) -> None:
    types = {json.loads(line.removeprefix(TAG))["type"] for line in lines}
    asked = {"Thud.Answer"}  # only by packages, which a client with machine lines doesn't send
    assert types == {package.partition(".")[2].lower() for package in set(PACKAGES) - asked}
    for each in types:
        assert f"`{each}`" in MACHINE


def test_machine_line_has_the_keys_of_its_package(
    made: dict[str, list[Packet]], lines: list[str]
) -> None:
    for line in lines:
        kind, *rest = json.loads(line.removeprefix(TAG)).items()
        package = f"Thud.{kind[1].capitalize()}"
        assert [key for key, _ in rest] == list(made[package][0])
