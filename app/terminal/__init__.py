"""The terminal front: Porthole without a window. Imports no Qt.

Replies go to stdout, everything else to stderr. Exit codes: 0 done, 2 wrong usage, 3 the
environment (blocked window, no server, no model), 4 our bug, 130 stopped.
"""
