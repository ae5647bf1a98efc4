"""Values: frozen dataclasses, whose classes are made in a quarter of the time.

There are hundreds, and `dataclass` compiles six methods for each, which takes most of the time of
loading thudmud. Five of them are the same for all classes, apart from the names of fields; the
sixth, ``__init__``, is compiled when the first value of its class is made: most never are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from inspect import Signature, signature
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(kind: type[T]) -> type[T]:
    """Decorate a class as ``@dataclass(frozen=True, slots=True)`` does.

    Fields are given by position or by name; what is not (``init=False``), ``__post_init__`` sets.
    """
    made = dataclass(slots=True, init=False, eq=False, repr=False)(kind)
    own = vars(kind)
    shown = tuple(each.name for each in fields(made) if each.repr)  # type: ignore[arg-type]
    compared = tuple(each.name for each in fields(made) if each.compare)  # type: ignore[arg-type]
    key = _key(compared)
    made.__init__ = _begun(made)  # type: ignore[method-assign]
    made.__setattr__ = made.__delattr__ = _fixed  # type: ignore[method-assign]
    made.__setstate__ = _restored  # type: ignore[attr-defined]
    made.__signature__ = _Signature()  # type: ignore[attr-defined]
    if "__eq__" not in own:
        made.__eq__ = _equal(key)  # type: ignore[method-assign]
    if own.get("__hash__") is None:
        made.__hash__ = _hashed(key)  # type: ignore[method-assign, assignment]
    if "__repr__" not in own:
        made.__repr__ = _represented(shown)  # type: ignore[method-assign]
    return made


def _begun(made: type[Any]) -> Callable[..., None]:
    """Return the ``__init__`` of a class until it is called, which puts the real one there."""

    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        made.__init__ = _initial(made)
        made.__init__(self, *args, **kwargs)

    return begin


def _initial(made: type[Any]) -> Callable[..., None]:
    """Return the ``__init__`` of a class.

    It sets fields by the descriptors of their slots, which takes half as long as
    ``object.__setattr__``.
    """
    known: dict[str, Any] = {"MISSING": MISSING}
    parameters, steps = ["self"], []
    for each in fields(made):
        name = given = each.name
        if not each.init:
            continue
        known[f"set_{name}"] = getattr(made, name).__set__
        if each.default is not MISSING:
            known[f"usual_{name}"] = each.default
            parameters.append(f"{name}=usual_{name}")
        elif each.default_factory is not MISSING:
            known[f"make_{name}"] = each.default_factory
            parameters.append(f"{name}=MISSING")
            given = f"make_{name}() if {name} is MISSING else {name}"
        else:
            parameters.append(name)
        steps.append(f"set_{name}(self, {given})")
    if hasattr(made, "__post_init__"):
        steps.append("self.__post_init__()")
    body = "; ".join(steps or ["pass"])
    exec(f"def __init__({', '.join(parameters)}): {body}", known)  # noqa: S102  (as `dataclass` does)
    init: Callable[..., None] = known["__init__"]
    return init


class _Signature:
    """The parameters of a class for `inspect`, although its ``__init__`` may not be made yet."""

    def __get__(self, _: object, made: type[Any]) -> Signature:
        whole = signature(_initial(made))
        return whole.replace(parameters=[*whole.parameters.values()][1:])


def _fixed(_: object, name: str, *__: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _restored(self: object, state: tuple[None, dict[str, Any]]) -> None:
    """Set the fields of a value that is copied, or read from a pickle."""
    for name, each in state[1].items():
        object.__setattr__(self, name, each)


def _key(names: tuple[str, ...]) -> Callable[[Any], object]:
    return attrgetter(*names) if names else type


def _equal(key: Callable[[Any], object]) -> Callable[[Any, object], bool]:
    def equal(self: Any, other: object) -> bool:
        return key(self) == key(other) if type(other) is type(self) else NotImplemented

    return equal


def _hashed(key: Callable[[Any], object]) -> Callable[[Any], int]:
    def hashed(self: Any) -> int:
        return hash(key(self))

    return hashed


def _represented(names: tuple[str, ...]) -> Callable[[Any], str]:
    def represented(self: Any) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({told})"

    return represented
