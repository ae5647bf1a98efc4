"""The WebSocket documentation: its program runs, and its settings exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.server.plain import Serving
from thudmud.server.config import WebSettings
from thudmud.web.frames import SUBPROTOCOL

PAGE = (Path(__file__).parents[2] / "docs" / "web.md").read_text("utf-8")


async def test_documented_program_watches_a_board(serving: Serving) -> None:
    [(host, port)] = (await serving(web={"port": 0})).web_places
    [program] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {"__name__": "page"}
    exec(program, names)  # noqa: S102  (our own page)
    rows = await names["watch"](f"ws://{host}:{port}/ws")
    assert len(rows) == 15
    assert rows[7] == "......TXT......"


def test_documented_settings_exist() -> None:
    named = set(re.findall(r"`(\w+)(?: = [^`]*)?`", PAGE)) & set(WebSettings.model_fields)
    assert named >= {"enabled", "proxies", "origins", "max_frame", "frames_per_second"}
    assert SUBPROTOCOL in PAGE
    assert f"127.0.0.1:{WebSettings().port}" in PAGE
