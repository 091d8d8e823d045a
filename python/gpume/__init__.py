# SPDX-License-Identifier: BSD-2-Clause
"""Exact block motion estimation with libgpume, for NumPy.

    import gpume

    for pair in gpume.open("clip.mp4", block=16, window=32):        # every frame pair of a video
        print(pair.frame, pair.vectors.shape, pair.psnr_after)

    pair = gpume.search(reference, target, block=16, window=32)     # two arrays of luma
    pair.vectors        # (rows, cols, 2): (dx, dy) in pixels, from each block to its match
    pair.costs          # (rows, cols)

    for frame in gpume.filter(frames):                              # frames without their noise
        print(frame.shape)

Vectors point from a block of the target to its match in the reference: predicted[y, x] =
reference[y + dy, x + dx], x to the right and y downwards. All results are exact and the same on
every device. Every array that this package returns is the caller's own.

The library is looked for at the path in the environment variable GPUME_LIBRARY, then in the
package, as wheels have it, then where the system has its libraries; the command that decodes video
at that in GPUME_COMMAND, then in PATH.
"""
from typing import TYPE_CHECKING

from ._compute import Compute, Minimum, argsort, reduce, sort, sort_pairs
from ._context import Context, Info, search
from ._dense import DenseFlow, dense_flow
from ._devices import Device, SearchInfo, devices, searches
from ._field import Field
from ._filter import filter as filter
from ._flow import FlowErrors, endpoint_error, from_flo, to_flo
from ._library import version
from ._load import Run, load
from ._options import Options
from ._pair import Layer, Pair, Sums
from ._video import Frames, Video
from ._video import open as open  # the form that type checkers take for a public name
from .errors import (
    CancelledError, DeviceError, DeviceLostError, FormatError, GpumeError, InputOutputError,
    InvalidError, NoMemoryError, UnsupportedError)

# Without open and filter, which `from gpume import *` must not put in the place of Python's own.
__all__ = [
    "CancelledError", "Compute", "Context", "DenseFlow", "Device", "DeviceError",
    "DeviceLostError", "Field", "FlowErrors", "FormatError", "Frames", "GpumeError", "Info",
    "InputOutputError", "InvalidError", "Layer", "Minimum", "NoMemoryError", "Options",
    "Pair", "Run", "SearchInfo", "Sums", "UnsupportedError", "Video", "argsort", "dense_flow",
    "devices", "endpoint_error", "from_flo", "load", "reduce", "search", "searches", "sort",
    "sort_pairs", "to_flo", "version"]

if TYPE_CHECKING:
    __version__: str
else:
    def __getattr__(name):
        """__version__ is version(), found when it is asked for: importing loads no library."""
        if name == "__version__":
            return version()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
