"""Derivatives of graphs: forward and reverse sweeps, and what reverse needs stored."""
