# SPDX-License-Identifier: BSD-2-Clause
"""Sorting and reducing arrays on a GPU or a CPU: the part of compute.h that copies data itself."""
from __future__ import annotations

import ctypes
import functools
import os
import threading
from typing import Any, NamedTuple

import numpy as np

from . import _abi
from ._library import Handle, Log, library, table
from ._options import choice_of

_METHODS = ("auto", "radix", "bitonic")


def _whole(array: Any) -> np.ndarray:
    array = np.asarray(array)
    if array.dtype.kind not in "iu":
        raise TypeError(f"an array of integers is needed, and this one has {array.dtype}")
    return array


def _words(array: np.ndarray) -> tuple[np.ndarray, int]:
    """A copy as 32-bit words in one row, and the type of keys that they are."""
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    signed = least < 0
    if least < -(1 << 31) or most >= (1 << 31 if signed else 1 << 32):
        raise OverflowError(
            f"keys from {least} to {most}: they fit neither 32 bits with a sign nor without")
    words = np.array(array, np.int32 if signed else np.uint32, order="C").ravel()
    return words, _abi.KEY_I32 if signed else _abi.KEY_U32


class Compute:
    """A device, or the CPU, for arrays. A context manager.

    backend: "auto" (default: the best hardware GPU, else the CPU), "vulkan" or "cpu". device,
    cache_dir and validate are as in :class:`gpume.Options`. Any thread may use it; calls wait for
    each other. The functions :func:`gpume.sort` and others use one that they share.
    """

    def __init__(self, backend: str = "auto", device: int | str | None = None,
                 cache_dir: str | None = None, validate: bool = False) -> None:
        params = _abi.filled(_abi.ComputeParams, library().gpume_compute_params_fill)
        log = Log()
        params.backend = choice_of("backend", backend, table()["backend"].choices)
        params.device = None if device is None else str(device).encode()
        params.cache_dir = None if cache_dir is None else str(cache_dir).encode()
        params.validate = validate
        params.log = log.callback
        self._handle = Handle("gpume_compute_open", "gpume_compute_close", params, log)
        self._lock = threading.RLock()

    def __enter__(self) -> Compute:
        return self

    def __exit__(self, error_type: object, *_: object) -> None:
        self._handle.close() if error_type is None else self._handle.stop()

    def close(self) -> None:
        """Releases the device. Raises what the validation layer reported."""
        self._handle.close()

    def _call(self, name: str, *arguments: object) -> None:
        def call(pointer: ctypes.c_void_p) -> int:
            with self._lock:  # entered after it is known whose process this is
                return getattr(library(), name)(pointer, *arguments)

        self._handle.log.check(self._handle.run(call))

    @property
    def backend(self) -> str:
        """"vulkan" or "cpu"."""
        return self._info().backend.decode()

    @property
    def device(self) -> str:
        """Name of the device."""
        return self._info().device.decode(errors="replace")

    def _info(self) -> _abi.ComputeInfo:
        info = _abi.ComputeInfo(size=ctypes.sizeof(_abi.ComputeInfo))
        self._call("gpume_compute_info_fill", ctypes.byref(info))
        return info

    def _sort(self, array: np.ndarray, payload: np.ndarray | None, descending: bool,
              method: str) -> np.ndarray:
        """Sorts every row of the last axis, and moves the payload (32-bit words) along in place."""
        keys, kind = _words(array)
        order = _abi.filled(_abi.SortParams, library().gpume_sort_params_fill)
        order.type, order.descending = kind, descending
        order.method = choice_of("method", method, _METHODS)
        length = array.shape[-1] if array.ndim else 1
        if array.ndim > 1 and keys.size:
            rows = keys.size // length
            segments = np.empty((rows, 2), np.uint32)
            segments[:, 0] = np.arange(rows) * length
            segments[:, 1] = length
            order.segments, order.segment_count = segments.ctypes.data, rows
        moved = None if payload is None else payload.ctypes.data
        self._call("gpume_sort", ctypes.byref(order), keys.ctypes.data, moved, keys.size)
        return keys.reshape(array.shape).astype(array.dtype)

    def sort(self, array: Any, *, descending: bool = False, method: str = "auto") -> np.ndarray:
        """A sorted copy of integers from -2^31 to 2^32 - 1 (below 2^31 if some are negative), as
        ``numpy.sort``: along the last axis. method: "auto", "radix" or "bitonic"."""
        return self._sort(_whole(array), None, descending, method)

    def argsort(self, array: Any, *, descending: bool = False, method: str = "auto") -> np.ndarray:
        """The indices, of type int64, that sort an array along its last axis. Stable: equal keys
        keep their order, with `descending`, too."""
        array = _whole(array)
        length = array.shape[-1] if array.ndim else 1
        indices = np.empty(array.shape, np.uint32)
        indices[...] = np.arange(length, dtype=np.uint32)
        self._sort(array, indices, descending, method)
        return indices.astype(np.int64)

    def sort_pairs(self, keys: Any, payload: Any, *, descending: bool = False,
                   method: str = "auto") -> tuple[np.ndarray, np.ndarray]:
        """Copies of one row of keys, sorted, and of a payload with one entry for each of them, of
        any type, which moves with its key. Stable."""
        keys, payload = _whole(keys), np.asarray(payload)
        if keys.ndim != 1 or payload.shape[:1] != keys.shape:
            raise ValueError("one payload for each key is needed: the keys have the shape "
                             f"{keys.shape}, the payload {payload.shape}")
        indices = np.arange(len(keys), dtype=np.uint32)
        return self._sort(keys, indices, descending, method), payload[indices]

    def reduce(self, array: Any, operation: str = "sum", *, bins: int = 256,
               shift: int = 0) -> Any:
        """Reduces all elements of an array of uint8, uint16 or uint32.

        "sum": an int, exact to 64 bits. "minimum": a :class:`Minimum`. "histogram": an array of
        `bins` counts, int64, where bin i counts the elements v with v >> shift == i; elements
        beyond the last bin are not counted.
        """
        array = np.asarray(array)
        if array.dtype.kind != "u" or array.dtype.itemsize > 4:
            raise TypeError(
                f"an array of uint8, uint16 or uint32 is needed, and this one has {array.dtype}")
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
        given = ((1, 2, 4).index(array.dtype.itemsize), data.ctypes.data, data.size)
        if operation == "sum":
            total = ctypes.c_uint64()
            self._call("gpume_sum", *given, ctypes.byref(total))
            return total.value
        if operation == "minimum":
            if data.size == 0:
                raise ValueError("an empty array has no minimum")
            least = _abi.Minimum()
            self._call("gpume_minimum", *given, ctypes.byref(least))
            return Minimum(least.value, least.index)
        if operation == "histogram":
            if not 1 <= bins <= _abi.HISTOGRAM_MAX or not 0 <= shift <= 31:
                raise ValueError(f"{bins} bins and a shift of {shift}: 1 to {_abi.HISTOGRAM_MAX} "
                                 "bins and a shift of 0 to 31 are possible")
            counts = np.zeros(bins, np.uint64)
            pointer = counts.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64))
            self._call("gpume_histogram", *given, shift, bins, pointer)
            return counts.astype(np.int64)
        raise ValueError(f"operation: {operation!r} is not one of sum, minimum, histogram")


