# SPDX-License-Identifier: BSD-2-Clause
"""Dense flow: a vector for every pixel, from exact searches of overlapping blocks.

python/README.md defines it, and tests/python/test_dense.py follows that text pixel by pixel.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

from ._context import Context
from ._memory import as_luma
from ._options import Options, shapes_of
from ._pair import Pair

if TYPE_CHECKING:
    from typing_extensions import Unpack

# All on the scale of 8 bits.
_ERROR = 2.0  # mean absolute error in 5x5 pixels at which a vector's weight falls to 1/e
_LEAST = 1e-4  # that sums of weights lose nothing in rounding
_OUTSIDE = 0.01  # weight of a vector that leads out of the reference
_SPREAD = 0.2  # squared pixels: how far the vectors of a pixel differ where its own count half
_WIDE = 11  # side of boxes
_WORSE, _WORSE_BY = 1.1, 0.5  # the smooth vector may predict 9x9 pixels worse by this
_MARGIN = 4  # pixels from the reference's edge where prediction decides nothing
_STEPS, _REACH, _MOST = 2, 9, 0.5  # of refinement: how many, side of boxes, pixels per step
_STIFFNESS = 20.0  # squared samples per pixel, added to those of gradients

_REFUSED = (
    "partition", "candidates", "predicted", "keep_frames", "confidence", "ref_distance",
    "direction", "best_reference", "bidirectional", "first_frame", "first_target", "target_count")


def _box(values: np.ndarray, side: int) -> np.ndarray:
    """Sums of side x side values, with zeros around."""
    for axis in (0, 1):
        around = np.zeros((side // 2, *values.shape[1:]))
        padded = np.concatenate([around, values, around])
        sums = padded[:len(values)].copy()
        for i in range(1, side):
            sums += padded[i:i + len(values)]
        values = sums.swapaxes(0, 1)
    return values


def _mean(values: np.ndarray, side: int) -> np.ndarray:
    """Means of those of side x side values that there are."""
    rows, columns = (
        1 + np.minimum(np.arange(n), side // 2) + np.minimum(np.arange(n)[::-1], side // 2)
        for n in values.shape)
    return _box(values, side) / np.outer(rows, columns)


def _blurred(values: np.ndarray, side: int) -> np.ndarray:
    """Three boxes, nearly a Gaussian, with zeros around."""
    for _ in range(3):
        values = _box(values, side)
    return values / side ** 6


def _taps(place: np.ndarray, size: int, cubic: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Indices and weights of the samples between which a place lies."""
    whole = np.floor(place)
    t = place - whole
    weights = [1 - t, t]
    if cubic:  # Keys, 1981, a = -1/2
        weights = [((2 - t) * t - 1) * t / 2, ((3 * t - 5) * t * t + 2) / 2,
                   ((4 - 3 * t) * t + 1) * t / 2, (t - 1) * t * t / 2]
    for i, weight in enumerate(weights):
        yield np.clip(whole + (i - cubic), 0, size - 1).astype(np.intp), weight


def _warped(reference: np.ndarray, flow: np.ndarray, cubic: bool) -> np.ndarray:
    """The target as the flow predicts it, with edge samples outside the reference."""
    height, width = reference.shape
    x, y = _places(flow)
    columns = list(_taps(x, width, cubic))
    result = np.zeros(reference.shape)
    for row, row_weight in _taps(y, height, cubic):
        for column, weight in columns:
            result += row_weight * weight * reference[row, column]
    return result


