"""Forty programs from ten fields as their authors would write them, none for tracejit."""
