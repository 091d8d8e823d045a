# SPDX-License-Identifier: BSD-2-Clause
"""The C API as ctypes sees it: structs, constants and functions of gpume.h, filter.h and compute.h.

Members have the names and the order of the headers. tests/python/test_abi.py compares every
struct, member, constant and function with the headers, so that they cannot drift apart.
"""
from __future__ import annotations

import ctypes
from ctypes import (
    CFUNCTYPE, POINTER, c_bool, c_char, c_char_p, c_double, c_int, c_int16, c_int64, c_size_t,
    c_ssize_t, c_uint32, c_uint64, c_void_p)
from typing import TYPE_CHECKING

API_VERSION = 7

BLOCK_MIN = 4
SIDE_MAX = 1048576
BLOCK_MAX = 128
WINDOW_MAX = 512
DISTANCE_MAX = 1024
SHAPES_MAX = 32
DISTANCES_MAX = 16
REFERENCES_MAX = 32
CANDIDATES_MAX = 8
METRIC_LAST = 2
PASSES_MAX = 8
LAMBDA_MAX = 256000
NONE = 0xFFFFFFFF
PREFILTER_SIDE_MAX = 31
WAIT = 1
STAGES_MAX = 16
REDUCE_MAX = 1 << 32
HISTOGRAM_MAX = 65536
FILTER_PLANES = 3
FILTER_RADIUS_MAX = 4
FILTER_WINDOW_MAX = 128
FILTER_SPATIAL_MAX = 2.0
FILTER_STRENGTH_MAX = 2.0
FILTER_SIGMA_MAX = 50.0
FILTER_MEASURE = -1.0

# By the name of the C enum, each with the names of its values without the common beginning.
ENUMS = {
    "gpume_status": dict(
        OK=0, AGAIN=-1, EOF=-2, INVALID=-3, NOMEM=-4, IO=-5, FORMAT=-6, UNSUPPORTED=-7, DEVICE=-8,
        DEVICE_LOST=-9, CANCELLED=-10),
    "gpume_log_level": dict(LOG_ERROR=0, LOG_WARNING=1, LOG_INFO=2, LOG_DEBUG=3),
    "gpume_edge": dict(EDGE_EXTEND=0, EDGE_INSIDE=1),
    "gpume_metric": dict(METRIC_SAD=0, METRIC_SATD=1, METRIC_SSD=2),
    "gpume_interpolation": dict(
        INTERPOLATION_H264=0, INTERPOLATION_HEVC=1, INTERPOLATION_BILINEAR=2),
    "gpume_subpel_search": dict(SUBPEL_REFINE=0, SUBPEL_FULL=1),
    "gpume_refine_metric": dict(
        REFINE_BY_METRIC=0, REFINE_BY_SAD=1, REFINE_BY_SATD=2, REFINE_BY_SSD=3),
    "gpume_predictor": dict(PREDICTOR_ZERO=0, PREDICTOR_MEDIAN=1, PREDICTOR_GIVEN=2),
    "gpume_direction": dict(
        DIRECTION_PAST=0, DIRECTION_FUTURE=1, DIRECTION_BOTH=2, DIRECTION_MANUAL=3),
    "gpume_backend": dict(BACKEND_AUTO=0, BACKEND_VULKAN=1, BACKEND_CPU=2),
    "gpume_param_type": dict(
        PARAM_NUMBER=0, PARAM_FLAG=1, PARAM_CHOICE=2, PARAM_TEXT=3, PARAM_LIST=4, PARAM_OTHER=5),
    "gpume_prefilter_kind": dict(
        PREFILTER_GAUSS=0, PREFILTER_BOX=1, PREFILTER_MEDIAN=2, PREFILTER_BILATERAL=3,
        PREFILTER_KERNEL=4),
    "gpume_device_type": dict(
        DEVICE_OTHER=0, DEVICE_INTEGRATED=1, DEVICE_DISCRETE=2, DEVICE_VIRTUAL=3,
        DEVICE_SOFTWARE=4),
    "gpume_key_type": dict(KEY_U32=0, KEY_I32=1),
    "gpume_sort_method": dict(SORT_AUTO=0, SORT_RADIX=1, SORT_BITONIC=2),
    "gpume_element": dict(ELEMENT_U8=0, ELEMENT_U16=1, ELEMENT_U32=2),
}
for _values in ENUMS.values():
    globals().update(_values)
