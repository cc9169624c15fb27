"""The door: everything that enters is checked here, once."""
