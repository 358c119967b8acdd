"""Programs that run on a CUDA device: staged objects, calls, arrays that lie there."""
