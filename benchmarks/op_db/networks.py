"""PyTorch's layers and losses, in NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp

__all__ = ["FORMS"]


def reduced(losses: Any, reduction: str) -> Any:
    """Return losses, their sum or their mean."""
    return {"none": lambda x: x, "sum": np.sum, "mean": np.mean}[reduction](losses)


def relu(x: Any, **_: object) -> Any:
    return np.maximum(x, 0.0)


def elu(x: Any, alpha: float = 1.0, **_: object) -> Any:
    return np.where(x > 0.0, x, alpha * np.expm1(np.minimum(x, 0.0)))


def celu(x: Any, alpha: float = 1.0, **_: object) -> Any:
    return np.where(x > 0.0, x, alpha * np.expm1(np.minimum(x, 0.0) / alpha))


def selu(x: Any, **_: object) -> Any:
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return scale * elu(x, alpha)


def leaky_relu(x: Any, negative_slope: float = 0.01, **_: object) -> Any:
    return np.where(x > 0.0, x, negative_slope * x)


def prelu(x: Any, weight: Any) -> Any:
    w = weight
    if np.ndim(w) and w.size > 1:
        w = np.reshape(w, (-1,) + (1,) * (x.ndim - 2)) if x.ndim > 1 else w
    return np.where(x > 0.0, x, w * x)


def gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return 0.5 * x * (1.0 + np.tanh(np.sqrt(2.0 / np.pi).astype(x.dtype)
                                        * (x + 0.044715 * x ** 3)))
    return x * sp.ndtr(x)


def silu(x: Any, **_: object) -> Any:
    return x * sp.expit(x)


def silu_of_complex(x: Any, **_: object) -> Any:
    return x / (1.0 + np.exp(-x))


def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return np.where(x * beta > threshold, x, np.logaddexp(0.0, beta * x) / beta)


def mish(x: Any, **_: object) -> Any:
    return x * np.tanh(np.logaddexp(0.0, x))


def hardshrink(x: Any, lambd: float = 0.5) -> Any:
    return np.where((x >= -lambd) & (x <= lambd), 0.0, x)


def softshrink(x: Any, lambd: float = 0.5) -> Any:
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, 0.0))


def threshold(x: Any, limit: float, value: float, inplace: bool = False) -> Any:
    return np.where(x <= limit, value, x)


def glu(x: Any, dim: int = -1) -> Any:
    a, b = np.split(x, 2, axis=dim)
    return a * sp.expit(b)


def normalize(x: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    length = np.linalg.vector_norm(x, ord=p, axis=dim, keepdims=True)
    return x / np.maximum(length, eps)


def cosine_similarity(x: Any, y: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    a = np.maximum(np.linalg.vector_norm(x, axis=dim), eps)
    b = np.maximum(np.linalg.vector_norm(y, axis=dim), eps)
    return np.sum(x * y, axis=dim) / (a * b)


def pairwise_distance(x: Any, y: Any, p: float = 2.0, eps: float = 1e-6,
                      keepdim: bool = False) -> Any:
    return np.linalg.vector_norm(x - y + eps, ord=p, axis=-1, keepdims=keepdim)


def layer_norm(x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    axes = tuple(range(-len(shape), 0))
    mean, var = np.mean(x, axes, keepdims=True), np.var(x, axes, keepdims=True)
    y = (x - mean) / np.sqrt(var + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def native_layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    axes = tuple(range(-len(shape), 0))
    mean, var = np.mean(x, axes, keepdims=True), np.var(x, axes, keepdims=True)
    return layer_norm(x, shape, weight, bias, eps), mean, 1.0 / np.sqrt(var + eps)


def rms_norm(x: Any, shape: Any, weight: Any = None, eps: Any = None) -> Any:
    eps = np.finfo(x.dtype).eps if eps is None else eps
    square = np.mean(x * x, tuple(range(-len(shape), 0)), keepdims=True)
    y = x / np.sqrt(square + eps)
    return y if weight is None else y * weight


def channels(v: Any, ndim: int) -> Any:
    return np.reshape(v, (1, -1) + (1,) * (ndim - 2))


def group_norm(x: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    y = np.reshape(x, (x.shape[0], groups, -1))
    mean, var = np.mean(y, -1, keepdims=True), np.var(y, -1, keepdims=True)
    y = np.reshape((y - mean) / np.sqrt(var + eps), x.shape)
    y = y if weight is None else y * channels(weight, x.ndim)
    return y if bias is None else y + channels(bias, x.ndim)


def instance_norm(x: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5,
                  **_: object) -> Any:
    return group_norm(x, x.shape[1], weight, bias, eps)


def batch_norm(x: Any, mean: Any, var: Any, weight: Any = None, bias: Any = None,
               training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Any:
    axes = (0, *range(2, x.ndim))
    mean = np.mean(x, axes) if training else mean
    var = np.var(x, axes) if training else var
    y = (x - channels(mean, x.ndim)) / np.sqrt(channels(var, x.ndim) + eps)
    y = y if weight is None else y * channels(weight, x.ndim)
    return y if bias is None else y + channels(bias, x.ndim)


def local_response_norm(x: Any, size: int, alpha: float = 1e-4, beta: float = 0.75,
                        k: float = 1.0) -> Any:
    widths = [(0, 0)] * x.ndim
    widths[1] = (size // 2, (size - 1) // 2)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x * x, widths), size, axis=1)
    return x / (k + alpha * np.mean(windows, axis=-1)) ** beta


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    y = x @ weight.T
    return y if bias is None else y + bias


def bilinear(x: Any, y: Any, weight: Any, bias: Any = None) -> Any:
    z = np.einsum("...i,kij,...j->...k", x, weight, y)
    return z if bias is None else z + bias


def attention(q: Any, k: Any, v: Any, attn_mask: Any = None, is_causal: bool = False,
              dropout_p: float = 0.0, **_: object) -> Any:
    if dropout_p or q.shape[:-2] != k.shape[:-2]:
        raise NotImplementedError("random numbers, or heads that share keys")
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]).astype(q.dtype)
    if is_causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else (
            scores + attn_mask)
    return sp.softmax(scores, axis=-1) @ v


def nd(x: Any, n: int) -> tuple[int, ...]:
    given = (x,) if isinstance(x, int) else tuple(x)
    return given * n if len(given) == 1 else given


def convolution(n: int) -> Any:
    """Return the form of a convolution over n axes."""
    def form(x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
             dilation: Any = 1, groups: int = 1) -> Any:
        step, spread, single = nd(stride, n), nd(dilation, n), x.ndim == n + 1
        size = weight.shape[2:]
        reach = [d * (s - 1) for d, s in zip(spread, size, strict=True)]
        if padding == "valid":
            pads = [(0, 0)] * n
        elif padding == "same":
            pads = [(r // 2, r - r // 2) for r in reach]
        else:
            pads = [(p, p) for p in nd(padding, n)]
        x = x[None] if single else x
        x = np.pad(x, [(0, 0), (0, 0), *pads])
        windows = np.lib.stride_tricks.sliding_window_view(
            x, tuple(r + 1 for r in reach), axis=tuple(range(2, n + 2)))
        windows = windows[(slice(None), slice(None), *(slice(None, None, s) for s in step),
                           *(slice(None, None, d) for d in spread))]
        outs = np.split(windows, groups, axis=1)
        kernels = np.split(weight, groups, axis=0)
        inner, outer = "xyz"[:n], "XYZ"[:n]
        y = np.concatenate([np.einsum(f"bc{outer}{inner},oc{inner}->bo{outer}", w, k)
                            for w, k in zip(outs, kernels, strict=True)], axis=1)
        y = y if bias is None else y + channels(bias, y.ndim)
        return y[0] if single else y
    return form


def avg_pool(n: int) -> Any:
    """Return the form of means over windows; None where windows hang over the end."""
    def form(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0,
             ceil_mode: bool = False, count_include_pad: bool = True,
             divisor_override: Any = None) -> Any:
        if ceil_mode or not count_include_pad:
            raise NotImplementedError("windows that hang over")
        size = nd(kernel_size, n)
        step = size if stride is None or stride == () else nd(stride, n)
        lead = x.ndim - n
        x = np.pad(x, [(0, 0)] * lead + [(p, p) for p in nd(padding, n)])
        windows = np.lib.stride_tricks.sliding_window_view(x, size, tuple(range(lead, x.ndim)))
        windows = windows[(slice(None),) * lead + tuple(slice(None, None, s) for s in step)]
        axes = tuple(range(-n, 0))
        return np.mean(windows, axes) if divisor_override is None else (
            np.sum(windows, axes) / divisor_override)
    return form


def overhang(length: int, padding: int, step: int, reach: int) -> int:
    """Return by how much the last window may go over the end, if it begins before that."""
    free = length + 2 * padding - reach
    last = -(-free // step) * step
    return last - free if last < length + padding else 0


def max_pool(n: int) -> Any:
    def form(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
             ceil_mode: bool = False, return_indices: bool = False) -> Any:
        size, spread = nd(kernel_size, n), nd(dilation, n)
        step = size if stride is None else nd(stride, n)
        lead = x.ndim - n
        reach = tuple(d * (s - 1) + 1 for d, s in zip(spread, size, strict=True))
        pads = [(p, p + (overhang(x.shape[lead + k], p, step[k], reach[k]) if ceil_mode else 0))
                for k, p in enumerate(nd(padding, n))]
        x = np.pad(x, [(0, 0)] * lead + pads, constant_values=-np.inf)
        windows = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(lead, x.ndim)))
        windows = windows[(slice(None),) * lead + tuple(slice(None, None, s) for s in step)
                          + tuple(slice(None, None, d) for d in spread)]
        return np.max(windows, axis=tuple(range(-n, 0)))
    return form


def unfold_blocks(x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
                  stride: Any = 1) -> Any:
    size, spread, step = nd(kernel_size, 2), nd(dilation, 2), nd(stride, 2)
    pads = nd(padding, 2)
    x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[0]), (pads[1], pads[1])])
    reach = tuple(d * (s - 1) + 1 for d, s in zip(spread, size, strict=True))
    w = np.lib.stride_tricks.sliding_window_view(x, reach, (2, 3))
    w = w[:, :, ::step[0], ::step[1], ::spread[0], ::spread[1]]
    w = np.transpose(w, (0, 1, 4, 5, 2, 3))
    return np.reshape(w, (w.shape[0], w.shape[1] * size[0] * size[1], w.shape[4] * w.shape[5]))


def smooth_l1(x: Any, y: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    d = np.abs(x - y)
    return reduced(np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta), reduction)


def huber(x: Any, y: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    return reduced(sp.huber(delta, x - y), reduction)


def l1(x: Any, y: Any, reduction: str = "mean") -> Any:
    return reduced(np.abs(x - y), reduction)


def mse(x: Any, y: Any, reduction: str = "mean") -> Any:
    return reduced((x - y) ** 2, reduction)


def soft_margin(x: Any, y: Any, reduction: str = "mean") -> Any:
    return reduced(np.logaddexp(0.0, -y * x), reduction)


def margin_ranking(a: Any, b: Any, y: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    return reduced(np.maximum(-y * (a - b) + margin, 0.0), reduction)


def hinge_embedding(x: Any, y: Any, margin: float = 1.0, reduction: str = "mean") -> Any:
    losses = np.where(y != 1, np.maximum(margin - x, 0.0), 0.0) + np.where(y != -1, x, 0.0)
    return reduced(losses, reduction)


def cosine_embedding(x: Any, y: Any, target: Any, margin: float = 0.0,
                     reduction: str = "mean") -> Any:
    tiny = 1e-12
    cos = np.sum(x * y, -1) / np.sqrt((np.sum(x * x, -1) + tiny) * (np.sum(y * y, -1) + tiny))
    losses = np.where(target == 1, 1.0 - cos, np.maximum(cos - margin, 0.0))
    return reduced(losses, reduction)


def kl_div(x: Any, y: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    losses = np.exp(y) * (y - x) if log_target else sp.xlogy(y, y) - y * x
    if reduction == "batchmean":
        return np.sum(losses) / x.shape[0]
    return reduced(losses, reduction)


def poisson_nll(x: Any, y: Any, log_input: bool = True, full: bool = False, eps: float = 1e-8,
                reduction: str = "mean") -> Any:
    losses = np.exp(x) - y * x if log_input else x - y * np.log(x + eps)
    if full:
        safe = np.where(y > 1, y, 1.0)
        stirling = safe * np.log(safe) - safe + 0.5 * np.log(2.0 * np.pi * safe)
        losses = losses + np.where(y > 1, stirling, 0.0)
    return reduced(losses, reduction)


def gaussian_nll(x: Any, y: Any, var: Any, full: bool = False, eps: float = 1e-6,
                 reduction: str = "mean") -> Any:
    if not isinstance(var, float) and np.ndim(var) and np.ndim(var) < np.ndim(x):
        var = var[..., None]
    var = np.maximum(var, eps)
    losses = 0.5 * (np.log(var) + (x - y) ** 2 / var)
    return reduced(losses + 0.5 * np.log(2.0 * np.pi) if full else losses, reduction)


def bce_with_logits(x: Any, y: Any, weight: Any = None, reduction: str = "mean",
                    pos_weight: Any = None) -> Any:
    scale = 1.0 if pos_weight is None else 1.0 + (pos_weight - 1.0) * y
    losses = (1.0 - y) * x + scale * np.logaddexp(0.0, -x)
    return reduced(losses if weight is None else losses * weight, reduction)


def bce(x: Any, y: Any, weight: Any = None, reduction: str = "mean") -> Any:
    losses = -(y * np.log(x) + (1.0 - y) * np.log1p(-x))
    return reduced(losses if weight is None else losses * weight, reduction)


def multilabel_soft_margin(x: Any, y: Any, weight: Any = None, reduction: str = "mean") -> Any:
    losses = y * np.logaddexp(0.0, -x) + (1.0 - y) * np.logaddexp(0.0, x)
    losses = losses if weight is None else losses * weight
    return reduced(np.mean(losses, axis=-1), reduction)


def nll(x: Any, target: Any, weight: Any = None, ignore_index: int = -100,
        reduction: str = "mean", **_: object) -> Any:
    classes = np.moveaxis(x, 1, -1) if x.ndim > 1 else x
    kept = target != ignore_index
    safe = np.where(kept, target, 0)
    chosen = np.take_along_axis(classes, safe[..., None], -1)[..., 0] if x.ndim > 1 else x[safe]
    w = np.ones(x.shape[1 if x.ndim > 1 else 0], x.dtype)[safe] if weight is None else weight[safe]
    losses = np.where(kept, -w * chosen, 0.0)
    if reduction == "mean":
        return np.sum(losses) / np.sum(np.where(kept, w, 0.0))
    return reduced(losses, reduction)


def cross_entropy(x: Any, target: Any, weight: Any = None, ignore_index: int = -100,
                  reduction: str = "mean", label_smoothing: float = 0.0) -> Any:
    if label_smoothing or np.issubdtype(target.dtype, np.floating):
        raise NotImplementedError("targets that are probabilities")
    return nll(sp.log_softmax(x, axis=1 if x.ndim > 1 else 0), target, weight, ignore_index,
               reduction)


def multi_margin(x: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None,
                 reduction: str = "mean") -> Any:
    rows = np.reshape(x, (-1, x.shape[-1] if x.ndim else 1))
    at = np.reshape(target, (-1, 1))
    own = np.take_along_axis(rows, at, 1)
    losses = np.maximum(margin - own + rows, 0.0) ** p
    losses = losses if weight is None else losses * weight[at]
    found = np.sum(np.where(np.arange(rows.shape[1]) == at, 0.0, losses), 1) / rows.shape[1]
    return reduced(found if np.ndim(target) else found[0], reduction)


def triplet_margin(a: Any, p_: Any, n: Any, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6,
                   swap: bool = False, reduction: str = "mean", **_: object) -> Any:
    near, far = pairwise_distance(a, p_, p, eps), pairwise_distance(a, n, p, eps)
    if swap:
        far = np.minimum(far, pairwise_distance(p_, n, p, eps))
    return reduced(np.maximum(margin + near - far, 0.0), reduction)


def embedding(weight: Any, index: Any, padding_idx: Any = None, max_norm: Any = None,
              **_: object) -> Any:
    if padding_idx is not None or max_norm is not None:
        raise NotImplementedError("rows without gradients")
    return weight[index]


def one_hot(x: Any, num_classes: int = -1) -> Any:
    n = int(np.max(x)) + 1 if num_classes == -1 else num_classes
    return (x[..., None] == np.arange(n)).astype(np.int64)


FORMS: dict[str, Any] = {
    "nn_functional_relu": relu, "nn_functional_elu": elu, "nn_functional_celu": celu,
    "nn_functional_selu": selu, "nn_functional_leaky_relu": leaky_relu,
    "nn_functional_prelu": prelu, "nn_functional_gelu": gelu, "nn_functional_silu": silu,
    "nn_functional_silu_complex": silu_of_complex, "nn_functional_softplus": softplus,
    "nn_functional_mish": mish, "nn_functional_hardshrink": hardshrink,
    "nn_functional_softshrink": softshrink, "nn_functional_threshold": threshold,
    "nn_functional_glu": glu, "nn_functional_normalize": normalize,
    "nn_functional_relu6": lambda x: np.clip(x, 0.0, 6.0),
    "nn_functional_hardtanh": lambda x, min_val=-1.0, max_val=1.0: np.clip(x, min_val, max_val),
    "nn_functional_hardsigmoid": lambda x: np.clip(x + 3.0, 0.0, 6.0) / 6.0,
    "nn_functional_hardswish": lambda x: x * np.clip(x + 3.0, 0.0, 6.0) / 6.0,
    "nn_functional_logsigmoid": sp.log_expit, "nn_functional_tanhshrink": lambda x: x - np.tanh(x),
    "nn_functional_softsign": lambda x: x / (1.0 + np.abs(x)),
    "nn_functional_cosine_similarity": cosine_similarity,
    "nn_functional_pairwise_distance": pairwise_distance, "nn_functional_layer_norm": layer_norm,
    "native_layer_norm": native_layer_norm, "nn_functional_rms_norm": rms_norm,
    "nn_functional_group_norm": group_norm, "nn_functional_instance_norm": instance_norm,
    "nn_functional_batch_norm": batch_norm,
    "nn_functional_local_response_norm": local_response_norm, "nn_functional_linear": linear,
    "nn_functional_bilinear": bilinear, "nn_functional_scaled_dot_product_attention": attention,
    **{f"nn_functional_conv{n}d": convolution(n) for n in (1, 2, 3)},
    **{f"nn_functional_avg_pool{n}d": avg_pool(n) for n in (1, 2, 3)},
    **{f"nn_functional_max_pool{n}d": max_pool(n) for n in (1, 2, 3)},
    "nn_functional_unfold": unfold_blocks, "nn_functional_smooth_l1_loss": smooth_l1,
    "nn_functional_huber_loss": huber, "nn_functional_l1_loss": l1, "nn_functional_mse_loss": mse,
    "nn_functional_soft_margin_loss": soft_margin,
    "nn_functional_margin_ranking_loss": margin_ranking,
    "nn_functional_hinge_embedding_loss": hinge_embedding,
    "nn_functional_cosine_embedding_loss": cosine_embedding, "nn_functional_kl_div": kl_div,
    "nn_functional_poisson_nll_loss": poisson_nll, "nn_functional_gaussian_nll_loss": gaussian_nll,
    "nn_functional_binary_cross_entropy_with_logits": bce_with_logits,
    "nn_functional_binary_cross_entropy": bce,
    "nn_functional_multilabel_soft_margin_loss": multilabel_soft_margin,
    "nn_functional_nll_loss": nll, "nn_functional_cross_entropy": cross_entropy,
    "nn_functional_multi_margin_loss": multi_margin,
    "nn_functional_triplet_margin_loss": triplet_margin,
    "nn_functional_triplet_margin_with_distance_loss": triplet_margin,
    "nn_functional_embedding": embedding, "nn_functional_one_hot": one_hot,
}
