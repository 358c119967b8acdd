"""A function that writes to its argument, as NumPy would."""
import tracejit


@tracejit.jit
def smooth(x, weight):
    for i in range(1, len(x)):
        x[i] = weight * x[i] + (1.0 - weight) * x[i - 1]
    x[0] *= 2.0


program = smooth
arguments = ("f64[n]", "float")
