"""Groups of attacks, a module each; `benchmarks/attacks.py` has them in its `GROUPS`."""
