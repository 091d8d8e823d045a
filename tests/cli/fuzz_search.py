#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares gpume with the independent search of tests/support/oracle on random clips and options.

    fuzz_search.py GPUME SEARCH_ORACLE [--backend cpu|vulkan] [--seed N] [--runs N]
                   [--run K] [--only SECTIONS] [--large] [--gpume-options "..."]

Every run makes a small clip and a legal command line, and compares vectors.csv and frames.csv byte
for byte. A run depends on the seed, its number, the sections and --large alone, so that --seed N --run K
--only SECTIONS repeats it. --only takes none (what has always been there) or names from: shapes,
subpel, metric, rate, refs, confidence. --large makes pictures of up to CIF size and windows of up to
64, a few seconds each. At the first difference the clip is kept, options that do not matter are
dropped, and the exit status is 1.
"""
import argparse
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile

SECTIONS = ("shapes", "subpel", "metric", "rate", "refs", "confidence")
WORK = 120e6  # comparisons of samples that a run may cost the oracle, about a second
WORK_LARGE = 2e9
COST_MAX = 2**32 - 1
FRAMES_COLUMNS = 11  # those that have always been in frames.csv


# Clips.

def texture(rng, width, height, peak):
    """Rows of samples: noise of few or many levels, stripes, a gradient, or one value."""
    kind = rng.choice(("noise", "levels", "levels", "stripes", "gradient", "flat"))
    levels = rng.choice((2, 3, 5, 9))
    a, b = rng.randrange(1, 7), rng.randrange(0, 5)
    flat = rng.choice((0, peak, rng.randrange(peak + 1)))
    cell = rng.choice((1, 1, 2, 3))
    rows = [[rng.randrange(peak + 1) for _ in range(width)] for _ in range(height)]
    for y in range(height):
        for x in range(width):
            if kind == "levels":
                rows[y][x] = rows[y // cell * cell][x // cell * cell] * levels // (peak + 1) \
                    * peak // (levels - 1) if x % cell == 0 and y % cell == 0 \
                    else rows[y // cell * cell][x // cell * cell]
            elif kind == "stripes":
                rows[y][x] = (a * x + b * y) % 11 * peak // 10
            elif kind == "gradient":
                rows[y][x] = min(peak, (a * x + b * y) * peak // 400 + rows[y][x] % 3)
            elif kind == "flat":
                rows[y][x] = flat
    return rows


class Layer:
    """A rectangle of texture that moves by half pixels."""

    def __init__(self, rng, left, top, width, height, peak):
        self.left, self.top, self.width, self.height = left, top, width, height
        self.speed_x, self.speed_y = rng.randrange(-7, 8), rng.randrange(-5, 6)
        if rng.random() < 0.3:
            self.speed_x = self.speed_y = 0
        self.rows = texture(rng, width, height, peak)

    def draw(self, frame, time):
        x2, y2 = self.speed_x * time, self.speed_y * time
        left, top = self.left + x2 // 2, self.top + y2 // 2
        for y in range(max(top, 0), min(top + self.height - 1, len(frame))):
            row, below = self.rows[y - top], self.rows[y - top + (y2 & 1)]
            for x in range(max(left, 0), min(left + self.width - 1, len(frame[0]))):
                at = x - left
                frame[y][x] = (row[at] + below[at + (x2 & 1)]) // 2


def make_clip(rng, path, width, height, bits, count):
    peak = (1 << bits) - 1
    margin = 4 * count
    layers = [Layer(rng, -margin, -margin, width + 2 * margin, height + 2 * margin, peak)]
    for _ in range(rng.randrange(0, 4)):
        layers.append(Layer(rng, rng.randrange(width), rng.randrange(height),
                            rng.randrange(3, width // 2 + 4), rng.randrange(3, height // 2 + 4), peak))
    noisy = rng.choice((0, 0, 0.002, 0.02, 0.2))
    gray = bits in (8, 9, 10, 12, 16) and rng.random() < 0.6
    colour = ("mono" if gray else "420p") + str(bits) if bits > 8 else "mono" if gray else "420jpeg"
    size = 2 if bits > 8 else 1
    with open(path, "wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C{colour}\n".encode())
        for time in range(count):
            frame = [[0] * width for _ in range(height)]
            for layer in layers:
                layer.draw(frame, time)
            for row in frame:
                for x in range(width):
                    if noisy and rng.random() < noisy:
                        row[x] = rng.choice((0, peak, rng.randrange(peak + 1)))
            file.write(b"FRAME\n")
            file.write(b"".join(v.to_bytes(size, "little") for row in frame for v in row))
            if not gray:
                file.write(bytes(2 * ((width + 1) // 2) * ((height + 1) // 2) * size))


# Options: a list of pairs, of which the second is None for a switch.

def halves(side):
    return [(side, side // 2), (side // 2, side)] if side % 8 == 0 else []


def spelled(shape):
    return str(shape[0]) if shape[0] == shape[1] else f"{shape[0]}x{shape[1]}"


def random_tree(rng):
    """Consecutive squares by halves, as --partition wants them: the text and the shapes."""
    smallest = rng.choice((4, 4, 8, 8, 8, 12, 16))
    sides = [smallest << i for i in range(rng.randrange(1, 4), -1, -1) if smallest << i <= 128]
    kind = rng.choice(("plain", "rect", "some"))
    shapes = []
    for side in sides:
        shapes.append((side, side))
        if side != smallest and kind != "plain":
            shapes += [s for s in halves(side) if kind == "rect" or rng.random() < 0.5]
    text = ",".join(map(spelled, shapes))
    if kind != "some" and rng.random() < 0.7:
        text = f"{sides[0]}..{smallest}" + ("+rect" if kind == "rect" else "")
    return text, shapes


def random_shapes(rng, sections, partition):
    if partition:
        return random_tree(rng)
    if "shapes" not in sections or rng.random() < 0.3:
        side = rng.choice((4, 8, 8, 12, 16, 16, 20, 32, 64, 128))
        return str(side), [(side, side)]
    if rng.random() < 0.4:
        return random_tree(rng)
    shapes = []
    for _ in range(rng.randrange(1, 6)):
        shape = (4 * rng.randrange(1, 17), 4 * rng.randrange(1, 17))
        if rng.random() < 0.5:
            shape = rng.choice(((8, 8), (16, 8), (8, 16), (16, 16), (4, 8), (32, 16), (4, 4),
                                (128, 128), (4, 128), (128, 64)))
        if shape not in shapes:
            shapes.append(shape)
    return ",".join(map(spelled, shapes)), shapes


class Task:
    """The clip's size and the options of one run."""

    def __init__(self, rng, sections, large):
        self.large = large
        self.width, self.height = rng.randrange(5, 97), rng.randrange(5, 65)
        self.count = rng.randrange(2, 6)
        if large:
            self.width, self.height = rng.randrange(80, 353), rng.randrange(64, 289)
            self.count = rng.randrange(2, 4)
        elif rng.random() < 0.2:
            self.width, self.height = rng.choice(((64, 48), (8, 8), (16, 33), (80, 4), (3, 17)))
        elif rng.random() < 0.1:
            self.width, self.height, self.count = rng.choice(((150, 133), (256, 128))) + (2,)
        self.bits = rng.choice((8, 8, 8, 9, 10, 10, 12, 16))
        self.options = []
        self.work = 1.0  # the factor of all that a candidate costs, and of their number
        self.partition = {"shapes", "rate"} <= sections and rng.random() < 0.3
        self.choose_references(rng, sections)
        text, self.shapes = random_shapes(rng, sections, self.partition)
        self.options.append(("--block", text))
        self.choose_search(rng, sections)
        self.choose_rate(rng, sections)
        self.choose_confidence(rng, sections)
        self.choose_window(rng)

    def add(self, name, value=None):
        self.options.append((name, None if value is None else str(value)))

    def choose_references(self, rng, sections):
        directions = rng.choice(("past", "past", "future", "both"))
        self.bidirectional = "refs" in sections and rng.random() < 0.3
        if self.bidirectional:
            directions = "both"
            self.add("--bidirectional")
            if rng.random() < 0.2:  # implied
                self.add(*rng.choice((("--best-reference",), ("--direction", "both"))))
            self.work *= 4
        else:
            if directions != "past" or rng.random() < 0.2:
                self.add("--direction", directions)
        most = min(3, self.count - 1)
        distances = rng.sample(range(1, most + 1), rng.randrange(1, most + 1)
                               if "refs" in sections else 1)
        if distances != [1] or rng.random() < 0.2:
            self.add("--ref-distance", ",".join(map(str, distances)))
        several = len(distances) > 1 or directions == "both"
        if "refs" in sections and several and not self.bidirectional and rng.random() < 0.6:
            self.add("--best-reference")
        self.directions = directions
        self.work *= len(distances) * (2 if directions == "both" else 1)
        near = min(distances)
        targets = [t for t in range(self.count) if (directions != "future" and t >= near)
                   or (directions != "past" and t + near < self.count)]
        if rng.random() < 0.3:
            self.add("--start", rng.choice(targets))
        if rng.random() < 0.3:
            self.add("--frames", rng.randrange(1, 4))

    def choose_search(self, rng, sections):
        self.edge = rng.choice(("extend", "extend", "inside"))
        if self.edge == "inside":
            self.add("--edge", self.edge)
        self.metric = rng.choice(("sad", "satd", "satd", "ssd")) if "metric" in sections else "sad"
        if self.largest_cost(self.metric) > COST_MAX - 2**21:
            self.metric = "sad"
        if self.metric != "sad" or rng.random() < 0.1:
            self.add("--metric", self.metric)
        self.work *= 4 if self.metric == "satd" else 1
        self.subpel, self.full = 1, False
        if "subpel" not in sections or rng.random() < 0.25:
            return
        self.subpel = rng.choice((2, 4, 4))
        self.add("--subpel", self.subpel)
        choices = ["h264", "bilinear"] + ["hevc"] * (self.bits <= 12)
        if rng.random() < 0.8:
            self.add("--interpolation", rng.choice(choices))
        self.full = rng.random() < 0.5
        if self.full or rng.random() < 0.3:
            self.add("--subpel-search", "full" if self.full else "refine")
        refined = rng.choice(("sad", "satd", "satd", "ssd"))
        if not self.full and "metric" in sections and rng.random() < 0.5 \
                and self.largest_cost(refined) <= COST_MAX - 2**21:
            self.add("--refine-metric", refined)

    def largest_cost(self, metric):
        peak = (1 << self.bits) - 1
        factor = {"sad": 1, "satd": 2, "ssd": peak}[metric]
        return max(w * h * peak * factor for w, h in self.shapes)

    def choose_rate(self, rng, sections):
        self.predictor_file = False
        if "rate" not in sections or (not self.partition and rng.random() < 0.3):
            return
        if rng.random() < 0.3:
            self.add("--qp", rng.choice((0, 10, 12, 22, 27, 33, 40, 51)))
        else:
            values = (0.25, 1, 4, 7.37, 20, 100, 1000)
            self.add("--lambda", rng.choice(values if self.partition else (0,) + values))
        predictor = rng.choice(("", "zero", "median", "median", "median", "file"))
        if predictor == "file":
            self.predictor_file = True
        elif predictor:
            self.add("--predictor", predictor)
        if predictor == "median":
            passes = rng.choice((None, 1, 2, 3))
            if passes:
                self.add("--passes", passes)
            self.work *= passes or 2

    def choose_confidence(self, rng, sections):
        if "confidence" not in sections or self.bidirectional:
            return
        if rng.random() < 0.6:
            self.add("--confidence")
            self.work *= 2 if self.directions == "both" else 1
        if rng.random() < 0.6:
            self.add("--candidates", rng.randrange(2, 9))

    def choose_window(self, rng):
        """A window that the oracle can search soon."""
        work = WORK_LARGE if self.large else WORK
        units = self.subpel if self.full else 1
        samples = self.width * self.height * self.count * len(self.shapes) * self.work
        x, y = rng.choice(((7, 7), (4, 4), (8, 8), (16, 5), (3, 9), (1, 1), (0, 2), (2, 0), (0, 0),
                           (12, 12), (24, 3), (40, 20), (70, 1)))
        if self.large:
            x, y = rng.choice(((32, 32), (64, 64), (64, 16), (16, 16), (20, 48)))
        while samples * (2 * x * units + 1) * (2 * y * units + 1) > work and x + y > 1:
            x, y = x * 2 // 3, y * 2 // 3
        if (x, y) != (7, 7) or rng.random() < 0.3:
            self.add("--window", x if x == y else f"{x}x{y}")


