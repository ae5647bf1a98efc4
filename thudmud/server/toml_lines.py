"""Finds the lines of settings in a TOML file, for messages: tomllib tells none."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

ValuePath = Sequence[int | str]
"""The keys and indices that lead to a value, such as ``("board", 1, "rules")``."""


def find_lines(text: str, paths: Sequence[ValuePath]) -> list[int | None]:
    """Return the line on which each value begins, counted from 1.

    A value that isn't there has the line of the section or list that it should be in, and None if
    that isn't there, either.

    Theory: TOML is read from the top, so each beginning of a file that is valid itself ends after a
    complete value, a header, or a remark. A value begins on the line after the longest valid
    beginning without it.

    Args:
        text: a valid TOML document.
        paths: the values to find.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    found: list[int | None] = [None] * len(paths)
    depths = [0] * len(paths)
    valid = 0  # lines of the longest valid beginning so far
    for number, line in enumerate(lines, 1):
        if valid == number - 1 and line.strip()[:1] in {"", "#"}:
            valid = number
            continue
        try:
            values = tomllib.loads("\n".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue
        for index, path in enumerate(paths):
            depth = _depth(values, path)
            if depth > depths[index]:
                depths[index], found[index] = depth, valid + 1
        valid = number
    return found


def _depth(values: Any, path: ValuePath) -> int:
    """Return the number of a path's steps that exist."""
    for depth, step in enumerate(path):
        try:
            values = values[step]
        except (KeyError, IndexError, TypeError):
            return depth
    return len(path)
