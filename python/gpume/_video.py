# SPDX-License-Identifier: BSD-2-Clause
"""Video: the frames that the command `gpume luma` decodes, and the pairs of a search over them.

The command runs as a separate process, which has several advantages over decoding in this one:
the package needs no compiler; frames are sample for sample those that the command searches; and a
damaged or malicious video can end no more than that process.
"""
from __future__ import annotations

import io
import itertools
import logging
import os
import re
import shutil
import subprocess
import tempfile
import weakref
from typing import IO, TYPE_CHECKING, Any, Iterator, Mapping, cast

import numpy as np

from ._context import Context
from ._options import Options
from ._pair import Pair
from .errors import GpumeError, UnsupportedError, error_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

# By exit status: wrong options, an input that cannot be used, no device.
_STATUSES = {2: -3, 3: -6, 4: -8}
_LINE_MAX = 1024
# As the command takes them.
_SWITCHES = {
    "vf": "--vf", "stream": "--stream", "hwaccel": "--hwaccel", "decode_threads": "--threads",
    "timeout": "--timeout", "max_pixels": "--max-pixels"}
_FLAGS = {"allow_network": "--allow-network", "allow_files": "--allow-files"}
_KEYWORDS = {switch: name for name, switch in {**_SWITCHES, **_FLAGS}.items()}


def _in_python(line: str) -> str:
    """A line of the command, with the names of keywords in place of its options."""
    words = re.sub(r"(?<!\S)--[a-z-]+", lambda found: _KEYWORDS.get(found[0], found[0]), line)
    return words.removeprefix("gpume: ").removeprefix("warning: ")


def _command() -> str:
    named = os.environ.get("GPUME_COMMAND")
    found = shutil.which(named or "gpume")
    if not found:
        advice = ("correct the environment variable GPUME_COMMAND" if named else
                  "install it, or set the environment variable GPUME_COMMAND to its path")
        raise UnsupportedError(
            f"the command {named or 'gpume'}, which decodes video, is not found; {advice}")
    return found


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
        arguments = [
            word for name, value in given.items() if value is not None
            for word in (_SWITCHES[name], str(value))]
        arguments += [_FLAGS[name] for name, on in (
            ("allow_network", allow_network), ("allow_files", allow_files)) if on]
        words = [_command(), "luma", "--no-progress", *arguments, "--", os.fspath(path)]
        errors = self._errors = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                words, stdin=None if words[-1] == "-" else subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=errors)
        except BaseException:
            errors.close()
            raise
        self._output = cast(io.BufferedReader, self._process.stdout)
        self._owner = os.getpid()
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
                f"{_command()} writes no frames; install the gpume of this package")
        self.width, self.height, numerator, denominator, self.bits = map(int, found.groups())
        self.rate = numerator / denominator

    def _end(self) -> None:
        """The process has ended its output: raises what it says if it failed, logs it if not."""
        status = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").splitlines()
        self.close()
        said = [_in_python(line) for line in lines]
        if status != 0:
            words = "; ".join(said) or f"the command that decodes ended with status {status}"
            raise error_of(_STATUSES.get(status, -5), words)
        for line in said:
            logging.getLogger("gpume").warning(line)

    def __iter__(self) -> Iterator[tuple[np.ndarray, float]]:
        return self

    def __next__(self) -> tuple[np.ndarray, float]:
        if os.getpid() != self._owner:
            raise ValueError("the decoder belongs to the process that opened it, of which this one"
                             " is a child; open the video here")
        if not self._finalizer.alive:
            raise StopIteration
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
