"""Where gradients must stop: a mixture by EM, a Boltzmann machine, a classifier and its adversary.

Run it with `python -m examples.stop_gradients`. Each part trains on data that scikit-learn ships,
with tape and variables, and shows what `stop_gradient` is for: the gradient without it is another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import adjusted_rand_score

import tracejit

__all__ = ["adversary", "boltzmann_machine", "main", "mixture"]

Results = dict[str, float]
KEEP: Callable[[Any], Any] = tracejit.stop_gradient


def _softmax(z: Any) -> Any:
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def _relative_difference(a: Any, b: Any) -> float:
    return float(np.linalg.norm(a.numpy() - b.numpy()) / np.linalg.norm(a.numpy()))


# --- EM: the M-step takes the E-step's responsibilities as they are -------------------------------


class Mixture(tracejit.Module):
    """A mixture of k Gaussians with diagonal covariances, in d dimensions."""

    def __init__(self, centers: np.ndarray) -> None:
        k, d = centers.shape
        self.logits = tracejit.Variable(np.zeros(k), name="logits")
        self.means = tracejit.Variable(centers, name="means")
        self.log_scales = tracejit.Variable(np.zeros((k, d)), name="log_scales")

    def log_joint(self, x: np.ndarray) -> Any:
        """Return log p(x, component), of shape (points, components)."""
        scaled = (x[:, None, :] - self.means) * np.exp(-self.log_scales)
        log_density = -0.5 * np.sum(scaled ** 2 + np.log(2 * np.pi), axis=2) - np.sum(
            self.log_scales, axis=1)
        return log_density + self.logits - np.log(np.sum(np.exp(self.logits)))

    def log_likelihood(self, x: np.ndarray) -> Any:
        """Return the mean of log p(x)."""
        joint = self.log_joint(x)
        top = np.max(joint, axis=1)
        return np.mean(np.log(np.sum(np.exp(joint - top[:, None]), axis=1)) + top)

    def expected(self, x: np.ndarray, keep: Callable[[Any], Any]) -> Any:
        """Return the mean of log p(x, component) under the responsibilities."""
        joint = self.log_joint(x)
        return np.mean(np.sum(keep(_softmax(joint)) * joint, axis=1))


def _gradient(loss: Callable[[], Any], module: tracejit.Module) -> Any:
    with tracejit.GradientTape() as tape:
        value = loss()
    return tape.gradient(value, module.trainable_variables,
                         unconnected_gradients=tracejit.UnconnectedGradients.ZERO)


def mixture(rounds: int = 150) -> Results:
    """Fit three Gaussians to the iris measurements by EM, each M-step some gradient steps.

    With responsibilities that are kept constant the gradient of the expected log-likelihood is that
    of the log-likelihood (Fisher's identity); without, it is not.
    """
    x, species = load_iris(return_X_y=True)
    x = (x - x.mean(0)) / x.std(0)
    model = Mixture(x[[10, 75, 130]])
    before = float(model.log_likelihood(x))
    exact = _gradient(lambda: model.log_likelihood(x), model)[1]
    stopped = _gradient(lambda: model.expected(x, KEEP), model)[1]
    through = _gradient(lambda: model.expected(x, lambda r: r), model)[1]
    for _ in range(rounds):
        for _ in range(5):
            for v, g in zip(model.variables, _gradient(lambda: model.expected(x, KEEP), model),
                            strict=True):
                v.assign_add(0.05 * g)
    found = np.argmax(model.log_joint(x).numpy(), axis=1)
    return {"log-likelihood before": before,
            "log-likelihood after": float(model.log_likelihood(x)),
            "agreement with the species (adjusted Rand)": adjusted_rand_score(species, found),
            "gradient against that of the likelihood": _relative_difference(exact, stopped),
            "the same without stop_gradient": _relative_difference(exact, through)}


# --- contrastive divergence: no gradient through what the samples came from -----------------------


class Boltzmann(tracejit.Module):
    """A restricted Boltzmann machine with binary units."""

    def __init__(self, visible: int, hidden: int, rng: np.random.Generator) -> None:
        self.w = tracejit.Variable(0.05 * rng.normal(size=(visible, hidden)), name="w")
        self.a = tracejit.Variable(np.zeros(visible), name="a")
        self.b = tracejit.Variable(np.zeros(hidden), name="b")

    def free_energy(self, v: Any) -> Any:
        """Return the mean free energy of visible states."""
        return np.mean(-(v @ self.a) - np.sum(np.log1p(np.exp(v @ self.w + self.b)), axis=1))

    def reconstruct(self, v: Any, rng: np.random.Generator) -> Any:
        """Return the probabilities of the visible units after hidden ones drawn given v."""
        p = 1 / (1 + np.exp(-(v @ self.w + self.b)))
        hidden = np.where(rng.uniform(size=p.shape) < p, 1.0, 0.0)
        return 1 / (1 + np.exp(-(hidden @ self.w.T + self.a)))


def boltzmann_machine(epochs: int = 12) -> Results:
    """Train 48 hidden units on the digits by contrastive divergence with one step."""
    v = (load_digits().data > 7).astype(float)
    train, test = v[:1500], v[1500:]
    rng = np.random.default_rng(0)
    model = Boltzmann(v.shape[1], 48, rng)

    def loss(batch: np.ndarray, keep: Callable[[Any], Any], seed: int) -> Any:
        drawn = model.reconstruct(batch, np.random.default_rng(seed))
        return model.free_energy(batch) - model.free_energy(keep(drawn))

    def error() -> float:
        return float(np.mean((model.reconstruct(test, np.random.default_rng(1)).numpy()
                              - test) ** 2))

    before = error()
    for epoch in range(epochs):
        for k, rows in enumerate(np.array_split(rng.permutation(len(train)), 30)):
            batch = train[rows]
            seed = 100 * epoch + k
            grads = _gradient(lambda batch=batch, seed=seed: loss(batch, KEEP, seed), model)
            for variable, g in zip(model.variables, grads, strict=True):
                variable.assign_sub(0.2 * g)
    stopped = _gradient(lambda: loss(train[:200], KEEP, 0), model)[0]
    through = _gradient(lambda: loss(train[:200], lambda r: r, 0), model)[0]
    return {"reconstruction error before": before, "reconstruction error after": error(),
            "gradient without stop_gradient, relative difference":
                _relative_difference(stopped, through)}


# --- an adversary: no gradient through how its examples were made ---------------------------------


class Classifier(tracejit.Module):
    """Two layers."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.w1 = tracejit.Variable(rng.normal(size=(64, 64)) * (2 / 64) ** 0.5)
        self.b1 = tracejit.Variable(np.zeros(64))
        self.w2 = tracejit.Variable(rng.normal(size=(64, 10)) * (2 / 64) ** 0.5)
        self.b2 = tracejit.Variable(np.zeros(10))

    def __call__(self, x: Any) -> Any:
        return np.maximum(x @ self.w1 + self.b1, 0.0) @ self.w2 + self.b2

    def loss(self, x: Any, labels: np.ndarray) -> Any:
        """Return the mean cross-entropy."""
        z = self(x)
        z = z - np.max(z, axis=1, keepdims=True)
        return np.mean(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(len(labels)), labels])

    def accuracy(self, x: Any, labels: np.ndarray) -> float:
        """Return the part of the images that are told right."""
        return float(np.mean(np.argmax(tracejit.constant(self(x)).numpy(), axis=1) == labels))


