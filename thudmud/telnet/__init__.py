"""Telnet: the bytes of a connection -> lines and signals, and back.

telnetlib3 is used to find telnet commands in what a client sends (`connection.py`), and for the
names of commands and options. What a command means is decided here, and lines never pass through
its reader: used as a whole, it hangs on a malformed MSDP list, inflates whatever a client tells it
to, keeps a megabyte of each sub-negotiation and lines of any length, waits for the client before it
greets, and lets the client choose the encoding.
"""
