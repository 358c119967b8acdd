"""Compiled functions in other libraries' programs, each a module that imports its library."""
