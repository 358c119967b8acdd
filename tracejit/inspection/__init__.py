"""Seeing programs: reports for notebooks and terminals, pictures, explanations, debugging."""
