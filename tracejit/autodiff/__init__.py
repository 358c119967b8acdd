"""Derivatives of graphs: forward and reverse sweeps, and the residuals that reverse mode needs."""
