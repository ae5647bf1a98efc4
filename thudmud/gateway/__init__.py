"""Thud for every other MUD: JSON lines over a socket, or over standard input and output.

`docs/gateway.md` describes the protocol. From the socket inwards: `listening` accepts links, a
`link` reads and writes lines, `requests` says what they mean, a `session` outlasts its links, the
`gateway` holds all sessions, and `boards` is where people play. Only the first two do I/O.
"""
