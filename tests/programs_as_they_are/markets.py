"""Finance: ledgers, curves, exercise."""

import numpy as np

from programs_as_they_are.table import program


@program(lambda n, rng: (np.concatenate([[-100.0], rng.uniform(10, 40, n)]),
                         np.arange(n + 1) * 0.9))
def internal_rate_of_return(flows, years):
    rate = 0.1
    for _ in range(100):
        value = sum(c / (1 + rate) ** t for c, t in zip(flows, years))
        slope = sum(-t * c / (1 + rate) ** (t + 1) for c, t in zip(flows, years))
        try:
            step = value / slope
        except ZeroDivisionError:
            return np.nan
        rate -= step
        if abs(step) < 1e-13:
            return rate
    return np.nan


@program(lambda n, rng: (rng.uniform(9, 12, n), np.where(np.arange(n) % 3 == 2, -1.5, 1.0)
                         * np.arange(1, n + 1)), sizes=(6, 11))
def first_in_first_out(prices, volumes):
    """Realised profit of a position whose oldest lots are sold first."""
    lots = []
    profit = 0.0
    for price, volume in zip(prices, volumes):
        if volume > 0:
            lots.append([volume, price])
            continue
        left = -volume
        while left > 0 and lots:
            held, cost = lots[0]
            sold = min(held, left)
            profit += sold * (price - cost)
            left -= sold
            if sold == held:
                lots.pop(0)
            else:
                lots[0][0] = held - sold
    return profit + sum(v * (prices[-1] - c) for v, c in lots)


@program(lambda n, rng: (1.0, 0.3, rng.standard_normal((4, 6 * n))), argnums=(0, 1),
         differences=1e-5)
def longstaff_schwartz(spot, sigma, noise):
    steps, paths = noise.shape
    dt, r, strike = 0.25, 0.04, 1.05
    s = np.empty((steps + 1, paths))
    s[0] = spot
    for t in range(steps):
        s[t + 1] = s[t] * np.exp((r - sigma ** 2 / 2) * dt + sigma * np.sqrt(dt) * noise[t])
    cash = np.maximum(strike - s[-1], 0)
    for t in range(steps - 1, 0, -1):
        cash = cash * np.exp(-r * dt)
        itm = s[t] < strike
        if itm.sum() < 4:
            continue
        x = s[t, itm]
        design = np.vander(x, 3)
        coefficients = np.linalg.solve(design.T @ design, design.T @ cash[itm])
        held = design @ coefficients
        now = strike - x
        cash[itm] = np.where(now > held, now, cash[itm])
    return np.exp(-r * dt) * cash.mean()


@program(lambda n, rng: (np.linspace(0.02, 0.04, n), np.arange(1, n + 1) * 0.5))
def bootstrapped_forward(par, maturities):
    discounts = {}
    annuity = 0.0
    previous = 0.0
    for rate, t in zip(par, maturities):
        accrual = t - previous
        discounts[t] = (1 - rate * annuity) / (1 + rate * accrual)
        annuity += accrual * discounts[t]
        previous = t
    knots = sorted(discounts)
    zero = [-np.log(discounts[t]) / t for t in knots]
    return (zero[-1] * knots[-1] - zero[0] * knots[0]) / (knots[-1] - knots[0])
