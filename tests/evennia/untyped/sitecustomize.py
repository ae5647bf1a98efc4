"""What Python runs first where this folder is in its path: its ``typeguard`` checks no types.

A module of that name would be found too late: Evennia's launcher puts its own folder first.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

sys.modules["typeguard"] = SimpleNamespace(typechecked=lambda checked: checked)  # type: ignore[assignment]
