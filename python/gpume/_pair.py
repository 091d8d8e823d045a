# SPDX-License-Identifier: BSD-2-Clause
"""Results: what a search found for one frame pair, as NumPy arrays of its own."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import _abi
from ._field import COLUMNS, Motion, columns_of
from ._library import library
from ._memory import copy_of, samples_of


class Sums(NamedTuple):
    """Exact sums over all pixels of the target: before (against the reference) and after motion
    compensation (against the predicted frame).

    zero: blocks whose vector is (0, 0)
    sad_before, sad_after: sum of absolute differences
    sse_before, sse_after: sum of squared differences
    """

    zero: int
    sad_before: int
    sad_after: int
    sse_before: int
    sse_after: int


@dataclass(frozen=True, eq=False)
class Layer:
    """The results for the blocks of one shape. Arrays have the shape (rows, cols) of the grid of
    blocks, and belong to the caller.

    block: (width, height) of a block that no edge cuts, in pixels.
    vectors: (rows, cols, 2): (dx, dy) of each block in pixels, from the block to its match:
        predicted[y, x] = reference[y + dy, x + dx]. int32; float32 where subpel is 2 or 4.
    costs: int64: the difference between a block and its match, plus the price of its vector.
    ranks: int64: 0 is the costliest block of the layer.
    candidate_vectors: (K, rows, cols, 2): all of the `candidates` matches, the best one first;
        with subpel_search="refine" the best in whole pixels, so a later one may cost less.
    candidate_costs: (K, rows, cols), int64. -1: there is no such candidate.
    bits: int64: bits of the vectors; None without a lambda.
    candidate_bits: (K, rows, cols), int64: the bits of all candidates.
    refs: int64: each block's reference frame; None without best_reference.
    refs2, vectors2: The second match of each block, with bidirectional, else None: its reference,
        -1 where there is none, and its vector.
    second: int64, with confidence, else None: the cost of the second candidate, refined like the
        first (so it may be the lower one); -1: there is none.
    ties: The same type: how many other candidates cost as much as the best.
    texture: The same type: the sum of absolute differences between neighbouring pixels of the block.
    returns: With confidence or returns, and both directions, else None: how far the reverse vector at the match
        leads away from the block, in pixels. The type of `vectors`.
    """

    block: tuple[int, int]
    vectors: np.ndarray
    costs: np.ndarray
    ranks: np.ndarray
    candidate_vectors: np.ndarray
    candidate_costs: np.ndarray
    bits: np.ndarray | None
    candidate_bits: np.ndarray | None
    refs: np.ndarray | None
    refs2: np.ndarray | None
    vectors2: np.ndarray | None
    second: np.ndarray | None
    ties: np.ndarray | None
    texture: np.ndarray | None
    returns: np.ndarray | None

    def __repr__(self) -> str:
        return f"<Layer: {self._grid()}>"

    def _grid(self) -> str:
        return "{}x{} blocks in {} rows and {} columns".format(*self.block, self.rows, self.cols)

    @property
    def rows(self) -> int:
        return self.vectors.shape[0]

    @property
    def cols(self) -> int:
        return self.vectors.shape[1]


@dataclass(frozen=True, eq=False)
class Pair(Motion):
    """What was found for a target frame and its reference, or all its references.

    All arrays are copies that belong to the caller: they stay valid after the context is closed.
    Members of the first shape's layer are members of the pair, too.

    frame, ref: Index of the target frame, and of its reference; of several, of the first.
    refs: Indices of all references.
    time: Presentation time of the target, in seconds.
    tag: As given to Context.search; else 0.
    shape, bits_per_sample: (height, width) of the frames in pixels, and bits of a sample.
    subpel: Vectors are multiples of 1/subpel pixel.
    layers: One for each shape, in the order of the option `block`.
    sums: Of the prediction by the first layer, or by the parts.
    predicted, target, reference: Frames (height, width), uint8 or uint16. Not asked for: None.
    checked, matched: With check: blocks that were searched again, and those with the same result.
    parts: (N, 3) with partition, else None: layer, index in its raster, and rank of each chosen
        block. They cover the frame once. table() says more of them.
    """

    frame: int
    ref: int
    refs: tuple[int, ...]
    time: float
    tag: int
    shape: tuple[int, int]
    bits_per_sample: int
    subpel: int
    layers: tuple[Layer, ...]
    sums: Sums
    predicted: np.ndarray | None
    target: np.ndarray | None
    reference: np.ndarray | None
    checked: int
    matched: int
    parts: np.ndarray | None

    def __repr__(self) -> str:
        height, width = self.shape
        grids = ", ".join(layer._grid() for layer in self.layers)
        return (f"<Pair: frame {self.frame} from {', '.join(map(str, self.refs))}; {width}x{height} "
                f"pixels, {self.bits_per_sample} bits; {grids}; PSNR {self.psnr_before:.2f} dB "
                f"before, {self.psnr_after:.2f} dB after>")

    @property
    def block(self) -> tuple[int, int]:
        """(width, height) of the first shape's blocks, in pixels."""
        return self.layers[0].block

    @property
    def vectors(self) -> np.ndarray:
        """(rows, cols, 2): (dx, dy) of each block in pixels, from the block to its match. int32;
        float32 where subpel is 2 or 4."""
        return self.layers[0].vectors

    @property
    def costs(self) -> np.ndarray:
        """(rows, cols), int64: the cost of each block's match."""
        return self.layers[0].costs

    @property
    def ranks(self) -> np.ndarray:
        """(rows, cols), int64: 0 is the costliest block."""
        return self.layers[0].ranks

    @property
    def psnr_before(self) -> float:
        """PSNR in dB of the reference as a prediction of the target. inf: they are the same."""
        return self._psnr(self.sums.sse_before)

    @property
    def psnr_after(self) -> float:
        """PSNR in dB of the predicted frame. inf: it is the target."""
        return self._psnr(self.sums.sse_after)

    def _psnr(self, sse: int) -> float:
        return library().gpume_psnr(self.bits_per_sample, self.shape[0] * self.shape[1], sse)

    def table(self) -> np.ndarray:
        """The rows that the command would write to vectors.csv, in its order, as a structured
        array with its columns, which gpume-formats(5) explains: frame, ref, x, y, w, h, dx, dy,
        cost and rank always; and as far as the options ask for them shape (of several), bits, ref2,
        dx2, dy2, candidate, second, ties, texture and return.

        Whole numbers are int64, vectors and return are as `vectors`, shape is text such as "16x8".
        What is empty in the file is -1, and dx2 and dy2 beside it are 0.
        """
        parts = self.parts if self.parts is not None else np.concatenate(
            [self._whole(number) for number in range(len(self.layers))])
        first = self.layers[0]
        count = len(first.candidate_vectors)
        names = list(COLUMNS)[:10]
        for name, wanted in (
                ("shape", len(self.layers) > 1), ("bits", first.bits is not None),
                ("ref2 dx2 dy2", first.refs2 is not None), ("candidate", count > 1),
                ("second ties texture", first.second is not None),
                ("return", first.returns is not None)):
            names += name.split() if wanted else []
        # A row of this for each block, with its candidates side by side.
        table = np.zeros((len(parts), count), columns_of(names, self.vectors.dtype))
        table["frame"], table["ref"] = self.frame, self.ref
        table["rank"] = parts[:, 2:]
        if count > 1:
            table["candidate"] = np.arange(count)
        for number, layer in enumerate(self.layers):
            of = parts[:, 0] == number
            table[of] = self._filled(table[of], layer, parts[of, 1])
        there = table["cost"] >= 0
        there[:, 0] = True
        return table[there]

    def _whole(self, number: int) -> np.ndarray:
        """All blocks of a layer, as `parts` has them."""
        ranks = self.layers[number].ranks.ravel()
        return np.column_stack([np.full(ranks.size, number), np.arange(ranks.size), ranks])

    def _filled(self, table: np.ndarray, layer: Layer, blocks: np.ndarray) -> np.ndarray:
        """The rows of a layer's blocks, with what the layer says of them."""
        row, col = np.divmod(blocks, layer.cols)
        width, height = layer.block
        x, y = col * width, row * height
        of_blocks = {
            "x": x, "y": y, "w": np.minimum(width, self.shape[1] - x),
            "h": np.minimum(height, self.shape[0] - y), "shape": f"{width}x{height}",
            "ref": layer.refs, "ref2": layer.refs2, "second": layer.second, "ties": layer.ties,
            "texture": layer.texture, "return": layer.returns}
        if layer.vectors2 is not None:
            of_blocks["dx2"], of_blocks["dy2"] = np.moveaxis(layer.vectors2, -1, 0)
        for name, values in of_blocks.items():
            if values is not None and name in table.dtype.names:
                grid = np.ndim(values) == 2
                table[name] = values[row, col][:, None] if grid else np.reshape(values, (-1, 1))
        for name, values in (
                ("dx", layer.candidate_vectors[..., 0]), ("dy", layer.candidate_vectors[..., 1]),
                ("cost", layer.candidate_costs), ("bits", layer.candidate_bits)):
            if values is not None:
                table[name] = values[:, row, col].T
        return table

    def flow(self) -> np.ndarray:
        """As Motion.flow, faster for whole grids."""
        if self.parts is not None:
            return super().flow()
        width, height = self.block
        dense = self.vectors.repeat(height, 0).repeat(width, 1)
        return dense[:self.shape[0], :self.shape[1]].astype(np.float32)

    flow.__doc__ = Motion.flow.__doc__


