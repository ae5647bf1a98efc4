"""The gateway: Thud boards for other MUDs, by JSON lines over a socket or standard streams.

`docs/gateway.md` describes the protocol. From the socket inwards, the layers are:

- `listening` accepts connections, which are called links
- `link` reads and writes the lines of one connection
- `requests` parses the messages of a client, and formats those of the gateway
- `session` has the state of a client, which survives a lost connection
- `gateway` manages all sessions and dispatches requests
- `boards` carries out requests at the boards

Only the first two do I/O.
"""
