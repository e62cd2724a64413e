"""Speed of the window. Everything is measured in child processes, whose start counts for nothing."""
