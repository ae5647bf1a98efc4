"""Serialization of the notes between nodes, and of every aside in them."""

from __future__ import annotations

from enum import Enum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from thudmud import features
from thudmud.features.options.commands import SetToggle
from thudmud.game.archive import NOTHING_FOUND, LookupResults
from thudmud.game.asides import Aside
from thudmud.game.options import Options, SetOption, Toggle
from thudmud.service.nodes import (
    NameReleased,
    NodeAsides,
    NodeHello,
    Note,
    ReleaseRequest,
    note_form,
)
from thudmud.values import Value

features.load()

SAMPLES: dict[Any, object] = {
    str: "Anna",
    bool: True,
    int: 3,
    float: 1.5,
    LookupResults: NOTHING_FOUND,
    SetOption: SetToggle(Toggle.SHOUT, value=True),
    Options: Options(),
}
"""Sample values by type; samples of other types are composed of these."""


def sample(hint: Any) -> Any:
    """Return a sample value of a type, with optional fields filled in."""
    if hint in SAMPLES:
        return SAMPLES[hint]
    if isinstance(hint, UnionType):
        return sample(next(each for each in get_args(hint) if each is not NoneType))
    if get_origin(hint) is tuple:
        return tuple(sample(each) for each in get_args(hint) if each is not ...)
    if issubclass(hint, Enum):
        return next(iter(hint))
    hints = get_type_hints(hint)
    names = hint.__struct_fields__ if issubclass(hint, Value) else hints
    return hint(**{name: sample(hints[name]) for name in names})


def test_name_of_a_str_subclass_is_sent_as_plain_text() -> None:
    class Name(str):
        __slots__ = ()

    form = note_form()
    note = form.from_text(form.to_text(NameReleased("house", Name("Vimes"))))
    assert (note, type(note.name)) == (NameReleased("house", "Vimes"), str)


@pytest.mark.parametrize("kind", Aside.kinds_for_other_nodes(), ids=lambda kind: kind.__name__)
def test_aside_survives_a_round_trip_through_a_note(kind: type[Aside]) -> None:
    form, aside = note_form(), sample(kind)
    read = form.from_text(form.to_text(NodeAsides("one", "", (aside,))))
    assert isinstance(read, NodeAsides)
    [found] = read.asides
    assert type(found) is kind
    for name in kind.__struct_fields__:
        if not isinstance(getattr(aside, name), SetOption):  # not sent to other nodes
            assert getattr(found, name) == getattr(aside, name)


@pytest.mark.parametrize(
    "note", [NodeHello("one"), ReleaseRequest("one", "", "Anna"), NameReleased("", "Anna")]
)
def test_note_survives_a_round_trip(note: Note) -> None:
    assert note_form().from_text(note_form().to_text(note)) == note
