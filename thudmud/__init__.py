"""Thud, the Discworld board game of dwarfs and trolls, played by telnet."""
