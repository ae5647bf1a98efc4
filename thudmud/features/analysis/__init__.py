"""Analyses of battles: what each ply was worth, and what would have been better."""
