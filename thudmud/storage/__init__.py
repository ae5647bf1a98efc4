"""What our SQLite files share: how they are made and opened, and what may be wrong with them."""
