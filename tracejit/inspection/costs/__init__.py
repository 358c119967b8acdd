"""What a graph computes and moves, as formulas in its sizes."""
