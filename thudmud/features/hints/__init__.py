"""Hints: a move that a player might play."""
