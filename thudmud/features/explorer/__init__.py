"""The explorer: what has been played from a position."""
