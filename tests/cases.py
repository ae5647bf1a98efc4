"""Parametrization for cases that run faster than a test is collected, set up and reported."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def cases(
    names: str | Sequence[str], values: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run all cases in one test, which names the failing one; otherwise like ``parametrize``.

    The cases share their fixtures, so the test must not change any state.
    """
    keys, listed = [names] if isinstance(names, str) else names, list(values)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def try_all(*args: Any, **given: Any) -> None:
            assert listed, "there is no case"
            for value in listed:
                case = dict(zip(keys, [value] if isinstance(names, str) else value, strict=True))
                try:
                    test(*args, **given, **case)
                except BaseException as error:
                    error.add_note(f"in the case {case}")
                    raise

        signature = inspect.signature(test)
        left = [each for name, each in signature.parameters.items() if name not in keys]
        try_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return try_all

    return decorate
