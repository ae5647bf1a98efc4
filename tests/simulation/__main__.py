"""Replay a seed of the simulated world and print its log: ``python -m tests.simulation SEED``.

``--shrink`` removes everything that is not needed to reproduce the failure.
``python -m tests.simulation 0 300`` plays many seeds on all processors and reports the failures;
``--keep FILE`` records the seeds played and resumes from there the next time;
``--break NAME`` applies a mutant to the program and plays until a seed detects it;
``--breaks`` does so for each mutant that its seed no longer detects, and writes the new seed into
`tests.simulation.breaks`.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from tests.simulation import breaks

if TYPE_CHECKING:
    from tests.simulation.runs import Template

PROCESSORS = os.cpu_count() or 1

TOGETHER = 50
"""Number of seeds that a process plays before it reports."""

PARTS = 40
"""Number of such reports after which a process is replaced, to get rid of its caches."""

GARBAGE = 100_000
"""Number of new objects between garbage collections; a world becomes garbage as a whole."""

TOLD_EVERY = 1000
"""Number of seeds between progress reports."""

WENT_WRONG = 3
"""The exit status if a world failed, as opposed to this program."""


def main() -> int:
    """Run the command line and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("first", type=int, help="the seed, or the first of several")
    parser.add_argument("end", type=int, nargs="?", help="the one after the last")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--breaks", action="store_true")
    parser.add_argument("--break", dest="mistake", choices=breaks.BREAKS, metavar="NAME")
    parser.add_argument("--processes", type=int, default=PROCESSORS, metavar="N")
    parser.add_argument("--keep", type=Path, metavar="FILE")
    asked = parser.parse_args()
    if asked.breaks:
        return find_all(asked.first, asked.end)
    if os.environ.get("PYTHONHASHSEED") != "0":  # sets iterate in hash order
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]])  # noqa: S606
    if asked.mistake:
        breaks.apply(asked.mistake)
    logging.disable()
    warnings.simplefilter("ignore", RuntimeWarning)  # killed processes never await their coroutines
    from tests.simulation.runs import Template  # noqa: PLC0415  (after the mutant is applied)

    template = Template()
    gc.collect()
    gc.freeze()  # the objects that exist now are shared by all worlds
    gc.set_threshold(GARBAGE)
    try:
        if asked.end is None:
            return play_one(template, asked.first, shrinks=asked.shrink)
        return play_many(
            template,
            range(asked.first, asked.end),
            asked.processes,
            asked.keep,
            until_wrong=bool(asked.mistake),
        )
    finally:
        template.close()


def play_one(template: Template, seed: int, *, shrinks: bool) -> int:
    """Play a seed, print its log, and return the exit status."""
    from tests.simulation.runs import Plan  # noqa: PLC0415  (after the mutant is applied)

    plan = Plan.of(seed)
    report = template.play(plan)
    if shrinks and report.wrong:
        plan = template.shrink(plan)
        report = template.play(plan)
    print(plan)
    print("\n".join(report.log), *report.wrong, sep="\n")
    return WENT_WRONG if report.wrong else 0


@dataclass
class Played:
    """Results of a range of seeds.

    Attributes:
        code: the program that played them, see `fingerprint`.
        first: the first seed.
        end: the seed after the last one played.
        counts: numbers of lines typed, faults and events.
        wrong: failures by seed.
        seconds: CPU time used.
    """

    code: str
    first: int
    end: int
    counts: dict[str, int]
    wrong: dict[str, list[str]]
    seconds: float


def play_many(
    template: Template, seeds: range, processes: int, keep: Path | None, *, until_wrong: bool
) -> int:
    """Play seeds; print the failures and the totals.

    Args:
        template: the initial state of each world.
        seeds: the seeds to play.
        processes: the number of parallel processes.
        keep: the file that records the seeds played. Seeds recorded there for this code are not
            played again.
        until_wrong: whether to stop at the first failing seed.

    Returns:
        The exit status.
    """
    code = fingerprint()
    lines = keep.read_text("utf-8").splitlines() if keep and keep.exists() else []
    kept = [Played(**json.loads(line)) for line in lines]
    known = {(each.first, each.end): each for each in kept if each.code == code}
    counts, bad, done, seconds = Counter[str](), 0, 0, 0.0
    parts = [seeds[place : place + TOGETHER] for place in range(0, len(seeds), TOGETHER)]
    missing = [part for part in parts if (part.start, part.stop) not in known]
    with _mapping(processes) as mapping, suppress(KeyboardInterrupt):
        playing = iter(mapping(partial(play_some, template, code, until_wrong), missing))
        for part in parts:
            played = known.get((part.start, part.stop)) or next(playing)
            if keep and part in missing:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(f"{json.dumps(asdict(played))}\n")
            for seed, wrong in played.wrong.items():
                print(f"seed {seed}:", *wrong[:3], sep="\n    ", flush=True)
            counts.update(played.counts)
            bad, done = bad + len(played.wrong), played.end - seeds.start
            seconds += played.seconds
            if bad and until_wrong:
                break
            if done % TOLD_EVERY == 0:
                print(f"{done} of {len(seeds)}, {bad} went wrong; {seconds:.0f} s", file=sys.stderr)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    print(f"{bad} of {done} went wrong; {seconds:.1f} s")
    return WENT_WRONG if bad else 0


def play_some(template: Template, code: str, until_wrong: bool, seeds: range) -> Played:  # noqa: FBT001  (of a partial)
    """Play a range of seeds and return the results."""
    from tests.simulation.runs import Plan  # noqa: PLC0415  (after the mutant is applied)

    begun, played = time.process_time(), Played(code, seeds.start, seeds.start, {}, {}, 0.0)
    counts = Counter[str]()
    for played.end in range(seeds.start + 1, seeds.stop + 1):
        report = template.play(Plan.of(played.end - 1))
        counts += report.counts
        if report.wrong:
            played.wrong[str(played.end - 1)] = report.wrong
            if until_wrong:
                break
    played.counts, played.seconds = dict(counts), time.process_time() - begun
    return played


@contextmanager
def _mapping(processes: int) -> Iterator[Callable[..., Iterable[Played]]]:
    """Yield a `map` that uses the given number of processes, forked from this one."""
    if processes == 1:
        yield map
    else:
        fork = get_context("fork")
        with fork.Pool(processes, _heed_parent, maxtasksperchild=PARTS) as pool:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            yield pool.imap


def _heed_parent() -> None:
    """Let the parent end this process, as ^C and termination are meant for the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def fingerprint() -> str:
    """Return a hash of the source of the program and of its simulation.

    The mutants are left out, since they are not applied.
    """
    mistakes = Path(breaks.__file__)
    top = mistakes.parents[2]
    found = sha256()
    for folder in ("thudmud", "tests/simulation", "grammar"):
        for path in sorted((top / folder).rglob("*")):
            if path.suffix in (".py", ".lark", ".txt", ".toml") and path != mistakes:
                found.update(path.read_bytes())
    return found.hexdigest()[:16]


def find_all(first: int, end: int) -> int:
    """Find a seed that detects each mutant; return the exit status."""

    def first_of(name: str, *seeds: int) -> int | None:
        words = [sys.executable, "-m", "tests.simulation", *map(str, seeds), "--break", name]
        words += ["--processes", "1"]
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

    with ThreadPoolExecutor(PROCESSORS) as workers:
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