# Predictors from a file.

def make_predictor(rng, oracle, folder, options):
    """Vectors of every pair of the clip, found at random fractions, and shaken."""
    dropped = {"--lambda", "--qp", "--start", "--frames", "--best-reference", "--bidirectional",
               "--confidence", "--candidates", "--partition", "--subpel", "--subpel-search",
               "--refine-metric", "--window"}
    kept = [o for o in options if o[0] not in dropped]
    if any(o[0] == "--bidirectional" for o in options):
        kept.append(("--direction", "both"))
    subpel = rng.choice((1, 2, 4))
    kept += [("--subpel", str(subpel)), ("--window", "3")]
    lines = subprocess.run([oracle, "clip.y4m"] + words(kept), cwd=folder, check=True,
                           stdout=subprocess.PIPE, text=True).stdout.splitlines()
    with open(os.path.join(folder, "predictor.csv"), "w", encoding="ascii") as file:
        print(lines[0], file=file)
        for line in lines[1:]:
            values = line.split(",")
            for column in (6, 7):
                value = float(values[column]) + rng.choice((0, 0, 0, 1, -1, 2)) / subpel
                values[column] = f"{value:g}" if value else "0"
            print(",".join(values), file=file)


# Runs.

def words(options):
    return [word for option in options for word in option if word is not None]


