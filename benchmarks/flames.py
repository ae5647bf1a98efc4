"""Flame graphs of a say and of a ply: where the server's time goes.

Run it from the checkout: ``python benchmarks/flames.py say PICTURE`` or ``... ply PICTURE``, or
``python -m benchmarks.flames``. It starts a server, lets 100 pairs of players type pipelined says,
or play at 100 tables, and has py-spy sample the server meanwhile. This requires the program py-spy,
``pip install py-spy``, and on some systems root. The picture is an SVG without scripts and without
paths of this machine; browsers show the name and the share of the function under the pointer.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape, unescape

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a plain script

from benchmarks.load.busy import MANY, WINDOW
from benchmarks.load.crowd import Crowd
from benchmarks.load.players import MOVED, SAY, move, seated, start_over
from benchmarks.load.processes import thudmud

SECONDS, RATE = 30, 200
"""Duration, and samples a second."""

ROUND = 2.0
"""CPU seconds of the server in each round of lines."""

WIDTH, LETTER = 1200, 7.2
"""Pixels of the picture's width, and of a letter's."""

FRAME = re.compile(
    r"<title>([^<]*) \([\d,]+ samples, [^<]*</title>"
    r"<rect [^>]*?width=\"([\d.]+)%\"[^>]*/><text [^>]*>"
)
"""A function in the picture, up to its label: its name, and its width in percent."""

SCRIPT = re.compile(r"<script.*?</script>| onload=\"[^\"]*\"", re.DOTALL)
"""The script of the picture, which folds it in a browser."""

TEXT = re.compile(r"(<text id=\"(\w+)\"[^>]*>)[^<]*")
"""A text outside of the functions. py-spy writes its command line, with paths, as the title."""


def say(crowd: Crowd) -> None:
    """Let the first player at each table type pipelined says."""
    crowd.rate(range(0, len(crowd), 2), SAY.line, SAY.answer, ROUND, WINDOW)


def ply(crowd: Crowd) -> None:
    """Play random games at all tables."""
    crowd.turns(range(0, len(crowd), 2), move, MOVED, ROUND)
    start_over(crowd, range(len(crowd)))


LOADS: dict[str, Callable[[Crowd], None]] = {"say": say, "ply": ply}


def with_labels(picture: str, title: str) -> str:
    """Return a flame graph without its script, which would otherwise write the labels.

    Args:
        picture: the SVG of py-spy.
        title: the new title.
    """
    picture = TEXT.sub(lambda text: text[1] + title * (text[2] == "title"), SCRIPT.sub("", picture))
    return FRAME.sub(lambda frame: frame[0] + _label(frame[1], float(frame[2])), picture)


def _label(name: str, width: float) -> str:
    """Return as much of a function's name as fits, or nothing."""
    name, room = unescape(name), int(width / 100 * WIDTH / LETTER) - 1
    if room < 3:
        return ""
    return escape(name if len(name) <= room else name[: room - 2] + "..")


def record(load: Callable[[Crowd], None], path: Path) -> None:
    """Sample a server under a load, and write the flame graph."""
    with (
        TemporaryDirectory(prefix="thudmud.") as folder,
        thudmud(Path(folder), MANY) as server,
        seated(server, 2 * MANY) as crowd,
    ):
        load(crowd)  # loads modules and fills caches
        words = ["py-spy", "record", "--format", "flamegraph", "--function"]
        words += ["--rate", str(RATE), "--duration", str(SECONDS), "--output", str(path)]
        with subprocess.Popen([*words, "--pid", str(server.pid)]) as recorder:  # noqa: S603
            while recorder.poll() is None:
                load(crowd)
    if recorder.returncode:
        raise SystemExit(recorder.returncode)


def main(arguments: list[str] | None = None) -> int:
    """Draw the flame graph of a line."""
    parser = argparse.ArgumentParser(description="Draw where the server's time goes.")
    parser.add_argument("line", choices=LOADS)
    parser.add_argument("picture", type=Path)
    options = parser.parse_args(arguments)
    record(LOADS[options.line], options.picture)
    title = f"The server's time for a {options.line}, at {MANY} tables"
    options.picture.write_text(with_labels(options.picture.read_text("utf-8"), title), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
