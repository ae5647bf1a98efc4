"""The command line: a module for each subcommand of `thudmud`, and what several of them share."""