def _numbers(address: int | None, shape: tuple[int, ...]) -> Any:
    """A copy as int64, whose arithmetic does not wrap, with -1 for GPUME_NONE."""
    raw = copy_of(address, shape, "u4")
    if raw is None:
        return None
    numbers = raw.astype(np.int64)
    numbers[raw == _abi.NONE] = -1
    return numbers


def _pixels(units: Any, subpel: int) -> Any:
    """Vectors in units of 1/subpel pixel, in pixels."""
    if units is None:
        return None
    return units.astype(np.int32) if subpel == 1 else units.astype(np.float32) / subpel


def _references(address: int | None, grid: tuple[int, int], frames: np.ndarray) -> Any:
    """Indices of frames, for indices in the field's references; -1 where there is none."""
    places = _numbers(address, grid)
    return None if places is None else np.where(places < 0, -1, frames[places])


def _candidates(address: int | None, layer: _abi.Layer, count: int, tail: tuple, dtype: str) -> Any:
    """Arrays that lie candidate_stride entries apart, one for each candidate."""
    if not address:
        return None
    grid = (layer.blocks_y, layer.blocks_x)
    step = layer.candidate_stride * np.dtype(dtype).itemsize * (tail[0] if tail else 1)
    return np.stack([copy_of(address + i * step, grid + tail, dtype) for i in range(count)])


