"""What is used of other packages beyond what they document is still there: docs/libraries.md."""

from __future__ import annotations

import asyncio
import logging
import sys

from lark import Lark
from lark.lark import LarkOptions


def test_lark_loads_a_parser_from_data() -> None:
    """Else `thudmud.language.tables` needs another way with this version of Lark."""
    assert callable(Lark._load_from_dict)
    assert callable(Lark.memo_serialize)
    assert "_plugins" in LarkOptions._defaults


async def test_asyncio_tells_the_transport_of_a_process() -> None:
    """Else the pipes of programs need another way to be closed with this version of Python."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-S", "-c", "", stdout=asyncio.subprocess.PIPE
    )
    assert isinstance(process._transport, asyncio.SubprocessTransport)  # type: ignore[attr-defined]
    assert process._transport.get_pipe_transport(1) is not None  # type: ignore[attr-defined]
    await process.communicate()


def test_logging_opens_files_by_a_method() -> None:
    """Else log files need another way to be private with this version of Python."""
    assert callable(logging.FileHandler._open)
