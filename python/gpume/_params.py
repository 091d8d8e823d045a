# SPDX-License-Identifier: BSD-2-Clause
"""Rows of the library's table of parameters, and what these are called here."""
from __future__ import annotations

from typing import NamedTuple

from . import _abi

# Members whose option has another name.
_KEYWORDS = {
    "window_x": "window", "window_y": "window", "shapes": "block", "shape_count": "block",
    "distances": "ref_distance", "distance_count": "ref_distance", "rate": "lambda_",
    "lambda": "lambda_", "no_elimination": "elimination", "want_predicted": "predicted",
    "want_frames": "keep_frames", "want_returns": "returns"}


class Param(NamedTuple):
    """A member of ``struct gpume_params``."""

    name: str
    keyword: str  # of the option that sets it
    kind: int
    bits: int
    choices: tuple[str, ...]


def param_of(row: _abi.Param) -> Param:
    """A row of the table."""
    name, choices = row.name.decode(), []
    while row.choices and row.choices[len(choices)]:
        choices.append(row.choices[len(choices)].decode())
    return Param(name, _KEYWORDS.get(name, name), row.type, 8 * row.bytes, tuple(choices))


def _named(row: _abi.Param, value: bytes | None) -> str:
    param, text = param_of(row), (value or b"").decode(errors="replace")
    if text in param.choices:
        return f'{param.keyword}="{text}"'
    return f"{param.keyword} {text}".rstrip()


def line_of(message: _abi.Message) -> str:
    """A line of the library's log, with the names of options here."""
    parts = [_named(message.param.contents, message.value) + ":"] if message.param else []
    parts.append(message.text.decode(errors="replace"))
    if message.other:
        parts.append(_named(message.other.contents, message.other_value))
    return " ".join(parts) + (message.rest or b"").decode(errors="replace")
