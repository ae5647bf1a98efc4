"""Lessons, and puzzles."""
