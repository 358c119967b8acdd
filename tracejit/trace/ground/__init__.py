"""What all of a capture rests on: its context, its tables, where sources and memory are."""
