"""Compiled programs as they are called: interface, guards, fast entry, devices."""
