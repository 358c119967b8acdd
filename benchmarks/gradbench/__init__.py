"""GradBench with tracejit as a tool: a module per eval, named as the eval names it.

Objectives are plain NumPy functions; sizes, data and expected results are GradBench's own, from a
checkout that `python -m benchmarks.gradbench` is told of.
"""