def _places(flow: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the flow leads."""
    y, x = np.indices(flow.shape[:2])
    return x + flow[..., 0], y + flow[..., 1]


def _leads_out(flow: np.ndarray, margin: int) -> np.ndarray:
    x, y = _places(flow)
    height, width = x.shape
    return (np.minimum(x, y) < margin) | (x > width - 1 - margin) | (y > height - 1 - margin)


class DenseFlow:
    """Finds a vector for every pixel of a target, for frame pairs of one size. A context manager.

    See :func:`gpume.dense_flow`, which takes the same options.
    """

    def __init__(self, width: int, height: int, bits: int = 8, *, step: int | None = None,
                 **options: Unpack[Options]) -> None:
        for name in _REFUSED:
            if name in options:
                raise TypeError(f"{name}: a dense flow has no such option")
        shapes = shapes_of(options.setdefault("block", 16))
        self._block, block_h = shapes[0]
        if len(shapes) != 1 or self._block != block_h:
            raise ValueError(f"block: {options['block']!r} is not one square")
        if step is not None and (not 1 <= step <= self._block or self._block % step):
            raise ValueError(f"step: {step} does not divide blocks of {self._block}")
        offsets = range(0, self._block, step or max(1, self._block // 2))
        self._offsets = [(x, y) for y in offsets for x in offsets]
        self._shape, self._scale = (height, width), 2.0 ** (8 - bits)
        self._bits, self._sent = bits, 0
        options.setdefault("window", 16)
        options.setdefault("subpel", 4)
        self._context = Context(
            width + self._block, height + self._block, bits, direction="manual", **options)

    def __enter__(self) -> DenseFlow:
        return self

    def __exit__(self, *error: Any) -> None:
        self._context.__exit__(*error)

    def close(self) -> None:
        """As :meth:`Context.close`."""
        self._context.close()

    def flow(self, reference: np.ndarray, target: np.ndarray) -> np.ndarray:
        """(height, width, 2), float32: (dx, dy) in pixels at every pixel of the target."""
        first, second = (as_luma(frame, self._bits)[0] for frame in (reference, target))
        for frame in (first, second):
            if frame.shape != self._shape:
                raise ValueError(f"a frame of the shape {frame.shape}; the flow has {self._shape}")
        given, wanted = first * self._scale, second * self._scale
        try:
            flow, trust = self._blended(wanted, first, second)
        except BaseException:  # pairs that are under way would be taken for those of the next call
            self._context.__exit__(BaseException)
            raise
        flow = _smoothed(given, wanted, flow, trust)
        for _ in range(_STEPS):
            flow = _refined(given, wanted, flow)
        return flow.astype(np.float32)

    def _pairs(self, first: np.ndarray, second: np.ndarray) -> Iterator[Pair]:
        """The pairs of all grids, which padding with edge samples shifts by the offsets."""
        context, block = self._context, self._block
        for x, y in self._offsets:
            for frame in (first, second):
                context.send(np.pad(frame, ((y, block - y), (x, block - x)), "edge"))
            context.search(self._sent + 1, self._sent)
            self._sent += 2
        yield from context

    def _blended(self, wanted: np.ndarray, first: np.ndarray,
                 second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The weighted mean of the vectors of all blocks on a pixel, and how far to trust it."""
        height, width = self._shape
        rise = np.minimum(np.arange(self._block), np.arange(self._block)[::-1]) + 0.5
        sums = np.zeros((height, width, 2))
        squares, total = np.zeros((2, height, width))
        for (x, y), pair in zip(self._offsets, self._pairs(first, second), strict=True):
            here = np.s_[y:y + height, x:x + width]
            flow = pair.flow()[here].astype(np.float64)
            error = _mean(np.abs(wanted - pair.predicted[here] * self._scale), 5)
            rows, cols = pair.vectors.shape[:2]
            weight = np.tile(np.outer(rise, rise), (rows, cols))[here]
            weight = weight * np.maximum(np.exp(-error / _ERROR), _LEAST)
            weight *= np.where(_leads_out(flow, 0), _OUTSIDE, 1)
            sums += weight[..., None] * flow
            squares += weight * (flow ** 2).sum(2)
            total += weight
        mean = sums / total[..., None]
        spread = np.maximum(squares / total - (mean ** 2).sum(2), 0)
        return mean, total / (_SPREAD + spread)


def _smoothed(given: np.ndarray, wanted: np.ndarray, flow: np.ndarray,
              trust: np.ndarray) -> np.ndarray:
    """Each pixel takes the smooth flow where that predicts its surroundings about as well."""
    def error(of: np.ndarray) -> np.ndarray:
        return _mean(np.abs(_warped(given, of, False) - wanted), 9)

    smooth = _blurred(flow * trust[..., None], _WIDE) / _blurred(trust, _WIDE)[..., None]
    taken = error(smooth) <= error(flow) * _WORSE + _WORSE_BY
    taken |= _leads_out(smooth, _MARGIN)
    return np.where(taken[..., None], smooth, flow)


def _slopes(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Half the differences of the neighbours in x and in y, with edge samples outside."""
    around = np.pad(values, 1, "edge")
    return (around[1:-1, 2:] - around[1:-1, :-2]) / 2, (around[2:, 1:-1] - around[:-2, 1:-1]) / 2


def _refined(given: np.ndarray, wanted: np.ndarray, flow: np.ndarray) -> np.ndarray:
    """A step of Lucas and Kanade's method, where the reference says something."""
    predicted = _warped(given, flow, True)
    x, y = _slopes((predicted + wanted) / 2)
    missing = wanted - predicted
    xx, xy, yy, xm, ym = (_blurred(a * b, _REACH) for a, b in (
        (x, x), (x, y), (y, y), (x, missing), (y, missing)))
    xx, yy = xx + _STIFFNESS, yy + _STIFFNESS
    step = np.dstack([yy * xm - xy * ym, xx * ym - xy * xm]) / (xx * yy - xy * xy)[..., None]
    step = np.clip(step, -_MOST, _MOST)
    return flow + np.where(_leads_out(flow, _MARGIN)[..., None], 0, step)


def dense_flow(reference: np.ndarray, target: np.ndarray, *, bits: int | None = None,
               step: int | None = None, **options: Unpack[Options]) -> np.ndarray:
    """A vector for every pixel, (height, width, 2) of float32, in the sense of pair.flow():
    target[y, x] is found at reference[y + dy, x + dx]. More accurate than the vectors of blocks,
    and slower.

    Squares of `block` pixels (default 16) at every multiple of `step` pixels (default block / 2)
    are searched exactly, with the options of :class:`gpume.Options`; defaults that differ: subpel 4,
    window 16. A pixel takes a weighted mean of the vectors of all blocks that cover it, smoothed
    where that predicts as well, and refined by two steps of Lucas and Kanade's method.
    python/README.md defines each step.

    The searches are exact, and the same on every device; the rest is arithmetic of doubles. For
    several pairs of one size :class:`gpume.DenseFlow` opens the engine once.
    """
    first, bits = as_luma(reference, bits)
    second, _ = as_luma(target, bits)
    if first.shape != second.shape:
        raise ValueError(f"the reference has the shape {first.shape} and the target {second.shape}")
    height, width = first.shape
    with DenseFlow(width, height, bits, step=step, **options) as dense:
        return dense.flow(first, second)
