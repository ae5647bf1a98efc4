"""The pages for programmers: their code and the example produce the shown output."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY, RULES = ROOT / "docs" / "library.md", ROOT / "docs" / "rules.md"
_BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<shown>.*?)```\n)?", re.DOTALL)
_COMMAND = re.compile(r"^    \$ python (?P<words>.*)\n(?P<shown>(?:    .*\n)+)", re.MULTILINE)


def run_page(text: str, replace: Callable[[str, str], str]) -> str:
    """Run the code of a page in order; return the page with each output replaced.

    ``replace`` is called with the shown and the actual output.
    """
    names: dict[str, Any] = {}

    def run(found: re.Match[str]) -> str:
        out = StringIO()
        line = text.count("\n", 0, found.start("code"))
        with redirect_stdout(out):
            code = "\n" * line + found["code"]
            exec(compile(code, "page", "exec"), names)  # noqa: S102 (our own page)
        printed = replace(found["shown"] or "", out.getvalue())
        shown = f"\n```text\n{printed}```\n" if printed else ""
        return f"```python\n{found['code']}```\n{shown}"

    return _BLOCK.sub(run, text)


@pytest.mark.parametrize("page", [LIBRARY, RULES], ids=lambda page: page.name)
def test_page_code_prints_the_shown_output(page: Path) -> None:
    def compare(shown: str, printed: str) -> str:
        assert printed == shown, f"python {Path(__file__).relative_to(ROOT)} writes it anew"
        return printed

    text = page.read_text("utf-8")
    assert run_page(text, compare) == text
    assert text.count("```python") == len(_BLOCK.findall(text)) > 8


def test_example_plays_the_match_as_shown() -> None:
    ((words, shown),) = _COMMAND.findall(LIBRARY.read_text("utf-8"))
    done = subprocess.run(
        [sys.executable, *words.split()], cwd=ROOT, env={"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [line.strip() for line in shown.splitlines()]


def test_example_reports_a_mismatch(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.thud-script"
    wrong.write_text("Anna+\nAnna> go to oak board\nAnna| You fly to the oak board.\n", "utf-8")
    done = subprocess.run(
        [sys.executable, ROOT / "examples/library/match.py", wrong],
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "+ You walk to the oak board." in done.stdout


UNWANTED = ["asyncio", "telnetlib3", "argon2", "pydantic", "socket", "ssl", "subprocess"]


KNOWN = {
    "thudmud", "lark", "msgspec", "openskill", "wcwidth",
    "interegular", "typing_extensions", "sitecustomize",
}  # fmt: skip
"""Packages that the library may import. Where installed, as in a checkout, lark imports interegular
and msgspec imports typing_extensions; Debian's Python has a sitecustomize."""


@pytest.mark.parametrize("unwanted", UNWANTED)
def test_unwanted_modules_are_importable(unwanted: str) -> None:
    __import__(unwanted)


def test_library_imports_nothing_from_the_server() -> None:
    code = f"""
import sys
import thudmud, thudmud.rules, thudmud.game, thudmud.views, thudmud.store.codec
house = thudmud.House([thudmud.BoardSpec("board")])
house.enter("Anna", 0.0)
house.obey("Anna", "help", 0.0)
thudmud.House([thudmud.BoardSpec("board")], events=house.events())
print([name for name in {UNWANTED} if name in sys.modules])
print([name for name in sys.modules if name.startswith(("thudmud.server", "thudmud.gateway"))])
tops = {{name.partition(".")[0] for name in sys.modules if not name.startswith("_")}}
others = tops - set(sys.stdlib_module_names) - {KNOWN}
print([name for name in others if not name.endswith("__mypyc")])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "[]\n[]\n[]\n"


if __name__ == "__main__":
    for each in (LIBRARY, RULES):
        each.write_text(run_page(each.read_text("utf-8"), lambda _, printed: printed), "utf-8")
