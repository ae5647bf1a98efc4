"""Who somebody is: names, passwords, resume words, the login dialogue, throttles."""
