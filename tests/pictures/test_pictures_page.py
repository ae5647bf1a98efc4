"""docs/pictures.md: its code makes the pictures it shows, and its commands are valid.

`python tests/pictures/test_pictures_page.py` rewrites the pictures.
"""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from thudmud.cli import draw

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "pictures.md").read_text("utf-8")
_PARTS = re.compile(
    r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<shown>.*?)```\n)?"
    r"(?:\n!\[[^\]]{20,}\]\((?P<path>.*?)\)\n)?",
    re.DOTALL,
)


def drawn() -> Iterator[tuple[Path, str]]:
    """Run the code of the page; yield the path and text of each picture."""
    names: dict[str, Any] = {}
    for part in _PARTS.finditer(PAGE):
        printed = StringIO()
        with redirect_stdout(printed):
            exec(part["code"], names)  # noqa: S102  (our own page)
        assert printed.getvalue() == (part["shown"] or "")
        if part["path"]:
            yield DOCS / part["path"], names["picture"]


def test_page_code_draws_its_pictures() -> None:
    for path, picture in drawn():
        assert path.read_text("utf-8") == f"{picture}\n", f"python {__file__} writes it anew"
    shown = re.findall(r"!\[.*?\]\((.*?)\)", PAGE)
    assert len(shown) == len(list(drawn())) > 1
    assert sorted(shown) == sorted(f"pictures/{path.name}" for path in DOCS.glob("pictures/*"))


def test_page_commands_and_options_exist() -> None:
    parser = ArgumentParser()
    draw.declare(parser)
    commands = re.findall(r"^    thudmud draw (.*?)(?: >\S+)?   ", PAGE, re.MULTILINE)
    assert len(commands) > 3
    for command in commands:
        parser.parse_args(shlex.split(command))
    for option in re.findall(r"`(--\w+ [^`]+|--bare)`", PAGE):
        parser.parse_args(["12", *shlex.split(option)])
    assert {"--ply", "--orient", "--colours", "--bare"} <= set(re.findall(r"`(--\w+)", PAGE))


if __name__ == "__main__":
    for path, picture in drawn():
        path.write_text(f"{picture}\n", "utf-8")
