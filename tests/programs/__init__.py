"""Ordinary NumPy programs, written as scientists write them, grouped by field."""
