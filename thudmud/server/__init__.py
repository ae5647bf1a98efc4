"""Sockets, sessions, configuration and the command line. The only importer of telnetlib3."""
