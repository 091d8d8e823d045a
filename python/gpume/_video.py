# SPDX-License-Identifier: BSD-2-Clause
"""Video: the frames that the command `gpume luma` decodes, and the pairs of a search over them.

The command runs as a separate process, which has several advantages over decoding in this one:
the package needs no compiler; frames are sample for sample those that the command searches; and a
damaged or malicious video can end no more than that process. Where the command is not installed,
PyAV decodes in this one.
"""
from __future__ import annotations

import io
import itertools
import logging
import os
import re
import subprocess
import tempfile
import weakref
from typing import IO, TYPE_CHECKING, Any, Iterator, Mapping, cast

import numpy as np

from ._command import FLAGS, SWITCHES, command_path, exception_of, find_command, lines_of
from ._context import Context
from ._options import Options
from ._pair import Pair
from ._pyav import Decoder
from .errors import GpumeError, UnsupportedError

if TYPE_CHECKING:
    from typing_extensions import Unpack

_LINE_MAX = 1024


def _stop(process: subprocess.Popen, output: IO[bytes], errors: IO[bytes], owner: int) -> None:
    """Ends the process, whatever it is doing; in a child by fork(), only what that has of it."""
    if os.getpid() != owner:
        process.returncode = 0  # or it would be waited for
        for file in (output, errors):  # without the locks that a thread of the parent may have
            cast(io.BufferedReader, file).raw.close()
        return
    output.close()
    process.terminate()
    process.wait()
    errors.close()


