"""Programs for a CUDA device: Loop IR with what may run at once, launches, kernels as source."""
