"""Standard GMCP packages of other MUDs, and their table in the docs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from thudmud import BoardSpec, House, Terminal
from thudmud.views.view import USUAL

PAGE = (Path(__file__).parents[2] / "docs" / "gmcp.md").read_text("utf-8")
SECTION = PAGE.split("## Packages of other MUDs")[1].split("\n## ")[0]
NOW = 1_800_000_000.0


def told(house: House, name: str, line: str) -> list[tuple[str, Any]]:
    messages = house.obey(name, line, NOW)
    return [(each.package, each.data) for each in messages if each.package and "Anna" in each.to]


@pytest.fixture
def house() -> House:
    house = House([BoardSpec("oak board")])
    packages = frozenset({"Char", "Room", "Comm"})
    house.enter("Anna", NOW, Terminal(packages=packages))
    house.enter("Bert", NOW)
    return house


def test_walking_sends_char_name_and_room_packages(house: House) -> None:
    _, me, there, here = told(house, "Anna", "go to oak board")
    assert me == ("Char.Name", {"name": "Anna", "fullname": "Anna"})
    assert there[0] == "Room.Info"
    assert there[1]["name"] == "Oak board"
    assert here == ("Room.Players", [{"name": "Anna", "fullname": "Anna"}])
    assert told(house, "Bert", "go to oak board") == [
        ("Room.AddPlayer", {"name": "Bert", "fullname": "Bert"})
    ]
    assert told(house, "Bert", "go to hall") == [("Room.RemovePlayer", "Bert")]
    numbers = {data["num"] for package, data in told(house, "Anna", "go to hall") if "num" in data}
    assert numbers != {there[1]["num"]}


@pytest.mark.parametrize(
    ("line", "channel", "text"),
    [
        ("say Hello!", "say", "Bert says: Hello!"),
        ("emote waves.", "emote", "Bert waves."),
        ("tell anna Hello!", "tell", "Bert tells Anna: Hello!"),
        ("shout Hello!", "shout", "Bert shouts: Hello!"),
    ],
)
def test_speech_is_sent_as_channel_text(house: House, line: str, channel: str, text: str) -> None:
    assert told(house, "Bert", line) == [
        ("Comm.Channel.Text", {"channel": channel, "talker": "Bert", "text": text})
    ]


def test_watcher_speech_is_sent_as_channel_text(house: House) -> None:
    for name in ("Anna", "Bert"):
        house.obey(name, "go to oak board", NOW)
        house.obey(name, "watch", NOW)
    told_of = [told(house, "Bert", f"{verb} Hello!")[-1][1] for verb in ("kibitz", "whisper")]
    assert [each["channel"] for each in told_of] == ["kibitz", "whisper"]
    assert [each["text"] for each in told_of] == ["Bert kibitzes: Hello!", "Bert whispers: Hello!"]


def test_client_gets_only_the_standard_packages_it_asked_for() -> None:
    house = House([BoardSpec("oak board")])
    house.enter("Anna", NOW, Terminal(packages=frozenset({"Comm.Channel.Text", "Thud.Say"})))
    packages = [package for package, _ in told(house, "Anna", "say hello")]
    assert packages == ["Thud.Say", "Comm.Channel.Text"]
    assert told(house, "Anna", "go to oak board") == []


def test_table_of_standard_packages_matches_the_messages(house: House) -> None:
    rows = re.findall(r"^\| `(\S+)`(?:, `(\S+)`)? \| (.*?) \| ", SECTION, re.MULTILINE)
    named = {name for *names, _ in rows for name in names if name and "." in name}
    assert named >= {*USUAL, "Room.AddPlayer", "Room.RemovePlayer", "Core.Goodbye"}
    house.enter("Carla", NOW, room="oak board")
    messages = [*told(house, "Anna", "go to oak board"), *told(house, "Anna", "say Hello!")]
    examples = dict(re.findall(r"^\| `([\w.]+)` \| `(.*?)` \|", SECTION, re.MULTILINE))
    for package, data in messages:
        if package in examples and package != "Room.Players":
            assert json.loads(examples[package]) == data
