"""State that captured code reads from outside: read again, guarded or refused."""
