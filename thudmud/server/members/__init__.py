"""Who somebody is: accounts, passwords, and the words that guests come back with.

Who has which name is in the store. Must never know a board.
"""
