"""Prices, yields and risk."""

import math

import numpy as np

from programs.program import program


@program(lambda n, rng: (100.0, 103.0, 0.05, 0.2, n), argnums=(0, 1, 2, 3))
def american_put_on_a_tree(spot, strike, rate, sigma, steps):
    dt = 1.0 / steps
    up = np.exp(sigma * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    values = np.zeros(steps + 1)
    for i in range(steps + 1):
        values[i] = max(strike - spot * up ** (2 * i - steps), 0.0)
    for step in range(steps - 1, -1, -1):
        for i in range(step + 1):
            held = np.exp(-rate * dt) * (p * values[i + 1] + (1 - p) * values[i])
            values[i] = max(held, strike - spot * up ** (2 * i - step))
    return values[0]


def normal_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def black_scholes(spot, strike, rate, sigma, time):
    if time <= 0:
        return max(spot - strike, 0.0)
    d1 = (math.log(spot / strike) + (rate + sigma**2 / 2) * time) / (sigma * math.sqrt(time))
    d2 = d1 - sigma * math.sqrt(time)
    return spot * normal_cdf(d1) - strike * math.exp(-rate * time) * normal_cdf(d2)


@program(lambda n, rng: (100.0, 95.0 + n, 0.03, 0.2, 0.5), argnums=(0, 1, 2, 3, 4),
         differences=1e-7)
def call_price(spot, strike, rate, sigma, time):
    return black_scholes(spot, strike, rate, sigma, time)


@program(lambda n, rng: (5.0 + n, 100.0, 0.03), argnums=(0, 1, 2), differences=1e-6)
def implied_volatility(price, spot, rate):
    low, high = 0.01, 2.0
    while high - low > 0.05:
        middle = (low + high) / 2
        if black_scholes(spot, 100.0, rate, middle, 0.5) > price:
            high = middle
        else:
            low = middle
    sigma = (low + high) / 2
    for _ in range(6):
        up = black_scholes(spot, 100.0, rate, sigma + 1e-3, 0.5)
        down = black_scholes(spot, 100.0, rate, sigma - 1e-3, 0.5)
        middle = black_scholes(spot, 100.0, rate, sigma, 0.5)
        sigma -= (middle - price) / ((up - down) / 2e-3)
    return sigma


@program(lambda n, rng: (100.0, 0.2, 0.03, rng.normal(size=(n, 6)), 92.0, 90.0), argnums=(0, 1, 2))
def barrier_option(spot, sigma, rate, noise, strike, barrier):
    """Paths that fall below the barrier are worth nothing."""
    dt = 0.1
    total = 0.0
    for path in noise:
        s = spot
        for z in path:
            s *= np.exp((rate - sigma**2 / 2) * dt + sigma * np.sqrt(dt) * z)
            if s < barrier:
                break
        else:
            total += max(s - strike, 0.0)
    return np.exp(-rate * 0.6) * total / len(noise) + 0.01 * spot * sigma


@program(lambda n, rng: (rng.uniform(1, 3, n), 5.0), argnums=(0, 1))
def bond_yield(coupons, price):
    def value(y):
        total, slope = 0.0, 0.0
        for t, c in enumerate(coupons, start=1):
            discount = (1 + y) ** -t
            total += c * discount
            slope -= t * c * discount / (1 + y)
        return total, slope

    y = 0.05
    for _ in range(50):
        total, slope = value(y)
        if abs(total - price) < 1e-11:
            return y
        y = y - (total - price) / slope
    return y


@program(lambda n, rng: (2.0 * rng.normal(size=n), 0.1, 0.1, 0.85), argnums=(0, 1, 2, 3))
def garch_likelihood(returns, omega, alpha, beta):
    variance = np.mean(returns**2)
    loss = 0.0
    for r in returns:
        loss += 0.5 * (np.log(variance) + r**2 / variance)
        variance = omega + alpha * r**2 + beta * variance
    return loss


@program(lambda n, rng: (np.cumsum(rng.normal(size=n)) + 20.0,))
def maximum_drawdown(prices):
    peak, worst = prices[0], 0.0
    for p in prices:
        if p > peak:
            peak = p
        if (drop := (peak - p) / peak) > worst:
            worst = drop
    return worst + 0.01 * peak


@program(lambda n, rng: (0.03 + 0.002 * np.arange(n) + 0.001 * rng.normal(size=n),))
def discount_curve_from_swaps(rates):
    discounts = np.zeros(len(rates) + 1)
    discounts[0] = 1.0
    annuity = 0.0
    for k in range(len(rates)):
        discounts[k + 1] = (1 - rates[k] * annuity) / (1 + rates[k])
        annuity += discounts[k + 1]
    forwards = discounts[:-1] / discounts[1:] - 1
    return np.sum(forwards**2) + annuity


@program(lambda n, rng: (0.3, 0.05, 10.3, 2 * n + 1), argnums=(0, 1, 2))
def crank_nicolson_call(sigma, rate, strike, nodes):
    """Backward in time over a grid of prices, a tridiagonal system a step."""
    dt, steps = 0.1, 3
    j = np.arange(nodes)
    values = np.where(j * 1.0 > strike - 7.0, j - (strike - 7.0), 0.0)
    alpha = 0.25 * dt * (sigma**2 * j**2 - rate * j)
    beta = -0.5 * dt * (sigma**2 * j**2 + rate)
    gamma = 0.25 * dt * (sigma**2 * j**2 + rate * j)
    for _ in range(steps):
        rhs = values.copy()
        rhs[1:-1] = (alpha[1:-1] * values[:-2] + (1 + beta[1:-1]) * values[1:-1]
                     + gamma[1:-1] * values[2:])
        diagonal = np.ones(nodes)
        diagonal[1:-1] -= beta[1:-1]
        upper = np.zeros(nodes)
        upper[1:-1] = -gamma[1:-1]
        for i in range(1, nodes - 1):
            w = -alpha[i] / diagonal[i - 1]
            diagonal[i] -= w * upper[i - 1]
            rhs[i] -= w * rhs[i - 1]
        values[-1] = rhs[-1] / diagonal[-1]
        for i in range(nodes - 2, -1, -1):
            values[i] = (rhs[i] - upper[i] * values[i + 1]) / diagonal[i]
    return values[nodes // 2] + np.sum(values**2)


@program(lambda n, rng: (rng.uniform(0.5, 2.0, n), rng.uniform(0.5, 1.0, n), 1.7),
         argnums=(0, 1, 2))
def limit_order_book(prices, volumes, wanted):
    """Buy from the cheapest offer on until there is enough."""
    order = np.argsort(prices)
    left, cost = wanted, 0.0
    for k in order:
        taken = min(left, volumes[k])
        cost += taken * prices[k]
        left -= taken
        if left <= 0:
            break
    return cost + 3.0 * left
