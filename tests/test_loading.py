"""Modules loaded by imports of thudmud packages and by small commands, as loading takes time."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

HEAVY = {
    "argon2", "asyncio", "email", "importlib.metadata", "lark", "logging", "openskill", "pydantic",
    "sqlite3", "telnetlib3", "wcwidth", "websockets",
    "h11", "werkzeug",
}  # fmt: skip
"""Modules that are slow to load and only needed by some packages."""

RULES = {f"thudmud.rules.{path.stem}" for path in (ROOT / "thudmud/rules").glob("[a-z]*.py")}
RULES -= {"thudmud.rules.symmetry"}  # only needed for statistics of old battles
RULES |= {"thudmud", "thudmud.errors", "thudmud.immutable", "thudmud.rules"}
COMMAND = {"thudmud", "thudmud.version", "thudmud.cli", "thudmud.cli.main", "thudmud.cli.output"}
CLI = "thudmud.cli"

LOADED = """
import json, sys
before = set(sys.modules)
try:
    {}
except SystemExit:
    pass
print("\\n" + json.dumps(sorted(set(sys.modules) - before)))
"""


def loaded(code: str) -> tuple[set[str], set[str]]:
    """Run code in a new Python; return the loaded modules of thudmud and all others."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(code)], cwd=ROOT, env={"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    modules = set(json.loads(done.stdout.splitlines()[-1]))
    ours = {name for name in modules if name.partition(".")[0] == "thudmud"}
    return ours, modules - ours


def ran(*words: str) -> tuple[set[str], set[str]]:
    """Run a command line in a new Python; return the loaded modules as ``loaded`` does."""
    return loaded(f"from thudmud.cli.main import main; main({list(words)!r})")


def foreign(modules: set[str]) -> set[str]:
    """Return the third-party packages among modules."""
    tops = {name.partition(".")[0] for name in modules}
    return {name for name in tops if not name.startswith("_")} - set(sys.stdlib_module_names)


def test_package_import_is_lazy() -> None:
    ours, others = loaded("import thudmud")
    assert ours == {"thudmud"}
    assert not others & HEAVY
    assert not foreign(others)


def test_rules_import_only_themselves() -> None:
    ours, others = loaded("import thudmud.rules")
    assert ours == RULES
    assert not others & {*HEAVY, "argparse", "datetime", "json", "pathlib", "random", "socket"}
    assert not foreign(others)


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_and_version_load_no_subcommand(words: list[str]) -> None:
    ours, others = ran(*words)
    assert ours == COMMAND
    assert not others & {*HEAVY, "pathlib"}
    assert not foreign(others)


SMALL = {*COMMAND, *RULES, f"{CLI}.common", f"{CLI}.records"}
PICTURES = {
    f"thudmud{name}"
    for name in (
        ".pictures", ".pictures.drawing", ".pictures.pieces", ".pictures.pixels", ".english",
    )
}  # fmt: skip
BOTS = {"thudmud.bots", "thudmud.bots.dialogue"}


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (["perft", "--depth", "1"], {*SMALL, f"{CLI}.perft"}),
        (["engine"], {*SMALL, *BOTS, f"{CLI}.engine"} - {f"{CLI}.common", f"{CLI}.records"}),
    ],
)
def test_small_command_loads_only_what_it_needs(words: list[str], needed: set[str]) -> None:
    ours, others = ran(*words)
    assert ours == needed
    assert not others & HEAVY
    assert not foreign(others)


def test_draw_of_a_record_loads_only_rules_and_pictures(tmp_path: Path) -> None:
    record = tmp_path / "game.thud"
    record.write_text("dA6,TA7,RH8\n", "utf-8")
    ours, others = ran("draw", str(record))
    assert ours == {*SMALL, *PICTURES, f"{CLI}.draw"}
    assert not others & HEAVY
    assert not foreign(others)


def test_replay_loads_no_server_packages() -> None:
    ours, others = ran("replay", "README.md")
    rooms = {name.split(".")[1] for name in ours if "." in name}
    assert rooms <= {
        "cli",
        "english",
        "errors",
        "features",
        "game",
        "immutable",
        "rules",
        "values",
        "version",
        "views",
    }
    assert not others & {"argon2", "asyncio", "lark", "pydantic", "sqlite3", "telnetlib3"}


def test_house_loads_lark_with_the_first_line() -> None:
    loaded("import thudmud.house")  # builds Lark's tables if necessary
    assert not loaded("import thudmud.house")[1] & {"asyncio", "lark", "openskill", "wcwidth"}
    entering = 'house = thudmud.House([thudmud.BoardSpec("oak")]); house.enter("Anna", 0)'
    assert "lark" not in loaded(f"import thudmud; {entering}")[1]
    assert "lark" in loaded(f'import thudmud; {entering}; house.obey("Anna", "look", 0)')[1]


def test_server_loads_engine_and_parser_lazily() -> None:
    ours, others = loaded("import thudmud.server.runtime")
    assert {name for name in ours if name.startswith("thudmud.search.")} == {
        "thudmud.search.levels"
    }
    assert not others & {
        "lark", "openskill", "prometheus_client", "psycopg", "urllib.request", "uvloop",
    }  # fmt: skip


START = (
    "import asyncio, pathlib, thudmud.cli.serve; "
    "from thudmud.server.config import validate_settings; "
    "from thudmud.server.runtime import serve; "
    "asyncio.run(serve(validate_settings({settings}, ''), pathlib.Path({folder!r}), sys.exit))"
)
"""Starts a server that stops as soon as it is ready."""

MOST_AT_START = 602
"""The maximum number of modules that a server may load until it is ready, those of Python and other
packages included, as loading dominates the start time. It loads 600, 12 of them msgspec. A feature
is a package with modules for its commands, messages, model and reactors, and perhaps for settings
and server code."""


def test_server_start_loads_few_modules(tmp_path: Path) -> None:
    settings = {"server": {"port": 0}, "web": {"port": 0}}
    ours, others = loaded(START.format(settings=settings, folder=str(tmp_path)))
    assert (tmp_path / "thudmud.db").exists()
    assert not others & {
        "aiohttp", "aiosmtplib", "gzip", "h11", "lark", "openskill", "PIL", "psycopg", "websockets",
        "werkzeug",
    }  # fmt: skip
    rooms = {name.split(".")[1] for name in ours if "." in name}
    assert not rooms & {"evennia", "gateway", "pictures", "script"}
    assert len(ours | others) <= MOST_AT_START, sorted(ours | others)


@pytest.mark.parametrize("package", ["thudmud", "thudmud.views"])
def test_lazy_names_of_a_package_all_exist(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        if not isinstance(value, tuple):
            assert value.__name__ == name
            assert value.__module__.startswith("thudmud.")
    assert set(module.__all__) <= set(dir(module))
    with pytest.raises(AttributeError, match="has no attribute 'Hosue'"):
        module.Hosue  # noqa: B018
