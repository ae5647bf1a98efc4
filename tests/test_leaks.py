"""Only the test that leaves a program running fails."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests import leaks

WAITING = [sys.executable, "-S", "-c", "input()"]


@pytest.fixture(scope="session")
def lasting() -> Iterator[None]:
    with subprocess.Popen(WAITING, stdin=subprocess.PIPE):
        yield


@pytest.mark.usefixtures("lasting")
def test_program_left_running_fails_its_test() -> None:
    with subprocess.Popen(WAITING, stdin=subprocess.PIPE) as program:
        with pytest.raises(AssertionError, match=rf"of these programs:\n{program.pid}: .*\Z"):
            leaks.fail_if_any()
        leaks.fail_if_any()  # reported only once
