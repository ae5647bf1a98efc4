"""Strength of the search: matches against frozen opponents. `benchmarks.levels` has the levels.

Run it from the checkout, a git repository: ``python benchmarks/bots.py``. A full run takes hours of
CPU time. Results are kept in ``--folder``, where an interrupted run resumes; use another folder for
another version of the search. ``--only WORDS`` selects the contests whose titles contain these
words, ``--workers N`` plays N battles in parallel, and ``--seconds S`` sets the CPU time per ply.

A match is two battles from the same random opening of four plies, with the sides swapped. The
opponents are those of `benchmarks.strangers`, and a former bot that looks one ply ahead, checked
out of the repository's history. All have the same CPU time for each ply, whether or not they use
it. A battle is adjudicated after 60 plies without a capture, or after 220 plies.

Margins are mean differences in score at the end of a battle, with the standard error after ``±``.

A second table has the mean search depth by ruleset and side, and the nodes per second.
"""

from __future__ import annotations

import argparse
import io
import json
import shlex
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from thudmud.bots.referee import random_opening
from thudmud.rules import RULESETS, Ruleset
from thudmud.search.search import Limit, Search

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "bots"

BEFORE = "43b3dae7cf21a56c59e4298f23da5064bf72017d"
"""The last commit whose bot looked one ply ahead, before the search replaced it."""

SECONDS = 0.2
"""CPU seconds allowed per ply by default; the search stops at 0.7 of this."""

MATCHES, FEWER = 40, 10

THUD = "discworld", "classic"
"""Rulesets that all strangers support."""

INTERRUPTED = 130
"""The shell's exit status after SIGINT: 128 + 2."""


@dataclass(frozen=True)
class Contest:
    """Matches against one opponent.

    Attributes:
        title: the opponent.
        rules: the ruleset's name.
        bots: commands of the player and the opponent, as ``thudmud match`` accepts them.
        options: further options of ``thudmud match``.
        matches: number of matches.
        share: target share of match points, from 0 to 1; a draw is half a point.
    """

    title: str
    rules: str
    bots: tuple[str, str]
    options: tuple[str, ...]
    matches: int
    share: float


