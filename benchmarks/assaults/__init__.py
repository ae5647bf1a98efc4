"""Attack groups, one module each, listed in `GROUPS` of `benchmarks/attacks.py`."""
