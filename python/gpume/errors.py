# SPDX-License-Identifier: BSD-2-Clause
"""Exceptions: one class per status of the library, most of them also a built-in exception."""
from __future__ import annotations


class GpumeError(Exception):
    """What the library or the command could not do. The text is its own message.

    status: the value of ``enum gpume_status``, such as -3 for GPUME_INVALID.
    """

    status: int = 0

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        if status is not None:
            self.status = status


class InvalidError(GpumeError, ValueError):
    """An argument or a parameter is out of range, or does not go with another one."""

    status = -3


class NoMemoryError(GpumeError, MemoryError):
    """Host memory ran out."""

    status = -4


class InputOutputError(GpumeError, OSError):
    """Reading or writing failed."""

    status = -5


class FormatError(GpumeError, ValueError):
    """The input cannot be used: it does not exist, is no video, or is damaged."""

    status = -6


class UnsupportedError(GpumeError, NotImplementedError):
    """This build, processor or device cannot do it."""

    status = -7


class DeviceError(GpumeError, RuntimeError):
    """There is no usable device, or its memory ran out."""

    status = -8


class DeviceLostError(DeviceError):
    """The device stopped working."""

    status = -9


class CancelledError(GpumeError):
    """The run was cancelled."""

    status = -10


_BY_STATUS = {
    error.status: error
    for error in (
        InvalidError, NoMemoryError, InputOutputError, FormatError, UnsupportedError, DeviceError,
        DeviceLostError, CancelledError)
}


def error_of(status: int, message: str) -> GpumeError:
    """The exception for a status."""
    return _BY_STATUS.get(status, GpumeError)(message, status)
