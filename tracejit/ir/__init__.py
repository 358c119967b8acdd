"""The typed op IR: what a captured program is, how it prints, and what it means."""
