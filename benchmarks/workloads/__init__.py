"""The workloads, one file each: a plain NumPy function and what its peers need in its place."""

from benchmarks.workloads import (
    black_scholes,
    chain,
    gaussian_process,
    hmm,
    jacobi,
    kepler,
    logistic,
    lotka_volterra,
    lstm,
    mixture,
    n_body,
    perceptron,
    rosenbrock,
    scalar,
    soft_dtw,
)
from benchmarks.workloads.workload import Workload

__all__ = ["WORKLOADS", "Workload"]

WORKLOADS = {w.key: w for w in (
    scalar.WORKLOAD, *rosenbrock.WORKLOADS, chain.WORKLOAD, logistic.WORKLOAD, perceptron.WORKLOAD,
    lstm.WORKLOAD, lotka_volterra.WORKLOAD, n_body.WORKLOAD, black_scholes.WORKLOAD, hmm.WORKLOAD,
    jacobi.WORKLOAD, gaussian_process.WORKLOAD, soft_dtw.WORKLOAD, *kepler.WORKLOADS,
    mixture.WORKLOAD)}
