"""Saying, telling, shouting."""