if TYPE_CHECKING:
    def __getattr__(name: str) -> int:
        """One of these values."""

OK, AGAIN, EOF, INVALID = 0, -1, -2, -3

LogFn = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class Vector(ctypes.Structure):
    _fields_ = [("dx", c_int16), ("dy", c_int16)]


PredictFn = CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64, POINTER(Vector))


class Plane(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p), ("stride", c_ssize_t), ("width", c_uint32), ("height", c_uint32),
        ("bits", c_uint32)]


class BlockSize(ctypes.Structure):
    _fields_ = [("width", c_uint32), ("height", c_uint32)]


class Prefilter(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("kind", c_int), ("width", c_uint32), ("height", c_uint32),
        ("sigma", c_double), ("range", c_double), ("weights", POINTER(c_double))]


class Params(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("width", c_uint32), ("height", c_uint32), ("bits", c_uint32),
        ("block", c_uint32), ("window_x", c_uint32), ("window_y", c_uint32), ("edge", c_int),
        ("metric", c_int), ("ref_distance", c_uint32), ("first_frame", c_uint64),
        ("backend", c_int), ("device", c_char_p), ("threads", c_uint32),
        ("want_predicted", c_bool), ("want_frames", c_bool), ("check", c_bool),
        ("validate", c_bool), ("log", LogFn), ("log_opaque", c_void_p),
        ("no_elimination", c_bool), ("search", c_char_p), ("cache_dir", c_char_p),
        ("prefilter", POINTER(Prefilter)), ("first_target", c_uint64),
        ("target_count", c_uint64), ("memory_max", c_uint64), ("direction", c_int),
        ("shapes", BlockSize * SHAPES_MAX), ("shape_count", c_uint32), ("partition", c_bool),
        ("subpel", c_uint32), ("interpolation", c_int), ("subpel_search", c_int),
        ("rate", c_bool), ("lambda", c_uint32), ("predictor", c_int), ("passes", c_uint32),
        ("predict", PredictFn), ("predict_opaque", c_void_p),
        ("distances", c_uint32 * DISTANCES_MAX), ("distance_count", c_uint32),
        ("best_reference", c_bool), ("bidirectional", c_bool), ("candidates", c_uint32),
        ("confidence", c_bool), ("refine_metric", c_int), ("devices", c_char_p),
        ("want_returns", c_bool)]


class Param(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p), ("offset", c_size_t), ("bytes", c_size_t), ("type", c_int),
        ("least", c_uint64), ("most", c_uint64), ("choices", POINTER(c_char_p)),
        ("constants", c_char_p), ("unit", c_char_p), ("speed_only", c_bool), ("since", c_uint32),
        ("option", c_char_p), ("option_value", c_char_p), ("help", c_char_p)]


class Message(ctypes.Structure):
    _fields_ = [
        ("param", POINTER(Param)), ("value", c_char_p), ("text", c_char_p),
        ("other", POINTER(Param)), ("other_value", c_char_p), ("rest", c_char_p)]


class Task(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("target", c_uint64), ("reference", c_uint64), ("tag", c_uint64),
        ("more_count", c_uint32), ("more", c_uint64 * (REFERENCES_MAX - 1)),
        ("wanted", c_void_p)]


class Sums(ctypes.Structure):
    _fields_ = [
        ("zero", c_uint64), ("sad_before", c_uint64), ("sad_after", c_uint64),
        ("sse_before", c_uint64), ("sse_after", c_uint64)]


# Pointers to arrays are addresses here: they are copied, never followed element by element.
class Layer(ctypes.Structure):
    _fields_ = [
        ("block_w", c_uint32), ("block_h", c_uint32), ("blocks_x", c_uint32),
        ("blocks_y", c_uint32), ("vectors", c_void_p), ("costs", c_void_p), ("ranks", c_void_p),
        ("candidate_stride", c_uint32), ("bits", c_void_p), ("refs", c_void_p),
        ("refs2", c_void_p), ("vectors2", c_void_p), ("second", c_void_p), ("ties", c_void_p),
        ("texture", c_void_p), ("returns", c_void_p)]


class Part(ctypes.Structure):
    _fields_ = [("layer", c_uint32), ("block", c_uint32), ("rank", c_uint32)]


