"""Calls: pick the specialisation, check, run; compile when there is none yet."""
