"""Files for contributors: the commit-msg hook and the workflow of the public repository."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def checked(subject: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the hook on a commit message."""
    message = folder / "message"
    message.write_text(f"# a comment\n{subject}\n\nWhy.\n", "utf-8")
    command = ["sh", str(ROOT / "tools/commit-msg"), str(message)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "subject",
    [
        "swiss: look ahead so that no pair meets twice",
        "rules, search: correct details",
        "web/http: " + "x" * 50,
        'Revert "swiss: look ahead"',
    ],
)
def test_subject_with_an_area_is_accepted(tmp_path: Path, subject: str) -> None:
    assert checked(subject, tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ("Look ahead", "Begin the subject with the area"),
        ("swiss:", "Begin the subject with the area"),
        ("", "Begin the subject with the area"),
        ("swiss: " + "x" * 54, "The subject has 61 characters"),
    ],
)
def test_subject_without_area_or_too_long_is_refused(
    tmp_path: Path, subject: str, reason: str
) -> None:
    result = checked(subject, tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith(reason)


def test_workflow_runs_on_every_declared_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)\b", "\n".join(project["classifiers"]))
    workflow = (ROOT / ".github/workflows/test.yml").read_text("utf-8")
    matrix = re.search(r"python: \[(.*)\]", workflow)
    assert matrix is not None
    assert re.findall(r"\"(.*?)\"", matrix[1]) == named