def _layer(layer: _abi.Layer, subpel: int, count: int, frames: np.ndarray) -> Layer:
    grid = (layer.blocks_y, layer.blocks_x)
    vectors = _pixels(_candidates(layer.vectors, layer, count, (2,), "i2"), subpel)
    raw = _candidates(layer.costs, layer, count, (), "u4")
    costs = raw.astype(np.int64)
    costs[1:][raw[1:] == _abi.NONE] = -1  # the best match always exists
    bits = _candidates(layer.bits, layer, count, (), "u4")
    bits = None if bits is None else bits.astype(np.int64)
    returns = _numbers(layer.returns, grid)
    return Layer(
        block=(layer.block_w, layer.block_h), vectors=vectors[0], costs=costs[0],
        ranks=_numbers(layer.ranks, grid), candidate_vectors=vectors, candidate_costs=costs,
        bits=None if bits is None else bits[0], candidate_bits=bits,
        refs=_references(layer.refs, grid, frames), refs2=_references(layer.refs2, grid, frames),
        vectors2=_pixels(copy_of(layer.vectors2, (*grid, 2), "i2"), subpel),
        second=_numbers(layer.second, grid), ties=_numbers(layer.ties, grid),
        texture=_numbers(layer.texture, grid), returns=_pixels(returns, subpel))


def pair_of(field: _abi.Field, params: _abi.Params) -> Pair:
    """Copies everything of a field, which may be released then."""
    frames = copy_of(field.refs, (field.ref_count,), "u8")
    frames = np.array([field.ref]) if frames is None else frames.astype(np.int64)
    subpel = field.vector_units
    count = max(1, params.candidates)
    layers = tuple(
        _layer(field.layers[i].contents, subpel, count, frames) for i in range(field.layer_count))
    parts = copy_of(field.parts, (field.part_count, 3), "u4") if params.partition else None
    return Pair(
        frame=field.frame, ref=field.ref, refs=tuple(map(int, frames)),
        time=field.time_us / 1e6, tag=field.tag, shape=(params.height, params.width),
        bits_per_sample=params.bits, subpel=subpel, layers=layers,
        sums=Sums(*(getattr(field.sums, name) for name in Sums._fields)),
        predicted=samples_of(field.predicted), target=samples_of(field.target),
        reference=samples_of(field.reference), checked=field.checked, matched=field.matched,
        parts=None if parts is None else parts.astype(np.int64))
