"""The parts of a report, as elements."""
