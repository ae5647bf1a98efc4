"""The hall and its rooms: looking, going, observing."""
