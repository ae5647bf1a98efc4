"""Allowed imports between packages, checked in the source (see docs/architecture.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from thudmud import features

ROOT = Path(__file__).parents[1] / "thudmud"

LIST = "features/__init__"

BELOW_SKINS = {"rules", "game", "language", "views", "features", "store", "service"}

ARROWS: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "english": set(),
    "immutable": set(),
    "values": set(),
    "settings": set(),
    "child": set(),
    "": {"game", "views", "language", "features", "search", "bots", "house"},
    "rules": set(),
    "pictures": {"rules"},
    "search": {"rules"},
    "game": {"rules"},
    # Only the list of features, which every package may query; none imports a feature itself.
    LIST: {"game"},
    "features": {"rules", "game", "language", "views", "store", "settings", LIST},
    "language": {"rules", "game", LIST},
    "views": {"rules", "game", "language", LIST},
    "store": {"rules", "game", LIST, "child"},
    "service": {"rules", "game", "language", "views", "features", "store", LIST},
    "house": {*BELOW_SKINS, "bots"},
    "bots": {*BELOW_SKINS, "search", "child"},
    "telnet": {"views"},
    "web": {"rules", "pictures", "views", "telnet", LIST},
    "accounts": BELOW_SKINS,
    "gateway": {*BELOW_SKINS, "accounts", "bots"},
    "evennia": {*BELOW_SKINS, "search", "bots", "house"},
    "script": {"views", "house"},
    "server": {
        *BELOW_SKINS,
        LIST,
        "settings",
        "child",
        "pictures",
        "search",
        "bots",
        "telnet",
        "web",
        "accounts",
    },
    "cli": {
        *BELOW_SKINS,
        LIST,
        "pictures",
        "search",
        "bots",
        "accounts",
        "house",
        "script",
        "gateway",
        "server",
    },
}
"""The packages that each package may import, besides the files that import nothing."""

OWNERS = {
    "lark": {"language"},
    "telnetlib3": {"telnet", "cli"},
    "websockets": {"web"},
    "h11": {"web"},
    "werkzeug": {"web"},
    "pydantic": {"settings", "features", "server"},
    "argon2": {"accounts"},
    "openskill": {"game"},
    "wcwidth": {"language", "views"},
    "django": {"evennia"},
    "evennia": {"evennia"},
    "sqlite3": {"store"},
    "prometheus_client": {"server"},
    "aiosmtplib": {"features"},
    "aiohttp": {"features"},
    "cryptography": {"features"},
    "py_vapid": {"features"},
    "pywebpush": {"features"},
    "resvg_py": {"pictures"},
    "PIL": {"pictures"},
}
"""The only packages that may import each dependency."""

PURE = {
    "",
    "errors",
    "version",
    "english",
    "immutable",
    "values",
    "rules",
    "pictures",
    "search",
    "game",
    "language",
    "views",
    LIST,
    "features",
    "house",
    "script",
}
REACHING = {
    *("reactors.py", "storage.py"),
    *("diagnosis.py", "notifier.py", "pages.py", "serving.py", "smtp.py", "web_push.py"),
}
"""The modules of features that may have side effects."""

IMPURE = {
    "asyncio", "datetime", "glob", "io", "logging", "multiprocessing", "os", "pathlib", "random",
    "secrets", "select", "selectors", "shutil", "signal", "socket", "sqlite3", "subprocess", "sys",
    "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip
"""Modules with side effects: sockets, clocks, disks, processes and global randomness."""

EXCEPTIONS = {
    "language/tables.py": {"pathlib", "sys"},
    "language/words.py": {"pathlib"},
    "pictures/pieces.py": {"pathlib"},
    "pictures/pixels.py": {"io"},
    "search/player.py": {"random"},
    "version.py": {"sys"},
    "views/words.py": {"datetime"},
}
"""Allowed uses of these modules: reading the grammar and the shapes of the pieces, which are part
of the code; caching Lark's tables like bytecode; bytes in memory; random numbers from a given
seed; the name of the running program; the date of a given time."""


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "thudmud":
                yield from (f"thudmud.{alias.name}" for alias in node.names)
            else:
                yield str(node.module)


MODULES = sorted(ROOT.rglob("*.py"))

IN_ORDER = (*features.NEEDED, *features.NAMES)


def module_of(path: Path) -> str:
    """Return the dotted name of a module file."""
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)


def room_of(path: Path) -> str:
    if path == ROOT / f"{LIST}.py":
        return LIST
    first = path.relative_to(ROOT).parts[0].removesuffix(".py")
    return {"__init__": "", "__main__": "cli"}.get(first, first)


def imported_room(name: str) -> str:
    """Return the package of an imported thudmud module."""
    return LIST if name == "thudmud.features" else name.split(".")[1]


def test_packages_all_have_their_allowed_imports() -> None:
    assert {"features", *map(room_of, MODULES)} == set(ARROWS)  # features are optional


def test_allowed_imports_are_acyclic() -> None:
    for room, allowed in ARROWS.items():
        assert all(room not in ARROWS[other] for other in allowed), room


def against_the_arrows(path: Path) -> Iterator[str]:
    """Yield the disallowed imports of a module."""
    room = room_of(path)
    allowed = EXCEPTIONS.get(str(path.relative_to(ROOT)), set())
    allowed_rooms = {"errors", "version", "english", "immutable", "values", room, *ARROWS[room]}
    for name in imports(path):
        package, _, rest = name.partition(".")
        if package == "thudmud":
            if rest and imported_room(name) not in allowed_rooms:
                yield f"{path}: {room} may not import {name}"
        elif room not in OWNERS.get(package, {room}):
            yield f"{path}: {room} may not import {name}"
        elif room in PURE and path.name not in REACHING and package in IMPURE - allowed:
            yield f"{path}: {room} is pure, yet imports {name}"


def test_imports_are_all_allowed() -> None:
    assert [line for path in MODULES for line in against_the_arrows(path)] == []


def test_modules_have_no_import_cycles() -> None:
    """Imports for type checking and imports within functions or packages count, too."""
    modules = {module_of(path).removesuffix(".__init__"): path for path in MODULES}
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        graph[module] = set()
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("thudmud"):
                names = (f"{node.module}.{alias.name}" for alias in node.names)
                found = (name if name in modules else str(node.module) for name in names)
                graph[module] |= set(found) - {module}
    reached = {module: reachable(graph, module) for module in graph}
    circles = {
        frozenset({module, *(each for each in reached[module] if module in reached[each])})
        for module in graph
        if module in reached[module]
    }
    assert not circles


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return the nodes reachable from ``start``, which includes itself only in a cycle."""
    reached: set[str] = set()
    left = list(graph[start])
    while left:
        if (node := left.pop()) not in reached:
            reached.add(node)
            left += graph.get(node, ())
    return reached


