"""The caps: how much of anything one client, address or player may have.

Owns the counting. Must never know what is counted.
"""
