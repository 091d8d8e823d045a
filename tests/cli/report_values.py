# SPDX-License-Identifier: BSD-2-Clause
"""Reads NAME.html and NAME.json again, without a browser, and compares all that they say with NAME.csv,
NAME/frames.csv, NAME/vectors.csv and NAME/summary.json.

Usage: report_values.py NAME
"""
import base64
import csv
import json
import math
import re
import sys


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def numbers(data):
    """Whole numbers of seven bits a byte."""
    value, shift = 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value, shift = 0, 0


def signed(twice):
    return -(twice + 1) // 2 if twice % 2 else twice // 2


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, not {want}")


def near(what, got, want, apart=0.00051):
    if abs(float(got) - float(want)) > apart:
        sys.exit(f"{what}: {got}, not {want}")


def check_columns(report, vectors):
    """The columns that frames.csv does not have, from the vectors."""
    blocks = {}
    for row in vectors:
        blocks.setdefault(row["frame"], []).append((int(row["dx"]), int(row["dy"]), int(row["cost"])))
    for row in report:
        field = blocks[row["frame"]]
        lengths = [math.hypot(dx, dy) for dx, dy, cost in field]
        near("dx_mean", row["dx_mean"], sum(v[0] for v in field) / len(field))
        near("dy_mean", row["dy_mean"], sum(v[1] for v in field) / len(field))
        near("length_mean", row["length_mean"], sum(lengths) / len(field))
        near("length_max", row["length_max"], max(lengths))
        same("cost_max", int(row["cost_max"]), max(v[2] for v in field))


