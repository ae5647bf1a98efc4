"""The wheel, installed in a separate environment away from the checkout."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import venv
from pathlib import Path
from shutil import copy

import pytest

from deploy import release
from hatch_build import absolute, addresses
from tests.conftest import RunServer
from thudmud.cli.remote_stage import RemoteStage
from thudmud.script import Transcript, perform

ROOT = Path(__file__).parents[1]

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]

pytestmark = pytest.mark.slow


def run(*words: str | Path, cwd: Path) -> str:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the release files, built as by `make release`."""
    folder = tmp_path_factory.mktemp("dist")
    release.build(folder)
    return folder


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, made: Path) -> Path:
    """Return the bin folder of an environment with the wheel and pytest installed."""
    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = made.glob("*.whl")
    venv.create(folder / "venv")
    commands = folder / "venv" / "bin"
    # Both at once and with this environment's pip: starting one takes as long as an installation.
    what = f"{wheel}[server]", "pytest>=9,<10"
    run(*PIP, "--python", commands / "python", "install", "--no-compile", *what, cwd=commands)
    return commands


def test_readme_links_become_absolute_or_plain_text() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    here = re.findall(r"\]\(([^)]*)\)", text)
    assert len(here) > 10
    assert not re.findall(r"\]\(([^)]*)\)", absolute(text, ""))
    assert addresses("") == {}
    home = addresses("https://thud.test/it")["Source"]
    for link, path in zip(re.findall(r"\]\(([^)]*)\)", absolute(text, home)), here, strict=True):
        assert link == f"{home}/{'raw' if path.endswith('.png') else 'blob'}/main/{path}"
        assert (ROOT / path).exists()


def test_wheel_metadata_has_the_addresses_of_the_project(installed: Path, tmp_path: Path) -> None:
    code = (
        "import importlib.metadata as it; print(it.distribution('thudmud').read_text('METADATA'))"
    )
    told = run(installed / "python", "-c", code, cwd=tmp_path)
    assert "Author: The thudmud developers\n" in told
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    home = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["home"]
    urls = dict(re.findall(r"^Project-URL: (\w+), (.*)$", told, re.MULTILINE))
    assert urls == addresses(home)
    assert absolute((ROOT / "README.md").read_text("utf-8"), home).strip() in told
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    assert groups.keys() == {"dev", "fuzz", "plots"}
    assert not groups.keys() & set(re.findall(r"^Provides-Extra: (.*)$", told, re.MULTILINE))


def test_source_archive_has_the_docs_and_build_files(made: Path) -> None:
    (source,) = made.glob("*.tar.gz")
    with tarfile.open(source) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    there = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")}
    there |= {
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "Makefile",
        "hatch_build.py",
        "pyproject.toml",
    }
    assert there <= names


def test_zipapp_alone_runs_a_server(
    made: Path, tmp_path: Path, run_server: RunServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIV_ROOT", str(tmp_path / "cache"))
    command = [release.bare(tmp_path / "bare"), made / "thudmud.pyz"]
    release.tried([*command], tmp_path)
    transcript = Transcript.parse((ROOT / "tests/transcripts/help.thud-script").read_text("utf-8"))
    assert transcript.config
    copy(ROOT / "tests" / "transcripts" / transcript.config, tmp_path / "config.toml")
    with (
        run_server([*command, "--port", "0"], tmp_path) as address,
        RemoteStage(*address) as stage,
    ):
        assert [str(mismatch) for mismatch in perform(transcript, stage)[0]] == []


def test_zipapp_has_the_metrics_and_names_what_it_lacks(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIV_ROOT", str(tmp_path / "cache"))
    path = tmp_path / "config.toml"
    path.write_text(
        "[server]\nport = 0\n[web]\nport = 0\npublic_url = 'https://example.org'\n"
        "[metrics]\nenabled = true\nport = 0\n"
        "[mail]\nrelay = 'localhost'\nsender = 'thud@example.org'\n",
        "utf-8",
    )
    bare: str | Path = release.bare(tmp_path / "bare")
    command: list[str | Path] = [bare, made / "thudmud.pyz", "config", "check", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"thudmud: {path}: mail.relay needs more packages. thudmud.pyz can't contain it: install "
        'the wheel with the extra "notify" instead\n'
    )


def test_installation_has_the_manual_page(installed: Path, tmp_path: Path) -> None:
    page = (installed.parent / "share" / "man" / "man1" / "thudmud.1").read_text("utf-8")
    assert page == run(installed / "thudmud", "manual", cwd=tmp_path)


def test_installed_command_runs_perft(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "thudmud", "perft", "--depth", "1", cwd=tmp_path) == "656\n"


def test_installed_command_writes_the_configuration(installed: Path, tmp_path: Path) -> None:
    run(installed / "thudmud", "config", "here.toml", cwd=tmp_path)
    assert (tmp_path / "here.toml").read_bytes() == (ROOT / "config.toml").read_bytes()


def test_wheel_contains_the_mudlet_package(installed: Path, tmp_path: Path) -> None:
    code = "from thudmud.web.mpackage import mpackage; print(b'thudmud.panel' in mpackage())"
    assert run(installed / "python", "-c", code, cwd=tmp_path) == "True\n"


def test_installed_command_draws_a_record(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "game.thud").write_text("dA6,TA7,RH8\n", "utf-8")
    assert "Troll on A7." in run(installed / "thudmud", "draw", "game.thud", cwd=tmp_path)


@pytest.mark.parametrize("name", ["discworld-match", "help"])
def test_installed_server_plays_transcripts(
    installed: Path, tmp_path: Path, run_server: RunServer, name: str
) -> None:
    path = ROOT / f"tests/transcripts/{name}.thud-script"
    transcript = Transcript.parse(path.read_text("utf-8"))
    copy(path.parent / str(transcript.config), tmp_path / "config.toml")
    with (
        run_server([installed / "thudmud", "--port", "0"], tmp_path) as address,
        RemoteStage(*address) as stage,
    ):
        assert [str(mismatch) for mismatch in perform(transcript, stage)[0]] == []


def test_pytest_plugin_is_loaded_only_on_request(installed: Path, tmp_path: Path) -> None:
    """An ordinary run neither imports the plugin nor collects transcripts."""
    pytest_run: list[str | Path] = [installed / "python", "-m", "pytest", "-W", "error", "-q"]
    (tmp_path / "test_it.py").write_text(
        "import sys\n\n"
        "def test_it():\n"
        "    assert not {'thudmud', 'pytest_thudmud'} & set(sys.modules)\n",
        "utf-8",
    )
    (tmp_path / "talk.thud-script").write_text("Anna> say hi\nAnna| You say: hi\n", "utf-8")
    assert "1 passed" in run(*pytest_run, cwd=tmp_path)
    asked = "-p", "pytest_thudmud", "talk.thud-script"
    assert "1 passed" in run(*pytest_run, *asked, cwd=tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p pytest_thudmud\n", "utf-8")
    assert "1 passed" in run(*pytest_run, "talk.thud-script", cwd=tmp_path)


def test_installed_package_works_as_a_library(installed: Path, tmp_path: Path) -> None:
    match = ROOT / "tests" / "transcripts" / "discworld-match.thud-script"
    seen = run(
        installed / "python", ROOT / "examples" / "library" / "match.py", match, cwd=tmp_path
    )
    assert " 0 of them amiss" in seen
