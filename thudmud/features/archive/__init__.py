"""The archive: battles that have ended, replays, ratings and records."""
