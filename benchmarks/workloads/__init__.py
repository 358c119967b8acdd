"""The workloads, one file each: a plain NumPy function and what its peers need in its place."""

from benchmarks.workloads import (
    chain,
    hmm,
    jacobi,
    kepler,
    logistic,
    lotka_volterra,
    lstm,
    rosenbrock,
    scalar,
    soft_dtw,
)
from benchmarks.workloads.workload import Workload

__all__ = ["WORKLOADS", "Workload"]

WORKLOADS = {w.key: w for w in (
    scalar.WORKLOAD, *rosenbrock.WORKLOADS, chain.WORKLOAD, logistic.WORKLOAD,
    lstm.WORKLOAD, lotka_volterra.WORKLOAD, hmm.WORKLOAD, jacobi.WORKLOAD, soft_dtw.WORKLOAD,
    *kepler.WORKLOADS)}
