# SPDX-License-Identifier: BSD-2-Clause
"""What this machine has: Vulkan devices, and implementations of the search."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import NamedTuple

from . import _abi
from ._library import library
from .errors import error_of

_TYPES = ("other", "integrated", "discrete", "virtual", "software")


@dataclass(frozen=True)
class Device:
    """A Vulkan device.

    index: for the option `device`
    type: "discrete", "integrated", "virtual", "software" or "other"
    name, driver: as the driver gives them
    memory_bytes: of its largest local heap
    unusable: why gpume cannot use it; "" if it can
    automatic: what backend="auto" takes
    """

    index: int
    type: str
    name: str
    driver: str
    memory_bytes: int
    unusable: str
    automatic: bool


class SearchInfo(NamedTuple):
    """An implementation of the search. All give the same results.

    name: for the option `search`
    backend: "cpu" or "vulkan"
    available: on this processor, or on the device asked about
    automatic: what its engine takes if none is named
    summary: what it is, in a few words
    """

    name: str
    backend: str
    available: bool
    automatic: bool
    summary: str


def _listed(name: str, struct: type[ctypes.Structure], *first: object) -> list:
    """What a function of the library lists; asked twice, since the number is not known before."""
    count, capacity = ctypes.c_uint32(), 0
    while True:
        entries = (struct * capacity)()
        status = getattr(library(), name)(
            *first, entries, ctypes.sizeof(struct), capacity, ctypes.byref(count))
        if status != _abi.OK:
            raise error_of(status, library().gpume_status_text(status).decode())
        if count.value <= capacity:
            return list(entries[:count.value])
        capacity = count.value


def devices() -> list[Device]:
    """The Vulkan devices of this machine; none without Vulkan."""
    return [
        Device(d.index, _TYPES[d.type], d.name.decode(errors="replace"),
               d.driver.decode(errors="replace"), d.memory_bytes,
               d.unusable.decode(errors="replace"), d.automatic)
        for d in _listed("gpume_devices_fill", _abi.Device)]


def searches(device: int | str | None = None) -> list[SearchInfo]:
    """The implementations of the search, each engine's from the plainest to the fastest. device: as
    the option; None: the best one."""
    name = None if device is None else str(device).encode()
    return [
        SearchInfo(s.name.decode(), "cpu" if s.backend == _abi.BACKEND_CPU else "vulkan",
                   s.available, s.automatic, s.summary.decode())
        for s in _listed("gpume_searches_fill", _abi.SearchInfo, name)]
