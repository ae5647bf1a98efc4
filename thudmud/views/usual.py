"""GMCP packages that are common on other MUDs, derived from facts, for clients' chat tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from zlib import crc32

from thudmud.english import capitalised, conjugate
from thudmud.views.data import Fact

_AREA, _HALL = "thudmud", "hall"


def usual(known: Iterable[Fact]) -> Iterator[Fact]:
    """Yield the common GMCP packages for some facts."""
    for fact in known:
        if make := _MADE_OF.get(fact.package):
            for package, data in make(fact.data):
                yield Fact(package, data, fact.to)


_Made = Iterator[tuple[str, Any]]


def _me(data: Mapping[str, Any]) -> _Made:
    room = data["room"] or _HALL
    yield "Char.Name", _person(data)
    number = crc32(room.encode())  # mappers need a constant number for each room
    where = {"num": number, "name": capitalised(room), "area": _AREA}
    yield "Room.Info", {**where, "environment": "Indoors", "exits": {}}


def _here(data: Mapping[str, Any]) -> _Made:
    yield "Room.Players", [_person(each) for each in data["people"]]


def _came(data: Mapping[str, Any]) -> _Made:
    yield "Room.AddPlayer", _person(data)


def _went(data: Mapping[str, Any]) -> _Made:
    yield "Room.RemovePlayer", data["player"]


def _channel_text(data: Mapping[str, Any]) -> _Made:
    kind, player, text = data["kind"], data["player"], data["text"]
    said = conjugate(player, None, kind)
    told = {"emote": f"{player} {text}", "tell": f"{said} {data['to']}: {text}"}
    line = told.get(kind, f"{said}: {text}")
    yield "Comm.Channel.Text", {"channel": kind, "talker": player, "text": line}


def _person(data: Mapping[str, Any]) -> Mapping[str, str]:
    return {"name": data["player"], "fullname": data["player"]}


_MADE_OF: Mapping[str, Callable[[Mapping[str, Any]], _Made]] = {
    "Thud.Me": _me,
    "Thud.Here": _here,
    "Thud.Came": _came,
    "Thud.Went": _went,
    "Thud.Say": _channel_text,
}
