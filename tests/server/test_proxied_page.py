"""Real proxies in front of the page, with the configurations from docs/operating.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.assaults.proxy import fronted
from benchmarks.load.reverse_proxies import Front, haproxy, nginx, program
from benchmarks.load.visitors import OK, SWITCHING, load_all

pytestmark = pytest.mark.slow

FILES = {"thud.css", "icon.svg", "thud.js"}
"""Some of what a browser loads."""


@pytest.fixture(params=[nginx, haproxy], ids=["nginx", "haproxy"])
def front(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Front]:
    """Return a proxy in front of a server with default limits."""
    proxy = request.param
    if program(proxy.__name__) is None:
        pytest.fail(f"These tests need {proxy.__name__}: `make clients` installs it.")
    with fronted(tmp_path, proxy) as (_, front):
        yield front


@pytest.mark.parametrize(
    "sources",
    [[f"127.0.0.{2 + each}" for each in range(30)], ["127.0.0.2"] * 8],
    ids=["30 addresses", "8 visitors of one address"],
)
async def test_simultaneous_page_loads_are_complete(front: Front, sources: Sequence[str]) -> None:
    loaded = await load_all(front, sources)
    wrong = [
        {path: status for path, status in each.statuses.items() if status not in {OK, SWITCHING}}
        for each in loaded
    ]
    assert wrong == [{}] * len(sources)
    for each in loaded:
        assert {path.rpartition("/")[2] for path in each.statuses} > FILES
        assert each.statuses["/ws"] == SWITCHING
