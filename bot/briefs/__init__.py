"""What a brief is. Pure: no I/O, no clock, no Discord."""
