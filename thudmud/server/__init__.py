"""The server process: configuration, logging, listening sockets, limits, sessions and bots."""
