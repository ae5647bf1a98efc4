"""Tournaments: entering, pairing, standings."""
