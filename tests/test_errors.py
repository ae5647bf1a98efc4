"""The exceptions of thudmud: a single tree, shown in `thudmud.errors`, all of them picklable."""

from __future__ import annotations

import ast
import builtins
import pickle
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from thudmud import errors, store
from thudmud.cli.import_ import KnownError
from thudmud.errors import UnknownNameError
from thudmud.game import Refusal, RefusedError
from thudmud.game.archive import BattleLookup, LookupNeededError
from thudmud.gateway.requests import Code, RequestError
from thudmud.house import BoardNameError
from thudmud.language import ParseError, parse
from thudmud.rules import DISCWORLD, Game, IllegalMoveError, RecordError
from thudmud.script import TranscriptError
from thudmud.server.config import ConfigError
from thudmud.service import OutcomeUnknownError
from thudmud.store import ConflictError

ROOT = Path(errors.__file__).parent


@cache
def classes() -> dict[str, list[str]]:
    """Return the base names of all classes by class name; class names are unique."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name] = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
    return found


def is_exception(name: str) -> bool:
    known = getattr(builtins, name, None)
    if isinstance(known, type):
        return issubclass(known, BaseException)
    return any(map(is_exception, classes().get(name, ())))


def is_ours(name: str) -> bool:
    return name == "ThudmudError" or any(map(is_ours, classes().get(name, ())))


def exceptions() -> set[str]:
    return {name for name in classes() if is_exception(name)}


def shown() -> Iterator[tuple[str, str]]:
    """Yield each name of the tree in the docstring with its parent."""
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        depth, rest = divmod(len(line) - len(line.lstrip()), 4)
        if not line.strip() or depth == 0:
            continue
        name, _, phrase = line.strip().partition(" ")
        assert not rest, line
        assert phrase.strip() or name == "ThudmudError", line
        del above[depth - 1 :]
        yield name, above[-1] if above else "Exception"
        above.append(name)


def test_errors_module_imports_nothing_from_thudmud() -> None:
    tree = ast.parse(Path(errors.__file__).read_text("utf-8"))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not [each for each in map(ast.unparse, imported) if "thudmud" in each]


def test_exceptions_are_discovered_in_all_modules() -> None:
    assert {
        "ThudmudError",
        "IllegalMoveError",
        "UnclearBoardError",
        "_BadLineError",
    } <= exceptions()


def test_exceptions_share_one_root() -> None:
    assert not {name for name in exceptions() if not is_ours(name)}


def test_exception_tree_in_the_docstring_is_complete() -> None:
    public = {name: classes()[name][0] for name in exceptions() if not name.startswith("_")}
    assert dict(shown()) == public


LIBRARY = ("rules", "pictures", "search", "game", "language", "views", "features", "script", "bots")
"""The packages that the library's public names can call, besides `thudmud.house`."""


def test_library_raises_no_bare_builtin_exceptions() -> None:
    """Bare ones would escape a host that catches ThudmudError."""
    bare = re.compile(
        r"raise (ValueError|TypeError|KeyError|IndexError|LookupError|RuntimeError)\b"
    )
    paths = [path for package in LIBRARY for path in (ROOT / package).rglob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}: {each[0]}"
        for path in [*paths, *ROOT.glob("*.py")]
        for each in bare.finditer(path.read_text("utf-8"))
    ]
    assert len(paths) > 100
    assert found == []


def test_unknown_name_is_a_wrong_value_and_a_missing_key() -> None:
    error = UnknownNameError("Nob is not here")
    assert isinstance(error, ValueError)
    assert isinstance(error, KeyError)
    assert str(error) == "Nob is not here"


def raised() -> Iterator[Exception]:
    yield RecordError(2, "no ply")
    yield UnknownNameError("Nob is not here")
    yield BoardNameError(Refusal.BOARD_NAME_TAKEN, board="oak board")
    yield RefusedError(Refusal.SAY_WHICH, boards=("elm", "oak"))
    yield RequestError(Code.BAD_NAME, "A name has letters.", 3)
    yield ConflictError("oak", 2, 3)
    yield store.ConflictError("oak", 2, 3)
    yield OutcomeUnknownError()
    yield LookupNeededError(BattleLookup(1))
    yield TranscriptError(4, "no step")
    yield KnownError("imported", 7)
    yield ConfigError(["a: is wrong", "b: is wrong"])
    with pytest.raises(ParseError) as unparsed:
        parse("mvoe from a6 to b6")
    yield unparsed.value
    with pytest.raises(IllegalMoveError) as illegal:
        Game.start(DISCWORLD).push("dA6-A6")
    yield illegal.value


@pytest.mark.parametrize("error", list(raised()), ids=lambda error: type(error).__name__)
def test_exceptions_survive_pickling(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
