"""A branch on data within a loop over elements: the Huber loss."""
import tracejit


def huber(x, delta):
    total = 0.0
    for r in x:
        if abs(r) <= delta:
            total += 0.5 * r * r
        else:
            total += delta * (abs(r) - 0.5 * delta)
    return total


program = tracejit.value_and_grad(huber, argnums=(0, 1))
arguments = ("f64[n]", "float")
