"""What players read, made of data: refusals, so far."""
