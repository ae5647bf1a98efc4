"""A server that starts while others are being updated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulation.alone import DrivingLoop, simulated
from tests.simulation.clockwork import World
from thudmud.errors import NotYetError
from thudmud.server import runtime
from thudmud.server.config import StorageSettings
from thudmud.service import Node
from thudmud.store import Store, Upgrade


def test_start_during_takeover_by_a_newer_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newer version takes over after the store is opened and before the node is registered."""
    begin = runtime._open
    storage = StorageSettings(backend="postgresql", dsn="dbname=world")

    async def begin_late(node: Node) -> None:
        process = World.here.process
        process.version += 1
        other = await Store.connect(storage.dsn, upgrade=Upgrade())  # rebuilds the projections
        await other.close()
        process.version -= 1
        await begin(node)

    async def main() -> None:
        with pytest.raises(NotYetError, match=r"^storage.dsn: .* have taken over this store"):
            async with runtime.open_serving_store(storage, tmp_path):
                raise AssertionError("it serves")

    monkeypatch.setattr(runtime, "_open", begin_late)
    loop = DrivingLoop()
    with simulated(loop, tmp_path / "thud.store"):
        loop.run_until_complete(main())
    loop.close()
