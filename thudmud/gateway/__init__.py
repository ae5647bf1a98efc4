"""Thud for every other MUD: JSON lines over a socket, or over standard input and output.

`docs/gateway.md` tells the protocol. What a client sends, what it is sent, and what is kept for one
whose link drops are modules without sockets; `link` and `listening` are the sockets.
"""
