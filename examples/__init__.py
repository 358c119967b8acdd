"""Models as their authors would write them in NumPy, fitted with compiled gradients."""
