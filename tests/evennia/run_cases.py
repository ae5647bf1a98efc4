"""Runs the tests based on Evennia's own test classes.

Django configures a whole process, so they cannot run together with the other tests.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import django

ROOT = Path(__file__).parents[2]


def main(names: list[str]) -> int:
    # A dependency of Evennia installs a top-level package "tests".
    ours = ModuleType("tests")
    ours.__path__ = [str(ROOT / "tests")]
    sys.modules["tests"] = ours
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.evennia.mud_settings"
    django.setup()
    import evennia  # noqa: PLC0415 (only once Django is set up)

    evennia._init()
    from evennia.commands.command import Command  # noqa: PLC0415
    from evennia.server.tests.testrunner import EvenniaTestSuiteRunner  # noqa: PLC0415
    from evennia.utils.idmapper import models  # noqa: PLC0415

    # Speed-ups: Evennia collects garbage after each test, a tenth of the time; and in Evennia 5 all
    # commands share one hash, so that comparing them on each lookup took a third of the time. Use
    # the hash of Evennia 6, by which it finds equal commands when it merges sets.
    models.gc = SimpleNamespace(collect=int)
    Command.__hash__ = lambda command: hash(command.key)
    runner = EvenniaTestSuiteRunner(
        pattern="*_cases.py", verbosity=2, test_name_patterns=names or None
    )
    return int(bool(runner.run_tests([str(Path(__file__).parent / "cases")])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
