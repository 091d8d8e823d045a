# SPDX-License-Identifier: BSD-2-Clause
"""Memory of the library as NumPy arrays: copies of results, views of planes to be filled."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _abi


def copy_of(address: int | None, shape: tuple[int, ...], dtype: str) -> Any:
    """A copy of the array at an address; None if there is none."""
    if not address:
        return None
    array = np.empty(shape, dtype)
    ctypes.memmove(array.ctypes.data, address, array.nbytes)
    return array


def view_of(plane: _abi.Plane) -> np.ndarray:
    """The samples of a plane, in its own memory: valid as long as the library says."""
    size = 1 if plane.bits <= 8 else 2
    row, height = plane.width * size, plane.height
    before = max(0, -plane.stride * (height - 1))  # rows that are stored bottom up
    memory = (ctypes.c_ubyte * (abs(plane.stride) * (height - 1) + row)).from_address(
        plane.data - before)
    return np.ndarray(
        (height, plane.width), np.uint8 if size == 1 else np.uint16, memory, before,
        (plane.stride, size))


def samples_of(plane: _abi.Plane) -> np.ndarray | None:
    """A copy of a plane's samples; None if it has none."""
    return view_of(plane).copy() if plane.data else None


def as_luma(frame: object, bits: int | None) -> tuple[np.ndarray, int]:
    """A frame as a two-dimensional array of 8 or 16 bits per sample, and the bits in use."""
    if isinstance(frame, (tuple, str)):
        raise TypeError(f"a frame is an array (height, width) of luma, and this one is a {type(frame).__name__}; "
                        "gpume.Frames reads a video, and gives (array, time)")
    luma = np.asarray(frame)
    if luma.ndim != 2:
        raise ValueError(
            f"a frame is an array (height, width) of luma, and this one has the shape {luma.shape};"
            " of a colour picture pass its luma")
    if luma.dtype.kind != "u" or luma.dtype.itemsize not in (1, 2):
        raise TypeError(
            f"a frame has samples of the type uint8 or uint16, and this one has {luma.dtype}")
    most = 8 * luma.dtype.itemsize
    bits = most if bits is None else bits
    if not isinstance(bits, (int, np.integer)):
        raise TypeError(f"bits: {bits!r} is not a whole number")
    if (bits > 8) != (most > 8):
        raise TypeError(f"frames of {bits} bits have samples of the type "
                        f"{'uint16' if bits > 8 else 'uint8'}, and this one has {luma.dtype}")
    if 8 < bits < 16 and luma.size and int(luma.max()) >> bits:
        raise ValueError(f"a sample is {luma.max()}, more than {bits} bits hold")
    return luma, bits
