"""The client: the terminal front and, above the engine, everything a user touches."""