def test_features_import_exactly_the_features_they_need() -> None:
    for feature in features.load():
        folder = ROOT / "features" / feature.name
        imported = {
            name.split(".")[2]
            for path in folder.rglob("*.py")
            for name in imports(path)
            if name.startswith("thudmud.features.") and name.split(".")[2] in IN_ORDER
        } - {feature.name}
        assert imported & set(features.NAMES) == set(feature.needs), feature.name
        before = IN_ORDER[: IN_ORDER.index(feature.name)]
        assert imported <= set(before), "so they make no circle"


def test_feature_names_appear_only_in_their_own_package() -> None:
    for name in features.NAMES:
        folder, named = ROOT / "features" / name, f"features.{name}"
        outside = [path for path in MODULES if folder not in path.parents]
        assert [path for path in outside if named in path.read_text("utf-8")] == []


def test_hall_attributes_are_set_only_in_the_game_package() -> None:
    own = re.compile(r"(.*\.)?_?hall\.\w+")
    assigned = [
        f"{path}:{node.lineno}"
        for path in MODULES
        if path.parent != ROOT / "game"
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
        if own.fullmatch(ast.unparse(node.value if isinstance(node, ast.Subscript) else node))
    ]
    assert assigned == []


def test_class_names_are_unique() -> None:
    plugin = sorted((ROOT.parent / "pytest_thudmud").rglob("*.py"))
    places: dict[str, list[str]] = {}
    for path in [*MODULES, *plugin]:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT.parent)))
    twice = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert twice == {}


def test_modules_all_have_docstrings() -> None:
    assert [path for path in MODULES if not ast.get_docstring(parsed(path))] == []


def test_local_time_is_never_used() -> None:
    """Times are in UTC and labelled, as players, operators and logs are in different zones."""
    local = re.compile(r"localtime|ctime\(\)|fromtimestamp\([^,()]*\)|datetime\.now\(\)")
    assert [path for path in MODULES if local.search(path.read_text("utf-8"))] == []
