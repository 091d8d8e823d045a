# SPDX-License-Identifier: BSD-2-Clause
"""Contexts: frames in, pairs out; and the search of a single pair."""
from __future__ import annotations

import collections
import ctypes
import operator
from typing import TYPE_CHECKING, Generator, Iterable, Iterator, NamedTuple

import numpy as np

from . import _abi
from ._library import Handle, library
from ._memory import as_luma, view_of
from ._options import Options, Setup
from ._pair import Pair, pair_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Info(NamedTuple):
    """What a context runs on.

    backend: "vulkan" or "cpu"
    device, driver: names; driver is "" for the CPU
    search: the implementation of the search
    candidates: vectors tried for a block that lies far from any edge
    host_bytes, device_bytes: planned memory
    standby: the engine that took over when a GPU failed, if one did
    """

    backend: str
    device: str
    driver: str
    search: str
    candidates: int
    host_bytes: int
    device_bytes: int
    standby: str | None


def _microseconds(time: float) -> int:
    """A time as the library takes it. ValueError: not a number, or beyond 64 bits."""
    try:
        number = round(time * 1e6)
    except (OverflowError, ValueError):  # infinity, NaN
        number = 1 << 63
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"time: {time} seconds cannot be a time of presentation")
    return number


class Context:
    """A run over frames of one size: send frames in presentation order, receive pairs.

    ::

        with gpume.Context(width, height, block=16, window=32) as context:
            for pair in context.pairs(frames):
                print(pair.frame, pair.vectors.shape)

    or step by step, when frames come one at a time::

        context.send(frame)
        for pair in context:            # what is complete by now
            ...
        context.finish()                # no more frames
        for pair in context:            # the rest
            ...

    width, height: pixels. bits: of a sample, 8 to 16; frames are arrays (height, width) of uint8,
    or above 8 bits of uint16. For the options see :class:`gpume.Options`.

    Pairs come by rising target, for one target by rising distance, the past before the future. They
    own their arrays. One thread at a time may use a context; `cancel` and `close` may be called by
    any. Ctrl-C while the main thread waits for a pair cancels the run. A context belongs to the
    process that opened it: in a child by fork(), as of multiprocessing, its methods raise
    ValueError, and closing it does nothing.
    """

    def __init__(
            self, width: int, height: int, bits: int = 8, **options: Unpack[Options]) -> None:
        self._setup = Setup(width, height, bits, options)
        self._handle = Handle(
            "gpume_open", "gpume_close", self._setup.params, self._setup.log, "gpume_cancel")
        self._waiting: collections.deque[Pair] = collections.deque()
        self._size = (self._setup.params.height, self._setup.params.width)
        self._finished = False

    def __enter__(self) -> Context:
        return self

    def __exit__(self, error_type: object, *_: object) -> None:
        if error_type is None:
            self.close()
        else:  # which says more than what closing finds
            self._handle.stop()

    def close(self) -> None:
        """Stops all work and releases everything. Pairs that were received stay valid. Cancels and
        awaits a call of another thread. Raises the first failure of the run, such as a message of
        the validation layer."""
        self._handle.close()

    def _call(self, name: str, *arguments: object) -> int:
        return self._setup.check(self._handle.call(name, *arguments))

    def _receive(self) -> None:
        """Moves the next field, if one is under way, into the waiting pairs. A copy: the library
        never waits for a field that the program still holds."""
        self._handle.run(self._receive_field)

    def _receive_field(self, _: ctypes.c_void_p) -> None:
        field = ctypes.POINTER(_abi.Field)()
        receive = library().gpume_receive
        try:
            status = self._handle.wait_for(
                lambda pointer: receive(pointer, ctypes.byref(field), 0), self.cancel)
            if self._setup.check(status) == _abi.OK:
                self._waiting.append(pair_of(field.contents, self._setup.params))
        finally:
            library().gpume_field_release(ctypes.byref(field))

    def _insist(self, name: str, *arguments: object) -> None:
        """Repeats a call that has to wait for room, and makes room by receiving."""
        while self._call(name, *arguments) == _abi.AGAIN:
            self._receive()

    def send(self, frame: np.ndarray, time: float = 0.0) -> None:
        """Sends a copy of the next frame. frame: any array (height, width) of uint8, or above 8
        bits of uint16, contiguous or not. time: presentation time in seconds, for pair.time; up to
        292,000 years either way.

        Pairs that are complete meanwhile wait to be received.
        """
        if self._finished:
            raise ValueError("the context has had its last frame; open another one for more")
        time_us = _microseconds(time)
        luma, _ = as_luma(frame, self._setup.params.bits)
        if luma.shape != self._size:
            raise ValueError(f"a frame of the shape {luma.shape}; the context has {self._size}")
        self._handle.run(lambda _: self._send(luma, time_us))

    def _send(self, luma: np.ndarray, time_us: int) -> None:
        handle, plane = ctypes.c_void_p(), _abi.Plane()
        try:
            self._insist("gpume_frame_acquire", ctypes.byref(handle), ctypes.byref(plane), 0)
            view_of(plane)[:] = luma
            self._call("gpume_send", ctypes.byref(handle), time_us)
        finally:  # nothing, if it was sent
            library().gpume_frame_release(ctypes.byref(handle))

    def search(self, target: int, reference: int, *more: int, tag: int = 0) -> None:
        """With direction="manual": asks for the pair of two frames by their indices, both among the
        newest that have been sent, as far back as the largest ref_distance. more: with
        best_reference, more references. tag: any number from 0 to 2^64 - 1; pair.tag has it."""
        for name, number in (("target", target), ("reference", reference), ("tag", tag),
                             *(("reference", other) for other in more)):
            if not 0 <= operator.index(number) < 1 << 64:
                raise ValueError(f"{name}: {number} is not a number of 64 bits")
        task = _abi.Task(
            size=ctypes.sizeof(_abi.Task), target=target, reference=reference, tag=tag,
            more_count=len(more))
        if len(more) > len(task.more):
            raise ValueError(f"{1 + len(more)} references; {1 + len(task.more)} are possible")
        task.more[:len(more)] = more
        self._insist("gpume_search", ctypes.byref(task))

    def finish(self) -> None:
        """No more frames will be sent."""
        self._call("gpume_finish")
        self._finished = True

    def receive(self) -> Pair | None:
        """The next pair; waits for it while one is under way. None: no more pairs before another
        frame is sent, or after finish() none at all."""
        if not self._waiting:
            self._receive()
        return self._waiting.popleft() if self._waiting else None

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.receive, None)

    def pairs(
            self, frames: Iterable[np.ndarray | tuple[np.ndarray, float]],
    ) -> Generator[Pair, None, None]:
        """Sends all frames and gives all pairs, with as many frames under way as the engine takes,
        so that it never waits. frames: arrays, or (array, time) pairs with times in seconds.

        A context takes one sequence of frames, and cannot take another one, also if the loop over
        the pairs is left early."""
        try:
            for frame in frames:
                self.send(*frame) if isinstance(frame, tuple) else self.send(frame)
                while self._waiting:
                    yield self._waiting.popleft()
            self.finish()
            yield from self
        finally:
            self._finished = True

    @property
    def frames_needed(self) -> int | None:
        """How many frames from the first one the targets need; None: all that there are."""
        params = self._setup.params
        if params.target_count == 0:
            return None
        distances = params.distances[:params.distance_count]
        ahead = 0 if params.direction == _abi.DIRECTION_PAST else max(distances)
        return max(0, params.first_target + params.target_count + ahead - params.first_frame)

    def cancel(self) -> None:
        """Ends the run early, from any thread: calls raise CancelledError."""
        self._handle.call("gpume_cancel")

    @property
    def info(self) -> Info:
        """What the context runs on."""
        info = _abi.Info(size=ctypes.sizeof(_abi.Info))
        self._call("gpume_info_fill", ctypes.byref(info))

        def value(name: str):
            found = getattr(info, name)
            return found.decode(errors="replace") if isinstance(found, bytes) else found

        return Info(*map(value, Info._fields))

    def stats(self) -> dict[str, float]:
        """Seconds that the engine spent in each of its stages so far, and "busy": all together."""
        stats = _abi.Stats(size=ctypes.sizeof(_abi.Stats))
        self._call("gpume_stats_fill", ctypes.byref(stats))
        stages = {s.name.decode(): s.ns / 1e9 for s in stats.stages[:stats.stage_count]}
        return {"busy": stats.busy_ns / 1e9, **stages}


def search(
        reference: np.ndarray, target: np.ndarray, *, bits: int | None = None,
        **options: Unpack[Options]) -> Pair:
    """Searches every block of `target` in `reference`.

    Both are arrays (height, width) of luma, uint8 or uint16, contiguous or not. bits: of a sample;
    of uint16 arrays 16 unless given, such as 10. For the options see :class:`gpume.Options`; those
    of several frames need a :class:`gpume.Context`, which is also faster for many pairs, since it
    opens the engine once. In the result, frame is 1 and ref is 0.
    """
    several = ("ref_distance", "direction", "best_reference", "bidirectional", "first_frame",
               "first_target", "target_count")
    for name in several:
        if name in options:
            raise TypeError(f"{name} concerns several frames; use gpume.Context")
    first, bits = as_luma(reference, bits)
    second, _ = as_luma(target, bits)
    if first.shape != second.shape:
        raise ValueError(
            f"the reference has the shape {first.shape} and the target {second.shape}")
    height, width = first.shape
    with Context(width, height, bits, **options) as context:
        (pair,) = context.pairs([first, second])
    return pair
