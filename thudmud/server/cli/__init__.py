"""The subcommands of `thudmud`, each beside what only it needs.

Owns what they print and their exit statuses. Must never be needed by a server that runs.
"""
