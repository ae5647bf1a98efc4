"""Who has which name: accounts, passwords, and the words that guests come back with.

Owns the file of the accounts. Must never know a board.
"""
