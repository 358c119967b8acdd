"""The flops and traffic of a graph, as formulas in its sizes."""