class Field(ctypes.Structure):
    _fields_ = [
        ("frame", c_uint64), ("ref", c_uint64), ("tag", c_uint64), ("time_us", c_int64),
        ("vector_units", c_uint32), ("layer_count", c_uint32),
        ("layers", POINTER(POINTER(Layer))), ("blocks_x", c_uint32), ("blocks_y", c_uint32),
        ("vectors", c_void_p), ("costs", c_void_p), ("ranks", c_void_p), ("sums", Sums),
        ("predicted", Plane), ("target", Plane), ("reference", Plane), ("checked", c_uint64),
        ("matched", c_uint64), ("ref_count", c_uint32), ("refs", c_void_p),
        ("part_count", c_uint32), ("parts", c_void_p)]


class Info(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("backend", c_char_p), ("device", c_char_p), ("driver", c_char_p),
        ("blocks_x", c_uint32), ("blocks_y", c_uint32), ("candidates", c_uint64),
        ("host_bytes", c_uint64), ("device_bytes", c_uint64), ("search", c_char_p),
        ("eliminates", c_bool), ("standby", c_char_p), ("standby_device", c_char_p),
        ("standby_frame", c_uint64)]


class Stage(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("ns", c_uint64)]


class Stats(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("fields", c_uint64), ("busy_ns", c_uint64),
        ("candidates", c_uint64), ("past_blocks", c_uint64), ("past_parts", c_uint64),
        ("stage_count", c_uint32), ("stages", Stage * STAGES_MAX)]


class Device(ctypes.Structure):
    _fields_ = [
        ("index", c_uint32), ("type", c_int), ("name", c_char * 256), ("driver", c_char * 256),
        ("memory_bytes", c_uint64), ("unusable", c_char * 128), ("automatic", c_bool)]


class SearchInfo(ctypes.Structure):
    _fields_ = [
        ("backend", c_int), ("available", c_bool), ("automatic", c_bool), ("name", c_char * 32),
        ("summary", c_char * 96)]


class ComputeParams(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("backend", c_int), ("device", c_char_p), ("cache_dir", c_char_p),
        ("validate", c_bool), ("log", LogFn), ("log_opaque", c_void_p)]


class ComputeInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("backend", c_char_p), ("device", c_char_p), ("driver", c_char_p),
        ("array_bytes_max", c_uint64), ("program_bytes_max", c_uint64),
        ("invocations_max", c_uint32), ("shared_bytes_max", c_uint32),
        ("groups_max", c_uint32 * 3)]


class Segment(ctypes.Structure):
    _fields_ = [("first", c_uint32), ("count", c_uint32)]


class SortParams(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("type", c_int), ("method", c_int), ("descending", c_bool),
        ("key_bits", c_uint32), ("segments", c_void_p), ("segment_count", c_uint32)]


class Minimum(ctypes.Structure):
    _fields_ = [("index", c_uint64), ("value", c_uint32)]


class FilterParams(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("width", c_uint32), ("height", c_uint32), ("bits", c_uint32),
        ("plane_count", c_uint32), ("chroma_x", c_uint32), ("chroma_y", c_uint32),
        ("strength", c_double), ("sigma", c_double), ("radius", c_uint32),
        ("window_x", c_uint32), ("window_y", c_uint32), ("metric", c_int), ("backend", c_int),
        ("device", c_char_p), ("devices", c_char_p), ("threads", c_uint32),
        ("memory_max", c_uint64), ("cache_dir", c_char_p), ("validate", c_bool), ("log", LogFn),
        ("log_opaque", c_void_p), ("despot", c_bool), ("fields", c_bool), ("spatial", c_double)]


class FilterFrame(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("planes", Plane * FILTER_PLANES), ("time_us", c_int64),
        ("least_sigma", c_double), ("sigma", c_double)]


class FilterResult(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("frame", c_uint64), ("time_us", c_int64),
        ("planes", Plane * FILTER_PLANES), ("sigma", c_double * FILTER_PLANES),
        ("references", c_uint32), ("repeats", c_bool), ("replaced", c_uint64)]


class FilterInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("backend", c_char_p), ("device", c_char_p), ("driver", c_char_p),
        ("means_on_device", c_bool), ("fields", c_uint64)]


