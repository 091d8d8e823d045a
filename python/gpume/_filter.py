# SPDX-License-Identifier: BSD-2-Clause
"""The temporal filter: frames in, frames without their noise out."""
from __future__ import annotations

import ctypes
from typing import Iterable, Iterator, Sequence, Tuple, TypeVar, Union

import numpy as np

from . import _abi
from ._library import Handle, Log, library, table
from ._memory import as_luma, samples_of
from ._options import choice_of

Planes = Union[np.ndarray, Sequence[np.ndarray]]
Frame = TypeVar("Frame", bound=Planes)


def _planes_of(frame: Planes, bits: int | None) -> tuple[list[np.ndarray], int]:
    """The planes of a frame, with rows that lie in one piece, and the bits of a sample."""
    planes = list(frame) if isinstance(frame, (tuple, list)) else [frame]
    if len(planes) not in (1, _abi.FILTER_PLANES):
        raise ValueError(f"a frame has {len(planes)} planes; it must be luma alone, or luma and two"
                         " planes of chroma; of gpume.Frames, which gives (array, time), pass the array")
    found = [as_luma(plane, bits) for plane in planes]
    if len({used for _, used in found}) > 1:
        raise TypeError("the planes of a frame have samples of different types")
    native = [np.ascontiguousarray(plane, plane.dtype.newbyteorder("=")) for plane, _ in found]
    return native, found[0][1]


