"""Who is here, who is ignored or followed, and what is told of a player."""
