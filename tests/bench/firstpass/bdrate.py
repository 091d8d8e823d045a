# SPDX-License-Identifier: BSD-2-Clause
"""Bjontegaard's difference of rates, with monotone cubic interpolation (Fritsch and Carlson 1980)
of log rate over quality."""
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


def bd_rate(reference, test):
    """In per cent; both are lists of (rate, quality). NaN where the qualities do not overlap."""
    curves = []
    for points in (reference, test):
        points = sorted(points, key=lambda point: point[1])
        curves.append(([q for _, q in points], [math.log(r) for r, _ in points]))
    low = max(x[0] for x, _ in curves)
    high = min(x[-1] for x, _ in curves)
    if high <= low or any(b <= a for x, _ in curves for a, b in zip(x, x[1:])):
        return math.nan
    areas = [integral(x, y, low, high) for x, y in curves]
    return 100 * (math.exp((areas[1] - areas[0]) / (high - low)) - 1)


def ssim_db(ssim):
    return -10 * math.log10(max(1 - ssim, 1e-9))