def attack(model: Classifier, x: np.ndarray, labels: np.ndarray, size: float) -> Any:
    """Return images moved by `size` in the direction in which the loss grows."""
    images = tracejit.constant(x)
    with tracejit.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(images)
        loss = model.loss(images, labels)
    return images + size * np.tanh(1e6 * tape.gradient(loss, images))


def adversary(steps: int = 200, size: float = 0.1) -> Results:
    """Train on the digits, and on what an adversary makes of them; compare with one that did not.

    The adversary's examples depend on the model's variables, but are data to the training step.
    """
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    images, labels = images[order] / 16.0, labels[order]
    x, y, x_test, y_test = images[:1400], labels[:1400], images[1400:], labels[1400:]
    results: Results = {}
    for hardened in (False, True):
        rng = np.random.default_rng(1)
        model = Classifier(rng)

        def loss(rows: np.ndarray, model: Classifier = model, hardened: bool = hardened) -> Any:
            plain = model.loss(x[rows], y[rows])
            if not hardened:
                return plain
            return plain + model.loss(KEEP(attack(model, x[rows], y[rows], size)), y[rows])

        for _ in range(steps):
            rows = rng.choice(len(x), 256)
            for v, g in zip(model.variables, _gradient(lambda rows=rows: loss(rows), model),
                            strict=True):
                v.assign_sub(0.4 * g)
        name = "trained against the adversary" if hardened else "trained without"
        attacked = attack(model, x_test, y_test, size).numpy()
        results[f"accuracy, {name}"] = model.accuracy(x_test, y_test)
        results[f"accuracy under attack, {name}"] = model.accuracy(attacked, y_test)
    return results


def main() -> None:
    """Run the three and print what came out."""
    for title, run in (("EM for a Gaussian mixture, iris", mixture),
                       ("Contrastive divergence, digits", boltzmann_machine),
                       ("A classifier and its adversary, digits", adversary)):
        print(title)
        for name, value in run().items():
            print(f"  {name:<56}{value:.4g}")


if __name__ == "__main__":
    main()