def check_histogram(histogram, vectors):
    side = histogram["bin"]
    half = (side - 1) // 2
    counts = {}
    for row in vectors:
        place = tuple((int(row[axis]) + half) // side * side for axis in ("dx", "dy"))
        counts[place] = counts.get(place, 0) + 1
    same("histogram", {(x, y): n for x, y, n in histogram["counts"]}, counts)


def check_costliest(costliest, vectors):
    worst = [row for row in vectors if int(row["rank"]) < 2 and int(row["cost"]) > 0]
    worst.sort(key=lambda row: -int(row["cost"]))
    same("costliest", len(costliest), min(24, len(worst)))
    known = {(row["frame"], row["x"], row["y"]): row for row in vectors}
    for block, expected in zip(costliest, worst):
        same("cost", block["cost"], int(expected["cost"]))
        row = known[tuple(str(block[key]) for key in ("frame", "x", "y"))]
        for key in ("ref", "w", "h", "dx", "dy", "cost", "rank"):
            same(key, str(block[key]), row[key])


def check_json(found, summary, report, vectors):
    for key, value in summary.items():
        if key in ("input", "totals", "means", "fields", "first_field", "blocks_per_field"):
            same(key, found[key], value)
    same("figures", len(found["figures"]), len(report))
    for figures, row in zip(found["figures"], report):
        same("keys", list(figures), list(row))
        same("cut", type(figures["cut"]), bool)
        for key, value in figures.items():
            text = {True: "1", False: "0", None: "inf"}.get(value, value) if key == "cut" or value is None else value
            if row[key] == "inf" or text == "inf":
                same(key, text, row[key])
            else:
                same(key, float(text), float(row[key]))
    check_histogram(found["histogram"], vectors)
    check_costliest(found["costliest"], vectors)


def check_fields(packed, report):
    got = numbers(packed)
    microseconds = 0
    for row in report:
        microseconds += signed(next(got))
        same("time", f"{microseconds / 1e6:.6f}", row["time"])
        for key in ("zero", "sad_before", "sad_after", "sse_before", "sse_after"):
            same(key, next(got), int(row[key]))
        blocks = int(row["blocks"])
        near("dx_mean", signed(next(got)) / blocks, row["dx_mean"])
        near("dy_mean", signed(next(got)) / blocks, row["dy_mean"])
        same("length_mean", f"{next(got) / 1000:.3f}", row["length_mean"])
        near("length_max", math.sqrt(next(got)), row["length_max"])
        last = next(got)
        same("cost_max", last // 2, int(row["cost_max"]))
        same("cut", last % 2, int(row["cut"]))
    if next(got, None) is not None:
        sys.exit("more figures than fields")


def check_set(data, kind, frame, picture, vectors):
    field = [row for row in vectors if int(row["frame"]) == frame]
    entry = next(one for one in kind["sets"] if one["frame"] == frame)
    lossless = ["luma", "change"] if entry["exact"] else []
    if "luma" not in picture and lossless:  # it follows from that of the frame before
        before = {one["frame"]: one["exact"] for one in kind["sets"]}
        same("luma", before.get(frame - int(data["parameters"]["ref-distance"])), True)
        lossless = ["change"]
    lossy = [] if kind["name"] == "film" or data["exact"] else ["reference", "target", "predicted", "difference", "residual"]
    same("pictures", [name for name in picture if name != "vectors"], ["colour"] + lossy + lossless)
    for name in ["colour"] + lossy + lossless:
        start = base64.b64decode(picture[name])[:3]
        png = name in lossless or (data["film"] if name == "colour" else kind)["type"] == "image/png"
        same(name, start, b"\x89PN" if png else b"\xff\xd8\xff")
    packed = base64.b64decode(picture["vectors"])
    columns = 2 * data["window_x"] + 1
    candidates = columns * (2 * data["window_y"] + 1)
    width = 1 if candidates <= 256 else 2 if candidates <= 65536 else 3
    costs = list(numbers(packed[width * len(field):]))
    same("costs", len(costs), len(field))
    ranks = {block: rank for rank, block in enumerate(sorted(range(len(costs)), key=lambda i: (-costs[i], i)))}
    for i, row in enumerate(field):
        index = int.from_bytes(packed[i * width:(i + 1) * width], "little")
        same("dx", index % columns - data["window_x"], int(row["dx"]))
        same("dy", index // columns - data["window_y"], int(row["dy"]))
        same("cost", costs[i], int(row["cost"]))
        same("rank", ranks[i], int(row["rank"]))


def check_surfaces(data):
    """The cost of every vector of the gallery lies on its surface, and nothing is below it."""
    step, columns, rows = (data["surfaces"][key] for key in ("step", "columns", "rows"))
    for block in data["costliest"]:
        if step == 0:
            same("surface", "surface" in block, False)
            continue
        cells = list(numbers(base64.b64decode(block["surface"])))
        same("cells", len(cells), columns * rows)
        at = (block["dy"] + data["window_y"]) // step * columns + (block["dx"] + data["window_x"]) // step
        same("cost on the surface", cells[at] - 1, block["cost"])
        same("least cost", min(cell for cell in cells if cell > 0) - 1, block["cost"])


def check_html(path, report, vectors, summary):
    with open(path, "rb") as file:
        page = file.read()
    elements = dict(re.findall(rb'<script type="[a-z/]*" id="([a-z0-9-]*)">(.*?)</script>', page, re.S))
    data = json.loads(elements[b"data"])
    same("bytes", int(elements[b"bytes"]), len(page))
    same("totals", data["totals"], summary["totals"])
    check_fields(base64.b64decode(elements[b"fields"]), report)
    check_histogram(data["histogram"], vectors)
    check_costliest(data["costliest"], vectors)
    check_surfaces(data)
    seen = []
    for kind in ({"name": "set", **data}, {"name": "film", **data["film"]}):
        frames = [one["frame"] for one in kind["sets"]]
        names = [f"{kind['name']}-{frame}".encode() for frame in frames]
        same("sets", sorted(names), sorted(name for name in elements if name.startswith(kind["name"].encode() + b"-")))
        for frame, name in zip(frames, names):
            check_set(data, kind, frame, json.loads(elements[name]), vectors)
        seen += frames
    same("each once", len(set(seen)), len(seen))
    if data["type"] is not None:  # the page shows pictures: every step of the film is there
        first = data["first_field"]
        same("film", set(range(first, first + data["fields"], data["film"]["step"])) - set(seen), set())


def main():
    name = sys.argv[1]
    report, vectors = rows(f"{name}.csv"), rows(f"{name}/vectors.csv")
    with open(f"{name}/summary.json", encoding="utf-8") as file:
        summary = json.load(file)
    check_columns(report, vectors)
    with open(f"{name}.json", encoding="utf-8") as file:
        check_json(json.load(file), summary, report, vectors)
    check_html(f"{name}.html", report, vectors, summary)


main()
