"""The subcommands of `thudmud`, each beside what only it needs.

A module called ``..._command`` declares the options of a subcommand; what takes long to load is in
another one, which is loaded when it runs. A server that runs needs nothing from here.
"""
