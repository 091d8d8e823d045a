# SPDX-License-Identifier: BSD-2-Clause
"""Middlebury's files of flow, and errors against true flow as `gpume compare --truth` has them."""
from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .errors import FormatError

_MAGIC = b"PIEH"
_UNKNOWN = 1e9  # components beyond it are unknown
_WRITTEN_UNKNOWN = 1e10
_ONE = 32768  # units of a true vector in a pixel
_MOST = 16384  # pixels, of a true component


class FlowErrors(NamedTuple):
    """Errors of a flow against the true one, as `gpume compare --truth` defines them.

    known: pixels with a true vector. pixels: those of them that have a vector in the flow, too; the
        other members are over these.
    epe, epe_max: mean and largest end-point error, the distance of the vectors, in pixels
    above_1, above_3, above_5: pixels whose end-point error is above 1, 3 and 5 pixels
    outliers: pixels whose end-point error is above 3 pixels and 5 % of the true length
    angle: mean angle in space between (u, v, 1) and its truth, in degrees
    """

    known: int
    pixels: int
    epe: float
    epe_max: float
    above_1: int
    above_3: int
    above_5: int
    outliers: int
    angle: float


def to_flo(flow: Any, path: str | os.PathLike[str]) -> None:
    """Writes flow (height, width, 2) as a Middlebury .flo file. NaN: unknown. Replaces an existing
    file."""
    array = _as_flow("flow", flow).astype("<f4")
    array[~np.isfinite(array).all(2)] = _WRITTEN_UNKNOWN
    height, width = array.shape[:2]
    Path(path).write_bytes(_MAGIC + struct.pack("<ii", width, height) + array.tobytes())


def from_flo(path: str | os.PathLike[str]) -> np.ndarray:
    """Reads a Middlebury .flo file: (height, width, 2) of float32, with NaN where it is unknown."""
    data = Path(path).read_bytes()
    name = os.fspath(path)
    if data[:4] != _MAGIC or len(data) < 12:
        raise FormatError(f"{name}: is no .flo file")
    width, height = struct.unpack("<ii", data[4:12])
    if width < 1 or height < 1 or len(data) != 12 + 8 * width * height:
        raise FormatError(f"{name}: has {len(data)} bytes, which do not fit its size of {width}x"
                          f"{height} pixels")
    flow = np.frombuffer(data, "<f4", offset=12).reshape(height, width, 2).astype(np.float32)
    flow[_unknown(flow)] = np.nan
    return flow


def _as_flow(name: str, flow: Any) -> np.ndarray:
    if isinstance(flow, (str, os.PathLike)):
        raise TypeError(f"{name}: an array (height, width, 2) is needed, and this is a "
                        f"{type(flow).__name__}; gpume.from_flo reads a file")
    array = np.asarray(flow, np.float64)
    if array.ndim != 3 or array.shape[2] != 2:
        raise ValueError(f"{name}: an array of the shape {array.shape}, not (height, width, 2)")
    return array


def _unknown(flow: np.ndarray) -> np.ndarray:
    return ~(np.abs(flow) <= _UNKNOWN).all(2)


def _units(flow: np.ndarray) -> np.ndarray:
    return np.rint(flow * _ONE).astype(np.int64)


def endpoint_error(flow: Any, truth: Any) -> FlowErrors:
    """Measures flow against true flow, both (height, width, 2), such as pair.flow() and
    gpume.from_flo("flow10.flo"). A pixel is unknown where a component is NaN or beyond 1e9.

    True flow leads from a frame to the next one: search with the next frame as the reference, such
    as with direction="future". Vectors are rounded to 1/32768 pixel, and thresholds are decided by
    integers. Without a pixel in common, the means are NaN.
    """
    found, true = _as_flow("flow", flow), _as_flow("truth", truth)
    if found.shape != true.shape:
        raise ValueError(f"the flow has the shape {found.shape} and the truth {true.shape}")
    known, both = ~_unknown(true), ~(_unknown(true) | _unknown(found))
    if (np.abs(true[known]) > _MOST).any() or (np.abs(found[both]) > 2 * _MOST).any():
        raise ValueError(f"a true vector is longer than {_MOST} pixels, or one of the flow than "
                         f"{2 * _MOST}")
    u, v = _units(found[both]).T
    true_u, true_v = _units(true[both]).T
    distance = (u - true_u) ** 2 + (v - true_v) ** 2
    length = true_u ** 2 + true_v ** 2
    above = {pixels: distance > (pixels * _ONE) ** 2 for pixels in (1, 3, 5)}
    u, v, true_u, true_v = (each / _ONE for each in (u, v, true_u, true_v))
    across = np.sqrt((v - true_v) ** 2 + (true_u - u) ** 2 + (u * true_v - v * true_u) ** 2)
    angles = np.degrees(np.arctan2(across, u * true_u + v * true_v + 1))
    errors = np.sqrt(distance.astype(np.float64)) / _ONE
    count = len(errors)
    return FlowErrors(
        known=int(known.sum()), pixels=count, epe=float(errors.mean()) if count else np.nan,
        epe_max=float(errors.max(initial=0)), above_1=int(above[1].sum()),
        above_3=int(above[3].sum()), above_5=int(above[5].sum()),
        outliers=int((above[3] & (distance > length // 400)).sum()),
        angle=float(angles.mean()) if count else np.nan)
