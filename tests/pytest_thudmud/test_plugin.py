"""The pytest plugin in other projects; every run is a pytest process of its own."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

import pytest

import pytest_thudmud
from tests.conftest import RunServer

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
GOOD = "Anna> say ${x}\nAnna| You say: hi\n"
PLUGINS = "-p", "pytest_thudmud", "-p", "no:cacheprovider", "-p", "no:asyncio"
BAD = "@include part\n# More.\nAnna> say hi\nAnna| You say: ho\nBert> quit\nBert> quit\n"


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this thudmud importable in the project."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        monkeypatch.delenv(name, raising=False)


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    """Run pytest with warnings as errors, and without other installed plugins that warn.

    Where the plugin is also an entry point, it is registered twice.
    """
    return pytester.runpytest_inprocess(*PLUGINS, "-W", "error", *words)


def write(pytester: pytest.Pytester, **files: str) -> None:
    for name, text in files.items():
        (pytester.path / f"{name}.thud-script").write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_transcripts_are_collected_and_failures_are_readable(pytester: pytest.Pytester) -> None:
    (pytester.path / "part").write_text("Anna> say ha\nAnna| You say: ho\n", encoding="utf-8")
    write(pytester, good=GOOD, bad=BAD, broken="\nWhat!\n", gone="@config gone.toml\nAnna+\n")
    pytester.makepyfile("def test_it(): pass")
    pytester.makeini("[pytest]\nthud_set =\n  x=ho\n  y=z\n")
    result = run(pytester, "--thud-set", "x=hi", "-v", "--junitxml=out.xml")
    result.assert_outcomes(passed=2, failed=3)
    result.stdout.fnmatch_lines_random(
        [
            "good.thud-script::transcript PASSED*",
            'FAILED bad.thud-script::transcript - line 1: part: line 1: after "Anna> *',
            'line 2: expected a name such as Anna *got "What!"*',
            "FAILED broken.thud-script::transcript - line 2: expected a name *",
            "*gone.toml: no such file*",
        ]
    )
    shown = (
        'line 1: part: line 1: after "Anna> say ha", Anna should see (-) but '
        "saw (+):\n- You say: ho\n+ You say: ha\n\n"
        'line 3: after "Anna> say hi", Anna should see (-) but saw (+):\n'
        "- You say: ho\n+ You say: hi\n\n"
        "line 6: Bert is not here; use Bert+ to let them in\n"
    )
    assert shown in result.stdout.str()
    assert "Traceback" not in result.stdout.str()
    assert "- You say: ho\n+ You say: hi" in (pytester.path / "out.xml").read_text("utf-8")


@pytest.mark.slow
def test_transcripts_are_played_with_configured_boards_or_on_a_server(
    pytester: pytest.Pytester, run_server: RunServer, tmp_path: Path
) -> None:
    listed = "Anna> boards\nAnna|  1. elm board (discworld rules): both seats free\n"
    write(pytester, one=listed)
    pytester.makeini("[pytest]\nthud_config = sub/one.toml\n")
    (pytester.path / "sub").mkdir()
    config = pytester.path / "sub" / "one.toml"
    config.write_text('[[board]]\nname = "elm board"\n', encoding="utf-8")
    run(pytester).assert_outcomes(passed=1)
    serve: list[str | Path] = [sys.executable, "-m", "thudmud.cli.main", "--port", "0"]
    with run_server(serve, tmp_path) as (_, port):
        result = run(pytester, "--thud-connect", f"127.0.0.1:{port}")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["+  1. oak board*"])


@pytest.mark.slow
def test_transcript_without_expectations_fails_and_strict_adds_steps(
    pytester: pytest.Pytester,
) -> None:
    write(pytester, good="Anna> say hi\nAnna| You say: hi\n", empty="", loose="Anna> say hi\n" * 2)
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines_random(
        [f"FAILED {name}.thud-script::transcript - nothing*" for name in ("empty", "loose")]
    )
    write(pytester, empty="Anna+\nAnna...\n", loose="Anna> say hi\nAnna...\nAnna> say ho\n")
    run(pytester).assert_outcomes(passed=3)
    result = run(pytester, "--thud-strict")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*line 3: nothing expected after*"])
    pytester.makeini("[pytest]\nthud_strict = true\n")
    run(pytester).assert_outcomes(passed=2, failed=1)


@pytest.mark.slow
def test_variable_unknown_to_every_transcript_is_refused(pytester: pytest.Pytester) -> None:
    write(pytester, good=GOOD)
    run(pytester, "--thud-set", "x=hi").assert_outcomes(passed=1)
    result = run(pytester, "--thud-set", "x=hi", "--thud-set", "y=hi")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --thud-set: no transcript has y"])


@pytest.mark.slow
def test_invalid_option_is_reported_by_name(pytester: pytest.Pytester) -> None:
    write(pytester, good=GOOD)
    pytester.makeini("[pytest]\nthud_connect = nowhere\n")
    result = run(pytester)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["thud_connect: expected HOST:PORT or NAME=HOST:PORT, got 'nowhere'*"]
    )


@pytest.mark.slow
def test_run_without_transcripts_does_not_import_thudmud(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it(pytestconfig):
            assert not [name for name in sys.modules if name.partition(".")[0] == "thudmud"]
            assert "pytest_thudmud.collecting" not in sys.modules
            plugins = [
                plugin for plugin in pytestconfig.pluginmanager.get_plugins()
                if getattr(plugin, "__name__", "") == "pytest_thudmud"
            ]
            assert len(plugins) == 1
        """
    )
    pytester.runpytest_subprocess(*PLUGINS, "-W", "error").assert_outcomes(passed=1)


def test_plugin_module_imports_only_pytest() -> None:
    tree = ast.parse(Path(pytest_thudmud.__file__).read_text("utf-8"))
    imported = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported == {"__future__", "pathlib", "pytest"}


def test_plugin_has_no_entry_point_that_loads_it_unasked() -> None:
    """The wheel's test has an ordinary run; here, an older installation may have an entry point."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert "entry-points" not in tomllib.loads(text)["project"]


def test_ordinary_run_collects_no_transcripts(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(pytester, bad=BAD)
    pytester.makepyfile(
        """
        def test_it(pytestconfig):
            assert not pytestconfig.pluginmanager.has_plugin("pytest_thudmud")
        """
    )
    without = "-p", "no:cacheprovider", "-W", "error"
    # The plugins of other installed packages are left out, and so is an old entry point of ours.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.runpytest_subprocess(*without).assert_outcomes(passed=1)
