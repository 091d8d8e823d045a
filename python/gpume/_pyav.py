# SPDX-License-Identifier: BSD-2-Clause
"""Video through PyAV, where the command is not installed: luma planes alone, of files alone."""
from __future__ import annotations

import os
import re
import sys
from fractions import Fraction
from typing import Any, Iterator

import numpy as np

from ._command import missing_command
from .errors import FormatError, InvalidError, UnsupportedError

# Those whose first plane is luma, in as many bits as a sample has.
_LUMA_FIRST = re.compile(r"(yuv[aj]?4\d\dp|gray|nv(12|16|21|24))(\d+le)?")
_MAX_PIXELS = 268435456
_left: list[object] = []


class Decoder:
    """An open video; an iterator of (array, time)."""

    def __init__(self, path: str | os.PathLike[str], *, stream: int | None,
                 decode_threads: int | None, max_pixels: int | None, **others: Any) -> None:
        try:
            import av
        except ImportError:
            raise missing_command(
                "decodes video", "or install PyAV (python3-av, pip install av)") from None
        for name, value in others.items():
            if value:
                raise UnsupportedError(
                    f"{name} needs the command gpume, which is not found: PyAV decodes this video")
        self._path, self._errors = os.fspath(path), av.error.FFmpegError
        self._owner = os.getpid()
        try:
            self._file: Any = sys.stdin.buffer if self._path == "-" else open(self._path, "rb")
        except OSError as error:
            raise FormatError(f"{self._path}: {error.strerror}") from None
        try:
            # Nothing that the file refers to is opened.
            self._container = av.open(self._file, options={"protocol_whitelist": "pipe"})
            videos = self._container.streams.video
            if (stream or 0) >= len(videos):
                error = FormatError if stream is None else InvalidError
                raise error(f"{self._path}: no video stream" + (f" {stream}" if stream else ""))
            self._stream = videos[stream or 0]
            # Without threads, which a child by fork() would not have and yet wait for.
            self._stream.codec_context.thread_count = decode_threads or 1
            self.width = self._stream.codec_context.width
            self.height = self._stream.codec_context.height
            self.rate = float(self._stream.average_rate or Fraction(25))
            if self.width * self.height > (max_pixels or _MAX_PIXELS):
                raise FormatError(
                    f"{self._path}: {self.width}x{self.height} pixels, more pixels than max_pixels "
                    f"{max_pixels or _MAX_PIXELS}")
            self._format = self._stream.codec_context.format
            if not self._format or not _LUMA_FIRST.fullmatch(self._format.name):
                raise UnsupportedError(
                    f"{self._path}: pixels of the format {self._format and self._format.name} have "
                    "no plane of luma; the command gpume, which is not found, converts them")
            self.bits = self._format.components[0].bits
        except BaseException as error:
            self.close()
            if isinstance(error, self._errors):
                raise FormatError(f"{self._path}: not a video that can be read: {error}") from None
            raise

    def __iter__(self) -> Iterator[tuple[np.ndarray, float]]:
        sample = np.dtype("u1" if self.bits <= 8 else "<u2")
        try:
            for frame in self._container.decode(self._stream):
                plane = frame.planes[0]
                if (frame.width, frame.height, frame.format.name) != (
                        self.width, self.height, self._format.name):
                    raise UnsupportedError(
                        f"{self._path}: frames change their size or format, which needs the "
                        "command gpume")
                rows = np.frombuffer(plane, sample)
                rows = rows.reshape(-1, plane.line_size // sample.itemsize)
                luma = rows[:self.height, :self.width].astype(sample.newbyteorder("="))
                yield luma, float(frame.time or 0)
        except self._errors as error:
            raise FormatError(f"{self._path}: damaged: {error}") from None

    def close(self) -> None:
        """Releases the video. A child by fork() leaves it to the parent."""
        if os.getpid() != self._owner:
            _left.append(self)
            return
        if hasattr(self, "_container"):
            self._container.close()
        if self._path != "-":
            self._file.close()
