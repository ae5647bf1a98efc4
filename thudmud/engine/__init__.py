"""The rules of Thud. Pure: no I/O, no clock, no global random; imports nothing of ours."""
