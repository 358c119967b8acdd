"""The machine code of loops: nests after fusion, emitted loops, and their instructions."""
