"""Cases of which each takes less time than a test takes to be collected, begun and reported."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def cases(
    names: str | Sequence[str], values: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Try all cases in one test, which says in which it failed; else like ``parametrize``.

    They have their fixtures together, so it is for tests that change nothing.
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
