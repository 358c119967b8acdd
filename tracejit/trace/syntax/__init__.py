"""From a function's syntax tree to one that calls hooks: jumps, liveness, rewriting."""
