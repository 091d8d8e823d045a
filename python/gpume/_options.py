# SPDX-License-Identifier: BSD-2-Clause
"""Options of a search: their names, and how they become ``struct gpume_params``."""
from __future__ import annotations

import ctypes
import difflib
import math
from typing import Any, Callable, Mapping, Sequence, Tuple, TypedDict, Union

import numpy as np

from . import _abi
from ._library import Log, library, table

Shape = Tuple[int, int]
Block = Union[int, str, Shape, Sequence[Union[int, str, Shape]]]
Predictor = Union[str, Callable[[int, int], Any]]


class Options(TypedDict, total=False):
    """The options of :func:`gpume.open`, :func:`gpume.search` and :class:`gpume.Context`.

    All are keywords. They have the meanings and the defaults of the command's options and of the
    members of ``struct gpume_params``, which gpume.h documents.

    block: Blocks, in pixels: a side (16), a shape as (width, height) or "16x8", or a list of them.
        "64..8" means the squares from 64 down by halves, "64..8+rect" also their halves. Default 8.
    window: Largest displacement in pixels, 0 to 512: one number, or (x, y). Default 7.
    edge: "extend" (default): outside the reference lie its nearest edge samples; "inside": only
        matches that lie wholly inside the reference.
    metric: "sad" (default), "satd" or "ssd".
    subpel: Vectors in whole (1, default), half (2) or quarter (4) pixels.
    interpolation: What lies between samples: "h264" (default), "hevc" or "bilinear".
    subpel_search: "refine" (default): around the best whole pixel; "full": every fraction is a
        candidate.
    refine_metric: Refine fractions by another metric than the search: "sad", "satd" or "ssd".
    lambda_: Price of a bit of a vector, 0 to 1000, kept in 1/256. Costs then include the price.
    qp: The lambda that encoders use at this QP: 2^((qp - 12) / 6). Instead of lambda_.
    predictor: What bits are counted from: "zero" (default), "median", or a function that is called
        with (frame, ref) and returns an array (rows, cols, 2) in pixels, of several shapes a list
        of them. It runs on a thread of the library and must not use the context. Needs a lambda.
    passes: Passes with predictor="median", 1 to 8. Default 2.
    ref_distance: Frames between target and reference, or a list of such distances. Default 1.
    direction: Where references lie: "past" (default), "future" or "both". With "manual" a Context
        searches only the pairs that its method search asks for.
    best_reference: One pair per target: every block keeps its best match in all references.
    bidirectional: Blocks may also be predicted by the mean of a past and a future match. Implies
        both directions and best_reference.
    partition: Choose among the shapes for each block of the largest square. Needs a lambda above 0.
    candidates: Matches per block, 1 to 8. Default 1. With subpel_search="refine" they are chosen and
        ordered among whole pixels and then refined, so a later one may cost less.
    confidence: Find how reliable the vectors are: second, ties, texture and returns of layers.
    prefilter: Filter before the search: "gauss:S", "box:N", "median:N", "bilateral:S,R", or an
        array of weights with odd sides.
    backend: "auto" (default), "vulkan" or "cpu".
    device: Vulkan device: its number in gpume.devices(), or a part of its name.
    devices: Several devices, which share the work: "all", or a list such as "0,1" or "0,cpu".
    threads: Threads of the CPU engine. Default 0: one per processor.
    search: Name of an implementation of the search; affects speed only.
    elimination: False: compare every candidate in full; affects speed only. Default True.
    cache_dir: Folder for files that make the next start faster, such as compiled kernels. None is
        used unless given.
    memory_max: Refuse to run if more bytes of memory would be needed. Default 0: no limit.
    check: Search every pair a second time with the reference search: pair.checked, pair.matched.
    validate: Use the Vulkan validation layer; any message makes the run fail.
    predicted: Make predicted frames: pair.predicted. Default True; False is faster.
    keep_frames: Keep the frames: pair.target and pair.reference. Default False.
    returns: Layers have returns in both directions, also without confidence. Default False.
    first_frame: Index of the first frame. Default 0.
    first_target, target_count: Only these frames are targets: `target_count` frames from the index
        `first_target` on, of them those that have a reference. So with the default 0 as the first,
        a count of 3 gives the pairs of frames 1 and 2. Default: all.
    """

    block: Block
    window: int | tuple[int, int]
    edge: str
    metric: str
    subpel: int
    interpolation: str
    subpel_search: str
    refine_metric: str
    lambda_: float
    qp: float
    predictor: Predictor
    passes: int
    ref_distance: int | Sequence[int]
    direction: str
    best_reference: bool
    bidirectional: bool
    partition: bool
    candidates: int
    confidence: bool
    prefilter: Any
    backend: str
    device: int | str
    devices: str
    threads: int
    search: str
    elimination: bool
    cache_dir: str
    memory_max: int
    check: bool
    validate: bool
    predicted: bool
    keep_frames: bool
    returns: bool
    first_frame: int
    first_target: int
    target_count: int


