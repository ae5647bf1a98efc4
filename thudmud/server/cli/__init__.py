"""The subcommands of `thudmud`, each beside what only it needs.

Owns what they print and their exit statuses. Must never be needed by a server that runs. A module
called ``..._command`` declares the options of a subcommand; what takes long to load is in another
one, which is loaded when it runs.
"""
