"""Telnet: bytes of a connection -> lines and signals, and back.

Owns all that only telnet needs. Must never know what a line says, nor who is who.
"""
