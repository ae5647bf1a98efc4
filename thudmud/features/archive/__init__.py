"""The archive: past battles, replays, comments, ratings and game records."""

from thudmud.features.archive import commands, messages, ratings, replays  # noqa: F401  (registers)
from thudmud.features.archive.reactors import setup
from thudmud.game.feature import Feature, commands_in

FEATURE = Feature("archive", commands_in(__name__), setup)
