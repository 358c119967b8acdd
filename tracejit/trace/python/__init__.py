"""Python's calls, objects and lists on traced values."""
