"""The computer player: evaluation and search. Pure; imports only the rules."""
