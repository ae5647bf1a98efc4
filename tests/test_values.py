"""Values are what `dataclasses` would make of them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace
from inspect import signature

import pytest

from thudmud.values import value


@value
class Point:
    """One of ours."""

    x: int
    y: int = 0
    seen: float = field(default=0.0, compare=False)
    note: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Plain:
    """What it is measured by."""

    x: int
    y: int = 0
    seen: float = field(default=0.0, compare=False)
    note: str = field(default="", repr=False)


@value
class Nothing:
    """One without fields."""


def test_they_are_equal_and_hash_by_what_is_compared() -> None:
    assert Point(1, 2, seen=3.0) == Point(1, 2, seen=4.0)
    assert hash(Point(1, 2, seen=3.0)) == hash(Point(1, 2))
    assert Point(1, 2) != Point(1, 3)
    assert Point(1, note="a") != Point(1)
    assert Point(1) != Plain(1)  # type: ignore[comparison-overlap]
    assert Nothing() == Nothing()
    assert len({Nothing(), Nothing(), Point(1), Point(1)}) == 2


def test_they_print_as_dataclasses_do() -> None:
    assert repr(Point(1, note="a")) == repr(Plain(1, note="a")).replace("Plain", "Point")
    assert repr(Nothing()) == "Nothing()"


def test_they_cannot_be_changed_but_replaced_copied_and_pickled() -> None:
    point = Point(1, 2)
    with pytest.raises(FrozenInstanceError):
        point.x = 3  # type: ignore[misc]
    assert replace(point, x=3) == Point(3, 2)
    assert pickle.loads(pickle.dumps(point)) == copy.deepcopy(point) == point  # noqa: S301
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_they_are_made_as_dataclasses_are() -> None:
    names = signature(Point).parameters
    assert [*names] == [*signature(Plain).parameters]
    assert all(
        names[each].default == known.default for each, known in signature(Plain).parameters.items()
    )
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]


def test_what_a_class_says_of_itself_stands() -> None:
    @value
    class Own:
        x: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __repr__(self) -> str:
            return "own"

        def __hash__(self) -> int:
            return 7

    assert Own(1) == Own(2)
    assert (hash(Own(1)), repr(Own(1))) == (7, "own")