def version(commit: str, folder: Path) -> str:
    """Extract a commit's files into the folder, and return the command of its engine."""
    path = folder / commit[:10]
    if not path.exists():
        packed = subprocess.run(  # noqa: S603
            ["git", "-C", str(ROOT), "archive", commit],  # noqa: S607
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as files:
            files.extractall(new := path.with_suffix(".new"), filter="data")
        new.rename(path)
    return command(path, "thudmud.cli.main", "engine")


def command(path: Path, *module: str) -> str:
    """Return a shell command that runs a module of one checkout, and of no other."""
    return shlex.join(["env", f"PYTHONPATH={path}", sys.executable, "-P", "-m", *module])


def contests(folder: Path, seconds: float) -> Iterator[Contest]:
    """Yield all contests.

    Args:
        folder: where old versions are extracted.
        seconds: CPU seconds per ply.
    """
    timed = ("--seconds", f"{seconds:g}", "--cpu")
    for name, all_rules, matches, share in (
        ("checklist", THUD, MATCHES, 0.65),
        ("first", THUD, MATCHES, 0.65),
        ("monte-carlo", RULESETS, FEWER, 0.95),
        ("greedy", RULESETS, FEWER, 0.95),
        ("random", RULESETS, FEWER, 0.95),
    ):
        stranger = command(ROOT, "benchmarks.strangers", name)
        for rules in all_rules:
            yield Contest(name, rules, ("thudmud", stranger), timed, matches, share)
    before = version(BEFORE, folder)
    for rules, matches in (("discworld", MATCHES), ("koom valley", 20)):
        yield Contest("one ply ahead", rules, ("thudmud", before), timed, matches, 0.95)


def played(contest: Contest, folder: Path, workers: int) -> dict[str, Any]:
    """Play the remaining battles of a contest.

    Args:
        contest: the contest.
        folder: where finished battles are kept, in one file for each contest.
        workers: number of battles in parallel.

    Returns:
        The summary of ``thudmud match --json``.
    """
    _, limit, *_ = contest.options
    name = f"{contest.title} {contest.rules} {limit}".replace(" ", "-")
    done = subprocess.run(  # noqa: S603
        [
            *shlex.split(command(ROOT, "thudmud.cli.main", "match")),
            *contest.bots,
            *("--rules", contest.rules, "--games", str(2 * contest.matches), *contest.options),
            *("--workers", str(workers), "--out", str(folder / f"{name}.jsonl"), "--json"),
        ],
        check=True,
        stdout=subprocess.PIPE,
    )
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def row(contest: Contest, found: dict[str, Any]) -> str:
    """Format the Markdown row of a contest's summary."""
    won, drawn, lost = (found["matches"][each] for each in ("won", "drawn", "lost"))
    us, them = found["bots"]
    is_met = won + drawn / 2 >= contest.share * contest.matches
    times = " / ".join(
        "" if each["cpu_seconds_a_ply"] is None else f"{1000 * each['cpu_seconds_a_ply']:.0f}"
        for each in (us, them)
    )
    faults = sum(us[each] for each in ("illegal_plies", "time_outs", "failures"))
    return (
        f"| {contest.title} | {contest.rules} | {won} | {drawn} | {lost} | {contest.share:.0%}"
        f"{'' if is_met else ' !'} | {_signed(us['margin_as_dwarfs'], us['error_as_dwarfs'])}"
        f" | {_signed(us['margin_as_trolls'], us['error_as_trolls'])} | {times} | {faults or ''} |"
    )


def _signed(margin: float | None, error: float | None) -> str:
    """Format a margin with its sign, and its standard error if there was more than one battle."""
    if margin is None:
        return ""
    return f"{margin:+.1f}" if error is None else f"{margin:+.1f} ± {error:.1f}"


HEAD = (
    "| against | rules | won | drawn | lost | wanted | as dwarfs | as trolls | CPU, ms a ply"
    " | faults |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)

DEPTH_HEAD = "| rules | side | depth | positions a second |\n| --- | --- | ---: | ---: |"


def is_over(end: float) -> bool:
    """Return whether this process's CPU clock has passed a deadline."""
    return time.process_time() > end


def depths(ruleset: Ruleset, seconds: float = 0.3) -> Iterator[str]:
    """Yield Markdown rows with the mean depth and the nodes per second of each side.

    Args:
        ruleset: the ruleset.
        seconds: CPU seconds per ply.
    """
    plies, depth, nodes, used = [0, 0], [0, 0], [0, 0], [0.0, 0.0]
    for seed in range(6):
        game = random_opening(ruleset, 4, str(seed))
        players = [Search(ruleset), Search(ruleset)]
        for _ in range(12):
            side = len(game.moves) % 2
            begun = time.process_time()
            found = players[side].think(game, Limit(should_stop=partial(is_over, begun + seconds)))
            used[side] += time.process_time() - begun
            plies[side] += 1
            depth[side] += found.depth
            nodes[side] += found.nodes
            game = game.play(found.move)
            if game.outcome:
                break
    for side, name in enumerate(("dwarfs", "trolls")):
        yield (
            f"| {ruleset} | {name} | {depth[side] / plies[side]:.1f} "
            f"| {nodes[side] / used[side]:,.0f} |"
        )


def main(words: Sequence[str] | None = None) -> None:
    """Play all remaining battles, and print the tables."""
    parser = argparse.ArgumentParser(description="Let the player play against others.")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--only", default="")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="CPU seconds a move")
    options = parser.parse_args(words)
    for each in (signal.SIGINT, signal.SIGTERM):  # subprocess.run kills its child
        signal.signal(each, lambda *_: sys.exit(INTERRUPTED))
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    print(HEAD)
    for contest in contests(folder, options.seconds):
        if options.only in f"{contest.title} {contest.rules}":
            print(row(contest, played(contest, folder, options.workers)), flush=True)
    print(f"\n{DEPTH_HEAD}")
    for ruleset in RULESETS.values():
        for line in depths(ruleset):
            print(line, flush=True)


if __name__ == "__main__":
    main()
