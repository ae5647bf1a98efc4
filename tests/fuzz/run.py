"""Fuzz a target by coverage: ``python -m tests.fuzz.run bytes -max_total_time=60``.

The options are libFuzzer's. It stops at the first failing input and writes it to ``build/fuzz``;
add that to the corpus, so that the tests cover it.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["thudmud", "telnetlib3"]):
    from tests.fuzz.targets import CORPUS, TARGETS

FOUND = Path("build/fuzz")
"""The output folder; the corpus in the checkout is read-only."""

LONGEST = 2048  # bytes: more than a line may have


def main(name: str, *options: str) -> None:
    """Fuzz a target; never returns."""
    target, loop = TARGETS[name], asyncio.new_event_loop()
    logging.disable()  # telnetlib3 logs every malformed sub-negotiation
    found = FOUND / name
    found.mkdir(parents=True, exist_ok=True)

    def try_out(data: bytes) -> None:
        loop.run_until_complete(target(data))

    limits = [f"-max_len={LONGEST}", "-timeout=10", "-rss_limit_mb=1024"]
    kept = [f"-artifact_prefix={found.parent}/{name}-", str(found), str(CORPUS / name)]
    atheris.Setup([sys.argv[0], *limits, *options, *kept], try_out)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
