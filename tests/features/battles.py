"""Battles in a house, for the tests of features that look back at them."""

from __future__ import annotations

from thudmud import House

NOW = 1_800_000_000.0


def play(house: House, dwarf: str, troll: str, *plies: str, board: str = "oak board") -> None:
    """Seat two players at a board and begin the next battle; they type the plies in turn."""
    house.obey(dwarf, f"join as dwarf on {board}", NOW)
    house.obey(troll, f"join as troll on {board}", NOW)
    house.obey(dwarf, f"start on {board}", NOW)  # begins the first battle, or offers the second
    if not house.hall.tables[board].is_running:
        house.obey(troll, f"start on {board}", NOW)
    for number, ply in enumerate(plies):
        house.obey((dwarf, troll)[number % 2], f"{ply} on {board}", NOW)
