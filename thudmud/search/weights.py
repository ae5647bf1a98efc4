"""The evaluation's weights for each side.

Until 2026-11-23 they were found by manual trials at 300 to 1,500 positions a ply: in self-play with
a little SPSA (simultaneous perturbation stochastic approximation), and in Koom Valley against the
bot that looks one ply ahead. Those of classic date from 2026-11-26: close to a fit to the results
of searches of four plies in quiet positions, and tested against the previous version. ``python
benchmarks/tune.py`` tunes the weights and rewrites this file; with ``--fit`` it prints such a fit.
"""

from __future__ import annotations

from thudmud.rules import Side
from thudmud.search.koom import KoomWeights
from thudmud.search.thud import Weights

ALL_TAKEN = {
    Side.DWARF: Weights(
        troll=700,
        pair=2,
        near=8,
        commanded=17,
        secure=35,
        hanging=35,
        second=35,
        prize=49,
        exposed=70,
        another=70,
        close=2,
        free=5,
        hunted=18,
    ),
    Side.TROLL: Weights(
        troll=700,
        pair=2,
        near=8,
        commanded=12,
        secure=35,
        hanging=40,
        second=40,
        prize=45,
        exposed=125,
        another=125,
        close=2,
        free=5,
        hunted=10,
    ),
}
"""For discworld."""

ONE_TAKEN = {
    Side.DWARF: Weights(
        troll=815,
        pair=4,
        near=8,
        commanded=14,
        secure=20,
        hanging=45,
        second=52,
        prize=-30,
        exposed=68,
        another=250,
        close=2,
        free=5,
        hunted=10,
    ),
    Side.TROLL: Weights(
        troll=815,
        pair=4,
        near=8,
        commanded=14,
        secure=20,
        hanging=45,
        second=52,
        prize=-30,
        exposed=68,
        another=250,
        close=2,
        free=5,
        hunted=12,
    ),
}
"""For classic."""

ROCK = {
    Side.DWARF: KoomWeights(
        troll=300,
        row=100,
        home=2,
        one=25,
        two=110,
        escort=22,
        near=5,
        close=9,
        ways=4,
        exposed=25,
        trapped=80,
    ),
    Side.TROLL: KoomWeights(
        troll=260,
        row=30,
        home=1,
        one=25,
        two=110,
        escort=22,
        near=5,
        close=9,
        ways=4,
        exposed=25,
        trapped=60,
    ),
}
"""For koom valley."""
