"""Programs for a CUDA device: Loop IR with independent loops noted, launches, kernels as source."""
