"""Fallback for browsers without the CSS function ``light-dark()``.

Those are Chrome before 123, Firefox before 120 and Safari before 17.5.
"""

from __future__ import annotations

import re

_RULE = re.compile(r"^([^\s@/{}][^{}]*) \{\n([^{}]*)\}\n", re.MULTILINE)
_PAIR = re.compile(r"^ *(--[\w-]+): light-dark\(([^,()]+), ([^,()]+)\);$", re.MULTILINE)
_DARK, _NOT_LIGHT = '[{}="dark"]', ':not([{}="light"])'


def with_plain_colours(css: str) -> str:
    """Return a style sheet with each ``light-dark()`` pair as two plain colours, too.

    A custom property takes any value, so that an unknown function would win over a plain colour
    declared before it. Each rule with pairs is therefore followed by ``@supports``.
    """
    return _RULE.sub(lambda rule: rule[0] + _fallback(rule[1], rule[2]), css)


def _fallback(selector: str, body: str) -> str:
    """Return the rules for browsers without ``light-dark()``; none if a rule has no such pairs."""
    pairs = _PAIR.findall(body)
    if not pairs:
        return ""
    light = "".join(f"{name}: {colour};" for name, colour, _ in pairs)
    dark = "".join(f"{name}: {colour};" for name, _, colour in pairs)
    return (
        "@supports not (color: light-dark(red, red)) {\n"
        f"{selector} {{{light}}}\n"
        f"{_narrowed(selector, _DARK)} {{{dark}}}\n"
        "@media (prefers-color-scheme: dark) {\n"
        f"{_narrowed(selector, _NOT_LIGHT)} {{{dark}}}\n"
        "}\n}\n"
    )


def _narrowed(selector: str, condition: str) -> str:
    """Add a condition on the theme to a selector; ``:where`` keeps its specificity."""
    if selector == ":host":
        return f":host(:where({condition.format('theme')}))"
    if selector.startswith(":host("):
        return f"{selector[:-1]}:where({condition.format('theme')}))"
    return f"{selector}:where({condition.format('data-theme')})"
