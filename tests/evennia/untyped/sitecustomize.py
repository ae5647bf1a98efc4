"""Run by Python at startup where this folder is in its path: disables ``typeguard``'s checks.

A stub module ``typeguard`` would be found too late: Evennia's launcher puts its own folder first.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

sys.modules["typeguard"] = SimpleNamespace(typechecked=lambda checked: checked)  # type: ignore[assignment]
