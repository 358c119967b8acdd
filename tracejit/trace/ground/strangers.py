"""Arrays and tables of other libraries: the remedies that a refusal names for them.

A data frame aligns rows by labels, a tensor records for its own autograd: NumPy does neither.
"""

from __future__ import annotations

__all__ = ["STRANGERS", "remedy_for"]

_REMEDIES = {
    "pandas": "Pass x.to_numpy()", "polars": "Pass x.to_numpy()", "xarray": "Pass x.values",
    "torch": "Pass x.detach().cpu().numpy()", "jax": "Pass np.asarray(x)",
    "jaxlib": "Pass np.asarray(x)", "tensorflow": "Pass x.numpy()", "dask": "Pass x.compute()",
    "modin": "Pass x.to_numpy()", "pyarrow": "Pass x.to_numpy()", "mlx": "Pass np.asarray(x)",
}
"""By library, the remedy that makes an array of one of its objects."""

STRANGERS = frozenset(_REMEDIES)
"""These libraries, none of whose functions is followed into."""


def remedy_for(x: object) -> str | None:
    """Return the remedy for another library's array; None for anything else."""
    if not hasattr(type(x), "shape") and not hasattr(type(x), "__array__"):
        return None
    return next((_REMEDIES[top] for kind in type(x).__mro__
                 if (top := kind.__module__.partition(".")[0]) in _REMEDIES), None)
