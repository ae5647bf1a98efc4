"""Print the lowest allowed version of each dependency, as constraints for pip.

`make lowest` runs the tests of the code that uses these packages with these versions, which
verifies the lower bounds in ``pyproject.toml``.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def lowest() -> list[str]:
    """Return a constraint for each dependency of the program and its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = [each for name in extras if name != "evennia" for each in extras[name]]
    found = (
        re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", each)
        for each in (*project["dependencies"], *named)
    )
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    print("\n".join(lowest()))
