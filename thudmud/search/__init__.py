"""The player: what a position is worth, and which ply is best. Pure; imports the rules alone."""
