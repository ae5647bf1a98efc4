"""Make docs/gmcp-reference.md from recorded packets and docs/gmcp.toml; `make docs` runs this.

    python -m docs.gmcp_reference

Examples, keys and types come from the games of the tests, the sentences of refusals from the
server. docs/gmcp.toml says when a package is sent and what its keys mean.
"""

from __future__ import annotations

import json
import logging
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from tests.views.every_refusal import every_refusal
from tests.views.rare_facts import rare_facts
from tests.views.short_game import played
from thudmud.errors import RefusedError
from thudmud.language import ParseError
from thudmud.rules import Reason
from thudmud.views.facts import as_json, refusal_fact
from thudmud.views.refusals import _KINDS, refusal_text

PAGE = Path(__file__).with_name("gmcp-reference.md")
TEXTS = tomllib.loads(Path(__file__).with_name("gmcp.toml").read_text("utf-8"))
NULL = "; `null`"
"""Separates the part of a meaning that only applies to nullable keys."""
WIDTH, PAGE_WIDTH = 100, 120
"""Maximum widths of examples and of paragraphs."""
LONG = 1200
"""Length from which a packet is too long for a second example."""

Packet = Mapping[str, Any]
Types = dict[str, set[str]]
"""The JSON types of keys; nested keys follow a dot."""


# Recorded packets, their keys and their types.


def recorded() -> dict[str, list[Packet]]:
    """Return the packets of the sample game by package, for examples."""
    packets: dict[str, list[Packet]] = {}
    for message in played()["Anna"]:
        if message.package:
            packets.setdefault(message.package, []).append(json.loads(message.text))
    return packets


def all_types(packets: Mapping[str, list[Packet]]) -> dict[str, Types]:
    """Return the types of all keys by package, from the sample game and from rare packets.

    Keys of objects that several packages share, such as ``clock.runs``, have their types from all
    of them.
    """
    found: dict[str, Types] = {}
    rare = rare_facts()
    for package, known in packets.items():
        found[package] = types_of([*known, *rare.get(package, ())])
    entries = [
        (kinds, name)
        for package, known in found.items()
        for key, kinds in known.items()
        for section, name in [entry(package, key)]
        if section == "keys"
    ]
    shared: Types = {}
    for kinds, name in entries:
        shared.setdefault(name, set()).update(kinds)
    for kinds, name in entries:
        kinds |= {each for each in shared[name] if "." in name or each.startswith("list of ")}
    return found


def types_of(packets: Iterable[Packet]) -> Types:
    """Return the types of all keys of some packets, in order."""
    types: Types = {}
    for packet in packets:
        for key, value in values(packet):
            types.setdefault(key, set()).add(json_type(value))
    return {key: types[key] for key in sorted(types, key=_in_order(types))}


def _in_order(types: Types) -> Any:
    """Return a sort key that groups nested keys after their parent."""
    places = {key: place for place, key in enumerate(types)}

    def order(key: str) -> list[int]:
        parts = key.split(".")
        return [places[".".join(parts[: end + 1])] for end in range(len(parts))]

    return order


def values(value: object, under: str = "") -> Iterator[tuple[str, object]]:
    """Yield the keys of a packet with their values, nested keys after a dot.

    The details of a refusal have keys of their own, see `detail_types`.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            yield under + key, inner
            if key != "details":
                yield from values(inner, f"{under}{key}.")
    elif isinstance(value, list):
        for each in value:
            yield from values(each, under)


_NAMES = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object"}


def json_type(value: object) -> str:
    """Return the name of a value's JSON type, such as ``list of integers``."""
    if value is None:
        return "null"
    if not isinstance(value, list):
        return _NAMES[type(value)]
    kinds = {json_type(each) for each in value}
    if not kinds:
        return "list"
    (kind,) = kinds
    first, _, rest = kind.partition(" ")
    return f"list of {first}s {rest}".rstrip()


def type_name(types: set[str]) -> str:
    """Join the types of a key; an empty list has the type of the others."""
    named = set(types)
    if any(each.startswith("list of ") for each in named):
        named.discard("list")
    if "number" in named:
        named.discard("integer")
    return " or ".join(sorted(named, key=lambda each: (each == "null", "list" in each, each)))


# The texts of docs/gmcp.toml.


def entry(package: str, key: str) -> tuple[str, str]:
    """Return the section and the name of a key's meaning: the package's own, or a shared one.

    A shared meaning is that of the longest part of the key, from its end, that has one.

    Raises:
        KeyError: there is none.
    """
    if key in TEXTS["packages"][package].get("keys", {}):
        return package, key
    parts = key.split(".")
    for start in range(len(parts)):
        name = ".".join(parts[start:])
        if name in TEXTS["keys"]:
            return "keys", name
    raise KeyError(f"docs/gmcp.toml has no meaning for {key} of {package}")


def meaning(package: str, key: str, types: set[str]) -> str:
    """Return the meaning of a key."""
    section, name = entry(package, key)
    known = TEXTS["keys"] if section == "keys" else TEXTS["packages"][section]["keys"]
    text, null, when = cast("str", known[name]).partition(NULL)
    return text + null + when if "null" in types else text


# Examples.


def examples(packets: list[Packet]) -> list[Packet]:
    """Choose one or two packets that show most keys with values, short ones first."""

    def news(packet: Packet) -> tuple[int, int]:
        return len(_key_types(packet) - seen), -len(json.dumps(packet))

    seen = set[tuple[str, str]]()
    first = max(packets, key=news)
    seen = _key_types(first)
    second = max(packets, key=news)
    is_new = news(second)[0] and len(json.dumps(second)) < LONG
    return [first, second] if is_new else [first]


