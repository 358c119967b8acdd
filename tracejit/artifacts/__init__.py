"""Compiled programs that outlive the process: the state they depend on, and the store for them."""
