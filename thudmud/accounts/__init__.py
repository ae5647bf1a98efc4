"""Accounts: the login dialogues, passwords, resume words, last-seen records, rate limiters."""
