"""The telnet server: configuration, logs, accepting, limits, sessions, bots; and how it runs."""