def _subsampling(luma: tuple[int, ...], chroma: tuple[int, ...]) -> tuple[int, int]:
    """For x and y: 1 where chroma has half as many samples as luma, 0 where it has as many."""
    shifts = []
    for whole, part in zip(luma[::-1], chroma[::-1]):
        if part not in (whole, (whole + 1) // 2):
            raise ValueError(f"chroma of the shape {chroma} beside luma of {luma}; each side must "
                             "be as long, or half as long")
        shifts.append(int(part != whole))
    return shifts[0], shifts[1]


def _pair_of(window: int | Tuple[int, int]) -> tuple[int, int]:
    pair = window if isinstance(window, (tuple, list)) else (window, window)
    if len(pair) != 2:
        raise ValueError(f"window: {window!r} is neither a number nor (x, y)")
    return pair[0], pair[1]


def _whole(name: str, value: object) -> int:
    if not isinstance(value, (int, np.integer)) or not 0 <= value < 1 << 32:
        raise ValueError(f"{name}: {value!r} is not a whole number that the library takes")
    return int(value)


def _number(name: str, value: object) -> float:
    try:
        return ctypes.c_double(value).value  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{name}: {value!r} is not a number") from None


def filter(
        frames: Iterable[Frame], *, strength: float = 1.0, noise: float | str = "auto",
        radius: int = 4, window: int | Tuple[int, int] = 16, metric: str = "sad",
        despot: bool = False, fields: bool = False, bits: int | None = None, backend: str = "auto",
        device: int | str | None = None, devices: str | None = None, threads: int = 0,
        cache_dir: str | None = None, validate: bool = False,
        spatial: float = 0.0) -> Iterator[Frame]:
    """Removes noise from frames along their motion, as the command ``gpume filter`` does::

        for y, u, v in gpume.filter(frames, strength=2, noise=5):
            ...

    frames: any iterable of arrays (height, width) of luma, or of tuples of luma and two planes of
    chroma, each side of which is as long as luma's or half as long; uint8 or uint16, all frames of
    one shape. The result gives as many frames in the same order and of the same kind, which are the
    caller's own.

    strength: how much of other frames is taken, 0 (nothing) to 2. noise: its standard deviation in
    steps of 8-bit samples, 0 to 50, or "auto": measured in every frame. radius: frames before and
    after each one that are used, 1 to 4. window: largest displacement in pixels, 1 to 128: one
    number, or (x, y). metric: "sad", "satd" or "ssd". despot: first remove dirt, spots that are in
    one frame alone. fields: frames are interlaced; their fields are filtered, each with those of
    the same parity. spatial: how much of the noise that is left is then removed within each
    picture, 0 (nothing) to 2; 1 to restore a video. With strength=0 it needs noise as a number.
    bits: of a sample; of uint16 16 unless given, such as 10. The others are as in
    :class:`gpume.Options`.

    It works on about twenty frames at a time, and opens what it needs when the first result is
    asked for.
    """
    filtered: _Filter | None = None
    try:
        for frame in frames:
            planes, used = _planes_of(frame, bits if filtered is None else filtered.bits)
            if filtered is None:
                params = _params_of(planes, used, strength, spatial, noise, radius, window)
                params.despot, params.fields = despot, fields
                params.metric = choice_of("metric", metric, table()["metric"].choices)
                params.backend = choice_of("backend", backend, table()["backend"].choices)
                params.device = None if device is None else str(device).encode()
                params.devices = None if devices is None else str(devices).encode()
                params.threads = _whole("threads", threads)
                params.cache_dir = None if cache_dir is None else str(cache_dir).encode()
                params.validate = validate
                filtered = _Filter(params, isinstance(frame, (tuple, list)))
            while not filtered.send(planes):
                yield from filtered.receive(1)
        if filtered is not None:
            filtered.finish()
            yield from filtered.receive(None)
            filtered.handle.close()
    finally:
        if filtered is not None:
            filtered.handle.stop()


def _params_of(planes: list[np.ndarray], bits: int, strength: float, spatial: float,
               noise: float | str, radius: int, window: int | Tuple[int, int]) -> _abi.FilterParams:
    params = _abi.filled(_abi.FilterParams, library().gpume_filter_params_fill)
    params.height, params.width = planes[0].shape
    params.bits, params.plane_count = bits, len(planes)
    if len(planes) > 1:
        params.chroma_x, params.chroma_y = _subsampling(planes[0].shape, planes[1].shape)
    params.strength, params.spatial = _number("strength", strength), _number("spatial", spatial)
    if isinstance(noise, str) and noise != "auto":
        raise ValueError(f"noise: {noise!r} is neither a number nor 'auto'")
    if not isinstance(noise, str):
        params.sigma = _number("noise", noise)
        if not 0 <= params.sigma <= _abi.FILTER_SIGMA_MAX:
            raise ValueError(f"noise: {noise} is not from 0 to {_abi.FILTER_SIGMA_MAX:g}")
    elif 0 <= params.strength < 1 / 64 <= params.spatial:  # strength is rounded to 0, spatial is not
        raise ValueError("spatial: with strength 0 the noise is not measured; give noise a number")
    params.radius = _whole("radius", radius)
    params.window_x, params.window_y = (_whole("window", side) for side in _pair_of(window))
    return params


class _Filter:
    """An open filter of the library."""

    def __init__(self, params: _abi.FilterParams, several: bool) -> None:
        log = Log()
        params.log = log.callback
        params.keep = log.callback  # until the filter is closed
        self._count, self.bits = params.plane_count, params.bits
        self._several = several  # frames are tuples
        self.handle = Handle(
            "gpume_filter_open", "gpume_filter_close", params, log, "gpume_filter_cancel")

    def send(self, planes: list[np.ndarray]) -> bool:
        """False: a result must be received first."""
        if len(planes) != self._count:
            raise ValueError(f"a frame has {len(planes)} planes, and the first one {self._count}")
        frame = _abi.FilterFrame(size=ctypes.sizeof(_abi.FilterFrame))
        for i, plane in enumerate(planes):
            height, width = plane.shape
            frame.planes[i] = _abi.Plane(
                plane.ctypes.data, plane.strides[0], width, height, self.bits)
        status = self.handle.call("gpume_filter_send", ctypes.byref(frame))
        return self.handle.log.check(status) == _abi.OK

    def finish(self) -> None:
        self.handle.log.check(self.handle.call("gpume_filter_finish"))

    def receive(self, most: int | None) -> Iterator:
        """At most this many results; None: all of them."""
        receive = library().gpume_filter_receive
        while most is None or most > 0:
            result = _abi.FilterResult(size=ctypes.sizeof(_abi.FilterResult))
            status = self.handle.wait_for(
                lambda pointer: receive(pointer, ctypes.byref(result)), self._cancel)
            if self.handle.log.check(status) != _abi.OK:
                return
            planes = tuple(samples_of(result.planes[i]) for i in range(self._count))
            yield planes if self._several else planes[0]
            most = None if most is None else most - 1

    def _cancel(self) -> None:
        self.handle.call("gpume_filter_cancel")
