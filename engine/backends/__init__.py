"""Backends: what runs a model. `base` is the protocol, one module per kind beside it."""
