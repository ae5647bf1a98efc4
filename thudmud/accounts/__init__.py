"""Who a player is: the login dialogue, passwords, resume words, last seen, rate limiters."""
