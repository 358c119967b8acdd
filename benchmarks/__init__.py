"""Timings of tracejit beside its peers: `python -m benchmarks`.

Everything runs on one thread, so that one core is compared with one core; the libraries read these
settings as they load, before anything here imports them.
"""

import os

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"