_NAMES = frozenset(Options.__annotations__)
# Options of the command that have another name here.
_RENAMED = {
    "start": "first_target", "frames": "target_count", "max_memory": "memory_max",
    "no_elimination": "elimination"}

# Options that are not simply the value of a member.
_COMPOSED = frozenset(
    ("block", "window", "ref_distance", "lambda_", "predictor", "prefilter", "elimination"))


def _number(name: str, value: Any, bits: int = 32) -> int:
    """A whole number that the C type can hold; the library checks its range."""
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"{name}: {value!r} is not a whole number") from None
    if not 0 <= number < 1 << bits:
        raise ValueError(f"{name}: {number} is not between 0 and 2^{bits} - 1")
    return number


def _real(name: str, value: Any) -> float:
    try:
        real = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {value!r} is not a number") from None
    if not math.isfinite(real):
        raise ValueError(f"{name}: {real} is not a finite number")
    return real


def choice_of(name: str, value: Any, choices: Sequence[str]) -> int:
    """The place of a word among those that an option takes."""
    if value not in choices:
        raise ValueError(f"{name}: {value!r} is not one of {', '.join(choices)}")
    return choices.index(value)


def _halves(text: str) -> list[Shape]:
    """The squares of "64..8", or with "+rect" also their halves but of the smallest."""
    span, _, rect = text.partition("+")
    first, _, last = span.partition("..")
    if not (first.isdecimal() and last.isdecimal()) or (rect or "rect") != "rect":
        raise ValueError(f"block: {text!r} is not like '64..8' or '64..8+rect'")
    side, smallest, shapes = int(first), int(last), []
    while side > smallest > 0:
        shapes.append((side, side))
        if rect:
            shapes += [(side, side // 2), (side // 2, side)]
        if side % 2:
            break
        side //= 2
    if side != smallest or smallest == 0:
        raise ValueError(f"block: {text!r}: {first} halved some times does not give {last}")
    return shapes + [(side, side)]


def _shape(value: Any) -> Shape:
    if isinstance(value, tuple):
        if len(value) != 2:
            raise ValueError(f"block: {value!r} is not (width, height)")
        return _number("block", value[0]), _number("block", value[1])
    if isinstance(value, str):
        width, cross, height = value.strip().partition("x")
        height = height if cross else width
        if not (width.isdecimal() and height.isdecimal()):
            raise ValueError(f"block: {value!r} is not like '16' or '16x8'")
        return int(width), int(height)
    side = _number("block", value)
    return side, side


def shapes_of(block: Block) -> list[Shape]:
    """The shapes (width, height) that an option `block` names."""
    shapes: list[Shape] = []
    whole = isinstance(block, (str, tuple)) or not hasattr(block, "__iter__")
    values: Any = [block] if whole else block
    for value in values:
        for part in value.split(",") if isinstance(value, str) else [value]:
            shapes += _halves(part) if isinstance(part, str) and ".." in part else [_shape(part)]
    if not 1 <= len(shapes) <= _abi.SHAPES_MAX:
        raise ValueError(f"block: {len(shapes)} shapes; 1 to {_abi.SHAPES_MAX} are possible")
    return shapes


def _prefilter(spec: Any) -> _abi.Prefilter:
    result = _abi.Prefilter(size=ctypes.sizeof(_abi.Prefilter))
    if not isinstance(spec, str):
        weights = np.array(spec, np.float64, order="C")
        if weights.ndim != 2:
            raise ValueError(f"prefilter: an array of {weights.ndim} dimensions, not of 2")
        result.kind = _abi.PREFILTER_KERNEL
        result.height, result.width = weights.shape
        result.weights = weights.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        result.keep = weights
        return result
    name, _, values = spec.partition(":")
    kinds = {"gauss": 1, "box": 1, "median": 1, "bilateral": 2}
    try:
        numbers = [float(value) for value in values.split(",")]
    except ValueError:
        numbers = []
    whole = name in ("gauss", "bilateral") or all(n.is_integer() and n >= 0 for n in numbers)
    if len(numbers) != kinds.get(name) or not whole or not all(map(math.isfinite, numbers)):
        raise ValueError(
            f"prefilter: {spec!r} is not gauss:S, box:N, median:N, bilateral:S,R or an array")
    result.kind = list(kinds).index(name)
    if name in ("gauss", "bilateral"):
        result.sigma = numbers[0]
        result.range = numbers[-1]
    else:
        result.width = result.height = _number("prefilter", int(numbers[0]))
    return result


def _lambda256(options: Mapping[str, Any]) -> int | None:
    if "lambda_" in options and "qp" in options:
        raise ValueError("lambda_ and qp: give one of them")
    if "qp" in options:
        price = 2.0 ** min((_real("qp", options["qp"]) - 12) / 6, 100.0)
    elif "lambda_" in options:
        price = _real("lambda_", options["lambda_"])
    else:
        return None
    scaled = math.floor(256 * price + 0.5)
    if not 0 <= scaled <= _abi.LAMBDA_MAX:
        raise ValueError(f"lambda_: {price:g} is not between 0 and {_abi.LAMBDA_MAX // 256}")
    return scaled


class Setup:
    """`struct gpume_params` made of options, with everything that it points to."""

    def __init__(self, width: int, height: int, bits: int, options: Mapping[str, Any]) -> None:
        options = {name: value for name, value in options.items() if value is not None}
        for name in options.keys() - _NAMES:
            stem = name.removesuffix("_per_sample")  # as in Pair.bits_per_sample
            near = [_RENAMED[name]] if name in _RENAMED else difflib.get_close_matches(
                stem, [*_NAMES, "bits"], 1)
            raise TypeError(
                f"{name!r} is not an option" + (f"; did you mean {near[0]!r}?" if near else ""))
        self.log = Log()
        self.predict_error: BaseException | None = None
        params = self.params = _abi.filled(_abi.Params, library().gpume_params_fill)
        params.width, params.height = _number("width", width), _number("height", height)
        params.bits = _number("bits", bits)
        params.log = self.log.callback
        params.want_predicted = True
        self._set_plain(options)
        self._set_blocks(options)
        self._set_rate(options)
        # The library uses what these point to until the context is closed.
        params.setup = (self.log.callback, params.predict)

    def _set_plain(self, options: Mapping[str, Any]) -> None:
        params = self.params
        for param in table().values():
            name = param.keyword
            if name not in options or name in _COMPOSED:
                continue
            value = options[name]
            if param.kind == _abi.PARAM_CHOICE:
                setattr(params, param.name, choice_of(name, value, param.choices))
            elif param.kind == _abi.PARAM_NUMBER:
                setattr(params, param.name, _number(name, value, param.bits))
            elif param.kind == _abi.PARAM_FLAG:
                setattr(params, param.name, bool(value))
            else:
                setattr(params, param.name, str(value).encode())
        params.no_elimination = not options.get("elimination", True)

    def _set_blocks(self, options: Mapping[str, Any]) -> None:
        params = self.params
        window = options.get("window", 7)
        pair = window if isinstance(window, (tuple, list)) else (window, window)
        if len(pair) != 2:
            raise ValueError(f"window: {window!r} is neither a number nor (x, y)")
        x, y = pair
        params.window_x, params.window_y = _number("window", x), _number("window", y)
        self.shapes = shapes_of(options.get("block", 8))
        params.shape_count = len(self.shapes)
        for i, shape in enumerate(self.shapes):
            params.shapes[i] = _abi.BlockSize(*shape)
        distances = options.get("ref_distance", 1)
        distances = list(distances) if hasattr(distances, "__iter__") else [distances]
        if not 1 <= len(distances) <= _abi.DISTANCES_MAX:
            raise ValueError(
                f"ref_distance: {len(distances)} distances; 1 to {_abi.DISTANCES_MAX} are possible")
        params.distance_count = len(distances)
        for i, distance in enumerate(distances):
            params.distances[i] = _number("ref_distance", distance)
        if "prefilter" in options:
            params.prefilter = ctypes.pointer(_prefilter(options["prefilter"]))
        if params.bidirectional and "direction" not in options:
            params.direction = _abi.DIRECTION_BOTH

    def _set_rate(self, options: Mapping[str, Any]) -> None:
        params = self.params
        price = _lambda256(options)
        params.rate = price is not None
        setattr(params, "lambda", price or 0)
        predictor = options.get("predictor", "zero")
        if callable(predictor):
            params.predictor = _abi.PREDICTOR_GIVEN
            params.predict = _abi.PredictFn(self._predict(predictor))
        else:
            if predictor not in ("zero", "median"):
                raise ValueError(
                    f"predictor: {predictor!r} is not one of zero, median, a function")
            params.predictor = ("zero", "median").index(predictor)

    def grids(self) -> list[tuple[int, int]]:
        """Rows and columns of each shape's blocks."""
        height, width = self.params.height, self.params.width
        return [(-(-height // h), -(-width // w)) for w, h in self.shapes]

    def _predict(self, function: Callable[[int, int], Any]) -> Callable[..., int]:
        """What the library calls: copies the predictors of a pair to where it wants them."""

        def predict(_opaque, frame, ref, vectors):
            try:
                given = function(frame, ref)
                given = given if len(self.shapes) > 1 else [given]
                flat = [self._in_units(*pair) for pair in zip(self.grids(), given, strict=True)]
                data = np.concatenate(flat).astype(np.int16)
                ctypes.memmove(vectors, data.ctypes.data, data.nbytes)
                return _abi.OK
            except BaseException as error:  # carried over to the thread that waits for the pair
                self.predict_error = error
                return _abi.INVALID

        return predict

    def _in_units(self, grid: tuple[int, int], vectors: Any) -> np.ndarray:
        array = np.asarray(vectors, np.float64)
        if array.shape != (*grid, 2):
            raise ValueError(
                f"predictor: an array of shape {array.shape}, and the grid has {(*grid, 2)}")
        scaled = array * max(self.params.subpel, 1)
        units = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)
        if not np.all(np.abs(units) <= 32767):
            raise ValueError("predictor: a vector is too long, or not a number")
        return units.reshape(-1, 2)

    def check(self, status: int) -> int:
        """As Log.check; raises what the predictor's function raised."""
        if status not in (_abi.OK, _abi.AGAIN, _abi.EOF) and self.predict_error is not None:
            error, self.predict_error = self.predict_error, None
            raise error
        return self.log.check(status)
