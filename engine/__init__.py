"""Porthole's engine: everything but the window. Knows no Qt."""
