"""Values compare, hash, print and are replaced by their fields."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path

import pytest

from thudmud.errors import InvalidValueError
from thudmud.immutable import immutable
from thudmud.values import Value, defaults_of, replace

ROOT = Path(__file__).parents[1] / "thudmud"


class Point(Value):
    """A value class."""

    SECRETS = frozenset({"note"})

    x: int
    y: int = 0
    note: str = ""

    def __post_init__(self) -> None:
        if self.x < 0:
            raise InvalidValueError("it is on the left")


class Place(Point):
    """A derived value class with additional fields."""

    name: str = "here"


class Nothing(Value):
    """A value class without fields."""


@dataclass(frozen=True)
class Plain:
    """A plain dataclass."""

    x: int
    y: int = 0


@immutable
@dataclass(frozen=True, slots=True)
class Slotted:
    """A frozen dataclass with slots and a property."""

    x: int

    @property
    def double(self) -> int:
        return 2 * self.x


@pytest.mark.parametrize("name", ["x", "double", "y"])
def test_immutable_dataclass_refuses_every_assignment(name: str) -> None:
    slotted = Slotted(1)
    with pytest.raises(FrozenInstanceError, match=f"Slotted is immutable: can't set {name}"):
        setattr(slotted, name, 3)
    with pytest.raises(FrozenInstanceError, match=f"Slotted is immutable: can't delete {name}"):
        delattr(slotted, name)
    assert slotted == replace(Slotted(2), x=1) == copy.deepcopy(slotted)
    assert pickle.loads(pickle.dumps(slotted)) == slotted  # noqa: S301 (our own)


def test_frozen_dataclasses_with_slots_are_all_immutable() -> None:
    bare = re.compile(r"(?<!@immutable\n)@dataclass\([^)\n]*frozen=True, slots=True")
    sources = {path: path.read_text("utf-8") for path in ROOT.rglob("*.py")}
    assert sum("@immutable\n" in source for source in sources.values()) > 10
    assert [path for path, source in sources.items() if bare.search(source)] == []


def test_values_are_equal_and_hash_by_fields_and_type() -> None:
    assert Point(1, 2) == Point(x=1, y=2)
    assert hash(Point(1, 2)) == hash(Point(1, 2))
    assert Point(1, 2) != Point(1, 3)
    assert Point(1) != Place(1)
    assert len({Nothing(), Nothing(), Point(1), Point(1)}) == 2


def test_repr_omits_secret_fields() -> None:
    assert repr(Place(1, note="secret")) == "Place(x=1, y=0, name='here')"
    assert repr(Nothing()) == "Nothing()"


def test_base_fields_come_first_and_defaults_are_known() -> None:
    assert Place.__struct_fields__ == ("x", "y", "note", "name")
    assert defaults_of(Place) == {"y": 0, "note": "", "name": "here"}
    with pytest.raises(TypeError, match="Missing required argument 'x'"):
        Point()  # type: ignore[call-arg]


def test_values_are_immutable_but_can_be_replaced_and_pickled() -> None:
    point = Point(1, 2)
    with pytest.raises(AttributeError, match="immutable type"):
        point.x = 3  # type: ignore[misc]
    assert replace(point, x=3) == Point(3, 2)
    assert pickle.loads(pickle.dumps(point)) == copy.deepcopy(point) == point  # noqa: S301
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_replacement_is_validated_like_construction() -> None:
    with pytest.raises(InvalidValueError, match="left"):
        Point(-1)
    with pytest.raises(InvalidValueError, match="left"):
        replace(Point(1), x=-1)


def test_dataclasses_can_be_replaced_too() -> None:
    assert replace(Plain(1), y=2) == Plain(1, 2)
    for each in (Point(1), Plain(1)):
        with pytest.raises(TypeError, match="z"):
            replace(each, z=1)
