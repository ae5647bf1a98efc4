"""The shape of functions: short and flat, or with a reason in the source."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

MOST_LINES = 40
"""The most lines of code of a function without a reason; its docstring doesn't count."""

MOST_NESTING = 4
"""The deepest nesting of a function's statements. There are no exceptions."""

REASON = "# Long: "
"""Begins a comment that says why a function isn't split."""

Function = ast.FunctionDef | ast.AsyncFunctionDef

NESTING = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)


def functions_of(source: str) -> Iterator[Function]:
    """Yield the functions of a module, including methods and nested functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Function):
            yield node


def lines_of_code(function: Function, source: str) -> list[str]:
    """Return the lines of a function without its docstring."""
    last = function.end_lineno or function.lineno
    numbers = set(range(function.lineno, last + 1))
    if ast.get_docstring(function, clean=False) is not None:
        docstring = function.body[0]
        numbers -= set(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    lines = source.splitlines()
    return [lines[number - 1] for number in sorted(numbers)]


def nesting(node: ast.AST) -> int:
    """Return the depth of nested compound statements; ``elif`` counts as ``if``."""
    deepest = 0
    for name, field in ast.iter_fields(node):
        children = field if isinstance(field, list) else [field]
        is_elif = isinstance(node, ast.If) and name == "orelse" and len(children) == 1
        for child in children:
            if isinstance(child, Function | ast.ClassDef | ast.Lambda):
                continue
            if isinstance(child, ast.AST):
                adds = isinstance(child, NESTING) and not (is_elif and isinstance(child, ast.If))
                deepest = max(deepest, adds + nesting(child))
    return deepest


def problems(source: str) -> Iterator[str]:
    """Yield the functions that are too long without a reason, or nested too deep."""
    for function in functions_of(source):
        code = lines_of_code(function, source)
        if len(code) > MOST_LINES and not any(REASON in line for line in code):
            yield f"{function.name}: {len(code)} lines"
        if (depth := nesting(function)) > MOST_NESTING:
            yield f"{function.name}: nesting {depth}"


def test_functions_are_short_and_flat() -> None:
    paths = sorted((ROOT / "thudmud").rglob("*.py"))
    assert len(paths) > 300
    found = [
        f"{path.relative_to(ROOT)}: {problem}"
        for path in paths
        for problem in problems(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("lines", "comment", "is_accepted"),
    [
        (MOST_LINES, "", True),
        (MOST_LINES + 1, "", False),
        (MOST_LINES + 1, "# Long: one table.", True),
        (MOST_LINES + 1, "# Long", False),
    ],
)
def test_long_function_needs_a_reason(lines: int, comment: str, *, is_accepted: bool) -> None:
    body = [f"    pass  {comment}", *["    pass"] * (lines - 2)]
    source = "\n".join(["def long() -> None:", '    """Do', "    nothing.", '    """', *body])
    assert list(problems(source)) == ([] if is_accepted else [f"long: {lines} lines"])


def test_deep_nesting_is_reported() -> None:
    heads = ["def deep(a):", "if a:", "with a:", "for b in a:", "while b:", "match b:", "case 1:"]
    flat = "\n".join(" " * depth + head for depth, head in enumerate([*heads[:5], "pass"]))
    deep = "\n".join(" " * depth + head for depth, head in enumerate([*heads, "pass"]))
    assert list(problems(flat)) == []
    assert list(problems(deep)) == ["deep: nesting 5"]


def test_elif_is_no_deeper_than_if() -> None:
    source = textwrap.dedent(
        """
        def chain(a):
            if a == 1:
                pass
            elif a == 2:
                pass
            elif a == 3:
                pass
        """
    )
    assert [nesting(each) for each in functions_of(source)] == [1]