def _key_types(packet: Packet) -> set[tuple[str, str]]:
    shown = {(key, json_type(value)) for key, value in values(packet)}
    return {(key, kind) for key, kind in shown if kind not in {"null", "list"}}


def pretty(value: object, indent: int = 0, used: int = 0) -> str:
    """Write JSON in lines of at most `WIDTH` characters where possible."""
    line = json.dumps(value)
    if indent + used + len(line) < WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + 2
    if isinstance(value, dict):
        parts = []
        for key, each in value.items():
            name = f"{json.dumps(key)}: "
            parts.append(name + pretty(each, inner, len(name)))
    else:
        parts = [pretty(each, inner) for each in value]
    rows = [""]
    for part in parts:
        is_short = "\n" not in part and "\n" not in rows[-1]
        if rows[-1] and not (is_short and inner + len(rows[-1]) + len(part) + 2 <= WIDTH):
            rows.append("")
        rows[-1] += f" {part}," if rows[-1] else f"{part},"
    opens, closes = "{}" if isinstance(value, dict) else "[]"
    body = "\n".join(" " * inner + row for row in rows).removesuffix(",")
    return f"{opens}\n{body}\n{' ' * indent}{closes}"


# The page.


def make() -> str:
    """Return the text of the reference."""
    packets = recorded()
    types = all_types(packets)
    parts = [TEXTS["introduction"].strip(), *_summary()]
    for package in TEXTS["packages"]:
        parts += _section(package, packets[package], types[package])
    return "\n\n".join([*parts, *_refusals()]) + "\n"


def _summary() -> Iterator[str]:
    yield "## Packages"
    rows = []
    for package, texts in TEXTS["packages"].items():
        first = texts["when"].strip().partition(". ")[0].partition("\n")[0]
        link = f"[`{package}`](#{package.lower().replace('.', '')})"
        rows.append(f"{link} | {first.replace(', to the player alone', '').rstrip('.')}")
    yield _table("package | content", rows)


def _section(package: str, packets: list[Packet], types: Types) -> Iterator[str]:
    texts = TEXTS["packages"][package]
    yield f"### {package}"
    yield _wrapped(texts["when"])
    for example in examples(packets):
        yield f"```json\n{pretty(example)}\n```"
    yield _table(
        "key | type | meaning",
        (
            f"`{key}` | {type_name(kinds)} | {meaning(package, key, kinds)}"
            for key, kinds in types.items()
        ),
    )
    for key, words in texts.get("words", {}).items():
        yield f"The values of `{key}`:"
        yield _table("value | meaning", (f"`{word}` | {text}" for word, text in words.items()))
    if "note" in texts:
        yield _wrapped(texts["note"])


# Refusals.


def details_of(refusal: RefusedError) -> Packet:
    """Return the details of a refusal as they are in its packet."""
    return cast("Packet", json.loads(as_json(refusal_fact(refusal, "Anna").data))["details"])


def detail_types() -> Types:
    """Return the types of all details of refusals, in alphabetical order."""
    types: Types = {}
    for refusal in every_refusal():
        for detail, value in details_of(refusal).items():
            types.setdefault(detail, set()).add(json_type(value))
    return {detail: types[detail] for detail in sorted(types)}


def _refusals() -> Iterator[str]:
    """Yield the tables of refusal codes, with an example sentence for each."""
    texts = TEXTS["refusals"]
    known: dict[str, RefusedError] = {}
    for each in every_refusal():
        known.setdefault(each.code.value, each)
    lines = {code for code, each in known.items() if isinstance(each, ParseError)}
    rules = {code for code, each in known.items() if isinstance(each.code, Reason)}
    shared = set(details_of(known["empty_line"]))
    yield "## Refusal codes"
    yield _wrapped(texts["introduction"])
    tables = {"rules": rules, "commands": known.keys() - rules - lines, "lines": lines}
    for table, codes in tables.items():
        yield f"### {texts[table]['title']}"
        if "text" in texts[table]:
            yield _wrapped(texts[table]["text"])
        left_out = shared if table == "lines" else set[str]()
        rows = [_refusal_row(known[code], left_out) for code in sorted(codes)]
        yield _table("code | details | sentence", rows)
    yield "## Details of refusals"
    yield _table(
        "detail | type | meaning",
        (
            f"`{detail}` | {type_name(types)} | {TEXTS['details'][detail]}"
            for detail, types in detail_types().items()
        ),
    )
    yield "Kinds of words in `expected`:"
    kinds = ((kind, text) for kind, text in _KINDS.items() if kind.startswith("<"))
    yield _table("kind | stands for", (f"`{kind}` | {text}" for kind, text in sorted(kinds)))


def _refusal_row(refusal: RefusedError, shared: set[str]) -> str:
    details = ", ".join(f"`{each}`" for each in details_of(refusal) if each not in shared)
    details = f"{details} " if details else ""
    sentence = refusal_text(refusal, "Anna").replace("|", r"\|").replace("<", "&lt;")
    return f"`{refusal.code.value}` | {details}| {sentence}"


def _wrapped(text: str) -> str:
    """Wrap each line of a text; the items of lists are indented."""
    lines = text.strip().splitlines()
    indents = ["  " if line.startswith("- ") else "" for line in lines]
    wrapped = [
        textwrap.fill(line, PAGE_WIDTH, subsequent_indent=indent, break_on_hyphens=False)
        for line, indent in zip(lines, indents, strict=True)
    ]
    return "\n".join(wrapped)


def _table(head: str, rows: Iterable[str]) -> str:
    columns = " | ".join("---" for _ in head.split(" | "))
    return "\n".join(f"| {row} |" for row in (head, columns, *rows))


if __name__ == "__main__":
    logging.disable()
    PAGE.write_text(make(), encoding="utf-8")
