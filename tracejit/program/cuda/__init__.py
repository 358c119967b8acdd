"""Calls of programs on CUDA devices."""
