"""`thudmud draw`: draw a battle from a record or from the store."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from thudmud.cli.common import refuse, write_whole
from thudmud.cli.records import read, rules_option
from thudmud.english import pluralize
from thudmud.errors import CommandError, InvalidValueError, system_reason
from thudmud.pictures import SCHEMES, MissingExtraError, frame, gif, png
from thudmud.pictures.pixels import DELAY, GIF_SIZE, SIZE
from thudmud.rules import Game

if TYPE_CHECKING:
    from thudmud.pictures.drawing import Orientation

_KINDS = (".svg", ".png", ".gif")
_DIGITS = 12
_SIGNATURE = 4
"""Length of the signatures that identify the kinds: "<svg", "\\x89PNG", "GIF8"."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    # Long: one table of arguments, without branches.
    parser.description = (
        "Draw a battle: the position after a ply as SVG or PNG, or the whole battle as an "
        'animated GIF. PNG and GIF need the extra "pictures".'
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "battle",
        metavar="BATTLE",
        help="a game record, or the number of a stored battle; write ./12 for a file named 12",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="the picture: .svg, .png or .gif; default: SVG on standard output",
    )
    parser.add_argument(
        "--ply", type=int, metavar="N", help="draw the position after this many plies; default: all"
    )
    parser.add_argument(
        "--size",
        type=int,
        metavar="PIXELS",
        help=f"width and height in pixels; default: {SIZE}, for GIF {GIF_SIZE}, for SVG none",
    )
    parser.add_argument(
        "--delay",
        type=float,
        metavar="SECONDS",
        default=DELAY,
        help=f"how long a GIF shows each ply; default: {DELAY:g}",
    )
    parser.add_argument(
        "--orient",
        choices=("south", "north"),
        default="south",
        help="the side of the board at the bottom; default: south",
    )
    parser.add_argument(
        "--colours",
        choices=tuple(SCHEMES),
        metavar="SCHEME",
        default="plain",
        help=f"one of {', '.join(SCHEMES)}; default: plain",
    )
    parser.add_argument(
        "--bare", action="store_true", help="omit the letters and numbers beside the board"
    )
    rules_option(parser)
    words = "the configuration that names the store; default: config.toml in this folder"
    parser.add_argument("--config", type=Path, metavar="FILE", help=words)


def run(options: argparse.Namespace) -> int:
    """Draw a battle; print the picture, or write a file and print a summary."""
    name: str = options.battle
    if not (name.isascii() and name.isdecimal() and len(name) < _DIGITS):
        return _run(options, lambda: read(Path(name), options.rules))
    # Loading the code for stores takes a while, and drawing a record doesn't need it.
    from thudmud.cli.configured import reports_errors  # noqa: PLC0415

    return reports_errors(lambda options: _run(options, lambda: _stored(int(name), options)))(
        options
    )


def _run(options: argparse.Namespace, find: Callable[[], Game]) -> int:
    output: Path | None = options.output
    try:
        if output and output.suffix.lower() not in _KINDS:
            raise CommandError(f"{output}: expected a name that ends in .svg, .png or .gif")  # noqa: TRY301
        game = find()
        game = game if options.ply is None else _after(game, options.ply)
        picture = _picture(game, output.suffix.lower() if output else ".svg", options)
        if output:
            write_whole(output, picture, beginning=_SIGNATURE)
    except (CommandError, InvalidValueError, MissingExtraError) as error:
        return refuse(error)
    except OSError as error:
        return refuse(f"{error.filename}: {system_reason(error)}")
    if output is None:
        print(picture.decode())
        return 0
    size = pluralize(len(picture), "byte")
    print(f"{output}: the battle after {pluralize(len(game.moves), 'ply')}, {size}")
    return 0


def _after(game: Game, ply: int) -> Game:
    """Return the battle after a ply; raise `CommandError` if it has fewer plies."""
    if not 0 <= ply <= len(game.moves):
        raise CommandError(f"expected a ply from 0 to {len(game.moves)}, got {ply}")
    return game.after(ply)


def _picture(game: Game, kind: str, options: argparse.Namespace) -> bytes:
    orientation: Orientation = options.orient
    colours, coordinates = SCHEMES[options.colours], not options.bare
    size: int | None = options.size
    if kind == ".gif":
        return gif(
            game,
            GIF_SIZE if size is None else size,
            options.delay,
            orientation=orientation,
            colours=colours,
            coordinates=coordinates,
        )
    drawn = frame(
        game, orientation=orientation, size=size, colours=colours, coordinates=coordinates
    )
    return drawn.encode() if kind == ".svg" else png(drawn, SIZE if size is None else size)


def _stored(number: int, options: argparse.Namespace) -> Game:
    """Return a battle from the configured store."""
    import asyncio  # noqa: PLC0415  (a record doesn't need it)

    from thudmud.cli.configured import open_store  # noqa: PLC0415  (as above)
    from thudmud.game.archive import BattleLookup, FoundBattle  # noqa: PLC0415  (as above)

    async def find() -> FoundBattle | None:
        async with open_store(options.config, reading=True) as store:
            found: FoundBattle | None = await store.look_up(BattleLookup(number))
            return found

    found = asyncio.run(find())
    if found is None:
        raise CommandError(f"no battle {number}")
    if found.game is None:
        raise CommandError(f"the plies of battle {number} are no longer stored")
    return found.game
