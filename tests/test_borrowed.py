"""Undocumented parts of other packages still exist as expected (see docs/libraries.md)."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys

from lark import Lark
from lark.lark import LarkOptions

from thudmud.child import ChildProcess


def test_lark_loads_a_parser_from_data() -> None:
    """Required by `thudmud.language.tables`."""
    assert callable(Lark._load_from_dict)
    assert callable(Lark.memo_serialize)
    assert "_plugins" in LarkOptions._defaults


async def test_child_with_open_pipes_ends_once_its_outputs_are_closed() -> None:
    """Required by `thudmud.child`."""
    code = "import os, time; os.fork() or time.sleep(600)"
    child = await ChildProcess.start(sys.executable, "-S", "-c", code)
    child.close_outputs()
    try:
        async with asyncio.timeout(60):
            assert await child.wait() == 0
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.close()


def test_logging_opens_files_by_a_method() -> None:
    """Required for private log files."""
    assert callable(logging.FileHandler._open)
