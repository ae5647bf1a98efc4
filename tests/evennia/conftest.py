from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "build" / "evennia" / "bin"


@pytest.fixture(scope="session")
def evennia_bin() -> Path:
    """Return the folder of the commands of an environment with Evennia in it."""
    assert (FOLDER / "evennia").exists(), 'Evennia is missing: "make evennia" installs it'
    return FOLDER
