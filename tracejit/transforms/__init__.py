"""The transforms of the user interface: each makes a program from a captured function."""
