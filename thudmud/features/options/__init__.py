"""How a player wants boards and messages."""