class Outcome:
    """What both programs wrote with the same options."""

    def __init__(self, arguments, folder, options):
        self.command = [arguments.gpume, "clip.y4m"] + words(options) + \
            ["--backend", arguments.backend, "-q", "-y", "-o", "out"] + \
            shlex.split(arguments.gpume_options)
        self.reference = [arguments.oracle, "clip.y4m"] + words(options) + \
            ["--frames-csv", "frames.csv"]
        shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
        self.run = subprocess.run(self.command, cwd=folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.oracle = subprocess.run(self.reference, cwd=folder, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, check=False)
        self.problem = self.find_problem(folder)
        self.comparable = self.run.returncode == 0 and self.oracle.returncode == 0

    def find_problem(self, folder):
        for name, run in (("oracle", self.oracle), ("gpume", self.run)):
            if run.returncode != 0:
                return f"{name}: exit status {run.returncode}: " + \
                    run.stderr.decode(errors="replace").strip()
        vectors = read(os.path.join(folder, "out", "vectors.csv"))
        difference = first_difference("vectors.csv", vectors, self.oracle.stdout)
        if difference:
            return difference
        frames = read(os.path.join(folder, "out", "frames.csv"))
        if "--confidence" in self.command:
            frames = b"".join(b",".join(line.split(b",")[:FRAMES_COLUMNS]) + b"\n"
                              for line in frames.splitlines())
        return first_difference("frames.csv", frames, read(os.path.join(folder, "frames.csv")))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def first_difference(name, ours, oracles):
    if ours == oracles:
        return None
    a, b = ours.decode().splitlines(), oracles.decode().splitlines()
    for number in range(max(len(a), len(b))):
        left = a[number] if number < len(a) else "(no such line)"
        right = b[number] if number < len(b) else "(no such line)"
        if left != right:
            return f"{name}, line {number + 1}:\n        {b[0]}\n" \
                   f"gpume:  {left}\noracle: {right}"
    return f"{name}: line ends differ"


def drop_options(arguments, folder, options, outcome):
    """Leaves out every option without which the results still differ."""
    for option in list(options):
        fewer = [o for o in options if o is not option]
        attempt = Outcome(arguments, folder, fewer)
        if attempt.comparable and attempt.problem:
            options, outcome = fewer, attempt
    return outcome


def report(arguments, number, folder, outcome):
    again = ["python3", sys.argv[0], arguments.gpume, arguments.oracle, "--backend",
             arguments.backend, "--seed", str(arguments.seed), "--run", str(number),
             "--only", arguments.only] + ["--large"] * arguments.large + \
        [f"--gpume-options={arguments.gpume_options}"] * bool(arguments.gpume_options)
    print(f"seed {arguments.seed}, run {number}: {outcome.problem}\n\n"
          f"in {folder}:\n  {shlex.join(outcome.command)}\n  {shlex.join(outcome.reference)}\n\n"
          f"repeat with:\n  {shlex.join(again)}")


def run_once(arguments, sections, number):
    """Whether both programs agree in this run."""
    rng = random.Random(f"{arguments.seed}-{number}")
    task = Task(rng, sections, arguments.large)
    folder = tempfile.mkdtemp(prefix="fuzz_search.")
    make_clip(rng, os.path.join(folder, "clip.y4m"), task.width, task.height, task.bits, task.count)
    if task.predictor_file:
        make_predictor(rng, arguments.oracle, folder, task.options)
        task.add("--predictor", "predictor.csv")
    outcome = Outcome(arguments, folder, task.options)
    if not outcome.problem:
        shutil.rmtree(folder)
        return True
    if outcome.comparable:
        outcome = drop_options(arguments, folder, task.options, outcome)
    report(arguments, number, folder, outcome)
    return False


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpume", type=os.path.abspath)
    parser.add_argument("oracle", type=os.path.abspath)
    parser.add_argument("--backend", default="cpu", choices=("cpu", "vulkan"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--run", type=int, help="this run alone")
    parser.add_argument("--only", default=",".join(SECTIONS))
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--gpume-options", default="")
    arguments = parser.parse_args()
    sections = {s for s in arguments.only.split(",") if s and s != "none"}
    if not sections <= set(SECTIONS):
        parser.error(f"--only takes none, or names from: {', '.join(SECTIONS)}")
    return arguments, sections


def main():
    arguments, sections = parse_arguments()
    numbers = range(arguments.runs) if arguments.run is None else [arguments.run]
    for number in numbers:
        if not run_once(arguments, sections, number):
            return 1
    print(f"{len(numbers)} runs agree on {arguments.backend}: seed {arguments.seed}, "
          f"sections {arguments.only}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
