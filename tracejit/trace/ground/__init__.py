"""The ground of all of a capture: its context, its tables, where sources and memory are."""
