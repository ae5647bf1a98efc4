"""Boards, seats, moves, offers, questions about a battle, and resuming it."""
