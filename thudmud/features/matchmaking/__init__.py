"""Invitations, challenges and seeks."""