# By the name of the C struct.
STRUCTS = {
    "gpume_vector": Vector, "gpume_plane": Plane, "gpume_block_size": BlockSize,
    "gpume_prefilter": Prefilter, "gpume_params": Params, "gpume_param": Param,
    "gpume_message": Message, "gpume_task": Task,
    "gpume_sums": Sums, "gpume_layer": Layer, "gpume_part": Part, "gpume_field": Field,
    "gpume_info": Info, "gpume_stage": Stage, "gpume_stats": Stats, "gpume_device": Device,
    "gpume_search_info": SearchInfo, "gpume_compute_params": ComputeParams,
    "gpume_compute_info": ComputeInfo, "gpume_segment": Segment,
    "gpume_sort_params": SortParams, "gpume_minimum": Minimum,
    "gpume_filter_params": FilterParams, "gpume_filter_frame": FilterFrame,
    "gpume_filter_result": FilterResult, "gpume_filter_info": FilterInfo}

_handle = POINTER(c_void_p)  # a pointer to a handle, which the function sets
_field = POINTER(POINTER(Field))
_count = POINTER(c_uint32)
_compute_data = (c_void_p, c_int, c_void_p, c_uint64)

# Result, then arguments.
FUNCTIONS = {
    "gpume_status_text": (c_char_p, c_int),
    "gpume_api_version": (c_uint32,),
    "gpume_version": (c_char_p,),
    "gpume_params_fill": (c_int, POINTER(Params)),
    "gpume_params_check": (c_int, POINTER(Params)),
    "gpume_param_at": (POINTER(Param), c_uint32),
    "gpume_log_message": (POINTER(Message),),
    "gpume_open": (c_int, _handle, POINTER(Params)),
    "gpume_close": (c_int, _handle),
    "gpume_frame_acquire": (c_int, c_void_p, _handle, POINTER(Plane), c_uint32),
    "gpume_frame_release": (None, _handle),
    "gpume_send": (c_int, c_void_p, _handle, c_int64),
    "gpume_search": (c_int, c_void_p, POINTER(Task)),
    "gpume_finish": (c_int, c_void_p),
    "gpume_receive": (c_int, c_void_p, _field, c_uint32),
    "gpume_field_release": (None, _field),
    "gpume_cancel": (None, c_void_p),
    "gpume_surface": (c_int, POINTER(Params), POINTER(Plane), POINTER(Plane), POINTER(BlockSize), c_uint32, c_uint32,
                      POINTER(c_uint32)),
    "gpume_psnr": (c_double, c_uint32, c_uint64, c_uint64),
    "gpume_info_fill": (c_int, c_void_p, POINTER(Info)),
    "gpume_stats_fill": (c_int, c_void_p, POINTER(Stats)),
    "gpume_devices_fill": (c_int, POINTER(Device), c_size_t, c_uint32, _count),
    "gpume_searches_fill": (c_int, c_char_p, POINTER(SearchInfo), c_size_t, c_uint32, _count),
    "gpume_compute_params_fill": (c_int, POINTER(ComputeParams)),
    "gpume_compute_open": (c_int, _handle, POINTER(ComputeParams)),
    "gpume_compute_close": (c_int, _handle),
    "gpume_compute_info_fill": (c_int, c_void_p, POINTER(ComputeInfo)),
    "gpume_sort_params_fill": (c_int, POINTER(SortParams)),
    "gpume_sort": (c_int, c_void_p, POINTER(SortParams), c_void_p, c_void_p, c_uint64),
    "gpume_sum": (c_int, *_compute_data, POINTER(c_uint64)),
    "gpume_minimum": (c_int, *_compute_data, POINTER(Minimum)),
    "gpume_histogram": (c_int, *_compute_data, c_uint32, c_uint32, POINTER(c_uint64)),
    "gpume_filter_params_fill": (c_int, POINTER(FilterParams)),
    "gpume_filter_open": (c_int, _handle, POINTER(FilterParams)),
    "gpume_filter_close": (c_int, _handle),
    "gpume_filter_send": (c_int, c_void_p, POINTER(FilterFrame)),
    "gpume_filter_finish": (c_int, c_void_p),
    "gpume_filter_receive": (c_int, c_void_p, POINTER(FilterResult)),
    "gpume_filter_cancel": (None, c_void_p),
    "gpume_filter_info_fill": (c_int, c_void_p, POINTER(FilterInfo)),
}


def declare(library: ctypes.CDLL) -> None:
    """Gives the library's functions their types."""
    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments


def filled(struct_type, fill):
    """A struct with its size set, filled in by a function of the library."""
    struct = struct_type(size=ctypes.sizeof(struct_type))
    fill(ctypes.byref(struct))
    return struct
