# SPDX-License-Identifier: BSD-2-Clause
"""Motion fields: the vectors of a frame pair as a table, and the layouts that follow from it."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterable

import numpy as np

from ._flow import FlowErrors, endpoint_error, to_flo

# The columns of vectors.csv, in order. None: of the type of vectors.
COLUMNS: dict[str, Any] = {
    "frame": "i8", "ref": "i8", "x": "i8", "y": "i8", "w": "i8", "h": "i8", "dx": None, "dy": None,
    "cost": "i8", "rank": "i8", "shape": "U9", "bits": "i8", "ref2": "i8", "dx2": None,
    "dy2": None, "candidate": "i8", "second": "i8", "ties": "i8", "texture": "i8", "return": None}


def columns_of(names: Iterable[str], vectors: Any) -> np.dtype:
    """The type of a row with these columns."""
    return np.dtype([(name, COLUMNS[name] or vectors) for name in names])


def shown_once(table: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The rows of a motion field that cover the frame once: the best match of each block, and of
    several shapes the first."""
    names = table.dtype.names
    if "candidate" in names:
        table = table[table["candidate"] == 0]
    if "shape" in names and len(table) and (table["w"] * table["h"]).sum() > shape[0] * shape[1]:
        table = table[table["shape"] == table["shape"][0]]
    return table


class Motion:
    """What :class:`Pair` and :class:`Field` have in common: layouts of their table."""

    frame: int
    ref: int
    shape: tuple[int, int]
    subpel: int

    def table(self) -> np.ndarray:
        raise NotImplementedError

    def flow(self) -> np.ndarray:
        """(height, width, 2), float32: (dx, dy) in pixels at every pixel of the target, the vector
        of its block; of several shapes, the first one's; with partition, of its chosen block. NaN
        where there is no block.

        The layout and the sense of OpenCV's dense flow, such as
        ``cv2.calcOpticalFlowFarneback(target, reference, ...)``: target[y, x] is found at
        reference[y + dy, x + dx].
        """
        flow = np.full((*self.shape, 2), np.nan, np.float32)
        rows = shown_once(self.table(), self.shape)
        vectors = np.column_stack([rows["dx"], rows["dy"]])
        for width, height in np.unique(np.column_stack([rows["w"], rows["h"]]), axis=0):
            of = (rows["w"] == width) & (rows["h"] == height)
            y = rows["y"][of, None, None] + np.arange(height)[:, None]
            x = rows["x"][of, None, None] + np.arange(width)
            flow[y, x] = vectors[of, None, None]
        return flow

    def to_flo(self, path: str | os.PathLike[str]) -> None:
        """Writes flow() as a Middlebury .flo file, as the command does. Replaces a file."""
        to_flo(self.flow(), path)

    def endpoint_error(self, truth: Any) -> FlowErrors:
        """The errors of flow() against true flow; see :func:`gpume.endpoint_error`."""
        return endpoint_error(self.flow(), truth)

    def mv_extractor(self) -> np.ndarray:
        """(N, 10), int32: one row per block in the layout of mv-extractor and of FFmpeg's
        AVMotionVector: source, w, h, src_x, src_y, dst_x, dst_y, motion_x, motion_y, motion_scale.

        source is -1 if the reference is an earlier frame and 1 if it is a later one; dst is the
        middle of the block, src that of its match, rounded towards dst; motion is in units of
        1/motion_scale pixel. A block with two matches has two rows.
        """
        blocks = shown_once(self.table(), self.shape)
        matches = [self._motion(blocks, blocks["ref"], blocks["dx"], blocks["dy"])]
        order = np.arange(len(blocks))
        if "ref2" in blocks.dtype.names:
            two = blocks["ref2"] >= 0
            second = blocks[two]
            matches.append(self._motion(second, second["ref2"], second["dx2"], second["dy2"]))
            order = np.concatenate([order, order[two]])
        return np.concatenate(matches)[np.argsort(order, kind="stable")]

    def _motion(self, blocks: np.ndarray, ref: np.ndarray, dx: np.ndarray,
                dy: np.ndarray) -> np.ndarray:
        dst_x, dst_y = blocks["x"] + blocks["w"] // 2, blocks["y"] + blocks["h"] // 2
        scale = self.subpel
        rows = np.column_stack([
            np.where(ref > self.frame, 1, -1), blocks["w"], blocks["h"], dst_x + np.trunc(dx),
            dst_y + np.trunc(dy), dst_x, dst_y, dx * scale, dy * scale,
            np.full(len(blocks), scale)])
        return rows.astype(np.int32)


@dataclass(frozen=True, eq=False)
class Field(Motion):
    """A motion field that was read from a file: what :func:`gpume.load` gives for a frame pair.

    frame, ref: Index of the target frame, and of its reference; of several, of the first block's.
    time: Presentation time of the target in seconds; None if the file does not say it.
    shape: (height, width) of the frames in pixels. Where the file does not say it, as far as blocks
        reach.
    subpel: Vectors are multiples of 1/subpel pixel.
    rows: What table() returns.
    """

    frame: int
    ref: int
    time: float | None
    shape: tuple[int, int]
    subpel: int
    rows: np.ndarray

    def __repr__(self) -> str:
        height, width = self.shape
        return (f"<Field: frame {self.frame} from {self.ref}; {width}x{height} pixels; "
                f"{len(self.rows)} rows>")

    def table(self) -> np.ndarray:
        """The rows of this motion field in the file; see :meth:`Pair.table` for the columns, of
        which those that the file does not have are missing."""
        return self.rows

    def _grid(self, *names: str) -> np.ndarray:
        """(rows, cols, names) of a grid of blocks."""
        rows = shown_once(self.rows, self.shape)
        y, x = (np.unique(rows[name]) for name in "yx")
        if len(rows) != len(y) * len(x) or (rows["y"] != y.repeat(len(x))).any() or (
                rows["x"] != np.tile(x, len(y))).any():
            raise ValueError(
                f"the blocks of frame {self.frame} form no grid; use table() or flow()")
        for name in names:
            if name not in rows.dtype.names:
                raise ValueError(f"the file has no column {name}")
        return np.column_stack([rows[name] for name in names]).reshape(len(y), len(x), len(names))

    @property
    def block(self) -> tuple[int, int]:
        """(width, height) of the blocks, in pixels. ValueError if they form no grid."""
        width, height = self._grid("w", "h")[0, 0]
        return int(width), int(height)

    @property
    def vectors(self) -> np.ndarray:
        """(rows, cols, 2): (dx, dy) of each block in pixels; of several shapes, the first one's.
        ValueError if the blocks form no grid, such as those of a partition."""
        return self._grid("dx", "dy")

    @property
    def costs(self) -> np.ndarray:
        """(rows, cols), int64, for the same blocks. ValueError if the file has no costs."""
        return self._grid("cost")[..., 0]

    @property
    def ranks(self) -> np.ndarray:
        """(rows, cols), int64, for the same blocks. ValueError if the file has no ranks."""
        return self._grid("rank")[..., 0]
