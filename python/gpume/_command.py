# SPDX-License-Identifier: BSD-2-Clause
"""The command `gpume`: where it is, and what it says, in the words of this package."""
from __future__ import annotations

import os
import re
import shutil

from .errors import GpumeError, UnsupportedError, error_of

# By exit status: wrong options, an input that cannot be used, no device.
_STATUSES = {2: -3, 3: -6, 4: -8}
# As the command takes them.
SWITCHES = {
    "vf": "--vf", "stream": "--stream", "hwaccel": "--hwaccel", "decode_threads": "--threads",
    "timeout": "--timeout", "max_pixels": "--max-pixels"}
FLAGS = {"allow_network": "--allow-network", "allow_files": "--allow-files"}
_KEYWORDS = {switch: name for name, switch in {**SWITCHES, **FLAGS}.items()}


def find_command() -> str | None:
    """The command's path; None if it is not found."""
    return shutil.which(os.environ.get("GPUME_COMMAND") or "gpume")


def missing_command(purpose: str, otherwise: str = "") -> UnsupportedError:
    """The error that the command is not found, which says what it is needed for."""
    named = os.environ.get("GPUME_COMMAND")
    advice = ("correct the environment variable GPUME_COMMAND" if named else
              "install it, or set the environment variable GPUME_COMMAND to its path")
    return UnsupportedError(", ".join(filter(None, (
        f"the command {named or 'gpume'}, which {purpose}, is not found; {advice}", otherwise))))


def command_path(purpose: str) -> str:
    """The command's path. UnsupportedError if it is not found."""
    found = find_command()
    if not found:
        raise missing_command(purpose)
    return found


def lines_of(errors: bytes) -> list[str]:
    """The command's lines, with the names of keywords in place of its options."""
    lines = errors.decode(errors="replace").splitlines()
    words = [re.sub(r"(?<!\S)--[a-z-]+", lambda found: _KEYWORDS.get(found[0], found[0]), line)
             for line in lines]
    return [line.removeprefix("gpume: ").removeprefix("warning: ") for line in words]


def exception_of(status: int, errors: bytes) -> GpumeError:
    """The exception for what the command said before it failed with an exit status."""
    words = "; ".join(lines_of(errors)) or f"the command gpume ended with status {status}"
    return error_of(_STATUSES.get(status, -5), words)