class Minimum(NamedTuple):
    """The smallest element, and the index of its first place in the raveled array."""

    value: int
    place: int


@functools.lru_cache(maxsize=None)
def _shared() -> Compute:
    return Compute()


os.register_at_fork(after_in_child=_shared.cache_clear)  # the device stays with the parent


def sort(array: Any, *, descending: bool = False, method: str = "auto") -> np.ndarray:
    """As :meth:`Compute.sort`, on the best device, which is opened once."""
    return _shared().sort(array, descending=descending, method=method)


def argsort(array: Any, *, descending: bool = False, method: str = "auto") -> np.ndarray:
    """As :meth:`Compute.argsort`, on the best device, which is opened once."""
    return _shared().argsort(array, descending=descending, method=method)


def sort_pairs(keys: Any, payload: Any, *, descending: bool = False,
               method: str = "auto") -> tuple[np.ndarray, np.ndarray]:
    """As :meth:`Compute.sort_pairs`, on the best device, which is opened once."""
    return _shared().sort_pairs(keys, payload, descending=descending, method=method)


def reduce(array: Any, operation: str = "sum", *, bins: int = 256, shift: int = 0) -> Any:
    """As :meth:`Compute.reduce`, on the best device, which is opened once."""
    return _shared().reduce(array, operation, bins=bins, shift=shift)