class Frames:
    """The luma of a video's frames, in presentation order: an iterator of (array, time).

    Arrays (height, width) are uint8, or above 8 bits uint16, and the caller's own; times are in
    seconds. A context manager; also ends when it is collected.

    Attributes: width and height in pixels, bits of a sample, rate: mean frames per second, 25 if
    unknown. For the keywords see :func:`gpume.open`.
    """

    width: int
    height: int
    bits: int
    rate: float

    def __init__(
            self, path: str | os.PathLike[str], *, vf: str | None = None,
            stream: int | None = None, hwaccel: str | None = None,
            decode_threads: int | None = None, timeout: float | None = None,
            max_pixels: int | None = None, allow_network: bool = False,
            allow_files: bool = False) -> None:
        given = {"vf": vf, "stream": stream, "hwaccel": hwaccel, "decode_threads": decode_threads,
                 "timeout": timeout, "max_pixels": max_pixels}
        self._owner = os.getpid()
        self._decoded: Iterator[tuple[np.ndarray, float]] | None = None
        if not find_command() and not os.environ.get("GPUME_COMMAND"):
            decoder = Decoder(path, **given, allow_network=allow_network, allow_files=allow_files)
            self.width, self.height = decoder.width, decoder.height
            self.bits, self.rate = decoder.bits, decoder.rate
            self._decoded = iter(decoder)
            self._finalizer = weakref.finalize(self, decoder.close)
            return
        arguments = [
            word for name, value in given.items() if value is not None
            for word in (SWITCHES[name], str(value))]
        arguments += [FLAGS[name] for name, on in (
            ("allow_network", allow_network), ("allow_files", allow_files)) if on]
        words = [command_path("decodes video"), "luma", "--no-progress", *arguments, "--",
                 os.fspath(path)]
        errors = self._errors = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                words, stdin=None if words[-1] == "-" else subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=errors)
        except BaseException:
            errors.close()
            raise
        self._output = cast(io.BufferedReader, self._process.stdout)
        self._finalizer = weakref.finalize(
            self, _stop, self._process, self._output, errors, self._owner)
        try:
            self._read_head()
        except BaseException:
            self.close()
            raise

    def _read_head(self) -> None:
        line = self._output.readline(_LINE_MAX).decode(errors="replace")
        if not line:
            self._end()
        found = re.fullmatch(r"YUV4MPEG2 W(\d+) H(\d+) F(\d+):(\d+) .* XBITS=(\d+)\n", line)
        if not found:
            raise UnsupportedError(
                f"{find_command()} writes no frames; install the gpume of this package")
        self.width, self.height, numerator, denominator, self.bits = map(int, found.groups())
        self.rate = numerator / denominator

    def _end(self) -> None:
        """The process has ended its output: raises what it says if it failed, logs it if not."""
        status = self._process.wait()
        self._errors.seek(0)
        errors = self._errors.read()
        self.close()
        if status != 0:
            raise exception_of(status, errors)
        for line in lines_of(errors):
            logging.getLogger("gpume").warning(line)

    def __iter__(self) -> Iterator[tuple[np.ndarray, float]]:
        return self

    def __next__(self) -> tuple[np.ndarray, float]:
        if os.getpid() != self._owner:
            raise ValueError("the decoder belongs to the process that opened it, of which this one"
                             " is a child; open the video here")
        if not self._finalizer.alive:
            raise StopIteration
        if self._decoded:
            return next(self._decoded)
        line = self._output.readline(_LINE_MAX)
        if not line:
            self._end()
            raise StopIteration
        frame = np.empty((self.height, self.width), "u1" if self.bits <= 8 else "<u2")
        head = line.startswith(b"FRAME XTIME_US=")
        if not head or self._output.readinto(frame.data) != frame.nbytes:
            self._end()
            raise GpumeError("the command that decodes ended within a frame")
        return frame.astype(frame.dtype.newbyteorder("="), copy=False), int(line[15:]) / 1e6

    def __enter__(self) -> Frames:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the decoding."""
        self._finalizer()


class Video:
    """The pairs of a search over a video's frames: an iterator, and a context manager.

    Attributes: width and height in pixels, bits of a sample, rate: mean frames per second, 25 if
    unknown; context: the :class:`gpume.Context` that searches, for its info and stats.
    """

    def __init__(self, frames: Frames, options: Mapping[str, Any]) -> None:
        self._frames = frames
        self.width, self.height, self.bits = frames.width, frames.height, frames.bits
        self.rate = frames.rate
        self.context = Context(self.width, self.height, self.bits, **options)
        self._pairs = self.context.pairs(itertools.islice(frames, self.context.frames_needed))

    def __iter__(self) -> Iterator[Pair]:
        return self

    def __next__(self) -> Pair:
        try:
            return next(self._pairs)
        except StopIteration:
            self.close()
            raise
        except BaseException:
            self.__exit__(BaseException)
            raise

    def __enter__(self) -> Video:
        return self

    def __exit__(self, error_type: object, *_: object) -> None:
        self._frames.close()
        self._pairs.close()
        self.context.__exit__(error_type)

    def close(self) -> None:
        """Ends decoding and search. Raises the first failure of the search."""
        self.__exit__(None)


def open(
        path: str | os.PathLike[str], *, vf: str | None = None, stream: int | None = None,
        hwaccel: str | None = None, decode_threads: int | None = None,
        timeout: float | None = None, max_pixels: int | None = None, allow_network: bool = False,
        allow_files: bool = False, **options: Unpack[Options]) -> Video:
    """Searches a video, or anything else that the command `gpume` reads::

        for pair in gpume.open("clip.mp4", block=16, window=32):
            print(pair.frame, pair.vectors.shape)

    path: a file, a numbered pattern ("frame%03d.png"), or "-" for standard input. vf, stream,
    hwaccel, timeout, max_pixels, allow_network and allow_files are options of the command that
    decodes, see gpume-luma(1), and so is decode_threads, its option threads. All others are in
    :class:`gpume.Options`.

    Without the command, PyAV decodes if it is installed: files alone, luma planes alone, and of the
    keywords above stream, decode_threads (default 1) and max_pixels.

    The result is an iterator of pairs by rising target frame, and a context manager, which ends
    the decoding if the loop is left early. An input that cannot be used raises FormatError in the
    command's words; its warnings, such as damage that was concealed, are logged.
    """
    frames = Frames(
        path, vf=vf, stream=stream, hwaccel=hwaccel, decode_threads=decode_threads, timeout=timeout,
        max_pixels=max_pixels, allow_network=allow_network, allow_files=allow_files)
    try:
        if options.get("direction") == "manual":
            raise ValueError(
                "direction: 'manual' is for gpume.Context, whose search asks for pairs")
        return Video(frames, options)
    except BaseException:
        frames.close()
        raise
