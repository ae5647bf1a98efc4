"""Telnet: turns the bytes of a connection into lines and signals, and text into bytes.

telnetlib3 provides the scanner that finds telnet commands in a client's bytes (`connection.py`),
and the names of commands and options. Commands are interpreted here, and lines never pass through
its reader. Used as a whole, telnetlib3 5.0.1 hangs on a malformed MSDP list, inflates any data that
a client marks as compressed, buffers a megabyte of each sub-negotiation and lines of any length,
waits for the client before it greets, and lets the client choose the encoding.
"""
