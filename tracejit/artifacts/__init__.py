"""Compiled programs that outlive the process: what they depend on, and the store for them."""
