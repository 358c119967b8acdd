"""Branches and loops on data: each traced as a region of the graph."""
