"""Sums over chunks of data and sweeps over parameters, on workers of other engines."""
