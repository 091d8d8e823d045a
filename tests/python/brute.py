# SPDX-License-Identifier: BSD-2-Clause
"""The search by brute force in NumPy, written from the text of gpume.h."""
import numpy as np


def blocks_of(size, block):
    """Rows and columns of the grid of blocks."""
    return -(-size[0] // block[1]), -(-size[1] // block[0])


def moved(reference, dx, dy, units):
    """The reference as the vector (dx, dy) in 1/units pixel predicts the target: bilinear."""
    height, width = reference.shape
    wide = reference.astype(np.int64)

    def at(x, y):
        rows = np.clip(np.arange(height) + y, 0, height - 1)
        cols = np.clip(np.arange(width) + x, 0, width - 1)
        return wide[np.ix_(rows, cols)]

    x, fx = divmod(dx * 4 // units, 4)
    y, fy = divmod(dy * 4 // units, 4)
    return ((4 - fx) * (4 - fy) * at(x, y) + fx * (4 - fy) * at(x + 1, y) +
            (4 - fx) * fy * at(x, y + 1) + fx * fy * at(x + 1, y + 1) + 8) >> 4


def _hadamard(n):
    matrix = np.array([[1]])
    while len(matrix) < n:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


def _sum(values, step_y, step_x):
    """Sums of cells from the upper left corner, those at the edges cut."""
    rows = np.add.reduceat(values, np.arange(0, values.shape[0], step_y), axis=0)
    return np.add.reduceat(rows, np.arange(0, values.shape[1], step_x), axis=1)


def distortion(difference, block, metric):
    """The metric of every block."""
    width, height = block
    if metric == "sad":
        return _sum(np.abs(difference), height, width)
    if metric == "ssd":
        return _sum(difference ** 2, height, width)
    n = 8 if width % 8 == 0 and height % 8 == 0 else 4
    padded = np.pad(difference, [(0, -side % n) for side in difference.shape])
    tiles = padded.reshape(padded.shape[0] // n, n, padded.shape[1] // n, n).transpose(0, 2, 1, 3)
    matrix = _hadamard(n)
    sums = np.abs(matrix @ tiles @ matrix.T).sum((2, 3))
    return _sum((sums + 2) >> 2 if n == 8 else (sums + 1) >> 1, height // n, width // n)


def bits(values):
    """Length of the signed Exp-Golomb code."""
    code = np.where(values > 0, 2 * values - 1, -2 * values)
    return 2 * np.floor(np.log2(code + 1)).astype(np.int64) + 1


class Search:
    """Costs of all candidates, each as a grid, computed when they are asked for."""

    def __init__(self, reference, target, block, window, metric="sad", units=1, edge="extend",
                 lambda256=None, predictors=None):
        self.reference, self.target, self.block = reference, target.astype(np.int64), block
        self.window, self.metric, self.units, self.edge = window, metric, units, edge
        self.lambda256, self.predictors, self.known = lambda256, predictors, {}
        self.grid = blocks_of(target.shape, block)
        if predictors is None:
            self.predictors = np.zeros((*self.grid, 2), np.int64)

    def rate(self, dx, dy):
        return bits(dx - self.predictors[..., 0]) + bits(dy - self.predictors[..., 1])

    def costs(self, dx, dy):
        """Of the vector (dx, dy) in units; -1: the candidate is not allowed."""
        if (dx, dy) not in self.known:
            difference = self.target - moved(self.reference, dx, dy, self.units)
            cost = distortion(difference, self.block, self.metric)
            if self.lambda256 is not None:
                cost = cost + ((self.lambda256 * self.rate(dx, dy) + 128) >> 8)
            self.known[dx, dy] = np.where(self.allowed(dx, dy), cost, -1)
        return self.known[dx, dy]

    def allowed(self, dx, dy):
        inside = np.full(self.grid, max(abs(dx) - self.window[0] * self.units,
                                        abs(dy) - self.window[1] * self.units) <= 0)
        if self.edge == "extend":
            return inside
        height, width = self.target.shape
        y, x = np.indices(self.grid) * np.array(self.block[::-1])[:, None, None]
        right, below = np.minimum(x + self.block[0], width), np.minimum(y + self.block[1], height)
        return (inside & (x + dx // self.units >= 0) & (y + dy // self.units >= 0) &
                (right + -(-dx // self.units) <= width) & (below + -(-dy // self.units) <= height))

    def among(self, candidates):
        """The best of some candidates, in the order in which ties are resolved."""
        vectors = np.zeros((*self.grid, 2), np.int64)
        costs = np.full(self.grid, -1)
        for dx, dy in sorted(candidates, key=lambda v: (v != (0, 0), v[1], v[0])):
            cost = self.costs(dx, dy)
            better = (cost >= 0) & ((costs < 0) | (cost < costs))
            costs[better] = cost[better]
            vectors[better] = dx, dy
        return vectors, costs

    def full(self, step=1):
        x, y = (side * self.units for side in self.window)
        return self.among([(dx, dy) for dy in range(-y, y + 1, step)
                           for dx in range(-x, x + 1, step)])

    def refine(self):
        """Whole pixels, then around the best of each block halves, then quarters."""
        vectors, costs = self.full(self.units)
        step = self.units // 2
        while step:
            for place in np.ndindex(self.grid):
                dx, dy = (int(v) for v in vectors[place])
                best = None
                for i, j in np.ndindex(3, 3):
                    near = dx + (i - 1) * step, dy + (j - 1) * step
                    cost = int(self.costs(*near)[place])
                    key = (cost, near != (0, 0), near[1], near[0])
                    if cost >= 0 and (best is None or key < best):
                        best = key
                costs[place], vectors[place] = best[0], (best[3], best[2])
            step //= 2
        return vectors, costs


def ranks(costs):
    """0 for the costliest block; equal costs in raster order."""
    order = np.argsort(-costs.ravel(), kind="stable")
    result = np.empty(costs.size, np.int64)
    result[order] = np.arange(costs.size)
    return result.reshape(costs.shape)


def predicted(reference, vectors, block, units):
    """The predicted frame."""
    result = np.zeros(reference.shape, np.int64)
    for row, col in np.ndindex(vectors.shape[:2]):
        part = np.s_[row * block[1]:(row + 1) * block[1], col * block[0]:(col + 1) * block[0]]
        dx, dy = (int(v) for v in vectors[row, col])
        result[part] = moved(reference, dx, dy, units)[part]
    return result
