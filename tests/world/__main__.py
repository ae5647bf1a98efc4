"""``python -m tests.world SEED``: play a seed of the world again, and tell what happened.

``--shrink`` leaves out what is not needed for what goes wrong in it.
``python -m tests.world 0 300`` plays many, and tells of those that went wrong;
``--break NAME`` makes a mistake in the program first, and plays until a seed finds it;
``--breaks`` does so with each mistake that its seed does not find any more, and writes into
`tests.world.breaks` which seed does.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import subprocess
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.world import breaks

AT_ONCE = 3
"""How many mistakes are looked for at the same time."""

WENT_WRONG = 3
"""The exit status if something in the world did, and not this program."""


def main() -> int:
    """Do what is asked for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.world", description=__doc__)
    parser.add_argument("first", type=int, help="the seed, or the first of several")
    parser.add_argument("end", type=int, nargs="?", help="the one after the last")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--breaks", action="store_true")
    parser.add_argument("--break", dest="mistake", choices=breaks.BREAKS, metavar="NAME")
    asked = parser.parse_args()
    if asked.breaks:
        return find_all(asked.first, asked.end)
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of a set of names is by their hashes
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "tests.world", *sys.argv[1:]])  # noqa: S606
    if asked.mistake:
        breaks.apply(asked.mistake)
    logging.disable()
    warnings.simplefilter("ignore", RuntimeWarning)  # who is killed awaits nothing any more
    from tests.world.runs import Plan, Template  # noqa: PLC0415  (after the mistake is made)

    template = Template()
    try:
        if asked.end is None:
            plan = Plan.of(asked.first)
            report = template.play(plan)
            if asked.shrink and report.wrong:
                plan = template.shrink(plan)
                report = template.play(plan)
            print(plan)
            print("\n".join(report.log), *report.wrong, sep="\n")
            return WENT_WRONG if report.wrong else 0
        begun, counts, bad = time.process_time(), Counter[str](), 0
        for seed in range(asked.first, asked.end):
            report = template.play(Plan.of(seed))
            counts += report.counts
            if report.wrong:
                bad += 1
                print(f"seed {seed}:", *report.wrong[:3], sep="\n    ", flush=True)
                if asked.mistake:
                    break
        print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
        print(f"{bad} of {seed + 1 - asked.first} went wrong; {time.process_time() - begun:.1f} s")
    finally:
        template.close()
    return WENT_WRONG if bad else 0


def find_all(first: int, end: int) -> int:
    """Find out for each mistake which seed finds it; return the exit status."""

    def first_of(name: str, *seeds: int) -> int | None:
        words = [sys.executable, "-m", "tests.world", *map(str, seeds), "--break", name]
        played = subprocess.run(words, capture_output=True, text=True, check=False)
        if played.returncode not in (0, WENT_WRONG):
            raise RuntimeError(f"{name}: {played.stderr[-2000:]}")
        found = re.search(r"^seed (\d+):", played.stdout, re.MULTILINE)
        return int(found[1]) if found else None

    def find(name: str) -> int | None:
        known = breaks.BREAKS[name].seed
        found = None if known is None else first_of(name, known, known + 1)
        if found is None:
            found = first_of(name, first, end)
        print(f"{'not found' if found is None else found:>9}  {name}", flush=True)
        return found

    with ThreadPoolExecutor(AT_ONCE) as workers:
        seeds = dict(zip(breaks.BREAKS, workers.map(find, breaks.BREAKS), strict=True))
    path = Path(breaks.__file__)
    source = path.read_text(encoding="utf-8")
    for name, seed in seeds.items():
        place = re.compile(rf'("{re.escape(name)}": Mistake\(\n\s+)\w+,')
        source = place.sub(rf"\g<1>{seed},", source)
    path.write_text(source, encoding="utf-8")
    print(f"{sum(seed is not None for seed in seeds.values())} of {len(seeds)} were found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
