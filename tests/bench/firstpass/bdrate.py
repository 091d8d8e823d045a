# SPDX-License-Identifier: BSD-2-Clause
"""Differences of two curves of rate and quality (Bjontegaard), with monotone cubic interpolation
(Fritsch and Carlson 1980): of rates at equal quality, and of qualities at equal rate."""
import math


def slopes(x, y):
    """Slopes at the points: harmonic means of the neighbouring chords, 0 at extremes."""
    steps = [b - a for a, b in zip(x, x[1:])]
    chords = [(b - a) / h for a, b, h in zip(y, y[1:], steps)]
    result = [chords[0]]
    for i in range(1, len(chords)):
        a, b = chords[i - 1], chords[i]
        w1, w2 = 2 * steps[i] + steps[i - 1], steps[i] + 2 * steps[i - 1]
        result.append(0.0 if a * b <= 0 else (w1 + w2) / (w1 / a + w2 / b))
    return result + [chords[-1]]


def integral(x, y, low, high):
    """Of the interpolant between low and high."""
    d = slopes(x, y)
    total = 0.0
    for i in range(len(x) - 1):
        a, b = max(low, x[i]), min(high, x[i + 1])
        if a >= b:
            continue
        h = x[i + 1] - x[i]

        def value(at, i=i, h=h):
            t = (at - x[i]) / h
            return ((1 + 2 * t) * (1 - t) ** 2 * y[i] + t * (1 - t) ** 2 * h * d[i]
                    + t * t * (3 - 2 * t) * y[i + 1] + t * t * (t - 1) * h * d[i + 1])
        total += (b - a) / 6 * (value(a) + 4 * value((a + b) / 2) + value(b))  # exact for cubics
    return total


def mean_difference(curves):
    """The second curve minus the first, mean over what they have in common. Both are lists of (x, y).
    NaN where they have nothing in common, or a curve has two points at one x."""
    (reference, test) = [tuple(zip(*sorted(curve))) for curve in curves]
    low = max(reference[0][0], test[0][0])
    high = min(reference[0][-1], test[0][-1])
    if high <= low or any(b <= a for x, _ in (reference, test) for a, b in zip(x, x[1:])):
        return math.nan
    return (integral(*test, low, high) - integral(*reference, low, high)) / (high - low)


def bd_rate(reference, test):
    """Of rates at equal quality, in per cent; both are lists of (rate, quality)."""
    curves = [[(quality, math.log(rate)) for rate, quality in points]
              for points in (reference, test)]
    return 100 * math.expm1(mean_difference(curves))


def gain(reference, test):
    """Of qualities at equal rate (mean over the logarithm of rates), in their own unit."""
    return mean_difference([[(math.log(rate), quality) for rate, quality in points]
                            for points in (reference, test)])


def ssim_db(ssim):
    return -10 * math.log10(max(1 - ssim, 1e-9))
