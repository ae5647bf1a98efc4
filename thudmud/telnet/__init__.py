"""Telnet: bytes of a connection -> lines and signals, and back."""
