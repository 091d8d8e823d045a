#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Mean end-point errors of block vectors, gpume.dense_flow and, where python3-opencv is installed, OpenCV's
dense flows, on scenes with true flow (tests/python/flow_scenes.py), as a table.

usage: flow.py [SEED...]; environment as for gpume (PYTHONPATH, GPUME_LIBRARY)"""
import pathlib
import sys
import time

import gpume
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from flow_scenes import scenes  # noqa: E402

WIDTH, HEIGHT = 320, 240
METHODS = {
    "16x16": lambda a, b: gpume.search(a, b, block=16, window=16, subpel=4).flow(),
    "partition": lambda a, b: gpume.search(
        a, b, block="32..4+rect", window=16, subpel=4, partition=True, lambda_=4, predictor="median").flow(),
    "dense_flow": gpume.dense_flow,
}
try:
    import cv2
    METHODS["Farneback"] = lambda a, b: cv2.calcOpticalFlowFarneback(b, a, None, 0.5, 4, 15, 5, 7, 1.5, 0)
    METHODS["DIS"] = lambda a, b: cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM).calc(b, a, None)
except ImportError:
    print("without OpenCV: python3-opencv is not installed", file=sys.stderr)

seeds = [int(seed) for seed in sys.argv[1:]] or [1, 2, 3]
errors, seconds = {}, dict.fromkeys(METHODS, 0.0)
for seed in seeds:
    for name, (reference, target, true, shown) in scenes(WIDTH, HEIGHT, seed).items():
        true = np.where(shown[..., None], true, np.nan)
        for method, find in METHODS.items():
            began = time.perf_counter()
            flow = find(reference, target)
            seconds[method] += time.perf_counter() - began
            errors.setdefault(name, {}).setdefault(method, []).append(gpume.endpoint_error(flow, true).epe)
print("| scene |", *(f"{method} |" for method in METHODS))
print("|---|" + "---|" * len(METHODS))
for name, found in errors.items():
    print(f"| {name} |", *(f"{np.mean(values):.3f} |" for values in found.values()))
print("| seconds per pair |", *(f"{total / len(seeds) / len(errors):.2f} |" for total in seconds.values()))
