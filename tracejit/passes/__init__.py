"""Passes: each a function from a graph to a graph, its docstring the equation that it applies."""
