"""Capture: from an unchanged Python function to a graph."""
