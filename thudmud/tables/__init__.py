"""Seats, turns, agreements, matches, and the hall the boards stand in. Pure."""
